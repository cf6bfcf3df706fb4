/* SPDX-License-Identifier: MIT */
/* Strips of blocks (strip.h) on the hooks of a level's lanes (emu/simd/loop.h); compiled once a level. */
#include "emu/scaled/strip.h"
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

static inline strip_lanes strip_lanes_of(const hu_scaled_grid *g) {
  strip_lanes k;
  k.middle = hui_middle_lanes_of(&g->constants);
  k.limit = HU_HOLD(HU_ALL(g->limit));
  k.max = HU_HOLD(HU_ALL(g->max));
  k.max_code = HU_HOLD(HU_ALL(g->max_code));
  k.sign_code = HU_HOLD(HU_ALL(g->constants.sign_code));
  k.twos = g->twos;
  return k;
}

/* The grid times 2^e. */
static inline __attribute__((always_inline)) strip_lanes grid_times(const strip_lanes *k, hu_lane by) {
  strip_lanes z = *k;
  z.middle.bottom += by;
  z.middle.not_tiny += by;
  z.middle.not_tiny_neg += by;
  z.max += by;
  return z;
}

/* |x|, divided where the grid is not multiplied: patterns. */
static inline __attribute__((always_inline)) hu_lane quotient(const strip_lanes *k, int way, hu_lane a, hu_lane by) {
  if (way == HU_TIMES) return hui_lane_smaller(hui_lane_times(a, by), k->limit);
  if (way == HU_OVER) return hui_lane_smaller(hui_lane_over(a, by), k->limit);
  return a;
}

/* Sign and magnitude as two's complement: 2^K less the magnitude under a sign, which no zero has. */
static inline __attribute__((always_inline)) hu_lane twos_of(const strip_lanes *k, hu_lane code) {
  hu_lane negative = HU_MASK((code & k->sign_code) != HU_ALL(0));
  return hui_sel(negative, k->sign_code + k->sign_code - (code - k->sign_code), code);
}

/* Where one of a vector's operands lies below the normal numbers: what can be tiny, subnormal or zero; or beyond the
 * range, if all of it lies there (fixed point). */
static inline __attribute__((always_inline)) void count_small(const strip_lanes *k, const hu_middle_result *m,
                                                              hu_mask exact, hu_mask over, uint32_t *marks,
                                                              strip_counts *c) {
  hu_mask zero = hui_mask_eq(m->result, HU_ALL(0)), zero_in = hui_mask_eq(m->operand, HU_ALL(0));
  hu_mask tiny = hui_mask_andnot(hui_mask_lt(m->probe, m->limit), hui_mask_or(exact, over));
  c->middle.underflow = hui_count_mask(c->middle.underflow, tiny);
  c->middle.small = hui_count_mask(c->middle.small, hui_mask_andnot(hui_mask_lt(m->result, k->middle.bottom), over));
  c->middle.zero = hui_count_mask(c->middle.zero, zero);
  c->middle.zero_in = hui_count_mask(c->middle.zero_in, zero_in);
  if (!marks) return;
  hu_lane some = hui_mask_sel(hui_mask_andnot(zero, zero_in), HU_ALL(0x10000), HU_ALL(0));
  store(marks, load(marks) | some);
}

/* One vector. */
static inline __attribute__((always_inline)) rounded strip_one(const hu_lane_constants *t, const strip_lanes *grid,
                                                               int round, int way, int to, hu_lane u, hu_lane by,
                                                               hu_lane back, hu_lane random, uint32_t *marks,
                                                               strip_counts *c) {
  const strip_lanes shifted = grid_times(grid, by), *k = way == HU_SHIFT ? &shifted : grid;
  hu_lane a = u & k->middle.magnitude, y = quotient(k, way, a, by);
  hu_middle_result m = hui_middle(t, &k->middle, round, 2, way == HU_SHIFT ? u : y | (u ^ a), y, random);
  /* Zeros, of which a network has many, are below the normal numbers and raise nothing. */
  hu_mask over = hui_mask_lt(k->max, m.result);
  hu_mask small = hui_mask_andnot(hui_mask_lt(y, k->middle.bottom), hui_mask_eq(y, HU_ALL(0)));
  hu_lane kept = hui_lane_smaller(m.result, k->max);
  hu_mask exact = hui_mask_eq(kept, y);
  c->middle.exact = hui_count_mask(c->middle.exact, exact);
  c->over = hui_count_mask(c->over, over);
  if (marks) store(marks, hui_mask_sel(over, HU_ALL(1), HU_ALL(0)));
  if (hui_mask_any(small)) count_small(k, &m, exact, over, marks, c);
  rounded r = {kept, m.code};
  if (to != HU_TO_VALUE) {
    r.code = hui_mask_sel(over, k->max_code | (u ^ a) >> t->sign_shift, m.code);
    if (k->twos) r.code = twos_of(k, r.code);
    return r;
  }
  hu_lane value = way == HU_SHIFT ? kept : hui_lane_times(kept, back);
  if (k->middle.has_negzero) {
    r.value = hui_lane_signed(value, u);
  } else {
    r.value = value | hui_mask_keep(hui_mask_test(kept, k->middle.magnitude), u ^ a);
  }
  return r;
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

static inline __attribute__((always_inline)) hu_lane of_block(const strip_arrays *s, const uint32_t *x, size_t i) {
  return s->side < 0 ? load(x + i) : HU_ALL(x[i >> s->side]);
}

static inline __attribute__((always_inline)) hu_lane few_of_block(const strip_arrays *s, const uint32_t *x, size_t i,
                                                                  size_t n) {
  return s->side < 0 ? hui_load_few(x + i, n) : HU_ALL(x[i >> s->side]);
}

/* Elements from `first` to `end`, whole vectors, and `few` behind them. */
static inline __attribute__((always_inline)) void strip_loop(const hu_scaled_grid *g, int round, int way, int to,
                                                             const strip_arrays *arrays, size_t first, size_t end,
                                                             hu_events *events) {
  const hu_lane_constants copy = g->constants, *t = &copy; /* its own, so that no store can be thought to change it */
  const strip_arrays s = *arrays;
  const strip_lanes k = strip_lanes_of(g);
  const int plain = way == HU_SHIFT && to == HU_TO_VALUE;
  const size_t rows = plain && round < HU_SRA ? s.rows : 1;
  strip_counts c = {no_middle_counts(), hui_count_none()};
  for (size_t row = 0; row < rows; row++) {
    const uint32_t *x = s.x + row * s.ldx, *by = s.by + row * s.ldby;
    uint32_t *z = plain ? (uint32_t *)s.z + row * s.ldz : NULL;
    for (size_t i = first; i < end; i += HU_W) {
      hu_lane random = round >= HU_SRA ? load(s.random + i) : HU_ALL(0);
      hu_lane back = way != HU_SHIFT && to == HU_TO_VALUE ? of_block(&s, s.back, i) : HU_ALL(0);
      rounded r = strip_one(t, &k, round, way, to, load(x + i), of_block(&s, by, i), back, random,
                            s.marks ? s.marks + i : NULL, &c);
      put(plain ? z : s.z, i, to, 0, r);
    }
    if (!plain || !s.few) continue;
    hu_lane random = round >= HU_SRA ? hui_load_few(s.random + end, s.few) : HU_ALL(0);
    rounded r = strip_one(t, &k, round, way, to, hui_load_few(x + end, s.few), few_of_block(&s, by, end, s.few),
                          HU_ALL(0), random, s.marks ? s.marks + end : NULL, &c);
    hui_store_few(z + end, r.value, s.few);
  }
  uint64_t zero = hui_count_sum(c.middle.zero), over = hui_count_sum(c.over);
  uint64_t all = rows * (end - first + (plain && s.few ? HU_W : 0));
  events->inexact += all - hui_count_sum(c.middle.exact);
  events->underflow += hui_count_sum(c.middle.underflow);
  events->to_zero += zero - hui_count_sum(c.middle.zero_in);
  events->subnormal += hui_count_sum(c.middle.small) - zero;
  events->overflow += over;
  events->saturated += over;
}

/* One function each, so that a loop's constants have the registers. */
#define LOOP(name, round, way, to)                                                                       \
  static HU_NOINLINE void name(const hu_scaled_grid *g, const strip_arrays *s, size_t first, size_t end, \
                               hu_events *e) {                                                           \
    strip_loop(g, round, way, to, s, first, end, e);                                                     \
  }
#define LOOPS(name, round, way)               \
  LOOP(name##_value, round, way, HU_TO_VALUE) \
  LOOP(name##_code8, round, way, HU_TO_CODE8) \
  LOOP(name##_code16, round, way, HU_TO_CODE16)
LOOPS(rne, HU_RNE, HU_SHIFT)
LOOPS(rna, HU_RNA, HU_SHIFT)
LOOPS(rnz, HU_RNZ, HU_SHIFT)
LOOPS(rtz, HU_RTZ, HU_SHIFT)
LOOPS(rtp, HU_RTP, HU_SHIFT)
LOOPS(rtn, HU_RTN, HU_SHIFT)
LOOPS(raz, HU_RAZ, HU_SHIFT)
LOOPS(rto, HU_RTO, HU_SHIFT)
LOOPS(sra, HU_SRA, HU_SHIFT)
LOOPS(srb, HU_SRB, HU_SHIFT)
LOOPS(src, HU_SRC, HU_SHIFT)
LOOPS(times, HU_RNE, HU_TIMES)
LOOPS(over, HU_RNE, HU_OVER)

typedef void (*strip_function)(const hu_scaled_grid *, const strip_arrays *, size_t, size_t, hu_events *);

static strip_function function_of(int round, int way, int to) {
#define THREE(name) \
  { name##_value, name##_code8, name##_code16 }
  static const strip_function shifts[][3] = {
      [HU_RNE] = THREE(rne), [HU_RNA] = THREE(rna), [HU_RNZ] = THREE(rnz), [HU_RTZ] = THREE(rtz),
      [HU_RTP] = THREE(rtp), [HU_RTN] = THREE(rtn), [HU_RAZ] = THREE(raz), [HU_RTO] = THREE(rto),
      [HU_SRA] = THREE(sra), [HU_SRB] = THREE(srb), [HU_SRC] = THREE(src)};
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
static void strip_few(const hu_scaled_grid *g, strip_function f, int to, const strip_arrays *s, size_t i, size_t n,
                      hu_events *events) {
  uint32_t x[HU_W], by[HU_W], back[HU_W], random[HU_W], marks[HU_W], z[HU_W];
  size_t size = to == HU_TO_VALUE ? 4 : (size_t)to;
  const strip_arrays few = {x, by, back, random, z, s->marks ? marks : NULL, HU_SIDE_EACH, 0, 1, 0, 0, 0};
  store(x, hui_load_few(s->x + i, n));
  store(by, few_of_block(s, s->by, i, n));
  for (size_t k = n; k < HU_W; k++) by[k] = by[0]; /* no division by zero */
  store(back, s->back ? few_of_block(s, s->back, i, n) : HU_ALL(0));
  store(random, s->random ? hui_load_few(s->random + i, n) : HU_ALL(0));
  f(g, &few, 0, HU_W, events);
  if (to == HU_TO_VALUE) {
    hui_store_few((uint32_t *)s->z + i, load(z), n);
  } else {
    memcpy((uint8_t *)s->z + i * size, z, n * size);
  }
  if (s->marks) hui_store_few(s->marks + i, load(marks), n);
}

static void strip_round(const hu_scaled_grid *g, int way, int to, const hu_scaled_strip *p, hu_events *events) {
  uint32_t words[WORDS];
  strip_function f = function_of(g->constants.round, way, to);
  size_t end = p->n / HU_W * HU_W, few = p->n - end;
  int plain = way == HU_SHIFT && to == HU_TO_VALUE;
  strip_arrays s = {p->x,    p->by,           p->back, NULL,   p->z,   p->marks,
                    p->side, plain ? few : 0, p->rows, p->ldx, p->ldz, p->ldby};
  if (g->constants.round >= HU_SRA) s.random = strip_words(words, p->key, p->word, p->n);
  hu_float_env saved = hui_float_env_enter(hui_direction_of(g->constants.round));
  if (end || plain) f(g, &s, 0, end, events);
  if (few && !plain) strip_few(g, f, to, &s, end, few, events);
  hui_float_env_leave(saved);
}

/* ---- values of codes ---- */

typedef struct decode_lanes {
  hu_plain_lanes plain;
  hu_lane magnitude, sign_code, all, unit;
} decode_lanes;

static HU_NOINLINE hu_lane decode_slow(const hu_lane_constants *t, hu_lane code) { return hui_lanes_decode(t, code); }

/* From two's complement: the lowest code, too, is its units, 2^(emin - m) each. */
static inline __attribute__((always_inline)) hu_lane decode_twos(const decode_lanes *k, hu_lane code) {
  hu_lane c = code & k->all, negative = HU_MASK((c & k->sign_code) != HU_ALL(0));
  hu_lane units = hui_sel(negative, k->all + 1 - c, c), v = hui_lane_float(units) + k->unit;
  return hui_mask_keep(hui_mask_test(units, k->all), v) | (negative & 0x80000000u);
}

static inline __attribute__((always_inline)) hu_lane decode_one(const hu_lane_constants *t, const decode_lanes *k,
                                                                int twos, int way, hu_lane code, hu_lane by) {
  hu_lane v;
  if (twos) {
    v = decode_twos(k, code);
  } else if (t->way.plain != 2 || HU_UNLIKELY(hui_mask_any(hui_plain_not(&k->plain, code)))) {
    v = decode_slow(t, code);
  } else {
    v = hui_plain_decode(&k->plain, 2, code);
  }
  if (way != HU_SHIFT) return hui_lane_times(v, by);
  /* 0 < |v| < infinity, by one comparison. */
  hu_lane normal = HU_MASK((v & k->magnitude) - 1 < HU_ALL(0x7F7FFFFFu));
  return v - (normal & by);
}

static inline __attribute__((always_inline)) void decode_loop(const hu_scaled_grid *g, int twos, int way, int size,
                                                              size_t first, size_t end, uint32_t *z, const void *codes,
                                                              const uint32_t *by) {
  const hu_lane_constants copy = g->constants, *t = &copy;
  uint32_t all = 2 * t->sign_code - 1;
  const decode_lanes k = {hui_plain_lanes_of(t), HU_ALL(0x7FFFFFFFu), HU_ALL(t->sign_code), HU_ALL(all),
                          HU_ALL((uint32_t)(t->low - 127 - t->m) << 23)};
  for (size_t i = first; i < end; i += HU_W) {
    rounded r;
    r.value = r.code = decode_one(t, &k, twos, way, load_codes(codes, i, size), load(by + i));
    put(z, i, HU_TO_VALUE, 0, r);
  }
}

static HU_NOINLINE void decode_run(const hu_scaled_grid *g, int way, int size, size_t first, size_t end, uint32_t *z,
                                   const void *codes, const uint32_t *by) {
  if (size == 2) {
    if (way == HU_SHIFT) decode_loop(g, g->twos, HU_SHIFT, 2, first, end, z, codes, by);
    if (way != HU_SHIFT) decode_loop(g, g->twos, HU_TIMES, 2, first, end, z, codes, by);
  } else if (g->twos) {
    if (way == HU_SHIFT) decode_loop(g, 1, HU_SHIFT, 1, first, end, z, codes, by);
    if (way != HU_SHIFT) decode_loop(g, 1, HU_TIMES, 1, first, end, z, codes, by);
  } else {
    if (way == HU_SHIFT) decode_loop(g, 0, HU_SHIFT, 1, first, end, z, codes, by);
    if (way != HU_SHIFT) decode_loop(g, 0, HU_TIMES, 1, first, end, z, codes, by);
  }
}

static void decode_few(const hu_scaled_grid *g, int way, int size, size_t i, size_t n, uint32_t *z, const void *codes,
                       const uint32_t *by) {
  uint32_t c[HU_W] = {0}, b[HU_W], v[HU_W];
  memcpy(c, (const uint8_t *)codes + i * (size_t)size, n * (size_t)size);
  store(b, hui_load_few(by + i, n));
  decode_run(g, way, size, 0, HU_W, v, c, b);
  hui_store_few(z + i, load(v), n);
}

static void strip_decode(const hu_scaled_grid *g, int way, int size, size_t n, uint32_t *z, const void *codes,
                         const uint32_t *by) {
  size_t end = n / HU_W * HU_W;
  hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
  if (end) decode_run(g, way, size, 0, end, z, codes, by);
  if (end < n) decode_few(g, way, size, end, n - end, z, codes, by);
  hui_float_env_leave(saved);
}

/* ---- scales ---- */

static int strip_powers(const hu_scaled_powers *p, size_t n, const uint32_t *top, uint32_t *codes, uint32_t *by,
                        uint32_t *bad) {
  hu_lane any = HU_ALL(0);
  for (size_t k = 0; k < n; k += HU_W) {
    hu_lane t = load(top + k), a = hui_lane_larger(t, HU_ALL(p->amin)), none = HU_MASK(a == HU_ALL(0));
    hu_lane e = ((a + p->more) >> 23) - HU_ALL(127 + p->emax);
    e = hui_lane_smaller(hui_lane_larger(e, HU_ALL(p->low)), HU_ALL(p->high));
    hu_lane wrong = hui_gt(t, HU_ALL(p->highest - 1)) | hui_lt(a, HU_ALL(0x800000u)) | hui_lt(e, HU_ALL(p->least)) |
                    hui_gt(e, HU_ALL(p->most));
    wrong &= ~none;
    store(bad + k, wrong);
    any |= wrong;
    hu_lane code = HU_ALL(p->first_code) + ((e - HU_ALL(p->first)) << p->m);
    store(codes + k, hui_sel(none, HU_ALL(p->blank_code), code));
    store(by + k, ~none & (e << 23));
  }
  return hui_lane_any(any);
}

const hu_scaled_strips HU_OF_LEVEL(hu_scaled_strips) = {strip_round, strip_decode, strip_powers};

#endif
