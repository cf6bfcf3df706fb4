/* SPDX-License-Identifier: MIT */
/* Weight updates in narrow formats: which updates are lost, exactly; stochastic rounding over all its random numbers;
 * what Kahan summation keeps; updates worked out; bytes per parameter. */
#include <math.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"
#include "halfulp/train/optimizer.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

static const hu_mode rne;
static const hu_stream none;

/* w - u by one step of SGD: the state in binary32, the weights in `format`. */
static void update(size_t n, float *w, float *c, const float *u, hu_format format, hu_update_counts *counts) {
  hu_optimizer optimizer = hu_optimizer_sgd(hu_binary32());
  hu_optimizer_time now = {1, 1, 1};
  hu_optimizer_arrays x = {w, u, NULL, NULL, c};
  optimizer.weight = format;
  optimizer.momentum = 0;
  optimizer.rate = 1;
  if (c) {
    optimizer.state = format;
    optimizer.update = HU_UPDATE_KAHAN;
  }
  assert_int_equal(hu_optimizer_step(n, &x, &optimizer, &now, none, counts), HU_OK);
}

/* ---- lost updates ---- */

/* w in [2^E, 2^(E+1)) with m trailing digits: an update is lost iff it is below h = 2^(E-m-1), or h and w is even; for
 * w = 2^E and towards zero the limit is h / 2. All significands, binades of all kinds, both signs and directions. */
static void lost_updates(void **state) {
  (void)state;
  enum { CASES = 9 };
  static const double parts[CASES] = {0.25, 0.5 - 0x1p-9, 0.5, 0.5 + 0x1p-9, 0.75, 1 - 0x1p-9, 1, 1 + 0x1p-9, 1.5};
  hu_format formats[2] = {hu_binary16(), hu_bfloat16()};
  static float w[4 * CASES], before[4 * CASES], u[4 * CASES];
  unsigned lost = 0, kept = 0, rule = 0;
  for (int k = 0; k < 2; k++) {
    int m = formats[k].m;
    for (int e = -3; e <= 9; e += 4) {
      for (unsigned t = 0; t < 1u << m; t++) {
        double magnitude = ldexp(1 + ldexp(t, -m), e), h = ldexp(1, e - m - 1);
        for (int i = 0; i < 4 * CASES; i++) {
          w[i] = before[i] = (float)(i & 1 ? -magnitude : magnitude);
          u[i] = (float)(i & 2 ? h * parts[i / 4] : -h * parts[i / 4]);
        }
        update(4 * CASES, w, NULL, u, formats[k], NULL);
        for (int i = 0; i < 4 * CASES; i++) {
          int inwards = (w[i] > 0) == (u[i] > 0);
          double limit = t == 0 && inwards ? 0.5 : 1, part = parts[i / 4];
          int expected = part < limit || (part == limit && t % 2 == 0);
          if ((w[i] == before[i]) != expected) fail_msg("%a - %a is %a", (double)before[i], (double)u[i], (double)w[i]);
          lost += (unsigned)expected;
          kept += !expected;
          /* The rule of thumb, |w / u| >= 2^(m + 1), is neither necessary nor sufficient; 2^(m + 2) is sufficient. */
          double ratio = magnitude / (h * part);
          rule += !expected && ratio >= ldexp(1, m + 1);
          if (ratio >= ldexp(1, m + 2)) assert_true(expected);
        }
      }
    }
  }
  print_message("%u lost, %u not, %u of these in spite of the rule\n", lost, kept, rule);
  assert_true(lost > 0 && kept > 0 && rule > 0);
}

/* The update itself is nothing in binary16 up to 2^-25. */
static void small_updates(void **state) {
  (void)state;
  assert_int_equal(hu_encode64(hu_binary16(), rne, 0x1p-25, 0, NULL), 0);
  assert_int_equal(hu_encode64(hu_binary16(), rne, nextafter(0x1p-25, 1), 0, NULL), 1);
  float w = 0, u = 0x1p-13f;
  hu_optimizer optimizer = hu_optimizer_sgd(hu_binary16());
  hu_optimizer_time now = {1, 1, 1};
  hu_optimizer_arrays x = {&w, &u, NULL, NULL, NULL};
  hu_update_counts counts = {0, 0};
  optimizer.momentum = 0;
  optimizer.rate = 0x1p-12;
  assert_int_equal(hu_optimizer_step(1, &x, &optimizer, &now, none, &counts), HU_OK);
  assert_true(w == 0 && counts.moved == 0);
  optimizer.rate = 0x1.004p-12;
  assert_int_equal(hu_optimizer_step(1, &x, &optimizer, &now, none, &counts), HU_OK);
  assert_true(w == -0x1p-24f && counts.moved == 1);
}

/* ---- stochastic rounding ---- */

static double stochastic(float x, uint32_t r) {
  return (double)hu_quantize(hu_bfloat16(), t_stochastic(HU_SRA, 16), x, r, NULL);
}

static void worked_roundings(void **state) {
  (void)state;
  static const struct {
    float x;
    double down, up;
    uint32_t from;
    double even;
  } rows[] = {{0x1.001p+0f, 0x1p+0, 0x1.02p+0, 63488, 0x1p+0},
              {-0x1.814p+0f, -0x1.8p+0, -0x1.82p+0, 24576, -0x1.82p+0},
              {0x1.555556p-2f, 0x1.54p-2, 0x1.56p-2, 21845, 0x1.56p-2},
              {0x1.1p-140f, 0, 0x1p-133, 64992, 0},
              {0x1.fe4p-1f, 0x1.fep-1, 0x1p+0, 57344, 0x1.fep-1}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (uint32_t r = 0; r < 65536; r++) {
      assert_true(stochastic(rows[i].x, r) == (r >= rows[i].from ? rows[i].up : rows[i].down));
    }
    assert_true((double)hu_quantize(hu_bfloat16(), rne, rows[i].x, 0, NULL) == rows[i].even);
  }
}

/* Any binary32 number: adding r to its bits and cutting them is the rounding; the sum over all r is 65536 x exactly;
 * the result grows with r; the sign does not matter; a number of the format stays. */
static void all_random_numbers(void **state) {
  (void)state;
  t_random random = {t_seed("recipes weights", 1)};
  for (int k = 0; k < 60; k++) {
    uint32_t bits = t_next32(&random);
    if (k % 4 == 1) bits &= 0x807FFFFF; /* subnormal */
    if (k % 4 == 2) bits &= 0xFFFF0000; /* a number of the format */
    if ((bits >> 23 & 0xFF) >= 0xF0) bits ^= 0x40000000;
    float x = t_float(bits);
    double sum = 0, last = 0;
    for (uint32_t r = 0; r < 65536; r++) {
      double z = stochastic(x, r);
      assert_int_equal(t_bits32((float)z), (bits + r) & 0xFFFF0000);
      assert_true(stochastic(-x, r) == -z);
      assert_true(r == 0 || fabs(z) >= last);
      if (k % 4 == 2) assert_true(z == (double)x);
      last = fabs(z);
      sum += z;
    }
    assert_true(sum == 65536 * (double)x);
  }
}

/* ---- Kahan summation ---- */

/* Where |w| >= |y|: w' - c' = w + y, exactly, y = Q(-u - c); so nothing is lost but what y loses. Over 3000 steps that
 * is at most 3000 2^-8 max |y|. */
static void kahan_keeps(void **state) {
  (void)state;
  enum { N = 400, T = 3000 };
  static float w[N], c[N], u[N], before[N], kept[N];
  static double exact[N], most[N];
  t_random random = {t_seed("recipes weights", 2)};
  size_t checked = 0, rounded = 0;
  for (int i = 0; i < N; i++) {
    w[i] = hu_quantize(hu_bfloat16(), rne, (float)(1 + t_below(&random, 1000)) * 0.25f, 0, NULL);
    if (i & 1) w[i] = -w[i];
    exact[i] = (double)w[i];
  }
  for (int t = 0; t < T; t++) {
    for (int i = 0; i < N; i++) {
      u[i] = ((float)t_below(&random, 1u << 16) - 32768) * 0x1p-22f * (w[i] < 0 ? -w[i] : w[i]);
      u[i] = hu_quantize(hu_bfloat16(), rne, u[i], 0, NULL);
      before[i] = w[i];
      kept[i] = c[i];
    }
    update(N, w, c, u, hu_bfloat16(), NULL);
    for (int i = 0; i < N; i++) {
      double sum = -(double)u[i] - (double)kept[i], y = hu_quantize64(hu_bfloat16(), rne, sum, 0, NULL);
      exact[i] -= (double)u[i];
      most[i] = fmax(most[i], fabs(y));
      if (fabs(y) > fabs((double)before[i])) continue;
      assert_true((double)w[i] - (double)c[i] == (double)before[i] + y);
      rounded += y != sum;
      checked++;
    }
  }
  print_message("%zu steps, %zu with a rounded y\n", checked, rounded);
  assert_true(checked > N * (size_t)T * 9 / 10 && rounded > 0);
  for (int i = 0; i < N; i++) assert_true(fabs((double)w[i] - (double)c[i] - exact[i]) <= T * 0x1p-8 * most[i]);
}

/* ---- updates worked out ---- */

/* With binary32 weights a step shows its update: w - w' is exact here. */
static void worked_updates(void **state) {
  (void)state;
  static const uint32_t gradients[5] = {0x3E9A, 0xBDCD, 0x3E80, 0x3E4D, 0x3E1A};
  static const uint32_t expected[2][5] = {{0x3B45, 0x3ADF, 0x3B84, 0x3BB8, 0x3BD7},
                                          {0x3A85, 0x39DC, 0x3A2D, 0x3A43, 0x3A4A}};
  for (int adam = 0; adam < 2; adam++) {
    hu_optimizer optimizer = adam ? hu_optimizer_adamw(hu_bfloat16()) : hu_optimizer_sgd(hu_bfloat16());
    hu_optimizer_time now = {0, 1, 1};
    float w, m = 0, v = 0, g;
    hu_optimizer_arrays x = {&w, &g, &m, adam ? &v : NULL, NULL};
    optimizer.weight = hu_binary32();
    optimizer.rate = adam ? 1e-3 : 0.01;
    optimizer.decay = adam ? 0.01 : 0;
    optimizer.beta2 = 0.997;
    for (int t = 0; t < 5; t++) {
      w = 1.5f;
      g = t_float(gradients[t] << 16);
      hu_optimizer_tick(&now, &optimizer);
      assert_int_equal(hu_optimizer_step(1, &x, &optimizer, &now, none, NULL), HU_OK);
      assert_int_equal(t_bits32(1.5f - w), expected[adam][t] << 16);
    }
  }
}

/* ---- memory ---- */

/* Weights and optimizer state: stochastic, Kahan, binary32; a master copy has a bfloat16 copy beside it. Tensors with
 * Kahan terms among others: 1 + their share, from 1 to 2, of the weights' memory. */
static void bytes(void **state) {
  (void)state;
  static const size_t expected[2][4] = {{4, 6, 8, 10}, {6, 8, 12, 14}};
  for (int adam = 0; adam < 2; adam++) {
    hu_optimizer optimizer = adam ? hu_optimizer_adamw(hu_bfloat16()) : hu_optimizer_sgd(hu_bfloat16());
    optimizer.beta2 = 0.997;
    optimizer.mode = t_stochastic(HU_SRA, 16);
    assert_int_equal(hu_optimizer_bytes(&optimizer), expected[adam][0]);
    optimizer.mode = rne;
    optimizer.update = HU_UPDATE_KAHAN;
    assert_int_equal(hu_optimizer_bytes(&optimizer), expected[adam][1]);
    optimizer = adam ? hu_optimizer_adamw(hu_binary32()) : hu_optimizer_sgd(hu_binary32());
    assert_int_equal(hu_optimizer_bytes(&optimizer), expected[adam][2]);
    assert_int_equal(hu_optimizer_bytes(&optimizer) + hu_limits_of(hu_bfloat16()).storage / 8, expected[adam][3]);
  }
  hu_optimizer plain = hu_optimizer_sgd(hu_bfloat16()), kahan;
  plain.momentum = 0;
  kahan = plain;
  kahan.update = HU_UPDATE_KAHAN;
  size_t sizes[3] = {100, 300, 600}, all = 1000;
  for (unsigned set = 0; set < 8; set++) {
    size_t memory = 0, with = 0;
    for (unsigned i = 0; i < 3; i++) {
      memory += sizes[i] * hu_optimizer_bytes(set >> i & 1 ? &kahan : &plain);
      if (set >> i & 1) with += sizes[i];
    }
    assert_int_equal(memory * all, (all + with) * all * hu_optimizer_bytes(&plain));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(lost_updates),
                                     cmocka_unit_test(small_updates),
                                     cmocka_unit_test(worked_roundings),
                                     cmocka_unit_test(all_random_numbers),
                                     cmocka_unit_test(kahan_keeps),
                                     cmocka_unit_test(worked_updates),
                                     cmocka_unit_test(bytes)};
  return cmocka_run_group_tests_name("recipes: weights", tests, NULL, NULL);
}
