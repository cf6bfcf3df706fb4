/* SPDX-License-Identifier: MIT */
/* cli/sweep/sweep.h - `halfulp sweep`: training runs for values of one key and several seeds, in processes of their
 * own or in those of an MPI job, with a file for each that is not computed again, and what they say together
 * (docs/sweep.md). */
#ifndef HALFULP_CLI_SWEEP_SWEEP_H
#define HALFULP_CLI_SWEEP_SWEEP_H

#include <stdint.h>
#include <stdio.h>

#include "cli/base/config.h"
#include "cli/sweep/pairs.h"
#include "halfulp/train/trainer.h"

/* What the folder has at the end, beside the runs. */
#define SWEEP_FILES "summary.csv", "summary.json", "plot.svg", "report.html"

/* What a run ends with. Index 0: training set, 1: test set. */
typedef struct sweep_result {
  double accuracy[2]; /* share of right answers; R^2 where there are no classes */
  double loss[2];
  double low, low_end; /* share of low elements: mean over the steps, at the end */
  double bytes[4];     /* weights, state, values, gradients; mean over the steps */
  uint64_t steps, skipped, promoted, digest;
  int classes;
  double seconds;
} sweep_result;

/* SWEEP_ELSEWHERE: it belongs to another part of the sweep (--shard), and there is no file. */
enum { SWEEP_TO_DO, SWEEP_RUNNING, SWEEP_DONE, SWEEP_FAILED, SWEEP_ELSEWHERE };

typedef struct sweep_run {
  const char *value; /* NULL: the baseline in binary32 */
  uint64_t seed;
  char *path;          /* of its file */
  hu_trainer *trainer; /* its keys are set; it begins in a process of its own */
  int state;
  char *said; /* of a run that failed: why */
  sweep_result result;
} sweep_run;

typedef struct sweep {
  const char *config, *key, *data, *out;
  const char **set; /* KEY=VALUE */
  size_t sets;
  char **value;
  size_t values;
  uint64_t *seed;
  size_t seeds;
  double loss; /* accepted, in points */
  unsigned jobs;
  int fresh;
  int any_data;           /* 1: --data was not given (train/data_folder.h) */
  int lock;               /* an open folder */
  unsigned shard, shards; /* --shard: this part of so many; 0 of 0: all of it */
  int part;               /* of such a part: an open folder, which is its lock */
  unsigned ranks_per_run; /* processes of an MPI job that share a run */
  config file;            /* what `config` says */
  /* seeds of the baseline, then of each value in turn */
  sweep_run *run;
  size_t runs;
} sweep;

/* ---- lists of the command line (list.c); 0, or an exit code after an error line ---- */

/* "0,0.1,...,1", or any texts with commas (semicolons, where there is one outside brackets) between them. */
int sweep_read_values(sweep *s, const char *text);
/* "3": 0, 1, 2; "5,7" or "5,": these. */
int sweep_read_seeds(sweep *s, const char *text);
/* 1: all values are numbers. */
int sweep_is_numeric(const sweep *s);

/* ---- several kinds of assignments in one sweep (assignments.c) ---- */

/* A key that stands for those of a kind, a ratio, an order and promotion. Its values: "uniform", "operator",
 * "operator'", "high" (as published, nothing is promoted); "0.4": demotion to that ratio, with the file's order and
 * promotion; "smallest:0.4": with this order. */
#define SWEEP_ASSIGNMENT "assignment"
int sweep_has_assignments(const sweep *s);
int sweep_is_number(const char *value);
/* 1: values of the sweep set this key. */
int sweep_varies(const sweep *s, const char *key);
int sweep_set_assignment(hu_trainer *t, const char *value);

/* ---- the runs (plan.c) ---- */

/* All runs with their keys and the names of their files. */
int sweep_plan(sweep *s);
/* Of all that the runs depend on but data files. */
uint64_t sweep_digest(const sweep *s);
/* A trainer with the keys of a run, to be freed; NULL after an error line. */
hu_trainer *sweep_trainer(const sweep *s, const sweep_run *r);
/* Does this run belong to the part --shard? */
int sweep_is_own(const sweep *s, const sweep_run *r);
/* Marks runs whose result file exists as done, and those of other parts. Refuses a file that was written for other
 * keys, and names one of them. With --overwrite it deletes such files of its own part instead. */
int sweep_find(sweep *s);
void sweep_free(sweep *s);
/* "assignment.ratio = 0.3, seed 1" */
enum { SWEEP_NAME_MAX = 256 };
const char *sweep_run_name(char text[SWEEP_NAME_MAX], const sweep *s, const sweep_run *r);
size_t sweep_count(const sweep *s, int state);

/* ---- the folder (folder.c) ---- */

/* Makes OUT and OUT/runs, and locks them: for a whole sweep against all others, for a part of one against the same part
 * and whole sweeps. A whole sweep removes what killed ones have left. */
int sweep_open(sweep *s);
void sweep_close(sweep *s);

/* ---- one run, and its file (run.c, file.c) ---- */

typedef struct sweep_shared { /* between the processes */
  _Atomic uint64_t done, of;  /* steps */
} sweep_shared;
enum { SWEEP_WHY_MAX = 512 };
/* Trains and writes the file; the exit code, and why it failed, if that is not on standard error yet. In a process of
 * its own it stops when process `parent` is gone; 0: no one waits. All processes of train_ranks_get() (train/ranks.h)
 * call it together, and the first of them writes the file. */
int sweep_do(const sweep *s, sweep_run *r, sweep_shared *at, long parent, char why[SWEEP_WHY_MAX]);

int sweep_file_write(const sweep *s, const sweep_run *r);
/* 0: something is missing. */
int sweep_file_result(const cli_pairs *f, sweep_result *z);

/* ---- processes (jobs.c) ---- */

/* Does what is to do, as many at once as there are jobs; failed runs are told on standard error, the others go on. An
 * interrupt ends the processes, then takes its usual effect. 0, or an exit code after an error line. */
int sweep_work(sweep *s);

/* ---- processes of an MPI job (ranks.c) ---- */

/* CLI_OK, or an exit code after an error line of the first process that names one which differs: "sweep: rank 2 has
 * WHAT". All processes call it. */
int sweep_same(uint64_t x, const char *what);
/* The same as sweep_work for all processes of a job together; all runs have the state that they have in the first
 * process, which gets the results. */
int sweep_share(sweep *s);

/* ---- what they say (summary.c, print.c) ---- */

typedef struct sweep_row {
  const char *value;    /* NULL: the baseline */
  const sweep_run *run; /* of each seed */
  size_t done;
  double accuracy, lowest, highest;                        /* mean and range on the test set */
  double training;                                         /* mean accuracy on the training set */
  double loss[2], low, low_end, stored, skipped, promoted; /* means; stored: bytes, relative to the baseline's */
} sweep_row;

typedef struct sweep_summary {
  const sweep *sweep;
  const char *measure; /* "accuracy" or "R^2" */
  sweep_row *row;      /* the baseline, then each value */
  size_t rows;
  int by_stored;            /* 1: the key changes what is stored, so that bytes decide which value is recommended */
  const sweep_row *best;    /* recommended; NULL: none */
  const sweep_row *nearest; /* the highest mean accuracy among values that are complete; NULL: none is */
  char text[1024];          /* the recommendation as sentences */
} sweep_summary;

int sweep_summarize(sweep_summary *z, const sweep *s);
void sweep_summary_free(sweep_summary *z);
void sweep_print_table(FILE *out, const sweep_summary *z);
void sweep_print_csv(FILE *out, const void *summary);
void sweep_print_json(FILE *out, const void *summary);

/* ---- page and drawings (report.c, plot.c) ---- */

/* What is across: share of low elements, stored bytes, or the values one after the other. */
enum { SWEEP_BY_LOW, SWEEP_BY_STORED, SWEEP_BY_VALUE };
void sweep_print_page(FILE *out, const void *summary);
/* As a file of its own, and as a part of the page (near: only what is near the baseline). */
int sweep_plot_write(const char *path, const sweep_summary *z, int by);
void sweep_plot_part(FILE *out, const char *id, const sweep_summary *z, int by, int near);
/* Is any element low in any run? Are stored bytes others than binary32's? Are there runs far below the others, so that
 * a second drawing is worth it? */
int sweep_has_low(const sweep_summary *z);
int sweep_has_stored(const sweep_summary *z);
int sweep_has_far(const sweep_summary *z);

#endif
