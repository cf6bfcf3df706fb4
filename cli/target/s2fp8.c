/* SPDX-License-Identifier: MIT */
/* Shifted and squeezed tensors as targets (halfulp/s2fp8.h): codes, and two logarithms of the whole tensor. They are
 * stored as binary64, which holds them exactly; alpha and beta beside them are for other readers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/target/target.h"

enum { CODES, MU, M, ALPHA, BETA, PARTS };

static int claims(const char *text) { return !strcmp(text, "s2fp8") || !strncmp(text, "s2fp8(", 6); }

static int read_text(cli_target *target, const char *text) {
  size_t where = 0;
  hu_status status = hu_s2fp8_parse(&target->s2fp8, text, &where);
  return cli_target_fail(text, status, where);
}

static void text_of(char text[CLI_TARGET_MAX], const cli_target *target) {
  hu_s2fp8_text(text, CLI_TARGET_MAX, &target->s2fp8);
}

static int check(const cli_target *target, const cli_job *job) {
  (void)target;
  return job->amax ? cli_fail(NULL, "--amax: s2fp8 takes the logarithms of all elements, not the largest alone")
                   : CLI_OK;
}

static int fits(const cli_target *target, unsigned size) {
  (void)target;
  return size == 4;
}

static void layout(cli_parts *parts, const cli_target *target, size_t rows, size_t cols) {
  hu_limits limits = hu_limits_of(target->s2fp8.element);
  cli_codes_layout(parts, limits.width, limits.storage, rows, cols);
  parts->part[MU] = (cli_part){"mu", 'f', 8, 0, 1, 1, NULL, 0, 0};
  parts->part[M] = (cli_part){"m", 'f', 8, 0, 1, 1, NULL, 0, 0};
  parts->part[ALPHA] = (cli_part){"alpha", 'f', 4, 0, 1, 1, NULL, 0, 0};
  parts->part[BETA] = (cli_part){"beta", 'f', 4, 0, 1, 1, NULL, 0, 0};
  parts->count = PARTS;
  parts->bits += 64; /* alpha and beta, or what they are computed from */
}

static void store(const cli_parts *parts, const hu_s2fp8_scale *scale) {
  double mu = (double)scale->mu * HU_S2FP8_UNIT, m = (double)scale->m * HU_S2FP8_UNIT;
  memcpy(parts->part[MU].data, &mu, sizeof mu);
  memcpy(parts->part[M].data, &m, sizeof m);
  memcpy(parts->part[ALPHA].data, &scale->alpha, sizeof scale->alpha);
  memcpy(parts->part[BETA].data, &scale->beta, sizeof scale->beta);
}

/* Takes a logarithm read from a file: any binary64 number. */
static int whole_units(int64_t *z, const cli_part *part) {
  double x;
  memcpy(&x, part->data, sizeof x);
  if (!(fabs(x) <= 1024)) return 0;
  x /= HU_S2FP8_UNIT;
  *z = (int64_t)x;
  return (double)*z == x;
}

static hu_status load(hu_s2fp8_scale *scale, const cli_parts *parts, const hu_s2fp8 *kind) {
  int64_t mu, m;
  if (!whole_units(&mu, &parts->part[MU]) || !whole_units(&m, &parts->part[M])) return HU_E_SCALING;
  return hu_s2fp8_scale_from(scale, mu, m, kind);
}

static int finish(hu_status status, const cli_job *job) {
  return status == HU_OK ? CLI_OK : cli_fail_status(job->name, status);
}

static int encode(const cli_parts *parts, const cli_target *target, cli_job *job) {
  const hu_s2fp8 *kind = &target->s2fp8;
  size_t n = job->rows * job->cols;
  hu_s2fp8_sums sums = {0};
  hu_s2fp8_scale scale = {0};
  float *owned;
  const float *x = cli_job_floats(&owned, job);
  if (!x) return CLI_BAD;
  hu_status status = hu_s2fp8_sum_n(n, x, 1, &sums, &job->exec);
  if (status == HU_OK) status = hu_s2fp8_scale_of(&scale, &sums, kind, NULL);
  if (status == HU_OK)
    status = hu_s2fp8_encode_n(n, parts->part[CODES].data, 1, x, 1, kind, &scale, job->mode, &job->exec, &job->events);
  if (status == HU_OK) store(parts, &scale);
  free(owned);
  return finish(status, job);
}

static int decode(void *z, unsigned size, const cli_parts *parts, const cli_target *target, const cli_job *job) {
  const hu_s2fp8 *kind = &target->s2fp8;
  size_t n = job->rows * job->cols;
  hu_s2fp8_scale scale;
  if (load(&scale, parts, kind) != HU_OK) return cli_fail(job->name, "mu and m are not the logarithms of any tensor");
  hu_status status = hu_s2fp8_decode_n(n, z, 1, parts->part[CODES].data, 1, kind, &scale, &job->exec);
  if (status == HU_OK && size == 8) cli_widen(z, n);
  return finish(status, job);
}

static int values(void *z, unsigned size, const cli_target *target, cli_job *job) {
  size_t n = job->rows * job->cols;
  float *owned;
  const float *x = cli_job_floats(&owned, job);
  if (!x) return CLI_BAD;
  hu_status status =
      hu_s2fp8_truncate_n(n, z, 1, x, 1, &target->s2fp8, job->mode, NULL, NULL, &job->exec, &job->events);
  free(owned);
  if (status == HU_OK && size == 8) cli_widen(z, n);
  return finish(status, job);
}

const cli_target_kind cli_kind_s2fp8 = {0,      claims, read_text, text_of, check,         fits,
                                        layout, values, encode,    decode,  cli_pack_rows, cli_unpack_rows};
