/* SPDX-License-Identifier: MIT */
/* train/engine/product_tile.h - products of small matrices, and of very long ones with few columns: a tile of rows x 16
 * sums in registers, each one chain of fused multiply-adds, the model `fp32`. Rows of B lie beside each other in a
 * panel, packed where B is transposed, its last columns do not fill one or many rows read it. Each block of k but the
 * first continues the sums that Z holds. */
#ifndef HALFULP_TRAIN_ENGINE_PRODUCT_TILE_H
#define HALFULP_TRAIN_ENGINE_PRODUCT_TILE_H

#include "train/engine/loops.h"

#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__)) || HU_LEVEL_ID == 3
#define HU_HAVE_TILES
#define HU_PRODUCT_LOOP product_part
#define HU_TILE_LOOP tile_rows
#if HU_LEVEL_ID == 3
#include <arm_neon.h>
#else
#include <immintrin.h>
#endif
#include <string.h>

enum { PANEL = 16, DEEP = 256, BLOCK = 240, SHALLOW = 64 };

/* A panel's row, and what a tile holds of one. */
#if defined(__AVX512F__)
enum { FOURS = 3, FOURS_MOST = 5 };
typedef struct sums {
  __m512 v;
} sums;
static inline __attribute__((always_inline)) sums sums_load(const float *x) {
  sums s = {_mm512_loadu_ps(x)};
  return s;
}
static inline __attribute__((always_inline)) void sums_store(float *z, sums s) { _mm512_storeu_ps(z, s.v); }
static inline __attribute__((always_inline)) sums sums_fma(float a, sums b, sums c) {
  sums s = {_mm512_fmadd_ps(_mm512_set1_ps(a), b.v, c.v)};
  return s;
}
static inline __attribute__((always_inline)) sums sums_of_products(sums a, sums b, sums c) {
  sums s = {_mm512_fmadd_ps(a.v, b.v, c.v)};
  return s;
}
static inline __attribute__((always_inline)) sums sums_add(sums a, sums b) {
  sums s = {_mm512_add_ps(a.v, b.v)};
  return s;
}
#elif HU_LEVEL_ID == 3
enum { FOURS = 1, FOURS_MOST = 1 };
typedef struct sums {
  float32x4_t v[4];
} sums;
static inline __attribute__((always_inline)) sums sums_load(const float *x) {
  sums s = {{vld1q_f32(x), vld1q_f32(x + 4), vld1q_f32(x + 8), vld1q_f32(x + 12)}};
  return s;
}
static inline __attribute__((always_inline)) void sums_store(float *z, sums s) {
  for (size_t i = 0; i < 4; i++) vst1q_f32(z + 4 * i, s.v[i]);
}
static inline __attribute__((always_inline)) sums sums_fma(float a, sums b, sums c) {
  for (size_t i = 0; i < 4; i++) c.v[i] = vfmaq_n_f32(c.v[i], b.v[i], a);
  return c;
}
static inline __attribute__((always_inline)) sums sums_of_products(sums a, sums b, sums c) {
  for (size_t i = 0; i < 4; i++) c.v[i] = vfmaq_f32(c.v[i], a.v[i], b.v[i]);
  return c;
}
static inline __attribute__((always_inline)) sums sums_add(sums a, sums b) {
  for (size_t i = 0; i < 4; i++) a.v[i] = vaddq_f32(a.v[i], b.v[i]);
  return a;
}
#else
enum { FOURS = 1, FOURS_MOST = 1 };
typedef struct sums {
  __m256 v, w;
} sums;
static inline __attribute__((always_inline)) sums sums_load(const float *x) {
  sums s = {_mm256_loadu_ps(x), _mm256_loadu_ps(x + 8)};
  return s;
}
static inline __attribute__((always_inline)) void sums_store(float *z, sums s) {
  _mm256_storeu_ps(z, s.v);
  _mm256_storeu_ps(z + 8, s.w);
}
static inline __attribute__((always_inline)) sums sums_fma(float a, sums b, sums c) {
  __m256 x = _mm256_set1_ps(a);
  sums s = {_mm256_fmadd_ps(x, b.v, c.v), _mm256_fmadd_ps(x, b.w, c.w)};
  return s;
}
static inline __attribute__((always_inline)) sums sums_of_products(sums a, sums b, sums c) {
  sums s = {_mm256_fmadd_ps(a.v, b.v, c.v), _mm256_fmadd_ps(a.w, b.w, c.w)};
  return s;
}
static inline __attribute__((always_inline)) sums sums_add(sums a, sums b) {
  sums s = {_mm256_add_ps(a.v, b.v), _mm256_add_ps(a.w, b.w)};
  return s;
}
#endif

enum { TALL = 4 * FOURS };

/* A tile's sums go on from what Z holds, or begin at +0. */
enum { GO_ON = 0, BEGIN = 1 };

/* Where A's numbers are: (i, p) at a + i down + p along. */
typedef struct left {
  const float *a;
  size_t down, along;
} left;

/* Adds k products to each sum of four times `fours` rows of Z, 16 columns. Rows of A are reached from every fourth one,
 * so that their addresses stay in registers. */
static inline __attribute__((always_inline)) void tile(size_t fours, int how, size_t k, float *z, size_t ldz, left a,
                                                       const float *b, size_t ldb) {
  sums s[4 * FOURS_MOST];
  const float *x[FOURS_MOST];
  static const float zeros[PANEL];
  const size_t down = a.down, thrice = 3 * a.down;
  for (size_t i = 0; i < 4 * fours; i++) s[i] = sums_load(how == GO_ON ? z + i * ldz : zeros);
  for (size_t i = 0; i < fours; i++) x[i] = a.a + 4 * i * down;
  for (size_t p = 0; p < k; p++) {
    const sums row = sums_load(b);
    if (fours == FOURS_MOST && FOURS_MOST > FOURS) __builtin_prefetch(b + 24 * ldb);
    for (size_t i = 0; i < fours; i++) {
      s[4 * i] = sums_fma(x[i][0], row, s[4 * i]);
      s[4 * i + 1] = sums_fma(x[i][down], row, s[4 * i + 1]);
      s[4 * i + 2] = sums_fma(x[i][2 * down], row, s[4 * i + 2]);
      s[4 * i + 3] = sums_fma(x[i][thrice], row, s[4 * i + 3]);
      x[i] += a.along;
    }
    b += ldb;
  }
  for (size_t i = 0; i < 4 * fours; i++) sums_store(z + i * ldz, s[i]);
}

static inline __attribute__((always_inline)) void last_row(int how, size_t k, float *z, left a, const float *b,
                                                           size_t ldb) {
  static const float zeros[PANEL];
  sums s = sums_load(how == GO_ON ? z : zeros);
  for (size_t p = 0; p < k; p++) s = sums_fma(a.a[p * a.along], sums_load(b + p * ldb), s);
  sums_store(z, s);
}

static inline __attribute__((always_inline)) void tiles_of(int how, size_t rows, size_t k, float *z, size_t ldz, left a,
                                                           const float *b, size_t ldb) {
#define HU_TILE(fours)                      \
  {                                         \
    tile(fours, how, k, z, ldz, a, b, ldb); \
    z += 4 * (fours)*ldz;                   \
    a.a += 4 * (fours)*a.down;              \
    rows -= 4 * (fours);                    \
  }
  /* So few rows read B once. */
  if (FOURS_MOST > FOURS && rows >= 4 * FOURS_MOST && rows < 2 * TALL) HU_TILE(FOURS_MOST)
  while (rows >= TALL) HU_TILE(FOURS)
  while (rows >= 4) HU_TILE(1)
#undef HU_TILE
  for (; rows; rows--) {
    last_row(how, k, z, a, b, ldb);
    z += ldz;
    a.a += a.down;
  }
}

static HU_NOINLINE void tiles(size_t rows, size_t k, float *z, size_t ldz, left a, const float *b, size_t ldb) {
  tiles_of(GO_ON, rows, k, z, ldz, a, b, ldb);
}

static HU_NOINLINE void tiles_that(int how, size_t rows, size_t k, float *z, size_t ldz, left a, const float *b,
                                   size_t ldb) {
  if (how == GO_ON) {
    tiles(rows, k, z, ldz, a, b, ldb);
  } else {
    tiles_of(BEGIN, rows, k, z, ldz, a, b, ldb);
  }
}

static void tile_rows(size_t rows, size_t k, float *z, size_t ldz, const float *a, size_t down, size_t along,
                      const float *b, size_t ldb) {
  left from = {a, down, along};
  tiles(rows, k, z, ldz, from, b, ldb);
}

/* Tiles that fewer than 16 columns of Z belong to. */
static void narrow_tiles(int how, size_t rows, size_t wide, size_t k, float *z, size_t ldz, left a, const float *b) {
  float room[TALL * PANEL];
  for (size_t i = 0; i < rows; i += TALL) {
    size_t n = rows - i < TALL ? rows - i : TALL;
    memset(room, 0, sizeof room);
    for (size_t r = 0; how != BEGIN && r < n; r++) memcpy(room + r * PANEL, z + (i + r) * ldz, wide * sizeof *room);
    left from = {a.a + i * a.down, a.down, a.along};
    tiles_that(how, n, k, room, PANEL, from, b, PANEL);
    for (size_t r = 0; r < n; r++) memcpy(z + (i + r) * ldz, room + r * PANEL, wide * sizeof *room);
  }
}

/* Columns of 16 rows of x beside each other: a panel of a transposed operand. */
static void pack_transposed(size_t k, float *panel, const float *x, size_t ldx) {
  size_t p = 0;
#if HU_LEVEL_ID != 3
  for (; p + 4 <= k; p += 4) {
    for (size_t j = 0; j < PANEL; j += 4) {
      const float *from = x + j * ldx + p;
      __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + ldx);
      __m128 c = _mm_loadu_ps(from + 2 * ldx), d = _mm_loadu_ps(from + 3 * ldx);
      _MM_TRANSPOSE4_PS(a, b, c, d);
      _mm_storeu_ps(panel + p * PANEL + j, a);
      _mm_storeu_ps(panel + (p + 1) * PANEL + j, b);
      _mm_storeu_ps(panel + (p + 2) * PANEL + j, c);
      _mm_storeu_ps(panel + (p + 3) * PANEL + j, d);
    }
  }
#endif
  for (; p < k; p++) {
    for (size_t j = 0; j < PANEL; j++) panel[p * PANEL + j] = x[j * ldx + p];
  }
}

static void pack(const hu_matrices *m, size_t k, size_t wide, float *panel, const float *b) {
  if (m->transposed && wide == PANEL) {
    pack_transposed(k, panel, b, m->ld);
    return;
  }
  if (wide < PANEL) memset(panel, 0, k * PANEL * sizeof *panel);
  if (!m->transposed) {
    for (size_t p = 0; p < k; p++) memcpy(panel + p * PANEL, b + p * m->ld, wide * sizeof *panel);
    return;
  }
  for (size_t j = 0; j < wide; j++) {
    for (size_t p = 0; p < k; p++) panel[p * PANEL + j] = b[j * m->ld + p];
  }
}

enum { PACKED_ROWS = 200 }; /* from so many on a panel is read often enough to lie side by side */

/* Rows of Z that stay in the second-level cache, columns j0 ... j1 - 1. */
static void block(const hu_products *p, size_t rows, size_t j0, size_t j1, float *z, left from, const float *b) {
  float panel[DEEP * PANEL];
  for (size_t at = 0; at < p->k || at == 0; at += DEEP) {
    size_t k = p->k - at < DEEP ? p->k - at : DEEP;
    int how = at ? GO_ON : BEGIN;
    for (size_t j = j0; j < j1; j += PANEL) {
      size_t wide = j1 - j < PANEL ? j1 - j : PANEL;
      const float *first = p->b.transposed ? b + j * p->b.ld + at : b + at * p->b.ld + j;
      int packed = p->b.transposed || wide < PANEL || rows >= PACKED_ROWS;
      if (packed) pack(&p->b, k, wide, panel, first);
      left part = {from.a + at * from.along, from.down, from.along};
      if (wide < PANEL) {
        narrow_tiles(how, rows, wide, k, z + j, p->z.ld, part, panel);
      } else {
        tiles_that(how, rows, k, z + j, p->z.ld, part, packed ? panel : first, packed ? PANEL : p->b.ld);
      }
    }
  }
}

static void product_part(const hu_products *p, float *z, const float *a, const float *b, const hu_range *of) {
  left from = {a, p->a.transposed ? 1 : p->a.ld, p->a.transposed ? p->a.ld : 1};
  const size_t most = p->k <= SHALLOW && !p->b.transposed ? TALL : BLOCK; /* Z alone is large: its rows as they lie */
  for (size_t i = of->i0, rows; i < of->i1; i += rows) {
    rows = of->i1 - i < most ? of->i1 - i : most;
    left part = {from.a + i * from.down, from.down, from.along};
    block(p, rows, of->j0, of->j1, z + i * p->z.ld, part, b);
  }
}

#else
#define HU_PRODUCT_LOOP NULL
#define HU_TILE_LOOP NULL
#endif
#endif
