/* SPDX-License-Identifier: MIT */
/* halfulp formats - the catalogue. */
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/numbers.h"
#include "cli/explain/number.h"
#include "halfulp/number.h"
#include "halfulp/scaled.h"

enum { KEY_SCALED = CLI_KEY_FREE, KEY_RULES, KEY_NUMBERS };

typedef struct formats_state {
  int json, sources, scaled, rules, numbers, shown, headed;
  const char *part; /* only names that contain it */
} formats_state;

static int set(void *context, int key, const char *value) {
  formats_state *state = context;
  (void)value;
  if (key == CLI_KEY_JSON) state->json = 1;
  if (key == 'v') state->sources = 1;
  if (key == KEY_SCALED) state->scaled = 1;
  if (key == KEY_RULES) state->scaled = state->rules = 1;
  if (key == KEY_NUMBERS) state->numbers = 1;
  return CLI_OK;
}

static const cli_option options[] = {
    {'v', "verbose", NULL,
     "also print other names, where each is defined, what was left to decide, and long texts whole"},
    {KEY_SCALED, "scaled", NULL, "the scaled formats of arrays instead"},
    {KEY_RULES, "rules", NULL, "the rules by which programs make scaled tensors instead"},
    {KEY_NUMBERS, "numbers", NULL, "the number systems beside floating point instead"},
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "formats",
    "[PART]",
    "List the named formats and number systems",
    "Every P3109 name binary{K}p{P}{s|u}{e|f}, K = 3..16, and every fp(e,m,b):suffixes is a format too; so are\n"
    "posit(n,es), lns(w,f), q(m.n), uq(m.n) and table(value,...), the number systems at the end of the list,\n"
    "where a command says so. With PART, only entries whose name, or other name, contains it, scaled formats\n"
    "among them.",
    "  halfulp formats\n  halfulp formats e4m3\n  halfulp formats --json\n  halfulp formats --scaled",
    options,
    0,
    1,
    set};

static int is_asked(const formats_state *state, const char *name, const char *aliases) {
  return !state->part || strstr(name, state->part) || strstr(aliases, state->part);
}

static void print_json(const hu_format_entry *entry, const char *text, int first) {
  cli_json(stdout, "?\n  {'id': ?, 'text': ?, 'width': ?, 'aliases': ?, 'source': ?, 'open': ?}",
           cli_plain(first ? "" : ","), JSON(entry->id), JSON(text), JSON(hu_limits_of(entry->format).width),
           JSON(entry->aliases), JSON(entry->source), JSON(entry->open));
}

static void print_sources(int sources, const char *source, const char *open) {
  if (sources) printf("    defined: %s\n", source);
  if (sources && *open) printf("    open:    %s\n", open);
}

/* A line of the list: limits in so many digits, with `info` all of them. */
#define ROW "%-20s %4u  %-37s %15s %15s\n"
#define SHORT(x) ROUNDED(x, 10)

static void print_line(const hu_format_entry *entry, const char *text, int sources) {
  hu_limits limits = hu_limits_of(entry->format);
  printf(ROW, entry->id, limits.width, text, SHORT(limits.max), SHORT(limits.min));
  if (sources && *entry->aliases) printf("    also:    %s\n", entry->aliases);
  print_sources(sources, entry->source, entry->open);
}

/* Prints the heading above the first line that has these columns. */
static void print_head(formats_state *state) {
  if (!state->json && !state->numbers && !state->headed++)
    printf("%-20s %4s  %-37s %15s %15s\n", "name", "bits", "as text", "max", "min > 0");
}

static void list_formats(formats_state *state) {
  for (size_t i = 0; i < hu_format_count(); i++) {
    char text[HU_FORMAT_TEXT_MAX] = "";
    hu_format_entry entry = hu_format_at(i);
    if (!is_asked(state, entry.id, entry.aliases)) continue;
    hu_format_text(text, sizeof text, entry.format);
    print_head(state);
    if (state->json)
      print_json(&entry, text, state->shown == 0);
    else
      print_line(&entry, text, state->sources);
    state->shown++;
  }
}

static void print_named(const formats_state *state, const char *name, const char *text, const char *source,
                        const char *open, int first) {
  if (state->json) {
    cli_json(stdout, "?\n  {'id': ?, 'text': ?, 'source': ?, 'open': ?}", cli_plain(first ? "" : ","), JSON(name),
             JSON(text), JSON(source), JSON(open));
    return;
  }
  enum { WIDTH = 80, MOST = 1024 };
  int fits = state->sources || strlen(text) <= WIDTH;
  printf("%-16s %.*s%s\n", name, fits ? MOST : WIDTH - 3, text, fits ? "" : "...");
  print_sources(state->sources, source, open);
}

static size_t count(const formats_state *state) { return state->rules ? hu_scaling_rule_count() : hu_scaling_count(); }

static void list_scaled(formats_state *state) {
  char text[HU_SCALING_TEXT_MAX];
  hu_scaling scaling;
  for (size_t i = 0; i < count(state); i++) {
    hu_scaling_entry entry = state->rules ? hu_scaling_rule_at(i) : hu_scaling_at(i);
    if (!is_asked(state, entry.name, "")) continue;
    *text = 0; /* a rule without a text has a reason */
    if (hu_scaling_parse(&scaling, entry.text, NULL) == HU_OK) hu_scaling_text(text, sizeof text, &scaling);
    print_named(state, entry.name, *text || state->json ? text : entry.open, entry.source, *text ? entry.open : "",
                state->shown++ == 0);
  }
  if (state->rules) return;
  for (size_t i = 0; i < hu_hif4_count(); i++) {
    hu_hif4_entry entry = hu_hif4_at(i);
    if (is_asked(state, entry.name, ""))
      print_named(state, entry.name, entry.text, entry.source, "", state->shown++ == 0);
  }
}

/* Prints a line of a number system as print_json and print_line print those of formats. */
static void print_system(const formats_state *state, const hu_number_entry *entry, int first) {
  hu_number_limits limits = hu_number_limits_of(entry->number);
  char full[HU_NUMBER_TEXT_MAX], line[CLI_NAME_MAX];
  hu_number_text(full, sizeof full, entry->number);
  if (state->json) {
    cli_json(stdout, "?\n  {'id': ?, 'text': ?, 'width': ?, 'kind': ?, 'source': ?, 'open': ?}",
             cli_plain(first ? "" : ","), JSON(entry->name), JSON(full), JSON(limits.width),
             JSON(cli_system_kind(entry->number)), JSON(entry->source), JSON(entry->open));
    return;
  }
  const char *shown = entry->number.kind == HU_NUMBER_TABLE ? cli_system_line(line, entry->number) : full;
  printf(ROW, entry->name, (unsigned)limits.width, shown, SHORT(limits.max), SHORT(limits.min));
  print_sources(state->sources, entry->source, entry->open);
}

static void list_numbers(formats_state *state) {
  for (size_t i = 0; i < hu_number_count(); i++) {
    hu_number_entry entry = hu_number_at(i);
    if (!is_asked(state, entry.name, "")) continue;
    print_head(state);
    print_system(state, &entry, state->shown++ == 0);
  }
}

/* Prints all lists: scaled formats stand in one of their own, but a part of a name is looked for in all. */
static void list_all(formats_state *state) {
  list_formats(state);
  list_numbers(state);
  if (state->part && !state->json) list_scaled(state);
}

int cli_formats(int argc, char **argv) {
  formats_state state = {0};
  char **operands;
  int count, status = cli_parse(&command, &state, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (state.scaled && state.numbers) return cli_fail(NULL, "--scaled and --numbers are two lists; give one");
  if (count) state.part = operands[0];
  if (state.json) putchar('[');
  if (state.scaled)
    list_scaled(&state);
  else if (state.numbers)
    list_numbers(&state);
  else
    list_all(&state);
  if (state.json) printf("\n]\n");
  if (state.shown || state.json) return CLI_OK;
  return cli_fail(NULL, "no name contains '%s'; `halfulp formats` lists the formats", state.part);
}
