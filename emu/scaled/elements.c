/* SPDX-License-Identifier: MIT */
/* Rounds the elements of blocks whose scales are known, by one of the ways of emu/scaled/work.h: strips, where one
 * kernel does everything; lanes and conversion kernels one after the other, for formats that strips do not take; or the
 * core. */
#include "emu/base/float_env.h"
#include "emu/core/stream.h"
#include "emu/scaled/work.h"

enum { PIECE = HU_STRIP };

static uint32_t *z_at(const hu_scaled_work *work, size_t row, size_t col) {
  return work->call.z + row * work->call.ldz + col;
}

/* Returns the number of the random word of an element. */
static uint64_t word_at(const hu_scaled_work *work, size_t row, size_t col) {
  return (work->call.exec ? work->call.exec->stream.counter : 0) + (uint64_t)row * work->call.cols + col;
}
static uint64_t key_of(const hu_scaled_work *work) { return work->call.exec ? work->call.exec->stream.key : 0; }

/* ---- the core ---- */

void hui_scaled_core(const hu_scaled_work *work, hu_scaled_span span, const hu_shared *shared, hu_events *counts) {
  uint32_t bits = work->scaler.element.bits;
  for (size_t i = 0; i < span.n; i++) {
    uint32_t events, random = 0;
    if (bits) random = hui_stream_at(key_of(work), word_at(work, span.row, span.col + i)) >> (32 - bits);
    uint32_t code =
        hui_scaled_element(&work->scaler, shared, *hui_scaled_x(work, span.row, span.col + i), random, &events);
    if (work->call.codes) hui_store_code(hui_scaled_code(work, span.row, span.col + i), work->shape.code_size, code);
    if (work->call.z) *z_at(work, span.row, span.col + i) = hui_scaled_value(&work->scaler, shared, code);
    hu_events_count(counts, events);
  }
}

/* ---- lanes and kernels, a step after another; each block of `side` has one amount ---- */

static void call_kernel(const hu_scaled_work *work, const hu_lane_constants *constants, const hu_scaled_span *span,
                        const uint32_t *y, uint32_t *z, hu_events *counts) {
  hu_piece piece = {span->n, z, y, key_of(work), word_at(work, span->row, span->col), 0};
  if (z) {
    work->kernels->quantize(constants, &piece, counts);
    return;
  }
  piece.z = hui_scaled_code(work, span->row, span->col);
  work->kernels->encode[hui_by_size(work->shape.code_size)](constants, &piece, counts);
}

static void to_twos(const hu_scaled_work *work, const hu_spec *spec, const hu_scaled_span *span) {
  uint8_t *z = hui_scaled_code(work, span->row, span->col);
  for (size_t i = 0; i < span->n; i++, z += work->shape.code_size) {
    hui_store_code(z, work->shape.code_size, hui_twos_of(spec, hui_load_code(z, work->shape.code_size)));
  }
}

/* Divides x, by operations to nearest or on exponents. */
static void divide(const hu_scaled_work *work, int way, size_t n, size_t side, uint32_t *y, const uint32_t *x,
                   const uint32_t *by) {
  if (way == HU_SHIFT) {
    work->lanes->shift(n, side, y, x, by);
    return;
  }
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  (way == HU_OVER ? work->lanes->over_bounded : work->lanes->times_bounded)(n, side, y, x, by);
  hui_float_env_leave(saved);
}

static void multiply(const hu_scaled_work *work, size_t n, size_t side, uint32_t *z, const uint32_t *values,
                     const uint32_t *back) {
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  work->lanes->times(n, side, z, values, back);
  hui_float_env_leave(saved);
}

/* Rounds at most PIECE elements. */
static void run_steps(const hu_scaled_work *work, const hu_scaled_span *span, size_t side, int way, const uint32_t *by,
                      const uint32_t *back, hu_events *counts) {
  uint32_t y[PIECE], values[PIECE], less[PIECE];
  divide(work, way, span->n, side, y, hui_scaled_x(work, span->row, span->col), by);
  call_kernel(work, &work->constants, span, y, work->call.z ? values : NULL, counts);
  if (!work->call.z) {
    if (work->scaler.coding == HU_CODING_TWOS) to_twos(work, &work->scaler.element, span);
  } else if (way == HU_SHIFT) {
    for (size_t k = 0; k <= (span->n - 1) / side; k++) less[k] = 0 - by[k];
    work->lanes->shift_back(span->n, side, z_at(work, span->row, span->col), values, less);
  } else {
    multiply(work, span->n, side, z_at(work, span->row, span->col), values, back);
  }
}

/* ---- formulas ---- */

/* Computes what the formula makes of n elements of block k; zeros stay. */
static void elements_by_formula(const hu_scaled_work *work, const hu_scaled_group *group, size_t k, size_t n,
                                uint32_t *y, const uint32_t *x) {
  const hu_scaler *scaler = &work->scaler;
  uint32_t amax[HU_FORMULA_PIECE], scale[HU_FORMULA_PIECE],
      at = scaler->start[HU_OF_ELEMENT], value = hui_pack32(hui_unpack(&scaler->scale, group->codes[k])) & 0x7FFFFFFF;
  const uint32_t *const named[3] = {amax, scale, y};
  for (size_t i = 0; i < n; i++) {
    amax[i] = group->by[k];
    scale[i] = value;
    y[i] = x[i] & 0x7FFFFFFF;
  }
  hui_scaled_formula(work, at, hui_formula_end(&scaler->formulas, at), n, named, y);
  for (size_t i = 0; i < n; i++) y[i] = x[i] << 1 ? y[i] | (x[i] & 0x80000000) : x[i];
}

/* Gives zeros among values or codes the signs of `minus`. */
static void sign_zeros(const hu_scaled_work *work, const hu_scaled_span *span, uint32_t *values) {
  const uint32_t *x = hui_scaled_x(work, span->row, span->col);
  uint8_t *codes = values ? NULL : hui_scaled_code(work, span->row, span->col);
  for (size_t i = 0; i < span->n; i++) {
    if (values) {
      uint32_t code = values[i] >> 31 ? work->scaler.element.sign_mask : 0;
      if (values[i] << 1 == 0) values[i] = hui_zero_signed(&work->scaler, code, x[i]) ? 0x80000000 : 0;
    } else {
      uint8_t *code = codes + i * work->shape.code_size;
      hui_store_code(code, work->shape.code_size,
                     hui_zero_signed(&work->scaler, hui_load_code(code, work->shape.code_size), x[i]));
    }
  }
}

/* Rounds at most HU_FORMULA_PIECE elements of block k. */
static void formula_piece(const hu_scaled_work *work, const hu_scaled_group *group, size_t k,
                          const hu_scaled_span *span, hu_events *counts) {
  uint32_t y[HU_FORMULA_PIECE], values[HU_FORMULA_PIECE];
  elements_by_formula(work, group, k, span->n, y, hui_scaled_x(work, span->row, span->col));
  call_kernel(work, &work->constants, span, y, work->call.z ? values : NULL, counts);
  if (work->scaler.minus) sign_zeros(work, span, work->call.z ? values : NULL);
  if (work->call.z)
    multiply(work, span->n, span->n, z_at(work, span->row, span->col), values, group->back + k);
  else if (work->scaler.coding == HU_CODING_TWOS)
    to_twos(work, &work->scaler.element, span);
}

/* Does the same for a block of integers. */
static void integer_piece(const hu_scaled_work *work, const hu_scaled_group *group, size_t k,
                          const hu_scaled_span *span, hu_events *counts) {
  uint32_t y[HU_FORMULA_PIECE], values[HU_FORMULA_PIECE];
  divide(work, HU_TIMES, span->n, span->n, y, hui_scaled_x(work, span->row, span->col), group->by + k);
  divide(work, HU_TIMES, span->n, span->n, y, y, &work->to_integer);
  call_kernel(work, &work->integer, span, y, work->call.z ? values : NULL, counts);
  if (work->call.z) {
    multiply(work, span->n, span->n, values, values, &work->of_integer);
    multiply(work, span->n, span->n, z_at(work, span->row, span->col), values, group->back + k);
  } else if (work->scaler.twos) {
    to_twos(work, &work->scaler.integer, span);
  }
}

/* Rounds blocks first ... past - 1 of a group by the formula x, or into integers. */
static void run_pieces(const hu_scaled_work *work, const hu_scaled_group *group, size_t first, size_t past,
                       hu_events *counts) {
  for (size_t row = group->row; row < group->last; row++)
    for (size_t k = first; k < past; k++) {
      size_t at = k * work->shape.side_cols, end = hui_least(at + work->shape.side_cols, group->n);
      hu_events own = {0};
      for (size_t n; at < end; at += n) {
        hu_scaled_span span = {row, group->col + at, n = hui_least(end - at, HU_FORMULA_PIECE)};
        if (group->way[first] == HU_BY_INTEGERS)
          integer_piece(work, group, k, &span, &own);
        else
          formula_piece(work, group, k, &span, &own);
      }
      hu_events_add(counts, &own);
      if (!group->stats) continue;
      group->stats[k].saturated += own.saturated;
      group->stats[k].to_zero += own.to_zero;
    }
}

/* Rounds a row of blocks first ... past - 1; block by block where statistics are asked for. */
static void row_of_steps(const hu_scaled_work *work, const hu_scaled_group *group, size_t row, size_t first,
                         size_t past, hu_events *counts) {
  size_t side = work->shape.side_cols, end = hui_least(past * side, group->n), each = group->stats ? 1 : past - first;
  for (size_t k = first; k < past; k += each) {
    size_t at = k * side, stop = hui_least(at + each * side, end);
    for (; at < stop; at += PIECE) {
      hu_events own = {0};
      hu_scaled_span span = {row, group->col + at, hui_least(stop - at, PIECE)};
      run_steps(work, &span, hui_least(side, PIECE), group->way[k], group->by + k, group->back + k, &own);
      hu_events_add(counts, &own);
      if (!group->stats) continue;
      group->stats[k].saturated += own.saturated;
      group->stats[k].to_zero += own.to_zero;
    }
  }
}

/* ---- strips ---- */

static void add_marks(hu_scaled_stats *stats, size_t side, size_t n, const uint32_t *marks) {
  for (size_t i = 0; i < n; stats++) {
    size_t end = hui_least(i + side, n);
    uint64_t sum = 0;
    for (; i < end; i++) sum += marks[i];
    stats->saturated += sum & 0xFFFF;
    stats->to_zero += sum >> 16;
  }
}

/* Where sums are rounded otherwise than to nearest, which products and quotients are not. */
static int in_steps(const hu_scaled_work *work, int way) {
  return way != HU_SHIFT && hui_direction_of(work->grid.constants.round) != HU_LANE_NEAREST;
}

static uint32_t limited(uint32_t bits, uint32_t limit) {
  uint32_t a = bits & 0x7FFFFFFF;
  return (a < limit ? a : limit) | (bits & 0x80000000);
}

/* Rounds one strip; back: floats where way is not HU_SHIFT. buffer: HU_STRIP words, which codes take for quotients. */
static void run_strip(const hu_scaled_work *work, int way, hu_scaled_strip *strip, uint32_t *buffer,
                      hu_events *counts) {
  int to = work->call.z ? 0 : (int)work->shape.code_size;
  if (!in_steps(work, way)) {
    work->strips->round(&work->grid, way, to, strip, counts);
    return;
  }
  uint32_t *y = work->call.z ? strip->z : buffer;
  const uint32_t none = 0;
  hu_scaled_strip middle = *strip;
  divide(work, way, strip->n, 1, y, strip->x, strip->by);
  for (size_t i = 0; i < strip->n; i++) y[i] = limited(y[i], work->grid.limit);
  middle.x = y;
  middle.by = &none;
  middle.side = 31;
  work->strips->round(&work->grid, HU_SHIFT, to, &middle, counts);
  if (work->call.z) multiply(work, strip->n, 1, y, y, strip->back);
}

/* Rounds a strip of a row, from column col on, beginning at block k of the group. */
static void strip_of_row(const hu_scaled_work *work, const hu_scaled_group *group, size_t k, size_t row, size_t col,
                         hu_scaled_strip *strip, uint32_t *buffer, hu_events *counts) {
  uint32_t marks[HU_STRIP];
  strip->marks = group->stats ? marks : NULL;
  strip->x = hui_scaled_x(work, row, col);
  strip->z = work->call.z ? (void *)z_at(work, row, col) : hui_scaled_code(work, row, col);
  strip->key = key_of(work);
  strip->word = word_at(work, row, col);
  run_strip(work, group->way[k], strip, buffer, counts);
  if (group->stats) add_marks(&group->stats[k], work->shape.side_cols, strip->n, marks);
}

/* Sets the amounts of a strip, one per element where a block is no power of two of them. */
static void give(const hu_scaled_work *work, int way, hu_scaled_strip *strip, uint32_t *by, uint32_t *back) {
  size_t side = work->shape.side_cols;
  strip->side = HU_SIDE_EACH;
  if (side == 1) return;
  if (in_steps(work, way)) {
    /* lanes and strips use the same ones */
  } else if (side >= HU_STRIP || (side >= HU_SIDE_MIN && (side & (side - 1)) == 0)) {
    strip->side = side >= HU_STRIP ? 31 : 63 - hui_clz64(side);
    return;
  }
  work->lanes->spread(strip->n, side, by, strip->by);
  strip->by = by;
  if (!strip->back) return;
  work->lanes->spread(strip->n, side, back, strip->back);
  strip->back = back;
}

/* Returns how many rows a strip may have: that of blocks lying under one another is one row after the other. */
static size_t rows_at_once(const hu_scaled_work *work, const hu_scaled_group *group, size_t first, int whole) {
  int can =
      whole && work->call.z && group->way[first] == HU_SHIFT && !group->stats && work->grid.constants.round < HU_SRA;
  return can ? HU_STRIP_ROWS : 1;
}

/* Rounds blocks of the same path. */
static void run_strips(const hu_scaled_work *work, const hu_scaled_group *group, size_t first, size_t past,
                       hu_events *counts) {
  uint32_t by[HU_STRIP + HU_SPREAD], back[HU_STRIP + HU_SPREAD];
  size_t end = hui_least(past * work->shape.side_cols, group->n), at = first * work->shape.side_cols;
  hu_scaled_strip strip;
  memset(&strip, 0, sizeof strip);
  strip.n = hui_least(HU_STRIP, end - at);
  strip.by = group->by + first;
  strip.back = work->call.codes || group->way[first] == HU_SHIFT ? NULL : group->back + first;
  give(work, group->way[first], &strip, by, back);
  strip.ldx = work->call.ldx;
  strip.ldz = work->call.ldz;
  size_t most = rows_at_once(work, group, first, strip.n == end - at);
  for (size_t row = group->row, n = strip.n; row < group->last; row += strip.rows) {
    strip.rows = hui_least(most, group->last - row);
    for (size_t i = at; i < end; i += n) { /* more than one turn: within one block */
      strip.n = hui_least(n, end - i);
      strip_of_row(work, group, first, row, group->col + i, &strip, back, counts);
    }
  }
}

/* ---- rows together ---- */

/* Rounds blocks k ... past - 1 of so many rows. */
static void strip_of_rows(const hu_scaled_work *work, const hu_scaled_group *group, size_t first, size_t rows, size_t k,
                          size_t past, hu_events *counts) {
  size_t side = work->shape.side_cols;
  hu_scaled_strip strip;
  memset(&strip, 0, sizeof strip);
  strip.n = hui_least(past * side, group->n) - k * side;
  strip.x = hui_scaled_x(work, group->row + first, k * side);
  strip.z = z_at(work, group->row + first, k * side);
  strip.by = group->by + first * work->shape.block_cols + k;
  strip.side = work->shape.block_cols == 1 ? 31 : 63 - hui_clz64(side);
  strip.rows = rows;
  strip.ldx = work->call.ldx;
  strip.ldz = work->call.ldz;
  strip.ldby = work->shape.block_cols;
  work->strips->round(&work->grid, HU_SHIFT, 0, &strip, counts);
}

void hui_scaled_rows(const hu_scaled_work *work, const hu_scaled_group *group, hu_events *counts) {
  const size_t rows = group->last - group->row, blocks = work->shape.block_cols;
  for (size_t row = 0, next; row < rows; row = next) {
    for (next = row; next < rows; next++) {
      size_t k = 0;
      while (k < blocks && group->way[next * blocks + k] == HU_SHIFT) k++;
      if (k < blocks) break;
    }
    if (next > row) strip_of_rows(work, group, row, next - row, 0, blocks, counts);
    if (next == rows) break;
    /* A row some blocks of which are done already. */
    for (size_t k = 0, past; k < blocks; k = past + 1) {
      for (past = k; past < blocks && group->way[next * blocks + past] == HU_SHIFT;) past++;
      if (past > k) strip_of_rows(work, group, next, 1, k, past, counts);
    }
    next++;
  }
}

void hui_scaled_elements(const hu_scaled_work *work, const hu_scaled_group *group, size_t first, size_t past,
                         hu_events *counts) {
  if (group->way[first] >= HU_BY_FORMULA) {
    run_pieces(work, group, first, past, counts);
    return;
  }
  if (work->strips) {
    run_strips(work, group, first, past, counts);
    return;
  }
  for (size_t row = group->row; row < group->last; row++) row_of_steps(work, group, row, first, past, counts);
}
