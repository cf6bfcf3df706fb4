/* SPDX-License-Identifier: MIT */
#include "tests/number/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "halfulp/oracle.h"

static void say(const char *what, hu_number n, hu_mode mode, double x, uint32_t random, const uint32_t *got,
                const uint32_t *expected) {
  char text[HU_NUMBER_TEXT_MAX], m[T_MODE_TEXT], a[T_EVENTS_TEXT], b[T_EVENTS_TEXT];
  (void)hu_number_text(text, sizeof text, n);
  printf("%s %.200s %s x=%a R=%#x: %#x %s; oracle %#x %s\n", what, text, t_mode_text(m, mode), x, random, got[0],
         t_events_text(a, got[1]), expected[0], t_events_text(b, expected[1]));
}

static int compare(const char *what, hu_number n, hu_mode mode, double x, uint32_t random, const uint32_t *got,
                   const uint32_t *expected, hu_status status) {
  if (status == HU_OK && got[0] == expected[0] && got[1] == expected[1]) return 1;
  say(what, n, mode, x, random, got, expected);
  return 0;
}

int same_encode(hu_number n, hu_mode mode, double x, uint32_t random) {
  uint32_t got[2], expected[2] = {0, 0};
  hu_status status = hu_oracle_number_encode64(&expected[0], &expected[1], n, mode, x, random);
  got[0] = hu_number_encode64(n, mode, x, random, &got[1]);
  if (!compare("encode64", n, mode, x, random, got, expected, status)) return 0;
  if (!isnan(x) && (double)(float)x != x) return 1;
  got[0] = hu_number_encode(n, mode, (float)x, random, &got[1]);
  return compare("encode", n, mode, x, random, got, expected, status);
}

int same_convert(hu_number n, hu_mode mode, hu_number from, uint32_t code, uint32_t random) {
  uint32_t got[2], expected[2] = {0, 0};
  hu_status status = hu_oracle_number_convert(&expected[0], &expected[1], n, mode, from, code, random);
  got[0] = hu_number_convert(n, mode, from, code, random, &got[1]);
  if (compare("convert", n, mode, (double)code, random, got, expected, status)) return 1;
  char text[HU_NUMBER_TEXT_MAX];
  (void)hu_number_text(text, sizeof text, from);
  printf("  from code %#x of %.200s\n", code, text);
  return 0;
}

int same_decode(hu_number n, uint32_t code) {
  double expected, got = hu_number_decode64(n, code);
  float want32, got32 = hu_number_decode(n, code);
  hu_status status = hu_oracle_number_decode64(&expected, &want32, n, code);
  if (status == HU_OK && t_same64(got, expected) && t_same32(got32, want32)) return 1;
  char text[HU_NUMBER_TEXT_MAX];
  (void)hu_number_text(text, sizeof text, n);
  printf("decode %.200s code %#x: %a, %a; oracle %a, %a\n", text, code, got, (double)got32, expected, (double)want32);
  return 0;
}

/* ---- systems ---- */

enum { TABLES_MAX = 8 };

hu_number number_of(const char *text) {
  static float buffer[TABLES_MAX][HU_TABLE_MAX];
  static int used = 0;
  hu_number n;
  if (hu_number_parse(&n, text, buffer[used % TABLES_MAX], NULL) != HU_OK) {
    fprintf(stderr, "no number system: %s\n", text);
    abort();
  }
  used += n.table == buffer[used % TABLES_MAX];
  return n;
}

const char *small_system(size_t i) {
  static const char *const names[] = {"posit8",
                                      "posit8_es0",
                                      "posit(6,1)",
                                      "posit(2,0)",
                                      "posit(7,5)",
                                      "lns8",
                                      "lns8_madam",
                                      "lns(6,2):offset",
                                      "lns(8,6)",
                                      "nf4",
                                      "nf4_bnb",
                                      "fp4_bnb",
                                      "q7",
                                      "int4",
                                      "uq(4.4)",
                                      "q(2.3):wrap",
                                      "uq(0.5):wrap",
                                      "table(3,0x7fc00000,-1e-3,2.5,-7,1e10,-0.5,2.5,1e-30)",
                                      "table(-2,-0,0,1):ties=low32",
                                      "table(0,-0.0,5,-1,1,2,4.5,-0.25):ties=given",
                                      "float8_e4m3fn",
                                      "float8_e5m2",
                                      "float8_e8m0fnu",
                                      "float4_e2m1fn"};
  return i < sizeof names / sizeof *names ? names[i] : NULL;
}

static hu_number any_table(t_random *random, float table[HU_TABLE_MAX]) {
  unsigned count = 1 + t_below(random, t_below(random, 4) ? 20 : HU_TABLE_MAX);
  int wide = t_below(random, 3) == 0;
  for (unsigned i = 0; i < count; i++) {
    uint32_t u = t_next32(random);
    if (!wide) u = (u & 0x80FFFFFF) | (uint32_t)t_between(random, 120, 128) << 23;
    if ((u & 0x7F800000) == 0x7F800000 && i == 0) u ^= 0x40000000;
    if ((u & 0x7FFFFFFF) == 0x7F800000) u = 0;
    if (t_below(random, 12) == 0) u &= 0x80000000;
    if (i && t_below(random, 8) == 0) u = t_bits32(table[t_below(random, i)]);
    table[i] = t_float(u);
  }
  if (count <= HU_TABLE_MAX / 2 && t_below(random, 4) == 0) { /* the value itself, or halfway to a larger one */
    for (unsigned i = 0; i < count; i++) {
      float next = INFINITY, v = table[i];
      for (unsigned j = 0; j < count; j++) next = table[j] > v && table[j] < next ? table[j] : next;
      table[count + i] = t_below(random, 2) && next < INFINITY ? v / 2 + next / 2 : v;
    }
    hu_number given = hu_number_table(count, table, HU_TIES_GIVEN);
    if (hu_number_check(given, NULL) == HU_OK) return given;
  }
  return hu_number_table(count, table, t_below(random, 3));
}

hu_number any_number(t_random *random, float table[HU_TABLE_MAX]) {
  for (;;) {
    hu_number n;
    switch (t_below(random, 4)) {
      case 0: n = hu_number_posit((unsigned)t_between(random, 2, 32), t_below(random, 6)); break;
      case 1: n = hu_number_lns((unsigned)t_between(random, 3, 32), t_below(random, 31), t_below(random, 3)); break;
      case 2:
        n = hu_number_fixed((int)t_below(random, 2), t_below(random, 33), t_below(random, 33), t_below(random, 2));
        break;
      default: n = any_table(random, table);
    }
    if (hu_number_check(n, NULL) == HU_OK) return n;
  }
}

hu_mode any_mode(t_random *random) { return t_random_mode(random); }

/* ---- operands ---- */

static double beside(t_random *random, double x) {
  switch (t_below(random, 4)) {
    case 0: return nextafter(x, INFINITY);
    case 1: return nextafter(x, -INFINITY);
    default: return x;
  }
}

double any_operand(t_random *random, hu_number n) {
  uint32_t code = t_next32(random);
  double a = hu_number_decode64(n, code), b = hu_number_decode64(n, code + 1);
  switch (t_below(random, 12)) {
    case 0: {
      static const double special[] = {0.0, -0.0,      INFINITY,   -INFINITY,
                                       NAN, 0x1p-1074, -0x1p-1074, 0x1.fffffffffffffp1023};
      return special[t_below(random, 8)];
    }
    case 1: return t_double(t_next64(random));
    case 2: return (double)t_float(t_next32(random));
    case 3:
    case 4: return beside(random, isnan(a) ? 1 : a);
    case 5:
    case 6: return beside(random, isnan(a + b) ? 0 : a / 2 + b / 2);
    case 7: return isnan(a + b) ? 2 : a + (b - a) * ((double)t_next32(random) * 0x1p-32);
    case 8: return beside(random, ldexp(t_below(random, 2) ? -1 : 1, t_between(random, -140, 140)));
    case 9: return ldexp((double)(t_next64(random) >> 11), t_between(random, -100, 20)) * (t_below(random, 2) ? -1 : 1);
    case 10: return beside(random, isnan(a) ? 1 : a * 1.5);
    default: return (t_below(random, 2) ? -1 : 1) * (double)(t_next32(random) >> t_below(random, 32)) / 2;
  }
}
