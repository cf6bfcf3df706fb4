/* SPDX-License-Identifier: MIT */
/* gpu/gemm/unfused.cu - models that round each product before they add it, ties to even: seq2, chunk, kahan, neumaier,
 * pairwise, strided, and promotions of them.
 *
 * If all their formats are binary32, the device's own multiplication and addition are the steps. Into other formats F,
 * of D = 2 to 26 digits with a sign and gradual subnormals, binary64 arithmetic rounds. There the product of two
 * binary32 numbers is exact. A sum x = u + v is rounded to nearest first, to t, and t is rounded into F by an anchor: E
 * = the larger of t's exponent and emin; A = 1.5 2^(E + 52 - m) is an even multiple of F's step there, in a binade
 * where binary64 has that same step, so that A + t is A + rnd_F(t), and A is taken away exactly. The two roundings of a
 * sum are one where u and v have at most D digits (emu/gemm/unfused.h has this argument for binary32):
 *
 *   No number of F and no midpoint of two lies strictly between x and t, since all are binary64 numbers. So only a t
 *   that is a midpoint, and not x, could round to another number than x. Let e be its exponent, and v the term with the
 *   lowest digit, which is at or below 2^(e-53). |v| < 2^(e-53+D), |t - x| <= 2^(e-53), so |t - u| <= 2^(e-53+D) <
 *   2^(e-D), as 2 D < 53. From below 2^e, u would be 2^(e-D) or more away; so it is a multiple of 2^(e-D+1), and t as a
 *   midpoint one of 2^(e-D) or of a higher power: t = u. If u is on F's grid, it is no midpoint. Else it has finer
 *   subnormals than F, and v is a multiple of F's least step 2^(emin-m), so that e is at least emin - m + 53 > emin:
 *   there, D digits are on the grid, and t is no midpoint.
 *
 * So products may have no more digits than sums, parts no more than what they are joined in, and C must be on the grid
 * of what it is added to. A zero has the sign that IEEE 754 gives it, and a small t that rounds to zero keeps its own.
 * From 2^emax on, where F might overflow, and for infinities and NaN, the element is left open: emu/core/accum.h
 * computes it at the end.
 *
 * A thread has two elements of D, in one column. Slabs of 32 products lie in shared memory in the order in which the
 * leaves of a tree are visited. Values that wait for their siblings are in local memory, where all lanes use the same
 * index at the same time.
 *
 * Limit, in the machine code for compute capability 9.0. A rounding in binary64 takes 2 operations of FP64 and 4 of the
 * integer pipe (the exponent's field, its floor, the comparison with 2^emax, the sign), of each of which a
 * multiprocessor starts 64 lanes per clock, and 128 of all instructions together. Reading takes 87 instructions for an
 * element of a slab, 8 for a product, which "all" includes.
 *
 *   a product             FP64   integer   all   products per clock, with 132 multiprocessors at 1.98 GHz
 *   seq2                    6       11      33   3.9, 2.0 TFLOP/s
 *   kahan                  15       24      62   2.1, 1.1 TFLOP/s
 *   neumaier               16       27      65   2.0, 1.0 TFLOP/s
 *   pairwise                6       14      50   2.6, 1.3 TFLOP/s
 *
 * Issue is the bound of each. In binary32 a step takes 5 operations of FP32 (kahan) or 2 (pairwise), and with
 * addresses, loads and reading 19 and 28 instructions: 3.5 and 2.4 TFLOP/s. pairwise writes 8 bytes of local memory for
 * a product and reads as many, in binary32 4: the first-level cache moves 128 per clock, enough for 8 products. The
 * matrices are no bound: a slab has 48 elements for 512 products. */
#include "gpu/gemm/by_model.cuh"
#include "gpu/gemm/tile.cuh"
#include "gpu/gemm/unfused.h"

enum { HU_UNFUSED_ROWS = 32, HU_UNFUSED_COLS = 16, HU_UNFUSED_DEPTH = 32, HU_UNFUSED_PITCH = HU_UNFUSED_DEPTH + 1 };
enum { HU_UNFUSED_TWO = 2 }; /* elements of a thread */

/* ---- arithmetic ---- */

HU_DEVICE float hui_unfused_mul(float x, float y) { return __fmul_rn(x, y); }
HU_DEVICE float hui_unfused_add(float x, float y) { return __fadd_rn(x, y); }
HU_DEVICE float hui_unfused_sub(float x, float y) { return __fsub_rn(x, y); }
HU_DEVICE double hui_unfused_mul(double x, double y) { return x * y; }
HU_DEVICE double hui_unfused_add(double x, double y) { return x + y; }
HU_DEVICE double hui_unfused_sub(double x, double y) { return x - y; }

HU_DEVICE double hui_of_halves(uint32_t high, uint32_t low) {
  return __longlong_as_double((long long)((uint64_t)high << 32 | low));
}

/* Rounds x into the format. */
HU_DEVICE double hui_unfused_round(const hu_unfused_grid &grid, double x, bool *open) {
  uint32_t high = (uint32_t)((uint64_t)__double_as_longlong(x) >> 32), field = high & 0x7FF00000u;
  *open = *open || field >= grid.top;
  double power = hui_of_halves(field > grid.floor ? field : grid.floor, 0);
  double z = __fma_rn(-power, grid.scale, __fma_rn(power, grid.scale, x));
  uint64_t bits = (uint64_t)__double_as_longlong(z);
  return hui_of_halves((uint32_t)(bits >> 32) | (high & grid.sign), (uint32_t)bits);
}

HU_DEVICE float hui_unfused_round(const hu_unfused_grid &, float x, bool *) { return x; }

/* What an element keeps from one product to the next: its sum, and what a compensated sum carries. */
template <class T>
struct hu_unfused_sum {
  T total, carried;
  bool open;

  __device__ __forceinline__ T rounded_sum(const hu_unfused_grid &grid, T x, T y) {
    return hui_unfused_round(grid, hui_unfused_add(x, y), &open);
  }
  __device__ __forceinline__ T rounded_difference(const hu_unfused_grid &grid, T x, T y) {
    return hui_unfused_round(grid, hui_unfused_sub(x, y), &open);
  }
  __device__ __forceinline__ T product(const hu_unfused_args &unfused, T a, T b) {
    return hui_unfused_round(unfused.product, hui_unfused_mul(a, b), &open);
  }

  __device__ __forceinline__ void kahan(const hu_unfused_grid &grid, T product_of) {
    T y = rounded_difference(grid, product_of, carried), next = rounded_sum(grid, total, y);
    carried = rounded_difference(grid, rounded_difference(grid, next, total), y);
    total = next;
  }

  __device__ __forceinline__ void neumaier(const hu_unfused_grid &grid, T term) {
    T next = rounded_sum(grid, total, term);
    bool first = fabs(total) >= fabs(term);
    T large = first ? total : term, small = first ? term : total;
    carried = rounded_sum(grid, carried, rounded_sum(grid, rounded_difference(grid, large, next), small));
    total = next;
  }

  template <int Kind>
  __device__ __forceinline__ void add(const hu_unfused_args &unfused, T product_of) {
    if (Kind == HU_UNFUSED_KAHAN) {
      kahan(unfused.sum, product_of);
    } else if (Kind == HU_UNFUSED_NEUMAIER) {
      neumaier(unfused.sum, product_of);
    } else {
      total = rounded_sum(unfused.sum, total, product_of);
    }
  }
};

/* ---- operands ---- */

template <class T>
HU_DEVICE T hui_unfused_bits(uint32_t bits) {
  return (T)__uint_as_float(bits);
}

/* Returns the element at `at`. */
template <class T>
HU_DEVICE T hui_unfused_read(const hu_device_matrix &x, const T *table, size_t at) {
  uint32_t raw = hui_matrix_raw(x, at), magnitude = raw & x.plain_mask;
  if (x.size == 0) return hui_unfused_bits<T>(raw);
  if (x.size == 1) return table[raw];
  if (!x.plain || magnitude > x.plain_most) return hui_value_of_code<T>(x, raw);
  float value = __uint_as_float(magnitude << x.plain_shift);
  if (x.plain > 1) value = __fmul_rn(value, __uint_as_float(x.plain_factor));
  return hui_unfused_bits<T>(__float_as_uint(value) | (raw << 16 & 0x80000000u));
}

/* Returns the number of the product that is leaf i of a part: i, or i with its `bits` reversed. */
HU_DEVICE uint64_t hui_unfused_place(uint64_t i, uint32_t bits) {
  uint64_t z = 0;
  if (!bits) return i;
  for (uint32_t b = 0; b < bits; b++) z |= (i >> b & 1) << (bits - 1 - b);
  return z;
}

/* Fills Lines lines with leaves p0 ... p0 + count - 1 of the part of `length` products from k0 on, and zeros beyond it.
 * Line i begins at z + i pitch, leaf j is j next behind. */
template <class T, int Lines>
HU_DEVICE void hui_unfused_fill(const hu_device_matrix &x, const T *table, T *z, int pitch, int next, size_t line0,
                                size_t lines, uint64_t k0, uint64_t length, uint64_t p0, int count, uint32_t bits) {
#pragma unroll 1
  for (int i = (int)threadIdx.x; i < Lines * HU_UNFUSED_DEPTH; i += HU_THREADS) {
    int line = x.along ? i / HU_UNFUSED_DEPTH : i % Lines, leaf = x.along ? i % HU_UNFUSED_DEPTH : i / Lines;
    if (leaf >= count) continue;
    uint64_t place = hui_unfused_place(p0 + leaf, bits);
    T values = 0;
    if (line0 + line < lines && place < length)
      values = hui_unfused_read<T>(x, table, (line0 + line) * x.line_step + (size_t)(k0 + place) * x.step);
    z[line * pitch + leaf * next] = values;
  }
}

/* Returns how many nodes of pairwise halves of n leaves end with leaf i: the right turns at its path's end. */
HU_DEVICE int hui_unfused_merges(uint64_t n, uint64_t i) {
  uint64_t x = 0, y = n;
  int turns = 0;
  while (y - x > 1) {
    uint64_t mid = x + (y - x) / 2;
    bool right = i >= mid;
    turns = right ? turns + 1 : 0;
    if (right) {
      x = mid;
    } else {
      y = mid;
    }
  }
  return turns;
}

/* ---- a tile ---- */

template <class T>
struct hu_unfused_shared {
  T a[HU_UNFUSED_ROWS * HU_UNFUSED_PITCH], b[HU_UNFUSED_COLS * HU_UNFUSED_DEPTH];
  T table_a[256], table_b[256];
  int merges[HU_UNFUSED_DEPTH];
};

HU_DEVICE int hui_unfused_row(void) { return (int)threadIdx.x / HU_UNFUSED_COLS * HU_UNFUSED_TWO; }
HU_DEVICE int hui_unfused_column(void) { return (int)threadIdx.x % HU_UNFUSED_COLS; }

/* The values that wait for a sibling. */
template <class T>
struct hu_unfused_waiting {
  T values[HU_UNFUSED_LEVELS + 1][HU_UNFUSED_TWO];
  int top;
};

template <class T>
HU_DEVICE void hui_unfused_leaf(const hu_unfused_args &unfused, const hu_unfused_shared<T> &shared, int leaf,
                                hu_unfused_sum<T> (&sum)[HU_UNFUSED_TWO], hu_unfused_waiting<T> *waiting, const T *a,
                                T y) {
  T values[HU_UNFUSED_TWO];
#pragma unroll
  for (int row = 0; row < HU_UNFUSED_TWO; row++) values[row] = sum[row].product(unfused, a[row * HU_UNFUSED_PITCH], y);
#pragma unroll 1
  for (int m = shared.merges[leaf]; m > 0; m--) {
    waiting->top--;
#pragma unroll
    for (int row = 0; row < HU_UNFUSED_TWO; row++)
      values[row] = sum[row].rounded_sum(unfused.sum, waiting->values[waiting->top][row], values[row]);
  }
#pragma unroll
  for (int row = 0; row < HU_UNFUSED_TWO; row++) waiting->values[waiting->top][row] = values[row];
  waiting->top++;
}

/* Adds the `count` leaves in shared memory. */
template <class T, int Kind>
HU_DEVICE void hui_unfused_steps(const hu_unfused_args &unfused, const hu_unfused_shared<T> &shared, int count,
                                 hu_unfused_sum<T> (&sum)[HU_UNFUSED_TWO], hu_unfused_waiting<T> *waiting) {
  const T *a = shared.a + hui_unfused_row() * HU_UNFUSED_PITCH, *b = shared.b + hui_unfused_column();
#pragma unroll 1
  for (int leaf = 0; leaf < count; leaf++) {
    T y = b[leaf * HU_UNFUSED_COLS];
    if (Kind == HU_UNFUSED_TREE) {
      hui_unfused_leaf(unfused, shared, leaf, sum, waiting, a + leaf, y);
    } else {
#pragma unroll
      for (int row = 0; row < HU_UNFUSED_TWO; row++)
        sum[row].template add<Kind>(unfused, sum[row].product(unfused, a[leaf + row * HU_UNFUSED_PITCH], y));
    }
  }
}

/* Adds products k0 ... k0 + length - 1 to what the elements have. */
template <class T, int Kind>
HU_DEVICE void hui_unfused_part(const hu_gemm_args &args, const hu_unfused_args &unfused, hu_unfused_shared<T> &shared,
                                size_t row0, size_t col0, uint64_t k0, uint64_t length,
                                hu_unfused_sum<T> (&sum)[HU_UNFUSED_TWO]) {
  hu_unfused_waiting<T> waiting;
  uint64_t leaves = length;
  uint32_t bits = 0;
  waiting.top = 0;
  if (Kind == HU_UNFUSED_TREE && unfused.strided) {
    while ((uint64_t)1 << bits < length) bits++;
    if (bits) leaves = (uint64_t)1 << bits;
  }
#pragma unroll
  for (int row = 0; row < HU_UNFUSED_TWO; row++) sum[row].carried = 0;
  for (uint64_t p0 = 0; p0 < leaves; p0 += HU_UNFUSED_DEPTH) {
    int count = leaves - p0 < HU_UNFUSED_DEPTH ? (int)(leaves - p0) : (int)HU_UNFUSED_DEPTH;
    __syncthreads();
    hui_unfused_fill<T, HU_UNFUSED_ROWS>(args.a, shared.table_a, shared.a, HU_UNFUSED_PITCH, 1, row0, args.m, k0,
                                         length, p0, count, bits);
    hui_unfused_fill<T, HU_UNFUSED_COLS>(args.b, shared.table_b, shared.b, 1, HU_UNFUSED_COLS, col0, args.n, k0, length,
                                         p0, count, bits);
    if (Kind == HU_UNFUSED_TREE && (int)threadIdx.x < count)
      shared.merges[threadIdx.x] = hui_unfused_merges(leaves, p0 + threadIdx.x);
    __syncthreads();
    hui_unfused_steps<T, Kind>(unfused, shared, count, sum, &waiting);
  }
#pragma unroll
  for (int row = 0; row < HU_UNFUSED_TWO; row++) {
    if (Kind == HU_UNFUSED_TREE)
      sum[row].total = sum[row].rounded_sum(unfused.sum, length ? waiting.values[0][row] : (T)0, sum[row].total);
    if (Kind == HU_UNFUSED_NEUMAIER)
      sum[row].total = sum[row].rounded_sum(unfused.sum, sum[row].total, sum[row].carried);
  }
}

template <class T, int Kind>
HU_DEVICE void hui_unfused_sums(const hu_gemm_args &args, const hu_unfused_args &unfused, hu_unfused_shared<T> &shared,
                                size_t row0, size_t col0, hu_unfused_sum<T> (&sum)[HU_UNFUSED_TWO]) {
  const bool parts = unfused.length != 0;
  uint64_t k0 = 0, length;
  if (parts && args.k == 0) return;
  do {
    T outer[HU_UNFUSED_TWO];
    length = parts && args.k - k0 > unfused.length ? unfused.length : args.k - k0;
#pragma unroll
    for (int row = 0; row < HU_UNFUSED_TWO; row++) {
      outer[row] = sum[row].total;
      if (parts) sum[row].total = 0;
    }
    hui_unfused_part<T, Kind>(args, unfused, shared, row0, col0, k0, length, sum);
#pragma unroll
    for (int row = 0; row < HU_UNFUSED_TWO; row++)
      if (parts) sum[row].total = sum[row].rounded_sum(unfused.joined, outer[row], sum[row].total);
    k0 += length;
  } while (k0 < args.k);
}

/* ---- C and D ---- */

HU_DEVICE void hui_unfused_start(float *sum, hu_num c) { *sum = __uint_as_float(hui_pack32(c)); }
HU_DEVICE void hui_unfused_start(double *sum, hu_num c) { *sum = __longlong_as_double((long long)hui_pack64(c)); }
HU_DEVICE hu_num hui_unfused_number(float sum) { return hui_unpack32(__float_as_uint(sum)); }
HU_DEVICE hu_num hui_unfused_number(double sum) { return hui_unpack64((uint64_t)__double_as_longlong(sum)); }

/* Computes the element in integers. */
static __device__ __noinline__ hu_num hui_unfused_element(const hu_gemm_args &args, const hu_accum_args &model,
                                                          size_t i, size_t j) {
  hu_lines in = hui_lines_of(args, i, j);
  hu_draw draw = hui_accum_draw(args, i, j);
  return hui_accum_sum(&model.plan, &in, args.k, hui_accum_start(args, model.c, i, j), &draw);
}

template <class T, int Kind>
HU_DEVICE void hui_unfused_tile(const hu_gemm_args &args, const hu_accum_args &model, const hu_unfused_args &unfused,
                                hu_unfused_shared<T> &shared, size_t row0, size_t col0, hu_counts *counts) {
  size_t i = row0 + hui_unfused_row(), j = col0 + hui_unfused_column();
  hu_unfused_sum<T> sum[HU_UNFUSED_TWO];
#pragma unroll
  for (int row = 0; row < HU_UNFUSED_TWO; row++) {
    sum[row].open = false;
    sum[row].total = 0;
    if (i + row < args.m && j < args.n) hui_unfused_start(&sum[row].total, hui_accum_start(args, model.c, i + row, j));
  }
  hui_unfused_sums<T, Kind>(args, unfused, shared, row0, col0, sum);
#pragma unroll 1
  for (int row = 0; row < HU_UNFUSED_TWO && i + row < args.m && j < args.n; row++) {
    T total = row == 0 ? sum[0].total : sum[1].total;
    bool open = row == 0 ? sum[0].open : sum[1].open;
    hu_num x = open ? hui_unfused_element(args, model, i + row, j) : hui_unfused_number(total);
    uint32_t events = hui_accum_store(args, model, i + row, j, x);
    if (args.events) hui_counts_add(counts, events);
  }
}

/* Computes tiles. In binary64 one block runs at once, since the integers of an open element take the registers. */
template <class T, int Kind>
HU_KERNEL __launch_bounds__(HU_THREADS, sizeof(T) == sizeof(float) ? 2 : 1)
    hui_gemm_unfused_kernel(const __grid_constant__ hu_gemm_args args, const __grid_constant__ hu_accum_args model,
                            const __grid_constant__ hu_unfused_args unfused) {
  __shared__ hu_unfused_shared<T> shared;
  size_t down = (args.m + HU_UNFUSED_ROWS - 1) / HU_UNFUSED_ROWS,
         across = (args.n + HU_UNFUSED_COLS - 1) / HU_UNFUSED_COLS;
  hu_counts counts;
  hui_counts_clear(&counts);
  if (args.a.size == 1) shared.table_a[threadIdx.x] = hui_value_of_code<T>(args.a, threadIdx.x);
  if (args.b.size == 1) shared.table_b[threadIdx.x] = hui_value_of_code<T>(args.b, threadIdx.x);
  for (size_t tile = blockIdx.x; tile < down * across; tile += gridDim.x)
    hui_unfused_tile<T, Kind>(args, model, unfused, shared, tile / across * HU_UNFUSED_ROWS,
                              tile % across * HU_UNFUSED_COLS, &counts);
  if (args.events) {
    __shared__ unsigned long long sums[HU_EVENT_KINDS];
    hui_counts_flush(&counts, args.events, sums);
  }
}

template <class T>
static void hui_unfused_launch(const hu_gemm_args *args, const hu_accum_args *model, const hu_unfused_args *unfused,
                               unsigned blocks, void *stream) {
  auto kernel = hui_gemm_unfused_kernel<T, HU_UNFUSED_SEQ2>;
  if (unfused->kind == HU_UNFUSED_KAHAN) kernel = hui_gemm_unfused_kernel<T, HU_UNFUSED_KAHAN>;
  if (unfused->kind == HU_UNFUSED_NEUMAIER) kernel = hui_gemm_unfused_kernel<T, HU_UNFUSED_NEUMAIER>;
  if (unfused->kind == HU_UNFUSED_TREE) kernel = hui_gemm_unfused_kernel<T, HU_UNFUSED_TREE>;
  HU_LAUNCH(kernel, blocks, 0, stream, *args, *model, *unfused);
}

hu_status hui_gemm_launch_unfused(const hu_gemm_args *args, const hu_accum_args *model, const hu_unfused_args *unfused,
                                  void *stream) {
  size_t down = (args->m - 1) / HU_UNFUSED_ROWS + 1, across = (args->n - 1) / HU_UNFUSED_COLS + 1;
  size_t tiles = across > SIZE_MAX / down ? SIZE_MAX : down * across;
  unsigned blocks = hui_grid_size(tiles, 64);
  if (unfused->single) {
    hui_unfused_launch<float>(args, model, unfused, blocks, stream);
  } else {
    hui_unfused_launch<double>(args, model, unfused, blocks, stream);
  }
  return hui_launched();
}
