/* SPDX-License-Identifier: MIT */
/* The operations of halfulp/p3109.h on blocks against the draft's text (reference.h): drawn blocks in drawn formats. */
#include "tests/p3109/drawn.h"
#include "tests/support/cmocka.h"

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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(blocks), cmocka_unit_test(infinite_scales),
                                     cmocka_unit_test(little_more_than_one)};
  return cmocka_run_group_tests_name("p3109 blocks", tests, NULL, NULL);
}
