/* SPDX-License-Identifier: MIT */
/* Products of scaled tensors, way `parts`. Each run of constant scales is one hui_gemm into a binary32 tile. If
 * `across` is a chain of binary32 operations, the tile is scaled and added by vector code run by run; otherwise the
 * parts of all runs are stored and each element is summed by emu/core/scaled_sum.h. */
#include "emu/base/float_env.h"
#include "emu/core/bits.h"
#include "emu/gemm/call.h"
#include "emu/scaled_gemm/tiles.h"

/* ---- one run ---- */

static int part_of(const hu_tiles *tiles, const hu_tile *tile, size_t k, size_t end, float *to) {
  hu_product part = {.m = tile->rows, .n = tile->cols, .k = end - k, .accum = &tiles->plan->sum.inside};
  hu_how how = hu_how_of(hui_plain_mode(), &tiles->exec, NULL);
  part.d = hu_matrix_floats_out(to, tile->cols);
  part.a = hui_matrix_from(&tiles->plan->a.operand, tile->i, k);
  part.b = hui_matrix_from(&tiles->plan->b.operand, k, tile->j);
  return hui_gemm(&part, &how) == HU_OK;
}

/* ---- lanes from run to run ---- */

static float step_at(const hu_scale_source *source, uint8_t factor, const float *table, size_t line, size_t k) {
  if (source->size != 1)
    return hui_float_of_bits(hui_pack32(hui_scale_step(source, hui_scale_read(source, line, k), factor)));
  return table[source->at[(ptrdiff_t)(line / source->line_side) * source->line_step +
                          (ptrdiff_t)(k / source->run_side) * source->run_step]];
}

/* d of `n` lines from `line` on; blocks of many lines are read once. */
static void steps_of(const hu_scale_source *source, uint8_t factor, const float *table, size_t line, size_t k, size_t n,
                     float *z) {
  if (source->size == 1 && source->line_side == 1) {
    const uint8_t *at =
        source->at + (ptrdiff_t)line * source->line_step + (ptrdiff_t)(k / source->run_side) * source->run_step;
    for (size_t i = 0; i < n; i++, at += source->line_step) z[i] = table[*at];
    return;
  }
  for (size_t i = 0; i < n; i++) {
    int same = i > 0 && ((line + i) % source->line_side != 0 || !source->size);
    z[i] = same ? z[i - 1] : step_at(source, factor, table, line + i, k);
  }
}

static void make_table(const hu_scale_source *source, uint8_t factor, float *table) {
  for (uint32_t code = 0; source->size == 1 && code < 256; code++) {
    table[code] = hui_float_of_bits(hui_pack32(hui_scale_step(source, hui_unpack(&source->spec, code), factor)));
  }
}

/* A tile, for those who ask for factors of its rows. */
typedef struct steps_tile {
  const hu_tiles *tiles;
  const hu_tile *tile;
} steps_tile;

static void factors_at(void *context, size_t row, size_t rows, size_t k, float *a, float *b) {
  const steps_tile *own = context;
  const hu_scaled_sums *sums = &own->tiles->sums;
  steps_of(&sums->a, sums->factor, own->tiles->step_a, own->tile->i + row, k, rows, a);
  steps_of(&sums->b, sums->factor, own->tiles->step_b, own->tile->j, k, own->tile->cols, b);
}

/* All runs at once, where these are sums of short integers: runs of one length, which the last may not reach. */
static int run_short(const hu_tiles *tiles, const hu_tile *tile, float *sum) {
  const hu_scaled_sums *sums = &tiles->sums;
  size_t every = sums->k ? hui_scale_run_end(&sums->a, &sums->b, 0, sums->k) : 0;
  if (!every || tiles->plan->sum.inside.kind != HU_ACCUM_EXACT) return 0;
  if ((sums->a.run_side < sums->k && sums->a.run_side % every) ||
      (sums->b.run_side < sums->k && sums->b.run_side % every))
    return 0;
  steps_tile own = {tiles, tile};
  hu_gemm_parts parts = {.m = tile->rows,
                         .n = tile->cols,
                         .k = sums->k,
                         .every = every,
                         .sum = sum,
                         .factors = factors_at,
                         .context = &own};
  parts.a = hui_matrix_from(&tiles->plan->a.operand, tile->i, 0);
  parts.b = hui_matrix_from(&tiles->plan->b.operand, 0, tile->j);
  parts.twice = (tiles->how & HU_JOIN_TWICE) != 0;
  parts.unfused = (tiles->how & HU_JOIN_UNFUSED) != 0;
  return hui_gemm_short_parts(&parts, &tiles->exec);
}

static int run_steps(hu_tiles *tiles, const hu_tile *tile) {
  float *part = (float *)(void *)tile->work, *sum = part + HU_TILE_MOST, *a = sum + HU_TILE_MOST, *b = a + HU_TILE_MOST;
  const hu_scaled_sums *sums = &tiles->sums;
  if (tiles->plan->alpha) memset(sum, 0, tile->rows * tile->cols * sizeof *sum);
  if (!tiles->plan->alpha && !hui_tile_read_c(tiles, tile, sum)) return 0;
  int done = run_short(tiles, tile, sum);
  for (size_t k = 0, end; k < sums->k && !done; k = end) {
    end = hui_scale_run_end(&sums->a, &sums->b, k, sums->k);
    if (!part_of(tiles, tile, k, end, part)) return 0;
    steps_of(&sums->a, sums->factor, tiles->step_a, tile->i, k, tile->rows, a);
    steps_of(&sums->b, sums->factor, tiles->step_b, tile->j, k, tile->cols, b);
    hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
    tiles->join->run(tile->rows, tile->cols, a, b, part, sum, tiles->how);
    hui_float_env_leave(saved);
  }
  if (tiles->plan->alpha && !hui_tile_epilogue(tiles, tile, sum, part)) return 0;
  return hui_tile_finish(tiles, tile, sum);
}

/* ---- all parts of an element ---- */

/* The parts of one element, whose random words continue from run to run. */
static void random_parts(const hu_tiles *tiles, size_t i, size_t j, uint32_t *part, size_t step) {
  const hu_scaled_sums *sums = &tiles->sums;
  hu_draw draw = hui_scaled_draw(sums, (uint64_t)i * tiles->plan->n + j, 0);
  hu_lines in;
  memset(&in, 0, sizeof in);
  in.a = hui_tile_line(&tiles->plan->a.operand, i, 1);
  in.b = hui_tile_line(&tiles->plan->b.operand, j, 0);
  for (size_t k = 0, end; k < sums->k; k = end, part += step) {
    end = hui_scale_run_end(&sums->a, &sums->b, k, sums->k);
    *part = hui_scaled_part(sums, &in, k, end, &draw);
  }
}

static int run_elements(hu_tiles *tiles, const hu_tile *tile) {
  const hu_scaled_sums *sums = &tiles->sums;
  size_t count = tile->rows * tile->cols;
  hu_num *factors = (hu_num *)(void *)tile->work;
  uint32_t *part = (uint32_t *)(void *)(factors + (sums->runs + 3) / 4 * 4);
  int random = hui_accum_is_random(&tiles->plan->sum.inside);
  for (size_t k = 0, run = 0, end; k < sums->k && !random; k = end, run++) {
    end = hui_scale_run_end(&sums->a, &sums->b, k, sums->k);
    if (!part_of(tiles, tile, k, end, (float *)(void *)(part + run * count))) return 0;
  }
  for (size_t at = 0; at < count; at++) {
    size_t i = tile->i + at / tile->cols, j = tile->j + at % tile->cols;
    if (random) random_parts(tiles, i, j, part + at, count);
    hui_scaled_factors(sums, i, j, factors, 1, part + at, count);
    hu_num c = hui_tile_c(tiles, i, j);
    hu_num sum = hui_scaled_across(sums, (uint64_t)i * tiles->plan->n + j, factors, 1, part + at, count, c);
    if (tiles->plan->alpha) sum = hui_scale_epilogue(&sums->a, &sums->b, sum, c);
    hui_tile_store(tiles, tile, i, j, sum, c);
  }
  return 1;
}

/* ---- the choice ---- */

/* The exponents of the scales that are numbers and not 0. */
typedef struct reach {
  int32_t low, high;
  int any;
} reach;

static reach reach_of(const hu_scale_source *source, size_t lines, size_t k) {
  reach found = {0, 0, 0};
  for (size_t line = 0; line < lines;) {
    for (size_t at = 0; at < k;) {
      hu_num x = hui_scale_read(source, line, at);
      if (x.kind == HU_KIND_FINITE) {
        int32_t exponent = hui_exponent(x);
        found.low = found.any && found.low < exponent ? found.low : exponent;
        found.high = found.any && found.high > exponent ? found.high : exponent;
        found.any = 1;
      }
      if (k - at <= source->run_side) break;
      at += source->run_side;
    }
    if (lines - line <= source->line_side) break;
    line += source->line_side;
  }
  return found;
}

/* Are all exact factors binary32 numbers, so that a product in binary32 gives them? */
static int exact_in_binary32(const hu_tiles *tiles) {
  const hu_scaled_sums *sums = &tiles->sums;
  int32_t ma = sums->a.size ? sums->a.spec.m : 0, mb = sums->b.size ? sums->b.spec.m : 0;
  if (sums->a.tensor || sums->b.tensor || ma + mb + 2 > 24) return 0;
  reach a = reach_of(&sums->a, tiles->plan->m, sums->k), b = reach_of(&sums->b, tiles->plan->n, sums->k);
  return a.high < 128 && b.high < 128 && a.low - ma >= -149 && b.low - mb >= -149 && a.high + b.high + 1 <= 127 &&
         a.low - ma + b.low - mb >= -149;
}

hu_status hui_scaled_run_parts(const hu_scaled_plan *plan, const hu_exec *exec, hu_events *events) {
  hu_tiles tiles;
  hui_tiles_make(&tiles, plan, exec);
  size_t runs = plan->runs ? plan->runs : 1, most = HU_TILE_PARTS / runs;
  int steps = hui_scaled_across_steps(&plan->sum.across);
  if (most > HU_TILE_MOST) most = HU_TILE_MOST;
  tiles.how = steps | (plan->sum.factor == HU_SCALED_FACTOR_TWICE ? HU_JOIN_TWICE : 0);
  int lanes = tiles.join && steps >= 0 && (plan->alpha || tiles.c_carried) && !hui_accum_is_random(&plan->sum.inside);
  if (lanes && plan->sum.factor == HU_SCALED_FACTOR_EXACT) lanes = exact_in_binary32(&tiles);
  if (lanes) make_table(&tiles.sums.a, plan->sum.factor, tiles.step_a);
  if (lanes) make_table(&tiles.sums.b, plan->sum.factor, tiles.step_b);
  tiles.run = lanes ? run_steps : run_elements;
  return hui_tiles_run(&tiles, lanes ? HU_TILE_MOST : most ? most : 1, events);
}
