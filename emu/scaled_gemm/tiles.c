/* SPDX-License-Identifier: MIT */
/* Distributes the tiles of a product of scaled tensors over threads, applies tensor scales as an epilogue, and does the
 * last rounding. */
#include "emu/scaled_gemm/tiles.h"

#include "emu/base/exec.h"
#include "emu/base/float_env.h"
#include "emu/base/threads.h"
#include "emu/core/bits.h"
#include "emu/core/stream.h"
#include "emu/simd/level.h"

static size_t element_bytes(hu_format format, uint8_t storage) {
  return storage == HU_STORAGE_VALUES ? 4 : hui_code_bytes(format);
}

void hui_tiles_make(hu_tiles *tiles, const hu_scaled_plan *plan, const hu_exec *exec) {
  memset(tiles, 0, sizeof *tiles);
  tiles->plan = plan;
  (void)hui_scaled_plan_sums(&tiles->sums, plan, exec);
  if (exec) tiles->exec = *exec;
  tiles->exec.threads = 1;
  if (!plan->result.scaling) tiles->spec = hui_spec_of(plan->result.plain.format, plan->mode);
  tiles->join = hui_level_for(&tiles->exec)->join;
  tiles->c_carried = !plan->has_c || hu_format_fits_binary32(plan->c.operand.format);
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

hu_operand hui_operand_from(const hu_operand *x, size_t i, size_t j) {
  hu_operand z = *x;
  size_t at = x->transposed ? j * x->ld + i : i * x->ld + j;
  if (x->data) z.data = (const uint8_t *)x->data + at * element_bytes(x->format, x->storage);
  return z;
}

/* z = x, rounded by hu_gemm's last step: a product without terms. */
static int copy(const hu_tiles *tiles, size_t rows, size_t cols, const hu_result *z, const hu_operand *x, hu_mode mode,
                uint64_t word, hu_events *events) {
  hu_operand empty;
  hu_accum fp32;
  hu_exec exec = tiles->exec;
  memset(&empty, 0, sizeof empty);
  memset(&fp32, 0, sizeof fp32);
  empty.format = hui_format_binary32();
  empty.ld = cols;
  fp32.kind = HU_ACCUM_FP32;
  exec.stream.counter += word;
  return hu_gemm(rows, cols, 0, z, &empty, &empty, x, &fp32, mode, &exec, events) == HU_OK;
}

int hui_tile_read_c(const hu_tiles *tiles, const hu_tile *tile, float *to) {
  hu_result result = {to, tile->cols, hui_format_binary32(), HU_STORAGE_VALUES};
  hu_mode rne = {0};
  if (!tiles->plan->has_c) {
    memset(to, 0, tile->rows * tile->cols * sizeof *to);
    return 1;
  }
  hu_operand c = hui_operand_from(&tiles->plan->c.operand, tile->i, tile->j);
  return copy(tiles, tile->rows, tile->cols, &result, &c, rne, 0, NULL);
}

hu_num hui_tile_c(const hu_tiles *tiles, size_t i, size_t j) {
  if (!tiles->plan->has_c) return hui_num_special(HU_KIND_ZERO, 0);
  hu_operand c = hui_operand_from(&tiles->plan->c.operand, i, j);
  return hui_source_read(&tiles->sums.c, c.data);
}

static hu_line line_of(const hu_operand *x, size_t line, int rows) {
  hu_operand at = hui_operand_from(x, rows ? line : 0, rows ? 0 : line);
  int along = rows != (int)x->transposed;
  hu_line z = {at.data, (ptrdiff_t)((along ? 1 : x->ld) * element_bytes(x->format, x->storage))};
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
  in.a = line_of(&tiles->plan->a.operand, i, 1);
  in.b = line_of(&tiles->plan->b.operand, j, 0);
  return hui_scaled_nan_given(&tiles->sums, &in, i, j, c);
}

/* `made` NaN sums had no NaN operand: invalid, not nan_in. */
static void recount(const hu_tiles *tiles, const hu_tile *tile, uint64_t made) {
  tile->events->nan_in -= made;
  if (tiles->spec.has_nan || tiles->spec.nan_to != HU_NAN_TO_ERROR) tile->events->invalid += made;
}

static hu_result result_from(const hu_tiles *tiles, size_t i, size_t j) {
  hu_result result = tiles->plan->result.plain;
  result.data = (uint8_t *)result.data + (i * result.ld + j) * element_bytes(result.format, result.storage);
  return result;
}

void hui_tile_store(const hu_tiles *tiles, const hu_tile *tile, size_t i, size_t j, hu_num sum, hu_num c) {
  uint32_t set, random = 0;
  uint64_t number = (uint64_t)i * tiles->plan->n + j;
  if (tiles->plan->result.scaling) {
    tiles->plan->y[number] = hui_float_of_bits(hui_pack32(sum));
    return;
  }
  if (tiles->spec.round >= HU_SRA) {
    random = hui_stream_at(tiles->exec.stream.key, tiles->exec.stream.counter + number) >> (32 - tiles->spec.bits);
  }
  uint32_t code = hui_round(&tiles->spec, sum, random, &set);
  hu_result result = result_from(tiles, i, j);
  int values = result.storage == HU_STORAGE_VALUES;
  hui_store_code(result.data, element_bytes(result.format, result.storage),
                 values ? hui_pack32(hui_unpack(&tiles->spec, code)) : code);
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
  if (tiles->plan->result.scaling) {
    for (size_t i = 0; i < tile->rows; i++) {
      float *to = tiles->plan->y + (tile->i + i) * n + tile->j;
      if (to != sum + i * tile->cols) memcpy(to, sum + i * tile->cols, tile->cols * sizeof *sum);
    }
    return 1;
  }
  hu_operand from = {sum, tile->cols, hui_format_binary32(), HU_STORAGE_VALUES, 0};
  uint64_t made = made_in(tiles, tile, sum);
  for (size_t i = 0; i < tile->rows; i += step) { /* random words are those of a row of D */
    hu_result result = result_from(tiles, tile->i + i, tile->j);
    hu_operand x = hui_operand_from(&from, i, 0);
    if (!copy(tiles, step, tile->cols, &result, &x, tiles->plan->mode, (uint64_t)(tile->i + i) * n + tile->j,
              tile->events))
      return 0;
  }
  if (made) recount(tiles, tile, made);
  return 1;
}
