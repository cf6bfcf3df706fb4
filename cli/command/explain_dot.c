/* SPDX-License-Identifier: MIT */
/* See explain_dot.h. */
#include "cli/command/explain_dot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/accum/text.h"
#include "cli/base/names.h"
#include "cli/base/numbers.h"
#include "cli/explain/dot_steps.h"
#include "halfulp/scalar.h"

enum { OPERANDS = 5, PATTERN_DIGITS = 16 };
static const char *const names[OPERANDS] = {"A", "B", "C", "SCALES_A", "SCALES_B"};

/* ---- numbers to patterns ---- */

static double clamped(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

/* Rounds a number to an integer that an integer element holds: ties to even, and the nearest end beyond the range. */
static int64_t integer_of(hu_type element, double x) {
  int bits = (int)hu_type_width(element), is_signed = element.kind == HU_TYPE_INT8 || element.kind == HU_TYPE_INT4;
  if (element.kind == HU_TYPE_INT32) is_signed = 1;
  double high = ldexp(1, bits - is_signed) - 1, low = is_signed ? -high - 1 : 0;
  return isnan(x) ? 0 : (int64_t)clamped(nearbyint(x), low, high);
}

/* Writes the pattern of a number in an element, ties to even. *rounded counts those that are not the number. */
static int pattern_of(uint64_t *z, hu_type element, const char *text, int *rounded) {
  number x;
  if (!number_parse(&x, text)) return cli_fail(NULL, "explain dot: '%s' is not a number", text);
  double back = x.value;
  if (element.kind == HU_TYPE_BINARY64) {
    memcpy(z, &x.value, sizeof *z);
  } else if (element.kind != HU_TYPE_CODES) {
    int64_t n = integer_of(element, x.value);
    *z = (uint64_t)n & (~(uint64_t)0 >> (64 - hu_type_width(element)));
    back = (double)n;
  } else {
    if (!number_suffices(x, element.format, (hu_mode){0}))
      return cli_fail(NULL, "explain dot: the format requires more digits of '%s' than binary64 holds", text);
    *z = hu_encode64(element.format, (hu_mode){0}, x.value, 0, NULL);
    back = hu_decode64(element.format, (uint32_t)*z);
  }
  *rounded += !x.exact || (back != x.value && !(isnan(back) && isnan(x.value)));
  return CLI_OK;
}

/* Writes "1,-2,0.5" as patterns in hex, filled up with zeros to a multiple of `depth`. NULL after an error line. */
static char *hex_of(const char *list, hu_type element, size_t depth, int *rounded, size_t *filled) {
  size_t digits = (hu_type_width(element) + 3) / 4, count = 1, at = 0;
  for (const char *c = list; *c; c++) count += *c == ',';
  size_t whole = (count + depth - 1) / depth * depth;
  char *copy = strdup(list), *text = malloc(whole * digits + 1), *rest = copy;
  int good = copy && text;
  if (!good) (void)cli_fail(NULL, "explain dot: not enough memory");
  for (char *word; good && (word = strsep(&rest, ",")) != NULL; at += digits) {
    uint64_t pattern = 0;
    good = pattern_of(&pattern, element, word, rounded) == CLI_OK;
    if (good) snprintf(text + at, digits + 1, "%0*llx", (int)digits, (unsigned long long)pattern);
  }
  *filled = whole - count;
  if (good && *filled) memset(text + at, '0', *filled * digits);
  if (good) text[whole * digits] = 0;
  free(copy);
  if (good) return text;
  free(text);
  return NULL;
}

/* ---- the model and its elements ---- */

static int read_elements(cli_dot *dot, const explain_dot *asked, const cli_numeric *numeric) {
  hu_type *const element[3] = {&dot->a, &dot->b, &dot->result};
  const char *const text[3] = {asked->fa, asked->fb, asked->fd};
  for (int i = 0; i < 3; i++) {
    if (text[i] && cli_read_element(element[i], text[i])) return CLI_BAD;
    if (!text[i] && !hu_type_size(*element[i]) && numeric->format_text) *element[i] = hu_type_codes(numeric->format);
    if (!hu_type_size(*element[i]))
      return cli_fail(NULL, "explain dot: the model leaves the elements of %s open: give -f, or --fa, --fb and --fd",
                      i < 2 ? names[i] : "the result");
  }
  return CLI_OK;
}

static int choose_model(cli_dot *dot, const explain_dot *asked, const cli_numeric *numeric) {
  int named;
  if (cli_dot_model(dot, "--accum", asked->model, &named)) return CLI_BAD;
  if (!named) {
    dot->a = dot->accum.a;
    dot->b = dot->accum.b;
    dot->result = cli_model_result(&dot->accum);
  }
  if (!asked->fd && dot->accum.kind == HU_ACCUM_INT32) dot->result = hu_type_plain(HU_TYPE_INT32);
  if (read_elements(dot, asked, numeric) || cli_dot_taken(dot, asked->model)) return CLI_BAD;
  dot->mode = numeric->mode;
  return CLI_OK;
}

/* ---- output ---- */

static void print_head(const cli_dot *dot, const explain_dot *asked, size_t n, size_t filled, int rounded) {
  char a[CLI_NAME_MAX], b[CLI_NAME_MAX], result[CLI_NAME_MAX];
  printf("%zu products under %s\n", n - filled, asked->model);
  printf("  A in %s, B in %s, C and the result in %s\n", cli_element_name(a, dot->a), cli_element_name(b, dot->b),
         cli_element_name(result, dot->result));
  if (rounded) printf("  %d of the numbers were rounded into their formats first\n", rounded);
  if (filled) printf("  filled up with %zu zeros to the %zu products of the instruction\n", filled, n);
}

static uint32_t set_of(const hu_events *events) {
  const uint64_t counts[] = {events->overflow, events->saturated, events->underflow, events->to_zero, events->subnormal,
                             events->inexact,  events->invalid,   events->nan_in,    events->inf_in};
  uint32_t set = 0;
  for (unsigned i = 0; i < sizeof counts / sizeof counts[0]; i++) set |= (uint32_t)(counts[i] != 0) << i;
  return set;
}

int cli_explain_dot_line(const cli_dot *dot, char *const *word, int count, const cli_lines *lines, const hu_exec *exec,
                         size_t filled, int json) {
  char words[CLI_EVENTS_MAX];
  cli_dot traced = *dot;
  size_t n = strlen(word[0]) / ((hu_type_width(dot->a) + 3) / 4);
  dot_steps steps = {.json = json, .given = n - filled};
  hu_events set = {0};
  uint64_t result;
  traced.visit = dot_steps_print;
  traced.context = &steps;
  if (json) printf("\"steps\": [");
  if (cli_dot_line(&result, &set, &traced, word, count, lines, exec)) return CLI_BAD;
  int digits = (int)(hu_type_width(dot->result) + 3) / 4;
  uint32_t events = set_of(&set);
  if (json) {
    printf("],\n \"code\": \"0x%0*llx\"", digits, (unsigned long long)result);
    cli_json(stdout, ", 'lossy_steps': ?, 'events': ?", JSON(steps.lost), cli_event_set(events));
  } else {
    cli_event_words(words, events);
    printf("  code    0x%0*llx; %llu of %llu steps lose digits; events of the last rounding: %s\n", digits,
           (unsigned long long)result, steps.lost, steps.count, words);
  }
  return CLI_OK;
}

/* ---- the command ---- */

static int explain_words(const cli_dot *dot, const explain_dot *asked, const cli_numeric *numeric, char **word,
                         int count, size_t filled, int rounded) {
  cli_lines lines = {.name = "explain dot", .number = 1};
  hu_exec exec = {1, 0, numeric->stream, {0}};
  size_t n = strlen(word[0]) / ((hu_type_width(dot->a) + 3) / 4);
  uint64_t unused;
  if (cli_dot_line(&unused, NULL, dot, word, count, &lines, &exec)) return CLI_BAD; /* before anything is printed */
  if (numeric->json) {
    char text[HU_ACCUM_TEXT_MAX];
    hu_accum_text(text, sizeof text, &dot->accum);
    cli_json(stdout, "{'model': ?, 'products': ?, ", JSON(text), JSON(n));
  } else {
    print_head(dot, asked, n, filled, rounded);
  }
  int status = cli_explain_dot_line(dot, word, count, &lines, &exec, filled, numeric->json);
  if (status == CLI_OK && numeric->json) printf("}\n");
  return status;
}

int cli_explain_dot(const explain_dot *asked, const cli_numeric *numeric, char **operand, int count) {
  cli_dot dot = {0};
  char *word[OPERANDS] = {NULL}, none[] = "-";
  size_t filled = 0, unused;
  int rounded = 0, status = CLI_OK;
  if (!asked->model) return cli_fail(NULL, "explain dot: --accum is missing: a model or a unit of `halfulp models`");
  if (choose_model(&dot, asked, numeric)) return CLI_BAD;
  int most = cli_dot_operands(&dot);
  if (count < 2 || count > most || count == 4)
    return cli_fail(NULL, "explain dot: the model takes A B%s", most == OPERANDS ? " C SCALES_A SCALES_B" : " [C]");
  const hu_type element[OPERANDS] = {dot.a, dot.b, dot.result, dot.scale, dot.scale};
  for (int i = 0; i < most && status == CLI_OK; i++) {
    const char *text = i < count ? operand[i] : none;
    int plain = asked->codes || !strcmp(text, "-");
    if (i > 2 && i >= count) return cli_fail(NULL, "explain dot: %s is missing: the model has scales", names[i]);
    word[i] = plain ? strdup(text) : hex_of(text, element[i], i < 2 ? dot.depth : 1, &rounded, i ? &unused : &filled);
    if (!word[i]) status = CLI_BAD;
  }
  if (status == CLI_OK) status = explain_words(&dot, asked, numeric, word, most, filled, rounded);
  for (int i = 0; i < OPERANDS; i++) free(word[i]);
  return status;
}
