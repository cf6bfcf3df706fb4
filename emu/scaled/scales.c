/* SPDX-License-Identifier: MIT */
/* Computes the scales of a group of blocks: powers of two and ratios in lanes where those do the same steps, else one
 * by one. */
#include "emu/base/float_env.h"
#include "emu/scaled/work.h"

enum { NEVER = INT32_MIN, SCALE_PIECE = 256 };

/* ---- magnitudes ---- */

void hui_scaled_look(const hu_scaled_work *g, size_t n, size_t side, const uint32_t *x, uint32_t *top) {
  if (g->lanes) {
    g->lanes->look(n, side, x, top);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    uint32_t a = x[i] & 0x7FFFFFFF, *t = top + i / side;
    if (a > *t) *t = a;
  }
}

uint32_t hui_scaled_limited_top(const hu_scaled_work *g, size_t n, const uint32_t *x, uint32_t top, uint64_t *special) {
  for (size_t i = 0; i < n; i++) {
    uint32_t a = x[i] & 0x7FFFFFFF;
    *special += a >= 0x7F800000;
    if (a == 0x7F800000 && g->scaler.special == HU_SPECIAL_SATURATE) a = HU_LARGEST32;
    if (a < 0x7F800000 && a > top) top = a;
  }
  return top;
}

/* ---- one block ---- */

int hui_scaled_way(const hu_scaled_work *g, const hu_shared *b, uint32_t top, uint32_t *by, uint32_t *back) {
  const hu_spec *f = &g->scaler.element;
  if (!g->kernels || b->under != HU_UNDER_SCALE || top >= 0x7F800000) return HU_BY_CORE;
  if (g->scaler.steps != HU_STEPS_EXACT) {
    *by = hui_pack32(b->by);
    *back = hui_pack32(b->back);
    return g->scaler.steps == HU_STEPS_DIVIDE ? HU_OVER : HU_TIMES;
  }
  if (b->by.sig & (b->by.sig - 1)) return HU_BY_CORE;
  int32_t e = hui_exponent(b->by);
  *by = *back = (uint32_t)e << 23;
  if (g->strips) return e < g->grid.least || e > g->grid.most || top >= g->grid.highest ? HU_BY_CORE : HU_SHIFT;
  if (g->c.z && (f->emin - f->m + e < -126 || g->scaler.emax + e > 127)) return HU_BY_CORE;
  if ((e > 0 ? 0 : -e) - 126 > f->emin - f->m - 34 || (int32_t)(top >> 23) - e > 254) return HU_BY_CORE;
  return e < -254 || e > 254 ? HU_BY_CORE : HU_SHIFT;
}

static hu_shared shared_of(const hu_scaled_work *g, hu_scaled_group *w, uint32_t amax, int nan) {
  if (amax < g->scaler.amin) amax = g->scaler.amin;
  if (nan || amax == 0 || g->scaler.rule == HU_SCALE_RATIO) return hui_shared_of(&g->scaler, amax, (uint32_t)nan);
  int32_t e = hui_scale_exponent(&g->scaler, hui_unpack32(amax));
  uint32_t k = (uint32_t)e % HU_POWERS_KEPT;
  if (w->made_for[k] != e) {
    w->made[k] = hui_shared_power(&g->scaler, e);
    w->made_for[k] = e;
  }
  return w->made[k];
}

/* The better scale of a block of finite elements. */
static hu_shared better(const hu_scaled_work *g, const hu_scaled_place *p, uint32_t amax, const hu_shared *six) {
  hu_four_six_block b = {hui_scaled_x(g, p->row, p->col), p->last - p->row, p->n, g->c.ldx, g->c.cols, 0, 0};
  if (g->c.exec) b.key = g->c.exec->stream.key;
  b.word = (g->c.exec ? g->c.exec->stream.counter : 0) + (uint64_t)p->row * g->c.cols + p->col;
  return hui_scaled_choose(g, &b, amax, six);
}

static void add_stats(hu_scaled_stats *s, const hu_events *events) {
  s->saturated += events->saturated;
  s->to_zero += events->to_zero;
}

static void start_stats(hu_scaled_stats *s, uint32_t amax, uint32_t code, uint64_t special) {
  memset(s, 0, sizeof *s);
  s->amax = hui_float_of_bits(amax);
  s->scale = code;
  s->special = special;
}

/* Block k that lanes made no scale for; its elements, too, where only the core takes them. */
static void one_block(const hu_scaled_work *g, hu_scaled_group *w, size_t k, hu_events *counts) {
  const hu_scaled_place p = hui_scaled_place_of(g, w, k);
  uint64_t special = 0;
  uint32_t amax = w->top[k];
  if (amax >= 0x7F800000) {
    amax = 0;
    for (size_t i = p.row; i < p.last; i++) {
      amax = hui_scaled_limited_top(g, p.n, hui_scaled_x(g, i, p.col), amax, &special);
    }
  }
  hu_shared b = shared_of(g, w, amax, special && g->scaler.special == HU_SPECIAL_NAN);
  if (g->four_six.on && w->top[k] < 0x7F800000 && (amax || g->scaler.amin)) b = better(g, &p, amax, &b);
  int way = hui_scaled_way(g, &b, w->top[k], &w->by[k], &w->back[k]);
  w->codes[k] = b.code;
  if (w->stats) start_stats(&w->stats[k], amax, b.code, special);
  w->way[k] = (uint8_t)way;
  if (way != HU_BY_CORE) return;
  hu_events own = {0};
  for (size_t i = p.row; i < p.last; i++) {
    hu_scaled_span s = {i, p.col, p.n};
    hui_scaled_core(g, s, &b, &own);
  }
  hu_events_add(counts, &own);
  if (w->stats) add_stats(&w->stats[k], &own);
  w->way[k] = HU_DONE;
}

/* ---- powers of two in lanes ---- */

/* Where 2^e is the code of a normal number of the scale format, codes go up by 2^m a binade. */
static int powers_can(hu_scaled_work *g) {
  const hu_scaler *s = &g->scaler;
  const hu_spec *f = &s->element, *d = &s->scale;
  hu_scaled_powers *p = &g->powers;
  if (!g->kernels || !g->strips || s->rule == HU_SCALE_RATIO || f->m > 22) return 0;
  p->amin = s->amin;
  p->more = hui_scale_carry(s);
  hu_shared blank = hui_shared_of(s, 0, 0);
  p->blank_code = blank.code;
  p->emax = s->emax;
  p->low = s->low;
  p->high = s->high;
  p->first = d->zero == HU_ZERO_CODE ? d->emin + 1 : d->emin;
  if (p->first > p->high) return 0;
  p->first_code = (int32_t)hui_scale_code(s, hui_power_of_two(p->first));
  p->m = d->m;
  p->highest = g->grid.highest;
  p->least = g->grid.least;
  p->most = g->grid.most;
  if (p->least < p->first) p->least = p->first;
  return 1;
}

static void powers(const hu_scaled_work *g, hu_scaled_group *w, hu_events *counts) {
  uint32_t bad[HU_GROUP];
  int some = g->strips->powers(&g->powers, w->count, w->top, w->codes, w->by, bad);
  memset(w->way, HU_SHIFT, w->count);
  for (size_t k = 0; w->stats && k < w->count; k++) start_stats(&w->stats[k], w->top[k], w->codes[k], 0);
  for (size_t k = 0; some && k < w->count; k++) {
    if (bad[k]) one_block(g, w, k, counts);
  }
}

/* ---- ratios in lanes ---- */

/* Can lanes make the scales? Two levels, or divide and multiply with one. */
static int ratios_can(hu_scaled_work *g) {
  const hu_spec *f = &g->scaler.scale;
  hu_num one = hui_power_of_two(0);
  if (!g->kernels || g->scaler.rule != HU_SCALE_RATIO || g->scaler.steps == HU_STEPS_EXACT) return 0;
  if (g->four_six.on) return 0;
  if (g->scaler.steps == HU_STEPS_ENCODE && !g->scaler.two) return 0;
  hu_num part = hui_step32(hui_product(0, g->scaler.tensor_code, hui_step32(hui_quotient(0, one, g->scaler.top))));
  g->part_factor = hui_float_of_num(part);
  g->scale_is_binary32 = hu_format_equal(g->c.scaling.scale, hui_format_binary32());
  return g->scale_is_binary32 || hui_lane_constants_of(&g->scale_constants, f);
}

/* The steps of hui_scale_ratio for n blocks: the same operations, done by the processor. */
static void ratio_steps(const hu_scaled_work *g, size_t n, uint32_t *y) {
  uint32_t top = hui_pack32(g->scaler.top), t = hui_pack32(g->scaler.tensor), code = hui_pack32(g->scaler.tensor_code);
  uint32_t part = hui_bits_of_float(g->part_factor);
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  if (g->scaler.steps == HU_STEPS_ENCODE) {
    g->lanes->times_bounded(n, n, y, y, &part);
  } else {
    g->lanes->over_bounded(n, n, y, y, &top);
    if (g->scaler.two && g->scaler.steps != HU_STEPS_MULTIPLY) g->lanes->over_bounded(n, n, y, y, &t);
    if (g->scaler.two && g->scaler.steps == HU_STEPS_MULTIPLY) g->lanes->times_bounded(n, n, y, y, &code);
  }
  hui_float_env_leave(saved);
}

/* y rounded into the scale format, at most SCALE_PIECE numbers; y becomes the values. */
static void ratio_codes(const hu_scaled_work *g, size_t n, uint32_t *y, uint32_t *codes) {
  hu_events ignored = {0};
  uint8_t narrow[4 * SCALE_PIECE];
  hu_piece p = {n, narrow, y, 0, 0, 0};
  if (g->scale_is_binary32) {
    memcpy(codes, y, n * sizeof *y);
    return;
  }
  g->kernels->encode[hui_by_size(g->s.scale_size)](&g->scale_constants, &p, &ignored);
  for (size_t k = 0; k < n; k++) codes[k] = hui_load_code(narrow + k * g->s.scale_size, g->s.scale_size);
  g->kernels->decode[hui_by_size(g->s.scale_size)](&g->scale_constants, n, y, narrow);
}

/* Scales, divisors or factors of blocks first ... first + n - 1 whose amax is a positive number; the others, and those
 * whose divisor is 0, are left to one_block. */
static void ratio_piece(const hu_scaled_work *g, hu_scaled_group *w, size_t first, size_t n) {
  uint32_t y[SCALE_PIECE], *by = w->by + first, *back = w->back + first, t = hui_pack32(g->scaler.tensor);
  const uint32_t *top = w->top + first;
  for (size_t k = 0; k < n; k++) {
    y[k] = top[k] - 1 < 0x7F7FFFFF ? top[k] : 0x3F800000;
    if (y[k] < g->scaler.amin) y[k] = g->scaler.amin;
  }
  ratio_steps(g, n, y);
  ratio_codes(g, n, y, w->codes + first);
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  g->lanes->times_bounded(n, n, back, y, &t);
  if (g->scaler.steps == HU_STEPS_DIVIDE) {
    memcpy(by, back, n * sizeof *by);
  } else {
    int apart = g->scaler.steps == HU_STEPS_RECIPROCAL && g->scaler.two;
    for (size_t k = 0; k < n; k++) by[k] = apart ? hui_pack32(g->scaler.tensor_code) : 0x3F800000;
    g->lanes->over_bounded(n, 1, by, by, apart ? y : back);
  }
  hui_float_env_leave(saved);
  int way = g->scaler.steps == HU_STEPS_DIVIDE ? HU_OVER : HU_TIMES;
  for (size_t k = 0; k < n; k++) w->way[first + k] = (uint8_t)(top[k] - 1 < 0x7F7FFFFF && back[k] ? way : HU_BY_CORE);
}

static void ratios(const hu_scaled_work *g, hu_scaled_group *w, hu_events *counts) {
  for (size_t k = 0; k < w->count; k += SCALE_PIECE) ratio_piece(g, w, k, hui_least(SCALE_PIECE, w->count - k));
  for (size_t k = 0; k < w->count; k++) {
    if (w->way[k] == HU_BY_CORE) {
      one_block(g, w, k, counts);
    } else if (w->stats) {
      start_stats(&w->stats[k], w->top[k], w->codes[k], 0);
    }
  }
}

/* ---- a group ---- */

void hui_scaled_scales_plan(hu_scaled_work *g) {
  g->has_powers = powers_can(g);
  g->ratios = ratios_can(g);
  hui_scaled_choice_plan(g);
}

void hui_scaled_group_start(hu_scaled_group *w) {
  for (size_t k = 0; k < HU_POWERS_KEPT; k++) w->made_for[k] = NEVER;
}

static void store_scales(const hu_scaled_work *g, const hu_scaled_group *w) {
  uint8_t *z = hui_scaled_scale(g, w->row / g->s.side_rows, w->col / g->s.side_cols);
  if (g->s.scale_size == 1) {
    for (size_t k = 0; k < w->count; k++) z[k] = (uint8_t)w->codes[k];
    return;
  }
  for (size_t k = 0; k < w->count; k++) hui_store_code(z + k * g->s.scale_size, g->s.scale_size, w->codes[k]);
}

/* Blocks of several rows: their columns first. */
static void look_at_group(const hu_scaled_work *g, hu_scaled_group *w) {
  size_t rows = w->last - w->row, side = g->s.side_cols, next = g->together ? g->s.block_cols : 0;
  if (!g->lanes || rows == 1 || g->together) {
    for (size_t i = 0; i < rows; i++) {
      hui_scaled_look(g, w->n, side, hui_scaled_x(g, w->row + i, w->col), w->top + i * next);
    }
    return;
  }
  for (size_t at = 0, n; at < w->n; at += n) { /* more than one turn: of one block */
    uint32_t columns[HU_STRIP] = {0};
    n = hui_least(w->n - at, HU_STRIP);
    g->lanes->look_down(rows, n, hui_scaled_x(g, w->row, w->col + at), g->c.ldx, columns);
    g->lanes->look(n, side, columns, w->top);
  }
}

void hui_scaled_scales(const hu_scaled_work *g, hu_scaled_group *w, hu_events *counts) {
  memset(w->top, 0, (w->count + 15) / 16 * 16 * sizeof *w->top);
  look_at_group(g, w);
  if (g->has_powers) {
    powers(g, w, counts);
  } else if (g->ratios) {
    ratios(g, w, counts);
  } else {
    for (size_t k = 0; k < w->count; k++) one_block(g, w, k, counts);
  }
  if (g->c.codes) store_scales(g, w);
}
