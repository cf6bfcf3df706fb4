/* SPDX-License-Identifier: MIT */
/* cli/experiment/attribute.h - which roundings of a cell cost its accuracy (docs/training/attribute.md): `halfulp
 * experiment --cell CELL --attribute`. Runs that leave some of their roundings out are made, each with several seeds,
 * and compared with the run that makes all of them. */
#ifndef HALFULP_CLI_EXPERIMENT_ATTRIBUTE_H
#define HALFULP_CLI_EXPERIMENT_ATTRIBUTE_H

#include <stdint.h>
#include <stdio.h>

#include "cli/experiment/ledger.h"

enum { ATTRIBUTE_SLICES = 16, ATTRIBUTE_SEEDS_MAX = 64, ATTRIBUTE_TRIES_MAX = 256 };

/* What a seed's run came to. */
typedef struct attribute_end {
  double loss, measure; /* of the test set; a larger loss, or a NaN, counts as ATTRIBUTE_LOSS_MOST */
} attribute_end;
#define ATTRIBUTE_LOSS_MOST 1e6

/* Roundings that were left out, and how much less the loss, and how much more the measure, is without them: means of
 * the differences of the seeds, and their standard deviations (NaN of one seed). */
typedef struct attribute_try {
  char *off;          /* a text of precision.off; "updates"; "none" */
  const char *search; /* "all", "layers", "parts", "steps" */
  double loss, loss_deviation, measure, measure_deviation;
  int noise; /* 1: the loss differs by no more than two standard errors; -1: there is one seed */
} attribute_try;

/* A state of the run that makes all roundings. */
typedef struct attribute_state {
  float *numbers;
  char *text;
} attribute_state;

typedef struct attribute {
  const ledger_how *how;
  size_t seeds;
  double budget;       /* seconds of processors; 0: no limit */
  hu_trainer *trainer; /* of the keys, begun: for names and numbers of steps */
  job_ledger ledger;
  char *path, sources[JOB_SOURCES_MAX];
  uint64_t steps;
  char **layer; /* names, "input" first */
  size_t layers;
  attribute_end all[ATTRIBUTE_SEEDS_MAX]; /* with all roundings */
  attribute_state *state;                 /* of a seed at the beginning of each slice of the steps */
  char measure[24];
  attribute_try tried[ATTRIBUTE_TRIES_MAX];
  size_t count;
  size_t runs;  /* made by this command */
  double spent; /* seconds of the longest run */
  int ended;    /* 1: the budget has ended, or a signal has come */
  const attribute_try *layer_found, *part_found, *step_found;
} attribute;

/* All return 0, or an exit code after an error line. */

/* Runs the command (attribute.c). */
int attribute_command(const ledger_how *how, size_t seeds, double budget);
/* Leaves roundings out, with all seeds, if the budget allows it (attribute_run.c). from: the step from which they are
 * left out. *z: what came out, in the list; NULL: it was not tried. */
int attribute_run(attribute *work, const char *search, const char *off, uint64_t from, const attribute_try **z);
void attribute_free_states(attribute *work);
/* Prints what was found; writes attribute.csv and attribute.svg (attribute_print.c). */
void attribute_print(FILE *out, const attribute *work);
void attribute_print_json(FILE *out, const attribute *work);
int attribute_write(const attribute *work);

#endif
