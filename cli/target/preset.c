/* SPDX-License-Identifier: MIT */
/* Presets of conversions as targets (halfulp/conversion.h): plain formats entered as another program enters them. The
 * presets of scaled tensors are scaled tensors here, with the preset's mode (kinds.c). */
#include <stdlib.h>
#include <string.h>

#include "cli/target/preset_names.h"
#include "cli/target/target.h"

static int read_text(cli_target *target, const char *text) {
  if (cli_read_conversion(&target->conversion, text)) return CLI_BAD;
  target->format = target->conversion.format;
  target->has_mode = 1;
  target->rounds_before = cli_rounds_before(&target->conversion);
  return CLI_OK;
}

static void text_of(char text[CLI_TARGET_MAX], const cli_target *target) {
  snprintf(text, CLI_TARGET_MAX, "%s", target->given);
}

static int check(const cli_target *target, const cli_job *job) { return cli_kind_format.check(target, job); }

static int fits(const cli_target *target, unsigned size) { return cli_kind_format.fits(target, size); }

static void layout(cli_parts *parts, const cli_target *target, size_t rows, size_t cols) {
  cli_kind_format.layout(parts, target, rows, cols);
}

static hu_status encode_wide(void *codes, size_t n, const double *x, const hu_conversion *conversion, cli_job *job) {
  return hu_conversion_encode64_n(n, codes, 1, x, 1, conversion, &job->exec, &job->events);
}

/* Encodes binary16 and codes of other formats, whose values are binary32 numbers: so the other program takes them. */
static hu_status encode_codes(void *codes, size_t n, const hu_conversion *conversion, cli_job *job) {
  float *owned = NULL;
  const float *x = cli_job_floats(&owned, job);
  if (!x) return HU_E_CARRIER;
  hu_status status = hu_conversion_encode_n(n, codes, 1, x, 1, conversion, &job->exec, &job->events);
  free(owned);
  return status;
}

/* Encodes integers: the other program takes them as floats, which is its own rounding; here binary64 must hold them. */
static int encode_integers(void *codes, size_t n, const hu_conversion *conversion, cli_job *job) {
  double *x = cli_job_wide(job, 1);
  if (!x) return CLI_BAD;
  hu_status status = encode_wide(codes, n, x, conversion, job);
  free(x);
  return status == HU_OK ? CLI_OK : cli_fail_status(job->name, status);
}

static int convert(void *codes, size_t n, const hu_conversion *conversion, cli_job *job) {
  if (job->x.kind == 'i' || job->x.kind == 'u') return encode_integers(codes, n, conversion, job);
  hu_status status = job->x.kind == 'c' ? encode_codes(codes, n, conversion, job)
                     : job->x.size == 8
                         ? encode_wide(codes, n, job->x.data, conversion, job)
                         : hu_conversion_encode_n(n, codes, 1, job->x.data, 1, conversion, &job->exec, &job->events);
  return status == HU_OK ? CLI_OK : cli_fail_status(job->name, status);
}

/* Counts the codes that are others than by one rounding. */
static int count_twice(const uint8_t *codes, size_t n, unsigned size, const cli_target *target, cli_job *job) {
  hu_conversion single = hu_conversion_once(&target->conversion);
  cli_job again = *job; /* whose events do not count */
  uint8_t *once = cli_alloc(n, size);
  if (!once) return CLI_BAD;
  int code = convert(once, n, &single, &again);
  job->twice = 0;
  for (size_t i = 0; i < n && code == CLI_OK; i++) job->twice += memcmp(codes + i * size, once + i * size, size) != 0;
  free(once);
  return code;
}

static int encode(const cli_parts *parts, const cli_target *target, cli_job *job) {
  size_t n = job->rows * job->cols;
  void *codes = parts->part[0].data;
  int code = convert(codes, n, &target->conversion, job);
  return code == CLI_OK && target->rounds_before ? count_twice(codes, n, parts->part[0].size, target, job) : code;
}

static int decode(void *z, unsigned size, const cli_parts *parts, const cli_target *target, const cli_job *job) {
  return cli_kind_format.decode(z, size, parts, target, job);
}

const cli_target_kind cli_kind_conversion = {
    1,      cli_preset_claims,   read_text, text_of, check,         fits,
    layout, cli_values_by_codes, encode,    decode,  cli_pack_rows, cli_unpack_rows};
