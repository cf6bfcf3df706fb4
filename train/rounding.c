/* SPDX-License-Identifier: MIT */
/* Tensors rounded. */
#include "halfulp/train/rounding.h"

#include <math.h>
#include <string.h>

hu_rounding hu_rounding_keep(void) {
  hu_rounding r;
  memset(&r, 0, sizeof r);
  return r;
}

hu_rounding hu_rounding_format(hu_format f, hu_mode mode) {
  hu_rounding r = hu_rounding_keep();
  r.kind = HU_ROUND_FORMAT;
  r.format = f;
  r.mode = mode;
  return r;
}

hu_status hu_rounding_check(const hu_rounding *r) {
  if (!r) return HU_E_NULL;
  hu_status s = hu_mode_check(r->mode);
  if (s != HU_OK || r->kind == HU_ROUND_KEEP) return s;
  if (r->kind == HU_ROUND_SCALED) return hu_scaling_check(&r->scaling, NULL);
  if (r->kind == HU_ROUND_S2FP8) return hu_s2fp8_check(&r->s2fp8, NULL);
  if (r->kind == HU_ROUND_NUMBER) return hu_number_check(r->number, NULL);
  if (r->kind != HU_ROUND_FORMAT) return HU_E_TRAIN;
  s = hu_format_check(r->format, NULL);
  return s != HU_OK || hu_format_fits_binary32(r->format) ? s : HU_E_CARRIER;
}

/* NaN patterns differ from processor to processor; here there is one. */
static void keep(size_t n, float *z, const float *x) {
  for (size_t i = 0; i < n; i++) z[i] = x[i] == x[i] ? x[i] : NAN;
}

static uint64_t larger(size_t n, const float *x, float max) {
  uint64_t count = 0;
  for (size_t i = 0; i < n; i++) {
    float a = fabsf(x[i]);
    count += a > max && a < INFINITY;
  }
  return count;
}

static hu_status into_scaled(size_t rows, size_t cols, float *z, const float *x, const hu_rounding *r,
                             const hu_exec *exec, hu_events *events) {
  hu_scaling d = r->scaling;
  if (r->turned) {
    d.rows = r->scaling.cols;
    d.cols = r->scaling.rows;
  }
  return hu_scaled_quantize(rows, cols, z, cols, x, cols, &d, r->mode, NULL, NULL, exec, events);
}

hu_status hu_rounding_apply(size_t rows, size_t cols, float *z, const float *x, const hu_rounding *r,
                            const hu_exec *exec, hu_rounding_counts *counts) {
  hu_rounding_counts ignored;
  hu_status s = hu_rounding_check(r);
  size_t n = rows * cols;
  if (s != HU_OK) return s;
  if (!counts) {
    memset(&ignored, 0, sizeof ignored);
    counts = &ignored;
  }
  if (r->kind == HU_ROUND_KEEP) {
    keep(n, z, x);
  } else if (r->kind == HU_ROUND_SCALED) {
    s = into_scaled(rows, cols, z, x, r, exec, &counts->events);
  } else if (r->kind == HU_ROUND_S2FP8) {
    s = hu_s2fp8_truncate_n(n, z, 1, x, 1, &r->s2fp8, r->mode, NULL, NULL, exec, &counts->events);
  } else if (r->kind == HU_ROUND_NUMBER) {
    s = hu_number_quantize_n(n, z, 1, x, 1, r->number, r->mode, exec, &counts->events);
  } else {
    uint64_t over = larger(n, x, (float)hu_format_limits(r->format).max);
    s = hu_quantize_n(n, z, 1, x, 1, r->format, r->mode, exec, &counts->events);
    if (s == HU_OK) counts->over += over;
  }
  if (s == HU_OK) counts->elements += n;
  return s;
}

/* ---- text ---- */

/* Where the comma that ends the part beginning at `text` stands, commas within parentheses left out; or the end. */
static size_t part_length(const char *text) {
  size_t depth = 0, n = 0;
  for (; text[n]; n++) {
    if (text[n] == '(') depth++;
    if (text[n] == ')' && depth) depth--;
    if (text[n] == ',' && depth == 0) break;
  }
  return n;
}

enum { WORD_MAX = 400 };

/* One option behind the format. */
static hu_status option(hu_rounding *r, const char *word) {
  if (strcmp(word, "turned") == 0) {
    if (r->kind != HU_ROUND_SCALED || r->turned) return HU_E_TEXT;
    r->turned = 1;
    return HU_OK;
  }
  if (strncmp(word, "sat=", 4) == 0) return hu_mode_parse_saturate(&r->mode, word + 4);
  return hu_mode_parse_round(&r->mode, word);
}

/* One word as what it names. *at: where hu_format_parse, hu_scaling_parse or hu_number_parse saw something wrong. */
static hu_status named(hu_rounding *t, const char *word, size_t *at) {
  hu_status s;
  if (strcmp(word, "keep") == 0) return HU_OK;
  t->kind = HU_ROUND_SCALED;
  s = hu_scaling_parse(&t->scaling, word, at);
  if (s == HU_OK || strncmp(word, "scaled(", 7) == 0) return s;
  t->kind = HU_ROUND_S2FP8;
  s = hu_s2fp8_parse(&t->s2fp8, word, at);
  if (s == HU_OK || strncmp(word, "s2fp8", 5) == 0) return s;
  t->kind = HU_ROUND_NUMBER;
  s = hu_number_parse(&t->number, word, NULL, at);
  if (s != HU_OK || t->number.kind != HU_NUMBER_FLOAT) return s;
  t->kind = HU_ROUND_FORMAT;
  t->format = t->number.format;
  memset(&t->number, 0, sizeof t->number);
  return HU_OK;
}

/* The subject in front: as many parts as make one. *used: their length. */
static hu_status subject(hu_rounding *r, const char *text, size_t *used, size_t *where) {
  char word[WORD_MAX];
  hu_status s = HU_E_TEXT;
  *where = 0;
  for (size_t n = part_length(text);; n += 1 + part_length(text + n + 1)) {
    if (n >= sizeof word) return HU_E_TEXT;
    memcpy(word, text, n);
    word[n] = 0;
    hu_rounding t = hu_rounding_keep();
    size_t at = 0;
    hu_status got = named(&t, word, &at);
    if (got == HU_OK) {
      *r = t;
      *used = n;
      s = HU_OK;
    } else if (s != HU_OK) {
      s = got;
      *where = at;
    }
    if (!text[n]) return s;
  }
}

hu_status hu_rounding_parse(hu_rounding *r, const char *text, size_t *where) {
  size_t ignored, at = 0;
  if (!where) where = &ignored;
  *where = 0;
  if (!r || !text) return HU_E_NULL;
  hu_rounding t;
  hu_status s = subject(&t, text, &at, where);
  while (s == HU_OK && text[at]) {
    char word[WORD_MAX];
    size_t n = part_length(text + at + 1);
    *where = at + 1;
    if (n >= sizeof word) return HU_E_TEXT;
    memcpy(word, text + at + 1, n);
    word[n] = 0;
    s = option(&t, word);
    at += 1 + n;
  }
  if (s != HU_OK) return s;
  *where = 0;
  s = hu_rounding_check(&t);
  if (s == HU_OK) *r = t;
  return s;
}
