/* SPDX-License-Identifier: MIT */
/* cli/sweep/sweep.h - `halfulp sweep`: training runs for values of one key and several seeds, the items of a ledger
 * (cli/job), and what they say together (docs/training/sweep.md). */
#ifndef HALFULP_CLI_SWEEP_SWEEP_H
#define HALFULP_CLI_SWEEP_SWEEP_H

#include <stdint.h>
#include <stdio.h>

#include "cli/base/config.h"
#include "cli/sweep/pairs.h"
#include "cli/job/job.h"
#include "halfulp/train/trainer.h"

#define SWEEP_LEDGER "runs.ledger"
/* What the folder has at the end, beside the ledger of the runs. */
#define SWEEP_FILES "summary.csv", "summary.json", "plot.svg", "report.html"

/* What values can be compared by: figures of evaluations. SWEEP_ACCURACY is R^2 where there are no classes. */
enum {
  SWEEP_ACCURACY,
  SWEEP_LOSS,
  SWEEP_PERPLEXITY,
  SWEEP_AUC,
  SWEEP_HIT_RATE,
  SWEEP_NDCG,
  SWEEP_BLEU,
  SWEEP_MEASURES /* (count) */
};
typedef struct sweep_measure {
  const char *name;
  double points; /* in one of its unit */
  int falls;     /* 1: less is better */
} sweep_measure;
extern const sweep_measure sweep_measures[SWEEP_MEASURES];

/* What a run ends with. Index 0: training set, 1: test set. */
typedef struct sweep_result {
  double figure[SWEEP_MEASURES][2]; /* NaN where the data have none */
  double low, low_end;              /* share of low elements: mean over the steps, at the end */
  double bytes[4];                  /* weights, state, values, gradients; mean over the steps */
  uint64_t steps, skipped, promoted, digest;
  int classes;
  double seconds;
} sweep_result;

enum { SWEEP_TO_DO, SWEEP_DONE, SWEEP_FAILED };
enum { SWEEP_NAME_MAX = 256 };

typedef struct sweep_run {
  const char *value; /* NULL: the baseline in binary32 */
  uint64_t seed;
  char *name;                 /* in the ledger: "ratio-0.5-seed1" */
  char title[SWEEP_NAME_MAX]; /* "assignment.ratio = 0.5, seed 1" */
  hu_trainer *trainer;        /* its keys are set */
  int state;
  const char *why; /* of a run that failed */
  sweep_result result;
} sweep_run;

typedef struct sweep_setup {
  const char *config, *data, *out;
  const char *key;  /* one, or several with commas between them: each value has as many parts, with commas, too */
  const char **set; /* KEY=VALUE */
  size_t sets;
  char **value;
  size_t values;
  uint64_t *seed;
  size_t seeds;
  double loss; /* accepted, in points */
  int measure; /* SWEEP_: what values are compared by */
  int json;
  int any_data;           /* 1: --data was not given (train/data_folder.h) */
  unsigned ranks_per_run; /* processes of an MPI job that share a run */
  config file;            /* what `config` says */
  /* seeds of the baseline, then of each value in turn */
  sweep_run *run;
  size_t runs;
  job_asked asked;
  job_work work; /* an item for each run */
} sweep_setup;

/* ---- lists of the command line (list.c); 0, or an exit code after an error line ---- */

/* "0,0.1,...,1", or any texts with commas (semicolons, where there is one outside brackets) between them. */
int sweep_read_values(sweep_setup *sweep, const char *text);
/* Reads seeds: "3" is 0, 1, 2; "5,7" or "5," is these. */
int sweep_read_seeds(sweep_setup *sweep, const char *text);
/* Returns the end of an item: the separator outside brackets, or the end of the text. */
const char *sweep_item_end(const char *text, char separator);
/* Copies the item that *text begins with, to be freed; *text becomes what follows the comma, NULL behind the last one.
 * NULL after an error line. */
char *sweep_take_item(const char **text);
/* Calls visit(context, key) for each key that is varied; stops at the first answer that is not 0, and returns it. */
int sweep_each_key(const sweep_setup *sweep, int (*visit)(void *context, const char *key), void *context);
/* Returns a value, or "(empty)". */
const char *sweep_shown(const char *value);
/* 1: this value is a number; all values are. */
int sweep_is_number(const char *value);
int sweep_is_numeric(const sweep_setup *sweep);

/* ---- several kinds of assignments in one sweep (assignments.c) ---- */

/* A key that stands for those of a kind, a ratio, an order and promotion. Its values: "uniform", "operator",
 * "operator'", "high" (as published, nothing is promoted); "0.4": demotion to that ratio, with the file's order and
 * promotion; "smallest:0.4": with this order. */
#define SWEEP_ASSIGNMENT "assignment"
int sweep_has_assignments(const sweep_setup *sweep);
/* 1: this key is one that values of the sweep set. */
int sweep_varies(const sweep_setup *sweep, const char *key);
int sweep_set_assignment(hu_trainer *trainer, const char *value);

/* ---- the runs (plan.c) ---- */

/* Lists all runs with their keys and names. */
int sweep_plan(sweep_setup *sweep);
/* A trainer with the keys of a run, to be freed; NULL after an error line. */
hu_trainer *sweep_trainer(const sweep_setup *sweep, const sweep_run *run);
/* For job_work: refuses an entry of a file that was made for other keys, and names one of them. */
int sweep_refuse(void *context, size_t i, const job_entry *entry, const char *file);
/* Takes the results of the runs from the ledger. */
int sweep_take(sweep_setup *sweep);
void sweep_free(sweep_setup *sweep);
size_t sweep_count(const sweep_setup *sweep, int state);

/* ---- the folder (folder.c) ---- */

int sweep_make_folder(const char *folder);
/* Removes the temporary files that killed commands have left. */
void sweep_clean_folder(const char *folder);

/* ---- one run, and its result (run.c, result.c) ---- */

/* For job_work: trains. All processes of train_ranks_get() (train/ranks.h) call it together. */
int sweep_do(void *context, size_t i, job_result *result, job_steps *steps);

/* A text of one line, to be freed; NULL: there is no memory. */
char *sweep_result_text(const sweep_setup *sweep, const sweep_run *run);
/* 0: something is missing. */
int sweep_result_read(sweep_result *result, const job_entry *entry);

/* ---- what they say (summary.c, print.c) ---- */

typedef struct sweep_row {
  const char *value;    /* NULL: the baseline */
  const sweep_run *run; /* of each seed */
  size_t done;
  double mean, lowest, highest;                            /* of the measure, and its range, on the test set */
  double training;                                         /* its mean on the training set */
  double loss[2], low, low_end, stored, skipped, promoted; /* means; stored: bytes, relative to the baseline's */
} sweep_row;

typedef struct sweep_summary {
  const sweep_setup *sweep;
  const char *measure; /* "accuracy", "R^2" or the name of another one */
  sweep_row *row;      /* the baseline, then each value */
  size_t rows;
  int by_stored;            /* 1: the key changes what is stored, so that bytes decide which value is recommended */
  const sweep_row *best;    /* recommended; NULL: none */
  const sweep_row *nearest; /* the highest mean accuracy among values that are complete; NULL: none is */
  char text[1024];          /* the recommendation as sentences */
} sweep_summary;

int sweep_summarize(sweep_summary *z, const sweep_setup *sweep);
void sweep_summary_free(sweep_summary *z);
void sweep_print_table(FILE *out, const sweep_summary *z);
void sweep_print_csv(FILE *out, const void *summary);
void sweep_print_json(FILE *out, const void *summary);
/* Prints "NAME": "TEXT", or null, and a comma. */
void sweep_json_text(FILE *out, const char *name, const char *text);

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
