/* SPDX-License-Identifier: MIT */
/* Number systems beside floating point as targets (halfulp/number.h): every element on its own. */
#include <stdlib.h>
#include <string.h>

#include "cli/target/target.h"

static int claims(const char *text) {
  static const char *const begins[] = {"posit(", "takum(", "takum_linear(", "lns(", "q(", "uq(", "table("};
  hu_number system;
  for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
    if (!strncmp(text, begins[i], strlen(begins[i]))) return 1;
  return hu_number_find(&system, text) == HU_OK && system.kind != HU_NUMBER_FLOAT;
}

static int read_text(cli_target *target, const char *text) {
  size_t where = 0;
  hu_status status = hu_number_parse(&target->number, text, target->table, &where);
  return cli_target_fail(text, status, where);
}

/* Returns the system; the record may have been moved with its table. */
static hu_number number_of(const cli_target *target) {
  hu_number system = target->number;
  if (!strncmp(target->given, "table(", 6)) system.table = target->table;
  return system;
}

static void text_of(char text[CLI_TARGET_MAX], const cli_target *target) {
  hu_number system = number_of(target);
  const char *id = hu_number_id(system);
  if (id)
    snprintf(text, CLI_TARGET_MAX, "%s", id);
  else
    hu_number_text(text, CLI_TARGET_MAX, system);
}

static int check(const cli_target *target, const cli_job *job) {
  (void)target;
  return job->amax ? cli_fail(NULL, "--amax: a number system without scales has no amax") : CLI_OK;
}

/* Returns 1 for fixed point and posits of few bits, and tables (of binary32 values). Most logarithmic numbers no binary
 * format holds: they are rounded into the one at hand. */
static int fits(const cli_target *target, unsigned size) {
  hu_number_limits limits = hu_number_limits_of(number_of(target));
  if (target->number.kind == HU_NUMBER_TABLE || !limits.exact64) return size == 4;
  return size == 4 ? limits.width <= 24 && limits.max <= 0x1p126 && limits.min >= 0x1p-126
                   : limits.width <= 11 && limits.max <= 65504 && limits.min >= 0x1p-14;
}

static void layout(cli_parts *parts, const cli_target *target, size_t rows, size_t cols) {
  hu_number_limits limits = hu_number_limits_of(number_of(target));
  cli_codes_layout(parts, limits.width, limits.storage, rows, cols);
  parts->part[0].twos = target->number.kind == HU_NUMBER_FIXED && target->number.sign;
}

static int finish(hu_status status, const cli_job *job) {
  return status == HU_OK ? CLI_OK : cli_fail_status(job->name, status);
}

/* Returns 1 if the system's neighbours part at rational numbers of few digits, so that an integer may come rounded to
 * odd: one logarithm lies beyond such a number and before another, and a random word asks for all digits. */
static int takes_odd(hu_number number, hu_mode mode) {
  return !mode.bits && number.kind != HU_NUMBER_LNS && number.kind != HU_NUMBER_TAKUM;
}

static int encode_integers(void *codes, size_t n, hu_number number, cli_job *job) {
  double *x = cli_job_wide(job, !takes_odd(number, job->mode));
  if (!x) return CLI_BAD;
  hu_status status = hu_number_encode64_n(n, codes, 1, x, 1, number, job->mode, &job->exec, &job->events);
  free(x);
  return finish(status, job);
}

static int encode(const cli_parts *parts, const cli_target *target, cli_job *job) {
  size_t n = job->rows * job->cols;
  hu_number number = number_of(target);
  void *codes = parts->part[0].data;
  const cli_source *x = &job->x;
  if (x->kind == 'i' || x->kind == 'u') return encode_integers(codes, n, number, job);
  if (x->kind == 'c')
    return finish(hu_number_convert_n(n, codes, 1, number, x->data, 1, hu_number_float(x->format), job->mode,
                                      &job->exec, &job->events),
                  job);
  return finish(x->size == 8
                    ? hu_number_encode64_n(n, codes, 1, x->data, 1, number, job->mode, &job->exec, &job->events)
                    : hu_number_encode_n(n, codes, 1, x->data, 1, number, job->mode, &job->exec, &job->events),
                job);
}

static int decode(void *z, unsigned size, const cli_parts *parts, const cli_target *target, const cli_job *job) {
  size_t n = job->rows * job->cols;
  const void *codes = parts->part[0].data;
  hu_number number = number_of(target);
  return finish(size == 8 ? hu_number_decode64_n(n, z, 1, codes, 1, number, &job->exec)
                          : hu_number_decode_n(n, z, 1, codes, 1, number, &job->exec),
                job);
}

const cli_target_kind cli_kind_number = {1,      claims, read_text,     text_of,
                                         check,  fits,   layout,        cli_values_by_codes,
                                         encode, decode, cli_pack_rows, cli_unpack_rows};
