/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/conversion.h: they prepare operands, use the array calls, and put in the NaN codes. */
#include "halfulp/conversion.h"

#include <string.h>

#include "emu/base/array_extent.h"
#include "emu/base/exec.h"
#include "emu/conversion/steps.h"
#include "emu/core/bits.h"
#include "emu/core/round.h"
#include "halfulp/scalar.h"
#include "halfulp/scaled.h"

enum { BLOCK = 256, OPERANDS = 2 * HU_OPERAND_NEGATIVE_NAN - 1 };
static const uint64_t sign_of = (uint64_t)1 << 63, inf_of = (uint64_t)0x7FF << 52, quiet_of = (uint64_t)1 << 51;
static const uint64_t normal32 = (uint64_t)(1023 - 126) << 52; /* 2^-126 */

static int has_first(const hu_conversion *c) { return hui_conversion_has_first(c); }

static uint32_t mask_of(hu_format f) { return UINT32_MAX >> (32 - ((uint32_t)f.sign + f.e + f.m)); }

static int nan_rule_fits(const hu_conversion *c, unsigned rule) {
  if (rule == HU_NAN_BY_MODE) return 1;
  if (rule == HU_NAN_BY_CODE) return c->nan_code <= mask_of(c->format);
  if (rule == HU_NAN_BY_SIGN) return c->format.sign && (c->nan_code == HU_NO_CODE || c->nan_code <= mask_of(c->format));
  return (rule == HU_NAN_BY_QUIET || rule == HU_NAN_BY_PAYLOAD) &&
         (c->format.nan == HU_NAN_IEEE || c->format.nan == HU_NAN_IEEE_ONES) && c->format.m;
}

/* Whether a matrix can go through this in stretches of its rows. */
static int goes_by_rows(const hu_scaling *s) {
  return s->rows == 1 && s->cols && s->cols <= HU_CONVERSION_COLS && !s->tensor;
}

/* The steps before the encoding of a scaled tensor, and what becomes of its codes. */
static int steps_fit(const hu_conversion *c, const hu_scaling *s) {
  hu_scaling through;
  int first = has_first(c), has_through = hui_conversion_has_through(c);
  if (c->codes > HU_SCALED_CODES_RAISED) return 0;
  if (!first && !has_through) return 1;
  if (c->codes || !goes_by_rows(s) || (first && !hu_format_fits_binary32(c->first))) return 0;
  if (!has_through) return 1;
  return hu_scaling_parse(&through, c->through, NULL) == HU_OK && goes_by_rows(&through) && through.cols == s->cols;
}

static int scaling_fits(const hu_conversion *c) {
  hu_scaling s;
  if (!c->scaling) return 0;
  if (!*c->scaling) return !hui_conversion_has_through(c) && !c->codes;
  if (c->operand || c->nan || c->nan64 || c->nan_made) return 0;
  return hu_scaling_parse(&s, c->scaling, NULL) == HU_OK && hu_format_equal(s.element, c->format) && steps_fit(c, &s);
}

/* Whether there is a step that first_mode belongs to. */
static int rounds_first(const hu_conversion *c) { return has_first(c) || hui_conversion_has_through(c); }

hu_status hu_conversion_check(const hu_conversion *c) {
  static const hu_mode zero;
  if (!c) return HU_E_NULL;
  if (hu_format_check(c->format, NULL) != HU_OK) return HU_E_FORMAT;
  if (has_first(c) && hu_format_check(c->first, NULL) != HU_OK) return HU_E_FORMAT;
  if (hu_mode_check(c->mode) != HU_OK || hu_mode_check(c->first_mode) != HU_OK) return HU_E_MODE;
  if (rounds_first(c) ? c->first_mode.bits != 0 : memcmp(&c->first_mode, &zero, sizeof zero) != 0) return HU_E_MODE;
  if (c->operand > OPERANDS || ((c->operand & HU_OPERAND_FLUSH) && !(c->operand & HU_OPERAND_BINARY32)))
    return HU_E_SCALING;
  int rules = nan_rule_fits(c, c->nan) && nan_rule_fits(c, c->nan64) && c->nan_made <= HU_NAN_MADE_CANONICAL;
  return rules && scaling_fits(c) ? HU_OK : HU_E_SCALING;
}

static int is_nan(uint64_t u) { return (u & ~sign_of) > inf_of; }

/* The steps of `operand` behind the narrowing, which flush says was done. */
static uint64_t prepared(const hu_conversion *c, uint64_t u, int flush) {
  uint64_t magnitude = u & ~sign_of;
  if (flush && magnitude < normal32) u &= sign_of;
  if (c->operand & HU_OPERAND_MAGNITUDE) u &= ~sign_of;
  if ((c->operand & HU_OPERAND_ZERO_NAN) && !(u & ~sign_of)) u |= inf_of | quiet_of;
  if ((c->operand & HU_OPERAND_INF_NAN) && magnitude == inf_of) u |= quiet_of;
  if ((c->operand & HU_OPERAND_NEGATIVE_NAN) && (u & sign_of)) u |= inf_of | quiet_of;
  return u;
}

/* The code of NaN u, where that of the format and mode is z. */
static uint32_t nan_code(const hu_conversion *c, unsigned rule, uint64_t u, uint32_t z) {
  uint32_t sign_bit = mask_of(c->format) ^ mask_of(c->format) >> 1, m = c->format.m;
  uint32_t sign = u & sign_of ? sign_bit : 0;
  if (rule == HU_NAN_BY_CODE) return c->nan_code;
  if (rule == HU_NAN_BY_SIGN) return (c->nan_code == HU_NO_CODE ? z : c->nan_code) ^ sign;
  if (rule != HU_NAN_BY_QUIET && rule != HU_NAN_BY_PAYLOAD) return z;
  uint32_t digits = (uint32_t)((u & (2 * quiet_of - 1)) >> (52 - m)), field = ((uint32_t)1 << c->format.e) - 1;
  if (rule == HU_NAN_BY_QUIET) digits |= (uint32_t)1 << (m - 1);
  return sign | field << m | (digits ? digits : 1);
}

/* A block of operands between its steps: as binary64, which holds binary32 and its NaNs. */
typedef struct block {
  uint64_t x[BLOCK]; /* after `operand` */
  double value[BLOCK];
  float narrow[BLOCK];  /* in place of values, where there is one rounding and binary32 operands */
  uint32_t code[BLOCK]; /* in the low bytes of the array: the storage of hu_encode64_n */
} block;

static uint64_t widened(const float *x) {
  uint32_t u;
  memcpy(&u, x, sizeof u);
  if ((u & 0x7FFFFFFF) > 0x7F800000) return (uint64_t)(u >> 31) << 63 | inf_of | (uint64_t)(u & 0x7FFFFF) << 29;
  return hui_pack64(hui_unpack32(u)); /* by integers: the CPU may be set to flush subnormal numbers */
}

static hu_format binary32(void) { return hui_format_binary32(); }

static int narrows(const hu_conversion *c, size_t size) { return size == 8 && (c->operand & HU_OPERAND_BINARY32); }

static hu_status load(block *b, size_t n, const void *x, size_t size, ptrdiff_t incx, const hu_conversion *c,
                      const hu_exec *exec) {
  static const hu_mode rne;
  const char *at = x;
  int narrow = narrows(c, size), flush = narrow && (c->operand & HU_OPERAND_FLUSH);
  hu_status s = HU_OK;
  for (size_t i = 0; i < n; i++, at += incx * (ptrdiff_t)size) {
    if (size == 4)
      b->x[i] = widened((const float *)(const void *)at);
    else
      memcpy(&b->x[i], at, sizeof b->x[i]);
    b->value[i] = hui_double_of_bits(b->x[i]);
  }
  if (narrow) s = hu_quantize64_n(n, b->value, 1, b->value, 1, binary32(), rne, exec, NULL);
  for (size_t i = 0; i < n; i++) {
    if (!is_nan(b->x[i])) b->x[i] = hui_bits_of_double(b->value[i]);
    b->x[i] = prepared(c, b->x[i], flush);
    b->value[i] = hui_double_of_bits(b->x[i]);
  }
  return s;
}

/* Binary32 operands with nothing before the one rounding: only NaNs are looked at one by one. */
static int is_direct(const hu_conversion *c, size_t size) {
  return size == 4 && !has_first(c) && !(c->operand & ~(HU_OPERAND_BINARY32 | HU_OPERAND_FLUSH));
}

static void load_direct(block *b, size_t n, const void *x, ptrdiff_t incx) {
  const float *at = x;
  for (size_t i = 0; i < n; i++) memcpy(&b->narrow[i], at + (ptrdiff_t)i * incx, sizeof b->narrow[i]);
  for (size_t i = 0; i < n; i++) {
    uint32_t magnitude = hui_bits_of_float(b->narrow[i]) & 0x7FFFFFFF;
    b->x[i] = magnitude > 0x7F800000 ? widened(&b->narrow[i]) : 0;
  }
}

/* The canonical code in place of each NaN; what NaN operands give is put over that. */
static uint32_t unsigned_nan(const hu_spec *s, uint32_t code) {
  return hui_unpack(s, code).kind == HU_KIND_NAN ? s->nan_code : code;
}

static void unsign_nans(block *b, size_t n, const hu_conversion *c, size_t size) {
  hu_spec s = hui_spec_of(c->format, c->mode);
  for (size_t i = 0; i < n; i++) {
    uint8_t *at = (uint8_t *)b->code + i * size;
    hui_store_code(at, size, unsigned_nan(&s, hui_load_code(at, size)));
  }
}

static void put_nans(block *b, size_t n, const hu_conversion *c, unsigned rule, size_t size) {
  if (c->nan_made == HU_NAN_MADE_CANONICAL) unsign_nans(b, n, c, size);
  if (rule == HU_NAN_BY_MODE) return;
  for (size_t i = 0; i < n; i++) {
    if (!is_nan(b->x[i])) continue;
    uint8_t *at = (uint8_t *)b->code + i * size;
    hui_store_code(at, size, nan_code(c, rule, b->x[i], hui_load_code(at, size)));
  }
}

/* What goes in and what comes out. */
typedef struct ends {
  size_t size_x, size_z; /* bytes; 4 and 8 are binary32 and binary64 */
  int values;            /* 1: values of codes come out */
} ends;

static hu_status run_block(block *b, size_t n, void *z, ptrdiff_t incz, const ends *e, const hu_conversion *c,
                           const hu_exec *exec, hu_events *events) {
  size_t size = hui_code_bytes(c->format);
  hu_status s = HU_OK;
  if (has_first(c)) s = hu_quantize64_n(n, b->value, 1, b->value, 1, c->first, c->first_mode, exec, NULL);
  for (size_t i = 0; has_first(c) && i < n; i++)
    if (is_nan(b->x[i])) b->value[i] = hui_double_of_bits(b->x[i]); /* the first format may lack NaN */
  if (is_direct(c, e->size_x))
    s = hu_encode_n(n, b->code, 1, b->narrow, 1, c->format, c->mode, exec, events);
  else if (s == HU_OK)
    s = hu_encode64_n(n, b->code, 1, b->value, 1, c->format, c->mode, exec, events);
  if (s != HU_OK) return s;
  put_nans(b, n, c, e->size_x == 4 ? c->nan : c->nan64, size);
  if (e->values)
    return e->size_z == 4 ? hu_decode_n(n, z, incz, b->code, 1, c->format, exec)
                          : hu_decode64_n(n, z, incz, b->code, 1, c->format, exec);
  for (size_t i = 0; i < n; i++)
    memcpy((char *)z + (ptrdiff_t)i * incz * (ptrdiff_t)size, (const char *)b->code + i * size, size);
  return HU_OK;
}

/* Is the conversion one rounding of operands of this size, and nothing else? */
static int is_plain(const hu_conversion *c, size_t size) {
  if (c->nan_made) return 0;
  if (size == 4) return is_direct(c, 4) && c->nan == HU_NAN_BY_MODE;
  return !c->operand && !has_first(c) && c->nan64 == HU_NAN_BY_MODE;
}

static hu_status checked(size_t n, const void *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, const ends *e,
                         const hu_conversion *c) {
  hu_status s = hu_conversion_check(c);
  if (s != HU_OK) return s;
  if (*c->scaling) return HU_E_SCALING;
  if (e->values && e->size_z == 4 && !hu_format_fits_binary32(c->format)) return HU_E_CARRIER;
  hu_strided az = {z, e->values ? e->size_z : hui_code_bytes(c->format), incz}, ax = {x, e->size_x, incx};
  return hui_check_pair(n, &az, &ax);
}

static hu_status run(size_t n, void *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, const ends *e,
                     const hu_conversion *c, const hu_exec *exec, hu_events *events) {
  hu_exec part = hui_exec_levels(exec);
  hu_events sum = {0};
  size_t size_z = e->values ? e->size_z : hui_code_bytes(c->format);
  block b;
  part.stream = hui_exec_stream(exec);
  for (size_t i = 0; i < n; i += BLOCK) {
    size_t count = n - i < BLOCK ? n - i : BLOCK;
    const char *from = (const char *)x + (ptrdiff_t)i * incx * (ptrdiff_t)e->size_x;
    hu_status s = HU_OK;
    if (is_direct(c, e->size_x))
      load_direct(&b, count, from, incx);
    else
      s = load(&b, count, from, e->size_x, incx, c, &part);
    if (s == HU_OK)
      s = run_block(&b, count, (char *)z + (ptrdiff_t)i * incz * (ptrdiff_t)size_z, incz, e, c, &part, &sum);
    if (s != HU_OK) return s; /* cannot be: everything was checked */
    part.stream.counter += count;
  }
  if (events) hu_events_add(events, &sum);
  return HU_OK;
}

hu_status hu_conversion_encode_n(size_t n, void *z, ptrdiff_t incz, const float *x, ptrdiff_t incx,
                                 const hu_conversion *c, const hu_exec *exec, hu_events *events) {
  const ends e = {4, 0, 0};
  hu_status s = checked(n, z, incz, x, incx, &e, c);
  if (s != HU_OK) return s;
  if (is_plain(c, e.size_x)) return hu_encode_n(n, z, incz, x, incx, c->format, c->mode, exec, events);
  return run(n, z, incz, x, incx, &e, c, exec, events);
}

hu_status hu_conversion_encode64_n(size_t n, void *z, ptrdiff_t incz, const double *x, ptrdiff_t incx,
                                   const hu_conversion *c, const hu_exec *exec, hu_events *events) {
  const ends e = {8, 0, 0};
  hu_status s = checked(n, z, incz, x, incx, &e, c);
  if (s != HU_OK) return s;
  if (is_plain(c, e.size_x)) return hu_encode64_n(n, z, incz, x, incx, c->format, c->mode, exec, events);
  return run(n, z, incz, x, incx, &e, c, exec, events);
}

hu_status hu_conversion_quantize_n(size_t n, float *z, ptrdiff_t incz, const float *x, ptrdiff_t incx,
                                   const hu_conversion *c, const hu_exec *exec, hu_events *events) {
  const ends e = {4, 4, 1};
  hu_status s = checked(n, z, incz, x, incx, &e, c);
  if (s != HU_OK) return s;
  if (is_plain(c, e.size_x)) return hu_quantize_n(n, z, incz, x, incx, c->format, c->mode, exec, events);
  return run(n, z, incz, x, incx, &e, c, exec, events);
}

hu_status hu_conversion_quantize64_n(size_t n, double *z, ptrdiff_t incz, const double *x, ptrdiff_t incx,
                                     const hu_conversion *c, const hu_exec *exec, hu_events *events) {
  const ends e = {8, 8, 1};
  hu_status s = checked(n, z, incz, x, incx, &e, c);
  if (s != HU_OK) return s;
  if (is_plain(c, e.size_x)) return hu_quantize64_n(n, z, incz, x, incx, c->format, c->mode, exec, events);
  return run(n, z, incz, x, incx, &e, c, exec, events);
}

/* Changes one operand of `size` bytes, given as binary64, as `operand` says. */
static uint64_t seen(const hu_conversion *c, uint64_t u, size_t size) {
  static const hu_mode rne;
  int narrow = narrows(c, size);
  if (narrow && !is_nan(u)) u = hui_bits_of_double(hu_quantize64(binary32(), rne, hui_double_of_bits(u), 0, NULL));
  return prepared(c, u, narrow && (c->operand & HU_OPERAND_FLUSH));
}

/* And rounded into the first format, which numbers alone are: its NaNs are no operands, and it may have none. */
static uint64_t once(const hu_conversion *c, uint64_t u) {
  if (has_first(c) && !is_nan(u))
    u = hui_bits_of_double(hu_quantize64(c->first, c->first_mode, hui_double_of_bits(u), 0, NULL));
  return u;
}

static uint32_t encode_one(const hu_conversion *c, uint64_t u, size_t size, uint32_t random, uint32_t *events) {
  uint64_t x = seen(c, u, size);
  uint32_t z = hu_encode64(c->format, c->mode, hui_double_of_bits(once(c, x)), random, events);
  if (c->nan_made == HU_NAN_MADE_CANONICAL) {
    hu_spec s = hui_spec_of(c->format, c->mode);
    z = unsigned_nan(&s, z);
  }
  return is_nan(x) ? nan_code(c, size == 4 ? c->nan : c->nan64, x, z) : z;
}

double hu_conversion_operand64(const hu_conversion *c, double x) {
  int wrong = hu_conversion_check(c) != HU_OK || *c->scaling;
  return hui_double_of_bits(wrong ? inf_of | quiet_of : once(c, seen(c, hui_bits_of_double(x), 8)));
}

static uint32_t misuse(uint32_t *events) {
  if (events) *events = HU_EVENT_INVALID;
  return 0;
}

uint32_t hu_conversion_encode(const hu_conversion *c, float x, uint32_t random, uint32_t *events) {
  if (hu_conversion_check(c) != HU_OK || *c->scaling) return misuse(events);
  return encode_one(c, widened(&x), 4, random, events);
}

uint32_t hu_conversion_encode64(const hu_conversion *c, double x, uint32_t random, uint32_t *events) {
  if (hu_conversion_check(c) != HU_OK || *c->scaling) return misuse(events);
  return encode_one(c, hui_bits_of_double(x), 8, random, events);
}
