/* SPDX-License-Identifier: MIT */
/* Operands whose exact result lies about the smallest normal number or among the subnormal ones, on and beside the
 * points where rounding turns: there underflow is reported or not by a single digit, and designs go wrong.
 *
 * A target is drawn: a code of the result's format, and a part of a unit of the subnormal numbers above it. All
 * operands but one are drawn, the last is what makes the exact result nearest to the target, or its neighbour. The
 * arithmetic is binary64's basic operations, so that the operands are the same everywhere. */
#include <math.h>
#include <string.h>

#include "cli/vectors/vectors.h"
#include "halfulp/scalar.h"

static int is_operation(const vectors *test, const char *names) {
  const char *at = strstr(names, test->op.name);
  size_t length = strlen(test->op.name);
  return at && at[-1] == ' ' && at[length] == ' ';
}

int vectors_has_border(const vectors *test) {
  if (test->z.kind != VECTORS_CODE || test->z.format.e == 0) return 0;
  for (int k = 0; k < test->op.operands; k++)
    if (test->x[k].kind == VECTORS_INTEGER) return 0;
  return is_operation(test, " add sub mul div sqrt fma convert ");
}

typedef struct target {
  double at;   /* the exact result looked for */
  double unit; /* of the subnormal numbers */
  int lowest;  /* exponent of the smallest normal number */
} target;

static double power(int exponent) { return ldexp(1, exponent); }

static target draw_target(const vectors *test, uint32_t word, uint32_t part) {
  static const double parts[] = {0, 0.5, 0.25, 0.75, 0.5 + 0x1p-12, 0.5 - 0x1p-12, 0x1p-12, 1 - 0x1p-12};
  hu_limits limits = hu_limits_of(test->z.format);
  int64_t code = limits.min_normal_code, any = (int64_t)(word >> 8) % (limits.min_normal_code + 1);
  switch (word % 8) {
    case 0: code = any; break;
    case 1: code += (int64_t)(word >> 8 & 15) - 8; break;
    case 2: code += 1; break;
    case 3: break;
    default: code -= 1; break; /* between the largest subnormal number and the smallest normal one */
  }
  target goal = {.unit = power(limits.emin - test->z.format.m), .lowest = limits.emin};
  double fraction = word >> 3 & 1 ? parts[part % 8] : part * 0x1p-32;
  goal.at = hu_decode64(test->z.format, code < 0 ? 0 : (uint32_t)code) + goal.unit * fraction;
  if (test->z.format.sign && word >> 4 & 1) goal.at = -goal.at;
  return goal;
}

/* Draws a number of the operand's own digits, its exponent from low on; negative in half of the cases. */
static double draw_number(const vectors_type *type, int low, int high, uint32_t word) {
  if (high < low) high = low;
  int signs = type->kind == VECTORS_BINARY64 || type->format.sign;
  double x = ldexp(1 + (word >> 12) * 0x1p-20, low + (int)(word % 2048 % (uint32_t)(high - low + 1)));
  return vectors_value(type, vectors_near(type, signs && word >> 11 & 1 ? -x : x, 0));
}

static double safe_ratio(double x, double y) { return y != 0 ? x / y : x; }

static int lowest_of(const vectors_type *type) { return hu_limits_of(type->format).emin; }

/* Draws a first factor of a product near `product`: no larger than what leaves a normal number to the second one. */
static double draw_factor(const vectors *test, double product, uint32_t word) {
  int high = (product != 0 ? ilogb(product) : 0) - lowest_of(&test->x[1]);
  return draw_number(&test->x[0], lowest_of(&test->x[0]), high < 2 ? high : 2, word);
}

/* Makes a b + c: either c makes up what the product lacks, or the product is a small part of a unit beside c. */
static void fused(const vectors *test, const target *goal, const uint32_t word[4], uint64_t *x) {
  static const double parts[] = {0.5, 0.25, 0.5 + 0x1p-10, 0.5 - 0x1p-10, 0x1p-20, 0.75, 1, 0x1p-6};
  int large = word[3] >> 28 & 1;
  double a, product, c = 0;
  if (large) {
    product = ldexp(goal->at, (int)(word[3] >> 20 & 7) - 4);
  } else {
    double whole = floor(fabs(goal->at) / goal->unit) * goal->unit;
    product = goal->unit * parts[word[3] >> 20 & 7];
    c = goal->at < 0 ? -whole : whole;
  }
  if (word[3] >> 29 & 1) product = -product;
  a = draw_factor(test, product, word[2]);
  x[0] = vectors_near(&test->x[0], a, 0);
  x[1] = vectors_near(&test->x[1], safe_ratio(product, a), (int)(word[3] >> 30 & 1));
  if (large) c = goal->at - vectors_value(&test->x[0], x[0]) * vectors_value(&test->x[1], x[1]);
  x[2] = vectors_near(&test->x[2], c, (int)(word[3] >> 31));
}

/* Makes half a unit below the smallest normal number, where a quotient can be only if it divides by a power of two. */
static void tie_of_quotients(const vectors *test, const target *goal, double *a, double *b) {
  *b = ldexp(*b < 0 ? -1 : 1, ilogb(*b));
  *a = *b * power(goal->lowest) * (goal->at < 0 ? -1 : 1) * (1 - ldexp(0.5, -(int)test->z.format.m));
}

static void two(const vectors *test, const target *goal, const uint32_t word[4], uint64_t *x) {
  const vectors_type *fa = &test->x[0], *fb = &test->x[1];
  int away = (int)(word[3] >> 31);
  int op = test->op.op;
  double a, b;
  switch (op) {
    case HU_OP_DIV:
      b = draw_number(fb, -1, -goal->lowest > 4 ? -goal->lowest : 4, word[2]);
      a = goal->at * b;
      if (word[3] % 8 == 0) tie_of_quotients(test, goal, &a, &b);
      break;
    case HU_OP_MUL:
      a = draw_factor(test, goal->at, word[2]);
      b = safe_ratio(goal->at, a);
      break;
    default:
      a = draw_number(fa, goal->lowest - 2, goal->lowest + 6, word[2]);
      b = op == HU_OP_SUB ? a - goal->at : goal->at - a;
      break;
  }
  /* The operand that was drawn is a number of its format: nothing of it is cut. */
  x[0] = vectors_near(fa, a, op == HU_OP_DIV && away);
  x[1] = vectors_near(fb, b, op != HU_OP_DIV && away);
}

void vectors_border_case(const vectors *test, const uint32_t word[4], uint64_t *x) {
  target goal = draw_target(test, word[0], word[1]);
  if (test->op.operands == 3) {
    fused(test, &goal, word, x);
  } else if (test->op.operands == 2) {
    two(test, &goal, word, x);
  } else {
    double root = test->op.kind == VECTORS_CONVERT ? goal.at : goal.at * goal.at;
    x[0] = vectors_near(&test->x[0], root, (int)(word[3] >> 31));
  }
}
