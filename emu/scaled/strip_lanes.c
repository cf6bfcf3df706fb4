/* SPDX-License-Identifier: MIT */
/* Strips of blocks (strip.h) on the hooks of a level's lanes (emu/simd/loop.h); compiled once a level. */
#include "emu/scaled/strip.h"
#include "emu/core/modes.h"
#include "emu/simd/lanes.h"

#if HU_LANES_HERE

#include "emu/base/float_env.h"
#include "emu/simd/loop.h"

/* ---- rounding ---- */

typedef struct strip_counts {
  middle_counts middle;
  hu_count over;
} strip_counts;

typedef struct strip_lanes {
  hu_middle_lanes middle;
  hu_lane limit, max, max_code, sign_code;
  int32_t twos;
} strip_lanes;

static inline strip_lanes strip_lanes_of(const hu_scaled_grid *grid) {
  strip_lanes constants;
  constants.middle = hui_middle_lanes_of(&grid->constants);
  constants.limit = HU_HOLD(HU_ALL(grid->limit));
  constants.max = HU_HOLD(HU_ALL(grid->max));
  constants.max_code = HU_HOLD(HU_ALL(grid->max_code));
  constants.sign_code = HU_HOLD(HU_ALL(grid->constants.sign_code));
  constants.twos = grid->twos;
  return constants;
}

/* Multiplies the grid by 2^e. */
static inline __attribute__((always_inline)) strip_lanes grid_times(const strip_lanes *constants, hu_lane by) {
  strip_lanes z = *constants;
  z.middle.bottom += by;
  z.middle.not_tiny += by;
  z.middle.not_tiny_neg += by;
  z.max += by;
  return z;
}

/* Returns |x|, divided where the grid is not multiplied: patterns. */
static inline __attribute__((always_inline)) hu_lane quotient(const strip_lanes *constants, int way, hu_lane a,
                                                              hu_lane by) {
  if (way == HU_TIMES) return hui_lane_smaller(hui_lane_times(a, by), constants->limit);
  if (way == HU_OVER) return hui_lane_smaller(hui_lane_over(a, by), constants->limit);
  return a;
}

/* Turns sign and magnitude into two's complement: 2^K less the magnitude under a sign, which no zero has. */
static inline __attribute__((always_inline)) hu_lane twos_of(const strip_lanes *constants, hu_lane code) {
  hu_lane negative = HU_MASK((code & constants->sign_code) != HU_ALL(0));
  return hui_sel(negative, constants->sign_code + constants->sign_code - (code - constants->sign_code), code);
}

/* Where one of a vector's operands lies below the normal numbers: what can be tiny, subnormal or zero; or beyond the
 * range, if all of it lies there (fixed point). */
static inline __attribute__((always_inline)) void count_small(const strip_lanes *constants,
                                                              const hu_middle_result *middle, hu_mask exact,
                                                              hu_mask over, uint32_t *marks, strip_counts *counts) {
  hu_mask zero = hui_mask_eq(middle->result, HU_ALL(0)), zero_in = hui_mask_eq(middle->operand, HU_ALL(0));
  hu_mask tiny = hui_mask_andnot(hui_mask_lt(middle->probe, middle->limit), hui_mask_or(exact, over));
  counts->middle.underflow = hui_count_mask(counts->middle.underflow, tiny);
  counts->middle.small = hui_count_mask(counts->middle.small,
                                        hui_mask_andnot(hui_mask_lt(middle->result, constants->middle.bottom), over));
  counts->middle.zero = hui_count_mask(counts->middle.zero, zero);
  counts->middle.zero_in = hui_count_mask(counts->middle.zero_in, zero_in);
  if (!marks) return;
  hu_lane some = hui_mask_sel(hui_mask_andnot(zero, zero_in), HU_ALL(0x10000), HU_ALL(0));
  store(marks, load(marks) | some);
}

static inline __attribute__((always_inline)) rounded strip_one(const hu_lane_constants *lanes, const strip_lanes *grid,
                                                               int round, int way, int to, hu_lane pattern, hu_lane by,
                                                               hu_lane back, hu_lane random, uint32_t *marks,
                                                               strip_counts *counts) {
  const strip_lanes shifted = grid_times(grid, by), *constants = way == HU_SHIFT ? &shifted : grid;
  hu_lane a = pattern & constants->middle.magnitude, y = quotient(constants, way, a, by);
  hu_middle_result middle =
      hui_middle(lanes, &constants->middle, round, 2, way == HU_SHIFT ? pattern : y | (pattern ^ a), y, random);
  /* Zeros, of which a network has many, are below the normal numbers and raise nothing. */
  hu_mask over = hui_mask_lt(constants->max, middle.result);
  hu_mask small = hui_mask_andnot(hui_mask_lt(y, constants->middle.bottom), hui_mask_eq(y, HU_ALL(0)));
  hu_lane kept = hui_lane_smaller(middle.result, constants->max);
  hu_mask exact = hui_mask_eq(kept, y);
  counts->middle.exact = hui_count_mask(counts->middle.exact, exact);
  counts->over = hui_count_mask(counts->over, over);
  if (marks) store(marks, hui_mask_sel(over, HU_ALL(1), HU_ALL(0)));
  if (hui_mask_any(small)) count_small(constants, &middle, exact, over, marks, counts);
  rounded result = {kept, middle.code};
  if (to != HU_TO_VALUE) {
    result.code = hui_mask_sel(over, constants->max_code | (pattern ^ a) >> lanes->sign_shift, middle.code);
    if (constants->twos) result.code = twos_of(constants, result.code);
    return result;
  }
  hu_lane value = way == HU_SHIFT ? kept : hui_lane_times(kept, back);
  if (constants->middle.has_negzero) {
    result.value = hui_lane_signed(value, pattern);
  } else {
    result.value = value | hui_mask_keep(hui_mask_test(kept, constants->middle.magnitude), pattern ^ a);
  }
  return result;
}

/* What a loop goes over. */
typedef struct strip_arrays {
  const uint32_t *x, *by, *back, *random;
  void *z;
  uint32_t *marks;
  int32_t side;
  size_t few;                  /* elements behind `end`, of values under HU_SHIFT */
  size_t rows, ldx, ldz, ldby; /* more than one: of values under HU_SHIFT */
} strip_arrays;

static inline __attribute__((always_inline)) hu_lane of_block(const strip_arrays *arrays, const uint32_t *x, size_t i) {
  return arrays->side < 0 ? load(x + i) : HU_ALL(x[i >> arrays->side]);
}

static inline __attribute__((always_inline)) hu_lane few_of_block(const strip_arrays *arrays, const uint32_t *x,
                                                                  size_t i, size_t n) {
  return arrays->side < 0 ? hui_load_few(x + i, n) : HU_ALL(x[i >> arrays->side]);
}

/* Rounds elements from `first` to `end`, whole vectors, and `few` behind them. */
static inline __attribute__((always_inline)) void strip_loop(const hu_scaled_grid *grid, int round, int way, int to,
                                                             const strip_arrays *arrays, size_t first, size_t end,
                                                             hu_events *events) {
  const hu_lane_constants copy = grid->constants,
                          *lanes = &copy; /* its own, so that no store can be thought to change it */
  const strip_arrays own = *arrays;
  const strip_lanes constants = strip_lanes_of(grid);
  const int plain = way == HU_SHIFT && to == HU_TO_VALUE;
  const size_t rows = plain && round < HU_SRA ? own.rows : 1;
  strip_counts counts = {no_middle_counts(), hui_count_none()};
  for (size_t row = 0; row < rows; row++) {
    const uint32_t *x = own.x + row * own.ldx, *by = own.by + row * own.ldby;
    uint32_t *z = plain ? (uint32_t *)own.z + row * own.ldz : NULL;
    for (size_t i = first; i < end; i += HU_W) {
      hu_lane random = round >= HU_SRA ? load(own.random + i) : HU_ALL(0);
      hu_lane back = way != HU_SHIFT && to == HU_TO_VALUE ? of_block(&own, own.back, i) : HU_ALL(0);
      rounded result = strip_one(lanes, &constants, round, way, to, load(x + i), of_block(&own, by, i), back, random,
                                 own.marks ? own.marks + i : NULL, &counts);
      put(plain ? z : own.z, i, to, 0, result);
    }
    if (!plain || !own.few) continue;
    hu_lane random = round >= HU_SRA ? hui_load_few(own.random + end, own.few) : HU_ALL(0);
    rounded result =
        strip_one(lanes, &constants, round, way, to, hui_load_few(x + end, own.few),
                  few_of_block(&own, by, end, own.few), HU_ALL(0), random, own.marks ? own.marks + end : NULL, &counts);
    hui_store_few(z + end, result.value, own.few);
  }
  uint64_t zero = hui_count_sum(counts.middle.zero), over = hui_count_sum(counts.over);
  uint64_t all = rows * (end - first + (plain && own.few ? HU_W : 0));
  events->inexact += all - hui_count_sum(counts.middle.exact);
  events->underflow += hui_count_sum(counts.middle.underflow);
  events->to_zero += zero - hui_count_sum(counts.middle.zero_in);
  events->subnormal += hui_count_sum(counts.middle.small) - zero;
  events->overflow += over;
  events->saturated += over;
}

/* One function each, so that a loop's constants have the registers. */
#define LOOP(name, round, way, to)                                                                               \
  static HU_NOINLINE void name(const hu_scaled_grid *grid, const strip_arrays *arrays, size_t first, size_t end, \
                               hu_events *events) {                                                              \
    strip_loop(grid, round, way, to, arrays, first, end, events);                                                \
  }
#define LOOPS(name, round, way)               \
  LOOP(name##_value, round, way, HU_TO_VALUE) \
  LOOP(name##_code8, round, way, HU_TO_CODE8) \
  LOOP(name##_code16, round, way, HU_TO_CODE16)
#define LOOPS_OF_MODE(mode, name, first, words, p3109, ieee) LOOPS(name, mode, HU_SHIFT)
HU_EACH_MODE(LOOPS_OF_MODE)
LOOPS(times, HU_RNE, HU_TIMES)
LOOPS(over, HU_RNE, HU_OVER)

typedef void (*strip_function)(const hu_scaled_grid *, const strip_arrays *, size_t, size_t, hu_events *);

static strip_function function_of(int round, int way, int to) {
#define THREE(name) \
  { name##_value, name##_code8, name##_code16 }
#define THREE_OF_MODE(mode, name, first, words, p3109, ieee) [mode] = THREE(name),
  static const strip_function shifts[][3] = {HU_EACH_MODE(THREE_OF_MODE)};
  static const strip_function quotients[][3] = {[HU_TIMES] = THREE(times), [HU_OVER] = THREE(over)};
  return way == HU_SHIFT ? shifts[round][to] : quotients[way][to];
}

enum { WORDS = HU_STRIP + 8 * HU_W };

/* Word number word + i for each of n elements; returns where the first one lies. */
static const uint32_t *strip_words(uint32_t words[WORDS], uint64_t key, uint64_t word, size_t n) {
  const hu_schedule schedule = hui_schedule_of(key);
  uint64_t block = word >> 2;
  size_t head = (size_t)(word & 3);
  for (size_t i = 0; i < head + n; i += 4 * HU_W, block += HU_W) {
    hu_lane four[4];
    hui_philox_words(four, &schedule, hui_philox_blocks_at(&schedule, block));
    for (size_t k = 0; k < 4; k++) store(words + i + k * HU_W, four[k]);
  }
  return words + head;
}

/* Fewer than HU_W elements from i on: through padded copies. */
static void strip_few(const hu_scaled_grid *grid, strip_function function, int to, const strip_arrays *arrays, size_t i,
                      size_t n, hu_events *events) {
  uint32_t x[HU_W], by[HU_W], back[HU_W], random[HU_W], marks[HU_W], z[HU_W];
  size_t size = to == HU_TO_VALUE ? 4 : (size_t)to;
  const strip_arrays few = {x, by, back, random, z, arrays->marks ? marks : NULL, HU_SIDE_EACH, 0, 1, 0, 0, 0};
  store(x, hui_load_few(arrays->x + i, n));
  store(by, few_of_block(arrays, arrays->by, i, n));
  for (size_t k = n; k < HU_W; k++) by[k] = by[0]; /* no division by zero */
  store(back, arrays->back ? few_of_block(arrays, arrays->back, i, n) : HU_ALL(0));
  store(random, arrays->random ? hui_load_few(arrays->random + i, n) : HU_ALL(0));
  function(grid, &few, 0, HU_W, events);
  if (to == HU_TO_VALUE) {
    hui_store_few((uint32_t *)arrays->z + i, load(z), n);
  } else {
    memcpy((uint8_t *)arrays->z + i * size, z, n * size);
  }
  if (arrays->marks) hui_store_few(arrays->marks + i, load(marks), n);
}

static void strip_round(const hu_scaled_grid *grid, int way, int to, const hu_scaled_strip *strip, hu_events *events) {
  uint32_t words[WORDS];
  strip_function function = function_of(grid->constants.round, way, to);
  size_t end = strip->n / HU_W * HU_W, few = strip->n - end;
  int plain = way == HU_SHIFT && to == HU_TO_VALUE;
  strip_arrays arrays = {strip->x,    strip->by,       strip->back, NULL,       strip->z,   strip->marks,
                         strip->side, plain ? few : 0, strip->rows, strip->ldx, strip->ldz, strip->ldby};
  if (grid->constants.round >= HU_SRA) arrays.random = strip_words(words, strip->key, strip->word, strip->n);
  hu_float_env saved = hui_float_env_enter(hui_direction_of(grid->constants.round));
  if (end || plain) function(grid, &arrays, 0, end, events);
  if (few && !plain) strip_few(grid, function, to, &arrays, end, few, events);
  hui_float_env_leave(saved);
}

/* ---- values of codes ---- */

typedef struct decode_lanes {
  hu_plain_lanes plain;
  hu_lane magnitude, sign_code, all, unit;
} decode_lanes;

static HU_NOINLINE hu_lane decode_slow(const hu_lane_constants *lanes, hu_lane code) {
  return hui_lanes_decode(lanes, code);
}

/* Decodes two's complement: the lowest code, too, is its units, 2^(emin - m) each. */
static inline __attribute__((always_inline)) hu_lane decode_twos(const decode_lanes *constants, hu_lane code) {
  hu_lane c = code & constants->all, negative = HU_MASK((c & constants->sign_code) != HU_ALL(0));
  hu_lane units = hui_sel(negative, constants->all + 1 - c, c), value = hui_lane_float(units) + constants->unit;
  return hui_mask_keep(hui_mask_test(units, constants->all), value) | (negative & 0x80000000u);
}

static inline __attribute__((always_inline)) hu_lane decode_one(const hu_lane_constants *lanes,
                                                                const decode_lanes *constants, int twos, int way,
                                                                hu_lane code, hu_lane by) {
  hu_lane value;
  if (twos) {
    value = decode_twos(constants, code);
  } else if (lanes->way.plain != 2 || HU_UNLIKELY(hui_mask_any(hui_plain_not(&constants->plain, code)))) {
    value = decode_slow(lanes, code);
  } else {
    value = hui_plain_decode(&constants->plain, 2, code);
  }
  if (way != HU_SHIFT) return hui_lane_times(value, by);
  /* 0 < |value| < infinity, by one comparison. */
  hu_lane normal = HU_MASK((value & constants->magnitude) - 1 < HU_ALL(0x7F7FFFFFu));
  return value - (normal & by);
}

static inline __attribute__((always_inline)) void decode_loop(const hu_scaled_grid *grid, int twos, int way, int size,
                                                              size_t first, size_t end, uint32_t *z, const void *codes,
                                                              const uint32_t *by) {
  const hu_lane_constants copy = grid->constants, *lanes = &copy;
  uint32_t all = 2 * lanes->sign_code - 1;
  const decode_lanes constants = {hui_plain_lanes_of(lanes), HU_ALL(0x7FFFFFFFu), HU_ALL(lanes->sign_code), HU_ALL(all),
                                  HU_ALL((uint32_t)(lanes->low - 127 - lanes->m) << 23)};
  for (size_t i = first; i < end; i += HU_W) {
    rounded result;
    result.value = result.code = decode_one(lanes, &constants, twos, way, load_codes(codes, i, size), load(by + i));
    put(z, i, HU_TO_VALUE, 0, result);
  }
}

static HU_NOINLINE void decode_run(const hu_scaled_grid *grid, int way, int size, size_t first, size_t end, uint32_t *z,
                                   const void *codes, const uint32_t *by) {
  if (size == 2) {
    if (way == HU_SHIFT) decode_loop(grid, grid->twos, HU_SHIFT, 2, first, end, z, codes, by);
    if (way != HU_SHIFT) decode_loop(grid, grid->twos, HU_TIMES, 2, first, end, z, codes, by);
  } else if (grid->twos) {
    if (way == HU_SHIFT) decode_loop(grid, 1, HU_SHIFT, 1, first, end, z, codes, by);
    if (way != HU_SHIFT) decode_loop(grid, 1, HU_TIMES, 1, first, end, z, codes, by);
  } else {
    if (way == HU_SHIFT) decode_loop(grid, 0, HU_SHIFT, 1, first, end, z, codes, by);
    if (way != HU_SHIFT) decode_loop(grid, 0, HU_TIMES, 1, first, end, z, codes, by);
  }
}

static void decode_few(const hu_scaled_grid *grid, int way, int size, size_t i, size_t n, uint32_t *z,
                       const void *codes, const uint32_t *by) {
  uint32_t c[HU_W] = {0}, b[HU_W], values[HU_W];
  memcpy(c, (const uint8_t *)codes + i * (size_t)size, n * (size_t)size);
  store(b, hui_load_few(by + i, n));
  decode_run(grid, way, size, 0, HU_W, values, c, b);
  hui_store_few(z + i, load(values), n);
}

static void strip_decode(const hu_scaled_grid *grid, int way, int size, size_t n, uint32_t *z, const void *codes,
                         const uint32_t *by) {
  size_t end = n / HU_W * HU_W;
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  if (end) decode_run(grid, way, size, 0, end, z, codes, by);
  if (end < n) decode_few(grid, way, size, end, n - end, z, codes, by);
  hui_float_env_leave(saved);
}

/* ---- scales ---- */

static int strip_powers(const hu_scaled_powers *rule, size_t n, const uint32_t *top, uint32_t *codes, uint32_t *by,
                        uint32_t *bad) {
  hu_lane any = HU_ALL(0);
  for (size_t k = 0; k < n; k += HU_W) {
    hu_lane largest = load(top + k), a = hui_lane_larger(largest, HU_ALL(rule->amin)), none = HU_MASK(a == HU_ALL(0));
    hu_lane exponent = ((a + rule->more) >> 23) - HU_ALL(127 + rule->emax);
    exponent = hui_lane_smaller(hui_lane_larger(exponent, HU_ALL(rule->low)), HU_ALL(rule->high));
    hu_lane wrong = hui_gt(largest, HU_ALL(rule->highest - 1)) | hui_lt(a, HU_ALL(0x800000u)) |
                    hui_lt(exponent, HU_ALL(rule->least)) | hui_gt(exponent, HU_ALL(rule->most));
    wrong &= ~none;
    store(bad + k, wrong);
    any |= wrong;
    hu_lane code = HU_ALL(rule->first_code) + ((exponent - HU_ALL(rule->first)) << rule->m);
    store(codes + k, hui_sel(none, HU_ALL(rule->blank_code), code));
    store(by + k, ~none & (exponent << 23));
  }
  return hui_lane_any(any);
}

const hu_scaled_strips HU_OF_LEVEL(hu_scaled_strips) = {strip_round, strip_decode, strip_powers};

#endif
