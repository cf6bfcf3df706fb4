/* SPDX-License-Identifier: MIT */
/* The loops that convert arrays, on the hooks of a level's lanes (loop.h); compiled once a level.
 *
 * Each vector takes the cheapest way that all its lanes allow: quick, middle or slow (emu/simd/round.h). The ways agree
 * on every value that more than one accepts, so a result does not depend on a value's neighbours. */
#include "emu/simd/convert.h"
#include "emu/simd/lanes.h"

#if HU_LANES_HERE

#include "emu/base/float_env.h"
#include "emu/simd/loop.h"

/* Counts of one piece, in registers or the stack until the end. */
typedef struct piece_events {
  uint64_t inexact, underflow, to_zero, subnormal;
  hu_events rest;
} piece_events;

/* Rounds a vector by hui_lanes_round; counts the lanes in `live`, and the others hold zeros. */
static HU_NOINLINE rounded slow(const hu_lane_constants *t, hu_lane u, hu_lane random, hu_lane live, piece_events *n) {
  hu_lanes_result r = hui_lanes_round(t, u, random);
  rounded z = {r.value, r.code};
  n->inexact += hui_lane_count(r.inexact & live);
  n->underflow += hui_lane_count(r.underflow & live);
  n->to_zero += hui_lane_count(r.to_zero & live);
  n->subnormal += hui_lane_count(r.subnormal & live);
  if (hui_lane_any((r.overflow | r.saturated | r.invalid | r.nan_in | r.inf_in) & live)) {
    n->rest.overflow += hui_lane_count(r.overflow & live);
    n->rest.saturated += hui_lane_count(r.saturated & live);
    n->rest.invalid += hui_lane_count(r.invalid & live);
    n->rest.nan_in += hui_lane_count(r.nan_in & live);
    n->rest.inf_in += hui_lane_count(r.inf_in & live);
  }
  return z;
}

/* Fewer than HU_W elements, or the first few: through a padded copy. */
static HU_NOINLINE void few(const hu_lane_constants *t, int to, size_t n, void *z, const uint32_t *x,
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
  rounded r = slow(t, load(in), load(random), load(live), counts);
  put(&out, 0, to, 0, r);
  memcpy(z, &out, n * (to == HU_TO_VALUE ? 4u : (unsigned)to));
}

/* Where a loop stands: whole vectors from i to end. */
typedef struct cursor {
  size_t i, end;
  void *z;
  const uint32_t *x;
} cursor;

/* Rounds one vector by hui_quick. */
static inline __attribute__((always_inline)) hu_count quick_one(const hu_lane_constants *t, int round, int to,
                                                                int bypass, void *z, size_t i, hu_lane u,
                                                                hu_lane random, hu_count exact) {
  rounded r;
  r.value = hui_quick(t, round, u, random);
  r.code = to == HU_TO_VALUE ? r.value : hui_quick_code(t, r.value);
  put(z, i, to, bypass, r);
  return hui_count_mask(exact, hui_mask_eq(u, r.value));
}

/* Quick vectors until one is not. No calls and no stores but z's in here, so that all constants stay in registers. */
static inline __attribute__((always_inline)) void run_quick(const hu_lane_constants *given, int round, int to,
                                                            int bypass, cursor *p, piece_events *n) {
  const hu_lane_constants copy = *given, *t = &copy; /* its own, so that no store can be thought to change it */
  const hu_lane lo = HU_ALL(t->quick.lo), span = HU_ALL(t->quick.span), range = HU_ALL(t->quick.mask);
  const hu_lane zero_mask = HU_ALL(t->quick.zero_mask), zero_ok = HU_ALL(t->quick_zero);
  hu_count exact = hui_count_none();
  size_t i = p->i, end = p->end;
  for (; end - i >= 4 * HU_W; i += 4 * HU_W) {
    hu_lane u[4], offset[4];
    HU_UNROLL for (int j = 0; j < 4; j++) u[j] = load(p->x + i + j * HU_W);
    HU_UNROLL for (int j = 0; j < 4; j++) offset[j] = (u[j] & range) - lo;
    if (HU_UNLIKELY(!hui_all_within4(offset, span))) break;
    HU_UNROLL for (int j = 0; j < 4; j++) {
      exact = quick_one(t, round, to, bypass, p->z, i + (size_t)j * HU_W, u[j], HU_ALL(0), exact);
    }
  }
  for (; i < end; i += HU_W) {
    hu_lane u = load(p->x + i), offset = (u & range) - lo;
    if (HU_UNLIKELY(!hui_all_within(offset, span))) {
      hu_lane zero = HU_MASK((u & zero_mask) == HU_ALL(0)) & zero_ok;
      if (!hui_all_within(offset & ~zero, span)) break;
    }
    exact = quick_one(t, round, to, bypass, p->z, i, u, HU_ALL(0), exact);
  }
  n->inexact += i - p->i - hui_count_sum(exact);
  p->i = i;
}

static inline __attribute__((always_inline)) void middle_one(const hu_lane_constants *t, const hu_middle_lanes *k,
                                                             int round, int way, int to, int bypass, void *z, size_t i,
                                                             hu_lane u, hu_lane a, hu_lane random, middle_counts *c) {
  hu_middle_result m = hui_middle(t, k, round, way, u, a, random);
  hu_mask exact = hui_mask_eq(m.result, m.operand);
  c->exact = hui_count_mask(c->exact, exact);
  c->underflow = hui_count_mask(c->underflow, hui_mask_andnot(hui_mask_lt(m.probe, m.limit), exact));
  c->small = hui_count_mask(c->small, hui_mask_lt(m.result, k->bottom));
  c->zero = hui_count_mask(c->zero, hui_mask_eq(m.result, HU_ALL(0)));
  c->zero_in = hui_count_mask(c->zero_in, hui_mask_eq(m.operand, HU_ALL(0)));
  rounded r = {m.value, m.code};
  put(z, i, to, bypass, r);
}

static inline void add_middle(piece_events *n, uint64_t all, const middle_counts *c) {
  uint64_t zero = hui_count_sum(c->zero);
  n->inexact += all - hui_count_sum(c->exact);
  n->underflow += hui_count_sum(c->underflow);
  n->to_zero += zero - hui_count_sum(c->zero_in);
  n->subnormal += hui_count_sum(c->small) - zero;
}

/* Rounds vectors by hui_middle: those that need it, and at most `most` in all. */
static inline __attribute__((always_inline)) void run_middle(const hu_lane_constants *given, int round, int way, int to,
                                                             int bypass, cursor *p, size_t most, piece_events *n) {
  const hu_lane_constants copy = *given, *t = &copy;
  const hu_lane hi = HU_HOLD(HU_ALL(t->max_pattern));
  const hu_middle_lanes k = hui_middle_lanes_of(t);
  middle_counts c = no_middle_counts();
  size_t i = p->i, end = p->end - i < most * HU_W ? p->end : i + most * HU_W;
  for (; end - i >= 4 * HU_W; i += 4 * HU_W) {
    hu_lane u[4], a[4];
    HU_UNROLL for (int j = 0; j < 4; j++) u[j] = load(p->x + i + j * HU_W);
    HU_UNROLL for (int j = 0; j < 4; j++) a[j] = hui_middle_operand(t, u[j]);
    if (HU_UNLIKELY(!hui_all_within4(a, hi))) break;
    HU_UNROLL for (int j = 0; j < 4; j++) {
      middle_one(t, &k, round, way, to, bypass, p->z, i + (size_t)j * HU_W, u[j], a[j], HU_ALL(0), &c);
    }
  }
  for (; i < end; i += HU_W) {
    hu_lane u = load(p->x + i), a = hui_middle_operand(t, u);
    if (HU_UNLIKELY(!hui_all_within(a, hi))) break;
    middle_one(t, &k, round, way, to, bypass, p->z, i, u, a, HU_ALL(0), &c);
  }
  add_middle(n, i - p->i, &c);
  p->i = i;
}

/* Vectors whose every lane is finite and so far out that it overflows in any mode. */
static inline __attribute__((always_inline)) void run_beyond(const hu_lane_constants *t, int to, int bypass, cursor *p,
                                                             size_t last, piece_events *n) {
  const hu_lane range = HU_ALL(0x7FFFFFFFu), lo = HU_ALL(t->beyond), span = HU_ALL(0x7F7FFFFFu - t->beyond);
  const rounded plus = {HU_ALL(t->value.overflow), HU_ALL(t->code.overflow)};
  const rounded minus = {HU_ALL(t->value.neg_overflow), HU_ALL(t->code.neg_overflow)};
  hu_count negative = hui_count_none();
  size_t i = p->i;
  for (; i < last; i += HU_W) {
    hu_lane u = load(p->x + i);
    if (!hui_all_within((u & range) - lo, span)) break;
    hu_mask sign = hui_mask_lt(u, HU_ALL(0));
    rounded r = {hui_mask_sel(sign, minus.value, plus.value), hui_mask_sel(sign, minus.code, plus.code)};
    negative = hui_count_mask(negative, sign);
    put(p->z, i, to, bypass, r);
  }
  uint64_t all = i - p->i, below = hui_count_sum(negative);
  n->rest.overflow += all;
  n->inexact += all;
  n->rest.saturated += (t->events.overflow & HU_EVENT_SATURATED ? all - below : 0) +
                       (t->events.neg_overflow & HU_EVENT_SATURATED ? below : 0);
  p->i = i;
}

/* Vectors whose every lane lies so far below zero, finite, that no mode could make zero of it in an unsigned format:
 * one result for all. Without a zero that is every negative number. */
static HU_NOINLINE void run_below(const hu_lane_constants *t, int to, int bypass, cursor *p, size_t last,
                                  piece_events *n) {
  const int32_t field = t->zero == HU_ZERO_CODE ? t->low + 1 : t->low;
  const uint32_t least = t->zero == HU_ZERO_NONE ? 1 : (uint32_t)(field > 1 ? field : 1) << 23;
  const hu_lane lo = HU_ALL(least | 0x80000000u), span = HU_ALL(0x7F7FFFFFu - least);
  const rounded r = {HU_ALL(t->value.below), HU_ALL(t->code.below)};
  size_t i = p->i;
  for (; i < last; i += HU_W) {
    if (!hui_all_within(load(p->x + i) - lo, span)) break;
    put(p->z, i, to, bypass, r);
  }
  uint64_t all = i - p->i;
  n->inexact += all;
  n->rest.invalid += all;
  n->rest.saturated += t->events.below & HU_EVENT_SATURATED ? all : 0;
  p->i = i;
}

enum {
  MIDDLE_RUN = 64,    /* vectors until hui_quick is tried again */
  QUICK_RUN = 1 << 16 /* vectors until counts are emptied */
};

/* Rounds whole vectors from p->i to last, each by the cheapest way that its lanes allow. */
static inline __attribute__((always_inline)) void run_vectors(const hu_lane_constants *t, int round, int to, int bypass,
                                                              cursor *p, size_t last, piece_events *n) {
  while (p->i < last) {
    p->end = last - p->i < (size_t)QUICK_RUN * HU_W ? last : p->i + (size_t)QUICK_RUN * HU_W;
    if (t->way.quick) run_quick(t, round, to, bypass, p, n);
    if (p->i == p->end) continue;
    size_t before = p->i;
    if (t->way.middle == 1) run_middle(t, round, 1, to, bypass, p, MIDDLE_RUN, n);
    if (t->way.middle == 2) run_middle(t, round, 2, to, bypass, p, MIDDLE_RUN, n);
    if (p->i == before && t->beyond) run_beyond(t, to, bypass, p, p->end, n);
    if (p->i == before && t->is_unsigned && t->low < 254) run_below(t, to, bypass, p, p->end, n);
    if (p->i != before) continue;
    put(p->z, p->i, to, bypass, slow(t, load(p->x + p->i), HU_ALL(0), HU_ALL(0xFFFFFFFFu), n));
    p->i += HU_W;
  }
}

static inline void add_piece_events(hu_events *events, piece_events *n) {
  n->rest.inexact += n->inexact;
  n->rest.underflow += n->underflow;
  n->rest.to_zero += n->to_zero;
  n->rest.subnormal += n->subnormal;
  hu_events_add(events, &n->rest);
}

/* Elements before the first whole vector of z, where stores are to bypass the caches. */
static inline size_t unaligned_head(const hu_piece *p) {
  size_t head = (size_t)(-(uintptr_t)p->z & (sizeof(hu_lane) - 1)) / 4;
  return head < p->n ? head : p->n;
}

static inline __attribute__((always_inline)) void loop(const hu_lane_constants *given, int round, int to,
                                                       const hu_piece *p, hu_events *events) {
  const hu_lane_constants t = *given;
  piece_events n = {0};
  cursor at_vector = {0, 0, p->z, p->x};
  if (HU_BYPASSES && to == HU_TO_VALUE && p->bypass) {
    size_t head = unaligned_head(p);
    if (head) few(&t, to, head, p->z, p->x, NULL, &n);
    at_vector.i = head;
    run_vectors(&t, round, to, 1, &at_vector, head + (p->n - head) / HU_W * HU_W, &n);
    hui_fence();
  } else {
    run_vectors(&t, round, to, 0, &at_vector, p->n / HU_W * HU_W, &n);
  }
  size_t i = at_vector.i;
  if (i < p->n) few(&t, to, p->n - i, at(p->z, i, to), p->x + i, NULL, &n);
  add_piece_events(events, &n);
}

static inline void first_words(uint32_t *words, uint64_t key, uint64_t word, size_t n) {
  hu_stream s = {key, word};
  hu_stream_words_n(n, words, s);
}

/* Element i of the loop draws word number word + i of the key. */
typedef struct random_words {
  uint64_t key, word;
  hu_schedule schedule;
} random_words;

/* Vectors that all go one way (0: quick; 2: middle), four at a time, each element with its random word, until one
 * cannot; p->i stands at the first word of a block. Words are made here, between the loads and stores that wait for
 * memory. */
static inline __attribute__((always_inline)) void run_way_random(const hu_lane_constants *given, int round, int way,
                                                                 int to, int bypass, cursor *p, size_t last,
                                                                 const random_words *words, piece_events *n) {
  const hu_lane_constants copy = *given, *t = &copy;
  const hu_lane lo = HU_ALL(way ? 0 : t->quick.lo), span = HU_ALL(way ? t->max_pattern : t->quick.span);
  const hu_lane range = HU_ALL(t->quick.mask);
  const hu_middle_lanes k = hui_middle_lanes_of(t);
  hu_count exact = hui_count_none();
  middle_counts c = no_middle_counts();
  uint64_t block = (words->word + p->i) >> 2, most = hui_philox_run_length(block);
  hu_philox_run run = hui_philox_run_at(words->key, block);
  size_t i = p->i, end = (last - i) / (4 * HU_W) <= most ? last : i + (size_t)most * 4 * HU_W;
  for (; end - i >= 4 * HU_W; i += 4 * HU_W) {
    hu_lane u[4], offset[4], random[4];
    HU_UNROLL for (int j = 0; j < 4; j++) u[j] = load(p->x + i + j * HU_W);
    HU_UNROLL for (int j = 0; j < 4; j++) offset[j] = (u[j] & range) - lo;
    if (HU_UNLIKELY(!hui_all_within4(offset, span))) break;
    hui_philox_words(random, &words->schedule, hui_philox_run_next(&run, &words->schedule));
    HU_UNROLL for (int j = 0; j < 4; j++) {
      if (way)
        middle_one(t, &k, round, way, to, bypass, p->z, i + (size_t)j * HU_W, u[j], offset[j], random[j], &c);
      else
        exact = quick_one(t, round, to, bypass, p->z, i + (size_t)j * HU_W, u[j], random[j], exact);
    }
  }
  if (way)
    add_middle(n, i - p->i, &c);
  else
    n->inexact += i - p->i - hui_count_sum(exact);
  p->i = i;
}

/* Four vectors with their random words, each as it allows. */
static inline __attribute__((always_inline)) void four_random(const hu_lane_constants *t, int round, int to, int bypass,
                                                              cursor *p, const random_words *words, piece_events *n) {
  hu_lane random[4];
  hui_philox_words(random, &words->schedule, hui_philox_blocks_at(&words->schedule, (words->word + p->i) >> 2));
  for (int j = 0; j < 4; j++, p->i += HU_W) {
    hu_lane u = load(p->x + p->i);
    if (t->way.quick && !hui_lane_any(~hui_quick_ok(t, u))) {
      n->inexact += HU_W - hui_count_sum(quick_one(t, round, to, bypass, p->z, p->i, u, random[j], hui_count_none()));
    } else {
      put(p->z, p->i, to, bypass, slow(t, u, random[j], HU_ALL(0xFFFFFFFFu), n));
    }
  }
}

static inline __attribute__((always_inline)) void run_random(const hu_lane_constants *t, int round, int to, int bypass,
                                                             cursor *p, size_t last, const random_words *words,
                                                             piece_events *n) {
  while (last - p->i >= 4 * HU_W) {
    size_t before = p->i, left = (last - before) / HU_W;
    if (t->way.quick) {
      run_way_random(t, round, 0, to, bypass, p, before + hui_min_size(left, QUICK_RUN) * HU_W, words, n);
    }
    if (t->way.middle && p->i == before) {
      run_way_random(t, round, 2, to, bypass, p, before + hui_min_size(left, MIDDLE_RUN) * HU_W, words, n);
    }
    if (p->i == before) four_random(t, round, to, bypass, p, words, n);
  }
}

/* Does as loop, but draws a random word for each element, 4 HU_W of them at a time. */
static inline __attribute__((always_inline)) void loop_random(const hu_lane_constants *given, int round, int to,
                                                              const hu_piece *p, hu_events *events) {
  const hu_lane_constants t = *given;
  piece_events n = {0};
  uint32_t words[HU_W];
  size_t head = (size_t)(-p->word & 3), aligned = unaligned_head(p); /* head: elements before a block's first word */
  int bypass = HU_BYPASSES && to == HU_TO_VALUE && p->bypass && ((aligned - head) & 3) == 0;
  if (bypass) head = aligned;
  if (head > p->n) head = p->n;
  if (head) {
    first_words(words, p->key, p->word, head);
    few(&t, to, head, p->z, p->x, words, &n);
  }
  cursor q = {head, 0, p->z, p->x};
  const random_words random = {p->key, p->word, hui_schedule_of(p->key)};
  if (bypass) {
    run_random(&t, round, to, 1, &q, p->n, &random, &n);
    hui_fence();
  } else {
    run_random(&t, round, to, 0, &q, p->n, &random, &n);
  }
  for (size_t i = q.i; i < p->n; i += HU_W) {
    size_t left = p->n - i < HU_W ? p->n - i : HU_W;
    first_words(words, p->key, p->word + i, left);
    few(&t, to, left, at(p->z, i, to), p->x + i, words, &n);
  }
  add_piece_events(events, &n);
}

#if HU_PORTABLE
/* Eleven loops for each kind of result, twice where stores may go around the caches, take a compiler long: common
 * modes have their own, the others share one, and stores go through the caches. */
static inline __attribute__((always_inline)) void modes(const hu_lane_constants *t, int to, const hu_piece *p,
                                                        hu_events *events) {
  switch (t->round) {
    case HU_RNE: loop(t, HU_RNE, to, p, events); return;
    case HU_SRA: loop_random(t, HU_SRA, to, p, events); return;
    case HU_SRB:
    case HU_SRC: loop_random(t, t->round, to, p, events); return;
    default: loop(t, t->round, to, p, events); return;
  }
}
#else
/* Calls a loop in which the mode is a constant. */
static inline __attribute__((always_inline)) void modes(const hu_lane_constants *t, int to, const hu_piece *p,
                                                        hu_events *events) {
  switch (t->round) {
    case HU_RNE: loop(t, HU_RNE, to, p, events); return;
    case HU_RNA: loop(t, HU_RNA, to, p, events); return;
    case HU_RNZ: loop(t, HU_RNZ, to, p, events); return;
    case HU_RTZ: loop(t, HU_RTZ, to, p, events); return;
    case HU_RTP: loop(t, HU_RTP, to, p, events); return;
    case HU_RTN: loop(t, HU_RTN, to, p, events); return;
    case HU_RAZ: loop(t, HU_RAZ, to, p, events); return;
    case HU_RTO: loop(t, HU_RTO, to, p, events); return;
    case HU_SRA: loop_random(t, HU_SRA, to, p, events); return;
    case HU_SRB: loop_random(t, HU_SRB, to, p, events); return;
    default: loop_random(t, HU_SRC, to, p, events); return;
  }
}
#endif

#if HU_LOOP_PER_WIDTH
static inline __attribute__((always_inline)) void to_codes(const hu_lane_constants *t, int to, const hu_piece *p,
                                                           hu_events *events) {
  modes(t, to, p, events);
}
#else
static HU_NOINLINE void to_codes(const hu_lane_constants *t, int to, const hu_piece *p, hu_events *events) {
  modes(t, to, p, events);
}
#endif

static HU_NOINLINE void to_values(const hu_lane_constants *t, const hu_piece *p, hu_events *events) {
  modes(t, HU_TO_VALUE, p, events);
}
static HU_NOINLINE void to_codes8(const hu_lane_constants *t, const hu_piece *p, hu_events *events) {
  to_codes(t, HU_TO_CODE8, p, events);
}
static HU_NOINLINE void to_codes16(const hu_lane_constants *t, const hu_piece *p, hu_events *events) {
  to_codes(t, HU_TO_CODE16, p, events);
}
static HU_NOINLINE void to_codes32(const hu_lane_constants *t, const hu_piece *p, hu_events *events) {
  to_codes(t, HU_TO_CODE32, p, events);
}

/* Sets the CPU's rounding direction to the one that the mode's sums need, whatever the caller had set. */
static inline void in_direction(void (*work)(const hu_lane_constants *, const hu_piece *, hu_events *),
                                const hu_lane_constants *t, const hu_piece *p, hu_events *events) {
  hu_float_env saved = hui_float_env_enter(hui_direction_of(t->round));
  work(t, p, events);
  hui_float_env_leave(saved);
}

static void quantize(const hu_lane_constants *t, const hu_piece *p, hu_events *events) {
  in_direction(to_values, t, p, events);
}
static void encode8(const hu_lane_constants *t, const hu_piece *p, hu_events *events) {
  in_direction(to_codes8, t, p, events);
}
static void encode16(const hu_lane_constants *t, const hu_piece *p, hu_events *e) { in_direction(to_codes16, t, p, e); }
static void encode32(const hu_lane_constants *t, const hu_piece *p, hu_events *e) { in_direction(to_codes32, t, p, e); }

/* binary64 to binary32, rounded to odd: a later rounding to at most 22 digits on a grid that binary32 has two more
 * digits for sees the same order, halves and inexactness as in the binary64 value (emu/array/run.c has the
 * condition). */
static int to_odd(size_t n, uint32_t *z, const uint64_t *x) {
  uint64_t big = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t u = x[i], a = u & 0x7FFFFFFFFFFFFFFFu, e = a >> 52;
    uint32_t sign = (uint32_t)(u >> 63) << 31;
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

static HU_NOINLINE hu_lane decode_slow(const hu_lane_constants *t, hu_lane code) { return hui_lanes_decode(t, code); }

/* Plain vectors from i until one is not; like run_quick without calls. */
static inline __attribute__((always_inline)) size_t decode_plain(const hu_lane_constants *given, int plain, size_t i,
                                                                 size_t n, uint32_t *z, const void *x, int size) {
  const hu_plain_lanes k = hui_plain_lanes_of(given);
  for (; i + HU_W <= n; i += HU_W) {
    hu_lane code = load_codes(x, i, size);
    if (HU_UNLIKELY(hui_mask_any(hui_plain_not(&k, code)))) break;
    store(z + i, hui_plain_decode(&k, plain, code));
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

static HU_NOINLINE void of_codes8(const hu_lane_constants *t, size_t n, uint32_t *z, const void *x) {
  decode(t, n, z, x, 1);
}
static HU_NOINLINE void of_codes16(const hu_lane_constants *t, size_t n, uint32_t *z, const void *x) {
  decode(t, n, z, x, 2);
}
static HU_NOINLINE void of_codes32(const hu_lane_constants *t, size_t n, uint32_t *z, const void *x) {
  decode(t, n, z, x, 4);
}

/* The text above computes in integers, but a compiler may make a shift by lanes a conversion of powers of two (clang
 * for SSE2), which raises the flag invalid, or a trap: neither may reach the caller. */
static inline void without_flags(void (*work)(const hu_lane_constants *, size_t, uint32_t *, const void *),
                                 const hu_lane_constants *t, size_t n, uint32_t *z, const void *x) {
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  work(t, n, z, x);
  hui_float_env_leave(saved);
}

static void decode8(const hu_lane_constants *t, size_t n, uint32_t *z, const void *x) {
  without_flags(of_codes8, t, n, z, x);
}
static void decode16(const hu_lane_constants *t, size_t n, uint32_t *z, const void *x) {
  without_flags(of_codes16, t, n, z, x);
}
static void decode32(const hu_lane_constants *t, size_t n, uint32_t *z, const void *x) {
  without_flags(of_codes32, t, n, z, x);
}

const hu_kernels HU_OF_LEVEL(hu_kernels) = {
    quantize, {encode8, encode16, encode32}, {decode8, decode16, decode32}, to_odd};

#endif
