/* SPDX-License-Identifier: MIT */
/* Step proof: binary32 to narrow formats, every deterministic mode, codes and events.
 *
 * The argument, for one format and mode:
 *   1. The binary32 line is cut into pieces on which the definitions give one code and one set of events
 *      (steps.h says why).
 *   2. The oracle confirms each piece at its first and at its last input, that is on both sides of every step.
 *      Between them it needs no further calls: its answer is monotone in x, and equal at both ends.
 *   3. hu_encode_n converts ALL inputs of every piece, and every single code must be the piece's. Its event counts
 *      over a piece of n inputs must be n for each event of the set and 0 for the others, which says that each input
 *      has exactly the set.
 *   4. The one-value hu_encode must agree at both ends of each piece, and at points between them.
 *
 * Step 3 is a scan and no sampling: nothing that is known from outside about the kernels would let a stride stand for
 * what lies between. With AVX-512 it costs 0.3 to 5 ns an input, against 350 for the oracle. How deep a run goes:
 *
 *   ends  Without step 3 (builds with sanitizers).
 *   near  Step 3 for zeros, binary32 subnormals, infinities, NaNs and every input within three binades of a change of
 *         the answer in some mode. Of what lies further away, in the long pieces far beyond max, far below the
 *         smallest number or below the range of an unsigned format, one run of 2^14 inputs in 256, at random.
 *         It proves the near inputs, and no more.
 *   turns Step 3 for all 2^32 inputs of the named formats, each run of 2^14 of them in one mode, which is drawn (by a
 *         fixed seed). `make check` does this for one format, and the others by their ends.
 *   full  Step 3 for all 2^32 inputs of the named formats in every mode, the whole proof; the drawn ones near.
 *   core  Step 3 for all inputs of all of them, and the same scan of the one-value core and of hu_quantize_n: hours,
 *         with -Dexhaustive=true. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/array.h"
#include "halfulp/oracle.h"
#include "halfulp/scalar.h"
#include "tests/oracle/shard.h"
#include "tests/oracle/steps.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

enum { CHUNK = 1 << 14, RANDOM_FORMATS = 4 };

typedef enum depth { DEPTH_ENDS, DEPTH_NEAR, DEPTH_TURNS, DEPTH_FULL, DEPTH_CORE } depth;

typedef struct t_proof {
  t_shard part;
  depth how;
  uint64_t seed;
} t_proof;

typedef struct answer {
  uint32_t code, events;
} answer;

typedef struct t_tally {
  uint64_t pairs, whole, turned; /* whole: pairs without an input left out; turned: formats without one left out */
  uint64_t pieces, asked, one_value, scanned, left_out;
} t_tally;

/* ---- Steps 2 and 4: the pieces' answers. */

static void report_difference(const char *who, hu_format format, hu_mode mode, uint32_t u, answer got,
                              answer expected) {
  char a[T_FORMAT_TEXT], b[T_MODE_TEXT], c[T_EVENTS_TEXT], d[T_EVENTS_TEXT];
  fail_msg("%s, %s: %s of %#x (%a) gives %#x %s, the piece has %#x %s", t_format_text(a, format), t_mode_text(b, mode),
           who, u, (double)t_float(u), got.code, t_events_text(c, got.events), expected.code,
           t_events_text(d, expected.events));
}

static answer ask_oracle(hu_format format, hu_mode mode, uint32_t u, t_tally *sum) {
  answer a = {1, 1};
  assert_int_equal(hu_oracle_encode64(&a.code, &a.events, format, mode, (double)t_float(u), 0), HU_OK);
  sum->asked++;
  return a;
}

static void check_one_value(hu_format format, hu_mode mode, uint32_t u, answer expected, t_tally *sum) {
  answer got = {2, 2};
  got.code = hu_encode(format, mode, t_float(u), 0, &got.events);
  if (got.code != expected.code || got.events != expected.events)
    report_difference("hu_encode", format, mode, u, got, expected);
  sum->one_value++;
}

/* Where a code that is not NaN lies along the values; the oracle's codes must not turn back. */
static double rank(hu_format format, uint32_t code) {
  double v;
  assert_int_equal(hu_oracle_decode64(&v, format, code), HU_OK);
  return v;
}

static void settle_pieces(hu_format format, hu_mode mode, const t_steps *steps, uint32_t sign, answer *z,
                          t_random *random, t_tally *sum) {
  double before = 0;
  for (size_t i = 0; i < steps->count; i++) {
    uint32_t first = sign | steps->start[i], last = sign | (steps->start[i + 1] - 1);
    z[i] = ask_oracle(format, mode, first, sum);
    if (last != first) {
      answer end = ask_oracle(format, mode, last, sum);
      if (end.code != z[i].code || end.events != z[i].events)
        report_difference("the oracle at the end", format, mode, last, end, z[i]);
    }
    check_one_value(format, mode, first, z[i], sum);
    check_one_value(format, mode, last, z[i], sum);
    for (int k = 0; k < 2; k++) check_one_value(format, mode, first + t_below(random, last - first + 1), z[i], sum);
    double here = fabs(rank(format, z[i].code));
    if (!isnan(here) &&
        i + 1 < steps->count) { /* magnitudes do not fall along the line; what becomes of NaN is not ordered */
      if (here < before) fail_msg("the oracle turns back at %#x", first);
      before = here;
    }
  }
  sum->pieces += steps->count;
}

/* ---- Step 3: the scan. */

static uint32_t stored(const uint8_t *z, size_t size) {
  return size == 1 ? z[0] : size == 2 ? *(const uint16_t *)(const void *)z : *(const uint32_t *)(const void *)z;
}

/* All n elements equal to code? Each equals the one before it, and the first is right. */
static int all_equal(const uint8_t *z, size_t n, size_t size, uint32_t code) {
  return stored(z, size) == code && memcmp(z, z + size, (n - 1) * size) == 0;
}

static hu_events times(uint32_t set, uint64_t n) {
  hu_events events = {0};
  hu_events one = events;
  hu_events_count(&one, set);
  events.overflow = one.overflow * n;
  events.saturated = one.saturated * n;
  events.underflow = one.underflow * n;
  events.to_zero = one.to_zero * n;
  events.subnormal = one.subnormal * n;
  events.inexact = one.inexact * n;
  events.invalid = one.invalid * n;
  events.nan_in = one.nan_in * n;
  events.inf_in = one.inf_in * n;
  events.divide_by_zero = one.divide_by_zero * n;
  return events;
}

typedef struct scan {
  hu_format f;
  const t_steps *s;
  uint32_t sign;
  answer *answers; /* [mode][piece] */
  size_t size;     /* bytes of a code */
  hu_exec exec;
  int values;        /* hu_quantize_n instead of hu_encode_n */
  int near;          /* leave most of the far inputs out */
  int turns;         /* one mode for each chunk */
  uint32_t *changes; /* see find_changes */
  size_t change_count;
  float x[CHUNK];
  _Alignas(64) uint8_t z[CHUNK * 4];
} scan;

/* The inputs u .. u + n - 1 of one piece, at their place in the chunk. */
static void scan_piece(scan *k, hu_mode mode, answer expected, uint32_t u, size_t offset, size_t n) {
  hu_events got = {0}, counts = times(expected.events, n);
  uint8_t *z = k->z + offset * k->size;
  uint32_t code = k->values ? t_bits32(hu_decode(k->f, expected.code)) : expected.code;
  memset(z, (uint8_t)~code, n * k->size); /* differs from the answer in every element's low byte */
  if (k->values)
    assert_int_equal(hu_quantize_n(n, (float *)(void *)z, 1, k->x + offset, 1, k->f, mode, &k->exec, &got), HU_OK);
  else
    assert_int_equal(hu_encode_n(n, z, 1, k->x + offset, 1, k->f, mode, &k->exec, &got), HU_OK);
  if (!all_equal(z, n, k->size, code) || !t_same_events(&got, &counts)) {
    for (size_t i = 0; i < n; i++) {
      answer a = {0, 0};
      a.code = hu_encode(k->f, mode, k->x[offset + i], 0, &a.events);
      if (a.code != expected.code || a.events != expected.events)
        report_difference("the core", k->f, mode, u + (uint32_t)i, a, expected);
    }
    for (size_t i = 0; i < n; i++) {
      answer a = {stored(z + i * k->size, k->size), expected.events};
      if (a.code != code)
        report_difference(k->values ? "hu_quantize_n" : "hu_encode_n", k->f, mode, u + (uint32_t)i, a, expected);
    }
    report_difference("the event counts from", k->f, mode, u, expected, expected);
  }
}

/* Is the whole chunk 3 binades from every change of an answer, from the subnormals and from infinity? */
static int is_far(const scan *k, uint64_t base) {
  enum { BINADE = 1 << 23 };
  if (base < BINADE || base + BINADE > STEPS_INFINITY) return 0;
  uint64_t low = base > 3 * BINADE ? base - 3 * BINADE : 0, high = base + CHUNK + 3 * BINADE;
  size_t first = 0, last = k->change_count; /* the first change above `low` */
  while (first < last) {
    size_t middle = first + (last - first) / 2;
    if (k->changes[middle] > low)
      last = middle;
    else
      first = middle + 1;
  }
  return first == k->change_count || k->changes[first] >= high;
}

/* The starts of the pieces whose answer differs from the one before in some mode, infinity and NaN left aside. */
static void find_changes(scan *k) {
  k->change_count = 0;
  for (size_t i = 1; i + 2 < k->s->count; i++) {
    int differs = 0;
    for (unsigned round = 0; round < T_DETERMINISTIC; round++) {
      const answer *a = k->answers + round * k->s->count + i;
      differs |= a[0].code != a[-1].code || a[0].events != a[-1].events;
    }
    if (differs) k->changes[k->change_count++] = k->s->start[i];
  }
}

static uint64_t scan_chunk(scan *k, unsigned round, uint64_t base, size_t piece) {
  const answer *answers = k->answers + round * k->s->count;
  uint64_t scanned = 0;
  for (size_t i = piece; i < k->s->count && k->s->start[i] < base + CHUNK; i++) {
    uint64_t from = k->s->start[i] > base ? k->s->start[i] : base;
    uint64_t to = k->s->start[i + 1] < base + CHUNK ? k->s->start[i + 1] : base + CHUNK;
    scan_piece(k, t_mode(round), answers[i], k->sign | (uint32_t)from, (size_t)(from - base), (size_t)(to - from));
    scanned += to - from;
  }
  return scanned;
}

/* Fills one chunk of consecutive inputs after the other and sends it through every mode, piece by piece. */
static void scan_line(scan *k, t_random *random, t_tally *sum) {
  size_t piece = 0;
  for (uint64_t base = 0; base < STEPS_END; base += CHUNK) {
    uint32_t wanted = (1u << T_DETERMINISTIC) - 1;
    if (k->near && is_far(k, base)) {
      unsigned draw = t_below(random, 256); /* one mode, in 8 chunks of 256 */
      wanted = draw < T_DETERMINISTIC ? 1u << draw : 0;
    }
    if (k->turns) wanted = 1u << t_below(random, T_DETERMINISTIC);
    while (k->s->start[piece + 1] <= base) piece++;
    if (wanted)
      for (uint32_t i = 0; i < CHUNK; i++) k->x[i] = t_float(k->sign | ((uint32_t)base + i));
    for (unsigned round = 0; round < T_DETERMINISTIC; round++) {
      if (wanted >> round & 1)
        sum->scanned += scan_chunk(k, round, base, piece);
      else
        sum->left_out += CHUNK;
    }
  }
}

static void prove_line(hu_format format, const t_steps *steps, uint32_t sign, depth how, t_random *random,
                       t_tally *sum) {
  static scan k;
  k.f = format;
  k.s = steps;
  k.sign = sign;
  k.size = hu_limits_of(format).storage / 8;
  k.answers = malloc(T_DETERMINISTIC * steps->count * sizeof *k.answers);
  k.changes = malloc(steps->count * sizeof *k.changes);
  assert_non_null(k.answers);
  assert_non_null(k.changes);
  memset(&k.exec, 0, sizeof k.exec);
  k.values = 0;
  k.near = how == DEPTH_NEAR;
  k.turns = how == DEPTH_TURNS;
  for (unsigned round = 0; round < T_DETERMINISTIC; round++)
    settle_pieces(format, t_mode(round), steps, sign, k.answers + round * steps->count, random, sum);
  find_changes(&k);
  if (how != DEPTH_ENDS) scan_line(&k, random, sum);
  if (how == DEPTH_CORE) {
    k.exec.levels_off = UINT32_MAX;
    scan_line(&k, random, sum);
    k.exec.levels_off = 0;
    if (hu_format_fits_binary32(format)) {
      k.values = 1;
      k.size = 4;
      scan_line(&k, random, sum);
    }
  }
  free(k.answers);
  free(k.changes);
}

static void prove_format(hu_format format, const char *name, const t_proof *proof, int drawn, t_tally *sum) {
  t_random random = {proof->seed + 7};
  depth how = (proof->how == DEPTH_TURNS || proof->how == DEPTH_FULL) && drawn ? DEPTH_NEAR : proof->how;
  t_steps steps = steps_make(format);
  if (steps.count < 5) fail_msg("%s: only %zu pieces", name, steps.count);
  prove_line(format, &steps, 0, how, &random, sum);
  prove_line(format, &steps, UINT32_C(1) << 31, how, &random, sum);
  print_message("%s: %zu pieces for each sign, %u modes%s\n", name, steps.count, T_DETERMINISTIC,
                how >= DEPTH_FULL    ? ", every input"
                : how == DEPTH_TURNS ? ", every input in one of them"
                                     : "");
  sum->pairs += T_DETERMINISTIC;
  sum->whole += how >= DEPTH_FULL ? T_DETERMINISTIC : 0;
  sum->turned += how == DEPTH_TURNS;
  steps_free(&steps);
}

static const char *const named[] = {"float8_e4m3fn", "float8_e5m2",     "float8_e4m3fnuz", "float4_e2m1fn",
                                    "float6_e3m2fn", "float8_e8m0fnu",  "binary8p4se",     "binary16",
                                    "bfloat16",      "fp(6,9,0):finite"};

/* 5 to 16 bits, with several binades that are also binary32's. */
static hu_format draw_format(t_random *random) {
  for (;;) {
    hu_format format = t_random_format(random, 5, 16);
    hu_limits limits = hu_limits_of(format);
    if (format.e >= 2 && limits.max > 0x1p-120 && limits.min < 0x1p100) return format;
  }
}

static void test_steps(void **state) {
  const t_proof *proof = *state;
  t_tally sum = {0, 0, 0, 0, 0, 0, 0, 0};
  t_random random = {proof->seed};
  size_t n = sizeof named / sizeof named[0];
  for (size_t i = 0; i < n + RANDOM_FORMATS; i++) {
    hu_format format;
    char text[T_FORMAT_TEXT];
    const char *name = text;
    if (i < n) {
      name = named[i];
      assert_int_equal(hu_format_parse(&format, name, NULL), HU_OK);
    } else {
      format = draw_format(&random); /* every shard draws all of them */
      (void)t_format_text(text, format);
    }
    if (shard_has(proof->part, i)) prove_format(format, name, proof, i >= n, &sum);
  }
  assert_true(sum.pairs > 0);
  print_message("%llu (format, mode) pairs, %llu pieces, %llu oracle answers, %llu one-value answers\n",
                (unsigned long long)sum.pairs, (unsigned long long)sum.pieces, (unsigned long long)sum.asked,
                (unsigned long long)sum.one_value);
  if (proof->how == DEPTH_ENDS)
    print_message("no scan: nothing is proved between the ends of the pieces\n");
  else
    print_message("%llu inputs scanned, %llu far ones left out\n", (unsigned long long)sum.scanned,
                  (unsigned long long)sum.left_out);
  if (proof->how >= DEPTH_NEAR && proof->how <= DEPTH_FULL) assert_true(sum.scanned + sum.left_out == sum.pairs << 32);
  if (proof->how == DEPTH_FULL) assert_true(sum.scanned >= sum.whole << 32);
  if (proof->how == DEPTH_TURNS) assert_true(sum.scanned >= sum.turned << 32);
}

/* usage: test_steps [I/N] [ends|near|turns|full|core] */
int main(int argc, char **argv) {
  static const char *const names[] = {"ends", "near", "turns", "full", "core"};
  const char *how = argc > 2 ? argv[2] : "near";
  t_proof proof = {shard_parse(argc > 1 ? argv[1] : NULL), DEPTH_ENDS, t_seed("steps", 1)};
  while (proof.how <= DEPTH_CORE && strcmp(how, names[proof.how]) != 0) proof.how++;
  if (proof.how > DEPTH_CORE) {
    fprintf(stderr, "'%s' is none of ends, near, turns, full, core\n", how);
    return 2;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(test_steps, &proof)};
  return cmocka_run_group_tests_name("steps", tests, NULL, NULL);
}
