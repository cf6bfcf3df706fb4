/* SPDX-License-Identifier: MIT */
/* Codes with bits above their width: every call of halfulp_dpi.h that reads codes refuses them. */
#include "halfulp/formats/ocp.h"
#include "tests/dpi/handles.h"
#include "tests/support/cmocka.h"

/* Every call on single codes, a wide one in each place; outputs are 0. */
static void wide_codes(void **state) {
  (void)state;
  void *f = format_handle(hu_float4_e2m1fn()), *m = mode_handle((hu_mode){0});
  unsigned int z, set;
  unsigned long long integer;
  double value;
  int i;
#define REFUSED(call, out)               \
  do {                                   \
    z = set = 0xAAAA;                    \
    integer = 0xAAAA, value = 3, i = -9; \
    assert_int_equal(call, HU_E_CODE);   \
    assert_true((out) == 0);             \
  } while (0)
#define REFUSED_ONE(name) REFUSED(hu_dpi_##name(f, m, f, 0x12, 0, &z, &set), z | set)
#define REFUSED_TWO(name)                                            \
  REFUSED(hu_dpi_##name(f, m, f, 0x12, f, 2, 0, &z, &set), z | set); \
  REFUSED(hu_dpi_##name(f, m, f, 2, f, 0x80000002, 0, &z, &set), z | set)
  REFUSED_ONE(convert);
  REFUSED_ONE(sqrt);
  REFUSED_ONE(exp);
  REFUSED_ONE(exp2);
  REFUSED_ONE(expm1);
  REFUSED_ONE(log);
  REFUSED_ONE(log2);
  REFUSED_ONE(log1p);
  REFUSED_ONE(tanh);
  REFUSED_ONE(sigmoid);
  REFUSED_ONE(erf);
  REFUSED_ONE(gelu);
  REFUSED_ONE(rsqrt);
  REFUSED_ONE(reciprocal);
  REFUSED_ONE(sin);
  REFUSED_ONE(cos);
  REFUSED_TWO(add);
  REFUSED_TWO(sub);
  REFUSED_TWO(mul);
  REFUSED_TWO(div);
  REFUSED_TWO(minimum);
  REFUSED_TWO(maximum);
  REFUSED_TWO(minimum_number);
  REFUSED_TWO(maximum_number);
  REFUSED_TWO(pow);
  REFUSED_TWO(remainder);
  for (unsigned k = 0; k < 3; k++) {
    const unsigned x[3] = {k == 0 ? 0x12 : 2, k == 1 ? 0x12 : 2, k == 2 ? 0x12 : 2};
    REFUSED(hu_dpi_fma(f, m, f, x[0], f, x[1], f, x[2], 0, &z, &set), z | set);
  }
  REFUSED(hu_dpi_round_to_integral(f, m, 0x12, 0, &z, &set), z | set);
  REFUSED(hu_dpi_decode(f, 0x12, &value), value);
  REFUSED(hu_dpi_compare(f, 0x12, f, 2, &i), i);
  REFUSED(hu_dpi_compare(f, 2, f, 0x12, &i), i);
  REFUSED(hu_dpi_class(f, 0x12, &i), i);
  REFUSED(hu_dpi_is_signalling(f, 0x12, &i), i);
  REFUSED(hu_dpi_next_up(f, 0x12, &z), z);
  REFUSED(hu_dpi_next_down(f, 0x12, &z), z);
  REFUSED(hu_dpi_to_integer(m, 8, 1, 0, 0, f, 0x12, 0, &integer, &set), integer | set);
  hu_dpi_free(f);
  hu_dpi_free(m);
}

/* Elements of arrays and C; longint holds negative integers with their sign repeated. */
static void wide_elements(void **state) {
  (void)state;
  void *m = mode_handle((hu_mode){0}), *fp4 = model_handle("fp32", "float4_e2m1fn", "float4_e2m1fn", "float6_e3m2fn");
  void *integers_of = model_handle("int32", "s4", "u4", "s32");
  open_array a = {0, 4, 8, {1, 2, 3, 4}}, b = {0, 4, 8, {1, 2, 3, 4}}, none = {0, 0, 4, {0}};
  unsigned long long d = 9;
  unsigned int set = 9;
  assert_int_equal(hu_dpi_dot_array(fp4, m, 4, &a, &b, 0, &none, &none, &none, 0, &d, &set), HU_OK);
  for (int k = 0; k < 4; k++) {
    a.data[k] |= (uint64_t)1 << (4 + 19 * k);
    d = set = 9;
    assert_int_equal(hu_dpi_dot_array(fp4, m, 4, &a, &b, 0, &none, &none, &none, 0, &d, &set), HU_E_CODE);
    assert_true(d == 0 && set == 0);
    assert_int_equal(hu_dpi_dot_array(fp4, m, 4, &b, &a, 0, &none, &none, &none, 0, &d, &set), HU_E_CODE);
    a.data[k] &= 15;
  }
  assert_int_equal(hu_dpi_dot_array(fp4, m, 4, &a, &b, 0x40, &none, &none, &none, 0, &d, &set), HU_E_CODE);
  a.data[0] = UINT64_MAX; /* -1 */
  assert_int_equal(hu_dpi_dot_array(integers_of, m, 4, &a, &b, 0, &none, &none, &none, 0, &d, &set), HU_OK);
  assert_int_equal(d, 28);
  assert_int_equal(hu_dpi_dot_array(integers_of, m, 4, &b, &a, 0, &none, &none, &none, 0, &d, &set), HU_E_CODE);
  a.data[0] = 0xF1;
  assert_int_equal(hu_dpi_dot_array(integers_of, m, 4, &a, &b, 0, &none, &none, &none, 0, &d, &set), HU_E_CODE);
  hu_dpi_free(m);
  hu_dpi_free(fp4);
  hu_dpi_free(integers_of);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(wide_codes), cmocka_unit_test(wide_elements)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
