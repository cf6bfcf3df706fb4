/* SPDX-License-Identifier: MIT */
/* What a search does with its answers: the digits that it reads off them, and how it goes on where an answer refutes
 * all that is left. */
#include "cli/identify/identify.h"
#include "halfulp/formats/ieee.h"
#include "tests/support/cmocka.h"

enum { K = 8, QUESTIONS = 400 };

static hu_accum model(const char *text) {
  hu_accum x;
  assert_int_equal(hu_accum_parse(&x, text, NULL), HU_OK);
  return x;
}

/* A box that computes `accum` for binary16 operands and binary32 results. */
static void open_box(id_box *box, id_model *own, const hu_accum *accum) {
  id_shape shape = {.n = K};
  shape.a = shape.b = hu_type_codes(hu_binary16());
  shape.result = hu_type_codes(hu_binary32());
  id_model m = {*accum, NULL};
  id_box b = {.shape = shape, .answer = id_model_answer, .context = own};
  *own = m;
  *box = b;
  own->shape = &box->shape;
}

/* Only what answers say about a sum without C: digits of the row that has none. */
static void test_digits_are_of_the_row(void **state) {
  (void)state;
  hu_accum fp32 = model("fp32");
  id_box box;
  id_model own;
  id_search search;
  open_box(&box, &own, &fp32);
  id_search_start(&search, &box, 1, NULL);
  static const uint64_t answer[3] = {0x3FA00000, 0x3F812345, 0x3FC00000}; /* 1.25, 23 digits, 1.5 */
  size_t at = id_vectors_grow(&search.asked, 3);
  assert_int_equal(at, 0);
  for (size_t i = 0; i < 3; i++) {
    for (size_t k = 0; k < K; k++) {
      id_put(&search.asked, ID_A, i, k, 0);
      id_put(&search.asked, ID_B, i, k, 0);
    }
    id_put(&search.asked, ID_C, i, 0, i == 1 ? 0x3F800000 : 0x80000000); /* -0 is no C either */
    id_put(&search.asked, ID_D, i, 0, answer[i]);
  }
  assert_int_equal(id_digits_seen(&search, 1), 2);
  assert_int_equal(id_digits_seen(&search, 0), 23);
  search.asked.count = 1;
  assert_int_equal(id_digits_seen(&search, 0), 2);
  id_search_free(&search);
}

/* A set whose only model is refuted becomes what lies near that model and gives all answers; one that has others too
 * keeps those. */
static void test_what_is_refuted_goes(void **state) {
  (void)state;
  hu_accum right = model("block(align,l=4,f=24,emin=-126)"), wrong = model("block(align,l=4,f=25,emin=-126)");
  for (int others = 0; others < 2; others++) {
    id_box box;
    id_model own;
    id_search search;
    hu_accum nearest;
    open_box(&box, &own, &right);
    id_search_start(&search, &box, 1, NULL);
    assert_int_equal(id_ask_drawn(&search, QUESTIONS, ID_DRAW_MANY), 0);
    assert_true(id_agrees(&search, &right));
    assert_false(id_agrees(&search, &wrong));
    assert_true(id_set_add(&search.set, &wrong));
    if (others) assert_true(id_set_add(&search.set, &right));
    assert_int_equal(id_mend(&search, &wrong, &nearest), 0);
    assert_true(search.set.count > 0);
    for (size_t i = 0; i < search.set.count; i++) assert_true(id_agrees(&search, &search.set.x[i]));
    id_search_free(&search);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_digits_are_of_the_row),
                                     cmocka_unit_test(test_what_is_refuted_goes)};
  return cmocka_run_group_tests_name("mend", tests, NULL, NULL);
}
