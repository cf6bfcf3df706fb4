/* SPDX-License-Identifier: MIT */
/* HiFloat4 as a target (halfulp/scaled.h): codes, and the four bytes of each block of 64. */
#include <stdlib.h>
#include <string.h>

#include "cli/target/target.h"

enum { CODES, SCALES, PARTS };

static int claims(const char *text) { return !strncmp(text, "hifloat4", 8); }

static int read_text(cli_target *target, const char *text) {
  size_t where = 0;
  hu_status status = hu_hif4_parse(&target->hif4, text, &where);
  target->has_mode = 1;
  target->conversion.scaling = "";
  return cli_target_fail(text, status, where);
}

static void text_of(char text[CLI_TARGET_MAX], const cli_target *target) {
  hu_hif4_text(text, CLI_TARGET_MAX, &target->hif4);
}

static int check(const cli_target *target, const cli_job *job) {
  (void)target;
  return job->amax ? cli_fail(NULL, "--amax: hifloat4 takes the numbers of each block") : CLI_OK;
}

static int fits(const cli_target *target, unsigned size) {
  (void)target;
  return size == 4;
}

static void layout(cli_parts *parts, const cli_target *target, size_t rows, size_t cols) {
  size_t blocks = cols / HU_HIF4_BLOCK + (cols % HU_HIF4_BLOCK != 0);
  (void)target;
  cli_codes_layout(parts, 4, 8, rows, cols);
  parts->part[SCALES] = (cli_part){"scales", 'u', HU_HIF4_SCALE, 2, rows, blocks, NULL, 0, 0};
  parts->count = PARTS;
  parts->bits += 8.0 * HU_HIF4_SCALE * (double)rows * (double)blocks;
}

static int finish(hu_status status, const cli_job *job) {
  return status == HU_OK ? CLI_OK : cli_fail_status(job->name, status);
}

static hu_scaled place_of(const cli_parts *parts, const cli_job *job) {
  hu_scaled place = {parts->part[CODES].data, job->cols, parts->part[SCALES].data, parts->part[SCALES].cols, NULL};
  return place;
}

static int encode(const cli_parts *parts, const cli_target *target, cli_job *job) {
  float *owned;
  const float *x = cli_job_floats(&owned, job);
  if (!x) return CLI_BAD;
  hu_scaled place = place_of(parts, job);
  hu_status status = hu_hif4_encode(job->rows, job->cols, &place, x, job->cols, &target->hif4, &job->events);
  free(owned);
  return finish(status, job);
}

static int decode(void *z, unsigned size, const cli_parts *parts, const cli_target *target, const cli_job *job) {
  (void)target;
  hu_scaled place = place_of(parts, job);
  hu_status status = hu_hif4_decode(job->rows, job->cols, z, job->cols, &place);
  if (status == HU_OK && size == 8) cli_widen(z, job->rows * job->cols);
  return finish(status, job);
}

static int values(void *z, unsigned size, const cli_target *target, cli_job *job) {
  float *owned;
  const float *x = cli_job_floats(&owned, job);
  if (!x) return CLI_BAD;
  hu_status status = hu_hif4_quantize(job->rows, job->cols, z, job->cols, x, job->cols, &target->hif4, &job->events);
  free(owned);
  if (status == HU_OK && size == 8) cli_widen(z, job->rows * job->cols);
  return finish(status, job);
}

const cli_target_kind cli_kind_hif4 = {0,      claims, read_text, text_of, check,         fits,
                                       layout, values, encode,    decode,  cli_pack_rows, cli_unpack_rows};
