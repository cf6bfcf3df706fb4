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

static size_t element_bytes(hu_format f, uint8_t storage) {
  return storage == HU_STORAGE_VALUES ? 4 : hui_code_bytes(f);
}

void hui_tiles_make(hu_tiles *g, const hu_scaled_plan *t, const hu_exec *exec) {
  memset(g, 0, sizeof *g);
  g->t = t;
  (void)hui_scaled_plan_sums(&g->sums, t, exec);
  if (exec) g->exec = *exec;
  g->exec.threads = 1;
  if (!t->d.scaling) g->spec = hui_spec_of(t->d.plain.format, t->mode);
  g->join = hui_level_for(&g->exec)->join;
  g->c_carried = !t->has_c || hu_format_fits_binary32(t->c.operand.format);
}

/* ---- tiles over threads ---- */

static void run_part(void *context, size_t part) {
  hu_tiles *g = context;
  for (size_t at = part; at < g->tiles && !g->wrong[part]; at += g->parts) {
    hu_tile z;
    z.i = at / g->across * g->tile_rows;
    z.j = at % g->across * g->tile_cols;
    z.rows = hui_least(g->t->m - z.i, g->tile_rows);
    z.cols = hui_least(g->t->n - z.j, g->tile_cols);
    z.work = g->t->work + part * g->t->each;
    z.events = &g->events[part];
    g->wrong[part] = !g->run(g, &z);
  }
}

hu_status hui_tiles_run(hu_tiles *g, size_t most, hu_events *events) {
  size_t m = g->t->m, n = g->t->n, threads = g->t->threads;
  g->tile_cols = hui_least(hui_least(n, HU_TILE_COLS), most);
  g->tile_rows = hui_least(m, most / g->tile_cols);
  g->across = (n - 1) / g->tile_cols + 1;
  while (((m - 1) / g->tile_rows + 1) * g->across < 2 * threads && g->tile_rows > 16 && threads > 1) g->tile_rows /= 2;
  g->tiles = ((m - 1) / g->tile_rows + 1) * g->across;
  g->parts = hui_least(g->tiles, threads);
  hui_parallel((uint32_t)threads, g->parts, run_part, g);
  for (size_t i = 0; i < g->parts; i++) {
    if (g->wrong[i]) return HU_E_GRID;
    if (events) hu_events_add(events, &g->events[i]);
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
static int copy(const hu_tiles *g, size_t rows, size_t cols, const hu_result *z, const hu_operand *x, hu_mode mode,
                uint64_t word, hu_events *events) {
  hu_operand empty;
  hu_accum fp32;
  hu_exec exec = g->exec;
  memset(&empty, 0, sizeof empty);
  memset(&fp32, 0, sizeof fp32);
  empty.format = hui_format_binary32();
  empty.ld = cols;
  fp32.kind = HU_ACCUM_FP32;
  exec.stream.counter += word;
  return hu_gemm(rows, cols, 0, z, &empty, &empty, x, &fp32, mode, &exec, events) == HU_OK;
}

int hui_tile_read_c(const hu_tiles *g, const hu_tile *z, float *to) {
  hu_result r = {to, z->cols, hui_format_binary32(), HU_STORAGE_VALUES};
  hu_mode rne = {0};
  if (!g->t->has_c) {
    memset(to, 0, z->rows * z->cols * sizeof *to);
    return 1;
  }
  hu_operand c = hui_operand_from(&g->t->c.operand, z->i, z->j);
  return copy(g, z->rows, z->cols, &r, &c, rne, 0, NULL);
}

hu_num hui_tile_c(const hu_tiles *g, size_t i, size_t j) {
  if (!g->t->has_c) return hui_num_special(HU_KIND_ZERO, 0);
  hu_operand c = hui_operand_from(&g->t->c.operand, i, j);
  return hui_source_read(&g->sums.c, c.data);
}

static hu_line line_of(const hu_operand *x, size_t line, int rows) {
  hu_operand at = hui_operand_from(x, rows ? line : 0, rows ? 0 : line);
  int along = rows != (int)x->transposed;
  hu_line z = {at.data, (ptrdiff_t)((along ? 1 : x->ld) * element_bytes(x->format, x->storage))};
  return z;
}

/* ---- the epilogue ---- */

static void epilogue_slow(const hu_tiles *g, const hu_tile *z, float *sum) {
  for (size_t i = 0; i < z->rows; i++) {
    for (size_t j = 0; j < z->cols; j++) {
      float *at = sum + i * z->cols + j;
      hu_num c = hui_tile_c(g, z->i + i, z->j + j), x = hui_unpack32(hui_bits_of_float(*at));
      *at = hui_float_of_bits(hui_pack32(hui_scale_epilogue(&g->sums.a, &g->sums.b, x, c)));
    }
  }
}

int hui_tile_epilogue(const hu_tiles *g, const hu_tile *z, float *sum, float *room) {
  float one[HU_TILE_COLS];
  if (!g->join || !g->c_carried) {
    epilogue_slow(g, z, sum);
    return 1;
  }
  hu_num alpha = hui_scale_product(hui_scale_tensor(&g->sums.a), hui_scale_tensor(&g->sums.b));
  float factor = hui_float_of_bits(hui_pack32(alpha));
  for (size_t j = 0; j < z->cols; j++) one[j] = 1;
  if (!hui_tile_read_c(g, z, room)) return 0;
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  for (size_t i = 0; i < z->rows; i++) {
    g->join->run(1, z->cols, &factor, one, sum + i * z->cols, room + i * z->cols, 0);
  }
  hui_float_env_leave(saved);
  memcpy(sum, room, z->rows * z->cols * sizeof *sum);
  return 1;
}

/* ---- the last rounding ---- */

static int nan_given(const hu_tiles *g, size_t i, size_t j, hu_num c) {
  hu_lines in;
  memset(&in, 0, sizeof in);
  in.a = line_of(&g->t->a.operand, i, 1);
  in.b = line_of(&g->t->b.operand, j, 0);
  return hui_scaled_nan_given(&g->sums, &in, i, j, c);
}

/* `made` NaN sums had no NaN operand: invalid, not nan_in. */
static void recount(const hu_tiles *g, const hu_tile *z, uint64_t made) {
  z->events->nan_in -= made;
  if (g->spec.has_nan || g->spec.nan_to != HU_NAN_TO_ERROR) z->events->invalid += made;
}

static hu_result result_from(const hu_tiles *g, size_t i, size_t j) {
  hu_result d = g->t->d.plain;
  d.data = (uint8_t *)d.data + (i * d.ld + j) * element_bytes(d.format, d.storage);
  return d;
}

void hui_tile_store(const hu_tiles *g, const hu_tile *z, size_t i, size_t j, hu_num sum, hu_num c) {
  uint32_t set, random = 0;
  uint64_t number = (uint64_t)i * g->t->n + j;
  if (g->t->d.scaling) {
    g->t->y[number] = hui_float_of_bits(hui_pack32(sum));
    return;
  }
  if (g->spec.round >= HU_SRA) {
    random = hui_stream_at(g->exec.stream.key, g->exec.stream.counter + number) >> (32 - g->spec.bits);
  }
  uint32_t code = hui_round(&g->spec, sum, random, &set);
  hu_result d = result_from(g, i, j);
  int values = d.storage == HU_STORAGE_VALUES;
  hui_store_code(d.data, element_bytes(d.format, d.storage), values ? hui_pack32(hui_unpack(&g->spec, code)) : code);
  hu_events_count(z->events, set);
  if (sum.kind == HU_KIND_NAN && !nan_given(g, i, j, c)) recount(g, z, 1);
}

static uint64_t made_in(const hu_tiles *g, const hu_tile *z, const float *sum) {
  uint64_t made = 0;
  for (size_t at = 0; at < z->rows * z->cols; at++) {
    if ((hui_bits_of_float(sum[at]) & 0x7FFFFFFF) <= 0x7F800000) continue;
    size_t i = z->i + at / z->cols, j = z->j + at % z->cols;
    made += !nan_given(g, i, j, hui_tile_c(g, i, j));
  }
  return made;
}

int hui_tile_finish(const hu_tiles *g, const hu_tile *z, const float *sum) {
  size_t n = g->t->n, step = g->spec.round >= HU_SRA ? 1 : z->rows;
  if (g->t->d.scaling) {
    for (size_t i = 0; i < z->rows; i++) {
      float *to = g->t->y + (z->i + i) * n + z->j;
      if (to != sum + i * z->cols) memcpy(to, sum + i * z->cols, z->cols * sizeof *sum);
    }
    return 1;
  }
  hu_operand from = {sum, z->cols, hui_format_binary32(), HU_STORAGE_VALUES, 0};
  uint64_t made = made_in(g, z, sum);
  for (size_t i = 0; i < z->rows; i += step) { /* random words are those of a row of D */
    hu_result d = result_from(g, z->i + i, z->j);
    hu_operand x = hui_operand_from(&from, i, 0);
    if (!copy(g, step, z->cols, &d, &x, g->t->mode, (uint64_t)(z->i + i) * n + z->j, z->events)) return 0;
  }
  if (made) recount(g, z, made);
  return 1;
}
