/* SPDX-License-Identifier: MIT */
/* halfulp explain - why a number becomes the code it becomes. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/names.h"
#include "cli/base/numbers.h"
#include "cli/command/explain_dot.h"
#include "cli/explain/link.h"
#include "cli/explain/neighbours.h"
#include "cli/explain/number.h"
#include "cli/explain/operation.h"
#include "cli/explain/rules.h"
#include "cli/target/preset_names.h"
#include "halfulp/scalar.h"

enum { MODES_MAX = 32, KEY_FA = CLI_KEY_FREE, KEY_FB, KEY_FC, KEY_FD, KEY_ACCUM, KEY_CODES, KEY_OPEN };

typedef struct explain_state {
  cli_numeric numeric;
  hu_mode modes[MODES_MAX]; /* round and bits; the rest comes from numeric */
  int count;
  uint64_t random;
  cli_preset preset;
  int other; /* 1: a number system beside floating point */
  hu_number system;
  float values[HU_TABLE_MAX];
  operation operation;
  const char *operand_formats[OPERATION_OPERANDS]; /* as given, NULL: that of the result */
  explain_dot dot;
  int open;               /* print a link to the playground instead */
  const char *round_text; /* of --round, the last one */
} explain_state;

static int add_mode(explain_state *state, const char *value) {
  if (!strcmp(value, "all")) {
    for (uint8_t round = HU_RNE; round < HU_SRA && state->count < MODES_MAX; round++)
      state->modes[state->count++] = (hu_mode){.round = round};
    return CLI_OK;
  }
  if (state->count == MODES_MAX) return cli_fail(NULL, "--round: more than %d modes", MODES_MAX);
  int status = cli_set_numeric(&state->numeric, 'r', value);
  if (status < 0) return CLI_BAD;
  state->modes[state->count++] = state->numeric.mode;
  return CLI_OK;
}

static int set(void *context, int key, const char *value) {
  explain_state *state = context;
  if (key >= KEY_FA && key <= KEY_CODES) {
    if (key <= KEY_FC) state->operand_formats[key - KEY_FA] = value; /* read when the operation is known */
    if (key == KEY_FD) state->dot.fd = value;
    if (key == KEY_ACCUM) state->dot.model = value;
    if (key == KEY_CODES) state->dot.codes = 1;
    return CLI_OK;
  }
  if (key == KEY_OPEN) {
    state->open = 1;
    return CLI_OK;
  }
  if (key == 'r') {
    state->round_text = strcmp(value, "all") ? value : NULL;
    return add_mode(state, value);
  }
  if (key == 'f') state->preset.name = NULL;
  if (key == 'f' && cli_preset_claims(value)) {
    state->other = 0;
    if (cli_preset_read(&state->preset, value)) return CLI_BAD;
    state->numeric.format_text = value;
    state->numeric.format = state->preset.conversion.format;
    return CLI_OK;
  }
  if (key == 'f') {
    state->other = cli_read_system(&state->system, value, state->values);
    if (state->other < 0) return CLI_BAD;
    state->numeric.format_text = value;
    if (state->other) return CLI_OK;
    return cli_read_format_or(&state->numeric.format, value, CLI_NAMES_NUMBERS | CLI_NAMES_PRESETS);
  }
  int shared = cli_set_numeric(&state->numeric, key, value);
  if (shared) return shared > 0 ? CLI_OK : CLI_BAD;
  if (hex_parse_any(&state->random, value, UINT32_MAX)) return CLI_OK;
  return cli_fail(NULL, "--random: '%s' is not a hex number of up to 32 bits", value);
}

static const cli_option options[] = {
    CLI_OPTIONS_FORMAT,
    {'r' | CLI_REPEATS, "round", "MODE", "a rounding mode, default rne, or all (the deterministic ones)"},
    {'s', "saturate", "POLICY", "default none finite propagate; default: the format's card"},
    {CLI_KEY_NAN, "nan", "POLICY", "NaN into a format without NaN: max zero error; default max"},
    {CLI_KEY_TINY, "tiny", "WHEN", "tininess is detected before or after rounding; default after"},
    {CLI_KEY_RANDOM, "random", "R", "stochastic modes: the random digits, in hex; default 0"},
    {KEY_FA, "fa", "FORMAT", "operations: the format of A; default: that of the result"},
    {KEY_FB, "fb", "FORMAT", "operations: the format of B; default: that of the result"},
    {KEY_FC, "fc", "FORMAT", "operations: the format of C; default: that of the result"},
    {KEY_FD, "fd", "FORMAT", "dot: the format of C and of D, the result; default: the model's own"},
    {KEY_ACCUM, "accum", "MODEL", "dot: an accumulation model or a unit (halfulp models)"},
    {KEY_CODES, "codes", NULL, "dot: operands are codes in hex, as halfulp mma reads them"},
    {KEY_OPEN, "open", NULL, "print a link to the playground that shows the same in a browser"},
    CLI_OPTIONS_STREAM,
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "explain",
    "VALUE | OPERATION A [B [C]] | dot A B [C [SCALES_A SCALES_B]]",
    "Show where a number lies between two values of a format, and which rule decides",
    "VALUE is decimal, C99 hexadecimal, inf or nan, with a sign or without: -0.1, -inf.\n"
    "FORMAT may be any number system that `halfulp formats` lists, or a preset (`halfulp presets`).\n"
    "OPERATION is one of " OPERATION_NAMES
    " (A * B + C is fma): its exact result is rounded once into FORMAT.\n"
    "Each operand is first rounded into its own format, ties to even; the output says so. Operations take only\n"
    "floating-point formats.\n"
    "dot prints every step of one dot product under --accum MODEL: terms, cuts, each rounding. A and B are lists of\n"
    "numbers with commas between them; a row shorter than the unit's instruction is filled up with zeros.",
    "  halfulp explain -f float8_e4m3fn 0.3\n  halfulp explain -f float8_e5m2 -r all 1.125\n"
    "  halfulp explain -f float4_e2m1fn -r sra:8 --random 9a 2.7\n"
    "  halfulp explain -f torch.bfloat16 0x1.0100000001p+0\n"
    "  halfulp explain -f bfloat16 --fa float8_e4m3fn --fb float8_e4m3fn fma 3.5 -0.1 1000\n"
    "  halfulp explain dot --accum nv.hopper.e4m3.f32.wgmma 448,0.125,1 448,0.25,1 1\n"
    "  halfulp explain dot --accum 'seq(bfloat16)' -f float8_e4m3fn 448,0.125,1 448,0.25,1",
    options,
    1,
    6,
    set};

/* The two neighbours as texts, and their codes where they have some. */
typedef struct neighbour {
  char value[NUMBER_TEXT_MAX];
  char code[32];
  double number;
} neighbour;

static void describe(neighbour *near, hu_format format, int negative, uint64_t steps, int unit) {
  hu_limits limits = hu_limits_of(format);
  number_hex_parts(near->value, negative, steps, unit);
  near->number = ldexp((double)steps, unit) * (negative ? -1 : 1);
  uint32_t code = hu_encode64(format, (hu_mode){.saturate = HU_SAT_FINITE}, near->number, 0, NULL);
  double back = hu_decode64(format, code);
  if (fabs(near->number) > limits.max)
    snprintf(near->code, sizeof near->code, "beyond max");
  else if (back == near->number)
    snprintf(near->code, sizeof near->code, "0x%0*x", (int)code_digits(format), code);
  else if (negative && !format.sign)
    snprintf(near->code, sizeof near->code, "below the range");
  else
    snprintf(near->code, sizeof near->code, "no code: flushed");
}

static void fraction_text(char text[64], const neighbours *between, int exact) {
  char hex[NUMBER_TEXT_MAX];
  double about = ldexp((double)between->part, -between->part_bits);
  if (!between->part)
    snprintf(text, 64, "0");
  else if (!exact)
    snprintf(text, 64, "about %s (not exact in binary64)", ROUNDED(about, 9));
  else if (between->part_bits <= 10)
    snprintf(text, 64, "%llu/%llu", (unsigned long long)between->part, 1ull << between->part_bits);
  else
    snprintf(text, 64, "%s (about %s)", number_hex_parts(hex, 0, between->part, -between->part_bits),
             ROUNDED(about, 9));
}

/* Returns 1 for a number that is known only to lie beyond: nothing else can be said of where it lies. */
static int beyond_binary64(number z) { return !z.exact && fabs(z.toward_zero) == DBL_MAX; }

static void print_operand(const explain_state *state, const char *text, number z) {
  char name[CLI_NAME_MAX], a[NUMBER_TEXT_MAX], b[NUMBER_TEXT_MAX];
  printf("%s in %s\n", text, cli_shown_name(name, state->numeric.format, state->numeric.format_text));
  if (z.exact) {
    printf("  %-18s %s", "exact value", number_hex(a, z.value));
    if (isfinite(z.value)) printf(" = %s", number_decimal(b, z.value));
    putchar('\n');
    return;
  }
  double away = nextafter(z.toward_zero, signbit(z.value) ? -HUGE_VAL : HUGE_VAL);
  if (isinf(away)) {
    printf("  %-18s %s, beyond the largest binary64 number\n", "exact value", text);
    return;
  }
  printf("  %-18s %s, between the binary64 numbers %s and %s\n", "exact value", text, number_hex(a, z.toward_zero),
         number_hex(b, away));
}

static void print_factors(const explain_state *state) {
  char name[CLI_NAME_MAX], value[NUMBER_TEXT_MAX];
  const operation *op = &state->operation;
  for (int i = 0; i < op->count; i++) {
    const char *given = state->operand_formats[i] ? state->operand_formats[i] : state->numeric.format_text;
    printf("  %-18c 0x%0*x = %s in %s%s\n", 'A' + i, (int)code_digits(op->format[i]), op->code[i],
           number_decimal(value, op->value[i]), cli_shown_name(name, op->format[i], given),
           op->rounded[i] ? ", rounded into it first" : "");
  }
}

static void json_factors(const explain_state *state) {
  char name[CLI_NAME_MAX], text[OPERATION_TEXT_MAX];
  const operation *op = &state->operation;
  cli_json(stdout, "'operation': ?, 'operands': [", JSON(operation_text(text, op)));
  for (int i = 0; i < op->count; i++) {
    const char *given = state->operand_formats[i] ? state->operand_formats[i] : state->numeric.format_text;
    cli_json(stdout, "?{'format': ?, ?, 'rounded': ?}", cli_comma(i == 0),
             JSON(cli_shown_name(name, op->format[i], given)),
             cli_code((int)code_digits(op->format[i]), op->code[i], op->value[i]), cli_truth(op->rounded[i]));
  }
  printf("], ");
}

static void print_neighbours(hu_format format, number z, const neighbours *between) {
  neighbour low, high;
  char decimal[NUMBER_TEXT_MAX], fraction[64], unit[NUMBER_TEXT_MAX];
  int negative = signbit(z.value) != 0;
  describe(&low, format, negative, between->steps, between->unit);
  describe(&high, format, negative, between->steps + 1, between->unit);
  fraction_text(fraction, between, z.exact);
  printf("  %-18s %-16s %-20s %s\n", "toward zero", low.code, low.value, number_decimal(decimal, low.number));
  printf("  %-18s %-16s %-20s %s\n", "away from zero", high.code, high.value, number_decimal(decimal, high.number));
  printf("  %-18s %s ulp past the neighbour toward zero; one ulp is %s\n", "distance", fraction,
         number_hex_parts(unit, 0, 1, between->unit));
}

static void json_neighbour(const char *key, const neighbour *near) {
  int coded = !strncmp(near->code, "0x", 2);
  cli_json(stdout, "?: {'code': ?, 'value': ?, 'hex': ?", JSON(key), JSON(coded ? near->code : NULL),
           JSON(near->number), JSON(near->value));
  if (!coded) cli_json(stdout, ", 'why': ?", JSON(near->code));
  printf("}, ");
}

static void json_neighbours(hu_format format, number z, const neighbours *between) {
  neighbour low, high;
  int negative = signbit(z.value) != 0;
  describe(&low, format, negative, between->steps, between->unit);
  describe(&high, format, negative, between->steps + 1, between->unit);
  json_neighbour("toward_zero", &low);
  json_neighbour("away_from_zero", &high);
  double distance = ldexp((double)between->part, -between->part_bits);
  cli_json(stdout, "'distance_ulps': ?, 'distance_exact': ?, 'ulp': ?, ",
           cli_plain(z.exact ? DECIMAL(distance) : ROUNDED(distance, 12)), cli_truth(z.exact),
           JSON(ldexp(1, between->unit)));
}

/* Explains the result of one mode. Returns CLI_DIFFERENT if the library's answer is not what the rule says. */
static int explain_mode(const explain_state *state, number z, const neighbours *between, hu_mode mode, int first) {
  char rule[RULE_MAX], value[NUMBER_TEXT_MAX], decimal[NUMBER_TEXT_MAX], words[CLI_EVENTS_MAX], name[8];
  hu_format format = state->numeric.format;
  uint32_t events, random = (uint32_t)state->random;
  int finite = isfinite(z.value) && z.value != 0, negative = signbit(z.value) != 0;
  uint32_t code = state->operation.count ? operation_code(&state->operation, format, mode, random, &events)
                                         : cli_preset_code(&state->preset, format, mode, z.value, random, &events);
  double result = hu_decode64(format, code);
  if (finite && beyond_binary64(z))
    rule[0] = 0; /* what follows says all */
  else if (finite)
    rule_of_rounding(rule, between, mode, negative, random);
  else if (state->preset.name && isnan(z.value))
    snprintf(rule, sizeof rule, "NaN: as the preset says");
  else
    rule_of_special(rule, state->operation.count ? operation_special(&state->operation) : NULL, format, mode, z.value);
  rule_of_range(rule, format, mode, z.value, events);
  number_hex(value, result);
  cli_event_words(words, events);
  hu_mode_round_text(name, mode);
  if (state->numeric.json) {
    cli_json(stdout, "?{'mode': ?, 'rule': ?, ?, 'events': ?}", cli_comma(first), JSON(name), JSON(rule),
             cli_code((int)code_digits(format), code, result), cli_event_set(events));
  } else {
    printf("  %-18s %s\n", name, rule);
    printf("  %-18s %s0x%0*x = %s", "", cli_ink_on(stdout, CLI_INK_STRONG), (int)code_digits(format), code, value);
    if (isfinite(result)) printf(" = %s", number_decimal(decimal, result));
    printf("%s; events: %s\n", cli_ink_on(stdout, CLI_INK_END), words);
  }
  int placed = finite && !beyond_binary64(z) && !between->below_all && format.subnormal != HU_SUBNORMAL_FLUSH;
  if (!placed || (events & (HU_EVENT_OVERFLOW | HU_EVENT_INVALID))) return CLI_OK;
  uint64_t steps = between->steps + (unsigned)neighbours_take_upper(between, mode, negative, random);
  if (fabs(result) == ldexp((double)steps, between->unit)) return CLI_OK;
  cli_fail("explain", "the library's result is not the neighbour that the rule names; please report this");
  return CLI_DIFFERENT;
}

/* Explains a number in another system, with the policies that explain_mode takes, too. */
static int explain_other(explain_state *state, const char *text) {
  for (int i = 0; i < state->count; i++) {
    hu_mode mode = state->numeric.mode;
    mode.round = state->modes[i].round;
    mode.bits = state->modes[i].bits;
    state->modes[i] = mode;
  }
  return cli_system_explain(state->system, state->numeric.format_text, text, state->modes, state->count,
                            (uint32_t)state->random, state->numeric.json);
}

static int read_operation(explain_state *state, char **operands, int count) {
  if (state->other || state->preset.name)
    return cli_fail(NULL, "explain: operations take floating-point formats, and '%s' is not one",
                    state->numeric.format_text);
  for (int i = 0; i < OPERATION_OPERANDS; i++) {
    state->operation.format[i] = state->numeric.format;
    if (state->operand_formats[i] && cli_read_format(&state->operation.format[i], state->operand_formats[i]))
      return CLI_BAD;
  }
  return operation_read(&state->operation, operands, count);
}

/* Reads a number, or an operation and its operands, whose exact result is then the number. */
static int read_operands(explain_state *state, number *z, char **operands, int count) {
  static const char *const names[OPERATION_OPERANDS] = {"--fa", "--fb", "--fc"};
  if (operation_find(&state->operation, operands[0])) {
    for (int i = state->operation.count; i < OPERATION_OPERANDS; i++)
      if (state->operand_formats[i])
        return cli_fail(NULL, "explain: %s: %s has no such operand", names[i], operands[0]);
    if (read_operation(state, operands + 1, count - 1)) return CLI_BAD;
    *z = operation_exact(&state->operation);
    return CLI_OK;
  }
  if (count > 1 && number_parse(z, operands[0]))
    return cli_fail(NULL, "explain: '%s' is one operand too many; it takes VALUE, or an operation and its operands",
                    operands[1]);
  if (count > 1) return cli_fail(NULL, "explain: '%s' is no operation (" OPERATION_NAMES ")", operands[0]);
  for (int i = 0; i < OPERATION_OPERANDS; i++)
    if (state->operand_formats[i]) return cli_fail(NULL, "explain: %s is for operations", names[i]);
  if (number_parse(z, operands[0])) return CLI_OK;
  return cli_fail(NULL, "explain: '%s' is not a number", operands[0]);
}

/* ---- --open ---- */

static void link_sum(char link[LINK_MAX], const explain_state *state, char **operands, int count) {
  static const char *const keys[] = {"ma", "mb", "mc", "sa", "sb"};
  for (int i = 1; i < count && i <= 5; i++) {
    char *list = strdup(operands[i]);
    for (char *c = list; c && *c; c++) *c = *c == ',' ? ' ' : *c;
    link_add(link, keys[i - 1], list && !strcmp(list, "-") ? "" : list);
    free(list);
  }
  if (count < 4) link_add(link, "mc", "");
  link_add(link, "m", state->dot.model);
  link_add(link, "shown", "0");
  link_add(link, "fe", state->operand_formats[0] ? state->operand_formats[0] : state->numeric.format_text);
  link_add(link, "fd", state->dot.fd ? state->dot.fd : state->numeric.format_text);
}

static void link_operation(char link[LINK_MAX], const explain_state *state, char **operands, int count) {
  static const char *const values[] = {"a", "b", "c"}, *const formats[] = {"fa", "fb", "fc"};
  link_add(link, "op", operands[0]);
  link_add(link, "fz", state->numeric.format_text);
  for (int i = 0; i < OPERATION_OPERANDS; i++) {
    if (i + 1 < count) link_add(link, values[i], operands[i + 1]);
    link_add(link, formats[i], state->operand_formats[i]);
  }
}

static int print_link(explain_state *state, char **operands, int count) {
  char link[LINK_MAX], random[16];
  int found, sum = !strcmp(operands[0], "dot"), codes = !sum && operation_find(&state->operation, operands[0]);
  if (state->preset.name || state->dot.codes)
    return cli_fail(NULL, "explain: --open: the playground takes no %s", state->dot.codes ? "--codes" : "presets");
  if (!sum && cli_need_format(&state->numeric)) return CLI_BAD;
  if (sum && !state->dot.model)
    return cli_fail(NULL, "explain dot: --accum is missing: a model or a unit of `halfulp models`");
  link_begin(link, sum ? "sum" : codes ? "operation" : "number", &found);
  if (!sum) link_add(link, "f", state->numeric.format_text);
  link_add(link, "r", state->round_text);
  snprintf(random, sizeof random, "%llx", (unsigned long long)state->random);
  if (state->random) link_add(link, "x", random);
  if (sum)
    link_sum(link, state, operands, count);
  else if (codes)
    link_operation(link, state, operands, count);
  else
    link_add(link, "v", operands[0]);
  printf("%s\n", link);
  if (!found)
    cli_note(
        "note: the playground is not beside this program: `make docs` makes it, and HALFULP_PLAYGROUND may name its "
        "address");
  return CLI_OK;
}

static int explain_sum(explain_state *state, char **operands, int count) {
  if (state->other || state->preset.name)
    return cli_fail(NULL, "explain: dot products take floating-point formats, and '%s' is not one",
                    state->numeric.format_text);
  if (state->operand_formats[2])
    return cli_fail(NULL, "explain: dot: --fc is no option here; --fd is the format of C and of the result");
  if (state->count > 1) return cli_fail(NULL, "explain: dot takes one rounding mode, that of the last rounding");
  state->dot.fa = state->operand_formats[0];
  state->dot.fb = state->operand_formats[1];
  return cli_explain_dot(&state->dot, &state->numeric, operands, count);
}

int cli_explain(int argc, char **argv) {
  explain_state state = {0};
  number z;
  neighbours between = {0};
  char result[OPERATION_TEXT_MAX];
  char **operands;
  int count, status = cli_parse(&command, &state, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (state.open) return print_link(&state, operands, count);
  if (!strcmp(operands[0], "dot")) return explain_sum(&state, operands + 1, count - 1);
  if (state.dot.fd || state.dot.model || state.dot.codes)
    return cli_fail(NULL, "explain: --accum, --fd and --codes are for dot, not for '%s'", operands[0]);
  if (cli_need_format(&state.numeric) || read_operands(&state, &z, operands, count)) return CLI_BAD;
  if (!state.count) state.modes[state.count++] = (hu_mode){0};
  if (state.other) return explain_other(&state, operands[0]);
  if (state.preset.name) {
    for (int i = 1; i < state.count; i++)
      if (cli_preset_alone(state.preset.name, &state.modes[i])) return CLI_BAD;
    state.count = 1;
    if (cli_preset_only(&state.preset, &state.numeric, &state.modes[0])) return CLI_BAD;
    cli_preset_steps(&state.preset, &z, operands[0], state.numeric.json);
  }
  const char *text = state.operation.count ? operation_text(result, &state.operation) : operands[0];
  int finite = isfinite(z.value) && z.value != 0;
  if (finite) between = neighbours_of(state.numeric.format, z.value);
  for (int i = 0; i < state.count; i++)
    if (!number_suffices(z, state.numeric.format, state.modes[i]))
      return cli_fail(NULL, "explain: the mode requires more digits of '%s' than binary64 holds", text);
  if (state.numeric.json) {
    char name[CLI_NAME_MAX];
    cli_json(stdout, "?'format': ?, ", cli_plain(state.preset.name ? "" : "{"),
             JSON(cli_shown_name(name, state.numeric.format, state.numeric.format_text)));
    if (state.operation.count) json_factors(&state);
    if (finite && !beyond_binary64(z)) json_neighbours(state.numeric.format, z, &between);
    cli_preset_once(&state.preset, (uint32_t)state.random, 1);
    printf("\"results\": [");
  } else {
    print_operand(&state, text, z);
    print_factors(&state);
    if (finite && !beyond_binary64(z)) print_neighbours(state.numeric.format, z, &between);
  }
  status = CLI_OK;
  for (int i = 0; i < state.count; i++) {
    hu_mode mode = state.numeric.mode;
    mode.round = state.modes[i].round;
    mode.bits = state.modes[i].bits;
    if (explain_mode(&state, z, &between, mode, i == 0)) status = CLI_DIFFERENT;
  }
  if (state.numeric.json)
    printf("]}\n");
  else
    cli_preset_once(&state.preset, (uint32_t)state.random, 0);
  return status;
}
