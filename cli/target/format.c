/* SPDX-License-Identifier: MIT */
/* Plain formats as targets: every element on its own. */
#include <stdlib.h>

#include "cli/base/names.h"
#include "cli/target/target.h"

static int claims(const char *text) {
  (void)text;
  return 1;
}

static int read_text(cli_target *target, const char *text) {
  return cli_read_format_or(&target->format, text, CLI_NAMES_SCALED | CLI_NAMES_NUMBERS | CLI_NAMES_PRESETS);
}

static void text_of(char text[CLI_TARGET_MAX], const cli_target *target) { cli_format_name(text, target->format); }

static int check(const cli_target *target, const cli_job *job) {
  (void)target;
  return job->amax ? cli_fail(NULL, "--amax: a format without scales has no amax") : CLI_OK;
}

static int fits(const cli_target *target, unsigned size) {
  hu_limits limits = hu_limits_of(target->format);
  if (size == 4) return hu_format_fits_binary32(target->format);
  return target->format.m <= 10 && limits.emax <= 15 && limits.emin - target->format.m >= -24;
}

static void layout(cli_parts *parts, const cli_target *target, size_t rows, size_t cols) {
  hu_limits limits = hu_limits_of(target->format);
  cli_codes_layout(parts, limits.width, limits.storage, rows, cols);
}

static int encode(const cli_parts *parts, const cli_target *target, cli_job *job) {
  hu_status status = cli_encode_source(parts->part[0].data, &job->x, job->rows * job->cols, target->format, job->mode,
                                       &job->exec, &job->events);
  return status == HU_OK ? CLI_OK : cli_fail_status(job->name, status);
}

static int decode(void *z, unsigned size, const cli_parts *parts, const cli_target *target, const cli_job *job) {
  size_t count = job->rows * job->cols;
  const void *codes = parts->part[0].data;
  hu_status status = size == 8 ? hu_decode64_n(count, z, 1, codes, 1, target->format, &job->exec)
                               : hu_decode_n(count, z, 1, codes, 1, target->format, &job->exec);
  return status == HU_OK ? CLI_OK : cli_fail_status(job->name, status);
}

static int values(void *z, unsigned size, const cli_target *target, cli_job *job) {
  size_t count = job->rows * job->cols;
  hu_status status = HU_OK;
  if (job->x.kind == 'f' && job->x.size == size) {
    status = size == 8
                 ? hu_quantize64_n(count, z, 1, job->x.data, 1, target->format, job->mode, &job->exec, &job->events)
                 : hu_quantize_n(count, z, 1, job->x.data, 1, target->format, job->mode, &job->exec, &job->events);
    return status == HU_OK ? CLI_OK : cli_fail_status(job->name, status);
  }
  return cli_values_by_codes(z, size, target, job);
}

const cli_target_kind cli_kind_format = {1,      claims, read_text, text_of, check,         fits,
                                         layout, values, encode,    decode,  cli_pack_rows, cli_unpack_rows};
