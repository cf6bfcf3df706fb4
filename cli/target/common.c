/* SPDX-License-Identifier: MIT */
/* Functions that the kinds of target.h share: errors, names, parts and their memory, codes in rows, blocks in words. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/numbers.h"
#include "cli/target/target.h"
#include "cli/tensors/integers.h"

int cli_target_fail(const char *text, hu_status status, size_t where) {
  if (status == HU_OK) return CLI_OK;
  if (status == HU_E_TEXT && where >= strlen(text))
    return cli_fail(NULL, "format '%s': something is missing at the end", text);
  if (status != HU_E_TEXT && status != HU_E_NAME && status != HU_E_FORMAT)
    return cli_fail(NULL, "format '%s': well-formed, but its parts do not go together", text);
  const char *why = status == HU_E_NAME     ? "no format of that name"
                    : status == HU_E_FORMAT ? "no such format can be"
                                            : "wrong";
  return cli_fail(NULL, "format '%s': %s from character %zu on: '%s'", text, why, where + 1, text + where);
}

const char *cli_target_name(char text[CLI_TARGET_MAX], const cli_target *target) {
  if (!strchr(target->given, '(') && strlen(target->given) < CLI_TARGET_MAX) return strcpy(text, target->given);
  target->kind->text(text, target);
  return text;
}

void cli_parts_plan(cli_parts *parts, const cli_target *target, const cli_job *job) {
  memset(parts, 0, sizeof *parts);
  target->kind->layout(parts, target, job->rows, job->cols);
  parts->transpose = job->transpose;
}

int cli_parts_alloc(cli_parts *parts, const cli_target *target, const cli_job *job) {
  cli_parts_plan(parts, target, job);
  for (int i = 0; i < parts->count; i++) {
    cli_part *part = &parts->part[i];
    part->data = cli_alloc(part->dims ? part->rows * part->cols : 1, part->size);
    if (!part->data) {
      cli_parts_free(parts);
      return CLI_BAD;
    }
  }
  return CLI_OK;
}

void cli_parts_free(cli_parts *parts) {
  for (int i = 0; i < parts->count; i++) {
    free(parts->part[i].data);
    parts->part[i].data = NULL;
  }
}

void cli_codes_layout(cli_parts *parts, unsigned width, unsigned storage, size_t rows, size_t cols) {
  parts->part[0] = (cli_part){"codes", 'u', (uint8_t)(storage / 8), 2, rows, cols, NULL, (uint8_t)width, 0};
  parts->count = 1;
  parts->width = width;
  parts->packed_rows = width <= 8 ? rows : 0;
  parts->packed_row = width <= 8 ? hu_pack_size(cols, width) : 0;
  parts->bits = width <= 8 ? 8.0 * (double)rows * (double)parts->packed_row : (double)rows * (double)cols * storage;
}

hu_status cli_pack_rows(uint8_t *z, const cli_parts *parts, const cli_target *target) {
  const cli_part *codes = &parts->part[0];
  const uint8_t *data = codes->data;
  hu_status status = HU_OK;
  (void)target;
  for (size_t i = 0; i < codes->rows && status == HU_OK; i++)
    status = hu_pack_n(codes->cols, z + i * parts->packed_row, data + i * codes->cols, parts->width, NULL);
  return status;
}

hu_status cli_unpack_rows(const cli_parts *parts, const uint8_t *x, const cli_target *target) {
  const cli_part *codes = &parts->part[0];
  uint8_t *data = codes->data;
  hu_status status = HU_OK;
  (void)target;
  for (size_t i = 0; i < codes->rows && status == HU_OK; i++)
    status = hu_unpack_n(codes->cols, data + i * codes->cols, x + i * parts->packed_row, parts->width, NULL);
  return status;
}

int cli_values_by_codes(void *z, unsigned size, const cli_target *target, cli_job *job) {
  cli_parts parts;
  if (cli_parts_alloc(&parts, target, job)) return CLI_BAD;
  int code = target->kind->encode(&parts, target, job);
  if (code == CLI_OK) code = target->kind->decode(z, size, &parts, target, job);
  cli_parts_free(&parts);
  return code;
}

static int narrow(float *z, const double *x, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++) {
    int beyond = isfinite(x[i]) && fabs(x[i]) > FLT_MAX;
    z[i] = beyond ? 0 : (float)x[i];
    if (beyond || (z[i] != x[i] && !isnan(x[i])))
      return cli_fail(name,
                      "element %zu is not a binary32 number, which this format is computed from; round it first "
                      "(quantize -f binary32)",
                      i);
  }
  return CLI_OK;
}

const float *cli_job_floats(float **owned, const cli_job *job) {
  size_t count = job->rows * job->cols;
  double *wide = NULL;
  *owned = NULL;
  if (job->x.kind == 'f' && job->x.size == sizeof(float)) return job->x.data;
  float *z = cli_alloc(count, sizeof *z);
  if (!z) return NULL;
  int status = CLI_OK;
  if (job->x.kind == 'i' || job->x.kind == 'u') {
    wide = cli_integers_wide(&job->x, count);
    status = wide ? narrow(z, wide, count, job->name) : CLI_BAD;
    free(wide);
  } else if (job->x.kind == 'f') {
    status = narrow(z, job->x.data, count, job->name);
  } else {
    hu_status error = hu_decode_n(count, z, 1, job->x.data, 1, job->x.format, &job->exec);
    if (error != HU_OK) status = cli_fail_status(job->name, error);
  }
  if (status != CLI_OK) {
    free(z);
    return NULL;
  }
  return *owned = z;
}

double *cli_job_wide(const cli_job *job, int exact) {
  size_t count = job->rows * job->cols, beyond = exact ? cli_integer_beyond(&job->x, count) : count;
  if (beyond == count) return cli_integers_wide(&job->x, count);
  cli_fail(job->name,
           "element %zu is not a binary64 number, which this format is computed from here; round it first (quantize -f "
           "binary32)",
           beyond);
  return NULL;
}

void cli_widen(void *z, size_t count) {
  uint8_t *bytes = z;
  for (size_t i = count; i-- > 0;) {
    float x;
    memcpy(&x, bytes + i * sizeof x, sizeof x);
    double y = x;
    memcpy(bytes + i * sizeof y, &y, sizeof y);
  }
}

const float *cli_job_weights(const cli_job *job, size_t row) {
  const cli_importance *given = &job->importance;
  return given->by_column ? given->by_column + row / (job->rows / given->matrices) * job->cols : NULL;
}

void cli_print_blocks(FILE *out, const char *indent, const cli_blocks *blocks) {
  fprintf(out, "%sblocks         %llu\n", indent, (unsigned long long)blocks->count);
  if (blocks->amax_high > 0)
    fprintf(out, "%samax           %s to %s\n", indent, ROUNDED(blocks->amax_low, 9), ROUNDED(blocks->amax_high, 9));
  if (blocks->count > 0)
    fprintf(out, "%sscales         %s to %s\n", indent, ROUNDED(blocks->scale_low, 9), ROUNDED(blocks->scale_high, 9));
  const struct {
    const char *what;
    uint64_t count;
  } lines[] = {{"all zero", blocks->zero},
               {"with Inf, NaN", blocks->special},
               {"with saturated", blocks->saturated},
               {"with to_zero", blocks->to_zero}};
  for (int i = 0; i < 4; i++)
    if (lines[i].count) fprintf(out, "%s%-14s %llu\n", indent, lines[i].what, (unsigned long long)lines[i].count);
}

static void print_blocks(FILE *out, const cli_value *value) {
  const cli_blocks *blocks = value->record;
  cli_json(out, "{'count': ?, 'zero': ?, 'special': ?, 'saturated': ?, 'to_zero': ?, ", JSON(blocks->count),
           JSON(blocks->zero), JSON(blocks->special), JSON(blocks->saturated), JSON(blocks->to_zero));
  cli_json(out, "'amax_low': ?, 'amax_high': ?, 'scale_low': ?, 'scale_high': ?}", JSON(blocks->amax_low),
           JSON(blocks->amax_high), JSON(blocks->scale_low), JSON(blocks->scale_high));
}

cli_value cli_blocks_value(const cli_blocks *blocks) { return (cli_value){.print = print_blocks, .record = blocks}; }

static void transpose_matrix(uint8_t *z, const uint8_t *x, size_t high, size_t wide, unsigned size) {
  for (size_t i = 0; i < high; i++)
    for (size_t j = 0; j < wide; j++) memcpy(z + (j * high + i) * size, x + (i * wide + j) * size, size);
}

void cli_transpose_rows(void *z, const void *x, size_t rows, cli_transpose transpose, int back, unsigned size) {
  size_t row = transpose.channels * transpose.places * size;
  for (size_t i = 0; i < rows; i++)
    transpose_matrix((uint8_t *)z + i * row, (const uint8_t *)x + i * row, back ? transpose.places : transpose.channels,
                     back ? transpose.channels : transpose.places, size);
}
