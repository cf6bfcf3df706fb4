/* SPDX-License-Identifier: MIT */
/* The operations of halfulp/p3109.h against the draft's text (reference.h): every code of small formats, every mode,
 * saturation and rule set.
 *
 * usage: test_p3109 [WIDTH]     operations of one operand up to so many bits (5), of two up to WIDTH - 1, three - 2 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/p3109/drawn.h"
#include "tests/support/cmocka.h"

static int width = 5;

static const char *name_of(t_parameters parameters) {
  static char text[4][40];
  static unsigned at;
  char *z = text[at++ % 4];
  snprintf(z, sizeof text[0], "binary%dp%d%c%c", parameters.k, parameters.p, parameters.is_signed ? 's' : 'u',
           parameters.extended ? 'e' : 'f');
  return z;
}

/* ---- projection ---- */

/* Points that lie 2^-1 to 2^-5 steps apart, from far below the smallest value to far beyond the largest. */
static unsigned long project_all(t_parameters parameters) {
  unsigned long n = 0;
  hu_format half = format_of(parameters);
  hu_p3109_projection rho;
  real x, step;
  real_init(&x);
  real_init(&step);
  for (uint32_t code = 0; code < (uint32_t)1 << parameters.k; code++)
    for (int part = -16; part <= 24; part += part == 8 ? 8 : 1) {
      /* part sixteenths of a step of this binade beside the value */
      decode(&x, parameters, code);
      if (x.kind == REAL) {
        uint32_t lowest = code & ~(((uint32_t)1 << (parameters.p - 1)) - 1), next = lowest + 1;
        real other;
        real_init(&other);
        decode(&other, parameters, lowest);
        decode(&step, parameters, next);
        if (other.kind == REAL && step.kind == REAL) {
          mpfr_sub(step.r, step.r, other.r, MPFR_RNDN);
          mpfr_mul_si(step.r, step.r, part, MPFR_RNDN);
          mpfr_div_2ui(step.r, step.r, 4, MPFR_RNDN);
          mpfr_add(x.r, x.r, step.r, MPFR_RNDN);
        }
        real_clear(&other);
      }
      double value = x.kind == REAL ? mpfr_get_d(x.r, MPFR_RNDN) : 0;
      if (x.kind == REAL && mpfr_cmp_d(x.r, value) != 0) continue;
      if (x.kind == PLUS_INFINITY || x.kind == MINUS_INFINITY) value = x.kind == PLUS_INFINITY ? INFINITY : -INFINITY;
      if (x.kind == NOT_A_NUMBER) value = NAN;
      for (int i = 0; projection_at(&rho, i); i++)
        for (uint32_t random = 0; random < (rho.mode.bits ? 8u : 1u); random++) {
          uint32_t expected = project(parameters, rho, &x, random), got = hu_p3109_project(half, rho, value, random);
          if (expected != got)
            fail_msg("%s: %a, projection %d, R %u: %x, the draft has %x", name_of(parameters), value, i, random, got,
                     expected);
          n++;
        }
    }
  real_clear(&x);
  real_clear(&step);
  return n;
}

static void projection(void **state) {
  (void)state;
  unsigned long n = 0;
  t_parameters parameters;
  for (int k = 3; k < width; k++)
    for (int i = 0; format_at(&parameters, k, i); i++) n += project_all(parameters);
  print_message("%lu projections\n", n);
  assert_true(n > 100000);
}

/* ---- operations ---- */

/* One case under `several` projections into fz. */
static void compare(int op, t_operands *x, t_parameters fz, t_random *numbers, int several) {
  hu_p3109_operation operation = hu_p3109_at(op);
  hu_format format[HU_P3109_OPERANDS_MAX], z = format_of(fz);
  hu_p3109_projection rho;
  uint32_t expected, got;
  for (int i = 0; i < operation.operands; i++) {
    format[i] = format_of(x->f[i]);
    decode(&x->x[i], x->f[i], x->code[i]);
  }
  for (int i = 0; several ? projection_at(&rho, i) : i < 1; i++) {
    if (!several) rho = random_projection(numbers);
    if (operation.gives == HU_P3109_NUMBER && i % (ROUNDS * 3) == 0) operate_by(&x->result, op, rho.rules, x->x);
    uint32_t random = t_next32(numbers);
    got = hu_p3109_compute(op, z, rho, format, x->code, random);
    if (operation.gives == HU_P3109_NUMBER) {
      expected = project(fz, rho, &x->result, random);
    } else if (operation.gives == HU_P3109_NEIGHBOUR) {
      expected = neighbour(x->f[0], x->code[0], op == HU_P3109_NEXT_GREATER_THAN);
    } else {
      expected = predicate(op, x->f, x->code);
    }
    if (expected != got)
      fail_msg("%s(%x %x %x %x) of %s, %s, ... into %s, round %u saturate %u rules %u R %x: %x, the draft has %x",
               operation.name, x->code[0], x->code[1], x->code[2], x->code[3], name_of(x->f[0]), name_of(x->f[1]),
               name_of(fz), rho.mode.round, rho.mode.saturate, rho.rules, random, got, expected);
    if (operation.gives != HU_P3109_NUMBER) break;
  }
}

/* Every code of every format of k bits as the first operand and as the second, ...; the others of drawn formats. */
static unsigned long operate_all(int op, int most, t_random *random) {
  t_operands *x = operands_new();
  hu_p3109_operation operation = hu_p3109_at(op);
  unsigned long n = 0;
  t_parameters parameters;
  for (int k = 3; k <= most; k++)
    for (int i = 0; format_at(&parameters, k, i); i++) {
      uint32_t cases = (uint32_t)1 << k * (operation.operands > 3 ? 3 : operation.operands);
      for (int j = 0; j < HU_P3109_OPERANDS_MAX; j++) x->f[j] = parameters;
      if (op >= HU_P3109_SCALED_ADD && op <= HU_P3109_SCALED_MULTIPLY) x->f[1] = x->f[3] = (t_parameters){8, 1, 0, 0};
      for (uint32_t c = 0; c < cases; c++) {
        for (int j = 0; j < HU_P3109_OPERANDS_MAX; j++) x->code[j] = c >> k * (j % 3) & (((uint32_t)1 << k) - 1);
        if (x->f[1].k == 8) {
          x->code[1] = (uint32_t)t_below(random, 256);
          x->code[3] = (uint32_t)t_below(random, 256);
        }
        compare(op, x, operation.operands == 1 ? parameters : random_format(random, 8), random,
                operation.operands == 1);
        n++;
      }
    }
  operands_free(x);
  return n;
}

static void of_one_operand(void **state) {
  (void)state;
  t_random random = {t_seed("p3109", 5)};
  for (int op = 0; op < HU_P3109_COUNT; op++)
    if (hu_p3109_at(op).operands == 1) print_message("%s %lu\n", hu_p3109_at(op).name, operate_all(op, width, &random));
}

static void of_more_operands(void **state) {
  (void)state;
  t_random random = {t_seed("p3109 pairs", 6)};
  for (int op = 0; op < HU_P3109_COUNT; op++) {
    int many = hu_p3109_at(op).operands;
    if (many > 1)
      print_message("%s %lu\n", hu_p3109_at(op).name, operate_all(op, many == 2 ? width - 1 : width - 2, &random));
  }
}

/* Formats of up to 8 bits, and of 12 and 16, drawn for each operand and the result. */
static void of_mixed_formats(void **state) {
  (void)state;
  t_random random = {t_seed("p3109 mixed", 7)};
  t_operands *x = operands_new();
  for (unsigned n = 0; n < t_runs(6000); n++) {
    int op = (int)t_below(&random, HU_P3109_COUNT);
    for (int j = 0; j < HU_P3109_OPERANDS_MAX; j++) {
      do x->f[j] = random_format(&random, t_below(&random, 4) ? 8 : 16);
      while (hu_limits_of(format_of(x->f[j])).emax > 200);
      x->code[j] = (uint32_t)t_below(&random, (uint32_t)1 << x->f[j].k);
    }
    if (hu_p3109_at(op).gives == HU_P3109_NEIGHBOUR && x->f[0].k > 8) continue;
    compare(op, x, random_format(&random, 16), &random, 0);
  }
  operands_free(x);
}

/* ---- all digits ---- */

/* A binary32 number between 2^-low and 2^high, of either sign, as the operations of a transcendental op take it. */
static float operand_for(int op, t_random *random) {
  int within = op == HU_P3109_ARC_SIN || op == HU_P3109_ARC_COS || op == HU_P3109_ARC_SIN_PI ||
               op == HU_P3109_ARC_COS_PI || op == HU_P3109_ARC_TANH;
  int far = t_below(random, 3) == 0, low = far ? 120 : 12,
      high = within                                ? 0
             : far && op != HU_P3109_EXP_MINUS_ONE ? 7
                                                   : 4;
  double x = ldexp(0.5 + ldexp(t_next32(random) >> 8, -25), t_between(random, -low, high));
  if (op == HU_P3109_ARC_COSH) x = 1 + fabs(x);
  if (op == HU_P3109_LOG || op == HU_P3109_LOG2 || op == HU_P3109_LOG_ONE_PLUS) x = fabs(x);
  return (float)(t_below(random, 2) && op != HU_P3109_LOG && op != HU_P3109_LOG2 && op != HU_P3109_ARC_COSH ? -x : x);
}

/* Results in binary32 toward zero, and the 32 digits behind them: with R = 2^32 less these a stochastic rounding goes
 * away from zero, with one less it does not. */
static void all_digits(void **state) {
  (void)state;
  t_random numbers = {t_seed("p3109 digits", 9)};
  t_operands *x = operands_new();
  const hu_format single = hu_format_ieee(8, 23, 0), format[2] = {single, single};
  hu_p3109_projection zero = {{.round = HU_RTZ}, 0}, random = {{.round = HU_SRA, .bits = 32}, 0};
  mpfr_t rest;
  mpfr_init2(rest, REFERENCE_BITS);
  unsigned long n = 0;
  for (unsigned i = 0; i < t_runs(12000); i++) {
    int op = HU_P3109_HYPOT + (int)t_below(&numbers, HU_P3109_ARC_TANH - HU_P3109_HYPOT + 1);
    uint32_t code[2];
    if (hu_p3109_at(op).operands > 2) continue;
    for (int j = 0; j < hu_p3109_at(op).operands; j++) {
      float value = operand_for(op, &numbers);
      code[j] = t_bits32(value);
      x->x[j].kind = REAL;
      mpfr_set_flt(x->x[j].r, value, MPFR_RNDN);
    }
    operate(&x->result, op, x->x);
    if (x->result.kind != REAL || mpfr_zero_p(x->result.r)) continue;
    float expected = mpfr_get_flt(x->result.r, MPFR_RNDZ);
    if (fabsf(expected) < 0x1p-120f || !(fabsf(expected) < 0x1p120f)) continue;
    uint32_t got = hu_p3109_compute(op, single, zero, format, code, 0);
    if (got != t_bits32(expected))
      fail_msg("%s(%08x, %08x) toward zero: %08x, MPFR has %08x", hu_p3109_at(op).name, code[0], code[1], got,
               t_bits32(expected));
    mpfr_sub_d(rest, x->result.r, (double)expected, MPFR_RNDN);
    mpfr_abs(rest, rest, MPFR_RNDN);
    mpfr_mul_2si(rest, rest, 32 + 24 - (long)mpfr_get_exp(x->result.r), MPFR_RNDN);
    uint64_t digits = mpfr_get_ui(rest, MPFR_RNDD);
    if (digits == 0) continue;
    uint32_t away = hu_p3109_compute(op, single, random, format, code, (uint32_t)(((uint64_t)1 << 32) - digits)),
             stay = hu_p3109_compute(op, single, random, format, code, (uint32_t)(((uint64_t)1 << 32) - digits - 1));
    if (away != got + 1 || stay != got)
      fail_msg("%s(%08x, %08x): other digits than %08x behind %08x", hu_p3109_at(op).name, code[0], code[1],
               (unsigned)digits, got);
    n++;
  }
  print_message("%lu results, 56 digits each\n", n);
  assert_true(t_part(100) < 100 || n > 1500);
  mpfr_clear(rest);
  operands_free(x);
}

/* IEEE 754's formats have a -0; what goes to zero in an operation of the draft is +0. */
static void zeros(void **state) {
  (void)state;
  const hu_format half = hu_format_ieee(5, 10, 0);
  hu_p3109_projection rho = {{.round = HU_RNE}, 0};
  uint32_t minus = 0x8000, tiny[2] = {0x8001, 0x0001};
  assert_int_equal(hu_p3109_project(half, rho, -1e-30, 0), 0);
  assert_int_equal(hu_p3109_project(half, rho, -0.0, 0), 0);
  assert_int_equal(hu_p3109_compute(HU_P3109_CONVERT, half, rho, &half, &minus, 0), 0);
  assert_int_equal(hu_p3109_compute(HU_P3109_MULTIPLY, half, rho, (hu_format[2]){half, half}, tiny, 0), 0);
  assert_int_equal(hu_p3109_compute(HU_P3109_NEXT_GREATER_THAN, half, rho, &half, &minus, 0), 1);
  assert_int_equal(hu_p3109_compute(HU_P3109_NEXT_GREATER_THAN, half, rho, &half, tiny, 0), 0);
}

/* ---- misuse, and the list ---- */

static void wrong_arguments(void **state) {
  (void)state;
  const t_parameters good = {8, 4, 1, 1};
  hu_format format = format_of(good), wide = hu_format_ieee(8, 23, 0), bad = format,
            sixteen = hu_format_p3109(16, 16, 0, 0);
  hu_p3109_projection rho, wrong;
  uint32_t code = 0, x[2] = {1, 1}, z = 77;
  uint8_t codes[2] = {1, 2}, out[2] = {9, 9};
  hu_p3109_block in[2] = {{format, format, 1, codes}, {format, format, 1, codes}};
  const hu_stream stream = {0, 0};
  bad.e = 40;
  (void)projection_at(&rho, 0);
  wrong = rho;
  wrong.rules = HU_P3109_V4_0 + 1;
  assert_int_equal(hu_p3109_projection_check(wrong), HU_E_MODE);
  assert_int_equal(hu_p3109_compute(-1, format, rho, &format, x, 0), 0);
  assert_int_equal(hu_p3109_compute(HU_P3109_COUNT, format, rho, &format, x, 0), 0);
  assert_int_equal(hu_p3109_compute(HU_P3109_ABS, format, wrong, &format, x, 0), 0);
  assert_int_equal(hu_p3109_compute(HU_P3109_ABS, bad, rho, &format, x, 0), 0);
  assert_int_equal(hu_p3109_compute(HU_P3109_ABS, format, rho, &bad, x, 0), 0);
  assert_int_equal(hu_p3109_compute(HU_P3109_ABS, format, rho, NULL, x, 0), 0);
  assert_int_equal(hu_p3109_block_compute(HU_P3109_CLASS, 2, out, format, 1, format, rho, in, stream), HU_E_SHAPE);
  assert_int_equal(hu_p3109_block_compute(HU_P3109_ABS, 0, out, format, 1, format, rho, in, stream), HU_E_SHAPE);
  assert_int_equal(hu_p3109_block_compute(HU_P3109_ABS, 2, NULL, format, 1, format, rho, in, stream), HU_E_NULL);
  assert_int_equal(hu_p3109_block_compute(HU_P3109_ABS, 2, out, sixteen, 1, format, rho, in, stream), HU_E_FORMAT);
  assert_int_equal(hu_p3109_block_compute(HU_P3109_ABS, 2, out, format, 1, wide, rho, in, stream), HU_E_FORMAT);
  assert_int_equal(hu_p3109_block_compute(HU_P3109_ABS, 2, out, format, 1, format, wrong, in, stream), HU_E_MODE);
  hu_p3109_scale scale = {format, wrong, 0};
  assert_int_equal(hu_p3109_to_block_max(2, out, NULL, format, rho, codes, format, stream), HU_E_NULL);
  assert_int_equal(hu_p3109_to_block_max(2, out, &scale, format, rho, codes, format, stream), HU_E_MODE);
  assert_int_equal(hu_p3109_block_multiply(HU_P3109_BLOCK_MAX + 1, &z, format, rho, in, 0), HU_E_SHAPE);
  const hu_format far = hu_format_p3109(16, 5, 1, 1); /* 11 exponent bits: exponents of a scale and it pass 1000 */
  const hu_p3109_block wide_range[2] = {{far, far, 1, codes}, {far, far, 1, codes}};
  assert_int_equal(hu_p3109_block_compute(HU_P3109_EXP, 1, out, format, 1, format, rho, wide_range, stream),
                   HU_E_FORMAT);
  assert_int_equal(hu_p3109_block_compute(HU_P3109_EXP, 2, out, far, 1, far, rho, in, stream), HU_E_FORMAT);
  in[1].x = NULL;
  assert_int_equal(hu_p3109_block_dot(2, &z, format, rho, in, 0), HU_E_NULL);
  assert_true(out[0] == 9 && out[1] == 9 && z == 77 && code == 0);
}

static void list(void **state) {
  (void)state;
  for (int op = 0; op < HU_P3109_COUNT; op++) {
    hu_p3109_operation operation = hu_p3109_at(op);
    assert_non_null(operation.name);
    assert_in_range(operation.operands, 1, HU_P3109_OPERANDS_MAX);
    assert_int_equal(hu_p3109_find(operation.name), op);
  }
  assert_null(hu_p3109_at(HU_P3109_COUNT).name);
  assert_null(hu_p3109_at(-1).name);
  assert_int_equal(hu_p3109_find("Divides"), -1);
  assert_int_equal(hu_p3109_find(NULL), -1);
}

int main(int argc, char **argv) {
  if (t_runs(4) < 4) width = 4; /* a sanitizer takes ten times as long */
  if (argc > 1) width = atoi(argv[1]);
  const struct CMUnitTest tests[] = {cmocka_unit_test(list),
                                     cmocka_unit_test(wrong_arguments),
                                     cmocka_unit_test(projection),
                                     cmocka_unit_test(of_one_operand),
                                     cmocka_unit_test(of_more_operands),
                                     cmocka_unit_test(of_mixed_formats),
                                     cmocka_unit_test(all_digits),
                                     cmocka_unit_test(zeros)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
