/* SPDX-License-Identifier: MIT */
/* hu_scaled_decode after its checks: turns codes into values, a row of blocks at a time. The value of a code is scaled
 * by adding to its exponent or by one product in binary32, where that is the one rounding; else emu/core/scaled.h
 * computes it. Codes of a byte are decoded by the loops of emu/scaled/values.h as far as they are finite numbers. */
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

typedef struct decoding {
  hu_scaled_call call;
  hu_scaled_shape shape;
  hu_scaler scaler;
  hu_lane_constants constants;
  hu_scaled_grid grid;
  const hu_kernels *kernels;
  const hu_scaled_lanes *lanes;
  const hu_scaled_strips *strips; /* NULL: kernels and lanes, one after another */
  const hu_scaled_values *values; /* NULL: strips alone */
  size_t part;                    /* rows in a part */
} decoding;

/* A scale's code, what elements are multiplied by, and how. */
typedef struct known_scale {
  hu_shared shared;
  int way, used;
  uint32_t by; /* SHIFT: -e 2^23, else a float */
} known_scale;

/* Rows row ... last - 1 of some blocks side by side. */
typedef struct code_tile {
  size_t row, last, col, n, first, count; /* elements; blocks */
  uint8_t way[HU_STRIP];
  uint32_t by[HU_STRIP];
  known_scale made[MADE];
  uint8_t byte_way[256]; /* of scales of one byte, or UNKNOWN, and their `by` */
  uint32_t byte_by[256];
} code_tile;

static const uint8_t *code_at(const decoding *work, size_t row, size_t col) {
  return (const uint8_t *)work->call.codes->codes + (row * work->call.codes->ld + col) * work->shape.code_size;
}
static uint32_t *z_at(const decoding *work, size_t row, size_t col) {
  return work->call.z + row * work->call.ldz + col;
}
/* back is a power of two under which all values are normal, or a binary32 number. */
static int way_of(const decoding *work, const hu_shared *shared, uint32_t *by) {
  const hu_spec *spec = &work->scaler.element;
  if (work->scaler.own_v || shared->integers || (!work->kernels && !work->strips) || shared->under != HU_UNDER_SCALE ||
      shared->back.kind != HU_KIND_FINITE)
    return SLOW;
  if ((shared->back.sig & (shared->back.sig - 1)) == 0 && !shared->back.sign) {
    int32_t exponent = hui_exponent(shared->back);
    *by = 0 - ((uint32_t)exponent << 23);
    if (spec->emin - spec->m + exponent >= -126 && work->scaler.emax + exponent <= 127 && exponent > -254 &&
        exponent < 254)
      return SHIFT;
  }
  uint32_t bits = hui_pack32(shared->back);
  hu_num x = hui_unpack32(bits);
  if (x.kind != HU_KIND_FINITE || hui_compare_magnitude(x, shared->back) != 0) return SLOW;
  *by = bits;
  return FLOATS;
}

static void undo_core(const decoding *work, size_t row, size_t col, size_t n, const hu_shared *shared, uint32_t *z) {
  for (size_t i = 0; i < n; i++) {
    z[i] = hui_scaled_value(&work->scaler, shared, hui_load_code(code_at(work, row, col + i), work->shape.code_size));
  }
}

/* Two's complement bytes as sign and magnitude; 0 if the lowest code, which has none, is among them. */
static int from_twos(const decoding *work, size_t n, uint8_t *z, const uint8_t *x) {
  uint32_t sign = work->scaler.element.sign_mask, all = 2 * sign - 1, lowest = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t c = x[i] & all;
    lowest |= c == sign;
    z[i] = (uint8_t)(c & sign ? (all + 1 - c) | sign : c);
  }
  return !lowest;
}

/* Decodes at most PIECE elements of blocks of `side`, all by this path, by kernels; 0 if the core must. */
static int undo_piece(const decoding *work, size_t row, size_t col, size_t n, size_t side, int way,
                      const uint32_t *by) {
  uint32_t values[PIECE], *z = z_at(work, row, col);
  uint8_t plain[PIECE];
  const uint8_t *x = code_at(work, row, col);
  if (work->scaler.coding == HU_CODING_TWOS) {
    if (!from_twos(work, n, plain, x)) return 0;
    x = plain;
  }
  work->kernels->decode[hui_by_size(work->shape.code_size)](&work->constants, n, values, x);
  if (way == SHIFT) {
    work->lanes->shift_back(n, side, z, values, by);
    return 1;
  }
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  work->lanes->times(n, side, z, values, by);
  hui_float_env_leave(saved);
  return 1;
}

static uint32_t scale_code(const decoding *work, size_t row, size_t across) {
  size_t at = row / work->shape.side_rows * work->call.codes->lds + across;
  return hui_load_code((const uint8_t *)work->call.codes->scales + at * work->shape.scale_size, work->shape.scale_size);
}

/* Scales made before are kept by the low bits of their codes. */
static const known_scale *factor_of(const decoding *work, known_scale made[MADE], uint32_t code) {
  known_scale *known = &made[(code ^ code >> 20) % MADE];
  if (known->used && known->shared.code == code) return known;
  memset(known, 0, sizeof *known);
  known->used = 1;
  known->shared.code = code;
  hui_shared_finish(&work->scaler, &known->shared);
  known->way = way_of(work, &known->shared, &known->by);
  return known;
}

/* Blocks first ... past - 1 of the tile in a row, block by block: what the core must, and what kernels leave to it. */
static void undo_blocks(const decoding *work, code_tile *tile, size_t row, size_t first, size_t past) {
  size_t side = work->shape.side_cols;
  for (size_t k = first; k < past; k++) {
    size_t end = hui_least((k + 1) * side, tile->n);
    for (size_t at = k * side, n; at < end; at += n) {
      n = hui_least(end - at, PIECE);
      if (tile->way[k] != SLOW && undo_piece(work, row, tile->col + at, n, n, tile->way[k], tile->by + k)) continue;
      const known_scale *known = factor_of(work, tile->made, scale_code(work, row, tile->first + k));
      undo_core(work, row, tile->col + at, n, &known->shared, z_at(work, row, tile->col + at));
    }
  }
}

/* Decodes blocks of the same path, together where kernels take them so. */
static void undo_kernels(const decoding *work, code_tile *tile, size_t first, size_t past) {
  size_t side = work->shape.side_cols, at = first * side, n = hui_least(past * side, tile->n) - at;
  int way = tile->way[first], together = way != SLOW && n <= PIECE;
  for (size_t row = tile->row; row < tile->last; row++) {
    if (together && undo_piece(work, row, tile->col + at, n, side, way, tile->by + first)) continue;
    undo_blocks(work, tile, row, first, past);
  }
}

/* Decodes codes of whole blocks of `side`, with an amount per block in `by`. What `values` ends before, up to the end
 * of its block, is for strips. */
static void undo_values(const decoding *work, int way, size_t n, size_t side, uint32_t *z, const uint8_t *x,
                        const uint32_t *by) {
  uint32_t own[HU_STRIP + HU_SPREAD];
  for (size_t i = 0; i < n;) {
    i += work->values->decode(&work->grid, way, n - i, side, z + i, x + i, by + i / side);
    if (i == n) return;
    size_t k = i / side, m = side == 1 ? hui_least(HU_SPREAD, n - i) : hui_least((k + 1) * side, n) - i;
    if (side > 1) work->lanes->spread(m, m, own, by + k);
    work->strips->decode(&work->grid, way, 1, m, z + i, x + i, side > 1 ? own : by + k);
    i += m;
  }
}

/* Decodes by strips, or by what is quicker. */
static void undo_strips(const decoding *work, code_tile *tile, size_t first, size_t past) {
  uint32_t spread[HU_STRIP + HU_SPREAD];
  size_t side = work->shape.side_cols, at = first * side, end = hui_least(past * side, tile->n),
         n = hui_least(end - at, HU_STRIP);
  size_t each = work->values && side % HU_VALUES_SIDE == 0 ? hui_least(side, HU_STRIP) : 1;
  const uint32_t *by = tile->by + first;
  if (side > 1 && each == 1) {
    work->lanes->spread(n, side, spread, by);
    by = spread;
  }
  for (size_t row = tile->row; row < tile->last; row++) {
    for (size_t i = at; i < end; i += n) { /* more than one turn: within one block */
      size_t col = tile->col + i, m = hui_least(end - i, n);
      const uint8_t *x = code_at(work, row, col);
      if (work->values) {
        undo_values(work, tile->way[first], m, each, z_at(work, row, col), x, by);
      } else {
        work->strips->decode(&work->grid, tile->way[first], (int)work->shape.code_size, m, z_at(work, row, col), x, by);
      }
    }
  }
}

/* Finds the paths and amounts of the tile's blocks. */
static void undo_scales(const decoding *work, code_tile *tile) {
  for (size_t k = 0; k < tile->count && work->shape.scale_size > 1; k++) {
    const known_scale *known = factor_of(work, tile->made, scale_code(work, tile->row, tile->first + k));
    tile->way[k] = (uint8_t)known->way;
    tile->by[k] = known->by;
  }
  if (work->shape.scale_size > 1) return;
  const uint8_t *codes = (const uint8_t *)work->call.codes->scales +
                         tile->row / work->shape.side_rows * work->call.codes->lds + tile->first;
  for (size_t k = 0; k < tile->count; k++) {
    uint8_t c = codes[k];
    if (tile->byte_way[c] == UNKNOWN) {
      const known_scale *known = factor_of(work, tile->made, c);
      tile->byte_way[c] = (uint8_t)known->way;
      tile->byte_by[c] = known->by;
    }
    tile->way[k] = tile->byte_way[c];
    tile->by[k] = tile->byte_by[c];
  }
}

static void undo_tile(const decoding *work, code_tile *tile) {
  undo_scales(work, tile);
  for (size_t k = 0, next; k < tile->count; k = next) {
    for (next = k + 1; next < tile->count && tile->way[next] == tile->way[k];) next++;
    if (tile->way[k] != SLOW && work->strips) {
      undo_strips(work, tile, k, next);
    } else {
      undo_kernels(work, tile, k, next);
    }
  }
}

/* Decodes the rows of one row of blocks. */
static void undo_rows(const decoding *work, code_tile *tile) {
  size_t side = work->shape.side_cols, across = side < HU_STRIP ? HU_STRIP / side : 1;
  for (size_t first = 0; first < work->shape.block_cols; first += across) {
    tile->first = first;
    tile->count = hui_least(across, work->shape.block_cols - first);
    tile->col = first * side;
    tile->n = hui_least(tile->count * side, work->shape.cols - tile->col);
    undo_tile(work, tile);
  }
}

static void undo_part(void *context, size_t part) {
  const decoding *work = context;
  size_t row = part * work->part, last = hui_least(row + work->part, work->shape.rows), side = work->shape.side_rows;
  code_tile tile;
  memset(tile.made, 0, sizeof tile.made);
  memset(tile.byte_way, UNKNOWN, sizeof tile.byte_way);
  int few = work->shape.side_cols >= HU_SIDE_MIN; /* scales in a row: memory had better be gone through in order */
  for (; row < last; row = tile.last) {
    tile.row = row;
    tile.last = few ? row + 1 : hui_least((row / side + 1) * side, last);
    undo_rows(work, &tile);
  }
}

/* Chooses the lanes and kernels that serve. */
static void choose(decoding *work) {
  const hu_spec *spec = &work->scaler.element;
  const hu_level *level = hui_level_for(work->call.exec);
  work->lanes = level->scaled_rows;
  if (!work->lanes || !hui_lane_constants_of(&work->constants, spec) || !spec->fits_binary32) return;
  if (spec->emin - spec->m < -126) return;
  if (hui_scaled_grid_of(&work->grid, &work->scaler)) work->strips = level->scaled_strips;
  if (work->strips && hui_scaled_values_can(&work->grid, work->shape.code_size)) work->values = level->scaled_values;
  if (work->scaler.coding != HU_CODING_TWOS || work->shape.code_size == 1) work->kernels = level->convert;
}

void hui_scaled_undo(const hu_scaled_call *call) {
  decoding work;
  hu_mode rne = {0};
  memset(&work, 0, sizeof work);
  if (call->rows == 0 || call->cols == 0) return;
  work.call = *call;
  work.shape = hui_scaled_shape_of(call->rows, call->cols, &call->scaling);
  work.scaler = hui_scaler_of(call->scaling, rne);
  if (work.scaler.two) work.scaler.tensor = hui_unpack32(hui_bits_of_float(*call->codes->tensor));
  choose(&work);
  uint32_t threads = hui_exec_threads(call->exec);
  size_t least = call->cols >= PART_MIN ? 1 : PART_MIN / call->cols;
  work.part = (call->rows - 1) / threads + 1;
  if (work.part < least) work.part = least;
  hui_parallel(threads, (call->rows - 1) / work.part + 1, undo_part, &work);
}
