/* SPDX-License-Identifier: MIT */
/* tests/walk/operands.c - the operands of a case: numbers that the roundings of the result's type find hard, in arrays
 * of one kind, so that the quick ways are met, and mixed. */
#include <math.h>

#include "halfulp/arith.h"
#include "halfulp/scalar.h"
#include "tests/walk/walk.h"

/* A code that the system has: any, or one of its corners. */
static uint32_t code_of(t_random *random, hu_number number) {
  hu_number_limits limits = hu_number_limits_of(number);
  uint32_t near[] = {0, limits.zero_code, limits.min_code, limits.max_code, limits.low_code, limits.nan_code},
           mask = limits.width < 32 ? ((uint32_t)1 << limits.width) - 1 : ~(uint32_t)0;
  if (t_below(random, 4)) return t_next32(random) & mask;
  return (near[t_below(random, 6)] + (uint32_t)t_between(random, -2, 2)) & mask;
}

/* Between the values of two neighbouring codes: the lower one, their middle, a multiple of the random digits' unit, or
 * anywhere. */
static double between(t_random *random, hu_number to, hu_mode mode, unsigned kind) {
  uint32_t code = code_of(random, to);
  double low = hu_number_decode64(to, code), high = hu_number_decode64(to, code + 1);
  if (kind == 1 || !isfinite(low) || !isfinite(high)) return low;
  unsigned bits = mode.bits ? mode.bits : 4;
  double part = kind == 2   ? 0.5
                : kind == 3 ? ldexp(t_next32(random) >> (32 - bits), -(int)bits)
                            : t_below(random, 1u << 20) * 0x1p-20;
  return low + (high - low) * part;
}

double walk_value(t_random *random, hu_number to, hu_mode mode, unsigned kind) {
  hu_number_limits limits = hu_number_limits_of(to);
  double sign = t_below(random, 2) ? -1 : 1;
  switch (kind) {
    case 0: return t_below(random, 2) ? t_double(t_next64(random)) : (double)t_float(t_next32(random));
    case 1:
    case 2:
    case 3:
    case 4: return between(random, to, mode, kind);
    case 5: return sign * limits.max * (1 + 0.25 * t_below(random, 6));
    case 6: return sign * limits.min * ldexp(1 + t_below(random, 4) * 0.25, t_between(random, -4, 2));
    case 7: return t_below(random, 2) ? sign * INFINITY : t_below(random, 3) ? sign * 0.0 : (double)NAN;
    case 8: /* within the bottom binades */
      return sign * ldexp(limits.min, t_between(random, -9, 7)) * (1 + t_below(random, 1u << 23) * 0x1p-23);
    default: return sign * ldexp(1 + t_below(random, 1u << 23) * 0x1p-23, t_between(random, -16, 8));
  }
}

/* A step or two of the array's own type away. */
static uint64_t carried(t_random *random, int carrier, double x) {
  int step = t_below(random, 2) ? 0 : t_between(random, -3, 3);
  if (carrier == WALK_VALUES32) {
    uint32_t u = t_bits32((float)x);
    return u & 0x7FFFFFFF && (u & 0x7FFFFFFF) < 0x7F000000 ? u + (uint32_t)step : u;
  }
  return isfinite(x) && x != 0 ? t_bits64(x) + (uint64_t)(int64_t)step : t_bits64(x);
}

static void fill_values(const walk_case *c, t_random *random, const walk_ends *ends) {
  hu_number to = c->type[WALK_Z].number;
  unsigned calm = t_below(random, 3) ? WALK_KINDS : t_below(random, WALK_KINDS);
  double least = hu_number_limits_of(to).min;
  uint32_t far = t_bits32((float)ldexp(least, -1 - c->mode.bits)) + 1; /* 2^-(N + 1) of it, and 2^-(N + 24) */
  for (size_t i = 0; i < c->n; i++) {
    unsigned kind = calm < WALK_KINDS ? calm : t_below(random, WALK_KINDS);
    if (i / 256 % 2 && kind == 7) kind = 9; /* half of the pieces without those that lanes leave to the core */
    uint64_t x = carried(random, c->call.from, walk_value(random, to, c->mode, kind));
    walk_put(ends->data[0], ends->size[0], (ptrdiff_t)i * c->inc[0], c->operands == WALK_FAR ? far : x);
  }
}

/* WALK_NEAR. */
static void fill_near(const walk_case *c, t_random *random, const walk_ends *ends) {
  hu_number to = c->type[WALK_Z].number;
  uint32_t width = hu_number_limits_of(to).width;
  int wide = c->n / WALK_NEAR_EACH < (uint64_t)1 << width;
  uint32_t code = 0;
  for (size_t i = 0; i < c->n; i++) {
    unsigned j = (unsigned)(i % WALK_NEAR_EACH);
    if (j == 0) code = wide ? code_of(random, to) : (uint32_t)(i / WALK_NEAR_EACH);
    double v = hu_number_decode64(to, code), next = hu_number_decode64(to, code + 1), x = j < 10 ? v : v / 2 + next / 2;
    uint64_t step = (uint64_t)((int64_t)(j % 5) - 2), sign = j / 5 % 2;
    uint64_t bits = c->call.from == WALK_VALUES32 ? (uint32_t)(t_bits32((float)x) + (uint32_t)step) ^ sign << 31
                                                  : (t_bits64(x) + step) ^ sign << 63;
    walk_put(ends->data[0], ends->size[0], (ptrdiff_t)i * c->inc[0], bits);
  }
}

/* A signed integer may repeat its sign in the bits above. */
static void fill_numbers(const walk_case *c, t_random *random, const walk_ends *ends) {
  hu_number number = c->type[0].number;
  int is_signed = number.kind == HU_NUMBER_FIXED && number.sign;
  for (size_t i = 0; i < c->n; i++) {
    uint32_t code = is_signed ? t_random_integer(random, hu_number_limits_of(number).width) : code_of(random, number);
    walk_put(ends->data[0], ends->size[0], (ptrdiff_t)i * c->inc[0], code);
  }
}

uint32_t walk_near_code(t_random *random, hu_format format, double v) {
  hu_mode mode = t_policy(t_mode(t_below(random, T_DETERMINISTIC)), t_below(random, 2) ? HU_SAT_FINITE : 0, 0, 0);
  uint32_t code = hu_encode64(format, mode, v, 0, NULL);
  switch (t_below(random, 4)) {
    case 0: return hu_next_up(format, code);
    case 1: return hu_next_down(format, code);
    default: return code;
  }
}

static double ordinary(t_random *random) {
  double v = (1 + t_below(random, 1u << 20) * 0x1p-20) * ldexp(1, t_between(random, -6, 4));
  return t_below(random, 2) ? -v : v;
}

static void fill_codes(const walk_case *c, t_random *random, const walk_ends *ends) {
  unsigned calm =
      c->n > 8192 ? 5 : t_below(random, 6); /* 4: ordinary numbers alone, so that lanes have work; 5: mixed */
  uint32_t masks[HU_OPERANDS_MAX];
  for (int k = 0; k < c->call.operands; k++) {
    uint32_t width = hu_limits_of(walk_format(c, k)).width;
    masks[k] = width < 32 ? ((uint32_t)1 << width) - 1 : ~(uint32_t)0;
  }
  for (size_t i = 0; i < c->n; i++) {
    uint32_t x[HU_OPERANDS_MAX];
    unsigned kind = calm == 5 ? t_below(random, 5) : calm;
    for (int k = 0; k < c->call.operands; k++) {
      hu_format format = walk_format(c, k), other = walk_format(c, t_below(random, 2) ? WALK_Z : k);
      x[k] = t_next32(random);
      if (kind == 1) x[k] = walk_near_code(random, format, t_random_operand(random, other));
      if (kind >= 2) x[k] = hu_encode64(format, t_mode(HU_RNE), ordinary(random), 0, NULL);
    }
    if (kind == 2 || kind == 3) walk_aim(random, c, x);
    for (int k = 0; k < c->call.operands; k++)
      walk_put(ends->data[k], ends->size[k], (ptrdiff_t)i * c->inc[k], x[k] & masks[k]);
  }
}

static void fill_all(const walk_case *c, const walk_ends *ends) {
  uint32_t width = hu_number_limits_of(c->type[0].number).width, mask = ((uint32_t)1 << width) - 1;
  for (size_t i = 0; i < c->n; i++) {
    uint32_t code = c->operands == WALK_ALL ? (uint32_t)i * 40503u & mask : (uint32_t)i & mask;
    walk_put(ends->data[0], ends->size[0], (ptrdiff_t)i, code);
    if (c->operands == WALK_PAIRS) walk_put(ends->data[1], ends->size[1], (ptrdiff_t)i, i >> width);
  }
}

void walk_fill(const walk_case *c, const walk_ends *ends, uint64_t seed) {
  t_random random = t_random_of(seed + c->number * 64 + (uint64_t)c->call.op);
  if (c->operands == WALK_ALL || c->operands == WALK_PAIRS) {
    fill_all(c, ends);
  } else if (c->operands == WALK_NEAR) {
    fill_near(c, &random, ends);
  } else if (c->call.from != WALK_CODES) {
    fill_values(c, &random, ends);
  } else if (c->call.systems) {
    fill_numbers(c, &random, ends);
  } else {
    fill_codes(c, &random, ends);
  }
}
