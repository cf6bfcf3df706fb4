/* SPDX-License-Identifier: MIT */
/* halfulp formats - the catalogue. */
#include <string.h>

#include "cli/cli.h"
#include "cli/numbers.h"

typedef struct formats_state {
  int json, sources;
} formats_state;

static int set(void *state, int key, const char *value) {
  formats_state *s = state;
  (void)value;
  if (key == CLI_KEY_JSON) s->json = 1;
  if (key == 'v') s->sources = 1;
  return CLI_OK;
}

static const cli_option options[] = {
    {'v', "verbose", NULL, "where each format is defined, and what was left to decide"}, CLI_OPTION_JSON, {0}};
static const cli_command command = {
    "formats",
    "",
    "List the named formats",
    "Every P3109 name binary{K}p{P}{s|u}{e|f}, K = 3..16, and every fp(e,m,b):suffixes is a format too.",
    "  halfulp formats\n  halfulp formats --json",
    options,
    0,
    0,
    set};

static void print_json(const hu_format_entry *entry, const char *text, int first) {
  printf("%s\n  {\"id\": ", first ? "" : ",");
  cli_json_string(stdout, entry->id);
  printf(", \"text\": ");
  cli_json_string(stdout, text);
  printf(", \"width\": %u, \"aliases\": ", hu_format_limits(entry->format).width);
  cli_json_string(stdout, entry->aliases);
  printf(", \"source\": ");
  cli_json_string(stdout, entry->source);
  printf(", \"open\": ");
  cli_json_string(stdout, entry->open);
  putchar('}');
}

static void print_line(const hu_format_entry *entry, const char *text, int sources) {
  char max[NUMBER_TEXT_MAX], min[NUMBER_TEXT_MAX];
  hu_limits l = hu_format_limits(entry->format);
  snprintf(max, sizeof max, "%.6g", l.max);
  snprintf(min, sizeof min, "%.6g", l.min);
  printf("%-24s %4u  %-30s %12s %12s  %s\n", entry->id, l.width, text, max, min, entry->aliases);
  if (sources) printf("    defined: %s\n", entry->source);
  if (sources && *entry->open) printf("    open:    %s\n", entry->open);
}

int cli_formats(int argc, char **argv) {
  formats_state state = {0, 0};
  char **operands;
  int count, status = cli_parse(&command, &state, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (state.json)
    putchar('[');
  else
    printf("%-24s %4s  %-30s %12s %12s  %s\n", "name", "bits", "as text", "max", "min > 0", "other names");
  for (size_t i = 0; i < hu_format_count(); i++) {
    char text[HU_FORMAT_TEXT_MAX] = "";
    hu_format_entry entry = hu_format_at(i);
    hu_format_text(text, sizeof text, entry.format);
    if (state.json)
      print_json(&entry, text, i == 0);
    else
      print_line(&entry, text, state.sources);
  }
  if (state.json) printf("\n]\n");
  return CLI_OK;
}
