/* SPDX-License-Identifier: MIT */
/* The transform in vectors of HU_LEVEL_BYTES; compiled once a level.
 *
 * u[i] - u[i+h] is u[i] + -u[i+h], and sums do not depend on the order of two terms: within a vector a step of distance
 * h is therefore one exchange of lanes i and i + h, one inversion of the upper lanes' signs and one addition, the same
 * IEEE operations as those of docs/hadamard.md but for the sign and payload of NaN, which all become one at the end. */
#include <string.h>

#include "emu/core/port.h"
#include "emu/hadamard/lanes.h"
#include "emu/simd/of_level.h"

#if HU_X86
#include <emmintrin.h>
#endif

#if defined(__GNUC__) || defined(__clang__)

enum { W = HU_LEVEL_BYTES / 4, MOST = 128, VECTORS = MOST / W, PANEL = HU_HADAMARD_PANEL };
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
#define UNROLL /* it sees by itself what is worth it, and warns where it is told */
#define EXCHANGED(v, h) __builtin_shufflevector(v, v, ALL(OTHER, h))
#else
#define UNROLL HU_UNROLL
#define EXCHANGED(v, h) __builtin_shuffle(v, (vints){ALL(OTHER, h)})
#endif
#define WITHIN(v, h) ((vfloats)((vints)(v) ^ (vints){ALL(UPPER, h)}) + EXCHANGED(v, h))

static inline vfloats load(const float *x) {
  vfloats v;
  memcpy(&v, x, sizeof v);
  return v;
}
static inline void store(float *z, vfloats v) { memcpy(z, &v, sizeof v); }

/* Around the caches, z aligned to 16 bytes. */
HU_FN void stream(float *z, vfloats v) {
#if HU_X86
  for (size_t k = 0; k < W / 4; k++) {
    __m128i part;
    memcpy(&part, (const char *)&v + 16 * k, sizeof part);
    _mm_stream_si128((__m128i *)(void *)(z + 4 * k), part);
  }
#else
  store(z, v);
#endif
}
static inline int streams(const hu_hadamard_piece *p, const float *z) { return p->bypass && (uintptr_t)z % 16 == 0; }
static inline void streamed(const hu_hadamard_piece *p) {
#if HU_X86
  if (p->bypass) _mm_sfence();
#endif
  (void)p;
}

HU_FN vfloats one_nan(vfloats v) {
  vints nan = v != v;
  return (vfloats)(((vints)v & ~nan) | (nan & 0x7FC00000));
}

/* The sign bits of the W elements from element i on. */
HU_FN vints signs_at(const hu_hadamard_piece *p, size_t i) {
  int32_t word = (int32_t)(p->signs[i / 32 & p->period] >> (i % 32));
  vints bit = {ALL(BIT, 0)};
  return ((bit & word) != 0) & INT32_MIN;
}

/* The step whose distance is h vectors; h and count are constants. */
HU_FN void step(vfloats *u, size_t count, size_t h) {
  if (h >= count) return;
  UNROLL
  for (size_t i = 0; i < count; i++) {
    if (i & h) continue;
    vfloats a = u[i], b = u[i + h];
    u[i] = a + b;
    u[i + h] = a - b;
  }
}

HU_FN void across(vfloats *u, size_t count) {
  step(u, count, 1);
  step(u, count, 2);
  step(u, count, 4);
  step(u, count, 8);
  step(u, count, 16);
  step(u, count, 32);
  step(u, count, 64);
}

HU_FN void row_block(const hu_hadamard_piece *p, size_t n, uint32_t inverse, int bypass, size_t at, float *z,
                     const float *x) {
  vfloats u[VECTORS];
  UNROLL
  for (size_t i = 0; i < n / W; i++) {
    vfloats v = load(x + i * W);
    if (!inverse) v = (vfloats)((vints)v ^ signs_at(p, at + i * W));
    v = WITHIN(v, 1);
    v = WITHIN(v, 2);
#if HU_LEVEL_BYTES > 16
    v = WITHIN(v, 4);
#endif
#if HU_LEVEL_BYTES > 32
    v = WITHIN(v, 8);
#endif
    u[i] = v;
  }
  across(u, n / W);
  UNROLL
  for (size_t i = 0; i < n / W; i++) {
    vfloats v = u[i] * p->factor;
    if (inverse) v = (vfloats)((vints)v ^ signs_at(p, at + i * W));
    if (bypass)
      stream(z + i * W, one_nan(v));
    else
      store(z + i * W, one_nan(v));
  }
}

HU_FN void rows_of(const hu_hadamard_piece *p, size_t n, uint32_t inverse, size_t count, float *z, const float *x) {
  if (streams(p, z)) {
    for (size_t i = 0; i < count; i += n) row_block(p, n, inverse, 1, i, z + i, x + i);
    streamed(p);
  } else {
    for (size_t i = 0; i < count; i += n) row_block(p, n, inverse, 0, i, z + i, x + i);
  }
}

/* The sizes as constants, so that blocks live in registers. */
static HU_NOINLINE void along_rows(const hu_hadamard_piece *p, size_t count, float *z, const float *x) {
  switch (p->n * 2 + p->inverse) {
    case 32: rows_of(p, 16, 0, count, z, x); break;
    case 33: rows_of(p, 16, 1, count, z, x); break;
    case 64: rows_of(p, 32, 0, count, z, x); break;
    case 65: rows_of(p, 32, 1, count, z, x); break;
    case 128: rows_of(p, 64, 0, count, z, x); break;
    case 129: rows_of(p, 64, 1, count, z, x); break;
    case 256: rows_of(p, 128, 0, count, z, x); break;
    default: rows_of(p, 128, 1, count, z, x); break;
  }
}

/* ---- columns: a panel in a buffer, rows of whole vectors, W of its columns at a time ---- */

/* What becomes of row i before the sums, and after them: the inverse's signs are the factors'. */
typedef struct row_signs {
  int32_t before[MOST];
  float after[MOST];
} row_signs;

static void find_signs(const hu_hadamard_piece *p, row_signs *s) {
  for (size_t i = 0; i < p->n; i++) {
    uint32_t bit = p->signs[i / 32 & p->period] >> i % 32 & 1;
    s->before[i] = bit && !p->inverse ? INT32_MIN : 0;
    s->after[i] = bit && p->inverse ? -p->factor : p->factor;
  }
}

HU_FN void column_block(size_t n, const row_signs *s, size_t pitch, float *panel) {
  vfloats u[MOST];
  for (size_t i = 0; i < n; i++) u[i] = (vfloats)((vints)load(panel + i * pitch) ^ s->before[i]);
  across(u, n);
  for (size_t i = 0; i < n; i++) store(panel + i * pitch, one_nan(u[i] * s->after[i]));
}

static HU_NOINLINE void columns_of(uint32_t n, const row_signs *s, size_t wide, size_t pitch, float *panel) {
  for (size_t j = 0; j < wide; j += W) {
    switch (n) {
      case 16: column_block(16, s, pitch, panel + j); break;
      case 32: column_block(32, s, pitch, panel + j); break;
      case 64: column_block(64, s, pitch, panel + j); break;
      default: column_block(128, s, pitch, panel + j); break;
    }
  }
}

static void put_row(const hu_hadamard_piece *p, size_t n, float *z, const float *row) {
  size_t j = 0;
  for (int bypass = streams(p, z); bypass && j + W <= n; j += W) stream(z + j, load(row + j));
  memcpy(z + j, row + j, (n - j) * sizeof *z);
}

static HU_NOINLINE void along_columns(const hu_hadamard_piece *p, size_t cols, float *z, size_t ldz, const float *x,
                                      size_t ldx) {
  float panel[PANEL + MOST * APART];
  row_signs s;
  size_t wide = (cols + W - 1) / W * W, pitch = wide + APART;
  find_signs(p, &s);
  for (size_t i = 0; i < p->n; i++) {
    memcpy(panel + i * pitch, x + i * ldx, cols * sizeof *x);
    memset(panel + i * pitch + cols, 0, (wide - cols) * sizeof *panel);
  }
  columns_of(p->n, &s, wide, pitch, panel);
  for (size_t i = 0; i < p->n; i++) put_row(p, cols, z + i * ldz, panel + i * pitch);
  streamed(p);
}

const hu_hadamard_lanes HU_OF_LEVEL(hu_hadamard_lanes) = {along_rows, along_columns};

#endif
