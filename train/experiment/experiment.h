/* SPDX-License-Identifier: MIT */
/* train/experiment/experiment.h - the record of an experiment, and what a run of it may call.
 *
 * An experiment is a hu_plan in a file of its paper (experiment_*.c), listed in experiment.c. Its trials are runs of a
 * trainer; a plan with a function `run` does something else besides (least squares, reductions). */
#ifndef HALFULP_TRAIN_EXPERIMENT_EXPERIMENT_H
#define HALFULP_TRAIN_EXPERIMENT_EXPERIMENT_H

#include <fenv.h>

#include "halfulp/train/experiment.h"
#include "halfulp/train/trainer.h"

/* What is recorded while a trial runs. Series have the name of the row; figures are shared by all rows. */
enum {
  HU_WATCH_LOSS = 1,        /* mean of the batches' losses between two readings */
  HU_WATCH_TRAINING = 2,    /* loss over the training set, evaluated */
  HU_WATCH_TEST = 4,        /* loss over the test set, evaluated */
  HU_WATCH_ACCURACY = 8,    /* on the test set, evaluated; R2 where there are no classes */
  HU_WATCH_SCALE = 16,      /* of the loss */
  HU_WATCH_LARGEST = 32,    /* gradient of a parameter */
  HU_WATCH_EXPONENTS = 64,  /* histogram over gradients of all values that an operator made */
  HU_WATCH_ZEROS = 128,     /* share of zeros among the gradients of parameters */
  HU_WATCH_STATISTICS = 256 /* S2FP8's mu and m, alpha and beta of the plan's tensors */
};

/* Makes the list "key, value, key, value ..." of a plan or a trial. */
#define HU_PAIRS(...) \
  (const char *const[]) { __VA_ARGS__, NULL }

typedef struct hu_trial {
  const char *name;
  const char *const *pairs; /* key, value, key, value ... NULL; after those of the plan */
  unsigned watch;           /* besides the plan's */
} hu_trial;

typedef struct hu_lab hu_lab;
typedef struct hu_plan {
  hu_experiment shown;      /* `runs` is filled in: trials and own */
  const char *const *pairs; /* of all trials; NULL: none */
  const hu_trial *trials;
  size_t count;
  unsigned watch;
  size_t epochs; /* between two evaluations; 0: 1 */
  size_t steps;  /* between two readings of the others, which the first and the last step have besides; 0: 1 */
  /* up to a NULL: "linear1.weight", or "linear1.weight.gradient"; or values by number, "3", "3.gradient". In a net that
   * has no parameter of that name, the last one of the same kind is meant: of "conv2.weight" the last convolution's */
  const char *const *tensors;
  hu_status (*run)(hu_lab *lab); /* NULL, or what is done after the trials */
  size_t own;                    /* rows that it makes */
  void (*judge)(hu_lab *lab);
} hu_plan;

struct hu_lab {
  hu_experiment_report report;
  const hu_plan *plan;
  const hu_experiment_options *how;
  const char *data;
  char *why;        /* space for a sentence, never NULL */
  hu_status status; /* the first failure of a call that returns nothing */
  size_t seed;      /* of the runs that are made now; 0: what their keys say */
  size_t reported;  /* runs that were reported to the caller */
  fenv_t caller;    /* his floating-point environment, which his callback has, too */
};

/* ---- for `run` ---- */

/* A run of the plan's keys, these pairs, those of the seed and the caller's (if they are for a row of that name),
 * begun. *t is to be freed, whatever is returned. */
hu_status hui_lab_begin(hu_lab *lab, const char *name, const char *const *pairs, hu_trainer **trainer);
/* Before the first trial: hui_watch_check of each one whose statistics are recorded. */
hu_status hui_lab_check(hu_lab *lab);
/* A trial; *row, if not NULL, is the number of its row. */
hu_status hui_lab_try(hu_lab *lab, const hu_trial *trial, size_t *row);
/* Adds a row, all NaN and 0; NULL: no memory (and lab->status says so). It moves with the next one. */
hu_experiment_row *hui_lab_add_row(hu_lab *lab, const char *name);
/* The runs of a plan without trainers, names up to a NULL. HU_E_NAME and so on: the caller means another run, or sets a
 * key that no trainer has. */
hu_status hui_lab_own_runs(hu_lab *lab, const char *const *names);
/* Returns what the caller sets a key to in such a run (hu_experiment_options.pairs and row), or else `standard`. */
const char *hui_lab_value(const hu_lab *lab, const char *run, const char *key, const char *standard);
/* HU_E_NAME; says that no run has the caller's name. */
hu_status hui_lab_no_run(hu_lab *lab);
/* Calls the caller's callback, since the last row is complete. */
hu_status hui_lab_notify(hu_lab *lab);

/* ---- several seeds (plan.c, seeds.c) ---- */

/* 1: all rows of the plan are trials, and none sets a seed. `run` sees to the seeds of what it measures besides. */
int hui_plan_is_seeded(const hu_plan *plan);
/* Seeds that this lab takes: 1 or more. */
size_t hui_lab_seeds(const hu_lab *lab);
/* Makes the trials of the other seeds after those of the first, and writes means and deviations into the rows. */
hu_status hui_lab_other_seeds(hu_lab *lab);

/* Adds a row to a table with a column for each of n seeds (2 to 8), one for the mean, one for the deviation (n - 1). */
void hui_lab_seeds_row(hu_lab *lab, int table, const char *name, const double *x, size_t n);

/* ---- figures and tables: numbers, -1 after a failure; given -1 they do nothing ---- */

/* The figure of that name, made if there is none. */
int hui_lab_figure(hu_lab *lab, const char *name, const char *title, const char *x, const char *y, int kind);
void hui_lab_axes(hu_lab *lab, int figure, int x_axis, int y_axis);
/* Makes a new series. */
int hui_lab_series(hu_lab *lab, int figure, const char *name);
void hui_lab_point(hu_lab *lab, int figure, int series, double x, double y);
/* Columns from the first to the last exponent that occurs. */
void hui_lab_histogram(hu_lab *lab, int figure, int series, const uint64_t z[HU_EXPONENTS]);
/* Makes a table; cols has names, up to a NULL. */
int hui_lab_table(hu_lab *lab, const char *title, const char *const *cols);
/* Adds a row of as many numbers as there are columns. */
void hui_lab_table_row(hu_lab *lab, int table, const char *name, const double *cells);

/* ---- for `judge` ---- */

const hu_experiment_row *hui_lab_row(const hu_lab *lab, size_t i);
void hui_lab_claim(hu_lab *lab, int holds, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* |a - b| <= share b, of losses on the training set. */
int hui_lab_near(const hu_lab *lab, size_t a, size_t b, double share);
/* Of rows first ... end - 1, at most 1; NaN where one is NaN. */
double hui_lab_least_accuracy(const hu_lab *lab, size_t first, size_t end);
/* Returns the root of the sum of (z - exact)^2 over that of exact^2, of n numbers each, in double. */
double hui_relative_error(size_t n, const float *z, const float *exact);
/* The series of a row in a figure, both by name; NULL: there is none. */
const hu_experiment_series *hui_lab_find(const hu_lab *lab, const char *figure, const char *series);

/* ---- recording (recording.c) ---- */

typedef struct hu_watcher {
  hu_lab *lab;
  const hu_trial *trial;
  unsigned watch;
  uint64_t *exponents; /* HU_EXPONENTS, or NULL */
  double losses;
  size_t since;             /* steps whose losses are in it */
  int figure[7], series[7]; /* of curves; -1: not watched */
} hu_watcher;
hu_status hui_watch_begin(hu_watcher *watcher, hu_lab *lab, const hu_trial *trial);
/* Is called after each step. */
hu_status hui_watch_step(hu_watcher *watcher, hu_trainer *trainer, const hu_trainer_report *report);
void hui_watch_end(hu_watcher *watcher);
/* Returns HU_E_NAME, and names the net and its parameters in `why`, if the trainer's net lacks a tensor of the plan. */
hu_status hui_watch_check(hu_lab *lab, hu_trainer *trainer);

/* ---- the plans, by paper ---- */

extern const hu_plan hu_plan_master_weights, hu_plan_loss_scale, hu_plan_conv_scale, hu_plan_gru_scale;
extern const hu_plan hu_plan_scalers;
extern const hu_plan hu_plan_s2fp8, hu_plan_s2fp8_conv, hu_plan_s2fp8_transformer;
extern const hu_plan hu_plan_updates, hu_plan_adamw, hu_plan_adamw_transformer;
extern const hu_plan hu_plan_least_squares, hu_plan_update_memory;
extern const hu_plan hu_plan_promotion, hu_plan_assignments;
extern const hu_plan hu_plan_blocks;
extern const hu_plan hu_plan_accumulation, hu_plan_reduction;
extern const hu_plan hu_plan_all_reduce, hu_plan_feedback;

#endif
