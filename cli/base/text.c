/* SPDX-License-Identifier: MIT */
/* Writes formats, modes and events as words. */
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/numbers.h"

const char *cli_format_name(char text[CLI_NAME_MAX], hu_format format) {
  const char *id = hu_format_id(format);
  if (id)
    snprintf(text, CLI_NAME_MAX, "%s", id);
  else if (hu_format_text(text, CLI_NAME_MAX, format) == 0)
    snprintf(text, CLI_NAME_MAX, "(no format)");
  return text;
}

/* Returns 1 if the word is one of the list, whose words have a blank between them. */
static int is_among(const char *list, const char *word) {
  size_t n = strlen(word);
  for (const char *at = strstr(list, word); n && at; at = strstr(at + 1, word))
    if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n])) return 1;
  return 0;
}

hu_format_entry cli_format_entry(hu_format format, const char *given) {
  hu_format_entry found = {NULL, NULL, NULL, NULL, format};
  for (size_t i = 0; i < hu_format_count(); i++) {
    hu_format_entry entry = hu_format_at(i);
    if (!hu_format_equal(entry.format, format)) continue;
    if (!strcmp(entry.id, given) || is_among(entry.aliases, given)) return entry;
    if (!found.id) found = entry;
  }
  return found;
}

const char *cli_shown_name(char text[CLI_NAME_MAX], hu_format format, const char *given) {
  if (!given || strchr(given, '(') || strlen(given) >= CLI_NAME_MAX) return cli_format_name(text, format);
  hu_format_entry entry = cli_format_entry(format, given);
  return strcpy(text, entry.id && is_among(entry.aliases, given) ? entry.id : given);
}

const char *cli_mode_name(char text[CLI_NAME_MAX], hu_mode mode) {
  static const char *const policies[] = {"", ", saturate none", ", saturate finite", ", saturate propagate"};
  static const char *const nans[] = {"", ", NaN to zero", ", NaN is an error"};
  char round[8];
  snprintf(text, CLI_NAME_MAX, "%s%s%s%s", hu_mode_round_text(round, mode), policies[mode.saturate & 3],
           mode.tiny == HU_TINY_BEFORE ? ", tiny before rounding" : "", mode.nan <= 2 ? nans[mode.nan] : "");
  return text;
}

enum { EVENT_KINDS = 10 };
static const char *const event_names[EVENT_KINDS] = {"overflow", "saturated", "underflow", "to_zero", "subnormal",
                                                     "inexact",  "invalid",   "nan_in",    "inf_in",  "divide_by_zero"};

static void list_counts(uint64_t counts[EVENT_KINDS], const hu_events *events) {
  const uint64_t all[EVENT_KINDS] = {events->overflow,  events->saturated,     events->underflow, events->to_zero,
                                     events->subnormal, events->inexact,       events->invalid,   events->nan_in,
                                     events->inf_in,    events->divide_by_zero};
  memcpy(counts, all, sizeof all);
}

void cli_print_events(FILE *out, const char *indent, const hu_events *events) {
  uint64_t counts[EVENT_KINDS];
  int any = 0;
  list_counts(counts, events);
  for (int i = 0; i < EVENT_KINDS; i++) {
    if (!counts[i]) continue;
    fprintf(out, "%s%-10s %llu\n", indent, event_names[i], (unsigned long long)counts[i]);
    any = 1;
  }
  if (!any) fprintf(out, "%snone\n", indent);
}

void cli_json_events(FILE *out, const hu_events *events) {
  uint64_t counts[EVENT_KINDS];
  list_counts(counts, events);
  for (int i = 0; i < EVENT_KINDS; i++)
    fprintf(out, "%s\"%s\": %llu", i ? ", " : "{", event_names[i], (unsigned long long)counts[i]);
  fputc('}', out);
}

void cli_json_event_set(FILE *out, uint32_t events) {
  for (int i = 0; i < EVENT_KINDS; i++)
    fprintf(out, "%s\"%s\": %s", i ? ", " : "{", event_names[i], events >> i & 1 ? "true" : "false");
  fputc('}', out);
}

const char *cli_event_words(char text[CLI_EVENTS_MAX], uint32_t events) {
  size_t used = 0;
  text[0] = 0;
  for (int i = 0; i < EVENT_KINDS; i++) /* bit i is event i: mode.h lists them in this order */
    if (events >> i & 1)
      used += (size_t)snprintf(text + used, CLI_EVENTS_MAX - used, "%s%s", used ? " " : "", event_names[i]);
  if (!used) snprintf(text, CLI_EVENTS_MAX, "none");
  return text;
}

int cli_ends(const char *name, const char *end) {
  size_t n = strlen(name), m = strlen(end);
  return n >= m && !strcmp(name + n - m, end);
}
