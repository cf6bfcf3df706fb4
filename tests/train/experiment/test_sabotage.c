/* SPDX-License-Identifier: MIT */
/* Every claim of an experiment can fail: a key of one run is changed so that the claim must not hold any more.
 *
 *   test_sabotage quick DATA     the shortest experiments that `make check-all` runs, most of them with the first of
 *                                their keys alone;  all: every one, with all of its keys */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/train/data.h"
#include "halfulp/train/experiment.h"

/* row: the run whose key is changed; NULL: all. fails: bits of the claims that must fail. */
typedef struct sabotage {
  const char *experiment, *row, *key, *value;
  uint32_t fails;
} sabotage;

/* Seconds of the longest experiments in `make check-all`, and which are run with all of their keys there: each key
 * runs all rows again. */
enum { QUICK_SECONDS = 2 };
static const char *const with_all_keys[] = {"fp16-master-weights", "assignment-ratio"};

#define CLAIM(i) ((uint32_t)1 << (i))

static const sabotage list[] = {
    /* mixed precision */
    {"fp16-master-weights", "binary16, binary32 master weights", "optimizer.weights", "binary16", CLAIM(0)},
    {"fp16-master-weights", "binary16, no master weights", "optimizer.weights", "binary32", CLAIM(1) | CLAIM(2)},
    {"fp16-master-weights", "binary16, binary32 master weights", "precision.values", "keep", CLAIM(3)},
    {"fp16-loss-scale", "binary16, scale 1", "loss.scale", "static(2^8)", CLAIM(0) | CLAIM(4)},
    {"fp16-loss-scale", "binary16, scale 2^8", "loss.scale", "none", CLAIM(1)},
    {"fp16-loss-scale", "binary16, scale from the largest gradient", "loss.scale", "static(2^40)", CLAIM(2)},
    {"fp16-loss-scale", "binary32", "loss.power", "0", CLAIM(3)},
    {"automatic-loss-scale", "backoff, window 50, from 2^24", "loss.scale",
     "backoff(scale_max=2^60,step_window=50,start=2^60)", CLAIM(1)},
    {"automatic-loss-scale", "backoff, window 50, from 2^40", "loss.scale", "static(2^40)",
     CLAIM(0) | CLAIM(2) | CLAIM(3)},
    {"automatic-loss-scale", "logmax, limit 2^40, plain loss", "loss.scale", "static(2^60)", CLAIM(4)},
    {"fp16-gru", "binary16, scale 1", "loss.scale", "static(2^10)", CLAIM(0) | CLAIM(1)},
    {"fp16-gru", "binary16, scale 2^10", "loss.scale", "none", CLAIM(2)},
    {"fp16-gru", "binary16, plain loss, scale 1024", "optimizer.rate", "1e-6", CLAIM(3)},
    {"fp16-conv", "binary16, scale 1", "loss.scale", "static(2^14)", CLAIM(0) | CLAIM(1)},
    {"fp16-conv", "binary16, scale 2^3", "loss.scale", "static(2^14)", CLAIM(2)},
    {"fp16-conv", "binary16, scale 2^14", "loss.scale", "none", CLAIM(3)},
    {"fp16-conv", "binary16, scale from the largest gradient", "loss.scale", "static(2^60)", CLAIM(4)},
    {"fp16-conv", "binary16, plain loss, SGD, scale 1024", "optimizer.rate", "1e-6", CLAIM(5)},
    /* shifted and squeezed numbers */
    {"s2fp8", "S2FP8", "precision.system", "fp8_e5m2", CLAIM(0) | CLAIM(1)},
    {"s2fp8", "FP8 E5M2", "precision.system", "binary32", CLAIM(2)},
    {"s2fp8", "FP8 E5M2, loss scale 25600", "loss.scale", "none", CLAIM(3)},
    {"s2fp8", "FP8 E5M2, shifted", "precision.system", "binary32", CLAIM(4)},
    {"s2fp8-conv", "S2FP8", "precision.system", "fp8_e5m2", CLAIM(0) | CLAIM(1) | CLAIM(3) | CLAIM(4)},
    {"s2fp8-conv", "FP8 E5M2", "precision.system", "binary32", CLAIM(2)},
    {"s2fp8-transformer", "S2FP8", "precision.system", "fp8_e5m2", CLAIM(0) | CLAIM(1) | CLAIM(3) | CLAIM(4)},
    {"s2fp8-transformer", "FP8 E5M2", "precision.system", "binary32", CLAIM(2)},
    /* bfloat16 alone */
    {"least-squares", "weight update to nearest, seed 0", "optimizer.weights", "binary32", CLAIM(0)},
    {"least-squares", "forward and backward to nearest, seed 1", "precision.values", "float8_e5m2", CLAIM(1)},
    {"least-squares", "all, Kahan update, seed 2", "optimizer.update", "rne", CLAIM(2) | CLAIM(3)},
    {"update-memory", "weights 1.5x, seed 0", "optimizer.update", "rne", CLAIM(0)},
    {"update-memory", "weights 2.0x, seed 2", "optimizer.update", "sra:16", CLAIM(0)},
    {"bfloat16-updates", "bfloat16, to nearest", "optimizer.weights", "binary32", CLAIM(0) | CLAIM(3)},
    {"bfloat16-updates", "bfloat16, stochastic", "optimizer.update", "rne", CLAIM(1)},
    {"bfloat16-updates", "bfloat16, Kahan", "optimizer.update", "rne", CLAIM(2)},
    {"bfloat16-adamw", "bfloat16, to nearest", "optimizer.update", "kahan", CLAIM(0)},
    {"bfloat16-adamw", "bfloat16, stochastic", "optimizer.update", "rne", CLAIM(1)},
    {"bfloat16-adamw", "bfloat16, Kahan", "optimizer.update", "rne", CLAIM(2)},
    {"bfloat16-transformer", "bfloat16, to nearest", "optimizer.update", "kahan", CLAIM(0)},
    {"bfloat16-transformer", "bfloat16, stochastic", "optimizer.update", "rne", CLAIM(1)},
    {"bfloat16-transformer", "bfloat16, Kahan", "optimizer.update", "rne", CLAIM(2)},
    /* assignments, blocks, sums */
    {"assignment-promotion", "uniform", "assignment.kind", "high", CLAIM(0) | CLAIM(1)},
    {"assignment-promotion", "theirs, r = 1", "assignment.ratio", "0.5", CLAIM(2) | CLAIM(3)},
    {"assignment-promotion", "operator", "assignment.kind", "uniform", CLAIM(4)},
    {"assignment-ratio", "uniform", "assignment.low_forward", "fp(4,1,4):finite,sat=finite", CLAIM(0)},
    {"assignment-ratio", "theirs, r = 1", "assignment.ratio", "0.1", CLAIM(1)},
    {"block-formats", "MXFP8 E4M3", "optimizer.rate", "1e-9", CLAIM(0) | CLAIM(2)},
    {"block-formats", "MXFP4", "precision.x", "fp(2,0,0)", CLAIM(1)},
    {"accumulation", "FP8, sums in fp(6,9,0), chunks of 64", "precision.accum", "seq(fp(6,9,0))", CLAIM(0)},
    {"accumulation", "FP8, sums in fp(6,9,0), one by one", "optimizer.rate", "1e-6", CLAIM(1)},
    {"accumulation", "FP8, chunks of 64, all layers", "precision.system", "binary32", CLAIM(2)},
    {"accumulation", "binary16, Ampere's sums in binary32", "optimizer.rate", "1e-6", CLAIM(3)},
    {"accumulation", "binary16, Volta's sums in binary16", "optimizer.rate", "1e-6", CLAIM(4)},
    {"long-reduction", "chunks of 64", "precision.accum", "seq2(fp(6,9,0))", CLAIM(0) | CLAIM(1) | CLAIM(4)},
    {"long-reduction", "binary32", "precision.accum", "chunk(64,fp(6,9,0),fp(6,9,0))", CLAIM(2)},
    {"long-reduction", "the same, promoted every 128", "precision.accum", "nv.hopper.e5m2.f32.wgmma", CLAIM(3)},
    {"long-reduction", "chunks of 8", "precision.accum", "chunk(1,fp(6,9,0),fp(6,9,0))", CLAIM(4)},
    /* joined gradients */
    {"error-feedback", "MXFP8 wire, seed 0", "parallel.reduce", "exact", CLAIM(0)},
    {"error-feedback", "MXFP8 wire, own, seed 0", "parallel.reduce", "exact", CLAIM(1) | CLAIM(4)},
    {"error-feedback", "E5M2 wire, small gradients, seed 0", "parallel.reduce", "exact", CLAIM(2)},
    {"error-feedback", "E5M2 wire, small gradients, own, seed 0", "parallel.feedback", "none", CLAIM(3)},
    {"gradients-all-reduce", NULL, "parallel.reduce", "exact", CLAIM(1) | CLAIM(2) | CLAIM(4) | CLAIM(7) | CLAIM(8)},
    {"gradients-all-reduce", "MXFP8 wire, own, 64 ranks", "parallel.reduce", "exact", CLAIM(5)},
    {"gradients-all-reduce", NULL, "parallel.reduce", "ring(bfloat16)", CLAIM(0)},
    {"gradients-all-reduce", "bfloat16 wire, 64 ranks", "optimizer.rate", "1e-9", CLAIM(3)},
    {"gradients-all-reduce", "MXFP8 wire, sum, 64 ranks", "parallel.feedback", "none", CLAIM(6)},
    {"gradients-all-reduce", "E5M2 wire, small gradients, sum, 64 ranks", "parallel.feedback", "none", CLAIM(9)},
};

/* 1: all claims that the key is to refute failed. *seen gets them; *claims: how many claims there are. */
static int refutes(const sabotage *x, const char *data, uint32_t *seen, size_t *claims) {
  const char *const pairs[] = {x->key, x->value, "run.threads", "2", NULL};
  const hu_experiment_options how = {data, pairs, NULL, NULL, NULL, 1, x->row};
  hu_experiment_report report;
  char why[HU_DATA_WHY_MAX] = "";
  int good = 1;
  hu_status status = hu_experiment_run(&report, x->experiment, &how, why);
  if (status != HU_OK) {
    printf("FAIL: %s, %s = %s: %s %s\n", x->experiment, x->key, x->value, hu_status_name(status), why);
    return 0;
  }
  *claims = report.claims;
  for (size_t i = 0; i < report.claims; i++) {
    if (!(x->fails >> i & 1) || !report.claim[i].holds) continue;
    printf("FAIL: %s, run '%s' with %s = %s: holds all the same: %s\n", x->experiment, x->row ? x->row : "all", x->key,
           x->value, report.claim[i].text);
    good = 0;
  }
  *seen |= x->fails;
  hu_experiment_report_free(&report);
  return good;
}

/* With all of its keys, which refute each claim; or with the first. */
static int experiment(hu_experiment experiment, const char *data, int first_alone, int *tried) {
  uint32_t seen = 0;
  size_t claims = 0;
  int good = 1, keys = 0;
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    if (strcmp(list[i].experiment, experiment.name) != 0 || (first_alone && keys > 0)) continue;
    good &= refutes(&list[i], data, &seen, &claims);
    keys++;
    fflush(stdout);
  }
  *tried += keys;
  if (first_alone ? keys == 0 : seen != CLAIM(claims) - 1) {
    printf("FAIL: %s: claims %x of %zu have a key that refutes them\n", experiment.name, (unsigned)seen, claims);
    good = 0;
  }
  return good;
}

static int is_with_all_keys(const char *name) {
  for (size_t i = 0; i < sizeof with_all_keys / sizeof *with_all_keys; i++) {
    if (strcmp(with_all_keys[i], name) == 0) return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  int good = 1, tried = 0, experiments = 0;
  if (argc < 3) return 2;
  int all = strcmp(argv[1], "all") == 0;
  for (size_t i = 0; i < hu_experiment_count(); i++) {
    hu_experiment e = hu_experiment_at(i);
    if (!all && (!e.quick || e.seconds > QUICK_SECONDS)) continue;
    good &= experiment(e, argv[2], !all && !is_with_all_keys(e.name), &tried);
    experiments++;
  }
  printf("%d experiments, %d changed keys: %s\n", experiments, tried,
         good ? "each change makes a claim fail" : "some do not");
  return !good || !tried;
}
