/* SPDX-License-Identifier: MIT */
/* halfulp/train/experiment.h - claims of papers, reproduced on a small scale and judged.
 *
 *   for (size_t i = 0; i < hu_experiment_count(); i++) puts(hu_experiment_at(i).name);
 *   hu_experiment_options how = {0};
 *   hu_experiment_report r;
 *   how.data = "data";
 *   if (hu_experiment_run(&r, "fp16-loss-scale", &how, why) == HU_OK) {
 *     if (r.held == r.claims) ...
 *     hu_experiment_report_free(&r);
 *   }
 *
 * Each is a table of runs that differ in precision alone, claims about the table, and what was recorded on the way:
 * curves, histograms, tables of other things. Most runs are runs of a trainer (trainer.h), a set of keys each, with one
 * seed or several. Seeds are fixed: all numbers and the digests of the weights are the same on every machine, for every
 * number of threads, on both devices and in every floating-point environment of the caller's (train.h). What each
 * shows, and where the scale is too small to show it: docs/training/experiments.md. */
#ifndef HALFULP_TRAIN_EXPERIMENT_H
#define HALFULP_TRAIN_EXPERIMENT_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the list ---- */

/* An experiment. */
typedef struct hu_experiment {
  const char *name;
  const char *source;   /* the paper */
  const char *figure;   /* its table, figure or section */
  const char *shows;    /* the claim, a sentence */
  const char *expected; /* what the numbers have to look like */
  unsigned seconds;     /* about how long it takes, on one core of the machine of bench/README.md */
  size_t runs;          /* rows that it will have */
  int quick;            /* 1: part of `make check-all` */
  int seeded;           /* 1: it can be run with several seeds; 0: it has its own */
} hu_experiment;
/* The number of experiments; and one of them: i < hu_experiment_count(), else name is NULL. */
HU_API size_t hu_experiment_count(void);         /* the number of experiments */
HU_API hu_experiment hu_experiment_at(size_t i); /* experiment i */

/* ---- what comes out ---- */

/* Room for a name, for a claim. */
enum {
  HU_EXPERIMENT_NAME_MAX = 64, /* with the final 0 */
  HU_CLAIM_MAX = 240           /* with the final 0 */
};

/* A run. Numbers that it does not have are NaN. */
typedef struct hu_experiment_row {
  char name[HU_EXPERIMENT_NAME_MAX];
  double loss;      /* mean over the training set at the end, without the factor on the loss */
  double test_loss; /* over the test set */
  double accuracy;  /* on the test set; NaN where there are no classes */
  double r2;        /* on the test set; NaN where there are classes */
  uint64_t steps;   /* those skipped among them */
  uint64_t skipped; /* steps that were not taken */
  double lost;      /* share of the weight updates that left the weight as it was */
  double scale;     /* of the loss, at the end */
  double low;       /* share of low elements, mean over the steps (assignments) */
  size_t promoted;  /* tensors promoted */
  uint64_t digest;  /* of the weights (hu_net_digest) */
  char *keys;       /* lines "key = value" that differ from the defaults, for `halfulp train`; NULL: no trainer's */
  /* Over so many seeds: loss, test_loss, accuracy, r2, lost and low are means, and these are the standard deviations
   * (n - 1) of the first four; NaN with one seed. Everything else is of the first seed. */
  size_t seeds;
  double loss_deviation, test_loss_deviation, accuracy_deviation, r2_deviation;
} hu_experiment_row;

/* What the paper says, judged. */
typedef struct hu_experiment_claim {
  char text[HU_CLAIM_MAX]; /* with the numbers measured */
  int holds;
} hu_experiment_claim;

/* Points of a curve, or the columns of a histogram: the share y of elements with exponent x (floor(log2 |g|)). */
typedef struct hu_experiment_series {
  char name[HU_EXPERIMENT_NAME_MAX];
  size_t count;
  double *x, *y; /* y: any binary64 number */
  double zeros;  /* histograms: share of zeros */
} hu_experiment_series;

/* Kinds of figures. */
enum {
  HU_FIGURE_LINES = 0, /* lines through points */
  HU_FIGURE_BARS = 1   /* a histogram */
};
/* How an axis is drawn. */
enum {
  HU_AXIS_PLAIN = 0, /* evenly */
  HU_AXIS_LOG2 = 1,  /* by powers of two */
  HU_AXIS_LOG10 = 2  /* by powers of ten */
};
/* A drawing. */
typedef struct hu_experiment_figure {
  char name[HU_EXPERIMENT_NAME_MAX]; /* a word for names of files: letters, digits, '-' */
  char title[2 * HU_EXPERIMENT_NAME_MAX];
  char x[HU_EXPERIMENT_NAME_MAX], y[HU_EXPERIMENT_NAME_MAX]; /* what the axes are */
  uint8_t kind, x_axis, y_axis;
  size_t count;
  hu_experiment_series *series;
} hu_experiment_figure;

/* Numbers that are no runs: rows x cols, row-major. */
typedef struct hu_experiment_table {
  char title[2 * HU_EXPERIMENT_NAME_MAX];
  size_t rows, cols;
  char (*row_name)[HU_EXPERIMENT_NAME_MAX];
  char (*col_name)[HU_EXPERIMENT_NAME_MAX];
  double *cell;
} hu_experiment_table;

/* All that an experiment found; hu_experiment_free frees it. */
typedef struct hu_experiment_report {
  size_t rows, claims, held, figures, tables; /* held: claims that hold */
  hu_experiment_row *row;
  hu_experiment_claim *claim;
  hu_experiment_figure *figure;
  hu_experiment_table *table;
} hu_experiment_report;
/* All of its memory; then it is all zero. NULL: nothing. */
HU_API void hu_experiment_report_free(hu_experiment_report *report);

/* ---- running ---- */

/* After every run, in the caller's floating-point environment; returning 0 ends the experiment (HU_E_TRAIN, why says
 * so). */
typedef int hu_experiment_progress(void *context, size_t done, size_t of, const hu_experiment_row *row);

/* How one is run; may be all zero. */
typedef struct hu_experiment_options {
  const char *data;         /* folder with digits_images.npy, digits_labels.npy, xz_file_format.txt; NULL: "data" */
  const char *const *pairs; /* NULL, or key, value, key, value ... NULL: set in every run, after its own; with
                               "run.threads" and "run.device" no number changes. The claims are judged nevertheless. */
  hu_experiment_progress *progress; /* may be NULL */
  void *context;
  const struct hu_engine *engine; /* of runs with "run.device", "cuda" (net.h); may be NULL */
  size_t seeds;                   /* 0, 1: one. More: each run is made with run.seed and data.seed 0, 1, ... seeds - 1,
                                     and the claims are judged on the means. An experiment that has seeds of its own, or
                                     rows that are no trainer's, is run once (hu_experiment.seeded is 0), and so is one
                                     whose `pairs` set a seed. */
  const char *row;                /* NULL; or the one run, by name, that `pairs` are set in. Two experiments have no
                                     trainer: update-memory takes optimizer.update in a run, and long-reduction takes
                                     precision.accum in a row of its tables; other keys change nothing there. */
} hu_experiment_options;

/* how: NULL: all zero. why: NULL, or room for HU_DATA_WHY_MAX bytes of data.h. HU_E_NAME: no such experiment, or no
 * trial of the name `row`, or a network without a layer of the kind whose statistics the experiment draws, before the
 * first run; else as hu_trainer_set, hu_trainer_begin, hu_trainer_step; HU_E_MEMORY. *report is set on success, and is
 * the caller's to free. */
HU_API HU_MUST_CHECK hu_status hu_experiment_run(hu_experiment_report *report, const char *name,
                                                 const hu_experiment_options *how, char *why);

#ifdef __cplusplus
}
#endif
#endif
