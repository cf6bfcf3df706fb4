/* SPDX-License-Identifier: MIT */
/* train/engine/product_tile.h - products of matrices: a tile of rows x 16 sums in registers, each one chain of fused
 * multiply-adds in increasing k, the model `fp32`. Rows of B lie beside each other in a panel, packed where B is
 * transposed, its last columns do not fill one or enough rows read it, unless a caller has all of B in panels. A is
 * packed in the order of the tiles where many panels meet it. Each block of k but the first continues the sums that Z
 * holds. So neither the height of a tile nor packing changes the order in which a number of Z is summed. */
#ifndef HALFULP_TRAIN_ENGINE_PRODUCT_TILE_H
#define HALFULP_TRAIN_ENGINE_PRODUCT_TILE_H

#include "train/engine/loops.h"

#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__)) || HU_LEVEL_ID == 3
#define HU_HAVE_TILES
#define HU_PRODUCT_LOOP product_part
#define HU_TILE_LOOP tile_rows
#define HU_PACK_LOOP pack_panel
#if HU_LEVEL_ID == 3
#include <arm_neon.h>
#else
#include <immintrin.h>
#endif
#include <string.h>

enum { PANEL = HU_PRODUCT_PANEL, DEEP = HU_PRODUCT_DEEP, BLOCK = HU_PRODUCT_BLOCK, SHALLOW = 64 };

/* A panel's row, and what a tile holds of one. */
#if defined(__AVX512F__)
enum { TALL = 12, TALLEST = 20, GROUP = 4 };
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
enum { TALL = 4, TALLEST = 4, GROUP = 4 };
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
enum { TALL = 6, TALLEST = 6, GROUP = 3 };
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

/* A tile's sums continue from what Z holds, or begin at +0. */
enum { GO_ON = 0, BEGIN = 1 };

/* Where A's numbers are: (i, p) of a tile at a + i down + p along; along 0: as many as the tile has rows. The next
 * tile's are at a + next times its rows. */
typedef struct left {
  const float *a;
  size_t down, along, next;
} left;

/* Adds k products to each sum of `rows` rows of Z, a constant, and 16 columns. Rows of A are reached from every
 * GROUPth one, so that their addresses stay in registers. */
static inline __attribute__((always_inline)) void tile(size_t rows, int how, size_t k, float *z, size_t ldz, left a,
                                                       const float *b, size_t ldb) {
  enum { GROUPS = (TALLEST + GROUP - 1) / GROUP };
  sums s[TALLEST];
  const float *x[GROUPS];
  static const float zeros[PANEL];
  const size_t from[4] = {0, a.down, 2 * a.down, 3 * a.down};
  for (size_t i = 0; i < rows; i++) s[i] = sums_load(how == GO_ON ? z + i * ldz : zeros);
  for (size_t i = 0; i < rows; i += GROUP) x[i / GROUP] = a.a + i * a.down;
  for (size_t p = 0; p < k; p++) {
    const sums row = sums_load(b);
    if (TALLEST > TALL && rows == TALLEST) __builtin_prefetch(b + 24 * ldb);
    for (size_t i = 0; i < rows; i++) s[i] = sums_fma(x[i / GROUP][from[i % GROUP]], row, s[i]);
    for (size_t i = 0; i < rows; i += GROUP) x[i / GROUP] += a.along;
    b += ldb;
  }
  for (size_t i = 0; i < rows; i++) sums_store(z + i * ldz, s[i]);
}

/* Returns the number of rows of the first tile of so many. */
static inline size_t height(size_t rows) {
#if HU_LEVEL_ID == 1
  /* Few rows have too few sums to keep two multipliers busy: the last two tiles share theirs. */
  return rows >= 2 * TALL ? TALL : rows > TALL ? (rows + 1) / 2 : rows;
#else
  if (TALLEST > TALL && rows >= TALLEST && rows < 2 * TALL) return TALLEST; /* so few read B once */
  return rows >= TALL ? TALL : rows >= 4 ? 4 : 1;
#endif
}

/* Sums of the next tile, whose first multiplications wait for them. */
static inline __attribute__((always_inline)) void ask_for(size_t rows, const float *z, size_t ldz) {
  for (size_t i = 0; i < rows; i++) {
    __builtin_prefetch(z + i * ldz, 1);
    __builtin_prefetch(z + i * ldz + PANEL - 1, 1);
  }
}

static inline __attribute__((always_inline)) void tiles_of(int how, size_t rows, size_t k, float *z, size_t ldz, left a,
                                                           const float *b, size_t ldb) {
#define HU_TILE(tall)                        \
  case tall: {                               \
    tile(tall, how, k, z, ldz, own, b, ldb); \
    break;                                   \
  }
  while (rows) {
    const size_t tall = height(rows);
    const left own = {a.a, a.down, a.along ? a.along : tall, a.next};
    if (how == GO_ON) ask_for(rows - tall < tall ? rows - tall : tall, z + tall * ldz, ldz);
    switch (tall) {
#if HU_LEVEL_ID == 1
      HU_TILE(6)
      HU_TILE(5)
      HU_TILE(3)
      HU_TILE(2)
#elif defined(__AVX512F__)
      HU_TILE(20)
      HU_TILE(12)
#endif
      HU_TILE(4)
      HU_TILE(1)
    }
    z += tall * ldz;
    a.a += tall * a.next;
    rows -= tall;
  }
#undef HU_TILE
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
  left from = {a, down, along, down};
  tiles(rows, k, z, ldz, from, b, ldb);
}

/* Tiles that fewer than 16 columns of Z belong to. */
static void narrow_tiles(int how, size_t rows, size_t wide, size_t k, float *z, size_t ldz, left a, const float *b) {
  float buffer[TALLEST * PANEL];
  for (size_t i = 0, n; i < rows; i += n) {
    n = height(rows - i);
    memset(buffer, 0, sizeof buffer);
    for (size_t r = 0; how != BEGIN && r < n; r++) memcpy(buffer + r * PANEL, z + (i + r) * ldz, wide * sizeof *buffer);
    left from = {a.a + i * a.next, a.down, a.along, a.next};
    tiles_that(how, n, k, buffer, PANEL, from, b, PANEL);
    for (size_t r = 0; r < n; r++) memcpy(z + (i + r) * ldz, buffer + r * PANEL, wide * sizeof *buffer);
  }
}

/* Writes columns of 16 rows of x beside each other: a panel of a transposed operand. */
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

/* Packs k rows and `wide` columns of m, from b on. */
static void pack(const hu_matrices *m, size_t k, size_t wide, float *panel, const float *b) {
  if (m->transposed && wide == PANEL) {
    pack_transposed(k, panel, b, m->ld);
    return;
  }
  if (!m->transposed && wide == PANEL) {
    for (size_t p = 0; p < k; p++) sums_store(panel + p * PANEL, sums_load(b + p * m->ld));
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

static void pack_panel(const hu_matrices *b, size_t k, size_t n, size_t j, float *panel) {
  pack(b, k, n - j < PANEL ? n - j : PANEL, panel, b->data + (b->transposed ? j * b->ld : j));
}

/* Packs rows of A, a tile below the other, columns of each one after another. */
static left pack_left(size_t rows, size_t k, float *buffer, left a) {
  left z = {buffer, 1, 0, k};
  for (size_t i = 0, n; i < rows; i += n, buffer += n * k) {
    n = height(rows - i);
    const float *x = a.a + i * a.down;
    for (size_t r = 0; r < n; r++) {
      for (size_t p = 0; p < k; p++) buffer[p * n + r] = x[r * a.down + p * a.along];
    }
  }
  return z;
}

/* From so many rows on a panel is read often enough to be packed; from so many columns on, A. */
enum { PACKED_ROWS = HU_LEVEL_ID == 1 ? 12 : 200, PACKED_COLUMNS = 2000 };

/* k rows of columns j ... j + wide - 1 of B from row `at` on, whose panel is made in `buffer` unless it is there
 * already or few rows of Z read it. */
static const float *panel_of(const hu_products *products, size_t rows, size_t at, size_t k, size_t j, size_t wide,
                             const float *b, float *buffer, size_t *ld) {
  const float *first = products->b.transposed ? b + j * products->b.ld + at : b + at * products->b.ld + j;
  *ld = PANEL;
  if (products->panels) return products->panels + j * products->k + at * PANEL;
  if (products->b.transposed || wide < PANEL || rows >= PACKED_ROWS) {
    pack(&products->b, k, wide, buffer, first);
    return buffer;
  }
  *ld = products->b.ld;
  return first;
}

/* Rows of Z that stay in the second-level cache, columns j0 ... j1 - 1. buffer: A is packed there; NULL: it is not. */
static void block(const hu_products *products, size_t rows, size_t j0, size_t j1, float *z, left from, const float *b,
                  float *buffer) {
  float panel[DEEP * PANEL];
  for (size_t at = 0; at < products->k || at == 0; at += DEEP) {
    size_t k = products->k - at < DEEP ? products->k - at : DEEP;
    int how = at ? GO_ON : BEGIN;
    left part = {from.a + at * from.along, from.down, from.along, from.next};
    if (buffer) part = pack_left(rows, k, buffer, part);
    for (size_t j = j0; j < j1; j += PANEL) {
      size_t wide = j1 - j < PANEL ? j1 - j : PANEL, ld;
      const float *first = panel_of(products, rows, at, k, j, wide, b, panel, &ld);
      if (wide < PANEL) {
        narrow_tiles(how, rows, wide, k, z + j, products->z.ld, part, first);
      } else {
        tiles_that(how, rows, k, z + j, products->z.ld, part, first, ld);
      }
    }
  }
}

static void product_part(const hu_products *products, float *z, const float *a, const float *b, const hu_range *of,
                         float *buffer) {
  left from = {a, products->a.transposed ? 1 : products->a.ld, products->a.transposed ? products->a.ld : 1,
               products->a.transposed ? 1 : products->a.ld};
  const size_t most =
      products->k <= SHALLOW && !products->b.transposed ? TALL : BLOCK; /* Z alone is large: its rows as they lie */
  if (of->j1 - of->j0 < PACKED_COLUMNS) buffer = NULL;
  for (size_t i = of->i0, rows; i < of->i1; i += rows) {
    rows = of->i1 - i < most ? of->i1 - i : most;
    left part = {from.a + i * from.down, from.down, from.along, from.next};
    block(products, rows, of->j0, of->j1, z + i * products->z.ld, part, b, rows > TALLEST ? buffer : NULL);
  }
}

#else
#define HU_PRODUCT_LOOP NULL
#define HU_TILE_LOOP NULL
#define HU_PACK_LOOP NULL
#endif
#endif
