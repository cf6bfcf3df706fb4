/* SPDX-License-Identifier: MIT */
/* A scaled tensor read: codes to values, block by block. The kernels' values of codes are scaled by adding to the
 * exponent or by one product in binary32, where that is the one rounding; else by emu/scaled.h. */
#include "emu/bits.h"
#include "emu/float_env.h"
#include "emu/kernels.h"
#include "emu/scaled_lanes.h"
#include "emu/scaled_run.h"
#include "emu/threads.h"

enum { PIECE = 1024, PART_MIN = 1 << 14, MADE = 64 };
enum { SLOW = 0, SHIFT = 1, FLOATS = 2 };

typedef struct undo {
  hu_scaled_call c;
  hu_scaled_shape s;
  hu_scaler scaler;
  hu_narrow narrow;
  const hu_kernels *kernels;
  const hu_scaled_lanes *lanes;
  size_t part; /* rows in a part */
} undo;

/* A scale's code, what elements are multiplied by, and how. */
typedef struct factor {
  hu_shared b;
  int way, used;
  uint32_t more;
  float back;
} factor;

static const uint8_t *code_at(const undo *g, size_t row, size_t col) {
  return (const uint8_t *)g->c.codes->codes + (row * g->c.codes->ld + col) * g->s.code_size;
}

/* back is a power of two under which all values are normal, or a binary32 number. */
static int way_of(const undo *g, const hu_shared *b, uint32_t *more, float *back) {
  const hu_spec *f = &g->scaler.element;
  if (!g->kernels || b->under != HU_UNDER_SCALE || b->back.kind != HU_KIND_FINITE) return SLOW;
  if ((b->back.sig & (b->back.sig - 1)) == 0 && !b->back.sign) {
    int32_t e = hu_exponent(b->back);
    *more = 0 - ((uint32_t)e << 23);
    if (f->emin - f->m + e >= -126 && g->scaler.emax + e <= 127 && e > -254 && e < 254) return SHIFT;
  }
  uint32_t u = hu_pack32(b->back);
  hu_num x = hu_unpack32(u);
  if (x.kind != HU_KIND_FINITE || hu_compare_magnitude(x, b->back) != 0) return SLOW;
  *back = hu_float_of_bits(u);
  return FLOATS;
}

static void undo_core(const undo *g, size_t row, size_t col, size_t n, const hu_shared *b, uint32_t *z) {
  for (size_t i = 0; i < n; i++) {
    z[i] = hu_scaled_value(&g->scaler, b, hu_load_code(code_at(g, row, col + i), g->s.code_size));
  }
}

/* Two's complement bytes as sign and magnitude; 0 if the lowest code, which has none, is among them. */
static int from_twos(const undo *g, size_t n, uint8_t *z, const uint8_t *x) {
  uint32_t sign = g->scaler.element.sign_mask, all = 2 * sign - 1, lowest = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t c = x[i] & all;
    lowest |= c == sign;
    z[i] = (uint8_t)(c & sign ? (all + 1 - c) | sign : c);
  }
  return !lowest;
}

/* At most PIECE elements of blocks of `side`, all going this way; 0 if the core must. */
static int undo_piece(const undo *g, size_t row, size_t col, size_t n, size_t side, int way, const uint32_t *more,
                      const float *back) {
  uint32_t v[PIECE], *z = g->c.z + row * g->c.ldz + col;
  uint8_t plain[PIECE];
  const uint8_t *x = code_at(g, row, col);
  if (way == SLOW) return 0;
  if (g->scaler.coding == HU_CODING_TWOS) {
    if (!from_twos(g, n, plain, x)) return 0;
    x = plain;
  }
  if (g->s.code_size == 1) g->kernels->decode8(&g->narrow, n, v, x);
  if (g->s.code_size == 2) g->kernels->decode16(&g->narrow, n, v, x);
  if (g->s.code_size == 4) g->kernels->decode32(&g->narrow, n, v, x);
  if (way == SHIFT) {
    g->lanes->shift_back(n, side, z, v, more);
    return 1;
  }
  hu_float_env saved = hu_float_env_enter(HU_NEAREST);
  g->lanes->times(n, side, z, v, back);
  hu_float_env_leave(saved);
  return 1;
}

/* Elements col ... end - 1 of a row, of one block. */
static void undo_block(const undo *g, size_t row, size_t col, size_t end, const factor *f) {
  for (size_t n; col < end; col += n) {
    n = end - col < PIECE ? end - col : PIECE;
    if (undo_piece(g, row, col, n, n, f->way, &f->more, &f->back)) continue;
    undo_core(g, row, col, n, &f->b, g->c.z + row * g->c.ldz + col);
  }
}

static uint32_t scale_code(const undo *g, size_t row, size_t q) {
  size_t at = row / g->s.side_rows * g->c.codes->lds + q;
  return hu_load_code((const uint8_t *)g->c.codes->scales + at * g->s.scale_size, g->s.scale_size);
}

/* Scales made before are kept by the low bits of their codes. */
static const factor *factor_of(const undo *g, factor made[MADE], uint32_t code) {
  factor *f = &made[(code ^ code >> 20) % MADE];
  if (f->used && f->b.code == code) return f;
  memset(f, 0, sizeof *f);
  f->used = 1;
  f->b.code = code;
  hu_shared_finish(&g->scaler, &f->b);
  f->way = way_of(g, &f->b, &f->more, &f->back);
  return f;
}

/* `count` blocks of a row from block q on, at most PIECE elements together: at once where all go the same way. */
static int undo_blocks(const undo *g, size_t row, size_t q, size_t count, factor made[MADE]) {
  uint32_t more[PIECE];
  float back[PIECE];
  size_t col = q * g->s.side_cols, n = count * g->s.side_cols;
  int way = SLOW, same = 1;
  for (size_t k = 0; k < count; k++) {
    const factor *f = factor_of(g, made, scale_code(g, row, q + k));
    more[k] = f->more;
    back[k] = f->back;
    same &= k == 0 || f->way == way;
    way = f->way;
  }
  if (n > g->s.cols - col) n = g->s.cols - col;
  return same && undo_piece(g, row, col, n, g->s.side_cols, way, more, back);
}

static void undo_row(const undo *g, size_t row, factor made[MADE]) {
  size_t side = g->s.side_cols, across = side < PIECE ? PIECE / side : 1, count;
  for (size_t q = 0; q < g->s.block_cols; q += count) {
    count = g->s.block_cols - q < across ? g->s.block_cols - q : across;
    if (side < PIECE && undo_blocks(g, row, q, count, made)) continue;
    for (size_t k = q; k < q + count; k++) {
      size_t col = k * side, end = col + side < g->s.cols ? col + side : g->s.cols;
      undo_block(g, row, col, end, factor_of(g, made, scale_code(g, row, k)));
    }
  }
}

static void undo_part(void *context, size_t part) {
  const undo *g = context;
  size_t row = part * g->part, last = row + g->part < g->s.rows ? row + g->part : g->s.rows;
  factor made[MADE];
  memset(made, 0, sizeof made);
  for (; row < last; row++) undo_row(g, row, made);
}

void hu_scaled_undo(const hu_scaled_call *call) {
  undo g;
  hu_mode rne = {0};
  memset(&g, 0, sizeof g);
  if (call->rows == 0 || call->cols == 0) return;
  g.c = *call;
  g.s = hu_scaled_shape_of(call->rows, call->cols, &call->scaling);
  g.scaler = hu_scaler_of(call->scaling, rne);
  if (g.scaler.two) g.scaler.tensor = hu_unpack32(hu_bits_of_float(*call->codes->tensor));
  g.kernels = hu_kernels_for(hu_levels_for(call->exec));
  g.lanes = hu_scaled_lanes_for(hu_levels_for(call->exec));
  if (!g.lanes || !hu_narrow_of(&g.narrow, &g.scaler.element) ||
      (g.scaler.coding == HU_CODING_TWOS && g.s.code_size > 1) || !hu_format_fits_binary32(call->scaling.element) ||
      g.scaler.element.emin - g.scaler.element.m < -126) {
    g.kernels = NULL;
  }
  uint32_t threads = call->exec && call->exec->threads > 1 ? call->exec->threads : 1;
  size_t least = call->cols >= PART_MIN ? 1 : PART_MIN / call->cols;
  g.part = (call->rows - 1) / (threads > HU_THREADS_MAX ? HU_THREADS_MAX : threads) + 1;
  if (g.part < least) g.part = least;
  hu_parallel(threads, (call->rows - 1) / g.part + 1, undo_part, &g);
}
