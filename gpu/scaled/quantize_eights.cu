/* SPDX-License-Identifier: MIT */
/* gpu/scaled/quantize_eights.cu - codes of blocks of 16, 32, 64 or 128 along contiguous rows, under scales that are
 * powers of two: a thread has eight neighbours, and a block 2, 4, 8 or 16 threads.
 *
 * The threads of a block exchange its amax by shuffles, and each of them makes the scale again, which takes fewer
 * instructions than to pass it on. (Ratios take divisions, and more instructions; there quantize_rows.cu is faster.)
 * The first of them stores it. Two loads of 16 bytes per thread run while other elements are treated. A warp takes the
 * common path together: where one of its blocks has an infinity, a NaN or a rare scale, all of them are left to a
 * function that is called.
 *
 * Counted from the machine code for compute capability 9.0 (docs/device.md), eight elements of MX take some 172
 * instructions of a thread, 22 for an element, of which 14 take the integer pipe: at most 5.8 elements per clock of a
 * multiprocessor, 4.6 by that pipe. A copy of the same bytes moves 3.2. */
#include "gpu/scaled/rows.cuh"

enum { HU_EIGHTS_AHEAD = 2 };

/* Blocks of threads that a multiprocessor holds at once. With three, ptxas spills for 10.0, and where R is added. */
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

HU_DEVICE hu_eight hui_eight_load(const hu_scaled_args &args, size_t group, size_t groups) {
  hu_eight eight;
#pragma unroll
  for (int i = 0; i < 8; i++) eight.x[i / 4].value[i % 4] = 0;
  if (group >= groups) return eight;
  eight.x[0] = *(const hu_four<uint32_t> *)(const void *)(args.x + 8 * group);
  eight.x[1] = *(const hu_four<uint32_t> *)(const void *)(args.x + 8 * group + 4);
  return eight;
}

/* Returns the largest magnitude of the block in all its lanes; NaN where it has one. */
HU_DEVICE uint32_t hui_eight_top(const hu_eight &eight, uint32_t log) {
  uint32_t top = eight.x[0].value[0] & 0x7FFFFFFF;
#pragma unroll
  for (int i = 1; i < 8; i++) top = hui_larger_magnitude(top, eight.x[i / 4].value[i % 4]);
#pragma unroll
  for (uint32_t k = 0; k < 4; k++) {
    if (k >= log) break;
    top = hui_larger_magnitude(top, __shfl_xor_sync(HU_ALL_LANES, top, 1 << k));
  }
  return top;
}

/* ---- common blocks ---- */

/* Scales 2^e, where e is the exponent field of amax + carry less `base`, limited; and which blocks are common. */
typedef struct hu_eight_scales {
  uint32_t amin, carry, blank;
  int32_t base, lowest, highest; /* limits of the field */
  int32_t least;                 /* fields of common blocks are from here to `span` more */
  uint32_t span, normal;         /* their patterns of amax are from 2^-126 on, fewer than `normal` */
  int32_t code_base;             /* a field less the exponent in the scale's code */
  uint32_t code_shift;
} hu_eight_scales;

/* The stream of random words: its keys and counter. */
typedef struct hu_eight_words {
  hu_word_keys keys;
  uint64_t counter;
} hu_eight_words;

static __host__ __device__ inline hu_eight_words hui_eight_words_of(hu_stream stream) {
  hu_eight_words words = {hui_word_keys_of(stream.key), stream.counter};
  return words;
}

/* Takes the conditions of hui_element_way_power, and those of hui_row_may_add where R is added, whose elements are
 * limited before anything is added to them, so that any finite amax serves. */
static hu_eight_scales hui_eight_scales_of(const hu_scaled_args *args) {
  const hu_spec *scale = &args->scaler.scale, *element = &args->scaler.element;
  hu_eight_scales scales;
  int32_t low = args->short_low, high = args->short_high, fields = args->added ? 254 : args->short_top;
  if (args->added) {
    int32_t added_low = 32 + element->m - 127 - element->emin,
            added_high = 252 - args->constants.d0 - (int32_t)(args->top >> 23);
    low = low > added_low ? low : added_low;
    high = high < added_high ? high : added_high;
  }
  scales.amin = args->scaler.amin;
  scales.carry = args->carry;
  scales.blank = args->blank;
  scales.base = 127 + args->scaler.emax;
  /* Where the limits of the scale are within those of common blocks, all fields beyond are limited to common ones. */
  int32_t from = args->scaler.low >= low ? 0 : scales.base + low,
          to = args->scaler.high <= high ? 255 : scales.base + high;
  scales.lowest = scales.base + (args->scaler.low > low ? args->scaler.low : low);
  scales.highest = scales.base + (args->scaler.high < high ? args->scaler.high : high);
  int none = scales.lowest > scales.highest || to < from || fields < 1;
  scales.least = from;
  scales.span = none ? 0 : (uint32_t)(to - from);
  scales.normal = none ? 0 : (uint32_t)fields << 23;
  scales.code_base = scales.base - scale->bias;
  scales.code_shift = (uint32_t)scale->m;
  return scales;
}

/* Returns whether a block with this amax is common; *field is that of its scale, limited. Blocks of zeros are, since
 * their elements are the same under any scale. */
HU_DEVICE bool hui_eight_common(const hu_eight_scales &scales, uint32_t amax, int32_t *field) {
  int32_t own = (int32_t)((amax + scales.carry) >> 23);
  bool common = (uint32_t)(own - scales.least) <= scales.span && amax - 0x800000 < scales.normal;
  own = own < scales.lowest ? scales.lowest : own;
  *field = own > scales.highest ? scales.highest : own;
  return common || (amax == 0 && scales.normal);
}

template <bool Added, bool Counted>
HU_DEVICE hu_eight_bytes hui_eight_codes(const hu_row_constants &constants, const hu_eight_words &stream,
                                         uint32_t shift, uint32_t top, size_t group, hu_eight &eight,
                                         hu_row_counts *row_counts) {
  uint32_t words[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  if (Added) hui_words_run<2>(stream.keys, stream.counter + 8 * group, words);
  hu_eight_bytes codes;
  codes.x = hui_row_nearest<false, true, Added>(constants, Counted, shift, 1, 1, top, &eight.x[0], words, row_counts);
  codes.y =
      hui_row_nearest<false, true, Added>(constants, Counted, shift, 1, 1, top, &eight.x[1], words + 4, row_counts);
  return codes;
}

/* ---- blocks with infinities or NaN, or under a rare scale ---- */

/* Returns the word of a block with infinities or NaN: its amax and a mark. Every lane must call it. */
HU_DEVICE uint32_t hui_eight_special(const hu_scaled_args &args, uint32_t log, uint32_t top, size_t group,
                                     size_t groups) {
  uint32_t limited = 0;
  for (size_t i = 8 * group; group < groups && i < 8 * group + 8; i++)
    limited = hui_larger_magnitude(limited, hui_limited(args, args.x[i]));
  for (uint32_t k = 0; k < log; k++)
    limited = hui_larger_magnitude(limited, __shfl_xor_sync(HU_ALL_LANES, limited, 1 << k));
  return top >= 0x7F800000 ? limited | HU_SPECIAL_BLOCK : top;
}

/* Treats all of a warp's blocks, element by element where hui_row_nearest cannot. Every lane must call it. The elements
 * are read again, so that the common path need not keep them. */
template <bool Added>
static __device__ __noinline__ void hui_eight_rare(const hu_scaled_args &args, hu_row_memory *memory, uint32_t log,
                                                   size_t group, size_t groups, uint32_t top) {
  top = hui_eight_special(args, log, top, group, groups);
  if (group >= groups) return;
  uint32_t special = top & HU_SPECIAL_BLOCK;
  hu_element_way way = hui_element_way_of(args, memory->tensor, special ? 0x7F800000 : top, top & ~HU_SPECIAL_BLOCK);
  bool core = way.kind == HU_ELEMENT_WAY_CORE;
  if ((group & ((1u << log) - 1)) == 0)
    hui_code_put(args.scales, args.scale_size, group >> log, core ? hui_row_core(memory, top)->code : way.code);
  if (!Added && core) { /* without random words */
    hui_row_left<false>(args, memory, top, 0, 8 * group);
    hui_row_left<false>(args, memory, top, 0, 8 * group + 4);
    return;
  }
  hu_eight eight = hui_eight_load(args, group, groups);
  hu_eight_bytes codes;
  hu_counts none; /* where R is added, no events are counted */
  hui_counts_clear(&none);
  hu_row_counts row_counts;
  hui_row_counts_clear(&row_counts);
  if (!Added || hui_row_may_add(args, way)) {
    const hu_row_constants constants = hui_row_constants_of(args);
    const hu_eight_words stream = hui_eight_words_of(args.stream);
    codes = hui_eight_codes<Added, true>(constants, stream, way.low - constants.low, top, group, eight, &row_counts);
    if (!Added && args.events) hui_row_counts_add_up(&row_counts, &memory->sums);
  } else {
    codes.x = hui_row_singly<false>(args, memory, way, top, 8 * group, 4, &eight.x[0], &none);
    codes.y = hui_row_singly<false>(args, memory, way, top, 8 * group + 4, 4, &eight.x[1], &none);
  }
  *(hu_eight_bytes *)(void *)(args.codes + 8 * group) = codes;
}

/* ---- the kernel ---- */

template <bool Added, bool Counted>
HU_KERNEL __launch_bounds__(HU_THREADS, HU_EIGHTS_BLOCKS)
    hui_scaled_eights_kernel(const __grid_constant__ hu_scaled_args args,
                             const __grid_constant__ hu_eight_scales scales,
                             const __grid_constant__ hu_eight_words stream) {
  __shared__ hu_row_memory memory;
  hu_row_counts row_counts;
  hu_counts counts;
  hui_row_begin(args, &memory, &row_counts, &counts);
  const hu_row_constants constants = hui_row_constants_of(args);
  const hu_eight_scales kept = scales;
  uint32_t log = args.span_log - 1; /* span_log is for four elements per lane */
  size_t groups = args.cols / 8, step = (size_t)gridDim.x * (HU_THREADS * HU_EIGHTS_AHEAD);
  /* The threads of a warp leave this loop together. */
  for (size_t first = (size_t)blockIdx.x * (HU_THREADS * HU_EIGHTS_AHEAD) + threadIdx.x; (first & ~(size_t)31) < groups;
       first += step) {
    hu_eight eight[HU_EIGHTS_AHEAD];
#pragma unroll
    for (int i = 0; i < HU_EIGHTS_AHEAD; i++) eight[i] = hui_eight_load(args, first + i * HU_THREADS, groups);
#pragma unroll
    for (int i = 0; i < HU_EIGHTS_AHEAD; i++) {
      size_t group = first + i * HU_THREADS;
      uint32_t top = hui_eight_top(eight[i], log), amax = top > kept.amin ? top : kept.amin;
      int32_t field;
      if (__any_sync(HU_ALL_LANES, !hui_eight_common(kept, amax, &field))) {
        hui_eight_rare<Added>(args, &memory, log, group, groups, top);
        continue;
      }
      if (group >= groups) continue;
      uint32_t code = amax ? (uint32_t)(field - kept.code_base) << kept.code_shift : kept.blank;
      if ((group & ((1u << log) - 1)) == 0) hui_code_put(args.scales, args.scale_size, group >> log, code);
      hu_eight_bytes codes = hui_eight_codes<Added, Counted>(constants, stream, (uint32_t)(field - kept.base) << 23,
                                                             top, group, eight[i], &row_counts);
      *(hu_eight_bytes *)(void *)(args.codes + 8 * group) = codes;
    }
    if (Counted && ++row_counts.strips == 120 / HU_EIGHTS_AHEAD) hui_row_counts_add_up(&row_counts, &memory.sums);
  }
  if (args.events) hui_row_counts_flush(&row_counts, args.events, &memory.sums);
}

int hui_scaled_eights_serves(const hu_scaled_args *args) {
  return hui_scaled_rows_serves(args) && !args->z && args->scales && args->rows == 1 && args->cols % 8 == 0 &&
         args->x_vectors && (uintptr_t)args->codes % 8 == 0 && args->scaler.steps == HU_STEPS_EXACT &&
         args->scaler.rule != HU_SCALE_RATIO && (args->nearest || args->added);
}

hu_status hui_scaled_eights_launch(const hu_scaled_args *args, void *stream) {
  auto kernel = args->added    ? hui_scaled_eights_kernel<true, false>
                : args->events ? hui_scaled_eights_kernel<false, true>
                               : hui_scaled_eights_kernel<false, false>;
  HU_LAUNCH(kernel, hui_grid_size(args->cols / (8 * HU_THREADS * HU_EIGHTS_AHEAD) + 1, 3), 0, stream, *args,
            hui_eight_scales_of(args), hui_eight_words_of(args->stream));
  return hui_launched();
}
