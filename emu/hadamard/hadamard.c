/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/hadamard.h: check everything, cut into pieces, run them by lanes or by the core. */
#include "emu/base/exec.h"
#include "emu/core/hadamard.h"

#include "emu/base/array_extent.h"
#include "emu/base/float_env.h"
#include "emu/hadamard/check.h"
#include "emu/base/threads.h"
#include "emu/core/bits.h"
#include "emu/hadamard/lanes.h"
#include "emu/simd/level.h"

enum {
  SPAN = 4096,         /* elements of a row that are done at a time: whole blocks, and their signs fit a buffer */
  PART_MIN = 1 << 14,  /* elements that make a part of their own worth while */
  BYPASS_MIN = 1 << 22 /* elements that are written around the caches */
};

typedef struct run {
  size_t rows, cols, ldz, ldx;
  float *z;
  const float *x;
  hu_hadamard t;
  hu_stream stream;
  uint32_t inverse, factor, words[HU_HADAMARD_WORDS]; /* words: of a vector that all blocks share */
  const hu_hadamard_lanes *lanes;
  int bypass;
  size_t side_rows, side_cols, across, items, part; /* an item: side_rows x side_cols elements, `across` in a row */
} run;

/* ---- checks ---- */

static hu_status cover(hu_strided *a, hu_covered *s, const void *data, size_t rows, size_t cols, size_t ld) {
  size_t n;
  a->data = data;
  a->size = sizeof(float);
  a->stride = 1;
  if (ld < cols || __builtin_mul_overflow(rows - 1, ld, &n) || __builtin_add_overflow(n, cols, &n)) return HU_E_SHAPE;
  return hui_cover(s, n, a);
}

static hu_status check_record(const hu_hadamard *t, size_t length) {
  if (t->n != 16 && t->n != 32 && t->n != 64 && t->n != 128) return HU_E_SHAPE;
  if (t->axis > HU_HADAMARD_ALONG_COLUMNS || t->norm > HU_HADAMARD_SUM || t->signs > HU_HADAMARD_SIGNS_STREAM ||
      t->whole > 1) {
    return HU_E_MODE;
  }
  return length % t->n ? HU_E_SHAPE : HU_OK;
}

hu_status hui_hadamard_check(size_t rows, size_t cols, const void *z, size_t ldz, const void *x, size_t ldx,
                             const hu_hadamard *t) {
  hu_strided az, ax, am;
  hu_covered sz, sx, sm;
  if (!t) return HU_E_NULL;
  size_t length = t->axis == HU_HADAMARD_ALONG_COLUMNS ? rows : cols;
  hu_status s = check_record(t, length);
  if (s != HU_OK) return s;
  if (ldz < cols || ldx < cols) return HU_E_SHAPE;
  if (rows == 0 || cols == 0) return HU_OK;
  s = cover(&az, &sz, z, rows, cols, ldz);
  if (s == HU_OK) s = cover(&ax, &sx, x, rows, cols, ldx);
  if (s != HU_OK) return s;
  if (!hui_may_share(&az, &sz, &ax, &sx) || (z == x && ldz != ldx && rows > 1)) return HU_E_OVERLAP;
  if (t->signs != HU_HADAMARD_SIGNS_MASK) return HU_OK;
  size_t words = ((t->whole ? length : t->n) - 1) / 32 + 1;
  s = cover(&am, &sm, t->mask, 1, words, words);
  if (s != HU_OK) return s;
  return sm.past <= sz.first || sz.past <= sm.first ? HU_OK : HU_E_OVERLAP;
}

/* ---- pieces ---- */

/* The signs of the elements from number `first` of the axis on, `count` of them, in whole words: shared, the mask's, or
 * made here. first is a multiple of 32, or of n where a piece is one block. */
static const uint32_t *signs_of(const run *r, size_t first, size_t count, uint32_t *buffer) {
  if (!r->t.whole || r->t.signs == HU_HADAMARD_SIGNS_NONE) return r->words;
  size_t word = first / 32, n = (first + count - 1) / 32 + 1 - word;
  if (r->t.signs == HU_HADAMARD_SIGNS_MASK) {
    if (first % 32 == 0) return r->t.mask + word;
    memcpy(buffer, r->t.mask + word, n * sizeof *buffer);
  } else {
    hu_stream s = {r->stream.key, r->stream.counter + word};
    hu_stream_words_n(n, buffer, s);
  }
  if (first % 32) buffer[0] >>= 16; /* only the second block of 16 in a word begins within one */
  return buffer;
}

static hu_hadamard_piece piece_of(const run *r, const uint32_t *signs) {
  hu_hadamard_piece p;
  p.n = r->t.n;
  p.inverse = r->inverse;
  p.factor = hui_float_of_bits(r->factor);
  p.bypass = r->bypass;
  p.signs = signs;
  p.period = hui_hadamard_period(r->t.n, signs != r->words);
  return p;
}

/* One block by the core: elements `step` apart. */
static void core_block(const run *r, const hu_hadamard_piece *p, size_t at, float *z, size_t zstep, const float *x,
                       size_t xstep) {
  uint32_t u[HU_HADAMARD_MAX], n = r->t.n;
  for (uint32_t i = 0; i < n; i++) {
    u[i] = hui_bits_of_float(x[i * xstep]) ^ (r->inverse ? 0 : hui_hadamard_sign(p->signs, p->period, at + i));
  }
  hui_hadamard_block(u, n, r->factor);
  for (uint32_t i = 0; i < n; i++) {
    if (r->inverse) u[i] ^= hui_hadamard_sign(p->signs, p->period, at + i);
    z[i * zstep] = hui_float_of_bits((u[i] & 0x7FFFFFFF) > 0x7F800000 ? 0x7FC00000 : u[i]);
  }
}

static void run_item(const run *r, size_t row, size_t col) {
  uint32_t buffer[SPAN / 32];
  size_t cols = r->cols - col < r->side_cols ? r->cols - col : r->side_cols;
  int down = r->t.axis == HU_HADAMARD_ALONG_COLUMNS;
  hu_hadamard_piece p = piece_of(r, down ? signs_of(r, row, r->t.n, buffer) : signs_of(r, col, cols, buffer));
  float *z = r->z + row * r->ldz + col;
  const float *x = r->x + row * r->ldx + col;
  if (r->lanes && down) {
    r->lanes->along_columns(&p, cols, z, r->ldz, x, r->ldx);
  } else if (r->lanes) {
    r->lanes->along_rows(&p, cols, z, x);
  } else if (down) {
    for (size_t j = 0; j < cols; j++) core_block(r, &p, 0, z + j, r->ldz, x + j, r->ldx);
  } else {
    for (size_t j = 0; j < cols; j += r->t.n) core_block(r, &p, j, z + j, 1, x + j, 1);
  }
}

static void run_part(void *context, size_t part) {
  const run *r = context;
  size_t first = part * r->part, last = r->items - first < r->part ? r->items : first + r->part;
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  for (size_t i = first; i < last; i++) run_item(r, i / r->across * r->side_rows, i % r->across * r->side_cols);
  hui_float_env_leave(saved);
}

/* ---- a call ---- */

/* Rows one after another are one row, where every block has the same signs. */
static void flatten(run *r) {
  if (r->t.axis != HU_HADAMARD_ALONG_ROWS || (r->t.whole && r->t.signs != HU_HADAMARD_SIGNS_NONE)) return;
  if (r->ldz != r->cols || r->ldx != r->cols) return;
  r->cols *= r->rows;
  r->rows = 1;
}

static void run_all(run *r, uint32_t threads) {
  int down = r->t.axis == HU_HADAMARD_ALONG_COLUMNS;
  r->side_rows = down ? r->t.n : 1;
  r->side_cols = down ? HU_HADAMARD_PANEL / r->t.n : SPAN;
  r->across = (r->cols - 1) / r->side_cols + 1;
  r->items = ((r->rows - 1) / r->side_rows + 1) * r->across;
  size_t size = r->side_rows * (r->cols < r->side_cols ? r->cols : r->side_cols), least = (PART_MIN - 1) / size + 1;
  r->part = (r->items - 1) / threads + 1;
  if (r->part < least) r->part = least;
  hui_parallel(threads, (r->items - 1) / r->part + 1, run_part, r);
}

static hu_status transform(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                           const hu_hadamard *t, uint32_t inverse, const hu_exec *exec) {
  run r;
  hu_status s = hui_hadamard_check(rows, cols, z, ldz, x, ldx, t);
  if (s != HU_OK || rows == 0 || cols == 0) return s;
  memset(&r, 0, sizeof r);
  r.rows = rows;
  r.cols = cols;
  r.z = z;
  r.ldz = ldz;
  r.x = x;
  r.ldx = ldx;
  r.t = *t;
  r.stream = hui_exec_stream(exec);
  r.inverse = inverse;
  r.factor = hui_hadamard_factor(t->n, t->norm, inverse);
  r.lanes = hui_level_for(exec)->hadamard;
  if (!t->whole) hui_hadamard_words(r.words, t->n, t->signs, t->mask, r.stream.key, r.stream.counter);
  r.bypass = z != x && rows * cols >= BYPASS_MIN;
  flatten(&r);
  run_all(&r, hui_exec_threads(exec));
  return HU_OK;
}

hu_status hu_hadamard_forward(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                              const hu_hadamard *t, const hu_exec *exec) {
  return transform(rows, cols, z, ldz, x, ldx, t, 0, exec);
}

hu_status hu_hadamard_inverse(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                              const hu_hadamard *t, const hu_exec *exec) {
  return transform(rows, cols, z, ldz, x, ldx, t, 1, exec);
}
