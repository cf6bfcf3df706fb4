/* SPDX-License-Identifier: MIT */
/* The compiled values of emu/arith/function_quick.h, for comparison with the steps that were read from its text.
 * Input: lines of a name and one or two patterns of binary64 in hex; output: a pattern a line, of hu_product64 and
 * hu_quick_split two, of the integer core's 1 / sqrt x and 1 / x the significand, the exponent and sticky. Of a
 * function with a rounding test, the pattern is that of the y that it looks at. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static double seen;
#define HU_QUICK_SEEN(y) (seen = (y))
#include "emu/arith/function_quick.h"
#include "emu/core/function.h"

typedef hu_quick_result (*function)(double x);
static hu_quick_result ln(double x) { return hu_quick_log(x, 0); }
static hu_quick_result ln2(double x) { return hu_quick_log(x, 1); }
static hu_quick_result sine(double x) { return hu_quick_sin(x, 0); }
static hu_quick_result cosine(double x) { return hu_quick_sin(x, 1); }

static const struct {
  const char *name;
  function of;
} functions[] = {{"exp", hu_quick_exp},     {"exp2", hu_quick_exp2},       {"expm1", hu_quick_expm1},
                 {"log", ln},               {"log2", ln2},                 {"log1p", hu_quick_log1p},
                 {"tanh", hu_quick_tanh},   {"sigmoid", hu_quick_sigmoid}, {"erf", hu_quick_erf},
                 {"gelu", hu_quick_gelu},   {"sin", sine},                 {"cos", cosine},
                 {"reciprocal", hu_quick_reciprocal}};

static void print(double x) { printf("%016llx", (unsigned long long)hu_pattern64(x)); }

static void print_number(hu_num z) {
  printf("%016llx,%d,%d", (unsigned long long)z.sig, (int)z.exp, (int)z.sticky);
}

static int answer(const char *name, double x, double y) {
  double a, b;
  if (strcmp(name, "pow") == 0) {
    (void)hu_quick_pow(x, y);
    print(seen);
  } else if (strcmp(name, "root") == 0) {
    print_number(hu_inverse_root(hu_unpack64(hu_pattern64(x))));
  } else if (strcmp(name, "quotient") == 0) {
    uint32_t raised = 0;
    print_number(hu_function_of(HU_OP_RECIPROCAL, hu_stripped(hu_unpack64(hu_pattern64(x))), hu_one(0), &raised));
  } else if (strcmp(name, "power") == 0) {
    print(hu_power_of_two64(x));
  } else if (strcmp(name, "product") == 0) {
    hu_product64(x, y, &a, &b);
    print(a);
    print(b);
  } else if (strcmp(name, "split") == 0) {
    a = hu_quick_split(x, &b);
    print(a);
    print(b);
  } else {
    size_t i = 0, n = sizeof functions / sizeof functions[0];
    while (i < n && strcmp(functions[i].name, name) != 0) i++;
    if (i == n) return 0;
    (void)functions[i].of(x);
    print(seen);
  }
  putchar('\n');
  return 1;
}

int main(void) {
  char name[16];
  unsigned long long x, y;
  while (scanf("%15s %llx %llx", name, &x, &y) == 3)
    if (!answer(name, hu_double64(x), hu_double64(y))) return 1;
  return 0;
}
