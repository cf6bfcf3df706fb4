/* SPDX-License-Identifier: MIT */
/* The compiled values of emu/arith/function_quick.h, for comparison with the steps that were read from its text.
 * Input: lines of a name and one or two patterns of binary64 in hex; output: a pattern a line, of hui_product64 and
 * hui_quick_split two, of the integer core's 1 / sqrt x and 1 / x the significand, the exponent and sticky. Of a
 * function with a rounding test, the pattern is that of the y that it looks at. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static double seen;
#define HU_QUICK_SEEN(y) (seen = (y))
#include "emu/arith/function_quick.h"
#include "emu/core/function.h"

typedef hu_quick_result (*function)(double x);
static hu_quick_result ln(double x) { return hui_quick_log(x, 0); }
static hu_quick_result ln2(double x) { return hui_quick_log(x, 1); }
static hu_quick_result sine(double x) { return hui_quick_sin(x, 0); }
static hu_quick_result cosine(double x) { return hui_quick_sin(x, 1); }

static const struct {
  const char *name;
  function of;
} functions[] = {{"exp", hui_quick_exp},
                 {"exp2", hui_quick_exp2},
                 {"expm1", hui_quick_expm1},
                 {"log", ln},
                 {"log2", ln2},
                 {"log1p", hui_quick_log1p},
                 {"tanh", hui_quick_tanh},
                 {"sigmoid", hui_quick_sigmoid},
                 {"erf", hui_quick_erf},
                 {"gelu", hui_quick_gelu},
                 {"sin", sine},
                 {"cos", cosine},
                 {"reciprocal", hui_quick_reciprocal}};

static void print(double x) { printf("%016llx", (unsigned long long)hui_pattern64(x)); }

static void print_number(hu_num z) { printf("%016llx,%d,%d", (unsigned long long)z.sig, (int)z.exp, (int)z.sticky); }

static int answer(const char *name, double x, double y) {
  double a, b;
  if (strcmp(name, "pow") == 0) {
    (void)hui_quick_pow(x, y);
    print(seen);
  } else if (strcmp(name, "root") == 0) {
    print_number(hui_inverse_root(hui_unpack64(hui_pattern64(x))));
  } else if (strcmp(name, "quotient") == 0) {
    uint32_t raised = 0;
    print_number(hui_function_of(HU_OP_RECIPROCAL, hui_stripped(hui_unpack64(hui_pattern64(x))), hui_one(0), &raised));
  } else if (strcmp(name, "power") == 0) {
    print(hui_power_of_two64(x));
  } else if (strcmp(name, "product") == 0) {
    hui_product64(x, y, &a, &b);
    print(a);
    print(b);
  } else if (strcmp(name, "split") == 0) {
    a = hui_quick_split(x, &b);
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
    if (!answer(name, hui_double64(x), hui_double64(y))) return 1;
  return 0;
}
