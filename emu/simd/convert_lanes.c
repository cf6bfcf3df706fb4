/* SPDX-License-Identifier: MIT */
/* The loops that convert arrays, on the hooks of a level's lanes (loop.h); compiled once a level.
 *
 * Each vector takes the cheapest way that all its lanes allow: quick, middle or slow (emu/simd/round.h). The ways agree
 * on every value that more than one accepts, so a result does not depend on a value's neighbours. */
#include "emu/simd/convert.h"
#include "emu/simd/lanes.h"

#if HU_LANES_HERE

#include "emu/base/float_env.h"
#include "emu/core/modes.h"
#include "emu/simd/loop.h"

/* Counts of one piece, in registers or the stack until the end. */
typedef struct piece_events {
  uint64_t inexact, underflow, to_zero, subnormal;
  hu_events rest;
} piece_events;

/* Rounds a vector by hui_lanes_round; counts the lanes in `live`, and the others hold zeros. */
static HU_NOINLINE rounded slow(const hu_lane_constants *lanes, hu_lane x, hu_lane random, hu_lane live,
                                piece_events *counts) {
  hu_lanes_result result = hui_lanes_round(lanes, x, random);
  rounded z = {result.value, result.code};
  counts->inexact += hui_lane_count(result.inexact & live);
  counts->underflow += hui_lane_count(result.underflow & live);
  counts->to_zero += hui_lane_count(result.to_zero & live);
  counts->subnormal += hui_lane_count(result.subnormal & live);
  if (hui_lane_any((result.overflow | result.saturated | result.invalid | result.nan_in | result.inf_in) & live)) {
    counts->rest.overflow += hui_lane_count(result.overflow & live);
    counts->rest.saturated += hui_lane_count(result.saturated & live);
    counts->rest.invalid += hui_lane_count(result.invalid & live);
    counts->rest.nan_in += hui_lane_count(result.nan_in & live);
    counts->rest.inf_in += hui_lane_count(result.inf_in & live);
  }
  return z;
}

/* Fewer than HU_W elements, or the first few: through a padded copy. */
static HU_NOINLINE void few(const hu_lane_constants *lanes, int to, size_t n, void *z, const uint32_t *x,
                            const uint32_t *words, piece_events *counts) {
  uint32_t in[HU_W] = {0}, random[HU_W] = {0}, live[HU_W] = {0};
  union {
    uint8_t b[HU_W];
    uint16_t h[HU_W];
    uint32_t w[HU_W];
  } out;
  memcpy(in, x, n * sizeof *in);
  if (words) memcpy(random, words, n * sizeof *random);
  memset(live, 0xFF, n * sizeof *live);
  rounded result = slow(lanes, load(in), load(random), load(live), counts);
  put(&out, 0, to, 0, result);
  memcpy(z, &out, n * (to == HU_TO_VALUE ? 4u : (unsigned)to));
}

/* Where a loop stands: whole vectors from i to end. */
typedef struct cursor {
  size_t i, end;
  void *z;
  const uint32_t *x;
} cursor;

/* Rounds one vector by hui_quick. */
static inline __attribute__((always_inline)) hu_count quick_one(const hu_lane_constants *lanes, int round, int to,
                                                                int bypass, void *z, size_t i, hu_lane x,
                                                                hu_lane random, hu_count exact) {
  rounded result;
  result.value = hui_quick(lanes, round, x, random);
  result.code = to == HU_TO_VALUE ? result.value : hui_quick_code(lanes, result.value);
  put(z, i, to, bypass, result);
  return hui_count_mask(exact, hui_mask_eq(x, result.value));
}

/* Quick vectors until one is not. No calls and no stores but z's in here, so that all constants stay in registers. */
static inline __attribute__((always_inline)) void run_quick(const hu_lane_constants *given, int round, int to,
                                                            int bypass, cursor *here, piece_events *counts) {
  const hu_lane_constants copy = *given, *lanes = &copy; /* its own, so that no store can be thought to change it */
  const hu_lane lo = HU_ALL(lanes->quick.lo), span = HU_ALL(lanes->quick.span), range = HU_ALL(lanes->quick.mask);
  const hu_lane zero_mask = HU_ALL(lanes->quick.zero_mask), zero_ok = HU_ALL(lanes->quick_zero);
  hu_count exact = hui_count_none();
  size_t i = here->i, end = here->end;
  for (; end - i >= 4 * HU_W; i += 4 * HU_W) {
    hu_lane x[4], offset[4];
    HU_UNROLL for (int j = 0; j < 4; j++) x[j] = load(here->x + i + j * HU_W);
    HU_UNROLL for (int j = 0; j < 4; j++) offset[j] = (x[j] & range) - lo;
    if (HU_UNLIKELY(!hui_all_within4(offset, span))) break;
    HU_UNROLL for (int j = 0; j < 4; j++) {
      exact = quick_one(lanes, round, to, bypass, here->z, i + (size_t)j * HU_W, x[j], HU_ALL(0), exact);
    }
  }
  for (; i < end; i += HU_W) {
    hu_lane x = load(here->x + i), offset = (x & range) - lo;
    if (HU_UNLIKELY(!hui_all_within(offset, span))) {
      hu_lane zero = HU_MASK((x & zero_mask) == HU_ALL(0)) & zero_ok;
      if (!hui_all_within(offset & ~zero, span)) break;
    }
    exact = quick_one(lanes, round, to, bypass, here->z, i, x, HU_ALL(0), exact);
  }
  counts->inexact += i - here->i - hui_count_sum(exact);
  here->i = i;
}

static inline __attribute__((always_inline)) void middle_one(const hu_lane_constants *lanes,
                                                             const hu_middle_lanes *constants, int round, int way,
                                                             int to, int bypass, void *z, size_t i, hu_lane x,
                                                             hu_lane a, hu_lane random, middle_counts *seen) {
  hu_middle_result rounding = hui_middle(lanes, constants, round, way, x, a, random);
  hu_mask exact = hui_mask_eq(rounding.result, rounding.operand);
  seen->exact = hui_count_mask(seen->exact, exact);
  seen->underflow =
      hui_count_mask(seen->underflow, hui_mask_andnot(hui_mask_lt(rounding.probe, rounding.limit), exact));
  seen->small = hui_count_mask(seen->small, hui_mask_lt(rounding.result, constants->bottom));
  seen->zero = hui_count_mask(seen->zero, hui_mask_eq(rounding.result, HU_ALL(0)));
  seen->zero_in = hui_count_mask(seen->zero_in, hui_mask_eq(rounding.operand, HU_ALL(0)));
  rounded result = {rounding.value, rounding.code};
  put(z, i, to, bypass, result);
}

static inline void add_middle(piece_events *counts, uint64_t all, const middle_counts *seen) {
  uint64_t zero = hui_count_sum(seen->zero);
  counts->inexact += all - hui_count_sum(seen->exact);
  counts->underflow += hui_count_sum(seen->underflow);
  counts->to_zero += zero - hui_count_sum(seen->zero_in);
  counts->subnormal += hui_count_sum(seen->small) - zero;
}

/* Rounds vectors by hui_middle: those that need it, and at most `most` in all. */
static inline __attribute__((always_inline)) void run_middle(const hu_lane_constants *given, int round, int way, int to,
                                                             int bypass, cursor *here, size_t most,
                                                             piece_events *counts) {
  const hu_lane_constants copy = *given, *lanes = &copy;
  const hu_lane hi = HU_HOLD(HU_ALL(lanes->max_pattern));
  const hu_middle_lanes constants = hui_middle_lanes_of(lanes);
  middle_counts seen = no_middle_counts();
  size_t i = here->i, end = here->end - i < most * HU_W ? here->end : i + most * HU_W;
  for (; end - i >= 4 * HU_W; i += 4 * HU_W) {
    hu_lane x[4], a[4];
    HU_UNROLL for (int j = 0; j < 4; j++) x[j] = load(here->x + i + j * HU_W);
    HU_UNROLL for (int j = 0; j < 4; j++) a[j] = hui_middle_operand(lanes, x[j]);
    if (HU_UNLIKELY(!hui_all_within4(a, hi))) break;
    HU_UNROLL for (int j = 0; j < 4; j++) {
      middle_one(lanes, &constants, round, way, to, bypass, here->z, i + (size_t)j * HU_W, x[j], a[j], HU_ALL(0),
                 &seen);
    }
  }
  for (; i < end; i += HU_W) {
    hu_lane x = load(here->x + i), a = hui_middle_operand(lanes, x);
    if (HU_UNLIKELY(!hui_all_within(a, hi))) break;
    middle_one(lanes, &constants, round, way, to, bypass, here->z, i, x, a, HU_ALL(0), &seen);
  }
  add_middle(counts, i - here->i, &seen);
  here->i = i;
}

/* Vectors whose every lane is finite and so far out that it overflows in any mode. */
static inline __attribute__((always_inline)) void run_beyond(const hu_lane_constants *lanes, int to, int bypass,
                                                             cursor *here, size_t last, piece_events *counts) {
  const hu_lane range = HU_ALL(0x7FFFFFFFu), lo = HU_ALL(lanes->beyond), span = HU_ALL(0x7F7FFFFFu - lanes->beyond);
  const rounded plus = {HU_ALL(lanes->value.overflow), HU_ALL(lanes->code.overflow)};
  const rounded minus = {HU_ALL(lanes->value.neg_overflow), HU_ALL(lanes->code.neg_overflow)};
  hu_count negative = hui_count_none();
  size_t i = here->i;
  for (; i < last; i += HU_W) {
    hu_lane x = load(here->x + i);
    if (!hui_all_within((x & range) - lo, span)) break;
    hu_mask sign = hui_mask_lt(x, HU_ALL(0));
    rounded result = {hui_mask_sel(sign, minus.value, plus.value), hui_mask_sel(sign, minus.code, plus.code)};
    negative = hui_count_mask(negative, sign);
    put(here->z, i, to, bypass, result);
  }
  uint64_t all = i - here->i, below = hui_count_sum(negative);
  counts->rest.overflow += all;
  counts->inexact += all;
  counts->rest.saturated += (lanes->events.overflow & HU_EVENT_SATURATED ? all - below : 0) +
                            (lanes->events.neg_overflow & HU_EVENT_SATURATED ? below : 0);
  here->i = i;
}

/* Vectors whose every lane lies so far below zero, finite, that no mode could make zero of it in an unsigned format:
 * one result for all. Without a zero that is every negative number. */
static HU_NOINLINE void run_below(const hu_lane_constants *lanes, int to, int bypass, cursor *here, size_t last,
                                  piece_events *counts) {
  const uint32_t least = hui_least_not_zero(lanes);
  const hu_lane lo = HU_ALL(least | 0x80000000u), span = HU_ALL(0x7F7FFFFFu - least);
  const rounded result = {HU_ALL(lanes->value.below), HU_ALL(lanes->code.below)};
  size_t i = here->i;
  for (; i < last; i += HU_W) {
    if (!hui_all_within(load(here->x + i) - lo, span)) break;
    put(here->z, i, to, bypass, result);
  }
  uint64_t all = i - here->i;
  counts->inexact += all;
  counts->rest.invalid += all;
  counts->rest.saturated += lanes->events.below & HU_EVENT_SATURATED ? all : 0;
  here->i = i;
}

enum {
  MIDDLE_RUN = 64,    /* vectors until hui_quick is tried again */
  QUICK_RUN = 1 << 16 /* vectors until counts are emptied */
};

/* Rounds whole vectors from here->i to last, each by the cheapest way that its lanes allow. */
static inline __attribute__((always_inline)) void run_vectors(const hu_lane_constants *lanes, int round, int to,
                                                              int bypass, cursor *here, size_t last,
                                                              piece_events *counts) {
  while (here->i < last) {
    here->end = last - here->i < (size_t)QUICK_RUN * HU_W ? last : here->i + (size_t)QUICK_RUN * HU_W;
    if (lanes->way.quick) run_quick(lanes, round, to, bypass, here, counts);
    if (here->i == here->end) continue;
    size_t before = here->i;
    if (lanes->way.middle == 1) run_middle(lanes, round, 1, to, bypass, here, MIDDLE_RUN, counts);
    if (lanes->way.middle == 2) run_middle(lanes, round, 2, to, bypass, here, MIDDLE_RUN, counts);
    if (here->i == before && lanes->beyond) run_beyond(lanes, to, bypass, here, here->end, counts);
    if (here->i == before && lanes->is_unsigned && lanes->low < 254)
      run_below(lanes, to, bypass, here, here->end, counts);
    if (here->i != before) continue;
    put(here->z, here->i, to, bypass, slow(lanes, load(here->x + here->i), HU_ALL(0), HU_ALL(0xFFFFFFFFu), counts));
    here->i += HU_W;
  }
}

static inline void add_piece_events(hu_events *events, piece_events *counts) {
  counts->rest.inexact += counts->inexact;
  counts->rest.underflow += counts->underflow;
  counts->rest.to_zero += counts->to_zero;
  counts->rest.subnormal += counts->subnormal;
  hu_events_add(events, &counts->rest);
}

/* Elements before the first whole vector of z, where stores are to bypass the caches. */
static inline size_t unaligned_head(const hu_piece *piece) {
  size_t head = (size_t)(-(uintptr_t)piece->z & (sizeof(hu_lane) - 1)) / 4;
  return head < piece->n ? head : piece->n;
}

static inline __attribute__((always_inline)) void loop(const hu_lane_constants *given, int round, int to,
                                                       const hu_piece *piece, hu_events *events) {
  const hu_lane_constants lanes = *given;
  piece_events counts = {0};
  cursor at_vector = {0, 0, piece->z, piece->x};
  if (HU_BYPASSES && to == HU_TO_VALUE && piece->bypass) {
    size_t head = unaligned_head(piece);
    if (head) few(&lanes, to, head, piece->z, piece->x, NULL, &counts);
    at_vector.i = head;
    run_vectors(&lanes, round, to, 1, &at_vector, head + (piece->n - head) / HU_W * HU_W, &counts);
    hui_fence();
  } else {
    run_vectors(&lanes, round, to, 0, &at_vector, piece->n / HU_W * HU_W, &counts);
  }
  size_t i = at_vector.i;
  if (i < piece->n) few(&lanes, to, piece->n - i, at(piece->z, i, to), piece->x + i, NULL, &counts);
  add_piece_events(events, &counts);
}

static inline void first_words(uint32_t *words, uint64_t key, uint64_t word, size_t n) {
  hu_stream stream = {key, word};
  hu_stream_words_n(n, words, stream);
}

/* Element i of the loop draws word number word + i of the key. */
typedef struct random_words {
  uint64_t key, word;
  hu_schedule schedule;
} random_words;

/* Vectors that all go one way (0: quick; 2: middle), four at a time, each element with its random word, until one
 * cannot; here->i stands at the first word of a block. Words are made here, between the loads and stores that wait for
 * memory. */
static inline __attribute__((always_inline)) void run_way_random(const hu_lane_constants *given, int round, int way,
                                                                 int to, int bypass, cursor *here, size_t last,
                                                                 const random_words *words, piece_events *counts) {
  const hu_lane_constants copy = *given, *lanes = &copy;
  const hu_lane lo = HU_ALL(way ? 0 : lanes->quick.lo), span = HU_ALL(way ? lanes->max_pattern : lanes->quick.span);
  const hu_lane range = HU_ALL(lanes->quick.mask);
  const hu_middle_lanes constants = hui_middle_lanes_of(lanes);
  hu_count exact = hui_count_none();
  middle_counts seen = no_middle_counts();
  uint64_t block = (words->word + here->i) >> 2, most = hui_philox_run_length(block);
  hu_philox_run series = hui_philox_run_at(words->key, block);
  size_t i = here->i, end = (last - i) / (4 * HU_W) <= most ? last : i + (size_t)most * 4 * HU_W;
  for (; end - i >= 4 * HU_W; i += 4 * HU_W) {
    hu_lane x[4], offset[4], random[4];
    HU_UNROLL for (int j = 0; j < 4; j++) x[j] = load(here->x + i + j * HU_W);
    HU_UNROLL for (int j = 0; j < 4; j++) offset[j] = (x[j] & range) - lo;
    if (HU_UNLIKELY(!hui_all_within4(offset, span))) break;
    hui_philox_words(random, &words->schedule, hui_philox_run_next(&series, &words->schedule));
    HU_UNROLL for (int j = 0; j < 4; j++) {
      if (way)
        middle_one(lanes, &constants, round, way, to, bypass, here->z, i + (size_t)j * HU_W, x[j], offset[j], random[j],
                   &seen);
      else
        exact = quick_one(lanes, round, to, bypass, here->z, i + (size_t)j * HU_W, x[j], random[j], exact);
    }
  }
  if (way)
    add_middle(counts, i - here->i, &seen);
  else
    counts->inexact += i - here->i - hui_count_sum(exact);
  here->i = i;
}

/* Four vectors with their random words, each as it allows. */
static inline __attribute__((always_inline)) void four_random(const hu_lane_constants *lanes, int round, int to,
                                                              int bypass, cursor *here, const random_words *words,
                                                              piece_events *counts) {
  hu_lane random[4];
  hui_philox_words(random, &words->schedule, hui_philox_blocks_at(&words->schedule, (words->word + here->i) >> 2));
  for (int j = 0; j < 4; j++, here->i += HU_W) {
    hu_lane x = load(here->x + here->i);
    if (lanes->way.quick && !hui_lane_any(~hui_quick_ok(lanes, x))) {
      counts->inexact +=
          HU_W - hui_count_sum(quick_one(lanes, round, to, bypass, here->z, here->i, x, random[j], hui_count_none()));
    } else {
      put(here->z, here->i, to, bypass, slow(lanes, x, random[j], HU_ALL(0xFFFFFFFFu), counts));
    }
  }
}

static inline __attribute__((always_inline)) void run_random(const hu_lane_constants *lanes, int round, int to,
                                                             int bypass, cursor *here, size_t last,
                                                             const random_words *words, piece_events *counts) {
  while (last - here->i >= 4 * HU_W) {
    size_t before = here->i, left = (last - before) / HU_W;
    if (lanes->way.quick) {
      run_way_random(lanes, round, 0, to, bypass, here, before + hui_min_size(left, QUICK_RUN) * HU_W, words, counts);
    }
    if (lanes->way.middle && here->i == before) {
      run_way_random(lanes, round, 2, to, bypass, here, before + hui_min_size(left, MIDDLE_RUN) * HU_W, words, counts);
    }
    if (here->i == before) four_random(lanes, round, to, bypass, here, words, counts);
  }
}

/* Does as loop, but draws a random word for each element, 4 HU_W of them at a time. */
static inline __attribute__((always_inline)) void loop_random(const hu_lane_constants *given, int round, int to,
                                                              const hu_piece *piece, hu_events *events) {
  const hu_lane_constants lanes = *given;
  piece_events counts = {0};
  uint32_t words[HU_W];
  size_t head = (size_t)(-piece->word & 3),
         aligned = unaligned_head(piece); /* head: elements before a block's first word */
  int bypass = HU_BYPASSES && to == HU_TO_VALUE && piece->bypass && ((aligned - head) & 3) == 0;
  if (bypass) head = aligned;
  if (head > piece->n) head = piece->n;
  if (head) {
    first_words(words, piece->key, piece->word, head);
    few(&lanes, to, head, piece->z, piece->x, words, &counts);
  }
  cursor here = {head, 0, piece->z, piece->x};
  const random_words random = {piece->key, piece->word, hui_schedule_of(piece->key)};
  if (bypass) {
    run_random(&lanes, round, to, 1, &here, piece->n, &random, &counts);
    hui_fence();
  } else {
    run_random(&lanes, round, to, 0, &here, piece->n, &random, &counts);
  }
  for (size_t i = here.i; i < piece->n; i += HU_W) {
    size_t left = piece->n - i < HU_W ? piece->n - i : HU_W;
    first_words(words, piece->key, piece->word + i, left);
    few(&lanes, to, left, at(piece->z, i, to), piece->x + i, words, &counts);
  }
  add_piece_events(events, &counts);
}

#if HU_PORTABLE
/* Eleven loops for each kind of result, twice where stores may go around the caches, take a compiler long: common
 * modes have their own, the others share one, and stores go through the caches. */
static inline __attribute__((always_inline)) void modes(const hu_lane_constants *lanes, int to, const hu_piece *piece,
                                                        hu_events *events) {
  switch (lanes->round) {
    case HU_RNE: loop(lanes, HU_RNE, to, piece, events); return;
    case HU_SRA: loop_random(lanes, HU_SRA, to, piece, events); return;
    case HU_SRB:
    case HU_SRC: loop_random(lanes, lanes->round, to, piece, events); return;
    default: loop(lanes, lanes->round, to, piece, events); return;
  }
}
#else
/* Calls a loop in which the mode is a constant. */
static inline __attribute__((always_inline)) void modes(const hu_lane_constants *lanes, int to, const hu_piece *piece,
                                                        hu_events *events) {
  switch (lanes->round) {
#define LOOP_OF_MODE(mode, name, first, words, p3109, ieee) \
  case mode: loop(lanes, mode, to, piece, events); return;
    HU_EACH_DETERMINISTIC_MODE(LOOP_OF_MODE)
#undef LOOP_OF_MODE
    case HU_SRA: loop_random(lanes, HU_SRA, to, piece, events); return;
    case HU_SRB: loop_random(lanes, HU_SRB, to, piece, events); return;
    default: loop_random(lanes, HU_SRC, to, piece, events); return;
  }
}
#endif

#if HU_LOOP_PER_WIDTH
static inline __attribute__((always_inline)) void to_codes(const hu_lane_constants *lanes, int to,
                                                           const hu_piece *piece, hu_events *events) {
  modes(lanes, to, piece, events);
}
#else
static HU_NOINLINE void to_codes(const hu_lane_constants *lanes, int to, const hu_piece *piece, hu_events *events) {
  modes(lanes, to, piece, events);
}
#endif

static HU_NOINLINE void to_values(const hu_lane_constants *lanes, const hu_piece *piece, hu_events *events) {
  modes(lanes, HU_TO_VALUE, piece, events);
}
static HU_NOINLINE void to_codes8(const hu_lane_constants *lanes, const hu_piece *piece, hu_events *events) {
  to_codes(lanes, HU_TO_CODE8, piece, events);
}
static HU_NOINLINE void to_codes16(const hu_lane_constants *lanes, const hu_piece *piece, hu_events *events) {
  to_codes(lanes, HU_TO_CODE16, piece, events);
}
static HU_NOINLINE void to_codes32(const hu_lane_constants *lanes, const hu_piece *piece, hu_events *events) {
  to_codes(lanes, HU_TO_CODE32, piece, events);
}

/* Sets the CPU's rounding direction to the one that the mode's sums need, whatever the caller had set. */
static inline void in_direction(void (*work)(const hu_lane_constants *, const hu_piece *, hu_events *),
                                const hu_lane_constants *lanes, const hu_piece *piece, hu_events *events) {
  hu_float_env saved = hui_float_env_enter(hui_direction_of(lanes->round));
  work(lanes, piece, events);
  hui_float_env_leave(saved);
}

static void quantize(const hu_lane_constants *lanes, const hu_piece *piece, hu_events *events) {
  in_direction(to_values, lanes, piece, events);
}
static void encode8(const hu_lane_constants *lanes, const hu_piece *piece, hu_events *events) {
  in_direction(to_codes8, lanes, piece, events);
}
static void encode16(const hu_lane_constants *lanes, const hu_piece *piece, hu_events *events) {
  in_direction(to_codes16, lanes, piece, events);
}
static void encode32(const hu_lane_constants *lanes, const hu_piece *piece, hu_events *events) {
  in_direction(to_codes32, lanes, piece, events);
}

/* binary64 to binary32, rounded to odd: a later rounding to at most 22 digits on a grid that binary32 has two more
 * digits for sees the same order, halves and inexactness as in the binary64 value (emu/array/run.c has the
 * condition). */
static int to_odd(size_t n, uint32_t *z, const uint64_t *x) {
  uint64_t big = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t pattern = x[i], a = pattern & 0x7FFFFFFFFFFFFFFFu, e = a >> 52;
    uint32_t sign = (uint32_t)(pattern >> 63) << 31;
    uint64_t sig = (a & 0xFFFFFFFFFFFFFu) | 0x10000000000000u;
    /* Normal range: cut 29 digits; binary32's subnormals (field <= 896): more; the last kept digit takes what was
     * lost. */
    uint64_t shift = e > 896 ? 0 : e < 868 ? 29 : 897 - e;
    uint64_t down = (sig >> shift) >> 29, lost = sig != ((down << 29) << shift);
    uint64_t normal = ((a >> 29) - ((uint64_t)896 << 23)) | ((a & 0x1FFFFFFF) != 0);
    uint64_t r = e > 896 ? normal : (a != 0 ? down | lost : 0);
    uint64_t special = a > 0x7FF0000000000000u ? 0x7FC00000 : 0x7F800000;
    big |= (e >= 1023 + 127) & (e < 2047);
    r = e == 2047 ? special : r;
    z[i] = (uint32_t)r | sign;
  }
  return big != 0;
}

static HU_NOINLINE hu_lane decode_slow(const hu_lane_constants *lanes, hu_lane code) {
  return hui_lanes_decode(lanes, code);
}

/* Plain vectors from i until one is not; like run_quick without calls. */
static inline __attribute__((always_inline)) size_t decode_plain(const hu_lane_constants *given, int plain, size_t i,
                                                                 size_t n, uint32_t *z, const void *x, int size) {
  const hu_plain_lanes constants = hui_plain_lanes_of(given);
  for (; i + HU_W <= n; i += HU_W) {
    hu_lane code = load_codes(x, i, size);
    if (HU_UNLIKELY(hui_mask_any(hui_plain_not(&constants, code)))) break;
    store(z + i, hui_plain_decode(&constants, plain, code));
  }
  return i;
}

static inline __attribute__((always_inline)) void decode(const hu_lane_constants *given, size_t n, uint32_t *z,
                                                         const void *x, int size) {
  size_t i = 0;
  while (i + HU_W <= n) {
    if (given->way.plain == 1) i = decode_plain(given, 1, i, n, z, x, size);
    if (given->way.plain == 2) i = decode_plain(given, 2, i, n, z, x, size);
    if (i + HU_W > n) break;
    store(z + i, decode_slow(given, load_codes(x, i, size)));
    i += HU_W;
  }
  if (i == n) return;
  uint32_t in[HU_W] = {0}, out[HU_W];
  size_t left = n - i;
  for (size_t j = 0; j < left; j++) {
    in[j] = size == 1   ? ((const uint8_t *)x)[i + j]
            : size == 2 ? ((const uint16_t *)x)[i + j]
                        : ((const uint32_t *)x)[i + j];
  }
  store(out, decode_slow(given, load(in)));
  memcpy(z + i, out, left * sizeof *z);
}

static HU_NOINLINE void of_codes8(const hu_lane_constants *lanes, size_t n, uint32_t *z, const void *x) {
  decode(lanes, n, z, x, 1);
}
static HU_NOINLINE void of_codes16(const hu_lane_constants *lanes, size_t n, uint32_t *z, const void *x) {
  decode(lanes, n, z, x, 2);
}
static HU_NOINLINE void of_codes32(const hu_lane_constants *lanes, size_t n, uint32_t *z, const void *x) {
  decode(lanes, n, z, x, 4);
}

/* The text above computes in integers, but a compiler may make a shift by lanes a conversion of powers of two (clang
 * for SSE2), which raises the flag invalid, or a trap: neither may reach the caller. */
static inline void without_flags(void (*work)(const hu_lane_constants *, size_t, uint32_t *, const void *),
                                 const hu_lane_constants *lanes, size_t n, uint32_t *z, const void *x) {
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  work(lanes, n, z, x);
  hui_float_env_leave(saved);
}

static void decode8(const hu_lane_constants *lanes, size_t n, uint32_t *z, const void *x) {
  without_flags(of_codes8, lanes, n, z, x);
}
static void decode16(const hu_lane_constants *lanes, size_t n, uint32_t *z, const void *x) {
  without_flags(of_codes16, lanes, n, z, x);
}
static void decode32(const hu_lane_constants *lanes, size_t n, uint32_t *z, const void *x) {
  without_flags(of_codes32, lanes, n, z, x);
}

const hu_kernels HU_OF_LEVEL(hu_kernels) = {
    quantize,  {encode8, encode16, encode32},       {decode8, decode16, decode32},      to_odd,
    to_values, {to_codes8, to_codes16, to_codes32}, {of_codes8, of_codes16, of_codes32}};

#endif
