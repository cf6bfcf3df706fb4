/* SPDX-License-Identifier: MIT */
/* hu_scaled_decode after its checks: turns codes into values, a row of blocks at a time. The value of a code is scaled
 * by adding to its exponent or by one product in binary32, where that is the one rounding; else emu/core/scaled.h
 * computes it. Codes of a byte go by the loops of emu/scaled/values.h as far as they are finite numbers. */
#include "emu/base/exec.h"
#include "emu/base/float_env.h"
#include "emu/base/threads.h"
#include "emu/core/bits.h"
#include "emu/scaled/call.h"
#include "emu/scaled/rows.h"
#include "emu/scaled/strip.h"
#include "emu/scaled/values.h"
#include "emu/simd/convert.h"
#include "emu/simd/level.h"

enum { PIECE = HU_STRIP, PART_MIN = 1 << 14, MADE = 64 };
enum { SHIFT = HU_SHIFT, FLOATS = HU_TIMES, SLOW, UNKNOWN };

typedef struct undo {
  hu_scaled_call c;
  hu_scaled_shape s;
  hu_scaler scaler;
  hu_lane_constants constants;
  hu_scaled_grid grid;
  const hu_kernels *kernels;
  const hu_scaled_lanes *lanes;
  const hu_scaled_strips *strips; /* NULL: kernels and lanes, one after another */
  const hu_scaled_values *values; /* NULL: strips alone */
  size_t part;                    /* rows in a part */
} undo;

/* A scale's code, what elements are multiplied by, and how. */
typedef struct factor {
  hu_shared b;
  int way, used;
  uint32_t by; /* SHIFT: -e 2^23, else a float */
} factor;

/* Rows row ... last - 1 of some blocks side by side. */
typedef struct tile {
  size_t row, last, col, n, first, count; /* elements; blocks */
  uint8_t way[HU_STRIP];
  uint32_t by[HU_STRIP];
  factor made[MADE];
  uint8_t byte_way[256]; /* of scales of one byte, or UNKNOWN, and their `by` */
  uint32_t byte_by[256];
} tile;

static const uint8_t *code_at(const undo *g, size_t row, size_t col) {
  return (const uint8_t *)g->c.codes->codes + (row * g->c.codes->ld + col) * g->s.code_size;
}
static uint32_t *z_at(const undo *g, size_t row, size_t col) { return g->c.z + row * g->c.ldz + col; }
/* back is a power of two under which all values are normal, or a binary32 number. */
static int way_of(const undo *g, const hu_shared *b, uint32_t *by) {
  const hu_spec *f = &g->scaler.element;
  if ((!g->kernels && !g->strips) || b->under != HU_UNDER_SCALE || b->back.kind != HU_KIND_FINITE) return SLOW;
  if ((b->back.sig & (b->back.sig - 1)) == 0 && !b->back.sign) {
    int32_t e = hui_exponent(b->back);
    *by = 0 - ((uint32_t)e << 23);
    if (f->emin - f->m + e >= -126 && g->scaler.emax + e <= 127 && e > -254 && e < 254) return SHIFT;
  }
  uint32_t u = hui_pack32(b->back);
  hu_num x = hui_unpack32(u);
  if (x.kind != HU_KIND_FINITE || hui_compare_magnitude(x, b->back) != 0) return SLOW;
  *by = u;
  return FLOATS;
}

static void undo_core(const undo *g, size_t row, size_t col, size_t n, const hu_shared *b, uint32_t *z) {
  for (size_t i = 0; i < n; i++) {
    z[i] = hui_scaled_value(&g->scaler, b, hui_load_code(code_at(g, row, col + i), g->s.code_size));
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

/* At most PIECE elements of blocks of `side`, all going this way, by kernels; 0 if the core must. */
static int undo_piece(const undo *g, size_t row, size_t col, size_t n, size_t side, int way, const uint32_t *by) {
  uint32_t v[PIECE], *z = z_at(g, row, col);
  uint8_t plain[PIECE];
  const uint8_t *x = code_at(g, row, col);
  if (g->scaler.coding == HU_CODING_TWOS) {
    if (!from_twos(g, n, plain, x)) return 0;
    x = plain;
  }
  g->kernels->decode[hui_by_size(g->s.code_size)](&g->constants, n, v, x);
  if (way == SHIFT) {
    g->lanes->shift_back(n, side, z, v, by);
    return 1;
  }
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  g->lanes->times(n, side, z, v, by);
  hui_float_env_leave(saved);
  return 1;
}

static uint32_t scale_code(const undo *g, size_t row, size_t q) {
  size_t at = row / g->s.side_rows * g->c.codes->lds + q;
  return hui_load_code((const uint8_t *)g->c.codes->scales + at * g->s.scale_size, g->s.scale_size);
}

/* Scales made before are kept by the low bits of their codes. */
static const factor *factor_of(const undo *g, factor made[MADE], uint32_t code) {
  factor *f = &made[(code ^ code >> 20) % MADE];
  if (f->used && f->b.code == code) return f;
  memset(f, 0, sizeof *f);
  f->used = 1;
  f->b.code = code;
  hui_shared_finish(&g->scaler, &f->b);
  f->way = way_of(g, &f->b, &f->by);
  return f;
}

/* Blocks first ... past - 1 of the tile in a row, block by block: what the core must, and what kernels leave to it. */
static void undo_blocks(const undo *g, tile *t, size_t row, size_t first, size_t past) {
  size_t side = g->s.side_cols;
  for (size_t k = first; k < past; k++) {
    size_t end = hui_least((k + 1) * side, t->n);
    for (size_t at = k * side, n; at < end; at += n) {
      n = hui_least(end - at, PIECE);
      if (t->way[k] != SLOW && undo_piece(g, row, t->col + at, n, n, t->way[k], t->by + k)) continue;
      const factor *f = factor_of(g, t->made, scale_code(g, row, t->first + k));
      undo_core(g, row, t->col + at, n, &f->b, z_at(g, row, t->col + at));
    }
  }
}

/* Those of one way, together where kernels take them so. */
static void undo_kernels(const undo *g, tile *t, size_t first, size_t past) {
  size_t side = g->s.side_cols, at = first * side, n = hui_least(past * side, t->n) - at;
  int way = t->way[first], together = way != SLOW && n <= PIECE;
  for (size_t row = t->row; row < t->last; row++) {
    if (together && undo_piece(g, row, t->col + at, n, side, way, t->by + first)) continue;
    undo_blocks(g, t, row, first, past);
  }
}

/* Codes of whole blocks of `side`, `by` one a block. What `values` ends before, up to the end of its block, is for
 * strips. */
static void undo_values(const undo *g, int way, size_t n, size_t side, uint32_t *z, const uint8_t *x,
                        const uint32_t *by) {
  uint32_t own[HU_STRIP + HU_SPREAD];
  for (size_t i = 0; i < n;) {
    i += g->values->decode(&g->grid, way, n - i, side, z + i, x + i, by + i / side);
    if (i == n) return;
    size_t k = i / side, m = side == 1 ? hui_least(HU_SPREAD, n - i) : hui_least((k + 1) * side, n) - i;
    if (side > 1) g->lanes->spread(m, m, own, by + k);
    g->strips->decode(&g->grid, way, 1, m, z + i, x + i, side > 1 ? own : by + k);
    i += m;
  }
}

/* By strips, or what is quicker. */
static void undo_strips(const undo *g, tile *t, size_t first, size_t past) {
  uint32_t spread[HU_STRIP + HU_SPREAD];
  size_t side = g->s.side_cols, at = first * side, end = hui_least(past * side, t->n),
         n = hui_least(end - at, HU_STRIP);
  size_t each = g->values && side % HU_VALUES_SIDE == 0 ? hui_least(side, HU_STRIP) : 1;
  const uint32_t *by = t->by + first;
  if (side > 1 && each == 1) {
    g->lanes->spread(n, side, spread, by);
    by = spread;
  }
  for (size_t row = t->row; row < t->last; row++) {
    for (size_t i = at; i < end; i += n) { /* more than one turn: within one block */
      size_t col = t->col + i, m = hui_least(end - i, n);
      const uint8_t *x = code_at(g, row, col);
      if (g->values) {
        undo_values(g, t->way[first], m, each, z_at(g, row, col), x, by);
      } else {
        g->strips->decode(&g->grid, t->way[first], (int)g->s.code_size, m, z_at(g, row, col), x, by);
      }
    }
  }
}

/* Ways and amounts of the tile's blocks. */
static void undo_scales(const undo *g, tile *t) {
  for (size_t k = 0; k < t->count && g->s.scale_size > 1; k++) {
    const factor *f = factor_of(g, t->made, scale_code(g, t->row, t->first + k));
    t->way[k] = (uint8_t)f->way;
    t->by[k] = f->by;
  }
  if (g->s.scale_size > 1) return;
  const uint8_t *codes = (const uint8_t *)g->c.codes->scales + t->row / g->s.side_rows * g->c.codes->lds + t->first;
  for (size_t k = 0; k < t->count; k++) {
    uint8_t c = codes[k];
    if (t->byte_way[c] == UNKNOWN) {
      const factor *f = factor_of(g, t->made, c);
      t->byte_way[c] = (uint8_t)f->way;
      t->byte_by[c] = f->by;
    }
    t->way[k] = t->byte_way[c];
    t->by[k] = t->byte_by[c];
  }
}

static void undo_tile(const undo *g, tile *t) {
  undo_scales(g, t);
  for (size_t k = 0, next; k < t->count; k = next) {
    for (next = k + 1; next < t->count && t->way[next] == t->way[k];) next++;
    if (t->way[k] != SLOW && g->strips) {
      undo_strips(g, t, k, next);
    } else {
      undo_kernels(g, t, k, next);
    }
  }
}

/* The rows of one row of blocks. */
static void undo_rows(const undo *g, tile *t) {
  size_t side = g->s.side_cols, across = side < HU_STRIP ? HU_STRIP / side : 1;
  for (size_t q = 0; q < g->s.block_cols; q += across) {
    t->first = q;
    t->count = hui_least(across, g->s.block_cols - q);
    t->col = q * side;
    t->n = hui_least(t->count * side, g->s.cols - t->col);
    undo_tile(g, t);
  }
}

static void undo_part(void *context, size_t part) {
  const undo *g = context;
  size_t row = part * g->part, last = hui_least(row + g->part, g->s.rows), side = g->s.side_rows;
  tile t;
  memset(t.made, 0, sizeof t.made);
  memset(t.byte_way, UNKNOWN, sizeof t.byte_way);
  int few = g->s.side_cols >= HU_SIDE_MIN; /* scales in a row: memory had better be gone through in order */
  for (; row < last; row = t.last) {
    t.row = row;
    t.last = few ? row + 1 : hui_least((row / side + 1) * side, last);
    undo_rows(g, &t);
  }
}

/* Which lanes and kernels serve. */
static void choose(undo *g) {
  const hu_spec *f = &g->scaler.element;
  const hu_level *level = hui_level_for(g->c.exec);
  g->lanes = level->scaled_rows;
  if (!g->lanes || !hui_lane_constants_of(&g->constants, f) || !f->fits_binary32) return;
  if (f->emin - f->m < -126) return;
  if (hui_scaled_grid_of(&g->grid, &g->scaler)) g->strips = level->scaled_strips;
  if (g->strips && hui_scaled_values_can(&g->grid, g->s.code_size)) g->values = level->scaled_values;
  if (g->scaler.coding != HU_CODING_TWOS || g->s.code_size == 1) g->kernels = level->convert;
}

void hui_scaled_undo(const hu_scaled_call *call) {
  undo g;
  hu_mode rne = {0};
  memset(&g, 0, sizeof g);
  if (call->rows == 0 || call->cols == 0) return;
  g.c = *call;
  g.s = hui_scaled_shape_of(call->rows, call->cols, &call->scaling);
  g.scaler = hui_scaler_of(call->scaling, rne);
  if (g.scaler.two) g.scaler.tensor = hui_unpack32(hui_bits_of_float(*call->codes->tensor));
  choose(&g);
  uint32_t threads = hui_exec_threads(call->exec);
  size_t least = call->cols >= PART_MIN ? 1 : PART_MIN / call->cols;
  g.part = (call->rows - 1) / threads + 1;
  if (g.part < least) g.part = least;
  hui_parallel(threads, (call->rows - 1) / g.part + 1, undo_part, &g);
}
