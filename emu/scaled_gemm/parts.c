/* SPDX-License-Identifier: MIT */
/* Products of scaled tensors, way `parts`. Each run of constant scales is one hu_gemm into a binary32 tile. If `across`
 * is a chain of binary32 operations, the tile is scaled and added by vector code run by run; otherwise the parts of all
 * runs are stored and each element is summed by emu/core/scaled_sum.h. */
#include "emu/base/float_env.h"
#include "emu/core/bits.h"
#include "emu/gemm/call.h"
#include "emu/scaled_gemm/tiles.h"

/* ---- one run ---- */

static int part_of(const hu_tiles *g, const hu_tile *z, size_t l, size_t end, float *to) {
  hu_operand a = hui_operand_from(&g->t->a.operand, z->i, l), b = hui_operand_from(&g->t->b.operand, l, z->j);
  hu_result r = {to, z->cols, hui_format_binary32(), HU_STORAGE_VALUES};
  hu_mode rne = {0};
  return hu_gemm(z->rows, z->cols, end - l, &r, &a, &b, NULL, &g->t->sum.inside, rne, &g->exec, NULL) == HU_OK;
}

/* ---- lanes from run to run ---- */

static float step_at(const hu_scale_source *s, uint8_t factor, const float *table, size_t line, size_t l) {
  if (s->size != 1) return hui_float_of_bits(hui_pack32(hui_scale_step(s, hui_scale_read(s, line, l), factor)));
  return table[s->at[(ptrdiff_t)(line / s->line_side) * s->line_step + (ptrdiff_t)(l / s->run_side) * s->run_step]];
}

/* d of `n` lines from `line` on; blocks of many lines are read once. */
static void steps_of(const hu_scale_source *s, uint8_t factor, const float *table, size_t line, size_t l, size_t n,
                     float *z) {
  if (s->size == 1 && s->line_side == 1) {
    const uint8_t *at = s->at + (ptrdiff_t)line * s->line_step + (ptrdiff_t)(l / s->run_side) * s->run_step;
    for (size_t i = 0; i < n; i++, at += s->line_step) z[i] = table[*at];
    return;
  }
  for (size_t i = 0; i < n; i++) {
    int same = i > 0 && ((line + i) % s->line_side != 0 || !s->size);
    z[i] = same ? z[i - 1] : step_at(s, factor, table, line + i, l);
  }
}

static void make_table(const hu_scale_source *s, uint8_t factor, float *table) {
  for (uint32_t code = 0; s->size == 1 && code < 256; code++) {
    table[code] = hui_float_of_bits(hui_pack32(hui_scale_step(s, hui_unpack(&s->spec, code), factor)));
  }
}

/* A tile, for those who ask for factors of its rows. */
typedef struct steps_tile {
  const hu_tiles *g;
  const hu_tile *z;
} steps_tile;

static void factors_at(void *context, size_t row, size_t rows, size_t l, float *a, float *b) {
  const steps_tile *t = context;
  const hu_scaled_sums *s = &t->g->sums;
  steps_of(&s->a, s->factor, t->g->step_a, t->z->i + row, l, rows, a);
  steps_of(&s->b, s->factor, t->g->step_b, t->z->j, l, t->z->cols, b);
}

/* All runs at once, where these are sums of short integers: runs of one length, which the last may not reach. */
static int run_short(const hu_tiles *g, const hu_tile *z, float *sum) {
  const hu_scaled_sums *s = &g->sums;
  size_t every = s->k ? hui_scale_run_end(&s->a, &s->b, 0, s->k) : 0;
  if (!every || g->t->sum.inside.kind != HU_ACCUM_EXACT) return 0;
  if ((s->a.run_side < s->k && s->a.run_side % every) || (s->b.run_side < s->k && s->b.run_side % every)) return 0;
  steps_tile t = {g, z};
  hu_gemm_parts p = {
      .m = z->rows, .n = z->cols, .k = s->k, .every = every, .sum = sum, .factors = factors_at, .context = &t};
  p.a = hui_operand_from(&g->t->a.operand, z->i, 0);
  p.b = hui_operand_from(&g->t->b.operand, 0, z->j);
  p.twice = (g->how & HU_JOIN_TWICE) != 0;
  p.unfused = (g->how & HU_JOIN_UNFUSED) != 0;
  return hui_gemm_short_parts(&p, &g->exec);
}

static int run_steps(hu_tiles *g, const hu_tile *z) {
  float *part = (float *)(void *)z->work, *sum = part + HU_TILE_MOST, *a = sum + HU_TILE_MOST, *b = a + HU_TILE_MOST;
  const hu_scaled_sums *s = &g->sums;
  if (g->t->alpha) memset(sum, 0, z->rows * z->cols * sizeof *sum);
  if (!g->t->alpha && !hui_tile_read_c(g, z, sum)) return 0;
  int done = run_short(g, z, sum);
  for (size_t l = 0, end; l < s->k && !done; l = end) {
    end = hui_scale_run_end(&s->a, &s->b, l, s->k);
    if (!part_of(g, z, l, end, part)) return 0;
    steps_of(&s->a, s->factor, g->step_a, z->i, l, z->rows, a);
    steps_of(&s->b, s->factor, g->step_b, z->j, l, z->cols, b);
    hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
    g->join->run(z->rows, z->cols, a, b, part, sum, g->how);
    hui_float_env_leave(saved);
  }
  if (g->t->alpha && !hui_tile_epilogue(g, z, sum, part)) return 0;
  return hui_tile_finish(g, z, sum);
}

/* ---- all parts of an element ---- */

static hu_line line_at(const hu_operand *x, size_t i, size_t j, int rows) {
  hu_operand at = hui_operand_from(x, i, j);
  size_t size = x->storage == HU_STORAGE_VALUES ? 4 : hui_code_bytes(x->format);
  hu_line z = {at.data, (ptrdiff_t)((rows != (int)x->transposed ? 1 : x->ld) * size)};
  return z;
}

/* The parts of one element, whose random words continue from run to run. */
static void random_parts(const hu_tiles *g, size_t i, size_t j, uint32_t *part, size_t step) {
  const hu_scaled_sums *s = &g->sums;
  hu_draw d = hui_scaled_draw(s, (uint64_t)i * g->t->n + j, 0);
  hu_lines in;
  memset(&in, 0, sizeof in);
  in.a = line_at(&g->t->a.operand, i, 0, 1);
  in.b = line_at(&g->t->b.operand, 0, j, 0);
  for (size_t l = 0, end; l < s->k; l = end, part += step) {
    end = hui_scale_run_end(&s->a, &s->b, l, s->k);
    *part = hui_scaled_part(s, &in, l, end, &d);
  }
}

static int run_elements(hu_tiles *g, const hu_tile *z) {
  const hu_scaled_sums *s = &g->sums;
  size_t count = z->rows * z->cols;
  hu_num *w = (hu_num *)(void *)z->work;
  uint32_t *part = (uint32_t *)(void *)(w + (s->runs + 3) / 4 * 4);
  int random = hui_accum_is_random(&g->t->sum.inside);
  for (size_t l = 0, r = 0, end; l < s->k && !random; l = end, r++) {
    end = hui_scale_run_end(&s->a, &s->b, l, s->k);
    if (!part_of(g, z, l, end, (float *)(void *)(part + r * count))) return 0;
  }
  for (size_t at = 0; at < count; at++) {
    size_t i = z->i + at / z->cols, j = z->j + at % z->cols;
    if (random) random_parts(g, i, j, part + at, count);
    hui_scaled_factors(s, i, j, w, 1, part + at, count);
    hu_num c = hui_tile_c(g, i, j);
    hu_num sum = hui_scaled_across(s, (uint64_t)i * g->t->n + j, w, 1, part + at, count, c);
    if (g->t->alpha) sum = hui_scale_epilogue(&s->a, &s->b, sum, c);
    hui_tile_store(g, z, i, j, sum, c);
  }
  return 1;
}

/* ---- the choice ---- */

/* The exponents of the scales that are numbers and not 0. */
typedef struct reach {
  int32_t low, high;
  int any;
} reach;

static reach reach_of(const hu_scale_source *s, size_t lines, size_t k) {
  reach r = {0, 0, 0};
  for (size_t line = 0; line < lines;) {
    for (size_t l = 0; l < k;) {
      hu_num x = hui_scale_read(s, line, l);
      if (x.kind == HU_KIND_FINITE) {
        int32_t e = hui_exponent(x);
        r.low = r.any && r.low < e ? r.low : e;
        r.high = r.any && r.high > e ? r.high : e;
        r.any = 1;
      }
      if (k - l <= s->run_side) break;
      l += s->run_side;
    }
    if (lines - line <= s->line_side) break;
    line += s->line_side;
  }
  return r;
}

/* Are all exact factors binary32 numbers, so that a product in binary32 gives them? */
static int exact_in_binary32(const hu_tiles *g) {
  const hu_scaled_sums *s = &g->sums;
  int32_t ma = s->a.size ? s->a.spec.m : 0, mb = s->b.size ? s->b.spec.m : 0;
  if (s->a.tensor || s->b.tensor || ma + mb + 2 > 24) return 0;
  reach a = reach_of(&s->a, g->t->m, s->k), b = reach_of(&s->b, g->t->n, s->k);
  return a.high < 128 && b.high < 128 && a.low - ma >= -149 && b.low - mb >= -149 && a.high + b.high + 1 <= 127 &&
         a.low - ma + b.low - mb >= -149;
}

hu_status hui_scaled_run_parts(const hu_scaled_plan *t, const hu_exec *exec, hu_events *events) {
  hu_tiles g;
  hui_tiles_make(&g, t, exec);
  size_t runs = t->runs ? t->runs : 1, most = HU_TILE_PARTS / runs;
  int steps = hui_scaled_across_steps(&t->sum.across);
  if (most > HU_TILE_MOST) most = HU_TILE_MOST;
  g.how = steps | (t->sum.factor == HU_SCALED_FACTOR_TWICE ? HU_JOIN_TWICE : 0);
  int lanes = g.join && steps >= 0 && (t->alpha || g.c_carried) && !hui_accum_is_random(&t->sum.inside);
  if (lanes && t->sum.factor == HU_SCALED_FACTOR_EXACT) lanes = exact_in_binary32(&g);
  if (lanes) make_table(&g.sums.a, t->sum.factor, g.step_a);
  if (lanes) make_table(&g.sums.b, t->sum.factor, g.step_b);
  g.run = lanes ? run_steps : run_elements;
  return hui_tiles_run(&g, lanes ? HU_TILE_MOST : most ? most : 1, events);
}
