/* SPDX-License-Identifier: MIT */
/* Rounds tensors. */
#include "train/step/rounding.h"

#include <math.h>
#include <string.h>

#include "halfulp/scalar.h"
#include "train/environment.h"

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
  if (s != HU_OK) return s;
  if (r->over_inf > 1 || r->keep_nan > 1) return HU_E_TRAIN;
  if ((r->over_inf || r->keep_nan) && (r->kind != HU_ROUND_FORMAT || r->mode.nan)) return HU_E_TRAIN;
  if (!(r->amax >= 0 && r->amax < INFINITY) || (r->amax != 0 && r->kind != HU_ROUND_SCALED)) return HU_E_TRAIN;
  if (r->kind == HU_ROUND_KEEP) return HU_OK;
  if (r->kind == HU_ROUND_SCALED) return hu_scaling_check(&r->scaling, NULL);
  if (r->kind == HU_ROUND_S2FP8) return hu_s2fp8_check(&r->s2fp8, NULL);
  if (r->kind == HU_ROUND_NUMBER) return hu_number_check(r->number, NULL);
  if (r->kind != HU_ROUND_FORMAT) return HU_E_TRAIN;
  s = hu_format_check(r->format, NULL);
  return s != HU_OK || hu_format_fits_binary32(r->format) ? s : HU_E_CARRIER;
}

enum { STRETCH = 4096, FINITE = 0x7F7FFFFF, INFINITE = 0x7F800000 };

static int32_t magnitude_bits(float x) {
  int32_t u;
  memcpy(&u, &x, sizeof u);
  return u & 0x7FFFFFFF;
}

/* How many of n magnitudes have larger patterns than this one. As integers of their own size, in stretches that 32 bits
 * count: compilers put it into lanes. */
static uint64_t above(size_t n, const float *x, int32_t pattern) {
  uint64_t count = 0;
  while (n) {
    size_t k = n < STRETCH ? n : STRETCH;
    uint32_t some = 0;
    for (size_t i = 0; i < k; i++) some += (uint32_t)(magnitude_bits(x[i]) > pattern);
    count += some;
    x += k;
    n -= k;
  }
  return count;
}

/* NaN patterns differ from processor to processor; here there is one. In place nothing is written where there is none,
 * which is nearly everywhere. */
static void keep(size_t n, float *z, const float *x) {
  for (size_t at = 0; at < n; at += STRETCH) {
    size_t end = n - at < STRETCH ? n : at + STRETCH;
    uint32_t wanted = z != x;
    for (size_t i = at; z == x && i < end; i++) wanted |= (uint32_t)(x[i] != x[i]);
    for (size_t i = at; wanted && i < end; i++) z[i] = x[i] == x[i] ? x[i] : NAN;
  }
}

/* ---- a format, and what it lacks ---- */

typedef struct beyond {
  uint64_t over; /* finite and larger than the largest number */
  uint64_t inf, nan;
} beyond;

static beyond look(size_t n, const float *x, float max) {
  beyond b = {0, 0, 0};
  uint64_t all = above(n, x, magnitude_bits(max)), special = all ? above(n, x, FINITE) : 0;
  b.over = all - special;
  b.nan = special ? above(n, x, INFINITE) : 0;
  b.inf = special - b.nan;
  return b;
}

/* What x becomes that the format has no number for, z by its own rules; `word` is its random word. Events of what it
 * did not become are taken back. */
static float without_limit(const hu_rounding *r, float x, float z, uint32_t word, hu_events *events) {
  uint32_t what = 0;
  if (x != x) return NAN;
  if (!r->over_inf || (x < 0 && !r->format.sign)) return z;
  if (fabsf(x) < INFINITY) {
    (void)hu_quantize(r->format, r->mode, x, r->mode.bits ? word >> (32 - r->mode.bits) : 0, &what);
    if (!(what & HU_EVENT_OVERFLOW)) return z;
  } else if (z != z) {
    events->invalid--;
  }
  if (fabsf(z) < INFINITY) events->saturated--;
  return x > 0 ? INFINITY : -INFINITY;
}

enum { PIECE = 512 };

/* Pieces, because z may be x, which is wanted once more. */
static hu_status into_wider(size_t n, float *z, const float *x, const hu_rounding *r, float max, const hu_exec *exec,
                            hu_events *events) {
  float before[PIECE];
  hu_exec e;
  memset(&e, 0, sizeof e);
  if (exec) e = *exec;
  for (size_t at = 0; at < n; at += PIECE) {
    size_t k = n - at < PIECE ? n - at : PIECE;
    memcpy(before, x + at, k * sizeof *x);
    hu_status s = hu_quantize_n(k, z + at, 1, before, 1, r->format, r->mode, &e, events);
    if (s != HU_OK) return s;
    for (size_t i = 0; i < k; i++) {
      if (fabsf(before[i]) <= max) continue;
      uint32_t word = r->mode.bits ? hu_stream_word(e.stream, i) : 0;
      z[at + i] = without_limit(r, before[i], z[at + i], word, events);
    }
    e.stream.counter += k;
  }
  return HU_OK;
}

/* One pass to look, one to round; over=inf and nan=keep cost nothing more where they change nothing. */
static hu_status into_format(size_t n, float *z, const float *x, const hu_rounding *r, const hu_exec *exec,
                             hu_rounding_counts *counts) {
  float max = (float)hu_limits_of(r->format).max;
  beyond b = look(n, x, max);
  int wider = r->over_inf ? b.over || b.inf || b.nan : r->keep_nan && b.nan;
  hu_status s = wider ? into_wider(n, z, x, r, max, exec, &counts->events)
                      : hu_quantize_n(n, z, 1, x, 1, r->format, r->mode, exec, &counts->events);
  if (s == HU_OK) counts->over += b.over;
  return s;
}

/* ---- the others ---- */

static hu_scaling scaling_of(const hu_rounding *r) {
  hu_scaling d = r->scaling;
  if (r->turned) {
    d.rows = r->scaling.cols;
    d.cols = r->scaling.rows;
  }
  return d;
}

static hu_status into_scaled(size_t rows, size_t cols, float *z, const float *x, const hu_rounding *r,
                             const hu_exec *exec, hu_events *events) {
  hu_scaling d = scaling_of(r);
  return hu_scaled_quantize(rows, cols, z, cols, x, cols, &d, r->mode, r->amax != 0 ? &r->amax : NULL, NULL, exec,
                            events);
}

static HU_NOINLINE hu_status apply(size_t rows, size_t cols, float *z, const float *x, const hu_rounding *r,
                                   const hu_exec *exec, hu_rounding_counts *counts) {
  hu_rounding_counts ignored;
  /* A kind of S2FP8 and the description of a scaled tensor are checked by their calls. */
  int lightly = r && (r->kind == HU_ROUND_S2FP8 || r->kind == HU_ROUND_SCALED) && !r->over_inf && !r->keep_nan;
  hu_status s = lightly ? HU_OK : hu_rounding_check(r);
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
    s = into_format(n, z, x, r, exec, counts);
  }
  if (s == HU_OK) counts->elements += n;
  return s;
}

hu_status hu_rounding_apply(size_t rows, size_t cols, float *z, const float *x, const hu_rounding *r,
                            const hu_exec *exec, hu_rounding_counts *counts) {
  HU_ENV_RETURN(hu_status, apply(rows, cols, z, x, r, exec, counts));
}

int hu_rounds_alone(const hu_rounding *r) {
  hu_rounding_counts counts;
  float zero = 0;
  uint32_t bits;
  if (r->mode.round >= HU_SRA) return 0;
  if (r->kind == HU_ROUND_KEEP) return 1;
  if (r->kind != HU_ROUND_FORMAT && r->kind != HU_ROUND_NUMBER) return 0;
  memset(&counts, 0, sizeof counts);
  if (hu_rounding_apply(1, 1, &zero, &zero, r, NULL, &counts) != HU_OK) return 0;
  const hu_events none = {0};
  memcpy(&bits, &zero, sizeof bits);
  return bits == 0 && counts.over == 0 && memcmp(&counts.events, &none, sizeof none) == 0;
}

uint64_t hu_rounding_bits(size_t rows, size_t cols, const hu_rounding *r) {
  uint64_t n = (uint64_t)rows * cols;
  if (hu_rounding_check(r) != HU_OK) return 0;
  if (r->kind == HU_ROUND_FORMAT) return n * hu_limits_of(r->format).width;
  if (r->kind == HU_ROUND_S2FP8) return n * hu_limits_of(r->s2fp8.element).width + 64;
  if (r->kind == HU_ROUND_NUMBER) return n * hu_number_limits_of(r->number).width;
  if (r->kind == HU_ROUND_KEEP) return 32 * n;
  hu_scaling d = scaling_of(r);
  hu_scaled_sizes z = hu_scaled_sizes_of(rows, cols, &d);
  uint64_t scales = (uint64_t)z.block_rows * z.block_cols * hu_limits_of(d.scale).storage;
  return n * hu_limits_of(d.element).width + scales + (d.tensor ? 32 : 0);
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
  if (strcmp(word, "over=inf") == 0 || strcmp(word, "nan=keep") == 0) {
    uint8_t *flag = *word == 'o' ? &r->over_inf : &r->keep_nan;
    if (r->kind != HU_ROUND_FORMAT || *flag) return HU_E_TEXT;
    *flag = 1;
    return HU_OK;
  }
  if (strncmp(word, "sat=", 4) == 0) return hu_mode_saturate_parse(&r->mode, word + 4);
  return hu_mode_round_parse(&r->mode, word);
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
    } else if (s != HU_OK && s != HU_E_NAME) { /* a name that there is not ends with its part */
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
