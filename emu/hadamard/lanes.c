/* SPDX-License-Identifier: MIT */
/* The transform in vectors of HU_LEVEL_BYTES; compiled once a level.
 *
 * u[i] - u[i+h] is u[i] + -u[i+h], and sums do not depend on the order of two terms: a step inside a vector, of
 * distance h, is one exchange of lanes i and i + h, one inversion of the upper lanes' signs and one addition, the
 * same IEEE operations as those of docs/hadamard.md except for NaN, which all become one at the end. */
#include <string.h>

#include "emu/core/port.h"
#include "emu/hadamard/lanes.h"
#include "emu/simd/of_level.h"

#if HU_X86
#include <emmintrin.h>
#endif

#if defined(__GNUC__) || defined(__clang__)

enum { LANES = HU_LEVEL_BYTES / 4, MOST = 128, VECTORS = MOST / LANES, PANEL = HU_HADAMARD_PANEL };
enum { APART = 16 }; /* between rows of a panel: a power of two apart, they would contend for the same cache lines */
typedef int32_t vints __attribute__((vector_size(HU_LEVEL_BYTES)));
typedef float vfloats __attribute__((vector_size(HU_LEVEL_BYTES)));

#define FOUR(what, h, i) what(h, i), what(h, i + 1), what(h, i + 2), what(h, i + 3)
#if HU_LEVEL_BYTES == 16
#define ALL(what, h) FOUR(what, h, 0)
#elif HU_LEVEL_BYTES == 32
#define ALL(what, h) FOUR(what, h, 0), FOUR(what, h, 4)
#else
#define ALL(what, h) FOUR(what, h, 0), FOUR(what, h, 4), FOUR(what, h, 8), FOUR(what, h, 12)
#endif
#define OTHER(h, i) ((i) ^ (h))
#define UPPER(h, i) ((i) & (h) ? INT32_MIN : 0)
#define BIT(h, i) (1 << (i))
#if defined(__clang__)
#define UNROLL /* clang unrolls by itself where it pays, and warns about an explicit request */
#define EXCHANGED(v, h) __builtin_shufflevector(v, v, ALL(OTHER, h))
#else
#define UNROLL HU_UNROLL
#define EXCHANGED(v, h) __builtin_shuffle(v, (vints){ALL(OTHER, h)})
#endif
#define WITHIN(v, h) ((vfloats)((vints)(v) ^ (vints){ALL(UPPER, h)}) + EXCHANGED(v, h))

static inline vfloats load(const float *x) {
  vfloats vector;
  memcpy(&vector, x, sizeof vector);
  return vector;
}
static inline void store(float *z, vfloats vector) { memcpy(z, &vector, sizeof vector); }

/* Stores around the caches, z aligned to 16 bytes. */
HU_FN void stream(float *z, vfloats vector) {
#if HU_X86
  for (size_t k = 0; k < LANES / 4; k++) {
    __m128i part;
    memcpy(&part, (const char *)&vector + 16 * k, sizeof part);
    _mm_stream_si128((__m128i *)(void *)(z + 4 * k), part);
  }
#else
  store(z, vector);
#endif
}
static inline int streams(const hu_hadamard_piece *piece, const float *z) {
  return piece->bypass && (uintptr_t)z % 16 == 0;
}
static inline void streamed(const hu_hadamard_piece *piece) {
#if HU_X86
  if (piece->bypass) _mm_sfence();
#endif
  (void)piece;
}

HU_FN vfloats one_nan(vfloats vector) {
  vints nan = vector != vector;
  return (vfloats)(((vints)vector & ~nan) | (nan & 0x7FC00000));
}

/* Returns the sign bits of LANES elements from element i on. */
HU_FN vints signs_at(const hu_hadamard_piece *piece, size_t i) {
  int32_t word = (int32_t)(piece->signs[i / 32 & piece->period] >> (i % 32));
  vints bit = {ALL(BIT, 0)};
  return ((bit & word) != 0) & INT32_MIN;
}

/* The step over a distance of so many vectors; distance and count are constants. */
HU_FN void step(vfloats *block, size_t count, size_t distance) {
  if (distance >= count) return;
  UNROLL
  for (size_t i = 0; i < count; i++) {
    if (i & distance) continue;
    vfloats a = block[i], b = block[i + distance];
    block[i] = a + b;
    block[i + distance] = a - b;
  }
}

HU_FN void across(vfloats *block, size_t count) {
  step(block, count, 1);
  step(block, count, 2);
  step(block, count, 4);
  step(block, count, 8);
  step(block, count, 16);
  step(block, count, 32);
  step(block, count, 64);
}

HU_FN void row_block(const hu_hadamard_piece *piece, size_t n, uint32_t inverse, int bypass, size_t at, float *z,
                     const float *x) {
  vfloats block[VECTORS];
  UNROLL
  for (size_t i = 0; i < n / LANES; i++) {
    vfloats vector = load(x + i * LANES);
    if (!inverse) vector = (vfloats)((vints)vector ^ signs_at(piece, at + i * LANES));
    vector = WITHIN(vector, 1);
    vector = WITHIN(vector, 2);
#if HU_LEVEL_BYTES > 16
    vector = WITHIN(vector, 4);
#endif
#if HU_LEVEL_BYTES > 32
    vector = WITHIN(vector, 8);
#endif
    block[i] = vector;
  }
  across(block, n / LANES);
  UNROLL
  for (size_t i = 0; i < n / LANES; i++) {
    vfloats vector = block[i] * piece->factor;
    if (inverse) vector = (vfloats)((vints)vector ^ signs_at(piece, at + i * LANES));
    if (bypass)
      stream(z + i * LANES, one_nan(vector));
    else
      store(z + i * LANES, one_nan(vector));
  }
}

HU_FN void rows_of(const hu_hadamard_piece *piece, size_t n, uint32_t inverse, size_t count, float *z, const float *x) {
  if (streams(piece, z)) {
    for (size_t i = 0; i < count; i += n) row_block(piece, n, inverse, 1, i, z + i, x + i);
    streamed(piece);
  } else {
    for (size_t i = 0; i < count; i += n) row_block(piece, n, inverse, 0, i, z + i, x + i);
  }
}

/* Has the sizes as constants, so that blocks live in registers. */
static HU_NOINLINE void along_rows(const hu_hadamard_piece *piece, size_t count, float *z, const float *x) {
  switch (piece->n * 2 + piece->inverse) {
    case 32: rows_of(piece, 16, 0, count, z, x); break;
    case 33: rows_of(piece, 16, 1, count, z, x); break;
    case 64: rows_of(piece, 32, 0, count, z, x); break;
    case 65: rows_of(piece, 32, 1, count, z, x); break;
    case 128: rows_of(piece, 64, 0, count, z, x); break;
    case 129: rows_of(piece, 64, 1, count, z, x); break;
    case 256: rows_of(piece, 128, 0, count, z, x); break;
    default: rows_of(piece, 128, 1, count, z, x); break;
  }
}

/* ---- columns: a panel in a buffer, rows of whole vectors, W of its columns at a time ---- */

/* What becomes of row i before the sums, and after them: the inverse's signs are the factors'. */
typedef struct row_signs {
  int32_t before[MOST];
  float after[MOST];
} row_signs;

static void find_signs(const hu_hadamard_piece *piece, row_signs *signs) {
  for (size_t i = 0; i < piece->n; i++) {
    uint32_t bit = piece->signs[i / 32 & piece->period] >> i % 32 & 1;
    signs->before[i] = bit && !piece->inverse ? INT32_MIN : 0;
    signs->after[i] = bit && piece->inverse ? -piece->factor : piece->factor;
  }
}

HU_FN void column_block(size_t n, const row_signs *signs, size_t pitch, float *panel) {
  vfloats block[MOST];
  for (size_t i = 0; i < n; i++) block[i] = (vfloats)((vints)load(panel + i * pitch) ^ signs->before[i]);
  across(block, n);
  for (size_t i = 0; i < n; i++) store(panel + i * pitch, one_nan(block[i] * signs->after[i]));
}

static HU_NOINLINE void columns_of(uint32_t n, const row_signs *signs, size_t wide, size_t pitch, float *panel) {
  for (size_t j = 0; j < wide; j += LANES) {
    switch (n) {
      case 16: column_block(16, signs, pitch, panel + j); break;
      case 32: column_block(32, signs, pitch, panel + j); break;
      case 64: column_block(64, signs, pitch, panel + j); break;
      default: column_block(128, signs, pitch, panel + j); break;
    }
  }
}

static void put_row(const hu_hadamard_piece *piece, size_t n, float *z, const float *row) {
  size_t j = 0;
  for (int bypass = streams(piece, z); bypass && j + LANES <= n; j += LANES) stream(z + j, load(row + j));
  memcpy(z + j, row + j, (n - j) * sizeof *z);
}

static HU_NOINLINE void along_columns(const hu_hadamard_piece *piece, size_t cols, float *z, size_t ldz, const float *x,
                                      size_t ldx) {
  float panel[PANEL + MOST * APART];
  row_signs signs;
  size_t wide = (cols + LANES - 1) / LANES * LANES, pitch = wide + APART;
  find_signs(piece, &signs);
  for (size_t i = 0; i < piece->n; i++) {
    memcpy(panel + i * pitch, x + i * ldx, cols * sizeof *x);
    memset(panel + i * pitch + cols, 0, (wide - cols) * sizeof *panel);
  }
  columns_of(piece->n, &signs, wide, pitch, panel);
  for (size_t i = 0; i < piece->n; i++) put_row(piece, cols, z + i * ldz, panel + i * pitch);
  streamed(piece);
}

const hu_hadamard_lanes HU_OF_LEVEL(hu_hadamard_lanes) = {along_rows, along_columns};

#endif
