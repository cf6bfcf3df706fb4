/* SPDX-License-Identifier: MIT */
/* gpu/scaled/s2fp8.cu - shifted and squeezed tensors: sums of logarithms; tables made by one block; elements looked up
 * in them, one read and one write. Sums are integers, so that the order in which blocks add does not affect the result.
 *
 * Bound, from the machine code for compute capability 9.0, whose multiprocessor starts 128 instructions in a clock, 64
 * of binary64, and on an H200 moves 16 bytes: a logarithm takes 344 for four elements, 86 each, of which 65 are run and
 * 26 are of binary64, 2.0 in a clock; memory allows 4 of 4 bytes: issue slots are the bound. Looking up takes 141 with
 * the tables of a call on 2^16 elements, 0.9; memory allows 3.2 of 5 bytes. A code of 8 bits is decoded in 174 for 16,
 * 11 each: there memory is the bound. */
#include "emu/s2fp8/kind.h"
#include "emu/core/s2fp8_table.h"
#include "emu/s2fp8/polynomial.h"
#include "emu/s2fp8/gemm.h"
#include "gpu/base/calls.h"
#include "gpu/base/check.h"
#include "gpu/base/look.h"
#include "gpu/base/map.cuh"
#include "halfulp/device.h"

static_assert(sizeof(hu_s2_search) <= HU_DEVICE_S2FP8_WORK && sizeof(hu_s2_search) % 4 == 0, "the work of a call");

/* ---- sums ---- */

typedef struct hu_s2_mine {
  int64_t exponents, units;
  uint64_t count, special;
  uint32_t top;
} hu_s2_mine;

/* The logarithms of sixteen intervals, in shared memory. */
typedef struct hu_s2_logs {
  double factors[16], wholes[16], parts[16];
} hu_s2_logs;

static __device__ __noinline__ void hui_s2_logs_fill(hu_s2_logs *logs, uint32_t i) {
  const double factors[16] = {HU_S2_FACTORS}, wholes[16] = {HU_S2_WHOLES}, parts[16] = {HU_S2_PARTS};
  logs->factors[i] = factors[i];
  logs->wholes[i] = wholes[i];
  logs->parts[i] = parts[i];
}

static __device__ __noinline__ int64_t hui_s2_log2_called(uint32_t a) { return hui_s2_log2(a); }

/* Adds L as emu/s2fp8/lanes_common.h does: by binary64 where that suffices, else by integers. */
HU_DEVICE void hui_s2_look(const hu_s2_logs *logs, uint32_t bits, hu_s2_mine *mine) {
  uint32_t a = bits & 0x7FFFFFFF, i = a >> 19 & 15;
  if (a == 0) return;
  if (a >= 0x7F800000) {
    mine->special++;
    return;
  }
  mine->count++;
  mine->top = a > mine->top ? a : mine->top;
  double m = __uint_as_float((a & 0x7FFFFF) | 0x3F800000), ratio = m * logs->factors[i] - 1;
  double part = logs->parts[i] + ratio * hui_polynomial_s2(ratio), n = (part + 0x1.8p52) - 0x1.8p52,
         distance = part - n;
  if (a < 0x800000 || distance > 0.5 - 0x1p-15 || distance < 0x1p-15 - 0.5) {
    mine->units += hui_s2_log2_called(a);
  } else {
    mine->exponents += (int32_t)(a >> 23) - 127;
    mine->units += (int64_t)(n + logs->wholes[i]);
  }
}

/* Adds 128 bits. */
HU_DEVICE void hui_s2_add_wide(unsigned long long *low, unsigned long long *high, uint64_t add_low, int64_t add_high) {
  uint64_t old = atomicAdd(low, (unsigned long long)add_low);
  uint64_t carried = (uint64_t)add_high + (old + add_low < old);
  if (carried) atomicAdd(high, (unsigned long long)carried);
}

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_s2_sum_kernel(hu_map_extent extent, const uint32_t *x, hu_s2fp8_sums *sums) {
  __shared__ hu_s2_logs logs;
  __shared__ unsigned long long all[4];
  __shared__ unsigned top;
  if (threadIdx.x < 16) hui_s2_logs_fill(&logs, threadIdx.x);
  if (threadIdx.x < 4) all[threadIdx.x] = 0;
  if (threadIdx.x == 4) top = 0;
  __syncthreads();
  hu_s2_mine mine = {0, 0, 0, 0, 0};
  size_t step = (size_t)gridDim.x * HU_THREADS, singles = extent.n - extent.groups * 4;
  for (size_t group = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; group < extent.groups; group += step) {
    hu_four<uint32_t> in = *(const hu_four<uint32_t> *)(x + extent.head + group * 4);
#pragma unroll
    for (int i = 0; i < 4; i++) hui_s2_look(&logs, in.value[i], &mine);
  }
  for (size_t single = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; single < singles; single += step) {
    size_t i = single < extent.head ? single : single + extent.groups * 4;
    hui_s2_look(&logs, x[(ptrdiff_t)i * extent.incx], &mine);
  }
  /* An element adds exponents below 2^8 and units below 2^40, so that 2^23 elements fit before both go into 128 bits;
   * no thread gets more elements of an array that fits a device. */
  uint64_t low = ((uint64_t)mine.exponents << HU_S2_DIGITS) + (uint64_t)mine.units;
  int64_t high = (mine.exponents >> (64 - HU_S2_DIGITS)) + (mine.units >> 63) + (low < (uint64_t)mine.units);
  hui_s2_add_wide(&all[0], &all[1], low, high);
  if (mine.count) atomicAdd(&all[2], (unsigned long long)mine.count);
  if (mine.special) atomicAdd(&all[3], (unsigned long long)mine.special);
  if (mine.top) atomicMax(&top, mine.top);
  __syncthreads();
  if (threadIdx.x != 0) return;
  hui_s2_add_wide((unsigned long long *)&sums->low, (unsigned long long *)&sums->high, all[0], (int64_t)all[1]);
  if (all[2]) atomicAdd((unsigned long long *)&sums->count, all[2]);
  if (all[3]) atomicAdd((unsigned long long *)&sums->special, all[3]);
  if (top) atomicMax(&sums->top, top);
}

HU_KERNEL hui_s2_clear_kernel(hu_s2fp8_sums *sums) {
  if (threadIdx.x == 0) memset(sums, 0, sizeof *sums);
}

/* ---- scales ---- */

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_s2_scale_kernel(hu_s2 tensor, const hu_s2fp8_sums *sums, hu_s2fp8_scale *scale) {
  if (threadIdx.x != 0) return;
  int64_t m;
  if (hui_s2_sums_fit(sums->high, sums->low, sums->count, sums->top)) {
    hui_s2_moments(&tensor.mu, &m, sums->high, sums->low, sums->count, sums->top, tensor.target);
    tensor.gap = m - tensor.mu;
  }
  scale->mu = tensor.mu;
  scale->m = tensor.mu + tensor.gap;
  scale->alpha = __uint_as_float(hui_s2_alpha(&tensor));
  scale->beta = __uint_as_float(hui_s2_beta(&tensor));
}

/* Puts the device's numbers into the host's tensor, which has mu = 0 and m = T. */
HU_DEVICE void hui_s2_take(hu_s2 *tensor, const hu_s2fp8_scale *scale) {
  if (!hui_s2_scale_fits(scale->mu, scale->m)) return;
  tensor->mu = scale->mu;
  tensor->gap = scale->m - scale->mu;
}

/* ---- tables: one block ---- */

HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_s2_table_kernel(hu_s2 kind, const hu_s2fp8_scale *scale, hu_s2_search *work, uint32_t values_only) {
  __shared__ hu_s2 tensor;
  if (threadIdx.x == 0) {
    tensor = kind;
    hui_s2_take(&tensor, scale);
  }
  __syncthreads();
  if (values_only) {
    work->table.value[threadIdx.x] = hui_s2_decoded(&tensor, threadIdx.x);
    return;
  }
  hui_s2_fill_entry(&work->table, &tensor, threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) hui_s2_search_start(work, &tensor);
  __syncthreads();
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < 2 * HU_S2_BUCKETS; i += HU_THREADS) {
    uint32_t sign = i / HU_S2_BUCKETS, within = hui_s2_bucket(work, sign, i % HU_S2_BUCKETS);
    if (within) atomicMax(&work->most[sign], within);
  }
}

/* ---- elements ---- */

template <class Out, bool Value>
struct hu_s2_found_op {
  static const int unroll = 2;
  static const uint32_t stochastic = 0;
  const hu_s2_search *search; /* shared memory of the block */
  hu_stream stream;
  hu_events *events;

  __device__ __forceinline__ Out one(uint32_t x, uint32_t, hu_counts *counts) const {
    uint32_t set, code = hui_s2_found(search, x, &set);
    if (events) hui_counts_add(counts, set);
    return (Out)(Value ? search->table.value[code] : code);
  }

  __device__ __forceinline__ int quick(const uint32_t x[4], const uint32_t words[4], Out z[4],
                                       hu_counts *counts) const {
#pragma unroll
    for (int i = 0; i < 4; i++) z[i] = one(x[i], words[i], counts);
    return 1;
  }

  __device__ __forceinline__ void slow(const uint32_t[4], const uint32_t[4], Out[4], hu_counts *) const {}
};

template <class Out, bool Value>
HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_s2_found_kernel(hu_map_extent extent, Out *z, const uint32_t *x, const hu_s2_search *work, hu_events *events) {
  __shared__ hu_s2_search search;
  for (uint32_t i = threadIdx.x; i < sizeof search / 4; i += HU_THREADS) {
    ((uint32_t *)&search)[i] = ((const uint32_t *)work)[i];
  }
  __syncthreads();
  hu_s2_found_op<Out, Value> op;
  op.search = &search;
  op.stream.key = op.stream.counter = 0;
  op.events = events;
  hui_map(op, extent, z, x);
}

/* Converts by kinds and modes without a table. */
template <class Out, bool Value>
HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_s2_core_kernel(hu_map_extent extent, Out *z, const uint32_t *x, hu_s2 kind, const hu_s2fp8_scale *scale,
                       hu_stream stream, hu_events *events) {
  __shared__ hu_s2 tensor;
  __shared__ unsigned long long sums[HU_EVENT_KINDS];
  if (threadIdx.x == 0) {
    tensor = kind;
    hui_s2_take(&tensor, scale);
  }
  __syncthreads();
  hu_counts counts;
  hui_counts_clear(&counts);
  size_t step = (size_t)gridDim.x * HU_THREADS;
  for (size_t i = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; i < extent.n; i += step) {
    uint32_t events_of_one, random = tensor.spec.bits ? hui_word(stream, i) >> (32 - tensor.spec.bits) : 0;
    uint32_t code = hui_s2_element(&tensor, x[(ptrdiff_t)i * extent.incx], random, &events_of_one);
    if (events) hui_counts_add(&counts, events_of_one);
    z[(ptrdiff_t)i * extent.incz] = (Out)(Value ? hui_s2_decoded(&tensor, code) : code);
  }
  if (events) hui_counts_flush(&counts, events, sums);
}

/* Reads values of codes of a byte from the table's list. */
struct hu_s2_listed_op {
  static const int unroll = 4;
  static const uint32_t stochastic = 0;
  const uint32_t *values; /* shared memory of the block */
  uint32_t mask;
  hu_stream stream;
  hu_events *events;

  __device__ __forceinline__ uint32_t one(uint8_t x, uint32_t, hu_counts *) const { return values[x & mask]; }

  __device__ __forceinline__ int quick(const uint8_t x[4], const uint32_t words[4], uint32_t z[4],
                                       hu_counts *counts) const {
#pragma unroll
    for (int i = 0; i < 4; i++) z[i] = one(x[i], words[i], counts);
    return 1;
  }

  __device__ __forceinline__ void slow(const uint8_t[4], const uint32_t[4], uint32_t[4], hu_counts *) const {}
};

HU_KERNEL __launch_bounds__(HU_THREADS)
    hui_s2_listed_kernel(hu_map_extent extent, uint32_t *z, const uint8_t *x, uint32_t mask, const hu_s2_search *work) {
  __shared__ uint32_t values[HU_THREADS];
  values[threadIdx.x] = work->table.value[threadIdx.x];
  __syncthreads();
  hu_s2_listed_op op;
  op.values = values;
  op.mask = mask;
  op.stream.key = op.stream.counter = 0;
  op.events = NULL;
  hui_map(op, extent, z, x);
}

/* Decodes wider codes, one by one. */
template <class In>
HU_KERNEL __launch_bounds__(HU_THREADS, 1)
    hui_s2_value_kernel(hu_map_extent extent, uint32_t *z, const In *x, hu_s2 kind, const hu_s2fp8_scale *scale) {
  __shared__ hu_s2 tensor;
  if (threadIdx.x == 0) {
    tensor = kind;
    hui_s2_take(&tensor, scale);
  }
  __syncthreads();
  size_t step = (size_t)gridDim.x * HU_THREADS;
  for (size_t i = (size_t)blockIdx.x * HU_THREADS + threadIdx.x; i < extent.n; i += step) {
    z[(ptrdiff_t)i * extent.incz] = hui_s2_decoded(&tensor, x[(ptrdiff_t)i * extent.incx]);
  }
}

/* ---- calls ---- */

static unsigned hui_s2_grid(const hu_map_extent &extent) {
  uint64_t groups = extent.groups / (HU_THREADS * 2) + 1, singles = (extent.n - extent.groups * 4) / HU_THREADS + 1;
  return hui_grid_size(groups > singles ? groups : singles, 8);
}

static hu_status hui_s2_aligned(const void *data, size_t size) {
  if (!data) return HU_E_NULL;
  return (uintptr_t)data % size ? HU_E_ALIGN : HU_OK;
}

/* Makes the kind with mu = 0, m = T. */
static hu_s2 hui_s2_kind(const hu_s2fp8 *kind, hu_mode mode) {
  hu_s2 tensor;
  hui_s2_make(&tensor, kind, 0, (int64_t)hu_s2fp8_target(kind) << HU_S2_DIGITS, mode);
  return tensor;
}

static hu_mode hui_s2_nearest_mode(void) {
  hu_mode rne;
  memset(&rne, 0, sizeof rne);
  return rne;
}

/* Checks everything except the arrays. */
static hu_status hui_s2_call_check(const hu_s2fp8 *kind, const hu_s2fp8_scale *scale, hu_mode mode,
                                   const hu_events *events, const void *work) {
  hu_status status = hui_s2_check(kind, NULL, mode);
  if (status == HU_OK) status = hui_s2_aligned(scale, 8);
  if (status == HU_OK) status = hui_check_events(events);
  return status == HU_OK ? hui_s2_aligned(work, 16) : status;
}

static size_t hui_s2_code_size(const hu_s2fp8 *kind) { return hui_code_bytes(kind->element); }

hu_status hui_cuda_s2fp8_sum_n(size_t n, const float *x, ptrdiff_t incx, hu_s2fp8_sums *sums, const hu_exec *exec) {
  void *stream = exec->where.queue;
  hu_status status = hui_s2_aligned(sums, 8);
  if (status == HU_OK) status = hui_check_arrays(n, x, sizeof *x, incx ? incx : 1, x, sizeof *x, incx ? incx : 1);
  if (status != HU_OK || n == 0) return status;
  hu_map_extent extent = hui_map_extent_of(n, (const uint32_t *)x, incx, (const uint32_t *)x, incx);
  HU_LAUNCH(hui_s2_sum_kernel, hui_s2_grid(extent), 0, stream, extent, (const uint32_t *)x, sums);
  return hui_launched();
}

hu_status hui_cuda_s2fp8_scale_of(hu_s2fp8_scale *scale, const hu_s2fp8_sums *sums, const hu_s2fp8 *kind,
                                  const hu_exec *exec) {
  void *stream = exec->where.queue;
  hu_status status = hui_s2_check(kind, NULL, hui_s2_nearest_mode());
  if (status == HU_OK) status = hui_s2_aligned(scale, 8);
  if (status == HU_OK) status = hui_s2_aligned(sums, 8);
  if (status != HU_OK) return status;
  HU_LAUNCH(hui_s2_scale_kernel, 1, 0, stream, hui_s2_kind(kind, hui_s2_nearest_mode()), sums, scale);
  return hui_launched();
}

template <class Out, bool Value>
static hu_status hui_s2_launch(size_t n, Out *z, ptrdiff_t incz, const float *x, ptrdiff_t incx, const hu_s2 &tensor,
                               const hu_s2fp8_scale *scale, const hu_exec *exec, hu_events *events) {
  void *stream = exec->where.queue;
  hu_map_extent extent = hui_map_extent_of(n, z, incz, (const uint32_t *)x, incx);
  hu_s2_search *search = (hu_s2_search *)exec->where.work;
  (void)search;
  if constexpr (Value || sizeof(Out) == 1) { /* kinds with a table have codes of a byte */
    if (hui_s2_may_table(&tensor.spec)) {
      HU_LAUNCH(hui_s2_table_kernel, 1, 0, stream, tensor, scale, search, 0u);
      auto found = hui_s2_found_kernel<Out, Value>;
      HU_LAUNCH(found, hui_s2_grid(extent), 0, stream, extent, z, (const uint32_t *)x, search, events);
      return hui_launched();
    }
  }
  auto core = hui_s2_core_kernel<Out, Value>;
  HU_LAUNCH(core, hui_grid_size(n / HU_THREADS + 1, 16), 0, stream, extent, z, (const uint32_t *)x, tensor, scale,
            exec->stream, events);
  return hui_launched();
}

hu_status hui_cuda_s2fp8_encode_n(size_t n, void *z, ptrdiff_t incz, const float *x, ptrdiff_t incx,
                                  const hu_s2fp8 *kind, const hu_s2fp8_scale *scale, hu_mode mode, const hu_exec *exec,
                                  hu_events *events) {
  hu_status status = hui_s2_call_check(kind, scale, mode, events, exec->where.work);
  if (status == HU_OK) status = hui_check_arrays(n, z, hui_s2_code_size(kind), incz, x, sizeof *x, incx);
  if (status != HU_OK || n == 0) return status;
  hu_s2 tensor = hui_s2_kind(kind, mode);
  switch (hui_s2_code_size(kind)) {
    case 1: return hui_s2_launch<uint8_t, false>(n, (uint8_t *)z, incz, x, incx, tensor, scale, exec, events);
    case 2: return hui_s2_launch<uint16_t, false>(n, (uint16_t *)z, incz, x, incx, tensor, scale, exec, events);
    default: return hui_s2_launch<uint32_t, false>(n, (uint32_t *)z, incz, x, incx, tensor, scale, exec, events);
  }
}

hu_status hui_cuda_s2fp8_quantize_n(size_t n, float *z, ptrdiff_t incz, const float *x, ptrdiff_t incx,
                                    const hu_s2fp8 *kind, const hu_s2fp8_scale *scale, hu_mode mode,
                                    const hu_exec *exec, hu_events *events) {
  hu_status status = hui_s2_call_check(kind, scale, mode, events, exec->where.work);
  if (status == HU_OK) status = hui_check_arrays(n, z, sizeof *z, incz, x, sizeof *x, incx);
  if (status != HU_OK || n == 0) return status;
  return hui_s2_launch<uint32_t, true>(n, (uint32_t *)z, incz, x, incx, hui_s2_kind(kind, mode), scale, exec, events);
}

static hu_status hui_s2_decode_bytes(size_t n, float *z, ptrdiff_t incz, const uint8_t *x, ptrdiff_t incx,
                                     const hu_s2 &tensor, const hu_s2fp8_scale *scale, void *work, void *stream) {
  hu_map_extent extent = hui_map_extent_of(n, (uint32_t *)z, incz, x, incx);
  hu_s2_search *search = (hu_s2_search *)work;
  HU_LAUNCH(hui_s2_table_kernel, 1, 0, stream, tensor, scale, search, 1u);
  HU_LAUNCH(hui_s2_listed_kernel, hui_s2_grid(extent), 0, stream, extent, (uint32_t *)z, x,
            tensor.spec.mag_mask | tensor.spec.sign_mask, search);
  return hui_launched();
}

template <class In>
static hu_status hui_s2_decode_wide(size_t n, float *z, ptrdiff_t incz, const In *x, ptrdiff_t incx,
                                    const hu_s2 &tensor, const hu_s2fp8_scale *scale, void *stream) {
  hu_map_extent extent = hui_map_extent_of(n, (uint32_t *)z, incz, x, incx);
  auto kernel = hui_s2_value_kernel<In>;
  HU_LAUNCH(kernel, hui_grid_size(n / HU_THREADS + 1, 16), 0, stream, extent, (uint32_t *)z, x, tensor, scale);
  return hui_launched();
}

static hu_status hui_s2_decode(size_t n, float *z, ptrdiff_t incz, const void *x, ptrdiff_t incx, const hu_s2fp8 *kind,
                               const hu_s2fp8_scale *scale, void *work, void *stream) {
  hu_s2 tensor = hui_s2_kind(kind, hui_s2_nearest_mode());
  switch (hui_s2_code_size(kind)) {
    case 1: return hui_s2_decode_bytes(n, z, incz, (const uint8_t *)x, incx, tensor, scale, work, stream);
    case 2: return hui_s2_decode_wide(n, z, incz, (const uint16_t *)x, incx, tensor, scale, stream);
    default: return hui_s2_decode_wide(n, z, incz, (const uint32_t *)x, incx, tensor, scale, stream);
  }
}

hu_status hui_cuda_s2fp8_decode_n(size_t n, float *z, ptrdiff_t incz, const void *x, ptrdiff_t incx,
                                  const hu_s2fp8 *kind, const hu_s2fp8_scale *scale, const hu_exec *exec) {
  void *work = exec->where.work, *stream = exec->where.queue;
  hu_status status = hui_s2_call_check(kind, scale, hui_s2_nearest_mode(), NULL, work);
  if (status == HU_OK) status = hui_check_arrays(n, z, sizeof *z, incz, x, hui_s2_code_size(kind), incx);
  if (status != HU_OK || n == 0) return status;
  hui_look_at(hui_code_array_of(n, x, incx, kind->element), stream);
  return hui_s2_decode(n, z, incz, x, incx, kind, scale, work, stream);
}

hu_status hui_cuda_s2fp8_truncate_n(size_t n, float *z, ptrdiff_t incz, const float *x, ptrdiff_t incx,
                                    const hu_s2fp8 *kind, hu_mode mode, hu_s2fp8_sums *sums, hu_s2fp8_scale *scale,
                                    const hu_exec *exec, hu_events *events) {
  void *stream = exec->where.queue;
  hu_status status = hui_s2_call_check(kind, scale, mode, events, exec->where.work);
  if (status == HU_OK) status = hui_s2_aligned(sums, 8);
  if (status == HU_OK) status = hui_check_arrays(n, z, sizeof *z, incz, x, sizeof *x, incx);
  if (status != HU_OK) return status;
  HU_LAUNCH(hui_s2_clear_kernel, 1, 0, stream, sums);
  status = hui_launched();
  if (status == HU_OK) status = hui_cuda_s2fp8_sum_n(n, x, incx, sums, exec);
  if (status == HU_OK) status = hui_cuda_s2fp8_scale_of(scale, sums, kind, exec);
  if (status == HU_OK) status = hui_cuda_s2fp8_quantize_n(n, z, incz, x, incx, kind, scale, mode, exec, events);
  return status;
}

/* ---- products ---- */

/* The codes of a matrix as they are stored. */
typedef struct hu_s2_stored {
  const hu_scaled *x;
  const hu_s2fp8 *kind;
  size_t rows, cols;
  int transposed;
} hu_s2_stored;

/* Reads a view. HU_E_FORMAT, HU_E_NULL, HU_E_SHAPE: it is not one of such codes. */
static hu_status hui_s2_take(hu_s2_stored *z, const hu_view *x, size_t rows, size_t cols) {
  if (x->type.kind != HU_TYPE_S2FP8) return hui_matrix_is_absent(x) ? HU_E_NULL : HU_E_FORMAT;
  z->x = (const hu_scaled *)x->data;
  z->kind = x->type.s2fp8;
  z->transposed = x->stride == 0;
  z->rows = z->transposed ? cols : rows;
  z->cols = z->transposed ? rows : cols;
  if (!z->x || !z->kind || !z->x->scales) return HU_E_NULL;
  return (z->transposed ? x->row == 1 : x->stride == 1 && x->row == 0) ? HU_OK : HU_E_SHAPE;
}

/* Returns the number of elements of a stored matrix, gaps between rows included; SIZE_MAX: too many. */
static size_t hui_s2_elements(const hu_s2_stored *x) {
  size_t z;
  if (x->rows == 0 || x->cols == 0) return 0;
  if (__builtin_mul_overflow(x->rows - 1, x->x->ld, &z) || __builtin_add_overflow(z, x->cols, &z)) return SIZE_MAX;
  return z > PTRDIFF_MAX / 8 ? SIZE_MAX : (z + 3) / 4 * 4;
}

size_t hui_cuda_s2fp8_gemm_space(const hu_product *x, const hu_exec *) {
  hu_s2_stored a, b;
  if (hui_s2_take(&a, &x->a, x->m, x->k) != HU_OK || hui_s2_take(&b, &x->b, x->k, x->n) != HU_OK) return SIZE_MAX;
  size_t za = hui_s2_elements(&a), zb = hui_s2_elements(&b);
  return za == SIZE_MAX || zb == SIZE_MAX ? SIZE_MAX : HU_DEVICE_S2FP8_WORK + 4 * (za + zb);
}

static hu_view hui_s2_values(const float *values, const hu_s2_stored *x) {
  hu_view z = hu_matrix_floats(values, x->x->ld);
  return x->transposed ? hu_transposed(z) : z;
}

static hu_status hui_s2_fill(float *values, const hu_s2_stored *x, void *work, void *stream) {
  if (x->rows == 0 || x->cols == 0) return HU_OK;
  hui_look_at(hui_code_rows_of(x->rows, x->cols, x->x->codes, x->x->ld, x->kind->element), stream);
  return hui_s2_decode((x->rows - 1) * x->x->ld + x->cols, values, 1, x->x->codes, 1, x->kind,
                       (const hu_s2fp8_scale *)x->x->scales, work, stream);
}

static hu_status hui_s2_stored_check(hu_matrix_extent *extent, const hu_s2_stored *x) {
  hu_status status = hui_s2_check(x->kind, NULL, hui_s2_nearest_mode());
  if (status == HU_OK) status = hui_s2_aligned(x->x->scales, 8);
  if (status != HU_OK) return status;
  size_t size = hui_s2_code_size(x->kind);
  if (hui_s2_elements(x) == SIZE_MAX) return HU_E_SHAPE;
  return hui_matrix_extent_of(extent, x->x->codes, x->rows, x->cols, x->x->ld, size, size);
}

hu_status hui_cuda_s2fp8_gemm(const hu_product *product, const hu_how *how) {
  void *stream = how->exec->where.queue;
  hu_product own = *product;
  hu_s2_stored a, b;
  hu_matrix_extent extent[4];
  hu_status status = hui_s2_take(&a, &own.a, own.m, own.k);
  if (status == HU_OK) status = hui_s2_take(&b, &own.b, own.k, own.n);
  if (status == HU_OK) status = hui_s2_stored_check(&extent[1], &a);
  if (status == HU_OK) status = hui_s2_stored_check(&extent[2], &b);
  if (status == HU_OK) status = hui_s2fp8_result(&own, &extent[0], &extent[3]);
  if (status == HU_OK) status = hui_s2_aligned(own.space, 16);
  if (status == HU_OK && own.bytes < hui_cuda_s2fp8_gemm_space(&own, how->exec)) status = HU_E_SPACE;
  for (int i = 1; i < 4 && status == HU_OK; i++)
    if (hui_matrix_extents_overlap(&extent[0], &extent[i])) status = HU_E_OVERLAP;
  if (status != HU_OK) return status;
  float *va = (float *)((uint8_t *)own.space + HU_DEVICE_S2FP8_WORK), *vb = va + hui_s2_elements(&a);
  int some = own.m && own.n;
  if (some) status = hui_s2_fill(va, &a, own.space, stream);
  if (status == HU_OK && some) status = hui_s2_fill(vb, &b, own.space, stream);
  if (status != HU_OK) return status;
  own.a = hui_s2_values(va, &a);
  own.b = hui_s2_values(vb, &b);
  hu_how plain = hu_how_of(hui_s2_nearest_mode(), how->exec, NULL);
  return hui_cuda_gemm(&own, &plain);
}
