/* SPDX-License-Identifier: MIT */
/* A scaled tensor made: blocks looked at, their scales, then their elements through the kernels of emu/kernels.h where
 * that is exact, else through emu/scaled.h.
 *
 * Fast ways of a block, x finite in both:
 *   shift  the divisor is 2^e, steps exact: e taken from the exponent field is the exact quotient of normal numbers.
 *          An element or quotient that is subnormal counts as 2^-126: so small are both, 34 digits below the element
 *          format's smallest value, that every mode rounds them to the same neighbour with the same events. Back:
 *          every value of the element format times 2^e is a normal binary32 number, and adding e the exact product.
 *   floats steps that are binary32 operations: the processor's own, to nearest, subnormal numbers kept, are those. */
#include "emu/scaled_run.h"

#include "emu/bits.h"
#include "emu/float_env.h"
#include "emu/kernels.h"
#include "emu/scaled_lanes.h"
#include "emu/stream.h"
#include "emu/threads.h"

enum {
  MADE = 64,
  GROUP = 256,        /* blocks at most that are treated together */
  PIECE = 1024,       /* elements of a buffered piece */
  PART_MIN = 1 << 14, /* elements that make a part of their own worth while */
  SPAN = 4096         /* elements of a row that threads take at a time where blocks do not matter */
};
enum { SLOW = 0, SHIFT = 1, FLOATS = 2 };

typedef struct run {
  hu_scaled_call c;
  hu_scaled_shape s;
  hu_scaler scaler;
  hu_narrow narrow;
  const hu_kernels *kernels; /* NULL: the core for every element */
  const hu_scaled_lanes *lanes;
  size_t across, groups;         /* blocks in a group, groups side by side */
  size_t items, part;            /* what is done in parts, and how many of it a part has */
  hu_shared one;                 /* the shared scale where a block is the whole matrix */
  int ratios, scale_is_binary32; /* scales by lanes, a group at a time */
  hu_narrow scale_narrow;
  float part_factor; /* steps encode: what amax is multiplied by */
  hu_events *counts; /* one a part */
  uint32_t *tops;    /* one a part: what hu_scaled_lanes.look finds */
} run;

/* The blocks of a group: scales, and what the lanes take for them. */
typedef struct group {
  size_t count;
  int way; /* of all of them; SLOW: each its own */
  hu_shared shared[GROUP];
  int ways[GROUP];
  uint32_t top[GROUP]; /* hu_scaled_lanes.look */
  uint32_t less[GROUP], more[GROUP];
  float by[GROUP], back[GROUP];
  hu_scaled_stats *stats; /* of the first, or NULL */
  /* rules of powers of two: scales made before, by the low bits of e */
  hu_shared made[MADE];
  int32_t made_for[MADE];
} group;

enum { NEVER = INT32_MIN };

/* Elements of one row: columns from `col` on, of the blocks from `block` of the group on. */
typedef struct span {
  size_t row, col, n, block;
} span;

static const uint32_t *x_at(const run *g, size_t row, size_t col) { return g->c.x + row * g->c.ldx + col; }
static uint32_t *z_at(const run *g, size_t row, size_t col) { return g->c.z + row * g->c.ldz + col; }
static uint8_t *code_at(const run *g, size_t row, size_t col) {
  return (uint8_t *)g->c.codes->codes + (row * g->c.codes->ld + col) * g->s.code_size;
}
static uint8_t *scale_at(const run *g, size_t p, size_t q) {
  return (uint8_t *)g->c.codes->scales + (p * g->c.codes->lds + q) * g->s.scale_size;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* ---- magnitudes ---- */

static void look(const run *g, size_t n, size_t side, const uint32_t *x, uint32_t *top) {
  if (g->lanes) {
    g->lanes->look(n, side, x, top);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    uint32_t a = x[i] & 0x7FFFFFFF, *t = top + i / side;
    if (a > *t) *t = a;
  }
}

/* amax of a block that has infinities or NaN, which the description's rule ignores or limits; counts them. */
static uint32_t limited_top(const run *g, size_t n, const uint32_t *x, uint32_t top, uint64_t *special) {
  for (size_t i = 0; i < n; i++) {
    uint32_t a = x[i] & 0x7FFFFFFF;
    *special += a >= 0x7F800000;
    if (a == 0x7F800000 && g->scaler.special == HU_SPECIAL_SATURATE) a = HU_LARGEST32;
    if (a < 0x7F800000 && a > top) top = a;
  }
  return top;
}

/* ---- scales ---- */

static float value32(hu_num x) { return hu_float_of_bits(hu_pack32(x)); }

/* Which way the elements of a block may go, and the numbers for it. */
static int way_of(const run *g, const hu_shared *b, uint32_t top, group *w, size_t k) {
  const hu_spec *f = &g->scaler.element;
  if (!g->kernels || b->under != HU_UNDER_SCALE || top >= 0x7F800000) return SLOW;
  if (g->scaler.steps != HU_STEPS_EXACT) {
    w->by[k] = value32(b->by);
    w->back[k] = value32(b->back);
    return FLOATS;
  }
  if (b->by.sig & (b->by.sig - 1)) return SLOW;
  int32_t e = hu_exponent(b->by);
  if (g->c.z && (f->emin - f->m + e < -126 || g->scaler.emax + e > 127)) return SLOW;
  if ((e > 0 ? 0 : -e) - 126 > f->emin - f->m - 34 || (int32_t)(top >> 23) - e > 254) return SLOW;
  if (e < -254 || e > 254) return SLOW;
  w->less[k] = (uint32_t)e << 23;
  w->more[k] = 0 - w->less[k];
  return SHIFT;
}

static hu_shared shared_of(const run *g, group *w, uint32_t amax, int nan) {
  if (amax < g->scaler.amin) amax = g->scaler.amin;
  if (nan || amax == 0 || g->scaler.rule == HU_SCALE_RATIO) return hu_shared_of(&g->scaler, amax, (uint32_t)nan);
  int32_t e = hu_scale_exponent(&g->scaler, hu_unpack32(amax));
  uint32_t k = (uint32_t)e % MADE;
  if (w->made_for[k] != e) {
    w->made[k] = hu_shared_power(&g->scaler, e);
    w->made_for[k] = e;
  }
  return w->made[k];
}

/* The scale of block k of a group from its amax; special: infinities and NaNs there. */
static void set_scale(const run *g, group *w, size_t k, uint32_t amax, uint64_t special) {
  if (!g->ratios || w->ways[k] == SLOW) {
    w->shared[k] = shared_of(g, w, amax, special && g->scaler.special == HU_SPECIAL_NAN);
    w->ways[k] = way_of(g, &w->shared[k], w->top[k], w, k);
  }
  if (w->stats) {
    hu_scaled_stats *s = w->stats + k;
    memset(s, 0, sizeof *s);
    s->amax = hu_float_of_bits(amax);
    s->scale = w->shared[k].code;
    s->special = special;
  }
}

/* ---- ratios of many blocks at once ---- */

/* The steps of hu_scale_ratio for n blocks: the same operations, done by the processor. */
static void ratio_steps(const run *g, size_t n, uint32_t *y) {
  float top = value32(g->scaler.top), t = value32(g->scaler.tensor), code = value32(g->scaler.tensor_code);
  hu_float_env saved = hu_float_env_enter(HU_NEAREST);
  if (g->scaler.steps == HU_STEPS_ENCODE) {
    g->lanes->times_bounded(n, n, y, y, &g->part_factor);
  } else {
    g->lanes->over_bounded(n, n, y, y, &top);
    if (g->scaler.two && g->scaler.steps == HU_STEPS_DIVIDE) g->lanes->over_bounded(n, n, y, y, &t);
    if (g->scaler.two && g->scaler.steps == HU_STEPS_MULTIPLY) g->lanes->times_bounded(n, n, y, y, &code);
  }
  hu_float_env_leave(saved);
}

/* y rounded into the scale format; y becomes the values. */
static void ratio_codes(const run *g, size_t n, uint32_t *y, uint32_t *codes) {
  hu_events ignored = {0};
  uint8_t narrow[4 * GROUP];
  hu_piece p = {n, narrow, y, 0, 0, 0};
  if (g->scale_is_binary32) {
    memcpy(codes, y, n * sizeof *y);
    return;
  }
  if (g->s.scale_size == 1) g->kernels->encode8(&g->scale_narrow, &p, &ignored);
  if (g->s.scale_size == 2) g->kernels->encode16(&g->scale_narrow, &p, &ignored);
  if (g->s.scale_size == 4) g->kernels->encode32(&g->scale_narrow, &p, &ignored);
  for (size_t k = 0; k < n; k++) codes[k] = hu_load_code(narrow + k * g->s.scale_size, g->s.scale_size);
  if (g->s.scale_size == 1) g->kernels->decode8(&g->scale_narrow, n, y, narrow);
  if (g->s.scale_size == 2) g->kernels->decode16(&g->scale_narrow, n, y, narrow);
  if (g->s.scale_size == 4) g->kernels->decode32(&g->scale_narrow, n, y, narrow);
}

/* Scales, divisors or factors of all blocks whose amax is a positive number; the others, and those whose divisor is 0,
 * are left with `ways` SLOW and no code. */
static void ratios(const run *g, group *w) {
  uint32_t y[GROUP], codes[GROUP], d[GROUP], by[GROUP];
  float t = value32(g->scaler.tensor);
  for (size_t k = 0; k < w->count; k++) {
    y[k] = w->top[k] && w->top[k] < 0x7F800000 ? w->top[k] : 0x3F800000;
    if (y[k] < g->scaler.amin) y[k] = g->scaler.amin;
  }
  ratio_steps(g, w->count, y);
  ratio_codes(g, w->count, y, codes);
  hu_float_env saved = hu_float_env_enter(HU_NEAREST);
  g->lanes->times_bounded(w->count, w->count, d, y, &t);
  for (size_t k = 0; k < w->count; k++) by[k] = 0x3F800000;
  memcpy(w->back, d, w->count * sizeof *d);
  memcpy(w->by, d, w->count * sizeof *d);
  if (g->scaler.steps != HU_STEPS_DIVIDE) {
    g->lanes->over_bounded(w->count, 1, by, by, w->back);
    memcpy(w->by, by, w->count * sizeof *by);
  }
  hu_float_env_leave(saved);
  for (size_t k = 0; k < w->count; k++) {
    w->ways[k] = w->top[k] && w->top[k] < 0x7F800000 && d[k] ? FLOATS : SLOW;
    w->shared[k].code = codes[k];
  }
}

/* One way for all; SLOW where they differ, and where events are wanted block by block. */
static void set_way(const run *g, group *w) {
  w->way = g->c.stats ? SLOW : w->ways[0];
  for (size_t k = 1; k < w->count; k++) {
    if (w->ways[k] != w->way) w->way = SLOW;
  }
}

/* ---- elements ---- */

static void run_core(const run *g, const span *s, const hu_shared *b, hu_events *counts) {
  uint32_t bits = g->scaler.element.bits;
  for (size_t i = 0; i < s->n; i++) {
    uint32_t events, r = 0;
    uint64_t number = (uint64_t)s->row * g->c.cols + s->col + i;
    if (bits) r = hu_stream_at(g->c.exec->stream.key, g->c.exec->stream.counter + number) >> (32 - bits);
    uint32_t code = hu_scaled_element(&g->scaler, b, *x_at(g, s->row, s->col + i), r, &events);
    if (g->c.codes) hu_store_code(code_at(g, s->row, s->col + i), g->s.code_size, code);
    if (g->c.z) *z_at(g, s->row, s->col + i) = hu_scaled_value(&g->scaler, b, code);
    hu_events_count(counts, events);
  }
}

static void call_kernel(const run *g, const span *s, const uint32_t *y, uint32_t *z, hu_events *counts) {
  hu_piece p = {s->n, z, y, 0, (uint64_t)s->row * g->c.cols + s->col, 0};
  if (g->c.exec) {
    p.key = g->c.exec->stream.key;
    p.word += g->c.exec->stream.counter;
  }
  if (z) {
    g->kernels->quantize(&g->narrow, &p, counts);
    return;
  }
  p.z = code_at(g, s->row, s->col);
  if (g->s.code_size == 1) g->kernels->encode8(&g->narrow, &p, counts);
  if (g->s.code_size == 2) g->kernels->encode16(&g->narrow, &p, counts);
  if (g->s.code_size == 4) g->kernels->encode32(&g->narrow, &p, counts);
}

static void to_twos(const run *g, const span *s) {
  const hu_spec *f = &g->scaler.element;
  uint8_t *z = code_at(g, s->row, s->col);
  if (g->s.code_size == 1) {
    for (size_t i = 0; i < s->n; i++) z[i] = (uint8_t)hu_twos_of(f, z[i]);
    return;
  }
  for (size_t i = 0; i < s->n; i++, z += g->s.code_size) {
    hu_store_code(z, g->s.code_size, hu_twos_of(f, hu_load_code(z, g->s.code_size)));
  }
}

/* At most PIECE elements, blocks of `side`, all going this way. */
static void run_lanes(const run *g, const span *s, size_t side, const group *w, int way, hu_events *counts) {
  uint32_t y[PIECE], v[PIECE];
  const uint32_t *x = x_at(g, s->row, s->col);
  size_t k = s->block;
  if (way == SHIFT) {
    g->lanes->shift(s->n, side, y, x, w->less + k);
  } else {
    hu_float_env saved = hu_float_env_enter(HU_NEAREST);
    (g->scaler.steps == HU_STEPS_DIVIDE ? g->lanes->over_bounded : g->lanes->times_bounded)(s->n, side, y, x,
                                                                                            w->by + k);
    hu_float_env_leave(saved);
  }
  call_kernel(g, s, y, g->c.z ? v : NULL, counts);
  if (!g->c.z) {
    if (g->scaler.coding == HU_CODING_TWOS) to_twos(g, s);
  } else if (way == SHIFT) {
    g->lanes->shift_back(s->n, side, z_at(g, s->row, s->col), v, w->more + k);
  } else {
    hu_float_env saved = hu_float_env_enter(HU_NEAREST);
    g->lanes->times(s->n, side, z_at(g, s->row, s->col), v, w->back + k);
    hu_float_env_leave(saved);
  }
}

/* Elements of one block. */
static void run_block(const run *g, span s, const group *w, hu_events *counts) {
  hu_events own = {0};
  if (w->ways[s.block] == SLOW) {
    run_core(g, &s, &w->shared[s.block], &own);
  } else {
    for (size_t end = s.col + s.n; s.col < end; s.col += s.n) {
      s.n = smaller(end - s.col, PIECE);
      run_lanes(g, &s, s.n, w, w->ways[s.block], &own);
    }
  }
  hu_events_add(counts, &own);
  if (w->stats) {
    w->stats[s.block].saturated += own.saturated;
    w->stats[s.block].to_zero += own.to_zero;
  }
}

static void run_row(const run *g, span s, const group *w, hu_events *counts) {
  size_t side = g->s.side_cols, end = s.col + s.n;
  if (w->way != SLOW && s.n <= PIECE) {
    run_lanes(g, &s, side, w, w->way, counts);
    return;
  }
  for (; s.col < end; s.col += s.n, s.block++) {
    s.n = smaller(end - s.col, side);
    run_block(g, s, w, counts);
  }
}

static void run_group(const run *g, size_t p, size_t q, group *w, hu_events *counts) {
  size_t row = p * g->s.side_rows, last = smaller(row + g->s.side_rows, g->c.rows), side = g->s.side_cols;
  size_t col = q * side;
  w->count = smaller(g->across, g->s.block_cols - q);
  size_t n = smaller(w->count * side, g->c.cols - col);
  w->stats = g->c.stats ? g->c.stats + p * g->s.block_cols + q : NULL;
  memset(w->top, 0, w->count * sizeof *w->top);
  for (size_t i = row; i < last; i++) look(g, n, side, x_at(g, i, col), w->top);
  if (g->ratios) ratios(g, w);
  for (size_t k = 0; k < w->count; k++) {
    uint64_t special = 0;
    uint32_t amax = w->top[k];
    if (amax >= 0x7F800000) {
      amax = 0;
      for (size_t i = row; i < last; i++) {
        amax = limited_top(g, smaller(side, n - k * side), x_at(g, i, col + k * side), amax, &special);
      }
    }
    set_scale(g, w, k, amax, special);
    if (g->c.codes) hu_store_code(scale_at(g, p, q + k), g->s.scale_size, w->shared[k].code);
  }
  set_way(g, w);
  for (size_t i = row; i < last; i++) {
    span s = {i, col, n, 0};
    run_row(g, s, w, counts);
  }
}

static void groups_part(void *context, size_t part) {
  const run *g = context;
  hu_events counts = {0};
  group w;
  for (size_t k = 0; k < MADE; k++) w.made_for[k] = NEVER;
  size_t first = part * g->part, last = smaller(first + g->part, g->items);
  for (size_t i = first; i < last; i++) run_group(g, i / g->groups, i % g->groups * g->across, &w, &counts);
  g->counts[part] = counts;
}

/* ---- in spans, where one scale covers everything ---- */

static size_t spans_in_row(const run *g) { return (g->c.cols - 1) / SPAN + 1; }

static span span_at(const run *g, size_t i) {
  size_t col = i % spans_in_row(g) * SPAN;
  span s = {i / spans_in_row(g), col, smaller(SPAN, g->c.cols - col), 0};
  return s;
}

static void tops_part(void *context, size_t part) {
  const run *g = context;
  uint32_t top = 0;
  uint64_t special = 0;
  size_t first = part * g->part, last = smaller(first + g->part, g->items);
  for (size_t i = first; i < last; i++) {
    span s = span_at(g, i);
    uint32_t own = 0;
    look(g, s.n, s.n, x_at(g, s.row, s.col), &own);
    if (own >= 0x7F800000) own = limited_top(g, s.n, x_at(g, s.row, s.col), 0, &special);
    top = own > top ? own : top;
  }
  g->tops[part] = top;
  g->counts[part].nan_in = special;
}

static void one_part(void *context, size_t part) {
  const run *g = context;
  hu_events counts = {0};
  group w;
  w.count = 1;
  w.stats = NULL;
  w.shared[0] = g->one;
  w.top[0] = g->tops[0];
  w.ways[0] = way_of(g, &g->one, w.top[0], &w, 0);
  size_t first = part * g->part, last = smaller(first + g->part, g->items);
  for (size_t i = first; i < last; i++) run_block(g, span_at(g, i), &w, &counts);
  g->counts[part] = counts;
}

/* ---- a call ---- */

static uint32_t threads_of(const run *g) {
  uint32_t threads = g->c.exec && g->c.exec->threads > 1 ? g->c.exec->threads : 1;
  return threads > HU_THREADS_MAX ? HU_THREADS_MAX : threads;
}

/* Runs `items` of about `size` elements each; returns the number of parts. */
static size_t in_parts(run *g, size_t items, size_t size, void (*run_part)(void *, size_t)) {
  uint32_t threads = threads_of(g);
  size_t least = size >= PART_MIN ? 1 : PART_MIN / size;
  g->items = items;
  g->part = (items - 1) / threads + 1;
  if (g->part < least) g->part = least;
  size_t parts = (items - 1) / g->part + 1;
  hu_parallel(threads, parts, run_part, g);
  return parts;
}

static void add_counts(const run *g, size_t parts) {
  for (size_t i = 0; g->c.events && i < parts; i++) hu_events_add(g->c.events, &g->counts[i]);
}

/* amax of the matrix; tops[0] becomes its largest pattern, that of infinity where there are special elements. */
static uint32_t whole_amax(run *g, uint64_t *special) {
  size_t parts = in_parts(g, g->c.rows * spans_in_row(g), smaller(SPAN, g->c.cols), tops_part);
  uint32_t top = 0;
  *special = 0;
  for (size_t i = 0; i < parts; i++) {
    if (g->tops[i] > top) top = g->tops[i];
    *special += g->counts[i].nan_in;
  }
  g->tops[0] = *special ? 0x7F800000 : top;
  return top;
}

static void run_one(run *g) {
  uint64_t special;
  uint32_t own = whole_amax(g, &special);
  uint32_t amax = g->c.amax && !g->scaler.two ? hu_bits_of_float(*g->c.amax) & 0x7FFFFFFF : own;
  g->one = hu_shared_of(&g->scaler, amax, special && g->scaler.special == HU_SPECIAL_NAN);
  if (g->c.codes) hu_store_code(scale_at(g, 0, 0), g->s.scale_size, g->one.code);
  size_t parts = in_parts(g, g->c.rows * spans_in_row(g), smaller(SPAN, g->c.cols), one_part);
  add_counts(g, parts);
  if (!g->c.stats) return;
  memset(g->c.stats, 0, sizeof *g->c.stats);
  g->c.stats->amax = hu_float_of_bits(own);
  g->c.stats->scale = g->one.code;
  g->c.stats->special = special;
  for (size_t i = 0; i < parts; i++) {
    g->c.stats->saturated += g->counts[i].saturated;
    g->c.stats->to_zero += g->counts[i].to_zero;
  }
}

hu_scaled_shape hu_scaled_shape_of(size_t rows, size_t cols, const hu_scaling *d) {
  hu_scaled_sizes sizes = hu_scaled_sizes_of(rows, cols, d);
  hu_scaled_shape s;
  s.rows = rows;
  s.cols = cols;
  s.side_rows = d->rows && d->rows < rows ? d->rows : rows;
  s.side_cols = d->cols && d->cols < cols ? d->cols : cols;
  s.block_rows = sizes.block_rows;
  s.block_cols = sizes.block_cols;
  s.code_size = sizes.code_bytes;
  s.scale_size = sizes.scale_bytes;
  return s;
}

/* Rows of whole blocks, one after another, are one row. */
static void flatten(run *g) {
  hu_scaled_call *c = &g->c;
  hu_scaled_shape *s = &g->s;
  if (s->side_rows != 1 || c->cols % s->side_cols || c->ldx != c->cols || (c->z && c->ldz != c->cols)) return;
  if (c->codes && (c->codes->ld != c->cols || c->codes->lds != s->block_cols)) return;
  c->cols *= c->rows;
  s->block_cols *= c->rows;
  c->rows = s->block_rows = 1;
}

static int kernels_can(run *g) {
  const hu_spec *f = &g->scaler.element;
  if (!hu_narrow_of(&g->narrow, f)) return 0;
  return !g->c.z || (hu_format_fits_binary32(g->c.scaling.element) && f->emin - f->m >= -126);
}

/* Can lanes make the scales? Two levels, or divide and multiply with one. */
static int ratios_can(run *g) {
  const hu_spec *f = &g->scaler.scale;
  hu_num one = hu_power_of_two(0);
  if (!g->kernels || g->scaler.rule != HU_SCALE_RATIO || g->scaler.steps == HU_STEPS_EXACT) return 0;
  if (g->scaler.steps == HU_STEPS_ENCODE && !g->scaler.two) return 0;
  hu_num part = hu_step32(hu_product(0, g->scaler.tensor_code, hu_step32(hu_quotient(0, one, g->scaler.top))));
  g->part_factor = value32(part);
  g->scale_is_binary32 = hu_format_equal(g->c.scaling.scale, hu_format_binary32());
  return g->scale_is_binary32 || hu_narrow_of(&g->scale_narrow, f);
}

void hu_scaled_run(const hu_scaled_call *call) {
  run g;
  hu_events counts[HU_THREADS_MAX];
  uint32_t tops[HU_THREADS_MAX];
  uint64_t special;
  memset(&g, 0, sizeof g);
  g.c = *call;
  g.counts = counts;
  g.tops = tops;
  g.scaler = hu_scaler_of(call->scaling, call->mode);
  g.kernels = hu_kernels_for(hu_levels_for(call->exec));
  g.lanes = hu_scaled_lanes_for(hu_levels_for(call->exec));
  if (g.kernels && (!g.lanes || !kernels_can(&g))) g.kernels = NULL;
  int empty = call->rows == 0 || call->cols == 0;
  if (g.scaler.two) {
    uint32_t amax = call->amax ? hu_bits_of_float(*call->amax) & 0x7FFFFFFF : empty ? 0 : whole_amax(&g, &special);
    hu_scaler_tensor(&g.scaler, amax);
    if (call->codes) *call->codes->tensor = hu_float_of_bits(hu_pack32(g.scaler.tensor));
  }
  if (empty) return;
  g.s = hu_scaled_shape_of(call->rows, call->cols, &call->scaling);
  if (g.s.block_rows == 1 && g.s.block_cols == 1) {
    run_one(&g);
    return;
  }
  flatten(&g);
  g.ratios = ratios_can(&g);
  g.across = g.s.side_cols >= PIECE ? 1 : smaller(GROUP, PIECE / g.s.side_cols);
  g.groups = (g.s.block_cols - 1) / g.across + 1;
  add_counts(&g, in_parts(&g, g.s.block_rows * g.groups, g.across * g.s.side_rows * g.s.side_cols, groups_part));
}
