/* SPDX-License-Identifier: MIT */
/* Rounds tensors. */
#include "train/step/rounding.h"

#include <math.h>
#include <string.h>

#include "halfulp/scalar.h"
#include "train/environment.h"

hu_rounding hu_rounding_keep(void) {
  hu_rounding rounding;
  memset(&rounding, 0, sizeof rounding);
  return rounding;
}

hu_rounding hu_rounding_format(hu_format format, hu_mode mode) {
  hu_rounding rounding = hu_rounding_keep();
  rounding.kind = HU_ROUND_FORMAT;
  rounding.format = format;
  rounding.mode = mode;
  return rounding;
}

hu_status hu_rounding_check(const hu_rounding *rounding) {
  if (!rounding) return HU_E_NULL;
  hu_status status = hu_mode_check(rounding->mode);
  if (status != HU_OK) return status;
  if (rounding->over_inf > 1 || rounding->keep_nan > 1) return HU_E_TRAIN;
  if ((rounding->over_inf || rounding->keep_nan) && (rounding->kind != HU_ROUND_FORMAT || rounding->mode.nan))
    return HU_E_TRAIN;
  if (!(rounding->amax >= 0 && rounding->amax < INFINITY) || (rounding->amax != 0 && rounding->kind != HU_ROUND_SCALED))
    return HU_E_TRAIN;
  if (rounding->kind == HU_ROUND_KEEP) return HU_OK;
  if (rounding->kind == HU_ROUND_SCALED) return hu_scaling_check(&rounding->scaling, NULL);
  if (rounding->kind == HU_ROUND_S2FP8) return hu_s2fp8_check(&rounding->s2fp8, NULL);
  if (rounding->kind == HU_ROUND_NUMBER) return hu_number_check(rounding->number, NULL);
  if (rounding->kind != HU_ROUND_FORMAT) return HU_E_TRAIN;
  status = hu_format_check(rounding->format, NULL);
  return status != HU_OK || hu_format_fits_binary32(rounding->format) ? status : HU_E_CARRIER;
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
    uint32_t needed = z != x;
    for (size_t i = at; z == x && i < end; i++) needed |= (uint32_t)(x[i] != x[i]);
    for (size_t i = at; needed && i < end; i++) z[i] = x[i] == x[i] ? x[i] : NAN;
  }
}

/* ---- a format, and what it lacks ---- */

typedef struct beyond_format {
  uint64_t over; /* finite and larger than the largest number */
  uint64_t inf, nan;
} beyond_format;

static beyond_format look(size_t n, const float *x, float max) {
  beyond_format beyond = {0, 0, 0};
  uint64_t all = above(n, x, magnitude_bits(max)), special = all ? above(n, x, FINITE) : 0;
  beyond.over = all - special;
  beyond.nan = special ? above(n, x, INFINITE) : 0;
  beyond.inf = special - beyond.nan;
  return beyond;
}

/* What x becomes that the format has no number for, z by its own rules; `word` is its random word. Events of what it
 * did not become are taken back. */
static float without_limit(const hu_rounding *rounding, float x, float z, uint32_t word, hu_events *events) {
  uint32_t what = 0;
  if (x != x) return NAN;
  if (!rounding->over_inf || (x < 0 && !rounding->format.sign)) return z;
  if (fabsf(x) < INFINITY) {
    (void)hu_quantize(rounding->format, rounding->mode, x, rounding->mode.bits ? word >> (32 - rounding->mode.bits) : 0,
                      &what);
    if (!(what & HU_EVENT_OVERFLOW)) return z;
  } else if (z != z) {
    events->invalid--;
  }
  if (fabsf(z) < INFINITY) events->saturated--;
  return x > 0 ? INFINITY : -INFINITY;
}

enum { PIECE = 512 };

/* Rounds in pieces, because z may be x, which is read again. */
static hu_status into_wider(size_t n, float *z, const float *x, const hu_rounding *rounding, float max,
                            const hu_exec *exec, hu_events *events) {
  float before[PIECE];
  hu_exec own;
  memset(&own, 0, sizeof own);
  if (exec) own = *exec;
  for (size_t at = 0; at < n; at += PIECE) {
    size_t k = n - at < PIECE ? n - at : PIECE;
    memcpy(before, x + at, k * sizeof *x);
    hu_status status = hu_quantize_n(k, z + at, 1, before, 1, rounding->format, rounding->mode, &own, events);
    if (status != HU_OK) return status;
    for (size_t i = 0; i < k; i++) {
      if (fabsf(before[i]) <= max) continue;
      uint32_t word = rounding->mode.bits ? hu_stream_word(own.stream, i) : 0;
      z[at + i] = without_limit(rounding, before[i], z[at + i], word, events);
    }
    own.stream.counter += k;
  }
  return HU_OK;
}

/* One pass to look, one to round; over=inf and nan=keep cost nothing more where they change nothing. */
static hu_status into_format(size_t n, float *z, const float *x, const hu_rounding *rounding, const hu_exec *exec,
                             hu_rounding_counts *counts) {
  float max = (float)hu_limits_of(rounding->format).max;
  beyond_format beyond = look(n, x, max);
  int wider = rounding->over_inf ? beyond.over || beyond.inf || beyond.nan : rounding->keep_nan && beyond.nan;
  hu_status status = wider ? into_wider(n, z, x, rounding, max, exec, &counts->events)
                           : hu_quantize_n(n, z, 1, x, 1, rounding->format, rounding->mode, exec, &counts->events);
  if (status == HU_OK) counts->over += beyond.over;
  return status;
}

/* ---- the others ---- */

static hu_scaling scaling_of(const hu_rounding *rounding) {
  hu_scaling scaling = rounding->scaling;
  if (rounding->turned) {
    scaling.rows = rounding->scaling.cols;
    scaling.cols = rounding->scaling.rows;
  }
  return scaling;
}

static hu_status into_scaled(size_t rows, size_t cols, float *z, const float *x, const hu_rounding *rounding,
                             const hu_exec *exec, hu_events *events) {
  hu_scaling scaling = scaling_of(rounding);
  return hu_scaled_quantize(rows, cols, z, cols, x, cols, &scaling, rounding->mode,
                            rounding->amax != 0 ? &rounding->amax : NULL, NULL, exec, events);
}

static HU_NOINLINE hu_status apply(size_t rows, size_t cols, float *z, const float *x, const hu_rounding *rounding,
                                   const hu_exec *exec, hu_rounding_counts *counts) {
  hu_rounding_counts ignored;
  /* A kind of S2FP8 and the description of a scaled tensor are checked by their calls. */
  int lightly = rounding && (rounding->kind == HU_ROUND_S2FP8 || rounding->kind == HU_ROUND_SCALED) &&
                !rounding->over_inf && !rounding->keep_nan;
  hu_status status = lightly ? HU_OK : hu_rounding_check(rounding);
  size_t n = rows * cols;
  if (status != HU_OK) return status;
  if (!counts) {
    memset(&ignored, 0, sizeof ignored);
    counts = &ignored;
  }
  if (rounding->kind == HU_ROUND_KEEP) {
    keep(n, z, x);
  } else if (rounding->kind == HU_ROUND_SCALED) {
    status = into_scaled(rows, cols, z, x, rounding, exec, &counts->events);
  } else if (rounding->kind == HU_ROUND_S2FP8) {
    status = hu_s2fp8_truncate_n(n, z, 1, x, 1, &rounding->s2fp8, rounding->mode, NULL, NULL, exec, &counts->events);
  } else if (rounding->kind == HU_ROUND_NUMBER) {
    status = hu_number_quantize_n(n, z, 1, x, 1, rounding->number, rounding->mode, exec, &counts->events);
  } else {
    status = into_format(n, z, x, rounding, exec, counts);
  }
  if (status == HU_OK) counts->elements += n;
  return status;
}

hu_status hu_rounding_apply(size_t rows, size_t cols, float *z, const float *x, const hu_rounding *rounding,
                            const hu_exec *exec, hu_rounding_counts *counts) {
  if (exec && exec->where.device) return HU_E_DEVICE;
  HU_ENV_RETURN(hu_status, apply(rows, cols, z, x, rounding, exec, counts));
}

int hui_rounds_alone(const hu_rounding *rounding) {
  hu_rounding_counts counts;
  float zero = 0;
  uint32_t bits;
  if (rounding->mode.round >= HU_SRA) return 0;
  if (rounding->kind == HU_ROUND_KEEP) return 1;
  if (rounding->kind != HU_ROUND_FORMAT && rounding->kind != HU_ROUND_NUMBER) return 0;
  memset(&counts, 0, sizeof counts);
  if (hu_rounding_apply(1, 1, &zero, &zero, rounding, NULL, &counts) != HU_OK) return 0;
  const hu_events none = {0};
  memcpy(&bits, &zero, sizeof bits);
  return bits == 0 && counts.over == 0 && memcmp(&counts.events, &none, sizeof none) == 0;
}

uint64_t hu_rounding_bits(size_t rows, size_t cols, const hu_rounding *rounding) {
  uint64_t n = (uint64_t)rows * cols;
  if (hu_rounding_check(rounding) != HU_OK) return 0;
  if (rounding->kind == HU_ROUND_FORMAT) return n * hu_limits_of(rounding->format).width;
  if (rounding->kind == HU_ROUND_S2FP8) return n * hu_limits_of(rounding->s2fp8.element).width + 64;
  if (rounding->kind == HU_ROUND_NUMBER) return n * hu_number_limits_of(rounding->number).width;
  if (rounding->kind == HU_ROUND_KEEP) return 32 * n;
  hu_scaling scaling = scaling_of(rounding);
  hu_scaled_sizes sizes = hu_scaled_sizes_of(rows, cols, &scaling);
  uint64_t scales = (uint64_t)sizes.block_rows * sizes.block_cols * hu_limits_of(scaling.scale).storage;
  return n * hu_limits_of(scaling.element).width + scales + (scaling.tensor ? 32 : 0);
}

/* ---- text ---- */

/* Returns where the comma that ends the part at `text` stands, without commas within parentheses; or the end. */
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

/* Options of which each may stand once. */
typedef struct said {
  int mode, saturate;
} said;

/* Reads one option behind the format. */
static hu_status option(hu_rounding *rounding, const char *word, said *before) {
  if (strcmp(word, "turned") == 0) {
    if (rounding->kind != HU_ROUND_SCALED || rounding->turned) return HU_E_TEXT;
    rounding->turned = 1;
    return HU_OK;
  }
  if (strcmp(word, "over=inf") == 0 || strcmp(word, "nan=keep") == 0) {
    uint8_t *flag = *word == 'o' ? &rounding->over_inf : &rounding->keep_nan;
    if (rounding->kind != HU_ROUND_FORMAT || *flag) return HU_E_TEXT;
    *flag = 1;
    return HU_OK;
  }
  int policy = strncmp(word, "sat=", 4) == 0;
  hu_status status =
      policy ? hu_mode_saturate_parse(&rounding->mode, word + 4) : hu_mode_round_parse(&rounding->mode, word);
  return status == HU_OK && (policy ? before->saturate++ : before->mode++) ? HU_E_TEXT : status;
}

/* One word as what it names. *at: where hu_format_parse, hu_scaling_parse or hu_number_parse saw something wrong. */
static hu_status named(hu_rounding *rounding, const char *word, size_t *at) {
  hu_status status;
  if (strcmp(word, "keep") == 0) return HU_OK;
  rounding->kind = HU_ROUND_SCALED;
  status = hu_scaling_parse(&rounding->scaling, word, at);
  if (status == HU_OK || strncmp(word, "scaled(", 7) == 0) return status;
  rounding->kind = HU_ROUND_S2FP8;
  status = hu_s2fp8_parse(&rounding->s2fp8, word, at);
  if (status == HU_OK || strncmp(word, "s2fp8", 5) == 0) return status;
  rounding->kind = HU_ROUND_NUMBER;
  status = hu_number_parse(&rounding->number, word, NULL, at);
  if (status != HU_OK || rounding->number.kind != HU_NUMBER_FLOAT) return status;
  rounding->kind = HU_ROUND_FORMAT;
  rounding->format = rounding->number.format;
  memset(&rounding->number, 0, sizeof rounding->number);
  return HU_OK;
}

/* The subject in front: as many parts as make one. *used: their length. */
static hu_status subject(hu_rounding *rounding, const char *text, size_t *used, size_t *where) {
  char word[WORD_MAX];
  hu_status status = HU_E_TEXT;
  *where = 0;
  for (size_t n = part_length(text);; n += 1 + part_length(text + n + 1)) {
    if (n >= sizeof word) return HU_E_TEXT;
    memcpy(word, text, n);
    word[n] = 0;
    hu_rounding by = hu_rounding_keep();
    size_t at = 0;
    hu_status got = named(&by, word, &at);
    if (got == HU_OK) {
      *rounding = by;
      *used = n;
      status = HU_OK;
    } else if (status != HU_OK && status != HU_E_NAME) { /* an unknown name ends with its part */
      status = got;
      *where = at;
    }
    if (!text[n]) return status;
  }
}

hu_status hu_rounding_parse(hu_rounding *rounding, const char *text, size_t *where) {
  size_t ignored, at = 0;
  if (!where) where = &ignored;
  *where = 0;
  if (!rounding || !text) return HU_E_NULL;
  hu_rounding by;
  said before = {0, 0};
  hu_status status = subject(&by, text, &at, where);
  while (status == HU_OK && text[at]) {
    char word[WORD_MAX];
    size_t n = part_length(text + at + 1);
    *where = at + 1;
    if (n >= sizeof word) return HU_E_TEXT;
    memcpy(word, text + at + 1, n);
    word[n] = 0;
    status = option(&by, word, &before);
    at += 1 + n;
  }
  if (status != HU_OK) return status;
  *where = 0;
  status = hu_rounding_check(&by);
  if (status == HU_OK) *rounding = by;
  return status;
}
