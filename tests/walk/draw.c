/* SPDX-License-Identifier: MIT */
/* tests/walk/draw.c - cases: types, modes and layouts, by turns and at random, and those that enumerate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/scalar.h"
#include "tests/walk/walk.h"

enum { MANY = 2600, LONG = (1 << 22) + 77, LONG_ON_DEVICE = 200077 };

/* A generator of its own for each case of each call. */
static t_random random_of(const walk_call *call, uint64_t seed, uint64_t k) {
  t_random random = t_random_of(seed);
  uint64_t which = (uint64_t)((call->systems * 64 + call->op) * 16 + call->from * 4 + call->to + 1);
  random.state ^= which * 0xD6E8FEB86659FD93u;
  random.state = t_next64(&random) + k;
  return t_random_of(t_next64(&random));
}

/* ---- types ---- */

/* Formats whose lowest binade lies about the places where the ways of emu/simd/round.h end. */
static hu_format bottom_format(t_random *random) {
  static const char *const texts[] = {"fp(6,3,%d)", "fp(6,10,%d):finite", "fp(5,21,%d):flush"};
  unsigned k = t_below(random, 3);
  char text[40];
  hu_format format;
  snprintf(text, sizeof text, texts[k], (k == 2 ? 113 : 97) - t_between(random, -3, 63));
  if (hu_format_parse(&format, text, NULL) != HU_OK) abort();
  return format;
}

static hu_format drawn_format(t_random *random, int codes) {
  switch (t_below(random, 6)) {
    case 0: return t_random_format(random, 1, 8);
    case 1: return t_random_format(random, 1, 16);
    case 2: return hu_format_at(t_below(random, (uint32_t)hu_format_count())).format;
    case 3: return codes ? hu_format_ieee(8, 23, 0) : bottom_format(random);
    default: return t_random_format(random, 1, 32);
  }
}

/* The catalogue by turns, then others. */
static hu_format format_of(t_random *random, uint64_t k, int codes) {
  return k % 2 ? drawn_format(random, codes) : hu_format_at(k / 2 % hu_format_count()).format;
}

/* Zeros at the ends of a table, of both signs, alone; limits given; ends of widths. */
static const char *const corners[] = {
    "table(0)",          "table(0,1)",
    "table(-1,0)",       "table(0x80000000)",
    "table(-3e38,3e38)", "table(0x80000000,0,2)",
    "posit(2,0)",        "table(-2,0x80000000,0)",
    "posit(3,0)",        "table(1,1,0,0x7fc00000)",
    "posit(25,2)",       "table(-1,1,0.25,0):ties=given",
    "posit(26,1)",       "table(1e-40,2e-40,1e-45)",
    "posit(32,0)",       "posit(32,5)",
    "lns(10,8)",         "lns(10,8):unsigned",
    "lns(3,1)",          "lns(4,0)",
    "takum(8)",          "takum(9)",
    "takum(13)",         "takum(32)",
    "takum_linear(8)",   "takum_linear(11)",
    "takum_linear(28)",  "takum_linear(29)",
    "takum_linear(32)",  "q(0.31):wrap",
    "uq(0.32)",          "uq(32.0):wrap",
    "uq(1.0)",           "q(1.0)",
};
enum { CORNERS = sizeof corners / sizeof *corners };

static hu_number drawn_table(t_random *random, float *table) {
  size_t count = 1 + t_below(random, t_below(random, 2) ? 16 : 256);
  for (size_t i = 0; i < count; i++) {
    table[i] = t_below(random, 4) ? (float)t_between(random, -99, 99) / 16 : t_float(t_next32(random) & 0xBFFFFFFF);
  }
  if (t_below(random, 4) == 0) table[0] = -0.0f;
  return hu_number_table(count, table, t_below(random, 3));
}

static hu_number drawn_number(t_random *random, float *table) {
  for (;;) {
    unsigned w = 2 + t_below(random, t_below(random, 2) ? 8 : 31), kind = t_below(random, 8);
    hu_number z = hu_number_posit(w, t_below(random, 6));
    if (kind < 2)
      z = hu_number_fixed((int)t_below(random, 2), t_below(random, w), t_below(random, w), t_below(random, 2));
    if (kind == 2) z = hu_number_lns(w, t_below(random, w), t_below(random, 3));
    if (kind == 3) z = hu_number_float(t_random_format(random, 2, 32));
    if (kind == 4) z = drawn_table(random, table);
    if (kind == 5) z = t_below(random, 4) ? hu_number_takum(w, (int)t_below(random, 2)) : hu_number_hifloat8();
    if (hu_number_check(z, NULL) == HU_OK) return z;
  }
}

static hu_number number_of(t_random *random, uint64_t k, float *table) {
  uint64_t named = hu_number_count() + CORNERS, i = k / 2 % named;
  hu_number z;
  if (k % 2) return drawn_number(random, table);
  if (i < hu_number_count()) return hu_number_at(i).number;
  if (hu_number_parse(&z, corners[i - hu_number_count()], table, NULL) != HU_OK) abort();
  return z;
}

/* Results, and operands that are codes; values are those of the other end. */
static void draw_types(walk_case *c, t_random *random, uint64_t k) {
  const walk_call *call = &c->call;
  int same = hu_operation_at((size_t)call->op).result == HU_RESULT_SAME, codes = call->from == WALK_CODES,
      alike = same ||
              (call->op == HU_OP_CONVERT ? !walk_is_conversion(call, WALK_CODES, WALK_CODES) : t_below(random, 3) != 0);
  for (int i = WALK_Z; i >= 0; i--) { /* the result first: it has its turn in the catalogue */
    walk_type *type = &c->type[i];
    memset(type, 0, sizeof *type);
    type->carrier = i == WALK_Z ? call->to : call->from;
    if (i != WALK_Z && alike) {
      type->number = c->type[WALK_Z].number;
    } else if (call->systems) {
      type->number = number_of(random, i == WALK_Z ? k : t_next32(random), c->table[i == WALK_Z]);
    } else {
      type->number = hu_number_float(i == WALK_Z ? format_of(random, k, codes) : drawn_format(random, codes));
    }
  }
}

/* ---- modes and layouts ---- */

static void draw_mode(walk_case *c, t_random *random, uint64_t k) {
  c->mode = t_random_mode(random);
  c->mode.round = (uint8_t)((k + k / HU_ROUND_COUNT) % HU_ROUND_COUNT);
  c->mode.bits = 0;
  if (c->mode.round >= HU_SRA) c->mode.bits = (uint8_t)t_between(random, 1, t_below(random, 2) ? 32 : 9);
  if (c->call.op != HU_OP_CONVERT) c->mode.nan_fma = (uint8_t)t_below(random, 2);
  c->stream.key = t_next64(random);
  /* Also across the ends of the counter and of its lower half: block numbers are a quarter. */
  uint64_t place = t_next64(random);
  c->stream.counter = place % 3 == 0 ? place : (place % 3 == 1 ? 0 : (place >> 40) << 34) - (place >> 8) % 1000;
}

int walk_is_slow(const walk_case *c) {
  if (walk_is_function(&c->call)) return 1;
  for (int i = 0; c->call.systems && i < WALK_ENDS; i++) {
    if (!walk_has(&c->call, i)) continue;
    hu_number x = c->type[i].number;
    if ((x.kind == HU_NUMBER_LNS && x.fraction > 3) || x.kind == HU_NUMBER_TAKUM) return 1;
  }
  return 0;
}

static void draw_layout(walk_case *c, t_random *random) {
  static const uint32_t threads[] = {0, 1, 2, 3, 5, 16};
  uint32_t most = walk_is_slow(c) ? 300 : t_below(random, 4) ? 700 : MANY;
  c->n = t_below(random, 4) ? 1 + t_below(random, most) : t_below(random, 20);
  if (c->number % 80 == 79) c->n = 8192 + t_below(random, walk_is_slow(c) ? 1000 : 30000); /* more parts than one */
  c->threads = threads[t_below(random, 6)];
  c->setting = t_below(random, 4) ? 0 : 1 + (int)t_below(random, 6);
  c->counts = t_below(random, 8) != 0;
  for (int i = 0; i < WALK_ENDS; i++) {
    c->inc[i] = t_below(random, 2) ? 1 : i < WALK_Z ? t_between(random, -3, 4) : t_between(random, 1, 4);
    if (i == WALK_Z && t_below(random, 3) == 0) c->inc[i] = -c->inc[i];
    c->skip[i] = t_below(random, 64);
  }
  c->in_place = -1;
  int i = (int)t_below(random, 6);
  if (i < c->call.operands && c->inc[i] != 0 && walk_size(&c->type[i]) == walk_size(&c->type[WALK_Z])) {
    c->in_place = i;
    c->inc[WALK_Z] = c->inc[i];
    c->skip[WALK_Z] = c->skip[i];
  }
}

void walk_draw(walk_case *c, const walk_call *call, uint64_t seed, uint64_t k) {
  t_random random = random_of(call, seed, k);
  memset(c, 0, sizeof *c);
  c->call = *call;
  c->number = k;
  draw_types(c, &random, k);
  draw_mode(c, &random, k);
  draw_layout(c, &random);
}

/* ---- cases that enumerate, or are long ---- */

static void contiguous(walk_case *c, size_t n) {
  c->n = n;
  c->in_place = -1;
  c->counts = 1;
  for (int i = 0; i < WALK_ENDS; i++) {
    c->inc[i] = 1;
    c->skip[i] = (size_t)i;
  }
}

/* All ends of this format, or system; the result of a function now and then of another. */
static void all_of(walk_case *c, hu_number number) {
  for (int i = 0; i < WALK_ENDS; i++) c->type[i].number = number;
}

/* Every code of a format of up to 16 bits, of a small system: which one, by turns. 0 behind the last. */
static int every_code(walk_case *c, uint64_t k, int all) {
  int number = c->call.systems, slow = walk_is_function(&c->call),
      between = walk_is_conversion(&c->call, WALK_CODES, WALK_CODES);
  size_t count = number ? hu_number_count() : hu_format_count(), turns = number && between ? count : 1;
  static const char *const wide[] = {"binary16", "bfloat16"};
  hu_number z;
  if (c->call.operands != 1 || c->call.from != WALK_CODES || k >= (slow ? 2 : turns * count)) return 0;
  if (slow) {
    if (hu_number_find(&z, wide[k]) != HU_OK) abort();
  } else {
    z = number ? hu_number_at(k % count).number : hu_number_float(hu_format_at(k).format);
  }
  uint32_t width = hu_number_limits_of(z).width;
  if (!between) all_of(c, z);
  c->type[0].number = z;
  if (turns > 1) { /* every small system into every other */
    c->type[WALK_Z].number = hu_number_at(k / count).number;
    c->mode = t_mode((unsigned)((k + k / count) % T_DETERMINISTIC));
  }
  /* In a run of `make check` each function has one of the two formats. */
  if (width > 16 || (slow && !all && (k + (uint64_t)c->call.op) % 2)) return -1;
  if (width > 8 && number && (k >= count || (walk_is_slow(c) && !all))) return -1;
  c->operands = WALK_ALL;
  contiguous(c, (size_t)1 << width);
  return 1;
}

/* Elementary functions of binary32, which lanes round on their own, and many powers: some of them the lanes leave. */
static int many_results(walk_case *c, uint64_t k) {
  static const char *const from[] = {"binary32", "binary32", "binary16", "bfloat16"}, *const to[] = {
                                                                                          "binary32", "bfloat16",
                                                                                          "binary32", "bfloat16"};
  hu_format fx, fz;
  if (!walk_is_function(&c->call) || k >= (c->call.op == HU_OP_POW ? 4 : 1)) return 0;
  if (hu_format_find(&fx, from[k]) != HU_OK || hu_format_find(&fz, to[k]) != HU_OK) abort();
  all_of(c, hu_number_float(fx));
  c->type[WALK_Z].number = hu_number_float(fz);
  c->mode = k == 3 ? c->mode : t_mode(k == 1 ? HU_RTZ : HU_RNE);
  contiguous(c, c->call.op == HU_OP_POW ? 60000 : 40000);
  return 1;
}

/* Every pair of codes of the 8-bit formats that most people use. */
static int every_pair(walk_case *c, t_random *random, uint64_t k, int all) {
  static const char *const names[] = {"float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "binary8p3se"};
  hu_format format;
  if (c->call.operands != 2 || c->call.op == HU_OP_POW || k >= 4 * T_DETERMINISTIC) return 0;
  if (hu_format_find(&format, names[k / T_DETERMINISTIC]) != HU_OK) abort();
  if (!all && (k + k / T_DETERMINISTIC + (uint64_t)c->call.op) % 4) return -1;
  all_of(c, hu_number_float(format));
  c->operands = WALK_PAIRS;
  c->mode = t_policy(t_mode((unsigned)(k % T_DETERMINISTIC)), t_below(random, 4), 0, 0);
  contiguous(c, 65536);
  return 1;
}

/* Every value of the catalogue's types and every middle of two; of some codes where there are more than 2^11. Ties to
 * even, and another mode by turns. */
static int every_tie(walk_case *c, uint64_t k, int all) {
  int number = c->call.systems;
  uint64_t i = k / 2, named = number ? hu_number_count() : hu_format_count(),
           turn = i + (uint64_t)(c->call.from + c->call.to);
  if (c->call.from == WALK_CODES || i >= named + (number ? CORNERS : 0)) return 0;
  hu_number z = number ? number_of(NULL, k / 2 * 2, c->table[1]) : hu_number_float(hu_format_at(i).format);
  uint32_t width = hu_number_limits_of(z).width;
  if (!all && width > 8 && !number && (turn + k) % 4) return -1;
  all_of(c, z);
  c->operands = WALK_NEAR;
  c->mode = t_policy(t_mode(k % 2 ? (unsigned)(turn % T_DETERMINISTIC) : HU_RNE), (unsigned)(turn % 4), 0, 0);
  if (k % 2 && turn % 9 == 8) c->mode = t_stochastic(HU_SRA + (unsigned)(turn % 3), 1 + (unsigned)(turn % 32));
  int full = walk_is_slow(c)
                 ? all || (width <= 8 && walk_is_conversion(&c->call, WALK_VALUES32, WALK_CODES) && k % 2 == 0)
                 : width <= 11;
  contiguous(c, (full ? (size_t)1 << width : width <= 8 ? 40 : 150) * WALK_NEAR_EACH);
  return 1;
}

/* Stochastic C, N random bits: a digit beyond the 32 that lanes hold counts where all random bits are set, once in 2^N
 * elements. */
static int far_digit(walk_case *c, uint64_t k) {
  static const char *const names[] = {"float8_e4m3fn", "float8_e5m2", "binary16"};
  hu_format format;
  if (c->call.systems || c->call.from != WALK_VALUES32 || k >= 9) return 0;
  if (hu_format_find(&format, names[k / 3]) != HU_OK) abort();
  all_of(c, hu_number_float(format));
  c->operands = WALK_FAR;
  c->mode = t_stochastic(HU_SRC, (unsigned)(9 + k % 3));
  contiguous(c, 20000);
  return 1;
}

/* Long enough for parts, bypassing stores and several random blocks; on a device, for threads that come round and for
 * counts that pass what a byte holds. */
static int long_array(walk_case *c, uint64_t k) {
  int conversion = c->call.op == HU_OP_CONVERT && !c->call.systems,
      quantize = conversion && walk_is_conversion(&c->call, WALK_VALUES32, WALK_VALUES32);
  hu_format format;
  if (k > (uint64_t)quantize || (!walk_device && !quantize)) return 0;
  if (hu_format_find(&format, "float8_e4m3fn") != HU_OK) abort();
  if (conversion) all_of(c, hu_number_float(format));
  contiguous(c, !walk_device ? LONG : walk_is_slow(c) ? 4000 : conversion ? LONG_ON_DEVICE : 40077);
  c->mode = k ? t_stochastic(HU_SRA, 13) : t_mode(HU_RNE);
  if (k && walk_device) { /* equal elements, with the same events */
    c->mode = t_mode(HU_RNE);
    c->inc[0] = 0;
    c->n = 1300001;
  }
  return 1;
}

int walk_directed(walk_case *c, const walk_call *call, uint64_t seed, uint64_t k, int all) {
  enum { KINDS = 6 };
  t_random random = random_of(call, ~seed, k);
  walk_draw(c, call, ~seed, k / KINDS * HU_ROUND_COUNT + k / KINDS);
  c->number = k;
  c->directed = 1;
  int pairs = call->systems && walk_is_conversion(call, WALK_CODES, WALK_CODES);
  if (k / KINDS >
      (pairs ? hu_number_count() * hu_number_count() : 2 * (hu_format_count() + hu_number_count() + CORNERS)))
    return 0;
  switch (k % KINDS) {
    case 0: return every_code(c, k / KINDS, all) > 0 ? 1 : -1;
    case 1: return every_pair(c, &random, k / KINDS, all) > 0 ? 1 : -1;
    case 2: return far_digit(c, k / KINDS) > 0 ? 1 : -1;
    case 3: return every_tie(c, k / KINDS, all) > 0 ? 1 : -1;
    case 4: return many_results(c, k / KINDS) > 0 ? 1 : -1;
    default: return long_array(c, k / KINDS) > 0 ? 1 : -1;
  }
}
