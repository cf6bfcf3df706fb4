/* SPDX-License-Identifier: MIT */
/* The exact results themselves, by their contract, with GMP: where sticky is not set the result is the sum, product,
 * quotient or root; where it is, sig has 64 digits and the result lies strictly between sig and sig + 1 in its last
 * place. Operands have up to as many digits as each helper takes, which is more than codes have. */
#include "tests/support/cmocka.h"

#include <gmp.h>

#include "emu/core/arith.h"
#include "tests/support/random.h"

enum { BASE = 400 }; /* all exponents here are above -BASE */

static void set_u64(mpz_t z, uint64_t x) {
  mpz_set_ui(z, (unsigned long)(x >> 32));
  mpz_mul_2exp(z, z, 32);
  mpz_add_ui(z, z, (unsigned long)(x & 0xFFFFFFFF));
}

/* x 2^BASE, with its sign. */
static void scaled(mpz_t z, hu_num x) {
  set_u64(z, x.kind == HU_KIND_ZERO ? 0 : x.sig);
  mpz_mul_2exp(z, z, (unsigned long)(x.exp + BASE));
  if (x.sign) mpz_neg(z, z);
}

static hu_num draw(t_random *random, unsigned digits, int reach) {
  uint64_t sig = t_next64(random) >> (64 - 1 - t_below(random, digits));
  if (t_below(random, 3) == 0) sig &= ~(uint64_t)0 << t_below(random, digits); /* zeros behind */
  if (t_below(random, 3) == 0) sig |= sig >> 1 | sig >> 2 | sig >> 3;
  return hui_num_finite(t_below(random, 2), sig | !sig, t_between(random, -reach, reach));
}

typedef struct bounds {
  mpz_t below, above, exact;
} bounds;

/* Is z what stands in b->exact, at the scale of `scaled`? */
static void check_contract(hu_num z, bounds *b, const char *what) {
  scaled(b->below, z);
  mpz_abs(b->below, b->below);
  int low = mpz_cmp(b->below, b->exact);
  if (!z.sticky) {
    if (low != 0) fail_msg("%s: not exact without sticky", what);
    return;
  }
  assert_true(z.sig >> 63);
  set_u64(b->above, z.sig);
  mpz_add_ui(b->above, b->above, 1);
  mpz_mul_2exp(b->above, b->above, (unsigned long)(z.exp + BASE));
  if (low >= 0 || mpz_cmp(b->exact, b->above) >= 0) fail_msg("%s: sticky, and not between its neighbours", what);
}

static void start(bounds *b) { mpz_inits(b->below, b->above, b->exact, NULL); }
static void stop(bounds *b) { mpz_clears(b->below, b->above, b->exact, NULL); }

static void test_sums(void **state) {
  (void)state;
  t_random random = {41};
  bounds b;
  mpz_t x, y;
  unsigned lost = 0, cancelled = 0;
  start(&b);
  mpz_inits(x, y, NULL);
  for (int k = 0; k < 400000; k++) {
    uint32_t raised = 0;
    hu_num p = draw(&random, 64, k % 2 ? 100 : 6), q = draw(&random, 64, k % 2 ? 100 : 6);
    if (k % 7 == 0) { /* nearly or just the same magnitude */
      q = p;
      q.sign ^= 1;
      q.sig ^= t_below(&random, 3);
      if (q.sig == 0) q.sig = 1;
    }
    hu_num z = hui_exact_add(p, q, (uint32_t)k & 1, &raised);
    scaled(x, p);
    scaled(y, q);
    mpz_add(b.exact, x, y);
    assert_int_equal(z.sign, mpz_sgn(b.exact) == 0 ? k & 1 : mpz_sgn(b.exact) < 0);
    assert_int_equal(z.kind, mpz_sgn(b.exact) ? HU_KIND_FINITE : HU_KIND_ZERO);
    assert_int_equal(raised, 0);
    mpz_abs(b.exact, b.exact);
    if (z.kind == HU_KIND_FINITE) check_contract(z, &b, "sum");
    lost += z.sticky;
    cancelled += z.kind == HU_KIND_ZERO;
  }
  assert_true(lost > 50000 && cancelled > 10000);
  mpz_clears(x, y, NULL);
  stop(&b);
}

static void test_products(void **state) {
  (void)state;
  t_random random = {42};
  bounds b;
  mpz_t x, y;
  unsigned lost = 0;
  start(&b);
  mpz_inits(x, y, NULL);
  for (int k = 0; k < 400000; k++) {
    uint32_t raised = 0;
    unsigned digits = k % 3 ? 64 : 31;
    hu_num p = draw(&random, digits, 60), q = draw(&random, digits, 60), z = hui_exact_mul(p, q, &raised);
    set_u64(x, p.sig);
    set_u64(y, q.sig);
    mpz_mul(b.exact, x, y);
    mpz_mul_2exp(b.exact, b.exact, (unsigned long)(p.exp + q.exp + BASE));
    assert_int_equal(z.sign, p.sign ^ q.sign);
    if (digits == 31) assert_false(z.sticky);
    check_contract(z, &b, "product");
    lost += z.sticky;
  }
  assert_true(lost > 50000);
  mpz_clears(x, y, NULL);
  stop(&b);
}

/* z q against p, where z should be p / q: at the scale 2^-BASE both, times q's digits. */
static void test_quotients(void **state) {
  (void)state;
  t_random random = {43};
  bounds b;
  unsigned lost = 0;
  start(&b);
  for (int k = 0; k < 400000; k++) {
    uint32_t raised = 0;
    hu_num p = draw(&random, 64, 60), q = draw(&random, 32, 60), z = hui_exact_div(p, q, &raised);
    /* below = sig q, above = (sig + 1) q, exact = p, all at one scale */
    mpz_t factor;
    mpz_init(factor);
    set_u64(factor, q.sig);
    set_u64(b.exact, p.sig);
    mpz_mul_2exp(b.exact, b.exact, (unsigned long)(p.exp + BASE));
    set_u64(b.below, z.sig);
    mpz_add_ui(b.above, b.below, 1);
    mpz_mul(b.below, b.below, factor);
    mpz_mul(b.above, b.above, factor);
    mpz_mul_2exp(b.below, b.below, (unsigned long)(z.exp + q.exp + BASE));
    mpz_mul_2exp(b.above, b.above, (unsigned long)(z.exp + q.exp + BASE));
    int low = mpz_cmp(b.below, b.exact);
    assert_true(z.sticky ? low < 0 && mpz_cmp(b.exact, b.above) < 0 && z.sig >> 63 : low == 0);
    assert_int_equal(z.sign, p.sign ^ q.sign);
    lost += z.sticky;
    mpz_clear(factor);
  }
  assert_true(lost > 50000);
  stop(&b);
}

static void test_roots(void **state) {
  (void)state;
  t_random random = {44};
  bounds b;
  unsigned lost = 0;
  start(&b);
  for (int k = 0; k < 200000; k++) {
    uint32_t raised = 0;
    hu_num p = draw(&random, 63, 60);
    if (k % 3 == 0) { /* a square */
      uint64_t s = t_next64(&random) >> (33 + t_below(&random, 31));
      p = hui_num_finite(0, s * s + !s, t_between(&random, -60, 60));
    }
    p.sign = 0;
    hu_num z = hui_exact_sqrt(p, &raised);
    /* squares at the scale 2^-BASE */
    set_u64(b.exact, p.sig);
    mpz_mul_2exp(b.exact, b.exact, (unsigned long)(p.exp + BASE));
    set_u64(b.below, z.sig);
    mpz_add_ui(b.above, b.below, 1);
    mpz_mul(b.below, b.below, b.below);
    mpz_mul(b.above, b.above, b.above);
    mpz_mul_2exp(b.below, b.below, (unsigned long)(2 * z.exp + BASE));
    mpz_mul_2exp(b.above, b.above, (unsigned long)(2 * z.exp + BASE));
    int low = mpz_cmp(b.below, b.exact);
    assert_true(z.sticky ? low < 0 && mpz_cmp(b.exact, b.above) < 0 && z.sig >> 63 : low == 0);
    lost += z.sticky;
  }
  assert_true(lost > 50000 && lost < 199000);
  stop(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums), cmocka_unit_test(test_products),
                                     cmocka_unit_test(test_quotients), cmocka_unit_test(test_roots)};
  return cmocka_run_group_tests_name("exact results", tests, NULL, NULL);
}
