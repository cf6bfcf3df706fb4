/* SPDX-License-Identifier: MIT */
/* The axes of the search: a value that is set is the one that is read, for every axis of every kind of block; and what
 * the report calls a model. */
#include <string.h>

#include "cli/identify/space.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "tests/support/cmocka.h"

static const char *const models[] = {
    "block(align,l=4,f=23,emin=-126,cut=rne,acc=binary32,out=binary32)",
    "block(align,l=16,f=25,emin=-133,cut=floor,order=mod4,acc=binary32,out=fp(8,13,0),round=rtz)",
    "block(groups,l=64,f=35,emin=-200,g=16,every=16,scale=ue4m3)",
    "block(late,l=16,f=24,f2=31,lanes=2,far=25)",
    "block(tree,l=4,daz=sign,ftz=after,out=binary32)",
    "block(chain,l=8,order=down,as=bfloat16,out=binary32)",
    "seq(binary32)",
    "promote(16,seq(binary16),binary32)",
    "block(exact,l=8,c=last,out=fp(8,23,0):flush)",
    "block(exact,l=4,out=bfloat16,via=binary32)",
    "block(tree,l=8,g=2,products=exact)",
    "block(align,l=4,f=20,emin=2,in=2,nan=kept,to=fixed,wide=9,past=limit)",
    "block(align,l=4,f=20,emin=-60,wide=3,daz=plus,ftz=before)",
    "block(chain,l=4,c=last,last=rto)",
};

static void set_and_read(void **state) {
  (void)state;
  static int values[ID_VALUES_MOST];
  unsigned seen[ID_AXES] = {0};
  id_shape shape = {.n = 32, .every = 16};
  shape.a = shape.b = hu_type_codes(hu_float8_e4m3fn());
  shape.result = hu_type_codes(hu_binary32());
  shape.scale = hu_float8_e4m3fn();
  id_space space = id_space_of(&shape);
  for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
    hu_accum x;
    assert_int_equal(hu_accum_parse(&x, models[m], NULL), HU_OK);
    for (int axis = 0; axis < ID_AXES; axis++) {
      size_t count = id_axis_values(&space, axis, &x, values);
      for (size_t v = 0; count > 1 && v < count; v++) {
        hu_accum y = x;
        id_axis_set(&space, axis, &y, values[v]);
        if (id_axis_get(&space, axis, &y) != values[v])
          fail_msg("%s: axis %s set to %d reads %d", models[m], id_axis_key(axis), values[v],
                   id_axis_get(&space, axis, &y));
        seen[axis]++;
      }
    }
  }
  unsigned tried = 0;
  for (int axis = 0; axis < ID_AXES; axis++) tried += seen[axis] > 0;
  print_message("%u of %d axes\n", tried, ID_AXES);
  assert_true(tried >= ID_AXES - 4 && seen[ID_AXIS_CUT] > 1);
}

/* The simplest text of a model is one of the same sums: C that is added last has a rounding of its own, which neither
 * `exact` nor seq has. */
static void simplest(void **state) {
  (void)state;
  static const char *const pairs[][2] = {
      {"block(exact,l=8)", "exact"},
      {"block(exact,l=1)", "seq(binary32)"},
      {"block(exact,l=8,c=last)", "block(exact,l=8,c=last)"},
      {"block(exact,l=1,c=last)", "block(exact,l=1,c=last)"},
      {"block(exact,l=8,out=fp(8,23,0):flush)", "block(exact,l=8,out=fp(8,23,0):flush)"},
      {"block(exact,l=4)", "block(exact,l=4)"}};
  id_shape shape = {.n = 8};
  shape.a = shape.b = hu_type_codes(hu_float8_e4m3fn());
  shape.result = hu_type_codes(hu_binary32());
  id_space space = id_space_of(&shape);
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    hu_accum x, y;
    assert_int_equal(hu_accum_parse(&x, pairs[i][0], NULL), HU_OK);
    assert_int_equal(hu_accum_parse(&y, pairs[i][1], NULL), HU_OK);
    x = id_simplest(&space, x);
    if (memcmp(&x, &y, sizeof x) != 0) fail_msg("%s is not %s", pairs[i][0], pairs[i][1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(set_and_read), cmocka_unit_test(simplest)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
