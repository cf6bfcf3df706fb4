/* SPDX-License-Identifier: MIT */
/* gpu/scaled/quantize_eights.cu - codes of blocks of 16, 32, 64 or 128 along rows that lie one after another, under
 * scales that are powers of two: a thread has eight neighbours, and 2, 4, 8 or 16 threads a block.
 *
 * The threads of a block exchange its amax by shuffles, and each of them makes the scale again, which takes fewer
 * instructions than passing it on. (Ratios take divisions; there it is the other way round, and quantize_rows.cu is
 * faster.) The first of them stores it. Two loads of 16 bytes for each thread are on their way while others are
 * treated. A warp goes the usual way together: where one of its blocks has a special or an unusual scale, all of them
 * are left to a function that is called.
 *
 * Counted from the machine code for compute capability 9.0 (docs/device.md), eight elements of MX take some 172
 * instructions of a thread, 22 for an element, of which 14 take the integer pipe: at most 5.8 elements per clock of a
 * multiprocessor, 4.6 by that pipe. A copy of the same bytes moves 3.2. */
#include "gpu/scaled/rows.cuh"

enum { HU_EIGHTS_AHEAD = 2 };

/* Blocks of threads that a multiprocessor holds at once. With three of them ptxas spills for compute capability 10, and
 * where R is added. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
#define HU_EIGHTS_BLOCKS 2
#else
#define HU_EIGHTS_BLOCKS (Added ? 2 : 3)
#endif

struct alignas(8) hu_eight_bytes {
  uint32_t x, y;
};

typedef struct hu_eight {
  hu_four<uint32_t> x[2];
} hu_eight;

HU_DEVICE hu_eight hui_eight_load(const hu_scaled_args &a, size_t g, size_t groups) {
  hu_eight e;
#pragma unroll
  for (int i = 0; i < 8; i++) e.x[i / 4].v[i % 4] = 0;
  if (g >= groups) return e;
  e.x[0] = *(const hu_four<uint32_t> *)(const void *)(a.x + 8 * g);
  e.x[1] = *(const hu_four<uint32_t> *)(const void *)(a.x + 8 * g + 4);
  return e;
}

/* The largest magnitude of the block, in all its lanes; NaN where it has one. */
HU_DEVICE uint32_t hui_eight_top(const hu_eight &e, uint32_t log) {
  uint32_t top = e.x[0].v[0] & 0x7FFFFFFF;
#pragma unroll
  for (int i = 1; i < 8; i++) top = hui_larger_magnitude(top, e.x[i / 4].v[i % 4]);
#pragma unroll
  for (uint32_t d = 0; d < 4; d++) {
    if (d >= log) break;
    top = hui_larger_magnitude(top, __shfl_xor_sync(HU_ALL_LANES, top, 1 << d));
  }
  return top;
}

/* ---- the usual way ---- */

/* Scales 2^e, with e the exponent field of amax + carry less `base`, limited; and which blocks go the usual way. */
typedef struct hu_eight_scales {
  uint32_t amin, carry, blank;
  int32_t base, lowest, highest; /* limits of the field */
  int32_t least;                 /* fields from here on, `span` more of them, are the usual way's */
  uint32_t span, normal;         /* and patterns of amax from 2^-126 on, fewer than `normal` */
  int32_t code_base;             /* what a field is more than the exponent in the scale's code */
  uint32_t code_shift;
} hu_eight_scales;

/* The stream of random words: its keys and counter. */
typedef struct hu_eight_words {
  hu_word_keys keys;
  uint64_t counter;
} hu_eight_words;

static __host__ __device__ inline hu_eight_words hui_eight_words_of(hu_stream s) {
  hu_eight_words z = {hui_word_keys_of(s.key), s.counter};
  return z;
}

/* By the conditions of hui_element_way_power, and of hui_row_may_add where R is added, whose elements are limited
 * before they are added to anything: any finite amax will do. */
static hu_eight_scales hui_eight_scales_of(const hu_scaled_args *a) {
  const hu_spec *s = &a->scaler.scale, *f = &a->scaler.element;
  hu_eight_scales z;
  int32_t low = a->short_low, high = a->short_high, fields = a->added ? 254 : a->short_top;
  if (a->added) {
    int32_t added_low = 32 + f->m - 127 - f->emin, added_high = 252 - a->constants.d0 - (int32_t)(a->top >> 23);
    low = low > added_low ? low : added_low;
    high = high < added_high ? high : added_high;
  }
  z.amin = a->scaler.amin;
  z.carry = a->carry;
  z.blank = a->blank;
  z.base = 127 + a->scaler.emax;
  /* Where the limits of the scale lie within those of the usual way, so do all fields beyond them. */
  int32_t from = a->scaler.low >= low ? 0 : z.base + low, to = a->scaler.high <= high ? 255 : z.base + high;
  z.lowest = z.base + (a->scaler.low > low ? a->scaler.low : low);
  z.highest = z.base + (a->scaler.high < high ? a->scaler.high : high);
  int none = z.lowest > z.highest || to < from || fields < 1;
  z.least = from;
  z.span = none ? 0 : (uint32_t)(to - from);
  z.normal = none ? 0 : (uint32_t)fields << 23;
  z.code_base = z.base + s->emin - (s->zero == HU_ZERO_FIELD);
  z.code_shift = (uint32_t)s->m;
  return z;
}

/* Does a block with this amax go the usual way? *field: of its scale, limited. A block of zeros does: any scale is
 * as good as its own for its elements. */
HU_DEVICE bool hui_eight_usual(const hu_eight_scales &s, uint32_t amax, int32_t *field) {
  int32_t own = (int32_t)((amax + s.carry) >> 23);
  bool usual = (uint32_t)(own - s.least) <= s.span && amax - 0x800000 < s.normal;
  own = own < s.lowest ? s.lowest : own;
  *field = own > s.highest ? s.highest : own;
  return usual || (amax == 0 && s.normal);
}

template <bool Added, bool Counted>
HU_DEVICE hu_eight_bytes hui_eight_codes(const hu_row_constants &q, const hu_eight_words &stream, uint32_t shift,
                                         uint32_t top, size_t g, hu_eight &e, hu_row_counts *r) {
  uint32_t words[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  if (Added) hui_words_run<2>(stream.keys, stream.counter + 8 * g, words);
  hu_eight_bytes codes;
  codes.x = hui_row_nearest<false, true, Added>(q, Counted, shift, 1, 1, top, &e.x[0], words, r);
  codes.y = hui_row_nearest<false, true, Added>(q, Counted, shift, 1, 1, top, &e.x[1], words + 4, r);
  return codes;
}

/* ---- blocks with infinities or NaN, or under an unusual scale ---- */

/* The word of a block with infinities or NaN: what counts of its elements, and a mark. Every lane must come here. */
HU_DEVICE uint32_t hui_eight_special(const hu_scaled_args &a, uint32_t log, uint32_t top, size_t g, size_t groups) {
  uint32_t limited = 0;
  for (size_t i = 8 * g; g < groups && i < 8 * g + 8; i++)
    limited = hui_larger_magnitude(limited, hui_limited(a, a.x[i]));
  for (uint32_t d = 0; d < log; d++)
    limited = hui_larger_magnitude(limited, __shfl_xor_sync(HU_ALL_LANES, limited, 1 << d));
  return top >= 0x7F800000 ? limited | HU_SPECIAL_BLOCK : top;
}

/* All of a warp's blocks, element by element where hui_row_nearest cannot. Every lane must come here. The elements are
 * read again, so that the usual way need not keep them. */
template <bool Added>
static __device__ __noinline__ void hui_eight_unusual(const hu_scaled_args &a, hu_row_memory *k, uint32_t log, size_t g,
                                                      size_t groups, uint32_t top) {
  top = hui_eight_special(a, log, top, g, groups);
  if (g >= groups) return;
  uint32_t special = top & HU_SPECIAL_BLOCK;
  hu_element_way w = hui_element_way_of(a, k->t, special ? 0x7F800000 : top, top & ~HU_SPECIAL_BLOCK);
  bool core = w.kind == HU_ELEMENT_WAY_CORE;
  if ((g & ((1u << log) - 1)) == 0)
    hui_code_put(a.scales, a.scale_size, g >> log, core ? hui_row_core(k, top)->code : w.code);
  if (!Added && core) { /* without random words */
    hui_row_left<false>(a, k, top, 0, 8 * g);
    hui_row_left<false>(a, k, top, 0, 8 * g + 4);
    return;
  }
  hu_eight e = hui_eight_load(a, g, groups);
  hu_eight_bytes codes;
  hu_counts none; /* where R is added, no events are counted */
  hui_counts_clear(&none);
  hu_row_counts r;
  hui_row_counts_clear(&r);
  if (!Added || hui_row_may_add(a, w)) {
    const hu_row_constants q = hui_row_constants_of(a);
    const hu_eight_words stream = hui_eight_words_of(a.stream);
    codes = hui_eight_codes<Added, true>(q, stream, w.low - q.low, top, g, e, &r);
    if (!Added && a.events) hui_row_counts_add_up(&r, &k->sums);
  } else {
    codes.x = hui_row_singly<false>(a, k, w, top, 8 * g, 4, &e.x[0], &none);
    codes.y = hui_row_singly<false>(a, k, w, top, 8 * g + 4, 4, &e.x[1], &none);
  }
  *(hu_eight_bytes *)(void *)(a.codes + 8 * g) = codes;
}

/* ---- the kernel ---- */

template <bool Added, bool Counted>
HU_KERNEL __launch_bounds__(HU_THREADS, HU_EIGHTS_BLOCKS)
    hui_scaled_eights_kernel(const __grid_constant__ hu_scaled_args a, const __grid_constant__ hu_eight_scales scales,
                             const __grid_constant__ hu_eight_words stream) {
  __shared__ hu_row_memory k;
  hu_row_counts r;
  hu_counts c;
  hui_row_begin(a, &k, &r, &c);
  const hu_row_constants q = hui_row_constants_of(a);
  const hu_eight_scales s = scales;
  uint32_t log = a.span_log - 1; /* of four elements a lane there */
  size_t groups = a.cols / 8, step = (size_t)gridDim.x * (HU_THREADS * HU_EIGHTS_AHEAD);
  /* Warps go through it together. */
  for (size_t first = (size_t)blockIdx.x * (HU_THREADS * HU_EIGHTS_AHEAD) + threadIdx.x; (first & ~(size_t)31) < groups;
       first += step) {
    hu_eight e[HU_EIGHTS_AHEAD];
#pragma unroll
    for (int i = 0; i < HU_EIGHTS_AHEAD; i++) e[i] = hui_eight_load(a, first + i * HU_THREADS, groups);
#pragma unroll
    for (int i = 0; i < HU_EIGHTS_AHEAD; i++) {
      size_t g = first + i * HU_THREADS;
      uint32_t top = hui_eight_top(e[i], log), amax = top > s.amin ? top : s.amin;
      int32_t field;
      if (__any_sync(HU_ALL_LANES, !hui_eight_usual(s, amax, &field))) {
        hui_eight_unusual<Added>(a, &k, log, g, groups, top);
        continue;
      }
      if (g >= groups) continue;
      uint32_t code = amax ? (uint32_t)(field - s.code_base) << s.code_shift : s.blank;
      if ((g & ((1u << log) - 1)) == 0) hui_code_put(a.scales, a.scale_size, g >> log, code);
      hu_eight_bytes codes =
          hui_eight_codes<Added, Counted>(q, stream, (uint32_t)(field - s.base) << 23, top, g, e[i], &r);
      *(hu_eight_bytes *)(void *)(a.codes + 8 * g) = codes;
    }
    if (Counted && ++r.strips == 120 / HU_EIGHTS_AHEAD) hui_row_counts_add_up(&r, &k.sums);
  }
  if (a.events) hui_row_counts_flush(&r, a.events, &k.sums);
}

int hui_scaled_eights_serves(const hu_scaled_args *a) {
  return hui_scaled_rows_serves(a) && !a->z && a->scales && a->rows == 1 && a->cols % 8 == 0 && a->x_vectors &&
         (uintptr_t)a->codes % 8 == 0 && a->scaler.steps == HU_STEPS_EXACT && a->scaler.rule != HU_SCALE_RATIO &&
         (a->nearest || a->added);
}

hu_status hui_scaled_eights_launch(const hu_scaled_args *a, void *stream) {
  auto kernel = a->added    ? hui_scaled_eights_kernel<true, false>
                : a->events ? hui_scaled_eights_kernel<false, true>
                            : hui_scaled_eights_kernel<false, false>;
  HU_LAUNCH(kernel, hui_grid_size(a->cols / (8 * HU_THREADS * HU_EIGHTS_AHEAD) + 1, 3), 0, stream, *a,
            hui_eight_scales_of(a), hui_eight_words_of(a->stream));
  return hui_launched();
}
