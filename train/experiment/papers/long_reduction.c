/* SPDX-License-Identifier: MIT */
/* One long reduction, as that of a gradient of weights: numbers that are drawn with several seeds, summed in many ways;
 * and sums of ones, which are exact. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/gemm.h"
#include "train/experiment/experiment.h"

enum { LONGEST = 32768, SIDE = 8, SEEDS = 3 };

/* X is LONGEST x SIDE, not negative, dZ the same, of both signs. Both on the grid of fp(5,2,0). */
typedef struct sum_operands {
  float x[LONGEST * SIDE], dz[LONGEST * SIDE];
  float ones[LONGEST];
  float exact[SIDE * SIDE], z[SIDE * SIDE];
  hu_format fp8;
} sum_operands;

/* dZ's mean is a part of its deviation: 1/4 is what a direction that is being learnt looks like, sums grow. */
static hu_status make(sum_operands *operands, float part, uint64_t seed) {
  const hu_mode rne = {0};
  hu_stream stream = hu_stream_of_use(seed, HU_USE_DATA), words = hu_stream_of_use(seed, HU_USE_NOISE);
  hu_status status = hu_format_parse(&operands->fp8, "fp(5,2,0)", NULL);
  hu_normal_n(LONGEST * SIDE, operands->x, 1, stream);
  hu_normal_n(LONGEST * SIDE, operands->dz, 0x1p-7f, words);
  for (size_t i = 0; i < LONGEST * SIDE; i++) {
    operands->x[i] = operands->x[i] > 0 ? operands->x[i] : 0;
    operands->dz[i] += part * 0x1p-7f;
  }
  for (size_t i = 0; i < LONGEST; i++) operands->ones[i] = 1;
  if (status == HU_OK)
    status = hu_quantize_n(LONGEST * SIDE, operands->x, 1, operands->x, 1, operands->fp8, rne, NULL, NULL);
  if (status == HU_OK)
    status = hu_quantize_n(LONGEST * SIDE, operands->dz, 1, operands->dz, 1, operands->fp8, rne, NULL, NULL);
  return status;
}

/* z = the first k rows of X transposed, times those of dZ. */
static hu_status reduce(const sum_operands *operands, size_t k, const char *model, float *z) {
  hu_accum accum;
  hu_status status = hu_accum_parse(&accum, model, NULL);
  if (status != HU_OK) return status;
  hu_view x = hu_transposed(hu_matrix_of(operands->x, SIDE, hu_type_values(HU_TYPE_VALUES32, operands->fp8))),
          dz = hu_matrix_of(operands->dz, SIDE, hu_type_values(HU_TYPE_VALUES32, operands->fp8));
  hu_output result = hu_matrix_floats_out(z, SIDE);
  return hu_gemm(SIDE, SIDE, k, &result, &x, &dz, NULL, &accum, NULL);
}

static hu_status error_at(sum_operands *operands, size_t k, const char *model, double *error) {
  hu_status status = reduce(operands, k, "exact", operands->exact);
  if (status == HU_OK) status = reduce(operands, k, model, operands->z);
  if (status == HU_OK) *error = hui_relative_error(SIDE * SIDE, operands->z, operands->exact);
  return status;
}

/* ---- what is measured ---- */

typedef struct method {
  const char *name, *model; /* the model unless the caller sets precision.accum in the run of that name */
} method;
enum { ONE_BY_ONE, CHUNKED, PAIRS, COMPENSATED, HOPPER, PROMOTED, BINARY32, METHODS };
static const method methods[METHODS] = {
    {"one by one", "seq2(fp(6,9,0))"},
    {"chunks of 64", "chunk(64,fp(6,9,0),fp(6,9,0))"},
    {"pairwise", "pairwise(fp(6,9,0))"},
    {"Kahan", "kahan(fp(6,9,0))"},
    {"Hopper's FP8 unit", "nv.hopper.e5m2.f32.wgmma"},
    {"the same, promoted every 128", "promote(128,nv.hopper.e5m2.f32.wgmma,binary32)"},
    {"binary32", "fp32"}};

static const char *const runs[] = {"one by one",
                                   "chunks of 8",
                                   "chunks of 64",
                                   "pairwise",
                                   "Kahan",
                                   "Hopper's FP8 unit",
                                   "the same, promoted every 128",
                                   "binary32",
                                   NULL};

static const char *model_of(const hu_lab *lab, const char *name, const char *standard) {
  return hui_lab_value(lab, name, "precision.accum", standard);
}

enum { LENGTHS = 4 };
static const size_t lengths[LENGTHS] = {512, 2048, 8192, LONGEST};

/* Errors of each method, by seed. */
typedef struct sum_errors {
  double at[METHODS][LENGTHS][SEEDS]; /* of sums that grow */
  double level[METHODS][SEEDS];       /* of the longest ones, where the mean of dZ is 0 */
} sum_errors;

static double mean(const double x[SEEDS]) {
  double z = 0;
  for (size_t i = 0; i < SEEDS; i++) z += x[i] / SEEDS;
  return z;
}

static hu_status by_length(hu_lab *lab, sum_operands *operands, size_t seed, sum_errors *errors) {
  for (size_t i = 0; i < METHODS; i++) {
    for (size_t l = 0; l < LENGTHS; l++) {
      hu_status status =
          error_at(operands, lengths[l], model_of(lab, methods[i].name, methods[i].model), &errors->at[i][l][seed]);
      if (status != HU_OK) return status;
    }
  }
  return HU_OK;
}

static hu_status draw_lengths(hu_lab *lab, sum_operands *operands) {
  int figure = hui_lab_figure(lab, "reduction", "Error of a long sum of products", "length of the sum",
                              "relative error", HU_FIGURE_LINES);
  hui_lab_axes(lab, figure, HU_AXIS_LOG2, HU_AXIS_LOG10);
  for (size_t i = 0; i < METHODS; i++) {
    int series = hui_lab_series(lab, figure, methods[i].name);
    for (size_t k = 128; k <= LONGEST; k *= 2) {
      double error;
      hu_status status = error_at(operands, k, model_of(lab, methods[i].name, methods[i].model), &error);
      if (status != HU_OK) return status;
      hui_lab_point(lab, figure, series, (double)k, error);
    }
  }
  return lab->status;
}

static hu_status by_chunk(hu_lab *lab, sum_operands *operands) {
  int figure = hui_lab_figure(lab, "chunks", "Error of a sum of 32768 products", "products of a chunk",
                              "relative error", HU_FIGURE_LINES);
  int series = hui_lab_series(lab, figure, "fp(6,9,0) in chunks");
  hui_lab_axes(lab, figure, HU_AXIS_LOG2, HU_AXIS_LOG10);
  for (unsigned n = 1; n <= LONGEST; n *= 2) {
    char model[64];
    double error;
    snprintf(model, sizeof model, "chunk(%u,fp(6,9,0),fp(6,9,0))", n);
    hu_status status = error_at(operands, LONGEST, model, &error);
    if (status != HU_OK) return status;
    hui_lab_point(lab, figure, series, n, error);
  }
  return lab->status;
}

/* The same where sums do not grow. */
static hu_status without_mean(hu_lab *lab, sum_operands *operands, size_t seed, sum_errors *errors) {
  for (size_t i = 0; i < METHODS; i++) {
    hu_status status =
        error_at(operands, LONGEST, model_of(lab, methods[i].name, methods[i].model), &errors->level[i][seed]);
    if (status != HU_OK) return status;
  }
  return HU_OK;
}

/* Drawings are of the first seed. */
static hu_status of_seed(hu_lab *lab, sum_operands *operands, size_t seed, sum_errors *errors) {
  hu_status status = make(operands, 0.25f, seed);
  if (status == HU_OK) status = by_length(lab, operands, seed, errors);
  if (status == HU_OK && seed == 0) status = draw_lengths(lab, operands);
  if (status == HU_OK && seed == 0) status = by_chunk(lab, operands);
  if (status == HU_OK) status = make(operands, 0, seed);
  return status == HU_OK ? without_mean(lab, operands, seed, errors) : status;
}

static void show(hu_lab *lab, const sum_errors *errors) {
  static const char *const by_k[] = {"error at K = 512", "2048", "8192", "32768", NULL};
  static const char *const by_seed[] = {"seed 0", "seed 1", "seed 2", "mean", "deviation", NULL};
  int means =
      hui_lab_table(lab, "Relative error of X^T dZ, K products long, sums in fp(6,9,0) unless stated, mean", by_k);
  int grown = hui_lab_table(lab, "The same at K = 32768, by seeds", by_seed);
  int level = hui_lab_table(lab, "The same where the mean of dZ is 0", by_seed);
  for (size_t i = 0; i < METHODS; i++) {
    double cells[LENGTHS];
    for (size_t l = 0; l < LENGTHS; l++) cells[l] = mean(errors->at[i][l]);
    hui_lab_table_row(lab, means, methods[i].name, cells);
    hui_lab_seeds_row(lab, grown, methods[i].name, errors->at[i][LENGTHS - 1], SEEDS);
    hui_lab_seeds_row(lab, level, methods[i].name, errors->level[i], SEEDS);
  }
}

static hu_status ones(hu_lab *lab, sum_operands *operands, double sums[3][3]) {
  static const char *const cols[] = {"4096", "8192", "16384", NULL};
  static const char *const models[] = {"chunk(1,fp(6,9,0),fp(6,9,0))", "chunk(8,fp(6,9,0),fp(6,9,0))",
                                       "chunk(64,fp(6,9,0),fp(6,9,0))"};
  static const char *const names[] = {"one by one", "chunks of 8", "chunks of 64"};
  int table = hui_lab_table(lab, "So many ones, added up in fp(6,9,0)", cols);
  for (size_t i = 0; i < 3; i++) {
    hu_accum accum;
    hu_status status = hu_accum_parse(&accum, model_of(lab, names[i], models[i]), NULL);
    for (size_t j = 0; j < 3 && status == HU_OK; j++) {
      float z;
      hu_view x = hu_matrix_of(operands->ones, LONGEST, hu_type_values(HU_TYPE_VALUES32, operands->fp8)),
              y = hu_matrix_of(operands->ones, 1, hu_type_values(HU_TYPE_VALUES32, operands->fp8));
      hu_output result = hu_matrix_floats_out(&z, 1);
      status = hu_gemm(1, 1, (size_t)4096 << j, &result, &x, &y, NULL, &accum, NULL);
      if (status == HU_OK) sums[i][j] = (double)z;
    }
    if (status != HU_OK) return status;
    hui_lab_table_row(lab, table, names[i], sums[i]);
  }
  return lab->status;
}

static void judge_errors(hu_lab *lab, const sum_errors *errors) {
  double grown[METHODS], level[METHODS];
  for (size_t i = 0; i < METHODS; i++) {
    grown[i] = mean(errors->at[i][LENGTHS - 1]);
    level[i] = mean(errors->level[i]);
  }
  hui_lab_claim(lab, 5 * grown[CHUNKED] <= grown[ONE_BY_ONE],
                "32768 products: chunks of 64 have at most a fifth of the error of one by one: %.2e and %.2e",
                grown[CHUNKED], grown[ONE_BY_ONE]);
  hui_lab_claim(lab, 2 * level[CHUNKED] <= level[ONE_BY_ONE],
                "where the mean of dZ is 0, at most half of it: %.2e and %.2e", level[CHUNKED], level[ONE_BY_ONE]);
  hui_lab_claim(lab, grown[BINARY32] < 1e-5, "in binary32 it is %.2e", grown[BINARY32]);
  hui_lab_claim(lab, grown[PROMOTED] < grown[HOPPER],
                "promotion every 128 products mends the 8-bit unit's sums: %.2e and %.2e", grown[PROMOTED],
                grown[HOPPER]);
}

static void judge_ones(hu_lab *lab, double sums[3][3]) {
  hui_lab_claim(lab, sums[0][0] == 1024 && sums[0][2] == 1024 && sums[1][2] == 8192 && sums[2][2] == 16384,
                "ones: one by one stops at %g, 16384 of them in chunks of 8 at %g, in chunks of 64 are %g", sums[0][2],
                sums[1][2], sums[2][2]);
}

static hu_status run(hu_lab *lab) {
  sum_errors errors = {{{{0}}}, {{0}}};
  double sums[3][3];
  sum_operands *operands = malloc(sizeof *operands);
  hu_status status = operands ? hui_lab_own_runs(lab, runs) : HU_E_MEMORY;
  for (size_t seed = 0; seed < SEEDS && status == HU_OK; seed++) status = of_seed(lab, operands, seed, &errors);
  if (status == HU_OK) show(lab, &errors);
  if (status == HU_OK) status = ones(lab, operands, sums);
  free(operands);
  if (status != HU_OK) return status;
  judge_errors(lab, &errors);
  judge_ones(lab, sums);
  return HU_OK;
}

static void judge(hu_lab *lab) { (void)lab; }

const hu_plan hu_plan_reduction = {
    .shown = {.name = "long-reduction",
              .source = "Wang et al., Training Deep Neural Networks with 8-bit Floating Point Numbers (2018)",
              .figure = "chunk-based accumulation",
              .shows = "the error of a long sum in 16 bits comes from its length, and chunks shorten it",
              .expected = "the error of one by one grows with the length, in chunks hardly; the best chunks are "
                          "neither short nor long",
              .seconds = 1,
              .quick = 1},
    .run = run,
    .judge = judge};
