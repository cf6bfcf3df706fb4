/* SPDX-License-Identifier: MIT */
/* The operations of halfulp/p3109.h against the draft's text (reference.h): every code of small formats, every mode,
 * saturation and rule set.
 *
 * usage: test_p3109 [WIDTH]     operations of one operand up to so many bits (5), of two up to WIDTH - 1, three - 2 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/p3109/reference.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

static int width = 5;

/* ---- formats and projections ---- */

/* Format i of those with k bits; 0: there are no more. */
static int format_at(t_parameters *parameters, int k, int i) {
  for (int p = 1; p <= k; p++)
    for (int rest = 0; rest < 4; rest++) {
      t_parameters other = {k, p, rest & 1, rest >> 1};
      hu_format half = format_of(other);
      if ((other.is_signed && p == k) || hu_format_check(half, NULL) != HU_OK) continue;
      if (i-- == 0) {
        *parameters = other;
        return 1;
      }
    }
  return 0;
}

static t_parameters random_format(t_random *random, int most) {
  t_parameters parameters;
  do {
    int k = 3 + (int)t_below(random, (uint32_t)most - 2);
    parameters =
        (t_parameters){k, 1 + (int)t_below(random, (uint32_t)k), (int)t_below(random, 2), (int)t_below(random, 2)};
  } while ((parameters.is_signed && parameters.p == parameters.k) ||
           hu_format_check(format_of(parameters), NULL) != HU_OK);
  return parameters;
}

enum { ROUNDS = 9, RULES = HU_P3109_V4_0 + 1 };

/* Projection i of all; 0: there are no more. Stochastic ones have 3 bits. */
static int projection_at(hu_p3109_projection *rho, int i) {
  static const uint8_t round[ROUNDS] = {HU_RNE, HU_RNA, HU_RTZ, HU_RTP, HU_RTN, HU_RTO, HU_SRA, HU_SRB, HU_SRC},
                       saturate[3] = {HU_SAT_NONE, HU_SAT_FINITE, HU_SAT_PROPAGATE};
  memset(rho, 0, sizeof *rho);
  rho->mode.round = round[i % ROUNDS];
  rho->mode.bits = rho->mode.round >= HU_SRA ? 3 : 0;
  rho->mode.saturate = saturate[i / ROUNDS % 3];
  rho->rules = (uint8_t)(i / ROUNDS / 3);
  return i < ROUNDS * 3 * RULES;
}

static hu_p3109_projection random_projection(t_random *random) {
  hu_p3109_projection rho;
  (void)projection_at(&rho, (int)t_below(random, ROUNDS * 3 * RULES));
  return rho;
}

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

typedef struct t_operands {
  t_parameters f[HU_P3109_OPERANDS_MAX];
  uint32_t code[HU_P3109_OPERANDS_MAX];
  real x[HU_P3109_OPERANDS_MAX], result;
} t_operands;

static t_operands *operands_new(void) {
  t_operands *z = calloc(1, sizeof *z);
  assert_non_null(z);
  for (int i = 0; i < HU_P3109_OPERANDS_MAX; i++) real_init(&z->x[i]);
  real_init(&z->result);
  return z;
}

static void operands_free(t_operands *z) {
  for (int i = 0; i < HU_P3109_OPERANDS_MAX; i++) real_clear(&z->x[i]);
  real_clear(&z->result);
  free(z);
}

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

/* ---- blocks ---- */

enum { COUNT = 7 };

typedef struct block {
  t_parameters fs, f;
  uint32_t scale;
  uint8_t x[COUNT];
} block;

static block random_block(t_random *random) {
  block b = {random_format(random, 8), random_format(random, 8), 0, {0}};
  b.scale = (uint32_t)t_below(random, (uint32_t)1 << b.fs.k);
  for (int i = 0; i < COUNT; i++) b.x[i] = (uint8_t)t_below(random, (uint32_t)1 << b.f.k);
  return b;
}

static hu_p3109_block block_of(const block *b) {
  hu_p3109_block z = {format_of(b->fs), format_of(b->f), b->scale, b->x};
  return z;
}

static void element(real *z, const block *b, int i) {
  real x[2];
  for (int j = 0; j < 2; j++) real_init(&x[j]);
  decode(&x[0], b->fs, b->scale);
  decode(&x[1], b->f, b->x[i]);
  operate(z, HU_P3109_MULTIPLY, x);
  for (int j = 0; j < 2; j++) real_clear(&x[j]);
}

static void expect(const char *what, uint32_t got, uint32_t expected, int i) {
  if (got != expected) fail_msg("%s, element %d: %x, the draft has %x", what, i, got, expected);
}

/* Drawn blocks, what they are projected by, and room for the reference. */
typedef struct block_case {
  block b[3];
  hu_p3109_block in[3];
  t_parameters fs, fz;
  uint32_t scale;
  hu_p3109_projection rho, rho_s;
  hu_stream stream;
  t_operands *x;
  real s, t; /* the scale, and what is rounded */
} block_case;

static void draw_case(block_case *c, t_random *random) {
  for (int i = 0; i < 3; i++) {
    c->b[i] = random_block(random);
    c->in[i] = block_of(&c->b[i]);
  }
  c->fs = random_format(random, 8);
  c->fz = random_format(random, 8);
  c->scale = (uint32_t)t_below(random, (uint32_t)1 << c->fs.k);
  c->rho = random_projection(random);
  c->rho_s = random_projection(random);
  c->stream = (hu_stream){t_next64(random), t_below(random, 1000)};
  decode(&c->s, c->fs, c->scale);
}

/* got[i] is the projection of c->t. */
static void expect_rounded(const block_case *c, const char *what, const uint8_t *got, int i) {
  expect(what, got[i], project(c->fz, c->rho, &c->t, hu_stream_word(c->stream, (uint64_t)i)), i);
}

/* An elementwise operation; every fourth one writes over its first operand. */
static void elementwise(block_case *c, t_random *random) {
  uint8_t buffer[COUNT], *got = t_below(random, 4) ? buffer : c->b[0].x;
  block first = c->b[0];
  int op;
  do op = (int)t_below(random, HU_P3109_COUNT);
  while (!hu_p3109_at(op).block);
  assert_int_equal(
      hu_p3109_block_compute(op, COUNT, got, format_of(c->fs), c->scale, format_of(c->fz), c->rho, c->in, c->stream),
      HU_OK);
  for (int i = 0; i < COUNT; i++) {
    for (int j = 0; j < 3; j++) element(&c->x->x[j], j ? &c->b[j] : &first, i);
    operate_by(&c->x->result, op, c->rho.rules, c->x->x);
    quotient_by_scale(&c->t, &c->x->result, &c->s);
    expect_rounded(c, hu_p3109_at(op).name, got, i);
  }
  c->b[0] = first;
}

static void conversions(block_case *c) {
  const block *b = &c->b[0];
  hu_format z = format_of(c->fz), zs = format_of(c->fs), format = c->in[0].format;
  uint8_t got[COUNT];
  assert_int_equal(hu_p3109_from_block(COUNT, got, z, c->rho, &c->in[0], c->stream), HU_OK);
  for (int i = 0; i < COUNT; i++) {
    element(&c->t, b, i);
    expect_rounded(c, "ConvertFromBlock", got, i);
  }
  assert_int_equal(hu_p3109_to_block(COUNT, got, zs, c->scale, z, c->rho, b->x, format, c->stream), HU_OK);
  for (int i = 0; i < COUNT; i++) {
    decode(&c->x->x[0], b->f, b->x[i]);
    quotient_by_scale(&c->t, &c->x->x[0], &c->s);
    expect_rounded(c, "ConvertToBlock", got, i);
  }
}

static void conversion_by_largest(block_case *c) {
  const block *b = &c->b[0];
  real *x = c->x->x;
  uint8_t got[COUNT];
  hu_p3109_scale scale = {format_of(c->fs), c->rho_s, 0};
  assert_int_equal(
      hu_p3109_to_block_max(COUNT, got, &scale, format_of(c->fz), c->rho, b->x, c->in[0].format, c->stream), HU_OK);
  x[0].kind = NOT_A_NUMBER;
  for (int i = 0; i < COUNT; i++) {
    decode(&c->t, b->f, b->x[i]);
    operate(&x[1], HU_P3109_ABS, &c->t);
    operate(&c->t, HU_P3109_MAXIMUM_FINITE, x);
    real_set(&x[0], &c->t);
  }
  expect("ConvertToBlockMaxAbsFinite, scale", scale.code,
         project(c->fs, c->rho_s, &x[0], hu_stream_word(c->stream, COUNT)), 0);
  decode(&x[1], c->fs, scale.code);
  for (int i = 0; i < COUNT; i++) {
    decode(&x[0], b->f, b->x[i]);
    quotient_by_scale(&c->t, &x[0], &x[1]);
    expect_rounded(c, "ConvertToBlockMaxAbsFinite", got, i);
  }
}

enum { SUM, PRODUCT, DOT };

/* The result of the elements, one after another from 0 or 1, in c->t. */
static void reduce(block_case *c, int what) {
  real *x = c->x->x, *total = &c->x->result;
  total->kind = REAL;
  mpfr_set_ui(total->r, what == PRODUCT, MPFR_RNDN);
  for (int i = 0; i < COUNT; i++) {
    for (int j = 0; j < 2; j++) element(&x[j], &c->b[j], i);
    if (what == DOT) {
      operate(&c->t, HU_P3109_MULTIPLY, x);
      real_set(&x[0], &c->t);
    }
    real_set(&x[1], total);
    operate(&c->t, what == PRODUCT ? HU_P3109_MULTIPLY : HU_P3109_ADD, x);
    real_set(total, &c->t);
  }
}

static void reductions(block_case *c, t_random *numbers) {
  static const char *const names[] = {"BlockReduceAdd", "BlockReduceMultiply", "BlockDotProduct"};
  hu_status (*const calls[])(size_t, uint32_t *, hu_format, hu_p3109_projection, const hu_p3109_block *, uint32_t) = {
      hu_p3109_block_add, hu_p3109_block_multiply, hu_p3109_block_dot};
  for (int what = SUM; what <= DOT; what++) {
    uint32_t code, random = t_next32(numbers);
    reduce(c, what);
    assert_int_equal(calls[what](COUNT, &code, format_of(c->fz), c->rho, c->in, random), HU_OK);
    expect(names[what], code, project(c->fz, c->rho, &c->t, random), 0);
  }
}

static void blocks(void **state) {
  (void)state;
  t_random random = {t_seed("p3109 blocks", 8)};
  block_case c;
  c.x = operands_new();
  real_init(&c.s);
  real_init(&c.t);
  for (unsigned n = 0; n < t_runs(3000); n++) {
    draw_case(&c, &random);
    elementwise(&c, &random);
    conversions(&c);
    conversion_by_largest(&c);
    reductions(&c, &random);
  }
  real_clear(&c.s);
  real_clear(&c.t);
  operands_free(c.x);
}

/* Over an infinite scale an element is the product of both signs; the elements that are chosen a scale for, too. */
static void infinite_scales(void **state) {
  (void)state;
  const hu_format format = hu_format_p3109(8, 4, 1, 1);
  const hu_stream stream = {0, 0};
  const uint8_t x[] = {0x00, 0x01, 0xc4, 0x7e, 0x7f, 0xff, 0x80},
                of_plus[] = {0x00, 0x40, 0xc0, 0x40, 0x40, 0xc0, 0x80},
                of_minus[] = {0x00, 0xc0, 0x40, 0xc0, 0xc0, 0x40, 0x80}, infinite[] = {0x7f, 0x80, 0xff},
                of_chosen[] = {0x40, 0x80, 0xc0}, zeros_and_nan[] = {0x00, 0x80, 0x00};
  for (uint8_t rules = HU_P3109_D1; rules <= HU_P3109_V4_0; rules++) {
    const hu_p3109_projection rho = {{.round = HU_RNE}, rules};
    const hu_p3109_block in = {format, format, 0x40, x};
    hu_p3109_scale scale = {format, rho, 0};
    uint8_t z[sizeof x];
    assert_int_equal(hu_p3109_to_block(sizeof x, z, format, 0x7f, format, rho, x, format, stream), HU_OK);
    assert_memory_equal(z, of_plus, sizeof z);
    assert_int_equal(hu_p3109_block_compute(HU_P3109_CONVERT, sizeof x, z, format, 0xff, format, rho, &in, stream),
                     HU_OK);
    assert_memory_equal(z, of_minus, sizeof z);
    assert_int_equal(hu_p3109_to_block_max(3, z, &scale, format, rho, infinite, format, stream), HU_OK);
    assert_int_equal(scale.code, 0x7f);
    assert_memory_equal(z, of_chosen, sizeof of_chosen);
    assert_int_equal(hu_p3109_to_block_max(3, z, &scale, format, rho, zeros_and_nan, format, stream), HU_OK);
    assert_int_equal(scale.code, 0);
    assert_memory_equal(z, zeros_and_nan, sizeof zeros_and_nan);
  }
}

/* cosh of 2^-117 is 1 and less than 2^-64 more: what follows the 64 digits of a result must survive the division. */
static void little_more_than_one(void **state) {
  (void)state;
  const hu_format power = hu_format_p3109(8, 1, 0, 0), format = hu_format_p3109(8, 4, 1, 1);
  hu_p3109_projection up = {{.round = HU_RTP}, 0};
  const hu_stream stream = {0, 0};
  uint8_t one = (uint8_t)hu_p3109_project(format, up, 1, 0), z = 0;
  hu_p3109_block in = {power, format, hu_p3109_project(power, up, 0x1p-117, 0), &one};
  uint32_t scale = hu_p3109_project(power, up, 1, 0);
  assert_int_equal(hu_p3109_block_compute(HU_P3109_COSH, 1, &z, power, scale, format, up, &in, stream), HU_OK);
  assert_int_equal(z, one + 1);
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
                                     cmocka_unit_test(zeros),
                                     cmocka_unit_test(blocks),
                                     cmocka_unit_test(infinite_scales),
                                     cmocka_unit_test(little_more_than_one)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
