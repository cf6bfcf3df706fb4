/* SPDX-License-Identifier: MIT */
/* cli/proof/theorems.c - see theorems.h. */
#include "cli/proof/theorems.h"

#include <string.h>

#include "cli/base/cli.h"

typedef struct theorem {
  const char *name, *says;
  const char *proved_for, *built_from; /* hashes; proved_for is "-" where nothing is recorded */
  unsigned queries;
  const char *date;
} theorem;

static const theorem theorems[] = {
#include "proof/proof_theorems.h"
};
enum { COUNT = sizeof theorems / sizeof theorems[0] };

enum { OPEN, OTHER, PROVED, STATES };
static const char *const state_names[STATES] = {"not recorded", "proved for other sources", "proved"};

static int state_of(const theorem *entry) {
  if (!strcmp(entry->proved_for, "-")) return OPEN;
  return strcmp(entry->proved_for, entry->built_from) ? OTHER : PROVED;
}

static void print_json(FILE *out) {
  for (int i = 0; i < COUNT; i++) {
    const theorem *entry = &theorems[i];
    cli_json(out,
             "?\n  {'theorem': ?, 'state': ?, 'proved_for': ?, 'built_from': ?, 'queries': ?, 'date': ?, 'says': ?}",
             cli_plain(i ? "," : "["), JSON(entry->name), JSON(state_names[state_of(entry)]), JSON(entry->proved_for),
             JSON(entry->built_from), JSON(entry->queries), JSON(entry->date), JSON(entry->says));
  }
  fprintf(out, "\n]\n");
}

void proof_list(FILE *out, int json) {
  if (json) {
    print_json(out);
    return;
  }
  fprintf(out, "%-8s %-16s  %-16s  %7s  %-10s  %s\n", "theorem", "proved for", "built from", "queries", "date",
          "what it says");
  for (int i = 0; i < COUNT; i++) {
    const theorem *entry = &theorems[i];
    fprintf(out, "%-8s %-16s  %-16s  %7u  %-10s  %s%s%s\n", entry->name, entry->proved_for, entry->built_from,
            entry->queries, entry->date, state_of(entry) == PROVED ? "" : state_names[state_of(entry)],
            state_of(entry) == PROVED ? "" : ": ", entry->says);
  }
  proof_summary(out);
}

void proof_summary(FILE *out) {
  int count[STATES] = {0};
  for (int i = 0; i < COUNT; i++) count[state_of(&theorems[i])]++;
  fprintf(out, "%d theorems: %d proved for the sources of this program, %d for other sources, %d not recorded\n", COUNT,
          count[PROVED], count[OTHER], count[OPEN]);
}
