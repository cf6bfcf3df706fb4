/* SPDX-License-Identifier: MIT */
/* The local search: questions near those that tell a model from one neighbour tell it from another, where few drawn
 * ones do; and a step changes the row, a little, and nothing that the shape holds fixed. */
#include "cli/identify/distinguish.h"
#include "cli/question/vary.h"
#include "halfulp/formats/fnuz.h"
#include "halfulp/formats/ieee.h"
#include "tests/support/cmocka.h"

enum { K = 32, SEEDS = 20, NEAR = 4096 };

static const char *const own = "block(late,l=16,f=24,f2=31,lanes=2,far=25)";

static id_shape shape(void) {
  id_shape shape = {.n = K};
  shape.a = hu_type_codes(hu_float8_e5m2fnuz());
  shape.b = hu_type_codes(hu_float8_e4m3fnuz());
  shape.result = hu_type_codes(hu_binary32());
  return shape;
}

static hu_accum model(const char *text) {
  hu_accum x;
  assert_int_equal(hu_accum_parse(&x, text, NULL), HU_OK);
  return x;
}

/* Row 0 of what tells the model from `other`, as the only row. */
static void telling(id_vectors *pool, const id_shape *shape, const hu_accum *x, const char *other, uint64_t seed) {
  hu_accum y = model(other);
  id_random random = {seed};
  assert_int_equal(id_distinguish(pool, shape, x, &y, 100000, &random, NULL), 1);
  pool->count = 1;
}

static void test_near_questions_tell(void **state) {
  (void)state;
  id_shape s = shape();
  hu_accum x = model(own), y = model("block(late,l=16,f=24,f2=30,lanes=2,far=25)");
  int near = 0, drawn = 0;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    id_vectors pool, vectors;
    id_random random = {seed}, q = {seed};
    telling(&pool, &s, &x, "block(late,l=16,f=24,f2=29,lanes=2,far=25)", seed);
    int found = id_distinguish_near(&vectors, &pool, &x, &y, NEAR, &random);
    if (found == 1) { /* it does what it says */
      assert_int_equal(id_compute(&x, &vectors, 0, 1, vectors.column[ID_D]), HU_OK);
      assert_int_equal(id_first_difference(&y, &vectors, 0, 1), 0);
    }
    near += found;
    id_vectors_free(&vectors);
    drawn += id_distinguish(&vectors, &s, &x, &y, NEAR / ID_DRAW_KINDS, &q, NULL);
    id_vectors_free(&vectors);
    id_vectors_free(&pool);
  }
  print_message("told apart in %d of %d searches, by as many drawn questions in %d\n", near, SEEDS, drawn);
  assert_true(near > SEEDS / 2);
}

static size_t changed(const id_vectors *vectors, size_t i, size_t j, int column) {
  size_t n = 0;
  for (size_t k = 0; k < id_column_length(vectors->shape, column); k++)
    n += id_get(vectors, column, i, k) != id_get(vectors, column, j, k);
  return n;
}

static void test_a_step_is_small(void **state) {
  (void)state;
  for (int fixed = 0; fixed < 2; fixed++) {
    id_shape s = shape();
    s.sums = s.without_c = fixed;
    id_vectors vectors;
    id_random random = {7};
    int moved = 0;
    id_vectors_start(&vectors, &s);
    assert_int_equal(id_vectors_grow(&vectors, 2), 0);
    id_draw(&vectors, 0, 1, ID_DRAW_MANY, &random);
    for (int i = 0; i < 1000; i++) {
      id_vectors_copy(&vectors, 1, &vectors, 0);
      id_vary(&vectors, 1, &random);
      size_t a = changed(&vectors, 0, 1, ID_A), b = changed(&vectors, 0, 1, ID_B), c = changed(&vectors, 0, 1, ID_C);
      assert_true(a <= 6 && b <= 6 && c <= 1);
      if (fixed) assert_true(b == 0 && c == 0);
      moved += a + b + c > 0;
    }
    assert_true(moved > 900);
    id_vectors_free(&vectors);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_near_questions_tell),
                                     cmocka_unit_test(test_a_step_is_small)};
  return cmocka_run_group_tests_name("near", tests, NULL, NULL);
}
