/* SPDX-License-Identifier: MIT */
/* Distributes the tiles of a product of scaled tensors over threads, applies tensor scales as an epilogue, and does the
 * last rounding. */
#include "emu/scaled_gemm/tiles.h"

#include "emu/base/exec.h"
#include "emu/base/float_env.h"
#include "emu/base/threads.h"
#include "emu/core/bits.h"
#include "emu/core/stream.h"
#include "emu/gemm/check.h"
#include "emu/simd/level.h"

void hui_tiles_make(hu_tiles *tiles, const hu_scaled_plan *plan, const hu_exec *exec) {
  memset(tiles, 0, sizeof *tiles);
  tiles->plan = plan;
  (void)hui_scaled_plan_sums(&tiles->sums, plan, exec);
  if (exec) tiles->exec = *exec;
  tiles->exec.threads = 1;
  if (!plan->scaling) tiles->spec = hui_spec_of(plan->d.type.format, plan->mode);
  tiles->join = hui_level_for(&tiles->exec)->join;
  tiles->c_carried = !plan->has_c || hu_format_fits_binary32(plan->c.operand.type.format);
}

/* ---- tiles over threads ---- */

static void run_part(void *context, size_t part) {
  hu_tiles *tiles = context;
  for (size_t at = part; at < tiles->tiles && !tiles->wrong[part]; at += tiles->parts) {
    hu_tile tile;
    tile.i = at / tiles->across * tiles->tile_rows;
    tile.j = at % tiles->across * tiles->tile_cols;
    tile.rows = hui_least(tiles->plan->m - tile.i, tiles->tile_rows);
    tile.cols = hui_least(tiles->plan->n - tile.j, tiles->tile_cols);
    tile.work = tiles->plan->work + part * tiles->plan->each;
    tile.events = &tiles->events[part];
    tiles->wrong[part] = !tiles->run(tiles, &tile);
  }
}

hu_status hui_tiles_run(hu_tiles *tiles, size_t most, hu_events *events) {
  size_t m = tiles->plan->m, n = tiles->plan->n, threads = tiles->plan->threads;
  tiles->tile_cols = hui_least(hui_least(n, HU_TILE_COLS), most);
  tiles->tile_rows = hui_least(m, most / tiles->tile_cols);
  tiles->across = (n - 1) / tiles->tile_cols + 1;
  while (((m - 1) / tiles->tile_rows + 1) * tiles->across < 2 * threads && tiles->tile_rows > 16 && threads > 1)
    tiles->tile_rows /= 2;
  tiles->tiles = ((m - 1) / tiles->tile_rows + 1) * tiles->across;
  tiles->parts = hui_least(tiles->tiles, threads);
  hui_parallel((uint32_t)threads, tiles->parts, run_part, tiles);
  for (size_t i = 0; i < tiles->parts; i++) {
    if (tiles->wrong[i]) return HU_E_GRID;
    if (events) hu_events_add(events, &tiles->events[i]);
  }
  return HU_OK;
}

/* ---- reading ---- */

/* z = x, rounded by the last step of a product, which has no terms. */
static int copy(const hu_tiles *tiles, size_t rows, size_t cols, const hu_output *z, const hu_view *x, hu_mode mode,
                uint64_t word, hu_events *events) {
  hu_accum fp32 = {.kind = HU_ACCUM_FP32};
  hu_exec exec = tiles->exec;
  hu_how how = hu_how_of(mode, &exec, events);
  hu_product product = {.m = rows, .n = cols, .d = *z, .c = *x, .accum = &fp32};
  product.a = product.b = hu_matrix_floats(NULL, cols);
  exec.stream.counter += word;
  return hui_gemm(&product, &how) == HU_OK;
}

int hui_tile_read_c(const hu_tiles *tiles, const hu_tile *tile, float *to) {
  hu_output result = hu_matrix_floats_out(to, tile->cols);
  if (!tiles->plan->has_c) {
    memset(to, 0, tile->rows * tile->cols * sizeof *to);
    return 1;
  }
  hu_view c = hui_matrix_from(&tiles->plan->c.operand, tile->i, tile->j);
  return copy(tiles, tile->rows, tile->cols, &result, &c, hui_plain_mode(), 0, NULL);
}

hu_num hui_tile_c(const hu_tiles *tiles, size_t i, size_t j) {
  if (!tiles->plan->has_c) return hui_num_special(HU_KIND_ZERO, 0);
  return hui_source_read(&tiles->sums.c, hui_matrix_at(&tiles->plan->c.operand, i, j));
}

hu_line hui_tile_line(const hu_view *x, size_t line, int rows) {
  hu_view at = hui_matrix_from(x, rows ? line : 0, rows ? 0 : line);
  hu_line z = {at.data, (rows ? x->stride : x->row) * (ptrdiff_t)hui_matrix_size(x)};
  return z;
}

/* ---- the epilogue ---- */

static void epilogue_slow(const hu_tiles *tiles, const hu_tile *tile, float *sum) {
  for (size_t i = 0; i < tile->rows; i++) {
    for (size_t j = 0; j < tile->cols; j++) {
      float *at = sum + i * tile->cols + j;
      hu_num c = hui_tile_c(tiles, tile->i + i, tile->j + j), x = hui_unpack32(hui_bits_of_float(*at));
      *at = hui_float_of_bits(hui_pack32(hui_scale_epilogue(&tiles->sums.a, &tiles->sums.b, x, c)));
    }
  }
}

int hui_tile_epilogue(const hu_tiles *tiles, const hu_tile *tile, float *sum, float *buffer) {
  float one[HU_TILE_COLS];
  if (!tiles->join || !tiles->c_carried) {
    epilogue_slow(tiles, tile, sum);
    return 1;
  }
  hu_num alpha = hui_scale_product(hui_scale_tensor(&tiles->sums.a), hui_scale_tensor(&tiles->sums.b));
  float factor = hui_float_of_bits(hui_pack32(alpha));
  for (size_t j = 0; j < tile->cols; j++) one[j] = 1;
  if (!hui_tile_read_c(tiles, tile, buffer)) return 0;
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  for (size_t i = 0; i < tile->rows; i++) {
    tiles->join->run(1, tile->cols, &factor, one, sum + i * tile->cols, buffer + i * tile->cols, 0);
  }
  hui_float_env_leave(saved);
  memcpy(sum, buffer, tile->rows * tile->cols * sizeof *sum);
  return 1;
}

/* ---- the last rounding ---- */

static int nan_given(const hu_tiles *tiles, size_t i, size_t j, hu_num c) {
  hu_lines in;
  memset(&in, 0, sizeof in);
  in.a = hui_tile_line(&tiles->plan->a.operand, i, 1);
  in.b = hui_tile_line(&tiles->plan->b.operand, j, 0);
  return hui_scaled_nan_given(&tiles->sums, &in, i, j, c);
}

/* `made` NaN sums had no NaN operand: invalid, not nan_in. */
static void recount(const hu_tiles *tiles, const hu_tile *tile, uint64_t made) {
  tile->events->nan_in -= made;
  if (tiles->spec.has_nan || tiles->spec.nan_to != HU_NAN_TO_ERROR) tile->events->invalid += made;
}

static hu_output result_from(const hu_tiles *tiles, size_t i, size_t j) {
  hu_output result = tiles->plan->d;
  hu_view written = hui_matrix_written(&result);
  result.data = hui_matrix_at(&written, i, j);
  return result;
}

void hui_tile_store(const hu_tiles *tiles, const hu_tile *tile, size_t i, size_t j, hu_num sum, hu_num c) {
  uint32_t set, random = 0;
  uint64_t number = (uint64_t)i * tiles->plan->n + j;
  if (tiles->plan->scaling) {
    tiles->plan->y[number] = hui_float_of_bits(hui_pack32(sum));
    return;
  }
  if (tiles->spec.round >= HU_SRA) {
    random = hui_stream_at(tiles->exec.stream.key, tiles->exec.stream.counter + number) >> (32 - tiles->spec.bits);
  }
  uint32_t code = hui_round(&tiles->spec, sum, random, &set);
  hu_output result = result_from(tiles, i, j);
  int codes = result.type.kind == HU_TYPE_CODES;
  hui_store_code(result.data, codes ? hui_code_bytes(result.type.format) : 4,
                 codes ? code : hui_pack32(hui_unpack(&tiles->spec, code)));
  hu_events_count(tile->events, set);
  if (sum.kind == HU_KIND_NAN && !nan_given(tiles, i, j, c)) recount(tiles, tile, 1);
}

static uint64_t made_in(const hu_tiles *tiles, const hu_tile *tile, const float *sum) {
  uint64_t made = 0;
  for (size_t at = 0; at < tile->rows * tile->cols; at++) {
    if ((hui_bits_of_float(sum[at]) & 0x7FFFFFFF) <= 0x7F800000) continue;
    size_t i = tile->i + at / tile->cols, j = tile->j + at % tile->cols;
    made += !nan_given(tiles, i, j, hui_tile_c(tiles, i, j));
  }
  return made;
}

int hui_tile_finish(const hu_tiles *tiles, const hu_tile *tile, const float *sum) {
  size_t n = tiles->plan->n, step = tiles->spec.round >= HU_SRA ? 1 : tile->rows;
  if (tiles->plan->scaling) {
    for (size_t i = 0; i < tile->rows; i++) {
      float *to = tiles->plan->y + (tile->i + i) * n + tile->j;
      if (to != sum + i * tile->cols) memcpy(to, sum + i * tile->cols, tile->cols * sizeof *sum);
    }
    return 1;
  }
  hu_view from = hu_matrix_floats(sum, tile->cols);
  uint64_t made = made_in(tiles, tile, sum);
  for (size_t i = 0; i < tile->rows; i += step) { /* random words are those of a row of D */
    hu_output result = result_from(tiles, tile->i + i, tile->j);
    hu_view x = hui_matrix_from(&from, i, 0);
    if (!copy(tiles, step, tile->cols, &result, &x, tiles->plan->mode, (uint64_t)(tile->i + i) * n + tile->j,
              tile->events))
      return 0;
  }
  if (made) recount(tiles, tile, made);
  return 1;
}
