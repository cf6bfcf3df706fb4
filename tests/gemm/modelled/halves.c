/* SPDX-License-Identifier: MIT */
/* tests/gemm/modelled/halves.c - see halves.h. Numbers are integers in units of 2^-48, of which every product and every
 * sum of binary16 is a multiple: they are below 2^81. */
#include "tests/gemm/modelled/halves.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

__extension__ typedef __int128 integer;

static long added, operated;
long model_halves_operated(void) { return __atomic_load_n(&operated, __ATOMIC_RELAXED); }
long model_halves_added(void) { return __atomic_load_n(&added, __ATOMIC_RELAXED); }

static int is_nan(uint16_t x) { return (x & 0x7FFF) > 0x7C00; }
static int is_inf(uint16_t x) { return (x & 0x7FFF) == 0x7C00; }
static int sign_of(uint16_t x) { return x >> 15; }

/* |x| = significand 2^power. */
static integer significand(uint16_t x) { return (x & 0x3FF) | (x & 0x7C00 ? 0x400 : 0); }
static int power(uint16_t x) { return (x >> 10 & 31 ? x >> 10 & 31 : 1) - 25; }

/* One up from the code below? `rest` of `unit` are cut off. */
static int goes_up(int round, int sign, int odd, integer rest, integer unit) {
  switch (round & 3) {
    case _MM_FROUND_TO_NEAREST_INT: return rest * 2 > unit || (rest * 2 == unit && odd);
    case _MM_FROUND_TO_POS_INF: return rest && !sign;
    case _MM_FROUND_TO_NEG_INF: return rest && sign;
    default: return 0;
  }
}

/* The largest number where overflow does not make an infinity. */
static uint16_t overflow(int round, int sign) {
  int to_inf =
      (round & 3) == _MM_FROUND_TO_NEAREST_INT || (round & 3) == (sign ? _MM_FROUND_TO_NEG_INF : _MM_FROUND_TO_POS_INF);
  return to_inf ? 0x7C00 : 0x7BFF;
}

static uint16_t rounded(integer x, int round) {
  int sign = x < 0, top = 0;
  integer size = sign ? -x : x;
  while (size >> (top + 1)) top++;
  int last = top - 48 - 10 > -24 ? top - 48 - 10 : -24; /* the power of the last place */
  integer unit = (integer)1 << (last + 48), kept = size / unit;
  kept += goes_up(round, sign, (int)(kept & 1), size % unit, unit);
  integer code = kept + ((integer)(last + 24) << 10);
  return (uint16_t)((code >= 0x7C00 ? overflow(round, sign) : (uint16_t)code) | sign << 15);
}

static uint16_t fused(uint16_t a, uint16_t b, uint16_t c, int round) {
  int sign = sign_of(a) ^ sign_of(b), infinite = is_inf(a) || is_inf(b);
  if (is_nan(a) || is_nan(b) || is_nan(c)) return 0x7E00;
  if (infinite && ((a & 0x7FFF) == 0 || (b & 0x7FFF) == 0)) return 0x7E00;
  if (infinite && is_inf(c) && sign != sign_of(c)) return 0x7E00;
  if (infinite) return (uint16_t)(0x7C00 | sign << 15);
  if (is_inf(c)) return c;
  integer p = significand(a) * significand(b) << (power(a) + power(b) + 48);
  integer s = significand(c) << (power(c) + 48);
  integer sum = (sign ? -p : p) + (sign_of(c) ? -s : s);
  if (sum) return rounded(sum, round);
  int minus = sign == sign_of(c) ? sign : (round & 3) == _MM_FROUND_TO_NEG_INF;
  return (uint16_t)(minus << 15);
}

/* a + b, or a - b: a fused step whose product, 1 a, is exact. */
static uint16_t sum(uint16_t a, uint16_t b, int minus, int round) {
  return fused(0x3C00, a, (uint16_t)(b ^ minus << 15), round);
}

/* The product with a zero of its own sign behind it: it is that product. */
static uint16_t product(uint16_t a, uint16_t b, int round) {
  return fused(a, b, (uint16_t)((sign_of(a) ^ sign_of(b)) << 15), round);
}

/* |x| in units of 2^-24: every number of binary16 is a multiple of it. */
static integer units(uint16_t x) { return significand(x) << (power(x) + 24); }

/* Quotients and roots are cut behind 2^-47; one unit more stands for the rest. No number of binary16 is closer than
 * 2^-25 to another one, or to a point half way between two. */
static uint16_t quotient(uint16_t a, uint16_t b, int round) {
  int sign = sign_of(a) ^ sign_of(b), a_zero = (a & 0x7FFF) == 0, b_zero = (b & 0x7FFF) == 0;
  if (is_nan(a) || is_nan(b) || (is_inf(a) && is_inf(b)) || (a_zero && b_zero)) return 0x7E00;
  if (is_inf(a) || b_zero) return (uint16_t)(0x7C00 | sign << 15);
  if (is_inf(b) || a_zero) return (uint16_t)(sign << 15);
  integer over = units(a) << 47, q = over / units(b) * 2 + (over % units(b) != 0);
  return rounded(sign ? -q : q, round);
}

static uint16_t root(uint16_t x, int round) {
  if (is_nan(x) || (sign_of(x) && (x & 0x7FFF))) return 0x7E00;
  if ((x & 0x7FFF) == 0 || is_inf(x)) return x;
  integer square = units(x) << 70, z = 0;
  for (int bit = 62; bit >= 0; bit--) {
    integer more = z | (integer)1 << bit;
    if (more * more <= square) z = more;
  }
  return rounded(z * 2 + (z * z != square), round);
}

static uint16_t operation(int op, uint16_t a, uint16_t b, uint16_t c, int round) {
  switch (op) {
    case MODEL_HALF_ADD: return sum(a, b, 0, round);
    case MODEL_HALF_SUB: return sum(a, b, 1, round);
    case MODEL_HALF_MUL: return product(a, b, round);
    case MODEL_HALF_DIV: return quotient(a, b, round);
    case MODEL_HALF_SQRT: return root(a, round);
    default: return fused(a, b, c, round);
  }
}

void model_operate_halves(int op, uint16_t z[32], const uint16_t a[32], const uint16_t b[32], const uint16_t c[32],
                          int round) {
  for (int i = 0; i < 32; i++) z[i] = operation(op, a[i], b[i], c[i], round);
  __atomic_add_fetch(op == MODEL_HALF_FMA ? &added : &operated, 32, __ATOMIC_RELAXED);
}

float model_float_of_half(uint16_t x) {
  if (is_nan(x)) return NAN;
  float size = is_inf(x) ? INFINITY : ldexpf((float)significand(x), power(x));
  return sign_of(x) ? -size : size;
}

uint16_t model_half_of(float x) {
  if (x != x) return 0x7E00;
  uint16_t minus = (uint16_t)(signbit(x) ? 0x8000 : 0);
  if (isinf(x)) return minus | 0x7C00;
  uint16_t z = x == 0 ? 0 : rounded((integer)ldexp(fabs((double)x), 48), _MM_FROUND_TO_NEAREST_INT);
  if (model_float_of_half(z) != fabsf(x)) {
    fprintf(stderr, "%a is no value of binary16\n", (double)x);
    abort();
  }
  return minus | z;
}
