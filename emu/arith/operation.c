/* SPDX-License-Identifier: MIT */
/* The list of the operations of halfulp/operation.h, and each of them on one value: checks and unpacks the operands,
 * forms the exact result and rounds it once. */
#include "halfulp/operation.h"

#include "emu/arith/function_call.h"
#include "emu/arith/function_one.h"
#include "emu/arith/one.h"
#include "emu/base/float_env.h"
#include "emu/format/unfold.h"
#include "halfulp/arith.h"

enum { INVALID = HU_EVENT_INVALID, POLE = HU_EVENT_DIVIDE_BY_ZERO };

static const hu_operation operations[] = {
    [HU_OP_ADD] = {"add", "add", 2, HU_RESULT_CODE, 1, INVALID, "10", "a + b"},
    [HU_OP_SUB] = {"sub", "sub", 2, HU_RESULT_CODE, 1, INVALID, "10", "a - b"},
    [HU_OP_MUL] = {"mul", "mul", 2, HU_RESULT_CODE, 1, INVALID, "10", "a b"},
    [HU_OP_DIV] = {"div", "div", 2, HU_RESULT_CODE, 1, INVALID | POLE, "10", "a / b"},
    [HU_OP_MINIMUM] = {"minimum", NULL, 2, HU_RESULT_CODE, 1, 0, "10",
                       "The smaller of a and b, -0 below +0, NaN if one is a NaN (IEEE 754-2019 9.6)"},
    [HU_OP_MAXIMUM] = {"maximum", NULL, 2, HU_RESULT_CODE, 1, 0, "10",
                       "The larger of a and b, -0 below +0, NaN if one is a NaN (IEEE 754-2019 9.6)"},
    [HU_OP_MINIMUM_NUMBER] = {"minimum_number", NULL, 2, HU_RESULT_CODE, 1, 0, "10",
                              "The smaller of a and b; beside a NaN the other one"},
    [HU_OP_MAXIMUM_NUMBER] = {"maximum_number", NULL, 2, HU_RESULT_CODE, 1, 0, "10",
                              "The larger of a and b; beside a NaN the other one"},
    [HU_OP_SQRT] = {"sqrt", "sqrt", 1, HU_RESULT_CODE, 1, INVALID, "10", "The square root of x"},
    [HU_OP_FMA] = {"fma", "mulAdd", 3, HU_RESULT_CODE, 1, INVALID, "10", "a b + c, the product not rounded"},
    [HU_OP_INTEGRAL] = {"round_to_integral", "roundToInt", 1, HU_RESULT_SAME, 1, 0, "10",
                        "The integer that x rounds to, in x's format (IEEE 754's roundToIntegralExact)"},
    [HU_OP_NEXT_UP] = {"next_up", NULL, 1, HU_RESULT_SAME, 0, 0, "10",
                       "The next value above x in its format (IEEE 754-2019 5.3.1)"},
    [HU_OP_NEXT_DOWN] = {"next_down", NULL, 1, HU_RESULT_SAME, 0, 0, "10",
                         "The next value below x in its format (IEEE 754-2019 5.3.1)"},
    [HU_OP_CLASS] = {"class", NULL, 1, HU_RESULT_INT8, 0, 0, "10", "The class of x (IEEE 754-2019 5.7.2)"},
    [HU_OP_COMPARE] = {"compare", NULL, 2, HU_RESULT_INT8, 0, 0, "10",
                       "How a stands to b: -1 (less), 0 (equal), 1 (greater), 2 (unordered: one is a NaN)"},
    [HU_OP_EXP] = {"exp", NULL, 1, HU_RESULT_CODE, 1, 0, "12", "e^x"},
    [HU_OP_EXP2] = {"exp2", NULL, 1, HU_RESULT_CODE, 1, 0, "12", "2^x"},
    [HU_OP_EXPM1] = {"expm1", NULL, 1, HU_RESULT_CODE, 1, 0, "12", "e^x - 1"},
    [HU_OP_LOG] = {"log", NULL, 1, HU_RESULT_CODE, 1, INVALID | POLE, "12", "ln x"},
    [HU_OP_LOG2] = {"log2", NULL, 1, HU_RESULT_CODE, 1, INVALID | POLE, "12", "log2 x"},
    [HU_OP_LOG1P] = {"log1p", NULL, 1, HU_RESULT_CODE, 1, INVALID | POLE, "12", "ln(1 + x)"},
    [HU_OP_TANH] = {"tanh", NULL, 1, HU_RESULT_CODE, 1, 0, "12", "The hyperbolic tangent of x"},
    [HU_OP_SIGMOID] = {"sigmoid", NULL, 1, HU_RESULT_CODE, 1, 0, "12", "1 / (1 + e^-x)"},
    [HU_OP_ERF] = {"erf", NULL, 1, HU_RESULT_CODE, 1, 0, "12", "The error function of x"},
    [HU_OP_GELU] = {"gelu", NULL, 1, HU_RESULT_CODE, 1, 0, "12", "x Phi(x), the exact GELU"},
    [HU_OP_RSQRT] = {"rsqrt", NULL, 1, HU_RESULT_CODE, 1, INVALID | POLE, "12", "1 / sqrt(x)"},
    [HU_OP_RECIPROCAL] = {"reciprocal", NULL, 1, HU_RESULT_CODE, 1, POLE, "12", "1 / x"},
    [HU_OP_SIN] = {"sin", NULL, 1, HU_RESULT_CODE, 1, INVALID, "12", "The sine of x radians"},
    [HU_OP_COS] = {"cos", NULL, 1, HU_RESULT_CODE, 1, INVALID, "12", "The cosine of x radians"},
    [HU_OP_POW] = {"pow", NULL, 2, HU_RESULT_CODE, 1, INVALID | POLE, "12", "x^y (IEEE 754-2019 9.2.1)"},
    [HU_OP_REMAINDER] = {"remainder", "rem", 2, HU_RESULT_CODE, 1, INVALID, "10",
                         "x - y n, n the integer nearest to x / y, of two the even one (IEEE 754-2019 5.3.1)"},
    [HU_OP_CONVERT] = {"convert", NULL, 1, HU_RESULT_CODE, 1, 0, "2", "x in another format"},
};

_Static_assert(sizeof operations / sizeof *operations == HU_OP_CONVERT + 1, "the list has every operation");

hu_operation hu_operation_at(size_t i) {
  hu_operation none = {NULL, NULL, 0, 0, 0, 0, NULL, NULL};
  return i < hu_operation_count() ? operations[i] : none;
}

int hu_operation_find(const char *name) {
  for (size_t i = 0; name && i < hu_operation_count(); i++)
    if (!strcmp(operations[i].name, name)) return (int)i;
  return -1;
}

/* ---- on one value ---- */

uint32_t hui_function_code(const hu_spec *spec, int32_t op, hu_num x, hu_num y, uint32_t random, uint32_t *events) {
  if (hui_quick_may(spec, op, x, y)) {
    hu_float_env saved = hui_float_env_enter(HU_LANE_NEAREST);
    hu_quick_result result;
    hui_quick_of(&result, op, hui_double64(hui_pack64(x)), hui_double64(hui_pack64(y)));
    hui_float_env_leave(saved);
    if (result.known) return hui_function_quickly_rounded(spec, result, random, events);
  }
  return hui_function_one(spec, op, x, y, random, events);
}

/* Reads the codes of an operation whose result has the format *fz, unfolded: 1 if a format is refused. Operands that
 * the operation does not have are 0. */
static int read_refused(const hu_operation *operation, const hu_code *x, const hu_spec *spec, const hu_format *fz,
                        hu_num numbers[HU_OPERANDS_MAX]) {
  hu_spec own[HU_OPERANDS_MAX];
  for (int k = HU_OPERANDS_MAX - 1; k >= 0; k--) { /* from the last, which is the sum's */
    numbers[k] = hui_num_special(HU_KIND_ZERO, 0);
    if (k >= operation->operands) continue;
    spec = hui_source_spec(&own[k], &x[k].format, spec, fz);
    if (!spec) return 1;
    fz = &x[k].format;
    numbers[k] = hui_unpack(spec, x[k].code);
  }
  return 0;
}

/* Computes an operation that rounds into any format. */
static uint32_t rounded(int op, const hu_spec *spec, const hu_num *x, uint32_t random, uint32_t *events) {
  if (op < HU_OP_ROUNDED) return hui_arith_one(spec, op, x[0], x[1], x[2], random, events);
  if (op == HU_OP_REMAINDER) return hui_remainder_code(spec, x[0], x[1], random, events);
  if (op == HU_OP_CONVERT) return hui_round(spec, x[0], random, events);
  return hui_function_code(spec, op, x[0], x[1], random, events);
}

static uint32_t misuse(int op, uint32_t *events) {
  *events = HU_EVENT_INVALID;
  return op == HU_OP_COMPARE ? HU_UNORDERED : 0;
}

uint32_t hu_apply_code(int op, hu_format fz, hu_mode mode, const hu_code *x, uint32_t random, uint32_t *events) {
  const hu_mode rne = {0};
  hu_num numbers[HU_OPERANDS_MAX];
  hu_spec spec;
  uint32_t ignored, *set = events ? events : &ignored;
  if (op < 0 || (size_t)op >= hu_operation_count() || !x) return misuse(op, set);
  const hu_operation *operation = &operations[op];
  if (!operation->rounds) mode = rne;
  if (operation->result == HU_RESULT_SAME) {
    if (!hu_format_equal(fz, x[0].format) || hui_result_refused(&spec, fz, mode)) return misuse(op, set);
    *set = 0;
    return hui_within_format(&spec, op, x[0].code, random, set);
  }
  if (operation->result == HU_RESULT_INT8) fz = x[0].format;
  if (hui_result_refused(&spec, fz, mode)) return misuse(op, set);
  if (op == HU_OP_CLASS) {
    *set = 0;
    return hui_within_format(&spec, op, x[0].code, 0, set);
  }
  if (read_refused(operation, x, &spec, &fz, numbers)) return misuse(op, set);
  if (op != HU_OP_COMPARE) return rounded(op, &spec, numbers, random, set);
  *set = 0;
  return hui_compared(numbers[0], numbers[1]);
}
