/* SPDX-License-Identifier: MIT */
/* The ways of emu/simd/round.h and of the loops of emu/simd/convert_lanes.c against the core, as functions that a
 * prover reads. Each takes numbers alone and returns what is wrong, as bits (WRONG_): a theorem is that it returns 0
 * whatever it is given. docs/proof/lanes.md says what each means. */
#include "question.h"

/* The table of the loops over arrays becomes one that nobody reads, so that the loops are not compiled. */
#include "emu/simd/convert.h"
#undef HU_OF_LEVEL
#define HU_OF_LEVEL(name) \
  not_a_table;            \
  static const hu_kernels unread __attribute__((unused))
#include "emu/simd/convert_lanes.c"

/* What the core says of an operand, and the constants of lanes; taken: 0 where the theorem says nothing. */
typedef struct question {
  int taken;
  hu_spec spec;
  hu_lane_constants constants;
  uint32_t code, events;
} question;

static inline question question_of(ARGUMENTS) {
  question q;
  hu_format f = format_of(m, e, b, axes);
  hu_mode mode = mode_of(policy, round, bits);
  q.taken = 0;
  if (hu_format_check(f, NULL) != HU_OK || !mode_is_valid(mode)) return q;
  q.spec = hui_spec_of(f, mode);
  q.taken = hui_lane_constants_of(&q.constants, &q.spec);
  q.code = hui_round(&q.spec, hui_unpack32(u), bits ? random >> (32 - bits) : 0, &q.events);
  return q;
}

/* ---- what a loop over one element leaves ---- */

typedef struct answer {
  uint64_t taken;
  uint32_t z; /* a code of 32 bits, or a value */
  piece_events n;
} answer;

static inline answer nothing(void) {
  answer a;
  memset(&a, 0, sizeof a);
  return a;
}

static inline cursor cursor_of(answer *a, const uint32_t *u) {
  cursor p = {0, 1, &a->z, u};
  return p;
}

/* Callers ask for values of formats that binary32 has every value of. */
static inline int wrong(const question *q, const answer *a, int to) {
  if (!q->taken || !a->taken || (to == HU_TO_VALUE && !q->spec.fits_binary32)) return 0;
  hu_events counts;
  piece_events n = a->n;
  memset(&counts, 0, sizeof counts);
  add_piece_events(&counts, &n);
  uint32_t bits = wrong_events(&counts, q->events);
  if (to == HU_TO_VALUE) {
    if (a->z != hui_pack32(hui_unpack(&q->spec, q->code))) bits |= WRONG_VALUE;
  } else {
    if (a->z != q->code) bits |= WRONG_CODE;
  }
  return (int)bits;
}

/* That the theorem says something: the way is taken, loses digits, and comes to the code 5 or beyond the range. */
static inline int reached(const question *q, const answer *a) {
  int code = q->code == 5 || (q->events & (HU_EVENT_OVERFLOW | HU_EVENT_INVALID));
  return q->taken && a->taken && code && (q->events & HU_EVENT_INEXACT);
}

/* Three theorems of a way: its codes and events, its values and events, and that they are about something. */
#define THEOREMS(way)                            \
  int way##_codes(ARGUMENTS) {                   \
    question q = question_of(GIVEN);             \
    answer a = way(&q, u, random, HU_TO_CODE32); \
    return wrong(&q, &a, HU_TO_CODE32);          \
  }                                              \
  int way##_values(ARGUMENTS) {                  \
    question q = question_of(GIVEN);             \
    answer a = way(&q, u, random, HU_TO_VALUE);  \
    return wrong(&q, &a, HU_TO_VALUE);           \
  }                                              \
  int way##_reached(ARGUMENTS) {                 \
    question q = question_of(GIVEN);             \
    answer a = way(&q, u, random, HU_TO_CODE32); \
    return reached(&q, &a);                      \
  }

/* ---- sums that are rounded in the direction of one mode, PROOF_ROUND ---- */

#ifdef PROOF_ROUND
#if PROOF_ROUND < 8 /* HU_SRA */
static inline answer middle2(const question *q, hu_lane u, hu_lane random, int to) {
  answer a = nothing();
  cursor p = cursor_of(&a, &u);
  (void)random;
  if (!q->taken || q->constants.round != PROOF_ROUND || q->constants.way.middle != 2) return a;
  run_middle(&q->constants, PROOF_ROUND, 2, to, 0, &p, 1, &a.n);
  a.taken = p.i;
  return a;
}
THEOREMS(middle2)
#else
static inline answer random_middle(const question *q, hu_lane u, hu_lane random, int to) {
  answer a = nothing();
  middle_counts c = no_middle_counts();
  if (!q->taken || q->constants.round != PROOF_ROUND || !q->constants.way.middle || !hui_middle_ok(&q->constants, u))
    return a;
  const hu_middle_lanes k = hui_middle_lanes_of(&q->constants);
  middle_one(&q->constants, &k, PROOF_ROUND, 2, to, 0, &a.z, 0, u, hui_middle_operand(&q->constants, u), random, &c);
  add_middle(&a.n, 1, &c);
  a.taken = 1;
  return a;
}
THEOREMS(random_middle)
#endif
#else

/* ---- ways of a mode that the query chooses ---- */

static inline answer quick(const question *q, hu_lane u, hu_lane random, int to) {
  answer a = nothing();
  cursor p = cursor_of(&a, &u);
  (void)random;
  if (!q->taken || !q->constants.way.quick) return a;
  run_quick(&q->constants, q->constants.round, to, 0, &p, &a.n);
  a.taken = p.i;
  return a;
}
THEOREMS(quick)

static inline answer slow_way(const question *q, hu_lane u, hu_lane random, int to) {
  answer a = nothing();
  if (!q->taken) return a;
  put(&a.z, 0, to, 0, slow(&q->constants, u, random, HU_ALL(0xFFFFFFFFu), &a.n));
  a.taken = 1;
  return a;
}
THEOREMS(slow_way)

static inline answer beyond(const question *q, hu_lane u, hu_lane random, int to) {
  answer a = nothing();
  cursor p = cursor_of(&a, &u);
  (void)random;
  if (!q->taken || !q->constants.beyond) return a;
  run_beyond(&q->constants, to, 0, &p, 1, &a.n);
  a.taken = p.i;
  return a;
}
THEOREMS(beyond)

static inline answer below(const question *q, hu_lane u, hu_lane random, int to) {
  answer a = nothing();
  cursor p = cursor_of(&a, &u);
  (void)random;
  if (!q->taken || !q->constants.is_unsigned || q->constants.low >= 254) return a;
  run_below(&q->constants, to, 0, &p, 1, &a.n);
  a.taken = p.i;
  return a;
}
THEOREMS(below)

/* The values of the slow way in two parts: of numbers within the range, and of what lies beyond it. */
static inline int values_of_slow_way(question *q, hu_lane u, hu_lane random, int within) {
  const uint32_t outside = HU_EVENT_OVERFLOW | HU_EVENT_INVALID | HU_EVENT_NAN_IN | HU_EVENT_INF_IN;
  if (within != ((q->events & outside) == 0)) return 0;
  answer a = slow_way(q, u, random, HU_TO_VALUE);
  return wrong(q, &a, HU_TO_VALUE);
}
int slow_way_values_within(ARGUMENTS) {
  question q = question_of(GIVEN);
  return values_of_slow_way(&q, u, random, 1);
}
int slow_way_values_beyond(ARGUMENTS) {
  question q = question_of(GIVEN);
  return values_of_slow_way(&q, u, random, 0);
}

static inline answer middle1(const question *q, hu_lane u, hu_lane random, int to) {
  answer a = nothing();
  cursor p = cursor_of(&a, &u);
  (void)random;
  if (!q->taken || q->constants.way.middle != 1) return a;
  run_middle(&q->constants, q->constants.round, 1, to, 0, &p, 1, &a.n);
  a.taken = p.i;
  return a;
}
THEOREMS(middle1)

/* ---- the same with a random word ---- */

static inline answer random_quick(const question *q, hu_lane u, hu_lane random, int to) {
  answer a = nothing();
  if (!q->taken || !q->constants.way.quick || !hui_quick_ok(&q->constants, u)) return a;
  a.n.inexact =
      1 - hui_count_sum(quick_one(&q->constants, q->constants.round, to, 0, &a.z, 0, u, random, hui_count_none()));
  a.taken = 1;
  return a;
}
THEOREMS(random_quick)

/* The checks of loops and those that other kernels call say the same. */
int checks_agree(ARGUMENTS) {
  question q = question_of(GIVEN);
  if (!q.taken) return 0;
  answer a = nothing(), c = nothing();
  cursor p = cursor_of(&a, &u), r = cursor_of(&c, &u);
  run_quick(&q.constants, HU_RTZ, HU_TO_CODE32, 0, &p, &a.n);
  run_middle(&q.constants, HU_RTZ, 1, HU_TO_CODE32, 0, &r, 1, &c.n);
  return p.i != (hui_quick_ok(&q.constants, u) != 0) || r.i != (hui_middle_ok(&q.constants, u) != 0);
}

/* ---- codes to binary32, and binary64 to binary32 ---- */

/* u is the code. */
static inline int wrong_decoding(uint8_t m, uint8_t e, int16_t b, uint16_t axes, uint32_t u, int plain) {
  hu_format f = format_of(m, e, b, axes);
  hu_lane_constants t;
  uint32_t z = 0;
  if (hu_format_check(f, NULL) != HU_OK) return 0;
  hu_spec s = hui_spec_of(f, mode_of(0, 0, 0));
  if (!s.fits_binary32 || !hui_lane_constants_of(&t, &s)) return 0;
  if (plain) {
    if (t.way.plain != plain || decode_plain(&t, plain, 0, 1, &z, &u, 4) == 0) return 0;
  } else {
    z = decode_slow(&t, u);
  }
  return z == hui_pack32(hui_unpack(&s, u)) ? 0 : WRONG_VALUE;
}

int decode_slowly(ARGUMENTS) {
  (void)policy, (void)round, (void)bits, (void)random;
  return wrong_decoding(m, e, b, axes, u, 0);
}
int decode_plain1(ARGUMENTS) {
  (void)policy, (void)round, (void)bits, (void)random;
  return wrong_decoding(m, e, b, axes, u, 1);
}
int decode_plain2(ARGUMENTS) {
  (void)policy, (void)round, (void)bits, (void)random;
  return wrong_decoding(m, e, b, axes, u, 2);
}

/* A binary64 pattern, its upper half u, its lower half `low`, rounded to odd in binary32 first. */
int odd_first(ARGUMENTS, uint32_t low) {
  hu_format f = format_of(m, e, b, axes);
  hu_mode mode = mode_of(policy, round, bits);
  if (hu_format_check(f, NULL) != HU_OK || !mode_is_valid(mode)) return 0;
  hu_spec s = hui_spec_of(f, mode);
  uint64_t x = (uint64_t)u << 32 | low;
  uint32_t z = 0, own, core, r = bits ? random >> (32 - bits) : 0;
  if (!hui_odd_is_enough(&s) || to_odd(1, &z, &x)) return 0;
  int same = hui_round(&s, hui_unpack32(z), r, &own) == hui_round(&s, hui_unpack64(x), r, &core);
  return (same ? 0 : WRONG_CODE) | (own == core ? 0 : WRONG_EVENTS);
}

#endif
