/* SPDX-License-Identifier: MIT */
/* Why a number becomes the code it becomes, in number systems beside floating point: candidates and their fraction come
 * from the library's own roundings toward and away from zero and with 32 random digits (docs/numbers.md N.2). */
#include <math.h>
#include <string.h>

#include "cli/explain/number.h"

enum { RULE_MAX = 256 };

typedef struct context {
  hu_number n;
  double x;
  uint32_t random;
  int json;
  uint32_t lower, upper; /* the candidates' codes */
  uint64_t part;         /* floor(nu 2^32) */
  int exact, tie;        /* x is a value; nu is 1/2 */
} context;

static uint32_t encode(const context *asked, hu_mode mode, uint32_t random) {
  return hu_number_encode64(asked->n, mode, asked->x, random, NULL);
}

static hu_mode of_round(uint8_t round, uint8_t bits) {
  hu_mode mode = {0};
  mode.round = round;
  mode.bits = bits;
  return mode;
}

/* Finds the least random number that goes up, which says what nu is. */
static uint64_t find_part(const context *asked) {
  uint64_t low = 0, high = (uint64_t)1 << 32;
  hu_mode sra = of_round(HU_SRA, 32);
  while (low < high) {
    uint64_t middle = (low + high) / 2;
    if (encode(asked, sra, (uint32_t)middle) == asked->lower)
      low = middle + 1;
    else
      high = middle;
  }
  return ((uint64_t)1 << 32) - low;
}

static void find_place(context *asked) {
  uint32_t events;
  asked->lower = encode(asked, of_round(HU_RTZ, 0), 0);
  asked->upper = encode(asked, of_round(HU_RAZ, 0), 0);
  (void)hu_number_encode64(asked->n, of_round(HU_RTZ, 0), asked->x, 0, &events);
  asked->exact = !(events & HU_EVENT_INEXACT);
  asked->tie = encode(asked, of_round(HU_RNA, 0), 0) != encode(asked, of_round(HU_RNZ, 0), 0);
  asked->part = asked->lower == asked->upper ? 0 : find_part(asked);
}

static const char *nearest_rule(const context *asked) {
  if (asked->tie) return "a tie";
  return asked->part >> 31 ? "more than half the way: away from zero" : "less than half the way: toward zero";
}

static const char *rule_of(const context *asked, hu_mode mode, uint32_t code, uint32_t events) {
  static const char *const policies[] = {"NaN into numbers without NaN: NaN policy max, the default: the largest value",
                                         "NaN into numbers without NaN: NaN policy zero: what +0 becomes",
                                         ("NaN into numbers without NaN: NaN policy error: the largest value, and the "
                                          "event invalid")};
  if (isnan(asked->x)) return hu_number_limits_of(asked->n).has_nan ? "NaN" : policies[mode.nan % 3];
  if (isinf(asked->x)) return "an infinity";
  if (events & HU_EVENT_INVALID) return "below the range of unsigned numbers";
  if (events & HU_EVENT_OVERFLOW)
    return events & HU_EVENT_SATURATED ? "beyond the range: its end" : "beyond the range: wrapped";
  if (asked->x == 0) return events & HU_EVENT_INEXACT ? "zero, which is not a value here" : "zero";
  if (events & HU_EVENT_UNDERFLOW) return "below the smallest value";
  if (asked->exact) return "exactly there: nothing to round";
  if (mode.round <= HU_RNZ) return nearest_rule(asked);
  return code == asked->upper && asked->upper != asked->lower ? "away from zero" : "toward zero";
}

static void print_neighbour(const context *asked, const char *label, uint32_t code) {
  char hex[NUMBER_TEXT_MAX], decimal[NUMBER_TEXT_MAX];
  double value = hu_number_decode64(asked->n, code);
  printf("  %-18s 0x%-14.*x %-20s %s\n", label, cli_system_digits(asked->n), (unsigned)code, number_hex(hex, value),
         number_decimal(decimal, value));
}

static const char *unit_of(hu_number system) {
  int string =
      system.kind == HU_NUMBER_POSIT || system.kind == HU_NUMBER_TAKUM_LINEAR || system.kind == HU_NUMBER_TAKUM;
  return string ? "of the bit string" : system.kind == HU_NUMBER_LNS ? "of the logarithm" : "of the step";
}

static void print_neighbours(const context *asked) {
  print_neighbour(asked, "toward zero", asked->lower);
  print_neighbour(asked, "away from zero", asked->upper);
  if (asked->lower == asked->upper) return;
  printf("  %-18s %s %s past the neighbour toward zero%s\n", "distance", ROUNDED(ldexp((double)asked->part, -32), 9),
         unit_of(asked->n), asked->tie ? ", a tie" : " (32 binary digits, cut off)");
}

static void json_neighbours(const context *asked) {
  int digits = cli_system_digits(asked->n);
  cli_json(stdout, "'toward_zero': {?}, 'away_from_zero': {?}, 'fraction32': ?, ",
           cli_code(digits, asked->lower, hu_number_decode64(asked->n, asked->lower)),
           cli_code(digits, asked->upper, hu_number_decode64(asked->n, asked->upper)),
           JSON(ldexp((double)asked->part, -32)));
}

static void explain_mode(const context *asked, hu_mode mode, int first) {
  char value[NUMBER_TEXT_MAX], decimal[NUMBER_TEXT_MAX], words[CLI_EVENTS_MAX], name[8];
  uint32_t events, code = hu_number_encode64(asked->n, mode, asked->x, asked->random, &events);
  double result = hu_number_decode64(asked->n, code);
  const char *rule = rule_of(asked, mode, code, events);
  hu_mode_round_text(name, mode);
  number_hex(value, result);
  cli_event_words(words, events);
  if (asked->json) {
    cli_json(stdout, "?{'mode': ?, 'rule': ?, ?, 'events': ?}", cli_comma(first), JSON(name), JSON(rule),
             cli_code(cli_system_digits(asked->n), code, result), cli_event_set(events));
    return;
  }
  printf("  %-18s %s\n  %-18s %s0x%0*x = %s", name, rule, "", cli_ink_on(stdout, CLI_INK_STRONG),
         cli_system_digits(asked->n), (unsigned)code, value);
  if (isfinite(result)) printf(" = %s", number_decimal(decimal, result));
  printf("%s; events: %s\n", cli_ink_on(stdout, CLI_INK_END), words);
}

/* Returns 1 if every result is the same for all numbers next to the text's own. */
static int suffices(hu_number system, number z, const hu_mode *modes, int count, uint32_t random) {
  double away = nextafter(z.toward_zero, signbit(z.value) ? -HUGE_VAL : HUGE_VAL);
  for (int i = 0; i < count; i++) {
    uint32_t a = hu_number_encode64(system, modes[i], z.toward_zero, random, NULL);
    uint32_t b = hu_number_encode64(system, modes[i], away, random, NULL);
    uint32_t c = hu_number_encode64(system, modes[i], z.value, random, NULL);
    if (a != c && hu_number_decode64(system, a) != z.toward_zero) return 0; /* values themselves round to themselves */
    if (b != c && hu_number_decode64(system, b) != away) return 0;
  }
  return 1;
}

int cli_system_explain(hu_number system, const char *given, const char *text, const hu_mode *modes, int count,
                       uint32_t random, int json) {
  char name[CLI_NAME_MAX], hex[NUMBER_TEXT_MAX], decimal[NUMBER_TEXT_MAX];
  number z;
  context asked = {system, 0, random, json, 0, 0, 0, 0, 0};
  if (!number_parse(&z, text)) return cli_fail(NULL, "explain: '%s' is not a number", text);
  if (!z.exact && !suffices(system, z, modes, count, random))
    return cli_fail(NULL, "explain: the mode requires more digits of '%s' than binary64 holds", text);
  asked.x = z.value;
  int finite = isfinite(asked.x) && asked.x != 0;
  cli_system_name(name, system, given);
  if (finite) find_place(&asked);
  if (json) {
    cli_json(stdout, "{'format': ?, ", JSON(name));
    if (finite) json_neighbours(&asked);
    printf("\"results\": [");
  } else {
    printf("%s in %s\n", text, name);
    printf("  %-18s %s%s = %s\n", "exact value", z.exact ? "" : "next to ", number_hex(hex, z.toward_zero),
           number_decimal(decimal, z.toward_zero));
    if (finite) print_neighbours(&asked);
  }
  for (int i = 0; i < count; i++) explain_mode(&asked, modes[i], i == 0);
  if (json) printf("]}\n");
  return CLI_OK;
}
