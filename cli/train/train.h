/* SPDX-License-Identifier: MIT */
/* cli/train/train.h - the parts of `halfulp train`: a run, its log, its checkpoints, its report. */
#ifndef HALFULP_CLI_TRAIN_TRAIN_H
#define HALFULP_CLI_TRAIN_TRAIN_H

#include <stdio.h>

#include "cli/base/progress.h"
#include "cli/base/table.h"
#include "halfulp/train/trainer.h"

/* Columns of log.csv and of evaluations.csv, in this order (log.c). */
enum {
  LOG_STEP,
  LOG_EPOCH,
  LOG_LOSS,
  LOG_RATE,
  LOG_SCALE,
  LOG_LARGEST,
  LOG_TAKEN,
  LOG_SKIPPED,
  LOG_MOVED,
  LOG_LOST,
  LOG_FORWARD, /* eight: elements, over, inexact, overflow, saturated, underflow, to_zero, nan_in */
  LOG_BACKWARD = LOG_FORWARD + 8,
  LOG_LOW = LOG_BACKWARD + 8,
  LOG_PROMOTED,
  LOG_COLUMNS
};
enum { LOG_ELEMENTS, LOG_OVER, LOG_INEXACT, LOG_OVERFLOW, LOG_SATURATED, LOG_UNDERFLOW, LOG_TO_ZERO, LOG_NAN_IN };
enum {
  SEEN_STEP,
  SEEN_EPOCHS,
  SEEN_TRAINING_LOSS,
  SEEN_TRAINING_ACCURACY,
  SEEN_TRAINING_R2,
  SEEN_TEST_LOSS,
  SEEN_TEST_ACCURACY,
  SEEN_TEST_R2,
  SEEN_COLUMNS, /* of every run; then of language models */
  SEEN_TRAINING_PERPLEXITY = SEEN_COLUMNS,
  SEEN_TEST_PERPLEXITY,
  SEEN_LANGUAGE_COLUMNS,
  SEEN_TEST_BLEU = SEEN_LANGUAGE_COLUMNS, /* of parallel text, too */
  SEEN_PARALLEL_COLUMNS,
  SEEN_TRAINING_ERROR_RATE = SEEN_COLUMNS, /* of utterances */
  SEEN_TEST_ERROR_RATE,
  SEEN_SPEECH_COLUMNS,
  SEEN_TRAINING_AUC = SEEN_COLUMNS, /* of two classes */
  SEEN_TEST_AUC,
  SEEN_PAIR_COLUMNS,
  SEEN_TEST_HIT = SEEN_PAIR_COLUMNS, /* of those that are ranked, too */
  SEEN_TEST_NDCG,
  SEEN_RANKED_COLUMNS,
  SEEN_AGAIN_LOSS = 0, /* behind those of the run, where run.again asks for them */
  SEEN_AGAIN_ACCURACY,
  SEEN_AGAIN_R2,
  SEEN_AGAIN_COLUMNS,
  SEEN_MOST = SEEN_RANKED_COLUMNS + SEEN_AGAIN_COLUMNS
};

/* Steps to a row of the log, epochs to an evaluation, if nothing else is asked for. */
enum { TRAIN_EVERY = 10, TRAIN_EVALUATE = 1 };

/* Sums over all steps, and the exponents of gradients of values, loss scale included, in the steps that are logged. */
typedef struct train_totals {
  hu_update_counts updates;
  double low; /* sum of the shares */
  uint64_t overflow, underflow;
  uint64_t samples; /* steps whose gradients are counted: the rows of log.csv */
  uint64_t seen;    /* rows of evaluations.csv */
  uint64_t gradients[HU_EXPONENTS];
  uint64_t weight_gradients[HU_EXPONENTS]; /* of parameters, as the optimizer sees them */
  /* What only the end of the run asked for, and a longer run does not have: 0 or 1 of these rows, and the gradients of
   * that one, which are not among those above. */
  uint64_t end_samples, end_seen;
  uint64_t end_gradients[HU_EXPONENTS], end_weight_gradients[HU_EXPONENTS];
} train_totals;

/* A tensor of --follow (tensors.h). */
typedef struct followed {
  const char *name;
  int tensor, gradient;
  int seen;                            /* 1: in a step of this command */
  uint64_t exponents[2][HU_EXPONENTS]; /* of X, and shifted and squeezed, in the last step of the log */
} followed;
enum { TRAIN_OVERFLOWS = 5 };

typedef struct train_run {
  hu_trainer *trainer;
  const char *config;                /* path */
  const char *data;                  /* folder; NULL: the configuration's own */
  const char *out;                   /* folder */
  int out_asked;                     /* by --output */
  const char *threads;               /* NULL: as the configuration says */
  const char *model;                 /* file of the network's text; NULL: as the configuration says */
  const char *sizes;                 /* of --sizes */
  const char *weights, *predictions; /* files that the end writes; NULL: none */
  uint64_t every, checkpoint, evaluate;
  uint64_t follow_every; /* steps from one row of `history` to the next; 0: no history */
  int checkpoint_asked, resume, overwrite, json, keys, tensors, describe;
  int lock; /* the open folder; -1: not yet */
  const char **sets;
  size_t set_count;
  table log, seen, over, followed, history;
  const char *seen_names[SEEN_MOST];
  followed *follow; /* of --follow */
  size_t follows;
  char **follow_names; /* columns of `followed` */
  train_totals totals;
  hu_trainer_report last; /* of the last step; step 0: none has been done */
  progress bar;
  char note[240];
} train_run;

/* All return 0, or an exit code after an error line. */

/* Makes steps to the end, or up to an interrupt: *stopped gets the signal, 0 if there was none (run.c). */
int train_steps(train_run *run, int *stopped);

/* Reads "height=32,width=32,outputs=10", names of hu_model_sizes; the others are 0, channels 1 (sizes.c). */
int train_read_sizes(hu_model_sizes *sizes, const char *text);
/* Return paths of the files in the folder (path.c); to be freed, NULL after an error line. */
char *train_path(const train_run *run, const char *name);
/* Begin the two tables of the run; fresh ones, or those of an earlier one up to step `at`, refused where rows are
 * missing that its checkpoint counts. Where that was its end, and is not the end of this run, what only the end asked
 * for is left out (log.c). */
int train_log_begin(train_run *run);
int train_log_resume(train_run *run, uint64_t at);
/* Puts what is in the tables on the disk: before a checkpoint, which is never ahead of them. */
int train_log_sync(const train_run *run);
int train_log_step(train_run *run, const hu_trainer_report *report);
/* Evaluates the net as it is now; a row of evaluations.csv. at_end: only the end of the run asks for it. */
int train_log_evaluation(train_run *run, int at_end);
/* Writes exponents.csv: what hu_exponents_of counts, of gradients of values and of weights, and of the weights as they
 * are now. */
int train_log_exponents(const train_run *run);
/* Adds the gradients of all values that have some: of neither inputs nor the loss. at_end: as above. */
void train_sample_gradients(train_run *run, int at_end);
/* Returns all that were added. */
void train_gradients(const train_run *run, uint64_t z[HU_EXPONENTS]);
void train_weight_gradients(const train_run *run, uint64_t z[HU_EXPONENTS]);
void train_weights(const train_run *run, uint64_t z[HU_EXPONENTS]);

/* Write and read checkpoint.safetensors (checkpoint.c). Refused: one of another configuration, naming the key; the
 * length of the run may be another one where its steps stay the same (hu_trainer_resume). */
int train_checkpoint(const train_run *run);
int train_resume(train_run *run);
/* What of an earlier run is in the folder: nothing that would be lost; one that was stopped, or had come to its end,
 * with its step and length; files that do not say. */
enum { TRAIN_FOUND_NOTHING, TRAIN_FOUND_STOPPED, TRAIN_FOUND_ENDED, TRAIN_FOUND_FILES };
int train_found(const train_run *run, uint64_t *step, uint64_t *steps);

/* Print what standard output gets (print.c), report.html (report.c). */
void train_print_keys(FILE *out, int json);
void train_print(FILE *out, const train_run *run, double seconds);
void train_json(FILE *out, const train_run *run, double seconds);
/* Prints, after a signal, where the run is, and the command that continues it, to be copied into a shell. */
void train_print_stopped(FILE *out, const train_run *run, const char *by);
int train_report(const train_run *run);
/* Returns the key that says what is trained: model.net, or model.file where there is one. */
const char *train_model_key(const train_run *run);
/* Return the number of steps not taken; the mean of the shares of low elements. */
uint64_t train_skipped(const train_run *run);
double train_mean_low(const train_run *run);
/* Returns the last evaluation, a row of run->seen; NULL: none. */
const double *train_last_seen(const train_run *run);
/* A figure that not every run has: its name in JSON, in sentences, and its columns; 0: the training set has none. */
typedef struct train_figure {
  const char *name, *said;
  size_t training, test;
} train_figure;
/* The columns of a run's evaluations, and its figures of this kind (figures.c). */
typedef struct train_seen_kind {
  const char *const *names;
  size_t columns;
  const train_figure *figures;
  size_t count;
} train_seen_kind;
const train_seen_kind *train_seen_kind_of(const train_run *run);
/* Writes the names of a run's columns, and returns their number. */
size_t train_seen_names(const train_run *run, const char *names[SEEN_MOST]);
/* Writes what evaluations found, in its columns; again: NULL without run.again. */
void train_seen_row(const train_run *run, double row[SEEN_MOST], const hu_trainer_seen *training,
                    const hu_trainer_seen *test, const hu_trainer_seen *again);
/* Returns what the second evaluation of the test set found, in a row; NULL without run.again. */
const double *train_seen_again(const train_run *run, const double *row);
/* Returns HU_SEE_ bits of that evaluation; 0: there is none. */
unsigned train_again(const train_run *run);

#endif
