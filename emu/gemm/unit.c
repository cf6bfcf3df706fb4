/* SPDX-License-Identifier: MIT */
/* hu_gemm under block(...), alone or in promote and splitk, in binary64 lanes (unit.h): may they serve, operands
 * in the order of the blocks, pieces of K; elements that the lanes leave go to integers. */
#include "emu/gemm/unit.h"

#include "emu/core/accum_plan.h"
#include "emu/core/bits.h"
#include "emu/gemm/call.h"

enum { MB = HU_UNIT_MB, NB = HU_UNIT_NB, KC = HU_UNIT_KC, NR = HU_UNIT_NR };

/* What the way keeps of a call. */
typedef struct unit_way {
  const hu_unit_kernels *kernels;
  hu_unit_plan plan;
  hu_unit_operand a, b, scale;
} unit_way;

/* ---- the choice ---- */

/* How x's elements are read: what hui_source_block sets. */
static int operand_of(hu_unit_operand *z, const hu_matrix *x, const hu_block *o) {
  hu_source s;
  memset(&s, 0, sizeof s);
  s.spec = x->spec;
  s.emin = x->spec.emin;
  hui_source_block(&s, o);
  z->mask = ~(((uint32_t)1 << s.cut) - 1);
  z->emin = hui_unit_in_reach(s.emin) ? hui_unit_power(s.emin) : 0;
  z->daz = s.daz == HU_BLOCK_DAZ_NONE ? 0 : z->emin;
  z->zero = s.daz == HU_BLOCK_DAZ_SIGN ? (uint64_t)1 << 63 : 0;
  /* Cut digits are those of binary32 patterns. */
  return x->carried && hui_unit_in_reach(s.emin) && (!s.cut || (x->spec.m == 23 && x->spec.emin == -126));
}

/* Products with their scales well inside binary64's range and less than 2^1000 apart, so that no cut loses a sign;
 * scales without infinities. A group has the scales of its first product, those of all where parts begin with new
 * scales. */
static int scales_fit(unit_way *w, const hu_gemm_call *g, const hu_accum *x) {
  const hu_matrix *in[4] = {&g->a, &g->b, &g->scale_a, &g->scale_b};
  int32_t low = 0, high = 0, every = x->block.every;
  if (!hu_accum_is_scaled(x)) return 1;
  for (int i = 0; i < 4; i++) {
    hu_spec s = in[i]->spec;
    if (!in[i]->carried || (i > 1 && s.has_inf && !x->scaled)) return 0;
    low += s.emin - s.m;
    high += hui_exponent(hui_unpack(&s, s.max_code)) + 1;
  }
  w->scale.mask = UINT32_MAX;
  w->scale.emin = hui_unit_power(g->scale_a.spec.emin);
  if (x->scaled) return 1;
  if (x->block.rule == HU_BLOCK_GROUPS && (x->slices || x->promote % (uint32_t)every)) return 0;
  return low >= -600 && high <= 550 && high - low <= 1000;
}

/* 1 if the lanes serve the model. */
static int choose(unit_way *w, const hu_gemm_call *g, const hu_level *level) {
  const hu_accum *x = g->accum;
  memset(w, 0, sizeof *w);
  w->kernels = level->unit;
  if (!w->kernels || g->watches || x->kind != HU_ACCUM_BLOCK || g->k == 0) return 0;
  if (!operand_of(&w->a, &g->a, &x->block) || !operand_of(&w->b, &g->b, &x->block)) return 0;
  if ((g->c.data && !g->c.carried) || !scales_fit(w, g, x)) return 0;
  return hui_unit_plan_of(&w->plan, &g->a.spec, &g->b.spec, x, KC);
}

/* ---- operands ---- */

/* Position t of a piece holds product at[t] of it, or none: count. */
typedef struct order {
  size_t count, padded;
  uint16_t at[KC];
} order;

static void order_of(order *z, const hu_block *o, size_t count) {
  size_t step = (size_t)o->length << (o->order == HU_BLOCK_ORDER_MOD4), blocks = (count + step - 1) / step;
  z->count = count;
  z->padded = o->rule >= HU_BLOCK_CHAIN ? count : blocks * step;
  for (size_t t = 0; t < z->padded; t++) {
    size_t first = t / step * step, i = t % step, half = i / o->length, past = hui_least(count - first, step);
    if (o->order == HU_BLOCK_ORDER_DOWN) i = past - 1 - i;
    if (o->order == HU_BLOCK_ORDER_MOD4) i = 4 * (i % o->length / 2) + i % 2 + 2 * half;
    z->at[t] = (uint16_t)(first + i < count ? first + i : count);
  }
}

/* A line of elements with their powers; behind the last one a zero. */
typedef struct line {
  _Alignas(64) double v[KC + 8], p[KC + 8];
} line;

static void read_line(const unit_way *u, const hu_matrix *x, const hu_unit_operand *o, size_t row, size_t column,
                      size_t n, line *z) {
  float f[KC + 8];
  memset(f + n, 0, 8 * sizeof *f);
  hui_gemm_read32(x, row, column, n, f);
  u->kernels->prepare(o, n, f, z->v, z->p);
  z->v[n] = z->p[n] = 0;
}

/* The stored row of position t, where k runs over stored rows; zeros if there is none. */
static void read_or_none(const unit_way *u, const hu_matrix *x, const hu_unit_operand *how, size_t k0, const order *o,
                         size_t t, size_t column, size_t n, line *z) {
  if (o->at[t] < o->count) {
    read_line(u, x, how, k0 + o->at[t], column, n, z);
  } else {
    memset(z, 0, sizeof *z);
  }
}

static void pack_a(const hu_gemm_call *g, size_t i0, size_t k0, size_t rows, const order *o, double *z) {
  const unit_way *u = g->way;
  line x;
  for (size_t i = 0; !g->a.transposed && i < rows; i++) {
    read_line(u, &g->a, &u->a, i0 + i, k0, o->count, &x);
    for (size_t t = 0; t < o->padded; t++) {
      z[i * KC + t] = x.v[o->at[t]];
      z[MB * KC + i * KC + t] = x.p[o->at[t]];
    }
  }
  for (size_t t = 0; g->a.transposed && t < o->padded; t++) {
    read_or_none(u, &g->a, &u->a, k0, o, t, i0, rows, &x);
    for (size_t i = 0; i < rows; i++) {
      z[i * KC + t] = x.v[i];
      z[MB * KC + i * KC + t] = x.p[i];
    }
  }
}

static void pack_b(const hu_gemm_call *g, size_t j0, size_t k0, size_t cols, const order *o, double *z) {
  const unit_way *u = g->way;
  line x;
  for (size_t j = 0; g->b.transposed && j < cols; j++) {
    double *to = z + j / NR * (KC * NR) + j % NR;
    read_line(u, &g->b, &u->b, j0 + j, k0, o->count, &x);
    for (size_t t = 0; t < o->padded; t++) {
      to[t * NR] = x.v[o->at[t]];
      to[NB * KC + t * NR] = x.p[o->at[t]];
    }
  }
  for (size_t t = 0; !g->b.transposed && t < o->padded; t++) {
    read_or_none(u, &g->b, &u->b, k0, o, t, j0, cols, &x);
    for (size_t j = 0; j < cols; j += NR) {
      memcpy(z + j * KC + t * NR, x.v + j, NR * sizeof *z);
      memcpy(z + NB * KC + j * KC + t * NR, x.p + j, NR * sizeof *z);
    }
  }
}

/* ---- scales ---- */

/* Elements (at, first) ... (at, first + n - 1) of x, or (first, at) ... if not `along`. */
static void read_vector(const unit_way *u, const hu_matrix *x, int along, size_t at, size_t first, size_t n, line *z) {
  float f[KC + 8];
  memset(f + n, 0, 8 * sizeof *f);
  if (along != x->transposed) {
    hui_gemm_read32(x, at, first, n, f);
  } else {
    for (size_t i = 0; i < n; i++) hui_gemm_read32(x, first + i, at, 1, f + i);
  }
  u->kernels->prepare(&u->scale, n, f, z->v, z->p);
}

/* One element times its scale. align: the powers too. groups: a product that is not zero has its scales' power. */
static void scale_one(int grouped, double *v, double *p, double sv, double sp) {
  *p = grouped ? (*p > 0 ? sp : 0) : *p * sp;
  *v *= sv;
}

/* The packed piece of A from product k0 on, times its scales. */
static void scale_a(const hu_gemm_call *g, size_t i0, size_t k0, size_t rows, const order *o, double *z) {
  const unit_way *u = g->way;
  int grouped = u->plan.rule == HU_BLOCK_GROUPS;
  size_t every = g->accum->block.every, first = k0 / every, n = (k0 + o->count - 1) / every - first + 1;
  line s;
  for (size_t i = 0; i < rows; i++) {
    read_vector(u, &g->scale_a, 1, i0 + i, first, n, &s);
    for (size_t t = 0; t < o->padded; t++) {
      size_t at = (k0 + o->at[t]) / every - first;
      if (o->at[t] >= o->count) continue;
      scale_one(grouped, &z[i * KC + t], &z[MB * KC + i * KC + t], s.v[at], s.p[at]);
    }
  }
}

static void scale_b(const hu_gemm_call *g, size_t j0, size_t k0, size_t cols, const order *o, double *z) {
  const unit_way *u = g->way;
  int grouped = u->plan.rule == HU_BLOCK_GROUPS;
  size_t every = g->accum->block.every, last = SIZE_MAX;
  line s;
  for (size_t t = 0; t < o->padded; t++) {
    size_t at = (k0 + o->at[t]) / every;
    if (o->at[t] >= o->count) continue;
    if (at != last) read_vector(u, &g->scale_b, 1, at, j0, cols, &s);
    last = at;
    for (size_t j = 0; j < cols; j++) {
      double *to = z + j / NR * (KC * NR) + t * NR + j % NR;
      scale_one(grouped, to, to + NB * KC, s.v[j], s.p[j]);
    }
  }
}

/* ---- blocks of D ---- */

/* acc = C, or zeros. */
static void load_c(const hu_gemm_call *g, size_t i0, size_t j0, size_t rows, size_t cols, double *acc) {
  float f[MB > NB ? MB : NB];
  memset(acc, 0, MB * NB * sizeof *acc);
  if (!g->c.data) return;
  for (size_t i = 0; !g->c.transposed && i < rows; i++) {
    hui_gemm_read32(&g->c, i0 + i, j0, cols, f);
    for (size_t j = 0; j < cols; j++) acc[i * NB + j] = (double)f[j];
  }
  for (size_t j = 0; g->c.transposed && j < cols; j++) {
    hui_gemm_read32(&g->c, j0 + j, i0, rows, f);
    for (size_t i = 0; i < rows; i++) acc[i * NB + j] = (double)f[i];
  }
}

/* C as block(...) reads it. */
static void flush_c(const hu_gemm_call *g, double *acc) {
  const unit_way *way = g->way;
  uint8_t daz = g->accum->block.daz;
  for (size_t i = 0; daz && i < MB * NB; i++) {
    uint64_t u = hui_bits_of_double(acc[i]), sign = u >> 63 << 63;
    if ((u & ~sign) < hui_bits_of_double(way->plan.out.emin)) {
      acc[i] = hui_double_of_bits(daz == HU_BLOCK_DAZ_SIGN ? sign : 0);
    }
  }
}

/* Sums of row i; those that are no numbers stand for elements still to be computed. */
static void finish(const hu_gemm_call *g, size_t i, size_t j0, size_t n, const double *sum, hu_events *events) {
  float row[NB];
  for (size_t j = 0; j < n; j++) row[j] = (float)sum[j];
  for (size_t j = 0, past; j < n; j = past) {
    int open = !(row[j] - row[j] == 0);
    for (past = j + 1; past < n && open == !(row[past] - row[past] == 0);) past++;
    if (open) {
      hui_gemm_model_block(g, i, j0 + j, 1, past - j, events);
    } else {
      hui_gemm_finish32(g, i, j0 + j, past - j, row + j, events);
    }
  }
}

/* One block of D. Packed operands; rows and columns of padding stay zeros. */
typedef struct work {
  const hu_gemm_call *g;
  const unit_way *u;
  size_t i0, j0, rows, cols;
  _Alignas(64) double a[2 * MB * KC], b[2 * NB * KC];
  double part[MB * NB], sum[MB * NB], total[MB * NB]; /* of a part, of a slice, of slices */
} work;

/* The blocks of products k0 ... k1-1 on top of acc. */
static void run_blocks(work *w, size_t k0, size_t k1, double *acc) {
  const hu_gemm_call *g = w->g;
  const hu_block *o = &g->accum->block;
  size_t step = (size_t)o->length << (o->order == HU_BLOCK_ORDER_MOD4), most = KC / step * step;
  for (size_t k = k0; k < k1; k += most) {
    order z;
    order_of(&z, o, hui_least(k1 - k, most));
    pack_a(g, w->i0, k, w->rows, &z, w->a);
    pack_b(g, w->j0, k, w->cols, &z, w->b);
    if (o->every) {
      scale_a(g, w->i0, k, w->rows, &z, w->a);
      scale_b(g, w->j0, k, w->cols, &z, w->b);
    }
    w->u->kernels->blocks(&w->u->plan, w->rows, w->cols, z.padded, w->a, w->b, acc);
  }
}

/* sum = rnd(sum + part), or with scales number j rnd(sum + rnd(sa sb) part). */
static void join_part(work *w, size_t j) {
  const hu_gemm_call *g = w->g;
  const unit_way *u = w->u;
  line a, b;
  if (!g->accum->scaled) {
    u->kernels->join(&u->plan.part, w->rows, w->cols, w->part, w->sum);
    return;
  }
  memset(&a, 0, sizeof a);
  memset(&b, 0, sizeof b);
  read_vector(u, &g->scale_a, 0, j, w->i0, w->rows, &a);
  read_vector(u, &g->scale_b, 1, j, w->j0, w->cols, &b);
  u->kernels->join_scaled(&u->plan.part, w->rows, w->cols, a.v, b.v, w->part, w->sum);
}

/* Products k0 ... k1-1 on top of sum. */
static void run_slice(work *w, size_t k0, size_t k1) {
  size_t step = w->g->accum->promote, j = step ? k0 / step : 0;
  if (!step) {
    flush_c(w->g, w->sum);
    run_blocks(w, k0, k1, w->sum);
    return;
  }
  for (size_t k = k0; k < k1; k += step, j++) {
    memset(w->part, 0, sizeof w->part);
    run_blocks(w, k, k + hui_least(k1 - k, step), w->part);
    join_part(w, j);
  }
}

/* The slices of splitk from nothing, one after another; C last. */
static void run_slices(work *w) {
  const hu_gemm_call *g = w->g;
  const unit_way *u = w->u;
  size_t slices = hui_least(g->accum->slices, g->k), at = 0;
  for (size_t i = 0; i < slices; i++) {
    size_t past = at + g->k / slices + (i < g->k % slices);
    memset(w->sum, 0, sizeof w->sum);
    run_slice(w, at, past);
    if (i) u->kernels->join(&u->plan.part, w->rows, w->cols, w->sum, w->total);
    if (!i) memcpy(w->total, w->sum, sizeof w->total);
    at = past;
  }
  load_c(g, w->i0, w->j0, w->rows, w->cols, w->sum);
  u->kernels->join(&u->plan.part, w->rows, w->cols, w->sum, w->total);
}

static void run_block(const hu_gemm_call *g, size_t i0, size_t j0, hu_events *events) {
  work w;
  w.g = g;
  w.u = g->way;
  w.i0 = i0;
  w.j0 = j0;
  w.rows = hui_least(g->m - i0, g->block_rows);
  w.cols = hui_least(g->n - j0, g->block_cols);
  memset(w.a, 0, sizeof w.a);
  memset(w.b, 0, sizeof w.b);
  if (g->accum->slices) {
    run_slices(&w);
  } else {
    load_c(g, i0, j0, w.rows, w.cols, w.sum);
    run_slice(&w, 0, g->k);
  }
  for (size_t i = 0; i < w.rows; i++) {
    finish(g, i0 + i, j0, w.cols, (g->accum->slices ? w.total : w.sum) + i * NB, events);
  }
}

static int run(hu_gemm_call *g, const hu_level *level, hu_events *events) {
  unit_way w;
  if (!choose(&w, g, level)) return 0;
  g->way = &w;
  hui_gemm_set_blocks(g, MB, HU_UNIT_MR, NB, NR);
  hui_gemm_run(g, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_unit = {"unit", run};
