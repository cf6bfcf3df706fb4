/* SPDX-License-Identifier: MIT */
/* Rounds the elements of blocks whose scales are known, by one of the ways of emu/scaled/work.h: strips, where one
 * kernel does everything; lanes and conversion kernels one after the other, for formats that strips do not take; or the
 * core. */
#include "emu/base/float_env.h"
#include "emu/core/stream.h"
#include "emu/scaled/work.h"

enum { PIECE = HU_STRIP };

static uint32_t *z_at(const hu_scaled_work *g, size_t row, size_t col) { return g->c.z + row * g->c.ldz + col; }

/* Number of the random word of an element. */
static uint64_t word_at(const hu_scaled_work *g, size_t row, size_t col) {
  return (g->c.exec ? g->c.exec->stream.counter : 0) + (uint64_t)row * g->c.cols + col;
}
static uint64_t key_of(const hu_scaled_work *g) { return g->c.exec ? g->c.exec->stream.key : 0; }

/* ---- the core ---- */

void hui_scaled_core(const hu_scaled_work *g, hu_scaled_span s, const hu_shared *b, hu_events *counts) {
  uint32_t bits = g->scaler.element.bits;
  for (size_t i = 0; i < s.n; i++) {
    uint32_t events, r = 0;
    if (bits) r = hui_stream_at(key_of(g), word_at(g, s.row, s.col + i)) >> (32 - bits);
    uint32_t code = hui_scaled_element(&g->scaler, b, *hui_scaled_x(g, s.row, s.col + i), r, &events);
    if (g->c.codes) hui_store_code(hui_scaled_code(g, s.row, s.col + i), g->s.code_size, code);
    if (g->c.z) *z_at(g, s.row, s.col + i) = hui_scaled_value(&g->scaler, b, code);
    hu_events_count(counts, events);
  }
}

/* ---- lanes and kernels, a step after another; what scales an element is given one a block of `side` ---- */

static void call_kernel(const hu_scaled_work *g, const hu_scaled_span *s, const uint32_t *y, uint32_t *z,
                        hu_events *counts) {
  hu_piece p = {s->n, z, y, key_of(g), word_at(g, s->row, s->col), 0};
  if (z) {
    g->kernels->quantize(&g->constants, &p, counts);
    return;
  }
  p.z = hui_scaled_code(g, s->row, s->col);
  g->kernels->encode[hui_by_size(g->s.code_size)](&g->constants, &p, counts);
}

static void to_twos(const hu_scaled_work *g, const hu_scaled_span *s) {
  const hu_spec *f = &g->scaler.element;
  uint8_t *z = hui_scaled_code(g, s->row, s->col);
  for (size_t i = 0; i < s->n; i++, z += g->s.code_size) {
    hui_store_code(z, g->s.code_size, hui_twos_of(f, hui_load_code(z, g->s.code_size)));
  }
}

/* x divided, by operations to nearest or on exponents. */
static void divide(const hu_scaled_work *g, int way, size_t n, size_t side, uint32_t *y, const uint32_t *x,
                   const uint32_t *by) {
  if (way == HU_SHIFT) {
    g->lanes->shift(n, side, y, x, by);
    return;
  }
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  (way == HU_OVER ? g->lanes->over_bounded : g->lanes->times_bounded)(n, side, y, x, by);
  hui_float_env_leave(saved);
}

static void multiply(const hu_scaled_work *g, size_t n, size_t side, uint32_t *z, const uint32_t *v,
                     const uint32_t *back) {
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  g->lanes->times(n, side, z, v, back);
  hui_float_env_leave(saved);
}

/* At most PIECE elements. */
static void run_steps(const hu_scaled_work *g, const hu_scaled_span *s, size_t side, int way, const uint32_t *by,
                      const uint32_t *back, hu_events *counts) {
  uint32_t y[PIECE], v[PIECE], less[PIECE];
  divide(g, way, s->n, side, y, hui_scaled_x(g, s->row, s->col), by);
  call_kernel(g, s, y, g->c.z ? v : NULL, counts);
  if (!g->c.z) {
    if (g->scaler.coding == HU_CODING_TWOS) to_twos(g, s);
  } else if (way == HU_SHIFT) {
    for (size_t k = 0; k <= (s->n - 1) / side; k++) less[k] = 0 - by[k];
    g->lanes->shift_back(s->n, side, z_at(g, s->row, s->col), v, less);
  } else {
    multiply(g, s->n, side, z_at(g, s->row, s->col), v, back);
  }
}

/* A row of blocks first ... past - 1; block by block where statistics are wanted. */
static void row_of_steps(const hu_scaled_work *g, const hu_scaled_group *w, size_t row, size_t first, size_t past,
                         hu_events *counts) {
  size_t side = g->s.side_cols, end = hui_least(past * side, w->n), each = w->stats ? 1 : past - first;
  for (size_t k = first; k < past; k += each) {
    size_t at = k * side, stop = hui_least(at + each * side, end);
    for (; at < stop; at += PIECE) {
      hu_events own = {0};
      hu_scaled_span s = {row, w->col + at, hui_least(stop - at, PIECE)};
      run_steps(g, &s, hui_least(side, PIECE), w->way[k], w->by + k, w->back + k, &own);
      hu_events_add(counts, &own);
      if (!w->stats) continue;
      w->stats[k].saturated += own.saturated;
      w->stats[k].to_zero += own.to_zero;
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
static int in_steps(const hu_scaled_work *g, int way) {
  return way != HU_SHIFT && hui_direction_of(g->grid.constants.round) != HU_LANE_NEAREST;
}

static uint32_t limited(uint32_t u, uint32_t limit) {
  uint32_t a = u & 0x7FFFFFFF;
  return (a < limit ? a : limit) | (u & 0x80000000);
}

/* One strip; back: floats where way is not HU_SHIFT. room: HU_STRIP words that codes may take for quotients. */
static void run_strip(const hu_scaled_work *g, int way, hu_scaled_strip *s, uint32_t *room, hu_events *counts) {
  int to = g->c.z ? 0 : (int)g->s.code_size;
  if (!in_steps(g, way)) {
    g->strips->round(&g->grid, way, to, s, counts);
    return;
  }
  uint32_t *y = g->c.z ? s->z : room;
  const uint32_t none = 0;
  hu_scaled_strip middle = *s;
  divide(g, way, s->n, 1, y, s->x, s->by);
  for (size_t i = 0; i < s->n; i++) y[i] = limited(y[i], g->grid.limit);
  middle.x = y;
  middle.by = &none;
  middle.side = 31;
  g->strips->round(&g->grid, HU_SHIFT, to, &middle, counts);
  if (g->c.z) multiply(g, s->n, 1, y, y, s->back);
}

/* A strip of a row, from column col on, beginning at block k of the group. */
static void strip_of_row(const hu_scaled_work *g, const hu_scaled_group *w, size_t k, size_t row, size_t col,
                         hu_scaled_strip *s, uint32_t *room, hu_events *counts) {
  uint32_t marks[HU_STRIP];
  s->marks = w->stats ? marks : NULL;
  s->x = hui_scaled_x(g, row, col);
  s->z = g->c.z ? (void *)z_at(g, row, col) : hui_scaled_code(g, row, col);
  s->key = key_of(g);
  s->word = word_at(g, row, col);
  run_strip(g, w->way[k], s, room, counts);
  if (w->stats) add_marks(&w->stats[k], g->s.side_cols, s->n, marks);
}

/* What scales an element, one an element where a block is no power of two of them. */
static void give(const hu_scaled_work *g, int way, hu_scaled_strip *s, uint32_t *by, uint32_t *back) {
  size_t side = g->s.side_cols;
  s->side = HU_SIDE_EACH;
  if (side == 1) return;
  if (in_steps(g, way)) {
    /* lanes and strips use the same ones */
  } else if (side >= HU_STRIP || (side >= HU_SIDE_MIN && (side & (side - 1)) == 0)) {
    s->side = side >= HU_STRIP ? 31 : 63 - hui_clz64(side);
    return;
  }
  g->lanes->spread(s->n, side, by, s->by);
  s->by = by;
  if (!s->back) return;
  g->lanes->spread(s->n, side, back, s->back);
  s->back = back;
}

/* Rows that a strip may have: that of blocks lying under one another is one row after the other. */
static size_t rows_at_once(const hu_scaled_work *g, const hu_scaled_group *w, size_t first, int whole) {
  int can = whole && g->c.z && w->way[first] == HU_SHIFT && !w->stats && g->grid.constants.round < HU_SRA;
  return can ? HU_STRIP_ROWS : 1;
}

/* Blocks of one way. */
static void run_strips(const hu_scaled_work *g, const hu_scaled_group *w, size_t first, size_t past,
                       hu_events *counts) {
  uint32_t by[HU_STRIP + HU_SPREAD], back[HU_STRIP + HU_SPREAD];
  size_t end = hui_least(past * g->s.side_cols, w->n), at = first * g->s.side_cols;
  hu_scaled_strip s;
  memset(&s, 0, sizeof s);
  s.n = hui_least(HU_STRIP, end - at);
  s.by = w->by + first;
  s.back = g->c.codes || w->way[first] == HU_SHIFT ? NULL : w->back + first;
  give(g, w->way[first], &s, by, back);
  s.ldx = g->c.ldx;
  s.ldz = g->c.ldz;
  size_t most = rows_at_once(g, w, first, s.n == end - at);
  for (size_t row = w->row, n = s.n; row < w->last; row += s.rows) {
    s.rows = hui_least(most, w->last - row);
    for (size_t i = at; i < end; i += n) { /* more than one turn: within one block */
      s.n = hui_least(n, end - i);
      strip_of_row(g, w, first, row, w->col + i, &s, back, counts);
    }
  }
}

/* ---- rows together ---- */

/* Rows of blocks k ... past - 1 of each. */
static void strip_of_rows(const hu_scaled_work *g, const hu_scaled_group *w, size_t first, size_t rows, size_t k,
                          size_t past, hu_events *counts) {
  size_t side = g->s.side_cols;
  hu_scaled_strip s;
  memset(&s, 0, sizeof s);
  s.n = hui_least(past * side, w->n) - k * side;
  s.x = hui_scaled_x(g, w->row + first, k * side);
  s.z = z_at(g, w->row + first, k * side);
  s.by = w->by + first * g->s.block_cols + k;
  s.side = g->s.block_cols == 1 ? 31 : 63 - hui_clz64(side);
  s.rows = rows;
  s.ldx = g->c.ldx;
  s.ldz = g->c.ldz;
  s.ldby = g->s.block_cols;
  g->strips->round(&g->grid, HU_SHIFT, 0, &s, counts);
}

void hui_scaled_rows(const hu_scaled_work *g, const hu_scaled_group *w, hu_events *counts) {
  const size_t rows = w->last - w->row, blocks = g->s.block_cols;
  for (size_t row = 0, next; row < rows; row = next) {
    for (next = row; next < rows; next++) {
      size_t k = 0;
      while (k < blocks && w->way[next * blocks + k] == HU_SHIFT) k++;
      if (k < blocks) break;
    }
    if (next > row) strip_of_rows(g, w, row, next - row, 0, blocks, counts);
    if (next == rows) break;
    /* A row some blocks of which are done already. */
    for (size_t k = 0, past; k < blocks; k = past + 1) {
      for (past = k; past < blocks && w->way[next * blocks + past] == HU_SHIFT;) past++;
      if (past > k) strip_of_rows(g, w, next, 1, k, past, counts);
    }
    next++;
  }
}

void hui_scaled_elements(const hu_scaled_work *g, const hu_scaled_group *w, size_t first, size_t past,
                         hu_events *counts) {
  if (g->strips) {
    run_strips(g, w, first, past, counts);
    return;
  }
  for (size_t row = w->row; row < w->last; row++) row_of_steps(g, w, row, first, past, counts);
}
