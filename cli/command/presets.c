/* SPDX-License-Identifier: MIT */
/* halfulp presets - conversions as other programs do them. */
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/names.h"
#include "halfulp/conversion.h"

typedef struct presets_state {
  int json, verbose;
} presets_state;

static int set(void *context, int key, const char *value) {
  presets_state *state = context;
  (void)value;
  if (key == CLI_KEY_JSON) state->json = 1;
  if (key == 'v') state->verbose = 1;
  return CLI_OK;
}

static const cli_option options[] = {
    {'v', "verbose", NULL, "also print what each stands for, a call of the other program"}, CLI_OPTION_JSON, {0}};
static const cli_command command = {
    "presets",
    "[NAME | PART]",
    "List conversions as other programs do them, or show one's card",
    "A preset names a format and how another program converts numbers into it: rounding, saturation, NaN, an\n"
    "earlier rounding into a wider format, the rule of a scale. Give its NAME for a format: -f NAME of encode,\n"
    "decode, quantize and explain. PART keeps the names that begin with it or, if none does, that contain it.\n"
    "Every qtorch.float(E,M) is a preset, too, and every path(FORMAT:MODE,FORMAT:MODE), a chain of roundings\n"
    "(docs/paths.md).\n"
    "docs/compatibility.md says which programs each was compared with.",
    "  halfulp presets\n  halfulp presets torch.\n  halfulp presets cuda.fp8_e4m3.satfinite\n  halfulp presets --json",
    options,
    0,
    1,
    set};

static const char *const operand_words[] = {"binary64 to binary32, rne", "subnormal numbers there to zero",
                                            "the sign is dropped",       "zero becomes NaN",
                                            "an infinity becomes NaN",   "a negative number becomes NaN"};

static void operand_text(char text[CLI_NAME_MAX], unsigned operand) {
  size_t n = 0;
  text[0] = 0;
  for (int i = 0; i < 6; i++)
    if (operand >> i & 1) n += (size_t)snprintf(text + n, CLI_NAME_MAX - n, "%s%s", n ? ", " : "", operand_words[i]);
}

static void nan_text(char text[CLI_NAME_MAX], const hu_conversion *conversion, unsigned rule) {
  static const char *const words[] = {"as the format and mode define it", "", "", "sign and leading digits, made quiet",
                                      "sign and leading digits"};
  const char *code = conversion->nan_code == HU_NO_CODE ? "the canonical one" : "";
  if (rule == HU_NAN_BY_CODE)
    snprintf(text, CLI_NAME_MAX, "0x%X", (unsigned)conversion->nan_code);
  else if (rule == HU_NAN_BY_SIGN && *code)
    snprintf(text, CLI_NAME_MAX, "%s with its sign", code);
  else if (rule == HU_NAN_BY_SIGN)
    snprintf(text, CLI_NAME_MAX, "0x%X, the sign bit changed if its sign is set", (unsigned)conversion->nan_code);
  else
    snprintf(text, CLI_NAME_MAX, "%s", words[rule]);
}

/* What a card has, line by line; "" where there is nothing to say. */
enum { LINE_FORMAT, LINE_MODE, LINE_OPERAND, LINE_FIRST, LINE_NAN, LINE_NAN64, LINE_CODES, LINE_COUNT };
typedef struct card_lines {
  char line[LINE_COUNT][CLI_NAME_MAX];
} card_lines;
static const char *const labels[LINE_COUNT] = {"format", "mode", "operand", "first", "nan", "nan64", "codes"};

/* Writes the step `first`, or the mode of the step `through` alone. */
static void first_text(char text[CLI_NAME_MAX], const hu_conversion *conversion) {
  static const hu_format none;
  char name[CLI_NAME_MAX], mode[CLI_NAME_MAX];
  cli_mode_name(mode, conversion->first_mode);
  if (!hu_format_equal(conversion->first, none)) {
    size_t n = (size_t)snprintf(text, CLI_NAME_MAX, "rounded into %.100s, %.40s",
                                cli_format_name(name, conversion->first), mode);
    for (int i = 0; i < HU_CONVERSION_FURTHER && n < CLI_NAME_MAX; i++) {
      const hu_conversion_step *step = &conversion->further[i];
      if (hu_format_equal(step->format, none)) break;
      n += (size_t)snprintf(text + n, CLI_NAME_MAX - n, "; into %.100s, %.40s", cli_format_name(name, step->format),
                            cli_mode_name(mode, step->mode));
    }
  } else if (*conversion->through)
    snprintf(text, CLI_NAME_MAX, "%.40s", mode);
}

static void fill(card_lines *card, const hu_conversion *conversion) {
  memset(card, 0, sizeof *card);
  cli_format_name(card->line[LINE_FORMAT], conversion->format);
  cli_mode_name(card->line[LINE_MODE], conversion->mode);
  first_text(card->line[LINE_FIRST], conversion);
  if (conversion->codes == HU_SCALED_CODES_RAISED)
    snprintf(card->line[LINE_CODES], CLI_NAME_MAX,
             "of x times the largest binary32 number where the scale is 0; -0 as +0");
  if (*conversion->scaling) return;
  operand_text(card->line[LINE_OPERAND], conversion->operand);
  nan_text(card->line[LINE_NAN], conversion, conversion->nan);
  if (conversion->nan64 != conversion->nan) nan_text(card->line[LINE_NAN64], conversion, conversion->nan64);
}

static void print_json(const hu_conversion_entry *entry, int first) {
  card_lines card;
  fill(&card, &entry->conversion);
  cli_json(stdout, "?\n  {'id': ?", cli_plain(first ? "" : ","), JSON(entry->name));
  for (int i = 0; i < LINE_COUNT; i++) cli_json(stdout, ", ?: ?", JSON(labels[i]), JSON(card.line[i]));
  cli_json(stdout, ", 'scaling': ?, 'through': ?, 'stands': ?, 'tested': ?, 'note': ?}",
           JSON(entry->conversion.scaling), JSON(entry->conversion.through), JSON(entry->stands), JSON(entry->tested),
           JSON(entry->note));
}

static void print_line(const char *label, const char *text) {
  if (*text) printf("  %-16s %s\n", label, text);
}

static void print_card(const hu_conversion_entry *entry) {
  card_lines card;
  const char *const shown[] = {"format", "mode", "operand", "first", "NaN", "NaN, binary64", "codes"};
  fill(&card, &entry->conversion);
  printf("%s\n", entry->name);
  print_line("stands for", entry->stands);
  for (int i = 0; i < LINE_COUNT; i++) print_line(shown[i], card.line[i]);
  print_line("through", entry->conversion.through);
  print_line("scaled tensor", entry->conversion.scaling);
  print_line("compared with", entry->tested);
  print_line("note", entry->note);
}

static void print_row(const hu_conversion_entry *entry, int verbose) {
  card_lines card;
  fill(&card, &entry->conversion);
  printf("%-34s %-28.36s %s\n", entry->name, card.line[LINE_FORMAT], card.line[LINE_MODE]);
  if (verbose) printf("    %s\n", entry->stands);
}

/* Finds the entry of this very name; 0 if there is none. A name with parameters that is in no list has no words. */
static int find_entry(hu_conversion_entry *entry, const char *name) {
  for (size_t i = 0; i < hu_conversion_count(); i++) {
    *entry = hu_conversion_at(i);
    if (!strcmp(entry->name, name)) return 1;
  }
  memset(entry, 0, sizeof *entry);
  if (hu_conversion_find(&entry->conversion, name) != HU_OK) return 0;
  entry->name = name;
  entry->stands = entry->tested = entry->note = "";
  return 1;
}

/* Returns 1 if a name is among those that are listed: all without a part, else those that begin with it if any does. */
static int listed(const char *name, const char *part, int begins) {
  if (!part) return 1;
  return begins ? !strncmp(name, part, strlen(part)) : strstr(name, part) != NULL;
}

static size_t count_listed(const char *part, int begins) {
  size_t n = 0;
  for (size_t i = 0; i < hu_conversion_count(); i++) n += listed(hu_conversion_at(i).name, part, begins) != 0;
  return n;
}

int cli_presets(int argc, char **argv) {
  presets_state state = {0};
  hu_conversion_entry entry;
  char **operands;
  int count, shown = 0, status = cli_parse(&command, &state, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (count && !state.json && find_entry(&entry, operands[0])) {
    print_card(&entry);
    return CLI_OK;
  }
  const char *part = count ? operands[0] : NULL;
  int begins = count_listed(part, 1) != 0;
  if (!count_listed(part, begins)) return cli_fail_preset_name(part);
  if (state.json)
    putchar('[');
  else
    printf("%-34s %-28s %s\n", "name", "format", "mode (-v: what it stands for)");
  for (size_t i = 0; i < hu_conversion_count(); i++) {
    entry = hu_conversion_at(i);
    if (!listed(entry.name, part, begins)) continue;
    if (state.json)
      print_json(&entry, shown == 0);
    else
      print_row(&entry, state.verbose);
    shown++;
  }
  if (state.json) printf("\n]\n");
  return CLI_OK;
}
