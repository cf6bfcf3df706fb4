/* SPDX-License-Identifier: MIT */
/* The operations of wide.h in compiler vectors of W binary64 lanes (2, 4, 8), with correctly rounded roots where the
 * level has them; compiled once a level.
 *
 * Why the results are right. Operands have 24 digits and exponents from -149 to 127, so nothing here meets the ends of
 * binary64's range.
 *   mul    48 digits: exact.
 *   add    s = a + b rounded to even, e its error, exact by Knuth's two-sum. If e is not 0, the exact sum lies between
 *          s and the neighbour on e's side; whichever of the two is odd is s + e rounded to odd (Boldo and Melquiond
 *          2008).
 *   fma    the product is exact, then as add.
 *   div    q = a / b, of which the first 29 digits t are kept. t b is exact (29 + 24 digits), and so is r = a - t b,
 *          for t b lies within a factor of 2 of a (Sterbenz). r = 0: a / b = t. Else a / b lies strictly between t and
 *          the next number of 29 digits on r's side, and so does the pattern beside t's, which is odd.
 *   sqrt   the same with t the first 26 digits of the root and r = x - t t.
 *   Then to binary32: f is the lane to nearest, and the two neighbours of the lane are f and the number beside it
 *          on the lane's side, whose pattern is f's or one less; what is inexact gets the odd one. */
#include <string.h>

#include "emu/arith/wide.h"
#include "emu/simd/lanes.h"

#if defined(__GNUC__) || defined(__clang__)

#define W (HU_LEVEL_BYTES / 8)

typedef double wide_d __attribute__((vector_size(8 * W)));
typedef uint64_t wide_u __attribute__((vector_size(8 * W)));
typedef float wide_f __attribute__((vector_size(4 * W)));
typedef uint32_t wide_h __attribute__((vector_size(4 * W)));
typedef int64_t wide_i __attribute__((vector_size(8 * W)));
typedef int32_t wide_k __attribute__((vector_size(4 * W)));

#define WIDE_FN static inline __attribute__((always_inline))
#define WIDE_SIGN ((uint64_t)1 << 63)

WIDE_FN wide_d wide_load(const uint32_t *x, uint32_t flip, wide_u *special) {
  wide_h u;
  wide_f f;
  memcpy(&u, x, sizeof u);
  u ^= flip;
  wide_k beyond = (wide_k)((u & 0x7FFFFFFF) >= 0x7F800000);
  *special |= (wide_u) __builtin_convertvector(beyond, wide_i);
  memcpy(&f, &u, sizeof f);
  return __builtin_convertvector(f, wide_d);
}

WIDE_FN void wide_store(uint32_t *z, uint32_t *left, wide_u pattern, wide_u special, wide_u *any) {
  special |= (wide_u)((pattern & ~WIDE_SIGN) >= (uint64_t)(1023 + 127) << 52);
  pattern &= ~special;
  *any |= special;
  wide_d v = (wide_d)pattern;
  wide_f f = __builtin_convertvector(v, wide_f);
  wide_d back = __builtin_convertvector(f, wide_d);
  /* 1: f is not exact; 2 more: it lies beyond v. */
  wide_u beyond = (wide_u)(((wide_u)back & ~WIDE_SIGN) > (pattern & ~WIDE_SIGN));
  wide_u how = ((wide_u)(back != v) & 1) + (beyond & 2);
  wide_h k = __builtin_convertvector(how, wide_h), out = __builtin_convertvector(special, wide_h);
  wide_h u = ((wide_h)f - (k >> 1)) | (k & 1);
  memcpy(z, &u, sizeof u);
  memcpy(left, &out, sizeof out);
}

WIDE_FN int wide_any(wide_u any) {
  uint64_t sum = 0;
  for (int i = 0; i < W; i++) sum |= any[i];
  return sum != 0;
}

/* t with, where r is not 0, the pattern's neighbour: away from zero where the sign of r is that of `from`. */
WIDE_FN wide_u wide_beside(wide_u t, wide_d r, wide_d from) {
  wide_u there = (wide_u)(r != 0), toward = (wide_u)((((wide_u)r ^ (wide_u)from) & WIDE_SIGN) != 0);
  return t + (there & (toward | 1));
}

WIDE_FN wide_u wide_sum(wide_d a, wide_d b, uint32_t down) {
  wide_d s = a + b, t = s - a, e = (a - (s - t)) + (b - t);
  wide_u even = (wide_u)(((wide_u)s & 1) == 0);
  wide_u z = ((wide_u)s & ~even) | (wide_beside((wide_u)s, e, s) & even);
  if (down) z |= (wide_u)(s == 0) & ((wide_u)a | (wide_u)b) & WIDE_SIGN;
  return z;
}

WIDE_FN int wide_add_or_sub(size_t n, uint32_t *z, uint32_t *left, const uint32_t *a, const uint32_t *b, uint32_t flip,
                            uint32_t down) {
  wide_u any = {0};
  for (size_t i = 0; i < n; i += W) {
    wide_u special = {0};
    wide_d x = wide_load(a + i, 0, &special), y = wide_load(b + i, flip, &special);
    wide_store(z + i, left + i, wide_sum(x, y, down), special, &any);
  }
  return wide_any(any);
}

static int wide_add(size_t n, uint32_t *z, uint32_t *left, const uint32_t *a, const uint32_t *b, uint32_t down) {
  return down ? wide_add_or_sub(n, z, left, a, b, 0, 1) : wide_add_or_sub(n, z, left, a, b, 0, 0);
}

static int wide_sub(size_t n, uint32_t *z, uint32_t *left, const uint32_t *a, const uint32_t *b, uint32_t down) {
  return down ? wide_add_or_sub(n, z, left, a, b, 0x80000000u, 1) : wide_add_or_sub(n, z, left, a, b, 0x80000000u, 0);
}

static int wide_times(size_t n, uint32_t *z, uint32_t *left, const uint32_t *a, const uint32_t *b) {
  wide_u any = {0};
  for (size_t i = 0; i < n; i += W) {
    wide_u special = {0};
    wide_d x = wide_load(a + i, 0, &special), y = wide_load(b + i, 0, &special);
    wide_store(z + i, left + i, (wide_u)(x * y), special, &any);
  }
  return wide_any(any);
}

WIDE_FN int wide_fma_to(size_t n, uint32_t *z, uint32_t *left, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                        uint32_t down) {
  wide_u any = {0};
  for (size_t i = 0; i < n; i += W) {
    wide_u special = {0};
    wide_d x = wide_load(a + i, 0, &special), y = wide_load(b + i, 0, &special), w = wide_load(c + i, 0, &special);
    wide_store(z + i, left + i, wide_sum(x * y, w, down), special, &any);
  }
  return wide_any(any);
}

static int wide_fma(size_t n, uint32_t *z, uint32_t *left, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                    uint32_t down) {
  return down ? wide_fma_to(n, z, left, a, b, c, 1) : wide_fma_to(n, z, left, a, b, c, 0);
}

static int wide_div(size_t n, uint32_t *z, uint32_t *left, const uint32_t *a, const uint32_t *b) {
  wide_u any = {0};
  for (size_t i = 0; i < n; i += W) {
    wide_u special = {0};
    wide_d x = wide_load(a + i, 0, &special), y = wide_load(b + i, 0, &special);
    special |= (wide_u)(y == 0);
    wide_u t = (wide_u)(x / y) & ~(((uint64_t)1 << 24) - 1);
    wide_d r = x - (wide_d)t * y;
    wide_store(z + i, left + i, wide_beside(t, r, x), special, &any);
  }
  return wide_any(any);
}

#ifdef HU_SQRT64
static int wide_root(size_t n, uint32_t *z, uint32_t *left, const uint32_t *a) {
  wide_u any = {0};
  for (size_t i = 0; i < n; i += W) {
    wide_u special = {0};
    wide_d x = wide_load(a + i, 0, &special);
    special |= (wide_u)(x < 0);
    wide_u t = (wide_u)HU_SQRT64(x) & ~(((uint64_t)1 << 27) - 1);
    wide_d r = x - (wide_d)t * (wide_d)t;
    wide_store(z + i, left + i, wide_beside(t, r, x), special, &any);
  }
  return wide_any(any);
}
#else
#define wide_root NULL
#endif

const hu_wide_arith HU_OF_LEVEL(hu_wide) = {wide_add, wide_sub, wide_times, wide_div, wide_root, wide_fma};

#endif
