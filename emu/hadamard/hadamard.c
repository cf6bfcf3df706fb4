/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/hadamard.h: check everything, cut into pieces, run them by lanes or by the core. */
#include "emu/base/device_calls.h"
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

typedef struct hadamard_call {
  size_t rows, cols, ldz, ldx;
  float *z;
  const float *x;
  hu_hadamard transform;
  hu_stream stream;
  uint32_t inverse, factor, words[HU_HADAMARD_WORDS]; /* words: of a vector that all blocks share */
  const hu_hadamard_lanes *lanes;
  int bypass;
  size_t side_rows, side_cols, across, items, part; /* an item: side_rows x side_cols elements, `across` in a row */
} hadamard_call;

/* ---- checks ---- */

static hu_status cover(hu_strided *a, hu_covered *covered, const void *data, size_t rows, size_t cols, size_t ld) {
  size_t n;
  a->data = data;
  a->size = sizeof(float);
  a->stride = 1;
  if (ld < cols || __builtin_mul_overflow(rows - 1, ld, &n) || __builtin_add_overflow(n, cols, &n)) return HU_E_SHAPE;
  return hui_cover(covered, n, a);
}

static hu_status check_record(const hu_hadamard *transform, size_t length) {
  if (transform->n != 16 && transform->n != 32 && transform->n != 64 && transform->n != 128) return HU_E_SHAPE;
  if (transform->axis > HU_HADAMARD_ALONG_COLUMNS || transform->norm > HU_HADAMARD_SUM ||
      transform->signs > HU_HADAMARD_SIGNS_STREAM || transform->whole > 1) {
    return HU_E_MODE;
  }
  return length % transform->n ? HU_E_SHAPE : HU_OK;
}

hu_status hui_hadamard_check(size_t rows, size_t cols, const void *z, size_t ldz, const void *x, size_t ldx,
                             const hu_hadamard *transform) {
  hu_strided az, ax, am;
  hu_covered sz, sx, sm;
  if (!transform) return HU_E_NULL;
  size_t length = transform->axis == HU_HADAMARD_ALONG_COLUMNS ? rows : cols;
  hu_status status = check_record(transform, length);
  if (status != HU_OK) return status;
  if (ldz < cols || ldx < cols) return HU_E_SHAPE;
  if (rows == 0 || cols == 0) return HU_OK;
  status = cover(&az, &sz, z, rows, cols, ldz);
  if (status == HU_OK) status = cover(&ax, &sx, x, rows, cols, ldx);
  if (status != HU_OK) return status;
  if (!hui_may_share(&az, &sz, &ax, &sx) || (z == x && ldz != ldx && rows > 1)) return HU_E_OVERLAP;
  if (transform->signs != HU_HADAMARD_SIGNS_MASK) return HU_OK;
  size_t words = ((transform->whole ? length : transform->n) - 1) / 32 + 1;
  status = cover(&am, &sm, transform->mask, 1, words, words);
  if (status != HU_OK) return status;
  return sm.past <= sz.first || sz.past <= sm.first ? HU_OK : HU_E_OVERLAP;
}

/* ---- pieces ---- */

/* The signs of the elements from number `first` of the axis on, `count` of them, in whole words: shared, the mask's, or
 * made here. first is a multiple of 32, or of n where a piece is one block. */
static const uint32_t *signs_of(const hadamard_call *call, size_t first, size_t count, uint32_t *buffer) {
  if (!call->transform.whole || call->transform.signs == HU_HADAMARD_SIGNS_NONE) return call->words;
  size_t word = first / 32, n = (first + count - 1) / 32 + 1 - word;
  if (call->transform.signs == HU_HADAMARD_SIGNS_MASK) {
    if (first % 32 == 0) return call->transform.mask + word;
    memcpy(buffer, call->transform.mask + word, n * sizeof *buffer);
  } else {
    hu_stream stream = {call->stream.key, call->stream.counter + word};
    hu_stream_words_n(n, buffer, stream);
  }
  if (first % 32) buffer[0] >>= 16; /* only the second block of 16 in a word begins within one */
  return buffer;
}

static hu_hadamard_piece piece_of(const hadamard_call *call, const uint32_t *signs) {
  hu_hadamard_piece piece;
  piece.n = call->transform.n;
  piece.inverse = call->inverse;
  piece.factor = hui_float_of_bits(call->factor);
  piece.bypass = call->bypass;
  piece.signs = signs;
  piece.period = hui_hadamard_period(call->transform.n, signs != call->words);
  return piece;
}

/* Transforms one block by the core: its elements lie zstep and xstep apart. */
static void core_block(const hadamard_call *call, const hu_hadamard_piece *piece, size_t at, float *z, size_t zstep,
                       const float *x, size_t xstep) {
  uint32_t bits[HU_HADAMARD_MAX], n = call->transform.n;
  for (uint32_t i = 0; i < n; i++) {
    bits[i] =
        hui_bits_of_float(x[i * xstep]) ^ (call->inverse ? 0 : hui_hadamard_sign(piece->signs, piece->period, at + i));
  }
  hui_hadamard_block(bits, n, call->factor);
  for (uint32_t i = 0; i < n; i++) {
    if (call->inverse) bits[i] ^= hui_hadamard_sign(piece->signs, piece->period, at + i);
    z[i * zstep] = hui_float_of_bits((bits[i] & 0x7FFFFFFF) > 0x7F800000 ? 0x7FC00000 : bits[i]);
  }
}

static void run_item(const hadamard_call *call, size_t row, size_t col) {
  uint32_t buffer[SPAN / 32];
  size_t cols = call->cols - col < call->side_cols ? call->cols - col : call->side_cols;
  int down = call->transform.axis == HU_HADAMARD_ALONG_COLUMNS;
  hu_hadamard_piece piece =
      piece_of(call, down ? signs_of(call, row, call->transform.n, buffer) : signs_of(call, col, cols, buffer));
  float *z = call->z + row * call->ldz + col;
  const float *x = call->x + row * call->ldx + col;
  if (call->lanes && down) {
    call->lanes->along_columns(&piece, cols, z, call->ldz, x, call->ldx);
  } else if (call->lanes) {
    call->lanes->along_rows(&piece, cols, z, x);
  } else if (down) {
    for (size_t j = 0; j < cols; j++) core_block(call, &piece, 0, z + j, call->ldz, x + j, call->ldx);
  } else {
    for (size_t j = 0; j < cols; j += call->transform.n) core_block(call, &piece, j, z + j, 1, x + j, 1);
  }
}

static void run_part(void *context, size_t part) {
  const hadamard_call *call = context;
  size_t first = part * call->part, last = call->items - first < call->part ? call->items : first + call->part;
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  for (size_t i = first; i < last; i++)
    run_item(call, i / call->across * call->side_rows, i % call->across * call->side_cols);
  hui_float_env_leave(saved);
}

/* ---- a call ---- */

/* Rows one after another are one row, where every block has the same signs. */
static void flatten(hadamard_call *call) {
  if (call->transform.axis != HU_HADAMARD_ALONG_ROWS ||
      (call->transform.whole && call->transform.signs != HU_HADAMARD_SIGNS_NONE))
    return;
  if (call->ldz != call->cols || call->ldx != call->cols) return;
  call->cols *= call->rows;
  call->rows = 1;
}

static void run_all(hadamard_call *call, uint32_t threads) {
  int down = call->transform.axis == HU_HADAMARD_ALONG_COLUMNS;
  call->side_rows = down ? call->transform.n : 1;
  call->side_cols = down ? HU_HADAMARD_PANEL / call->transform.n : SPAN;
  call->across = (call->cols - 1) / call->side_cols + 1;
  call->items = ((call->rows - 1) / call->side_rows + 1) * call->across;
  size_t size = call->side_rows * (call->cols < call->side_cols ? call->cols : call->side_cols),
         least = (PART_MIN - 1) / size + 1;
  call->part = (call->items - 1) / threads + 1;
  if (call->part < least) call->part = least;
  hui_parallel(threads, (call->items - 1) / call->part + 1, run_part, call);
}

static hu_status apply(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                       const hu_hadamard *transform, uint32_t inverse, const hu_exec *exec) {
  if (hui_is_elsewhere(exec)) return HUI_THERE(exec, hadamard, (rows, cols, z, ldz, x, ldx, transform, inverse, exec));
  hadamard_call call;
  hu_status status = hui_hadamard_check(rows, cols, z, ldz, x, ldx, transform);
  if (status != HU_OK || rows == 0 || cols == 0) return status;
  memset(&call, 0, sizeof call);
  call.rows = rows;
  call.cols = cols;
  call.z = z;
  call.ldz = ldz;
  call.x = x;
  call.ldx = ldx;
  call.transform = *transform;
  call.stream = hui_exec_stream(exec);
  call.inverse = inverse;
  call.factor = hui_hadamard_factor(transform->n, transform->norm, inverse);
  call.lanes = hui_level_for(exec)->hadamard;
  if (!transform->whole)
    hui_hadamard_words(call.words, transform->n, transform->signs, transform->mask, call.stream.key,
                       call.stream.counter);
  call.bypass = z != x && rows * cols >= BYPASS_MIN;
  flatten(&call);
  run_all(&call, hui_exec_threads(exec));
  return HU_OK;
}

hu_status hu_hadamard_forward(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                              const hu_hadamard *transform, const hu_exec *exec) {
  return apply(rows, cols, z, ldz, x, ldx, transform, 0, exec);
}

hu_status hu_hadamard_inverse(size_t rows, size_t cols, float *z, size_t ldz, const float *x, size_t ldx,
                              const hu_hadamard *transform, const hu_exec *exec) {
  return apply(rows, cols, z, ldz, x, ldx, transform, 1, exec);
}
