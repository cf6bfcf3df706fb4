/* SPDX-License-Identifier: MIT */
/* halfulp/train/experiment.h - claims of papers, reproduced on a small scale and judged.
 *
 *   for (size_t i = 0; i < hu_experiment_count(); i++) puts(hu_experiment_at(i).name);
 *   hu_experiment_report r;
 *   if (hu_experiment_run(&r, "fp16-loss-scale", "data", NULL, NULL, why) == HU_OK && r.held == r.claims) ...
 *
 * Each is a table of training runs that differ in precision alone, and claims about the table. Seeds are fixed: the
 * table and the digests of the weights are the same on every machine and for every number of threads. What each shows,
 * and where the scale is too small to show it: docs/experiments.md. */
#ifndef HALFULP_TRAIN_EXPERIMENT_H
#define HALFULP_TRAIN_EXPERIMENT_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hu_experiment {
  const char *name;
  const char *source; /* paper and table or figure */
  const char *shows;  /* the claim, a sentence */
} hu_experiment;
HU_API size_t hu_experiment_count(void);
HU_API hu_experiment hu_experiment_at(size_t i); /* i < hu_experiment_count(), else name is NULL */

/* A line of the table. */
typedef struct hu_experiment_row {
  const char *name; /* of the run */
  double loss;      /* mean over the training set at the end, without the factor on the loss */
  double accuracy;  /* on the test set; NaN where there are no classes */
  uint64_t skipped; /* steps that were not taken */
  double lost;      /* share of the weight updates that left the weight as it was */
  uint64_t digest;  /* of the weights (hu_net_digest) */
} hu_experiment_row;

enum { HU_EXPERIMENT_ROWS_MAX = 16, HU_EXPERIMENT_CLAIMS_MAX = 8, HU_CLAIM_MAX = 96 };
typedef struct hu_experiment_claim {
  char text[HU_CLAIM_MAX];
  int holds;
} hu_experiment_claim;

typedef struct hu_experiment_report {
  size_t rows, claims, held; /* held: claims that hold */
  hu_experiment_row row[HU_EXPERIMENT_ROWS_MAX];
  hu_experiment_claim claim[HU_EXPERIMENT_CLAIMS_MAX];
} hu_experiment_report;

/* After every run; returning 0 ends the experiment (HU_E_TRAIN, why says so). */
typedef int hu_experiment_progress(void *context, size_t done, size_t of, const hu_experiment_row *row);

/* Runs one, on the digits in the folder `data`. why: NULL, or room for HU_DATA_WHY_MAX bytes of data.h. HU_E_NAME: no
 * such experiment; else as hu_data_load_digits; HU_E_MEMORY. *report is set on success. */
HU_API HU_MUST_CHECK hu_status hu_experiment_run(hu_experiment_report *report, const char *name, const char *data,
                                                 hu_experiment_progress *progress, void *context, char *why);

#ifdef __cplusplus
}
#endif
#endif
