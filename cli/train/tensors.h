/* SPDX-License-Identifier: MIT */
/* cli/train/tensors.h - single tensors of a run of `halfulp train`: which of them overflow most in each step of the
 * log, and those that --follow names. See train.h. */
#ifndef HALFULP_CLI_TRAIN_TENSORS_H
#define HALFULP_CLI_TRAIN_TENSORS_H

#include "cli/train/train.h"

/* Columns of overflows.csv: the step, the largest shares, and the numbers of their tensors in tensors.csv. */
enum {
  OVER_STEP,
  OVER_SHARE,
  OVER_TENSOR = OVER_SHARE + TRAIN_OVERFLOWS,
  OVER_COLUMNS = OVER_TENSOR + TRAIN_OVERFLOWS
};
/* Columns of followed-history.csv: the step, the tensor by its number in the order of --follow, from 1 on, and how many
 * of its numbers have each exponent, in the bins of hu_exponents_of. */
enum { HISTORY_STEP, HISTORY_TENSOR, HISTORY_BINS, HISTORY_COLUMNS = HISTORY_BINS + HU_EXPONENTS };
/* Columns of followed.csv for each tensor, behind the step: S2FP8's mean and largest log2, its shift and squeeze;
 * shares of zeros, and of elements above the largest number in the rounding of this tensor. */
enum { FOLLOW_MU, FOLLOW_M, FOLLOW_ALPHA, FOLLOW_BETA, FOLLOW_ZEROS, FOLLOW_OVER, FOLLOW_COLUMNS };

/* All return 0, or an exit code after an error line. */

/* Finds the tensors of --follow, by name, and begins the tables; a name that the run does not have is an error. */
int train_tensors_find(train_run *run);
void train_tensors_free(train_run *run);
/* Writes tensors.csv: number, name, kind, rows and columns of values, then of parameters; the number n of their random
 * words (docs/training/training.md section 4); of a value the operator that makes it, the first n of its products. */
int train_tensors_list(const train_run *run);
/* Prints it to a stream. */
void train_tensors_print(FILE *out, const train_run *run);
/* Begins the table of --follow-every, if it is asked for. */
int train_history_start(train_run *run);
/* Adds a row to both tables, and where its step is one of --follow-every one for each tensor to the history; and the
 * exponents of the followed tensors, which those of the row before lose. */
int train_tensors_step(train_run *run, double step);
/* Writes followed-exponents.csv, where this command made a step and something is followed. */
int train_tensors_exponents(const train_run *run);
/* Writes what the report has of them. */
void train_tensors_report(FILE *out, const train_run *run);

#endif
