/* SPDX-License-Identifier: MIT */
/* The list of halfulp/p3109.h. */
#include <string.h>

#include "halfulp/p3109.h"

#define ARITHMETIC(name, operands) \
  { name, "arithmetic", operands, HU_P3109_NUMBER, 1 }
#define SCALED(name) \
  { name, "arithmetic", 4, HU_P3109_NUMBER, 0 }
#define TRANSCENDENTAL(name, operands) \
  { name, "transcendental", operands, HU_P3109_NUMBER, 1 }
#define EXTREMUM(name, operands) \
  { name, "extrema", operands, HU_P3109_NUMBER, 1 }
#define NEIGHBOUR(name) \
  { name, "neighbours", 1, HU_P3109_NEIGHBOUR, 0 }
#define COMPARISON(name) \
  { name, "comparison", 2, HU_P3109_TRUTH, 0 }
#define PREDICATE(name) \
  { name, "classification", 1, HU_P3109_TRUTH, 0 }

static const hu_p3109_operation list[HU_P3109_COUNT] = {
    [HU_P3109_CONVERT] = {"Convert", "conversion", 1, HU_P3109_NUMBER, 1},
    [HU_P3109_ABS] = ARITHMETIC("Abs", 1),
    [HU_P3109_NEGATE] = ARITHMETIC("Negate", 1),
    [HU_P3109_COPY_SIGN] = ARITHMETIC("CopySign", 2),
    [HU_P3109_ADD] = ARITHMETIC("Add", 2),
    [HU_P3109_SUBTRACT] = ARITHMETIC("Subtract", 2),
    [HU_P3109_MULTIPLY] = ARITHMETIC("Multiply", 2),
    [HU_P3109_DIVIDE] = ARITHMETIC("Divide", 2),
    [HU_P3109_FMA] = ARITHMETIC("FMA", 3),
    [HU_P3109_FAA] = ARITHMETIC("FAA", 3),
    [HU_P3109_RECIP] = ARITHMETIC("Recip", 1),
    [HU_P3109_SQRT] = ARITHMETIC("Sqrt", 1),
    [HU_P3109_RSQRT] = ARITHMETIC("RSqrt", 1),
    [HU_P3109_HYPOT] = ARITHMETIC("Hypot", 2),
    [HU_P3109_SCALED_ADD] = SCALED("ScaledAdd"),
    [HU_P3109_SCALED_SUBTRACT] = SCALED("ScaledSubtract"),
    [HU_P3109_SCALED_MULTIPLY] = SCALED("ScaledMultiply"),
    [HU_P3109_EXP] = TRANSCENDENTAL("Exp", 1),
    [HU_P3109_EXP2] = TRANSCENDENTAL("Exp2", 1),
    [HU_P3109_EXP_MINUS_ONE] = TRANSCENDENTAL("ExpMinusOne", 1),
    [HU_P3109_LOG] = TRANSCENDENTAL("Log", 1),
    [HU_P3109_LOG2] = TRANSCENDENTAL("Log2", 1),
    [HU_P3109_LOG_ONE_PLUS] = TRANSCENDENTAL("LogOnePlus", 1),
    [HU_P3109_SOFTPLUS] = TRANSCENDENTAL("Softplus", 1),
    [HU_P3109_SIN] = TRANSCENDENTAL("Sin", 1),
    [HU_P3109_COS] = TRANSCENDENTAL("Cos", 1),
    [HU_P3109_TAN] = TRANSCENDENTAL("Tan", 1),
    [HU_P3109_ARC_SIN] = TRANSCENDENTAL("ArcSin", 1),
    [HU_P3109_ARC_COS] = TRANSCENDENTAL("ArcCos", 1),
    [HU_P3109_ARC_TAN] = TRANSCENDENTAL("ArcTan", 1),
    [HU_P3109_ARC_TAN2] = TRANSCENDENTAL("ArcTan2", 2),
    [HU_P3109_SIN_PI] = TRANSCENDENTAL("SinPi", 1),
    [HU_P3109_COS_PI] = TRANSCENDENTAL("CosPi", 1),
    [HU_P3109_TAN_PI] = TRANSCENDENTAL("TanPi", 1),
    [HU_P3109_ARC_SIN_PI] = TRANSCENDENTAL("ArcSinPi", 1),
    [HU_P3109_ARC_COS_PI] = TRANSCENDENTAL("ArcCosPi", 1),
    [HU_P3109_ARC_TAN_PI] = TRANSCENDENTAL("ArcTanPi", 1),
    [HU_P3109_ARC_TAN2_PI] = TRANSCENDENTAL("ArcTan2Pi", 2),
    [HU_P3109_SINH] = TRANSCENDENTAL("Sinh", 1),
    [HU_P3109_COSH] = TRANSCENDENTAL("Cosh", 1),
    [HU_P3109_TANH] = TRANSCENDENTAL("Tanh", 1),
    [HU_P3109_ARC_SINH] = TRANSCENDENTAL("ArcSinh", 1),
    [HU_P3109_ARC_COSH] = TRANSCENDENTAL("ArcCosh", 1),
    [HU_P3109_ARC_TANH] = TRANSCENDENTAL("ArcTanh", 1),
    [HU_P3109_MINIMUM] = EXTREMUM("Minimum", 2),
    [HU_P3109_MAXIMUM] = EXTREMUM("Maximum", 2),
    [HU_P3109_MINIMUM_NUMBER] = EXTREMUM("MinimumNumber", 2),
    [HU_P3109_MAXIMUM_NUMBER] = EXTREMUM("MaximumNumber", 2),
    [HU_P3109_MINIMUM_MAGNITUDE] = EXTREMUM("MinimumMagnitude", 2),
    [HU_P3109_MAXIMUM_MAGNITUDE] = EXTREMUM("MaximumMagnitude", 2),
    [HU_P3109_MINIMUM_MAGNITUDE_NUMBER] = EXTREMUM("MinimumMagnitudeNumber", 2),
    [HU_P3109_MAXIMUM_MAGNITUDE_NUMBER] = EXTREMUM("MaximumMagnitudeNumber", 2),
    [HU_P3109_MINIMUM_FINITE] = EXTREMUM("MinimumFinite", 2),
    [HU_P3109_MAXIMUM_FINITE] = EXTREMUM("MaximumFinite", 2),
    [HU_P3109_CLAMP] = EXTREMUM("Clamp", 3),
    [HU_P3109_NEXT_GREATER_THAN] = NEIGHBOUR("NextGreaterThan"),
    [HU_P3109_NEXT_LESS_THAN] = NEIGHBOUR("NextLessThan"),
    [HU_P3109_COMPARE_LESS] = COMPARISON("CompareLess"),
    [HU_P3109_COMPARE_LESS_EQUAL] = COMPARISON("CompareLessEqual"),
    [HU_P3109_COMPARE_EQUAL] = COMPARISON("CompareEqual"),
    [HU_P3109_COMPARE_GREATER_EQUAL] = COMPARISON("CompareGreaterEqual"),
    [HU_P3109_COMPARE_GREATER] = COMPARISON("CompareGreater"),
    [HU_P3109_TOTAL_ORDER] = COMPARISON("TotalOrder"),
    [HU_P3109_IS_ZERO] = PREDICATE("IsZero"),
    [HU_P3109_IS_ONE] = PREDICATE("IsOne"),
    [HU_P3109_IS_NAN] = PREDICATE("IsNaN"),
    [HU_P3109_IS_SIGN_MINUS] = PREDICATE("IsSignMinus"),
    [HU_P3109_IS_FINITE] = PREDICATE("IsFinite"),
    [HU_P3109_IS_INFINITE] = PREDICATE("IsInfinite"),
    [HU_P3109_IS_NORMAL] = PREDICATE("IsNormal"),
    [HU_P3109_IS_SUBNORMAL] = PREDICATE("IsSubnormal"),
    [HU_P3109_CLASS] = {"Class", "classification", 1, HU_P3109_WORD, 0},
};

hu_p3109_operation hu_p3109_at(int op) {
  const hu_p3109_operation none = {NULL, NULL, 0, 0, 0};
  return op >= 0 && op < HU_P3109_COUNT ? list[op] : none;
}

int hu_p3109_find(const char *name) {
  for (int op = 0; name && op < HU_P3109_COUNT; op++)
    if (strcmp(list[op].name, name) == 0) return op;
  return -1;
}
