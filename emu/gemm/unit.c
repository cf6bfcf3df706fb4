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
static int operand_of(hu_unit_operand *z, const hu_matrix *x, const hu_block *block) {
  hu_source source;
  memset(&source, 0, sizeof source);
  source.spec = x->spec;
  source.emin = x->spec.emin;
  hui_source_block(&source, block);
  z->mask = ~(((uint32_t)1 << source.cut) - 1);
  z->emin = hui_unit_in_reach(source.emin) ? hui_unit_power(source.emin) : 0;
  z->daz = source.daz == HU_BLOCK_DAZ_NONE ? 0 : z->emin;
  z->zero = source.daz == HU_BLOCK_DAZ_SIGN ? (uint64_t)1 << 63 : 0;
  /* Cut digits are those of binary32 patterns. */
  return x->carried && hui_unit_in_reach(source.emin) && (!source.cut || (x->spec.m == 23 && x->spec.emin == -126));
}

/* Products with their scales well inside binary64's range and less than 2^1000 apart, so that no cut loses a sign;
 * scales without infinities. A group has the scales of its first product, those of all where parts begin with new
 * scales. */
static int scales_fit(unit_way *way, const hu_gemm_call *call, const hu_accum *accum) {
  const hu_matrix *in[4] = {&call->a, &call->b, &call->scale_a, &call->scale_b};
  int32_t low = 0, high = 0, every = accum->block.every;
  if (!hu_accum_is_scaled(accum)) return 1;
  for (int i = 0; i < 4; i++) {
    hu_spec spec = in[i]->spec;
    if (!in[i]->carried || (i > 1 && spec.has_inf && !accum->scaled)) return 0;
    low += spec.emin - spec.m;
    high += hui_exponent(hui_unpack(&spec, spec.max_code)) + 1;
  }
  way->scale.mask = UINT32_MAX;
  way->scale.emin = hui_unit_power(call->scale_a.spec.emin);
  if (accum->scaled) return 1;
  if (accum->block.rule == HU_BLOCK_GROUPS && (accum->slices || accum->promote % (uint32_t)every)) return 0;
  return low >= -600 && high <= 550 && high - low <= 1000;
}

/* 1 if the lanes serve the model. */
static int choose(unit_way *way, const hu_gemm_call *call, const hu_level *level) {
  const hu_accum *accum = call->accum;
  memset(way, 0, sizeof *way);
  way->kernels = level->unit;
  if (!way->kernels || call->watches || accum->kind != HU_ACCUM_BLOCK || call->k == 0) return 0;
  if (!operand_of(&way->a, &call->a, &accum->block) || !operand_of(&way->b, &call->b, &accum->block)) return 0;
  if ((call->c.data && !call->c.carried) || !scales_fit(way, call, accum)) return 0;
  return hui_unit_plan_of(&way->plan, &call->a.spec, &call->b.spec, accum, KC);
}

/* ---- operands ---- */

/* Position t of a piece holds product at[t] of it, or none: count. */
typedef struct product_order {
  size_t count, padded;
  uint16_t at[KC];
} product_order;

static void order_of(product_order *z, const hu_block *block, size_t count) {
  size_t step = (size_t)block->length << (block->order == HU_BLOCK_ORDER_MOD4), blocks = (count + step - 1) / step;
  z->count = count;
  z->padded = block->rule >= HU_BLOCK_CHAIN ? count : blocks * step;
  for (size_t position = 0; position < z->padded; position++) {
    size_t first = position / step * step, i = position % step, half = i / block->length,
           past = hui_least(count - first, step);
    if (block->order == HU_BLOCK_ORDER_DOWN) i = past - 1 - i;
    if (block->order == HU_BLOCK_ORDER_MOD4) i = 4 * (i % block->length / 2) + i % 2 + 2 * half;
    z->at[position] = (uint16_t)(first + i < count ? first + i : count);
  }
}

/* A line of elements with their powers; behind the last one a zero. */
typedef struct line {
  _Alignas(64) double value[KC + 8], power[KC + 8];
} line;

static void read_line(const unit_way *way, const hu_matrix *x, const hu_unit_operand *operand, size_t row,
                      size_t column, size_t n, line *z) {
  float values[KC + 8];
  memset(values + n, 0, 8 * sizeof *values);
  hui_gemm_read32(x, row, column, n, values);
  way->kernels->prepare(operand, n, values, z->value, z->power);
  z->value[n] = z->power[n] = 0;
}

/* Reads the stored row of position k, where k runs over stored rows; zeros if there is none. */
static void read_or_none(const unit_way *way, const hu_matrix *x, const hu_unit_operand *how, size_t k0,
                         const product_order *order, size_t k, size_t column, size_t n, line *z) {
  if (order->at[k] < order->count) {
    read_line(way, x, how, k0 + order->at[k], column, n, z);
  } else {
    memset(z, 0, sizeof *z);
  }
}

static void pack_a(const hu_gemm_call *call, size_t i0, size_t k0, size_t rows, const product_order *order, double *z) {
  const unit_way *way = call->way;
  line x;
  for (size_t i = 0; !call->a.transposed && i < rows; i++) {
    read_line(way, &call->a, &way->a, i0 + i, k0, order->count, &x);
    for (size_t k = 0; k < order->padded; k++) {
      z[i * KC + k] = x.value[order->at[k]];
      z[MB * KC + i * KC + k] = x.power[order->at[k]];
    }
  }
  for (size_t k = 0; call->a.transposed && k < order->padded; k++) {
    read_or_none(way, &call->a, &way->a, k0, order, k, i0, rows, &x);
    for (size_t i = 0; i < rows; i++) {
      z[i * KC + k] = x.value[i];
      z[MB * KC + i * KC + k] = x.power[i];
    }
  }
}

static void pack_b(const hu_gemm_call *call, size_t j0, size_t k0, size_t cols, const product_order *order, double *z) {
  const unit_way *way = call->way;
  line x;
  for (size_t j = 0; call->b.transposed && j < cols; j++) {
    double *to = z + j / NR * (KC * NR) + j % NR;
    read_line(way, &call->b, &way->b, j0 + j, k0, order->count, &x);
    for (size_t k = 0; k < order->padded; k++) {
      to[k * NR] = x.value[order->at[k]];
      to[NB * KC + k * NR] = x.power[order->at[k]];
    }
  }
  for (size_t k = 0; !call->b.transposed && k < order->padded; k++) {
    read_or_none(way, &call->b, &way->b, k0, order, k, j0, cols, &x);
    for (size_t j = 0; j < cols; j += NR) {
      memcpy(z + j * KC + k * NR, x.value + j, NR * sizeof *z);
      memcpy(z + NB * KC + j * KC + k * NR, x.power + j, NR * sizeof *z);
    }
  }
}

/* ---- scales ---- */

/* Reads elements (at, first) ... (at, first + n - 1) of x, or (first, at) ... if not `along`. */
static void read_vector(const unit_way *way, const hu_matrix *x, int along, size_t at, size_t first, size_t n,
                        line *z) {
  float values[KC + 8];
  memset(values + n, 0, 8 * sizeof *values);
  if (along != x->transposed) {
    hui_gemm_read32(x, at, first, n, values);
  } else {
    for (size_t i = 0; i < n; i++) hui_gemm_read32(x, first + i, at, 1, values + i);
  }
  way->kernels->prepare(&way->scale, n, values, z->value, z->power);
}

/* Scales one element. align: the powers too. groups: a product that is not zero has its scales' power. */
static void scale_one(int grouped, double *value, double *power, double sv, double sp) {
  *power = grouped ? (*power > 0 ? sp : 0) : *power * sp;
  *value *= sv;
}

/* Multiplies the packed piece of A from product k0 on by its scales. */
static void scale_a(const hu_gemm_call *call, size_t i0, size_t k0, size_t rows, const product_order *order,
                    double *z) {
  const unit_way *way = call->way;
  int grouped = way->plan.rule == HU_BLOCK_GROUPS;
  size_t every = call->accum->block.every, first = k0 / every, n = (k0 + order->count - 1) / every - first + 1;
  line scales;
  for (size_t i = 0; i < rows; i++) {
    read_vector(way, &call->scale_a, 1, i0 + i, first, n, &scales);
    for (size_t k = 0; k < order->padded; k++) {
      size_t at = (k0 + order->at[k]) / every - first;
      if (order->at[k] >= order->count) continue;
      scale_one(grouped, &z[i * KC + k], &z[MB * KC + i * KC + k], scales.value[at], scales.power[at]);
    }
  }
}

static void scale_b(const hu_gemm_call *call, size_t j0, size_t k0, size_t cols, const product_order *order,
                    double *z) {
  const unit_way *way = call->way;
  int grouped = way->plan.rule == HU_BLOCK_GROUPS;
  size_t every = call->accum->block.every, last = SIZE_MAX;
  line scales;
  for (size_t k = 0; k < order->padded; k++) {
    size_t at = (k0 + order->at[k]) / every;
    if (order->at[k] >= order->count) continue;
    if (at != last) read_vector(way, &call->scale_b, 1, at, j0, cols, &scales);
    last = at;
    for (size_t j = 0; j < cols; j++) {
      double *to = z + j / NR * (KC * NR) + k * NR + j % NR;
      scale_one(grouped, to, to + NB * KC, scales.value[j], scales.power[j]);
    }
  }
}

/* ---- blocks of D ---- */

/* acc = C, or zeros. */
static void load_c(const hu_gemm_call *call, size_t i0, size_t j0, size_t rows, size_t cols, double *acc) {
  float values[MB > NB ? MB : NB];
  memset(acc, 0, MB * NB * sizeof *acc);
  if (!call->c.data) return;
  for (size_t i = 0; !call->c.transposed && i < rows; i++) {
    hui_gemm_read32(&call->c, i0 + i, j0, cols, values);
    for (size_t j = 0; j < cols; j++) acc[i * NB + j] = (double)values[j];
  }
  for (size_t j = 0; call->c.transposed && j < cols; j++) {
    hui_gemm_read32(&call->c, j0 + j, i0, rows, values);
    for (size_t i = 0; i < rows; i++) acc[i * NB + j] = (double)values[i];
  }
}

/* Reads C as block(...) does. */
static void flush_c(const hu_gemm_call *call, double *acc) {
  const unit_way *way = call->way;
  uint8_t daz = call->accum->block.daz;
  for (size_t i = 0; daz && i < MB * NB; i++) {
    uint64_t bits = hui_bits_of_double(acc[i]), sign = bits >> 63 << 63;
    if ((bits & ~sign) < hui_bits_of_double(way->plan.out.emin)) {
      acc[i] = hui_double_of_bits(daz == HU_BLOCK_DAZ_SIGN ? sign : 0);
    }
  }
}

/* Sums of row i; those that are no numbers stand for elements still to be computed. */
static void finish(const hu_gemm_call *call, size_t i, size_t j0, size_t n, const double *sum, hu_events *events) {
  float row[NB];
  for (size_t j = 0; j < n; j++) row[j] = (float)sum[j];
  for (size_t j = 0, past; j < n; j = past) {
    int open = !(row[j] - row[j] == 0);
    for (past = j + 1; past < n && open == !(row[past] - row[past] == 0);) past++;
    if (open) {
      hui_gemm_model_block(call, i, j0 + j, 1, past - j, events);
    } else {
      hui_gemm_finish32(call, i, j0 + j, past - j, row + j, events);
    }
  }
}

/* One block of D. Packed operands; rows and columns of padding stay zeros. */
typedef struct unit_work {
  const hu_gemm_call *call;
  const unit_way *way;
  size_t i0, j0, rows, cols;
  _Alignas(64) double a[2 * MB * KC], b[2 * NB * KC];
  double part[MB * NB], sum[MB * NB], total[MB * NB]; /* of a part, of a slice, of slices */
} unit_work;

/* Adds the blocks of products k0 ... k1-1 to acc. */
static void run_blocks(unit_work *work, size_t k0, size_t k1, double *acc) {
  const hu_gemm_call *call = work->call;
  const hu_block *block = &call->accum->block;
  size_t step = (size_t)block->length << (block->order == HU_BLOCK_ORDER_MOD4), most = KC / step * step;
  for (size_t k = k0; k < k1; k += most) {
    product_order z;
    order_of(&z, block, hui_least(k1 - k, most));
    pack_a(call, work->i0, k, work->rows, &z, work->a);
    pack_b(call, work->j0, k, work->cols, &z, work->b);
    if (block->every) {
      scale_a(call, work->i0, k, work->rows, &z, work->a);
      scale_b(call, work->j0, k, work->cols, &z, work->b);
    }
    work->way->kernels->blocks(&work->way->plan, work->rows, work->cols, z.padded, work->a, work->b, acc);
  }
}

/* sum = rnd(sum + part), or with scales number j rnd(sum + rnd(sa sb) part). */
static void join_part(unit_work *work, size_t j) {
  const hu_gemm_call *call = work->call;
  const unit_way *way = work->way;
  line a, b;
  if (!call->accum->scaled) {
    way->kernels->join(&way->plan.part, work->rows, work->cols, work->part, work->sum);
    return;
  }
  memset(&a, 0, sizeof a);
  memset(&b, 0, sizeof b);
  read_vector(way, &call->scale_a, 0, j, work->i0, work->rows, &a);
  read_vector(way, &call->scale_b, 1, j, work->j0, work->cols, &b);
  way->kernels->join_scaled(&way->plan.part, work->rows, work->cols, a.value, b.value, work->part, work->sum);
}

/* Adds products k0 ... k1-1 to sum. */
static void run_slice(unit_work *work, size_t k0, size_t k1) {
  size_t step = work->call->accum->promote, j = step ? k0 / step : 0;
  if (!step) {
    flush_c(work->call, work->sum);
    run_blocks(work, k0, k1, work->sum);
    return;
  }
  for (size_t k = k0; k < k1; k += step, j++) {
    memset(work->part, 0, sizeof work->part);
    run_blocks(work, k, k + hui_least(k1 - k, step), work->part);
    join_part(work, j);
  }
}

/* Sums the slices of splitk from nothing, one after another; C last. */
static void run_slices(unit_work *work) {
  const hu_gemm_call *call = work->call;
  const unit_way *way = work->way;
  size_t slices = hui_least(call->accum->slices, call->k), at = 0;
  for (size_t i = 0; i < slices; i++) {
    size_t past = at + call->k / slices + (i < call->k % slices);
    memset(work->sum, 0, sizeof work->sum);
    run_slice(work, at, past);
    if (i) way->kernels->join(&way->plan.part, work->rows, work->cols, work->sum, work->total);
    if (!i) memcpy(work->total, work->sum, sizeof work->total);
    at = past;
  }
  load_c(call, work->i0, work->j0, work->rows, work->cols, work->sum);
  way->kernels->join(&way->plan.part, work->rows, work->cols, work->sum, work->total);
}

static void run_block(const hu_gemm_call *call, size_t i0, size_t j0, hu_events *events) {
  unit_work work;
  work.call = call;
  work.way = call->way;
  work.i0 = i0;
  work.j0 = j0;
  work.rows = hui_least(call->m - i0, call->block_rows);
  work.cols = hui_least(call->n - j0, call->block_cols);
  memset(work.a, 0, sizeof work.a);
  memset(work.b, 0, sizeof work.b);
  if (call->accum->slices) {
    run_slices(&work);
  } else {
    load_c(call, i0, j0, work.rows, work.cols, work.sum);
    run_slice(&work, 0, call->k);
  }
  for (size_t i = 0; i < work.rows; i++) {
    finish(call, i0 + i, j0, work.cols, (call->accum->slices ? work.total : work.sum) + i * NB, events);
  }
}

static int run(hu_gemm_call *call, const hu_level *level, hu_events *events) {
  unit_way way;
  if (!choose(&way, call, level)) return 0;
  call->way = &way;
  hui_gemm_set_blocks(call, MB, HU_UNIT_MR, NB, NR);
  hui_gemm_run(call, run_block, events);
  return 1;
}

const hu_gemm_way hu_way_unit = {"unit", run};
