/* SPDX-License-Identifier: MIT */
#include "tests/scaled/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/oracle/round.h"
#include "halfulp/oracle.h"

static const float largest = 0x1.fffffep127f;

typedef struct t_formats {
  table element, scale;
  double top, top_scale; /* M, M_S */
  float all;             /* A_T */
  int emax, low, high;   /* floor(log2 M), exponents of the powers of two that are scales */
  int width;
} t_formats;

typedef struct block {
  size_t r0, r1, c0, c1;
  int nan; /* the scale is NaN */
  double scale, d;
  float S;      /* `encode` with one level */
  float by;     /* what elements are multiplied with, where they are */
  int integers; /* section 4.5: the type of the block */
} block;

static void must(int fine) {
  if (!fine) abort();
}

static double value_of(hu_format format, uint32_t code) {
  double z;
  must(hu_oracle_decode64(&z, format, code) == HU_OK);
  return z;
}

static hu_mode finite_by_default(hu_mode mode) {
  if (mode.saturate == HU_SAT_DEFAULT) mode.saturate = HU_SAT_FINITE;
  return mode;
}

static int exponent(double x) { return ilogb(x); }

/* Is 2^e a number of the format? */
static int has_power(hu_format format, int e) {
  hu_mode rne = {0};
  uint32_t code, events;
  if (e < -1000 || e > 1000) return 0;
  must(hu_oracle_encode64(&code, &events, format, rne, ldexp(1, e), 0) == HU_OK);
  return value_of(format, code) == ldexp(1, e);
}

static t_formats formats_of(const hu_scaling *scaling) {
  t_formats formats;
  must(table_make(&formats.element, scaling->element) == HU_OK && table_make(&formats.scale, scaling->scale) == HU_OK);
  formats.top = value_of(scaling->element, formats.element.max_code);
  formats.top_scale = value_of(scaling->scale, formats.scale.max_code);
  formats.all = 0;
  formats.emax = exponent(formats.top);
  formats.high = exponent(formats.top_scale);
  if (scaling->tensor == HU_TENSOR_256) formats.top_scale = 256;
  formats.low = formats.high;
  while (has_power(scaling->scale, formats.low - 1)) formats.low--;
  formats.width = 1 + scaling->element.e + scaling->element.m;
  return formats;
}

/* ---- binary32 steps, by the processor ---- */

static float rn(volatile float y) { return isinf(y) ? copysignf(largest, y) : y; }
static float rnp(volatile float y) { return rn(y) == 0 ? 0x1p-149f : rn(y); }

/* a / b, where one of them may lie outside binary32: 512 digits and a mark that there are more, then one rounding. */
static float rn_quotient(double a, double b) {
  mpfr_t q;
  mpfr_init2(q, 512);
  mpfr_set_d(q, a, MPFR_RNDN);
  if (mpfr_div_d(q, q, b, MPFR_RNDZ) != 0) mpfr_nextabove(q);
  float z = mpfr_get_flt(q, MPFR_RNDN);
  mpfr_clear(q);
  return rnp(z);
}

/* ---- one rounding of a quotient a / (b c) ---- */

static uint32_t round_quotient(const table *t, hu_mode mode, double a, double b, double c, uint32_t random,
                               uint32_t *events) {
  exact q;
  mpfr_t d;
  uint32_t code;
  exact_init(&q, 512);
  q.kind = CODE_FINITE;
  q.negative = signbit(a) != 0;
  mpfr_init2(d, 128);
  mpfr_set_d(d, b, MPFR_RNDN);
  mpfr_mul_d(d, d, c, MPFR_RNDN);
  mpfr_set_d(q.value, fabs(a), MPFR_RNDN);
  /* 512 digits and a mark that there are more: all that a comparison with numbers of 64 digits can see */
  if (mpfr_div(q.value, q.value, d, MPFR_RNDZ) != 0) mpfr_nextabove(q.value);
  round_exact(t, mode, &q, random, &code, events);
  mpfr_clear(d);
  return code;
}

static uint32_t round_number(hu_format format, hu_mode mode, double x, uint32_t random, uint32_t *events) {
  uint32_t code;
  must(hu_oracle_encode64(&code, events, format, mode, x, random) == HU_OK);
  return code;
}

/* ---- section 2 ---- */

static double seen(const hu_scaling *scaling, float x) {
  if (isnan(x)) return 0;
  if (isinf(x)) return scaling->special == HU_SPECIAL_SATURATE ? largest : 0;
  return fabs((double)x);
}

static double amax_of(const model *m, const block *b, int *special) {
  double a = 0;
  *special = 0;
  for (size_t i = b->r0; i < b->r1; i++) {
    for (size_t j = b->c0; j < b->c1; j++) {
      float x = m->x[i * m->cols + j];
      *special += !isfinite(x);
      a = fmax(a, seen(&m->scaling, x));
    }
  }
  return a;
}

/* ---- section 3 ---- */

static int power_rule(const model *m, const t_formats *formats, double a) {
  int k = exponent(a), digits = m->scaling.element.m + 1, e;
  switch (m->scaling.rule) {
    case HU_SCALE_FLOOR: e = k - formats->emax; break;
    case HU_SCALE_CEIL: e = (ldexp(1, k) == a ? k : k + 1) - formats->emax; break;
    case HU_SCALE_EVEN: e = exponent(floor(ldexp(a, digits - 1 - k) + 0.5)) - (digits - 1) + k - formats->emax; break;
    default:
      e = k - formats->emax - 2;
      while (a > ldexp(formats->top, e)) e++;
  }
  return e < formats->low ? formats->low : e > formats->high ? formats->high : e;
}

/* ---- section 4 ---- */

static float tensor_scale(const model *m, const t_formats *formats, float a, float *S) {
  double both = formats->top * formats->top_scale;
  *S = 1;
  if (a == 0) return 1;
  if (m->scaling.steps == HU_STEPS_EXACT || m->scaling.steps == HU_STEPS_DIVIDE) return rn_quotient(a, both);
  if (m->scaling.steps == HU_STEPS_RECIPROCAL) {
    float t = rn_quotient(a, both);
    *S = rnp(1 / t);
    return t;
  }
  *S = rn_quotient(both, a);
  return rnp(1 / *S);
}

static uint32_t ratio_code(const model *m, const t_formats *formats, float a, float S, block *b) {
  hu_mode mode = {0};
  uint32_t events;
  float top = (float)formats->top, y;
  mode.round = m->scaling.round;
  mode.saturate = HU_SAT_FINITE;
  switch (m->scaling.steps) {
    case HU_STEPS_EXACT: return round_quotient(&formats->scale, mode, a, formats->top, m->tensor, 0, &events);
    case HU_STEPS_DIVIDE:
    case HU_STEPS_RECIPROCAL:
      y = rn(a / top);
      if (m->scaling.tensor) y = rn(y / m->tensor);
      break;
    case HU_STEPS_MULTIPLY:
      y = rn(a / top);
      if (m->scaling.tensor) y = rn(y * S);
      break;
    default:
      if (m->scaling.tensor) {
        float part = rn(S * rn(1 / top));
        y = rn(a * part);
      } else {
        b->S = rnp(top / a);
        y = rnp(1 / b->S);
      }
  }
  return round_number(m->scaling.scale, mode, y, 0, &events);
}

static int is_ratio(const hu_scaling *scaling) { return scaling->rule >= HU_SCALE_RATIO; }

static int has_types(const hu_scaling *scaling) { return scaling->rule >= HU_SCALE_INTFLOAT_MAE; }

static double product(const model *m, double scale) {
  if (m->scaling.steps == HU_STEPS_EXACT) return scale * m->tensor; /* exact: at most 24 + 24 digits */
  float z = (float)scale * m->tensor;
  return isinf(scale) || isinf(m->tensor) ? z : rn(z);
}

static uint32_t scale_of(const model *m, const t_formats *formats, block *b, float S, double a, int special) {
  const hu_scaling *scaling = &m->scaling;
  hu_mode rne = {0};
  uint32_t code, events;
  float amin;
  memcpy(&amin, &scaling->amin, sizeof amin);
  b->S = 0;
  b->nan = special && scaling->special == HU_SPECIAL_NAN;
  if (a < amin) a = amin;
  if (b->nan) {
    code = (uint32_t)formats->scale.nan_code;
  } else if (a == 0) {
    double s = scaling->blank == HU_BLANK_LOW ? ldexp(1, formats->low) : scaling->blank == HU_BLANK_ONE ? 1 : 0;
    code = round_number(scaling->scale, rne, s, 0, &events);
  } else if (is_ratio(scaling)) {
    code = ratio_code(m, formats, (float)a, S, b);
  } else {
    code = round_number(scaling->scale, rne, ldexp(1, power_rule(m, formats, a)), 0, &events);
  }
  b->scale = value_of(scaling->scale, code);
  b->integers = 0;
  b->d = product(m, b->scale);
  b->by = b->S != 0 ? b->S : rn(1 / (float)b->d);
  if (scaling->steps == HU_STEPS_RECIPROCAL && scaling->tensor) b->by = rn(S / (float)b->scale);
  return code;
}

/* ---- section 4.5 ---- */

/* The row of the table for an element format: N, g, f and how codes have a sign. */
typedef struct t_type {
  int most, twos;
  float g, f;
} t_type;

static t_type type_of(hu_format element) {
  static const t_type four = {7, 1, 0x1.2aaaaap0f, 0x1.b6db6ep-1f}, e2m3 = {31, 0, 0x1.088888p2f, 0x1.ef7be2p-3f},
                      e3m2 = {31, 0, 0x1.1b6db6p0f, 0x1.ce739cp-1f};
  return element.m == 1 ? four : element.m == 3 ? e2m3 : e3m2;
}

/* The format of whole numbers up to N, for the oracle. */
static hu_format whole_numbers(t_type type) {
  hu_format format;
  must(hu_format_parse(&format, type.most == 7 ? "fp(0,3,-2):finite,nonegzero" : "fp(0,5,-4):finite,nonegzero", NULL) ==
       HU_OK);
  return format;
}

static double integer_of(t_type type, uint32_t code) {
  int64_t top = type.most + 1, n = code & (2 * top - 1);
  if (n < top) return (double)n;
  return (double)(type.twos ? n - 2 * top : top - n);
}

/* The code of I for y, what steps give for an element. */
static uint32_t integer_code(t_type type, hu_mode mode, float y, uint32_t random, uint32_t *events) {
  hu_format format = whole_numbers(type);
  double n = value_of(format, round_number(format, mode, rn(y * type.g), random, events));
  if (type.twos) return (uint32_t)(int32_t)n & (uint32_t)(2 * type.most + 1);
  return (uint32_t)fabs(n) + (n < 0 ? (uint32_t)type.most + 1 : 0);
}

/* ---- section 5 ---- */

static uint32_t element_of(const model *m, const t_formats *formats, const block *b, float x, uint32_t random,
                           uint32_t *events) {
  const hu_scaling *scaling = &m->scaling;
  hu_mode mode = finite_by_default(m->mode);
  uint32_t more = 0, code;
  if (isinf(x) && scaling->special == HU_SPECIAL_SATURATE) {
    x = copysignf(largest, x);
    more = HU_EVENT_INF_IN;
  }
  if (b->nan) {
    *events = isnan(x) ? HU_EVENT_NAN_IN : isinf(x) ? HU_EVENT_INF_IN | HU_EVENT_INVALID : HU_EVENT_INEXACT;
    *events |= more;
    return isnan(x) && formats->element.nan_code != TABLE_NO_CODE ? (uint32_t)formats->element.nan_code : 0;
  }
  if (b->integers) {
    code = integer_code(type_of(scaling->element), mode, x == 0 ? x : rn(x * b->by), random, events);
  } else if (!isfinite(x) || x == 0) {
    code = round_number(scaling->element, mode, x, random, events);
  } else if (b->d == 0) {
    code = round_number(scaling->element, mode, copysign(0, x), random, events);
    more |= HU_EVENT_INEXACT | HU_EVENT_UNDERFLOW | HU_EVENT_TO_ZERO;
  } else if (!is_ratio(scaling)) {
    code = round_number(scaling->element, mode, ldexp(x, -exponent(b->d)), random, events);
  } else if (scaling->steps == HU_STEPS_EXACT) {
    code = round_quotient(&formats->element, mode, x, b->scale, m->tensor, random, events);
  } else {
    float div = (float)b->d;
    float y = scaling->steps == HU_STEPS_DIVIDE ? rn(x / div) : rn(x * b->by);
    code = round_number(scaling->element, mode, y, random, events);
  }
  *events |= more;
  return code;
}

static double number_of(const model *m, const t_formats *formats, const block *b, uint32_t code) {
  int64_t n = code;
  if (b->integers) return integer_of(type_of(m->scaling.element), code);
  if (m->scaling.coding != HU_CODING_TWOS) return value_of(m->scaling.element, code);
  if (n >> (formats->width - 1)) n -= (int64_t)1 << formats->width;
  return (double)n * value_of(m->scaling.element, 1);
}

static uint32_t stored(const model *m, const t_formats *formats, uint32_t code) {
  if (m->scaling.coding != HU_CODING_TWOS) return code;
  uint32_t mask = (uint32_t)(((uint64_t)1 << formats->width) - 1);
  double units = value_of(m->scaling.element, code) / value_of(m->scaling.element, 1);
  return (uint32_t)(int32_t)units & mask;
}

static float value_under(const model *m, const t_formats *formats, double scale, uint32_t code) {
  uint32_t quiet = 0x7FC00000;
  block b = {.integers = has_types(&m->scaling) && signbit(scale) && !isnan(scale)};
  double p = number_of(m, formats, &b, code);
  if (b.integers) p = (float)(p * type_of(m->scaling.element).f);
  if (has_types(&m->scaling)) scale = fabs(scale);
  float z = (float)(p * product(m, scale)); /* exact in binary64, then rounded */
  if (isnan(z)) memcpy(&z, &quiet, sizeof z);
  return z;
}

/* ---- section 4.1 ---- */

static uint32_t word_of(const model *m, size_t k) {
  return m->mode.bits ? hu_stream_word(m->stream, k) >> (32 - m->mode.bits) : 0;
}

static int is_sweep(const model *m) { return m->scaling.rule == HU_SCALE_SWEEP_MSE; }

/* Every step is stored, so that no compiler takes two at once. */
static float error_of(const model *m, const t_formats *formats, const block *b, float S, size_t k) {
  int rule = m->scaling.rule, fast = rule == HU_SCALE_4OVER6_MAE_FAST || rule == HU_SCALE_4OVER6_MSE_FAST;
  uint32_t ignored;
  float p = (float)number_of(m, formats, b, element_of(m, formats, b, m->x[k], word_of(m, k), &ignored));
  volatile float y = p * (float)b->scale, x = m->x[k];
  if (is_sweep(m)) {
    y = p * (float)b->d;
  } else if (fast) {
    x = x * S;
  } else {
    y = y * formats->all;
    if (b->integers) y = y * type_of(m->scaling.element).f;
    y = y / (float)(formats->top * formats->top_scale);
  }
  volatile float e = y - x;
  if (rule == HU_SCALE_4OVER6_MAE || rule == HU_SCALE_4OVER6_MAE_FAST || rule == HU_SCALE_INTFLOAT_MAE ||
      rule == HU_SCALE_INTFLOAT_MAX)
    return fabsf(e);
  e = e * e;
  return e;
}

/* The sums of rows first, then those of rows 8, 4, 2 and 1 apart. */
static float error_under(const model *m, const t_formats *formats, const block *b, float S) {
  volatile float rows[16] = {0};
  float most = 0;
  for (size_t i = b->r0; i < b->r1 && m->scaling.rule == HU_SCALE_INTFLOAT_MAX; i++) {
    for (size_t j = b->c0; j < b->c1; j++) most = fmaxf(most, error_of(m, formats, b, S, i * m->cols + j));
  }
  if (m->scaling.rule == HU_SCALE_INTFLOAT_MAX) return most;
  for (size_t i = b->r0; i < b->r1; i++) {
    for (size_t j = b->c0; j < b->c1; j++) rows[i - b->r0] += error_of(m, formats, b, S, i * m->cols + j);
  }
  for (int apart = 8; apart > 0; apart /= 2) {
    for (int i = 0; i < apart; i++) rows[i] += rows[i + apart];
  }
  return rows[0];
}

/* The first of all positive scales with the least error. */
static uint32_t sweep(const model *m, const t_formats *formats, block *b, float S) {
  uint32_t best = 0;
  float least = 0;
  for (uint32_t code = 1; code <= formats->scale.max_code; code++) {
    block other = *b;
    other.scale = value_of(m->scaling.scale, code);
    other.d = product(m, other.scale);
    other.by = rn(1 / (float)other.d);
    float error = error_under(m, formats, &other, S);
    if (best && !(error < least)) continue;
    best = code;
    least = error;
  }
  b->scale = value_of(m->scaling.scale, best);
  b->d = product(m, b->scale);
  b->by = rn(1 / (float)b->d);
  return best;
}

/* b: under the scale of this code; becomes the better type. */
static uint32_t choose_type(const model *m, const t_formats *formats, block *b, float S, uint32_t code) {
  block integers = *b;
  integers.integers = 1;
  if (!(error_under(m, formats, &integers, S) < error_under(m, formats, b, S))) return code;
  *b = integers;
  return code + 0x80;
}

/* b: the scale that ratio gives, of this code; becomes the better one. */
static uint32_t choose(const model *m, const t_formats *formats, block *b, float S, double a, uint32_t code) {
  block four = *b;
  hu_mode mode = {0};
  uint32_t events, amin = m->scaling.amin;
  float least;
  memcpy(&least, &amin, sizeof least);
  if (a < least) a = least;
  if (a == 0) return code;
  if (is_sweep(m)) return sweep(m, formats, b, S);
  if (has_types(&m->scaling)) return choose_type(m, formats, b, S, code);
  mode.round = m->scaling.round;
  mode.saturate = HU_SAT_FINITE;
  volatile float y = rn(rn((float)a / (float)formats->top) * S);
  uint32_t larger = round_number(m->scaling.scale, mode, rn(y * 1.5f), 0, &events);
  four.scale = value_of(m->scaling.scale, larger);
  four.d = product(m, four.scale);
  four.by = rn(1 / (float)four.d);
  if (!(error_under(m, formats, &four, S) < error_under(m, formats, b, S))) return code;
  *b = four;
  return larger;
}

/* ---- the matrix ---- */

static size_t side(uint32_t n, size_t all) { return n == 0 || n > all ? all : n; }

static block block_at(const model *m, size_t p, size_t q) {
  size_t r = side(m->scaling.rows, m->rows), c = side(m->scaling.cols, m->cols);
  block b = {p * r, p * r + r, q * c, q * c + c, 0, 0, 0, 0, 0, 0};
  if (b.r1 > m->rows) b.r1 = m->rows;
  if (b.c1 > m->cols) b.c1 = m->cols;
  return b;
}

static void run_block(model *m, const t_formats *formats, block *b, float S, size_t number) {
  int special;
  double a = amax_of(m, b, &special);
  int whole = m->scaling.rows == 0 && m->scaling.cols == 0 && !m->scaling.tensor;
  hu_scaled_stats *stats = &m->stats[number];
  memset(stats, 0, sizeof *stats);
  stats->amax = (float)a;
  stats->special = (uint64_t)special;
  if (m->amax && whole) a = *m->amax;
  stats->scale = scale_of(m, formats, b, S, a, special);
  if (m->scaling.rule > HU_SCALE_RATIO && !special) stats->scale = choose(m, formats, b, S, a, stats->scale);
  m->scales[number] = stats->scale;
  for (size_t i = b->r0; i < b->r1; i++) {
    for (size_t j = b->c0; j < b->c1; j++) {
      size_t k = i * m->cols + j;
      uint32_t events;
      m->codes[k] = stored(m, formats, element_of(m, formats, b, m->x[k], word_of(m, k), &events));
      hu_events_count(&m->events, events);
      stats->saturated += (events & HU_EVENT_SATURATED) != 0;
      stats->to_zero += (events & HU_EVENT_TO_ZERO) != 0;
    }
  }
}

static size_t count(size_t n, uint32_t n_side) { return (n + side(n_side, n) - 1) / side(n_side, n); }

void model_run(model *m) {
  t_formats formats = formats_of(&m->scaling);
  block all = {0, m->rows, 0, m->cols, 0, 0, 0, 0, 0, 0};
  int special;
  float S = 1, a = (float)amax_of(m, &all, &special);
  memset(&m->events, 0, sizeof m->events);
  m->tensor = 1;
  formats.all = m->amax ? *m->amax : a;
  if (m->scaling.tensor) m->tensor = tensor_scale(m, &formats, formats.all, &S);
  size_t down = count(m->rows, m->scaling.rows), across = count(m->cols, m->scaling.cols);
  for (size_t n = 0; n < down * across; n++) {
    block b = block_at(m, n / across, n % across);
    run_block(m, &formats, &b, S, n);
  }
  model_decode(m);
}

void model_decode(model *m) {
  t_formats formats = formats_of(&m->scaling);
  size_t across = count(m->cols, m->scaling.cols);
  for (size_t i = 0; i < m->rows; i++) {
    for (size_t j = 0; j < m->cols; j++) {
      size_t p = i / side(m->scaling.rows, m->rows), q = j / side(m->scaling.cols, m->cols), k = i * m->cols + j;
      m->values[k] = value_under(m, &formats, value_of(m->scaling.scale, m->scales[p * across + q]), m->codes[k]);
    }
  }
}
