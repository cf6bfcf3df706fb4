/* SPDX-License-Identifier: MIT */
/* The blocks of ggml as targets. Q2_K to Q6_K, IQ4_NL and IQ4_XS are those of ggml_search.c, and with an importance
 * matrix also Q4_0 to Q5_1. Without one, Q4_0, Q4_1, Q5_0, Q5_1 and Q8_0, which have 32 numbers, come by the steps of
 * its quantize_row_*_ref, as gguf 0.19.0 (llama.cpp's Python package) has them, too. Every step is one operation of
 * binary32; the scale d and the minimum are stored in binary16, but the codes come from d as it was before that.
 *
 *   Q4_0, Q5_0   d = v / -8, v / -16, v the first of the largest magnitude; code = trunc(x (1 / d) + 8.5), 16.5
 *   Q4_1, Q5_1   d = (max - min) / 15, 31;                                  code = trunc((x - min) (1 / d) + 0.5)
 *   Q8_0         d = amax / 127;                                            code = x (1 / d), ties away from zero
 *
 * 1 / d is 0 where d is. Blocks with an infinity or a NaN are refused, for C says nothing about their codes. Where
 * 1 / d or x - min is infinite, which C leaves open, too, the code is that of 0, or 0 with a minimum.
 *
 * A number is d (code - offset), plus the minimum; with groups d s (code - offset), less dmin m, where s and m are the
 * scale and the minimum of its group, from left to right. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/names.h"
#include "cli/target/ggml.h"
#include "cli/target/target.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"

/* Parts: with a minimum MINS is there, too; those of groups follow. */
enum { CODES, SCALES, MINS, BLOCK = 32 };

/* offset: the code of 0; most: the highest code; -1 / divisor: that of d. group: numbers with a scale of their own; 0:
 * there are none. group_offset: the stored scale of 0; -1: it is in two's complement. */
typedef struct kind {
  uint32_t type; /* of GGUF */
  unsigned bits, block;
  int with_min, offset, most;
  float divisor;
  unsigned group;
  int group_offset;
} kind;
static const kind kinds[] = {
    {2, 4, 32, 0, 8, 15, -8, 0, 0},     {3, 4, 32, 1, 0, 15, 15, 0, 0},   {6, 5, 32, 0, 16, 31, -16, 0, 0},
    {7, 5, 32, 1, 0, 31, 31, 0, 0},     {8, 8, 32, 0, 0, 127, 127, 0, 0}, {10, 2, 256, 1, 0, 3, 0, 16, 0},
    {11, 3, 256, 0, 4, 7, 0, 16, 32},   {12, 4, 256, 1, 0, 15, 0, 32, 0}, {13, 5, 256, 1, 0, 31, 0, 32, 0},
    {14, 6, 256, 0, 32, 63, 0, 16, -1}, {20, 4, 32, 0, 0, 15, 0, 0, 0},   {23, 4, 256, 0, 0, 15, 0, 32, 32},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int is_searched(const kind *form) { return form->divisor == 0; }
static int is_uneven(const kind *form) { return is_searched(form) && form->offset == 0 && !form->with_min; }

/* Returns the kind of a name, as cli_ggml_name lists them. */
static const kind *kind_named(const char *text) {
  for (size_t i = 0; i < KINDS; i++)
    if (!strcmp(cli_ggml_name(i), text)) return &kinds[i];
  return NULL;
}

static const char *name_of(const kind *form) { return cli_ggml_name((size_t)(form - kinds)); }

static const kind *kind_of(const cli_target *target) {
  size_t i = 0;
  while (i < KINDS - 1 && kinds[i].type != target->ggml) i++;
  return &kinds[i];
}

static int claims(const char *text) { return kind_named(text) != NULL; }

static int read_text(cli_target *target, const char *text) {
  target->ggml = kind_named(text)->type;
  target->has_mode = 1;
  target->conversion.scaling = "";
  return CLI_OK;
}

static void text_of(char text[CLI_TARGET_MAX], const cli_target *target) {
  snprintf(text, CLI_TARGET_MAX, "%s", name_of(kind_of(target)));
}

static int check(const cli_target *target, const cli_job *job) {
  return job->amax ? cli_fail(NULL, "--amax: %s takes the numbers of each block", name_of(kind_of(target))) : CLI_OK;
}

static int fits(const cli_target *target, unsigned size) {
  (void)target;
  return size == 4;
}

static void layout(cli_parts *parts, const cli_target *target, size_t rows, size_t cols) {
  const kind *form = kind_of(target);
  size_t blocks = (cols + form->block - 1) / form->block,
         groups = form->group ? (cols + form->group - 1) / form->group : 0;
  uint8_t group_bits = form->type == 14 ? 8 : form->type == 10 ? 4 : 6;
  int each = form->with_min ? 2 : 1;
  cli_codes_layout(parts, form->bits, 8, rows, cols);
  parts->part[SCALES] = (cli_part){"scales", 'u', 2, 2, rows, blocks, NULL, 0, 0};
  parts->part[MINS] = (cli_part){"mins", 'u', 2, 2, rows, blocks, NULL, 0, 0};
  parts->count = 1 + each;
  if (groups) {
    parts->part[parts->count++] = (cli_part){"group_scales", 'u', 1, 2, rows, groups, NULL, group_bits, 0};
    if (form->with_min)
      parts->part[parts->count++] = (cli_part){"group_mins", 'u', 1, 2, rows, groups, NULL, group_bits, 0};
  }
  parts->bits += each * (double)rows * (16.0 * (double)blocks + group_bits * (double)groups);
}

/* ---- a block ---- */

typedef struct range {
  float low, high, first; /* first: of the largest magnitude */
} range;

static range range_of(const float *x) {
  range ends = {x[0], x[0], 0};
  for (size_t j = 0; j < BLOCK; j++) {
    if (x[j] < ends.low) ends.low = x[j];
    if (x[j] > ends.high) ends.high = x[j];
    if (fabsf(ends.first) < fabsf(x[j])) ends.first = x[j];
  }
  return ends;
}

static uint16_t half_code(float x) {
  hu_mode rne = {0};
  return (uint16_t)hu_encode(hu_binary16(), rne, x, 0, NULL);
}

/* Returns the code of x - min times 1 / d. */
static uint8_t code_of(const kind *form, float x, float inverse) {
  float y = x * inverse;
  if (!isfinite(y) || !isfinite(inverse)) return (uint8_t)form->offset;
  if (form->bits == 8) return (uint8_t)(int8_t)roundf(y);
  int c = (int)(y + ((float)form->offset + 0.5f));
  return (uint8_t)(c > form->most ? form->most : c);
}

static void encode_block(const kind *form, uint8_t *codes, uint16_t *scale, uint16_t *min, const float *x) {
  range ends = range_of(x);
  float low = form->with_min ? ends.low : 0, span = form->with_min    ? ends.high - ends.low
                                                    : form->bits == 8 ? fabsf(ends.first)
                                                                      : ends.first;
  float unrounded = span / form->divisor, inverse = unrounded != 0 ? 1 / unrounded : 0;
  *scale = half_code(unrounded);
  if (min) *min = half_code(low);
  for (size_t j = 0; j < BLOCK; j++) codes[j] = code_of(form, form->with_min ? x[j] - low : x[j], inverse);
}

static float value_of(const kind *form, uint8_t code, float scale, float min) {
  if (form->with_min) return scale * (float)(code & form->most) + min;
  if (is_uneven(form)) return scale * (float)cli_ggml_uneven[code & 15];
  return scale * (float)(form->bits == 8 ? (int8_t)code : (code & form->most) - form->offset);
}

static float half_value(const uint16_t *codes, size_t i) { return hu_decode(hu_binary16(), codes[i]); }

/* Returns the scale of element i, with that of its group. */
static float scale_of(const kind *form, const cli_parts *parts, size_t i) {
  float scale = half_value(parts->part[SCALES].data, i / form->block);
  if (!form->group) return scale;
  const uint8_t *groups = parts->part[form->with_min ? 3 : 2].data;
  uint8_t bits = groups[i / form->group];
  return scale * (float)(form->group_offset < 0 ? (int8_t)bits : bits - form->group_offset);
}

/* Returns what is added to it: the minimum, or less that of its group. */
static float min_of(const kind *form, const cli_parts *parts, size_t i) {
  if (!form->with_min) return 0;
  float min = half_value(parts->part[MINS].data, i / form->block);
  if (!form->group) return min;
  const uint8_t *groups = parts->part[4].data;
  return -(min * (float)groups[i / form->group]);
}

/* ---- arrays ---- */

static int check_columns(const kind *form, const cli_job *job) {
  if (job->cols % form->block == 0) return CLI_OK;
  return cli_fail(job->name, "rows of %zu are not whole blocks of %u, those of %s", job->cols, form->block,
                  name_of(form));
}

static int check_finite(const kind *form, const cli_job *job, const float *x) {
  for (size_t i = 0; i < job->rows * job->cols; i++)
    if (!isfinite(x[i]))
      return cli_fail(job->name, "element %zu is not finite, and %s has no codes for that", i, name_of(form));
  return CLI_OK;
}

/* Encodes block number i, whose scale is searched for. The sums of its squares may be beyond binary32, and the scale no
 * number. `weights`: those of its columns; NULL: none. Returns 0 or an exit code. */
static int encode_searched(const kind *form, const cli_parts *parts, size_t i, const float *x, const float *weights,
                           float mean, const char *name) {
  cli_ggml_block block;
  cli_ggml_search(&block, form->type, x, weights, mean);
  if ((block.scale & 0x7FFF) > 0x7C00)
    return cli_fail(name, "from element %zu on: %s has no scale for numbers whose cubes are beyond binary32",
                    form->block * i, name_of(form));
  memcpy((uint8_t *)parts->part[CODES].data + form->block * i, block.codes, form->block);
  ((uint16_t *)parts->part[SCALES].data)[i] = block.scale;
  if (form->with_min) ((uint16_t *)parts->part[MINS].data)[i] = block.dmin;
  if (!form->group) return CLI_OK;
  size_t groups = form->block / form->group;
  memcpy((uint8_t *)parts->part[form->with_min ? 3 : 2].data + groups * i, block.scales, groups);
  if (form->with_min) memcpy((uint8_t *)parts->part[4].data + groups * i, block.mins, groups);
  return CLI_OK;
}

static void encode_as_reference(const kind *form, const cli_parts *parts, size_t i, const float *x) {
  uint16_t *scales = parts->part[SCALES].data, *mins = form->with_min ? parts->part[MINS].data : NULL;
  encode_block(form, (uint8_t *)parts->part[CODES].data + BLOCK * i, scales + i, mins ? mins + i : NULL, x);
}

static int encode_row(const kind *form, const cli_parts *parts, size_t row, const float *x, const cli_job *job) {
  const float *weights = cli_job_weights(job, row);
  size_t blocks = job->cols / form->block;
  float mean = weights ? cli_ggml_mean(x, job->cols) : 0;
  int code = CLI_OK;
  for (size_t k = 0; k < blocks && code == CLI_OK; k++) {
    size_t i = row * blocks + k, at = form->block * k;
    if (weights || is_searched(form))
      code = encode_searched(form, parts, i, x + at, weights ? weights + at : NULL, mean, job->name);
    else
      encode_as_reference(form, parts, i, x + at);
  }
  return code;
}

static int encode(const cli_parts *parts, const cli_target *target, cli_job *job) {
  const kind *form = kind_of(target);
  float *owned = NULL;
  if (check_columns(form, job)) return CLI_BAD;
  const float *x = cli_job_floats(&owned, job);
  if (!x) return CLI_BAD;
  int code = check_finite(form, job, x);
  for (size_t i = 0; code == CLI_OK && i < job->rows; i++) code = encode_row(form, parts, i, x + i * job->cols, job);
  free(owned);
  return code;
}

static int decode(void *z, unsigned size, const cli_parts *parts, const cli_target *target, const cli_job *job) {
  const kind *form = kind_of(target);
  const uint8_t *codes = parts->part[CODES].data;
  float *y = z;
  if (check_columns(form, job)) return CLI_BAD;
  for (size_t i = 0; i < job->rows * job->cols; i++) {
    float value = value_of(form, codes[i], scale_of(form, parts, i), min_of(form, parts, i));
    y[i] = value != value ? hu_decode(hu_binary16(), 0x7E00) : value;
  }
  if (size == 8) cli_widen(z, job->rows * job->cols);
  return CLI_OK;
}

const cli_target_kind cli_kind_ggml = {0,      claims, read_text,     text_of,
                                       check,  fits,   layout,        cli_values_by_codes,
                                       encode, decode, cli_pack_rows, cli_unpack_rows};
