/* SPDX-License-Identifier: MIT */
/* See dot_steps.h. */
#include "cli/explain/dot_steps.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/accum/text.h"
#include "cli/base/cli.h"
#include "cli/base/numbers.h"

static const char *const kinds[HU_TRACE_KINDS] = {"slice", "part",  "chunk", "block", "align", "term",
                                                  "cut",   "round", "mul",   "add",   "fma",   "last"};

enum { VALUE_MAX = NUMBER_TEXT_MAX + 16, PRODUCTS_MAX = 64 };

/* Returns the significand without its trailing zeros, so that binary64 holds it where that is possible. */
static hu_traced shortened(hu_traced x) {
  while (x.kind == HU_TRACE_FINITE && !(x.significand & 1)) {
    x.significand >>= 1;
    x.exponent++;
  }
  return x;
}

static int is_binary64(hu_traced x) {
  return !x.more && x.significand < (uint64_t)1 << 53 && x.exponent >= -1074 && x.exponent <= 960;
}

static double special(hu_traced x) {
  double z = x.kind == HU_TRACE_NAN ? NAN : x.kind == HU_TRACE_INFINITY ? INFINITY : 0;
  return x.sign ? -z : z;
}

/* Writes the number: decimal where binary64 holds it, else hexadecimal; "about" where digits are left out. */
static const char *value(char text[VALUE_MAX], hu_traced x) {
  char digits[NUMBER_TEXT_MAX];
  if (x.kind != HU_TRACE_FINITE) return number_decimal(text, x.kind == HU_TRACE_NAN ? NAN : special(x));
  x = shortened(x);
  double whole = ldexp((double)x.significand, x.exponent);
  if (is_binary64(x)) return number_decimal(text, x.sign ? -whole : whole);
  snprintf(text, VALUE_MAX, "%s%s", x.more ? "about " : "",
           number_hex_parts(digits, x.sign, x.significand, x.exponent));
  return text;
}

static int changed(const hu_trace_step *step) {
  hu_traced x = shortened(step->exact), z = shortened(step->z);
  if (x.kind != z.kind) return 1;
  return x.kind == HU_TRACE_FINITE &&
         (x.more || x.sign != z.sign || x.significand != z.significand || x.exponent != z.exponent);
}

static const char *products(char text[PRODUCTS_MAX], const hu_trace_step *step) {
  if (step->k == HU_TRACE_NO_PRODUCT)
    snprintf(text, PRODUCTS_MAX, "%s", step->kind == HU_TRACE_TERM ? "C" : "");
  else if (step->past - step->k == 1)
    snprintf(text, PRODUCTS_MAX, "product %" PRIu64, step->k);
  else
    snprintf(text, PRODUCTS_MAX, "products %" PRIu64 " to %" PRIu64, step->k, step->past - 1);
  return text;
}

/* ---- lines ---- */

static int has_factors(const hu_trace_step *step) {
  return step->kind != HU_TRACE_TERM || step->x.kind != HU_TRACE_ZERO || step->y.kind != HU_TRACE_ZERO;
}

/* Prints what the operation is formed of: "0.5 * 3 + 1 = ". */
static void print_operation(const hu_trace_step *step) {
  char x[VALUE_MAX], y[VALUE_MAX], c[VALUE_MAX];
  if (step->kind == HU_TRACE_ADD)
    printf("%s + %s = ", value(x, step->x), value(y, step->y));
  else if (step->kind == HU_TRACE_FMA)
    printf("%s * %s + %s = ", value(x, step->x), value(y, step->y), value(c, step->c));
  else if (step->kind == HU_TRACE_MUL ||
           (step->kind == HU_TRACE_TERM && step->k != HU_TRACE_NO_PRODUCT && has_factors(step)))
    printf("%s * %s = ", value(x, step->x), value(y, step->y));
}

static void print_element(const hu_trace_step *step) {
  char name[CLI_NAME_MAX];
  if (step->type.kind) printf(" in %s", cli_element_name(name, step->type));
}

static void print_rounding(const hu_trace_step *step) {
  char exact[VALUE_MAX], z[VALUE_MAX];
  int cut = step->kind == HU_TRACE_TERM || step->kind == HU_TRACE_CUT;
  print_operation(step);
  printf("%s", value(exact, step->exact));
  if (changed(step)) printf(", %s %s", cut ? "cut to" : "rounded to", value(z, step->z));
  print_element(step);
  if (step->random) printf(" (R = 0x%x)", (unsigned)step->random);
}

static void print_line(const hu_trace_step *step) {
  char text[PRODUCTS_MAX];
  const char *kind = step->kind == HU_TRACE_LAST ? "result" : kinds[step->kind];
  if (step->kind < HU_TRACE_ALIGN) {
    printf("  %-7s %s\n", kind, products(text, step));
    return;
  }
  printf("  %-7s %-18s ", kind, products(text, step));
  if (step->kind == HU_TRACE_ALIGN)
    printf("to 2^%d; the last digit kept is 2^%d", step->top, step->unit);
  else
    print_rounding(step);
  putchar('\n');
}

/* ---- JSON ---- */

static void json_number(const char *key, hu_traced x) {
  char text[VALUE_MAX];
  x = shortened(x);
  cli_json(stdout, ", ?: ?", JSON(key),
           x.kind == HU_TRACE_FINITE ? JSON(number_hex_parts(text, x.sign, x.significand, x.exponent))
                                     : JSON(x.kind == HU_TRACE_NAN ? NAN : special(x)));
}

static void json_step(const hu_trace_step *step, int first) {
  char name[CLI_NAME_MAX];
  cli_json(stdout, "?\n  {'step': ?", cli_plain(first ? "" : ","), JSON(kinds[step->kind]));
  if (step->k != HU_TRACE_NO_PRODUCT) cli_json(stdout, ", 'first': ?, 'past': ?", JSON(step->k), JSON(step->past));
  if (step->kind >= HU_TRACE_ALIGN && step->kind <= HU_TRACE_CUT && step->unit | step->top)
    cli_json(stdout, ", 'top': ?, 'unit': ?", JSON(step->top), JSON(step->unit));
  if (step->kind > HU_TRACE_ALIGN) {
    int factors = step->kind >= HU_TRACE_MUL && step->kind <= HU_TRACE_FMA;
    if (factors || (step->kind == HU_TRACE_TERM && step->k != HU_TRACE_NO_PRODUCT && has_factors(step))) {
      json_number("x", step->x);
      json_number("y", step->y);
    }
    if (step->kind == HU_TRACE_FMA) json_number("c", step->c);
    json_number("exact", step->exact);
    if (step->exact.more) printf(", \"exact_is_cut\": true");
    json_number("result", step->z);
    if (step->type.kind) cli_json(stdout, ", 'format': ?", JSON(cli_element_name(name, step->type)));
    if (step->random) printf(", \"random\": \"0x%x\"", (unsigned)step->random);
  }
  putchar('}');
}

static int fills_up(const dot_steps *steps, const hu_trace_step *step) {
  return step->kind == HU_TRACE_TERM && step->k != HU_TRACE_NO_PRODUCT && step->k >= steps->given &&
         step->exact.kind == HU_TRACE_ZERO;
}

void dot_steps_print(void *context, const hu_trace_step *step) {
  dot_steps *steps = context;
  int first = steps->count++ == 0;
  steps->lost += step->kind > HU_TRACE_ALIGN && changed(step);
  if (steps->json)
    json_step(step, first);
  else if (!fills_up(steps, step))
    print_line(step);
}
