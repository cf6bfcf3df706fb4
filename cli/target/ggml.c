/* SPDX-License-Identifier: MIT */
/* The blocks of 32 of ggml as targets: Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, by the steps of its quantize_row_*_ref, as gguf
 * 0.19.0 (llama.cpp's Python package) has them, too. Every step is one operation of binary32; the scale d and the
 * minimum are stored in binary16, but the codes come from d as it was before that.
 *
 *   Q4_0, Q5_0   d = v / -8, v / -16, v the first of the largest magnitude; code = trunc(x (1 / d) + 8.5), 16.5
 *   Q4_1, Q5_1   d = (max - min) / 15, 31;                                  code = trunc((x - min) (1 / d) + 0.5)
 *   Q8_0         d = amax / 127;                                            code = x (1 / d), ties away from zero
 *
 * 1 / d is 0 where d is. Blocks with an infinity or a NaN are refused, for C says nothing about their codes. Where
 * 1 / d or x - min is infinite, which C leaves open, too, the code is that of 0, or 0 with a minimum. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/names.h"
#include "cli/target/target.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"

enum { CODES, SCALES, MINS, BLOCK = 32 };

/* offset: the code of 0; most: the highest code; -1 / divisor: that of d. */
typedef struct kind {
  uint32_t type; /* of GGUF */
  unsigned bits;
  int with_min, offset, most;
  float divisor;
} kind;
static const kind kinds[] = {
    {2, 4, 0, 8, 15, -8}, {3, 4, 1, 0, 15, 15}, {6, 5, 0, 16, 31, -16}, {7, 5, 1, 0, 31, 31}, {8, 8, 0, 0, 127, 127}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* As cli_ggml_name lists them. */
static const kind *kind_named(const char *text) {
  for (size_t i = 0; i < KINDS; i++)
    if (!strcmp(cli_ggml_name(i), text)) return &kinds[i];
  return NULL;
}

static const char *name_of(const kind *k) { return cli_ggml_name((size_t)(k - kinds)); }

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
  const kind *k = kind_of(target);
  size_t blocks = (cols + BLOCK - 1) / BLOCK;
  cli_codes_layout(parts, k->bits, 8, rows, cols);
  parts->part[SCALES] = (cli_part){"scales", 'u', 2, 2, rows, blocks, NULL};
  parts->part[MINS] = (cli_part){"mins", 'u', 2, 2, rows, blocks, NULL};
  parts->count = k->with_min ? 3 : 2;
  parts->bits += 16.0 * (k->with_min ? 2 : 1) * (double)rows * (double)blocks;
}

/* ---- a block ---- */

typedef struct range {
  float low, high, first; /* first: of the largest magnitude */
} range;

static range range_of(const float *x) {
  range r = {x[0], x[0], 0};
  for (size_t j = 0; j < BLOCK; j++) {
    if (x[j] < r.low) r.low = x[j];
    if (x[j] > r.high) r.high = x[j];
    if (fabsf(r.first) < fabsf(x[j])) r.first = x[j];
  }
  return r;
}

static uint16_t half_code(float x) {
  hu_mode rne = {0};
  return (uint16_t)hu_encode(hu_binary16(), rne, x, 0, NULL);
}

/* The code of x - min times 1 / d. */
static uint8_t code_of(const kind *k, float x, float inverse) {
  float y = x * inverse;
  if (!isfinite(y) || !isfinite(inverse)) return (uint8_t)k->offset;
  if (k->bits == 8) return (uint8_t)(int8_t)roundf(y);
  int c = (int)(y + ((float)k->offset + 0.5f));
  return (uint8_t)(c > k->most ? k->most : c);
}

static void encode_block(const kind *k, uint8_t *codes, uint16_t *scale, uint16_t *min, const float *x) {
  range r = range_of(x);
  float low = k->with_min ? r.low : 0, span = k->with_min ? r.high - r.low : k->bits == 8 ? fabsf(r.first) : r.first;
  float d = span / k->divisor, inverse = d != 0 ? 1 / d : 0;
  *scale = half_code(d);
  if (min) *min = half_code(low);
  for (size_t j = 0; j < BLOCK; j++) codes[j] = code_of(k, k->with_min ? x[j] - low : x[j], inverse);
}

static float value_of(const kind *k, uint8_t code, float d, float min) {
  if (k->with_min) return d * (float)(code & k->most) + min;
  return d * (float)(k->bits == 8 ? (int8_t)code : (code & k->most) - k->offset);
}

/* ---- arrays ---- */

static int check_columns(const kind *k, const cli_job *job) {
  if (job->cols % BLOCK == 0) return CLI_OK;
  return cli_fail(job->name, "rows of %zu are not whole blocks of 32, those of %s", job->cols, name_of(k));
}

static int check_finite(const kind *k, const cli_job *job, const float *x) {
  for (size_t i = 0; i < job->rows * job->cols; i++)
    if (!isfinite(x[i]))
      return cli_fail(job->name, "element %zu is not finite, and %s has no codes for that", i, name_of(k));
  return CLI_OK;
}

static int encode(const cli_parts *z, const cli_target *target, cli_job *job) {
  const kind *k = kind_of(target);
  float *owned = NULL;
  if (check_columns(k, job)) return CLI_BAD;
  const float *x = cli_job_floats(&owned, job);
  if (!x) return CLI_BAD;
  int code = check_finite(k, job, x);
  uint16_t *scales = z->part[SCALES].data, *mins = k->with_min ? z->part[MINS].data : NULL;
  uint8_t *codes = z->part[CODES].data;
  for (size_t i = 0; code == CLI_OK && i < job->rows * job->cols / BLOCK; i++)
    encode_block(k, codes + BLOCK * i, scales + i, mins ? mins + i : NULL, x + BLOCK * i);
  free(owned);
  return code;
}

static int decode(void *z, unsigned size, const cli_parts *x, const cli_target *target, const cli_job *job) {
  const kind *k = kind_of(target);
  const uint8_t *codes = x->part[CODES].data;
  const uint16_t *scales = x->part[SCALES].data, *mins = k->with_min ? x->part[MINS].data : NULL;
  float *y = z;
  if (check_columns(k, job)) return CLI_BAD;
  for (size_t i = 0; i < job->rows * job->cols; i++) {
    float d = hu_decode(hu_binary16(), scales[i / BLOCK]), min = mins ? hu_decode(hu_binary16(), mins[i / BLOCK]) : 0;
    float v = value_of(k, codes[i], d, min);
    y[i] = v != v ? hu_decode(hu_binary16(), 0x7E00) : v;
  }
  if (size == 8) cli_widen(z, job->rows * job->cols);
  return CLI_OK;
}

const cli_target_kind cli_kind_ggml = {0,      claims, read_text,     text_of,
                                       check,  fits,   layout,        cli_values_by_codes,
                                       encode, decode, cli_pack_rows, cli_unpack_rows};
