/* SPDX-License-Identifier: MIT */
/* What a ledger says of a list: how much is done, how much is left, what is wrong and how to see it again. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/numbers.h"
#include "cli/campaign/campaign.h"

typedef struct totals {
  uint64_t done, stale, open, wrong_items, wrong, cases;
  double hours;
} totals;

static uint64_t whole(const char *text) { return strtoull(text, NULL, 10); }

static totals count(const campaign_list *list, const campaign_ledger *ledger) {
  totals t = {0};
  for (size_t i = 0; i < list->count; i++) {
    const campaign_entry *e = campaign_ledger_find(ledger, list->item[i].name);
    if (!e || !strcmp(e->field[CAMPAIGN_STATE], "open")) {
      t.open++;
      continue;
    }
    *(strcmp(e->field[CAMPAIGN_STATE], "done") ? &t.stale : &t.done) += 1;
    t.cases += whole(e->field[CAMPAIGN_CASES]);
    t.wrong += whole(e->field[CAMPAIGN_WRONG]);
    t.wrong_items += whole(e->field[CAMPAIGN_WRONG]) != 0;
    t.hours += strtod(e->field[CAMPAIGN_SECONDS], NULL) / 3600;
  }
  return t;
}

/* A command that runs the item alone. */
static void print_again(FILE *out, const char *list_path, const char *name) {
  fprintf(out, "halfulp campaign '%s' --include '%s' --ledger again.txt", list_path, name);
}

static void print_wrong(FILE *out, const campaign_list *list, const campaign_ledger *ledger, const char *list_path) {
  for (size_t i = 0; i < list->count; i++) {
    const campaign_entry *e = campaign_ledger_find(ledger, list->item[i].name);
    if (!e || !strcmp(e->field[CAMPAIGN_STATE], "open") || !whole(e->field[CAMPAIGN_WRONG])) continue;
    fprintf(out, "  %s: %s wrong of %s, again with\n    ", e->field[CAMPAIGN_ITEM], e->field[CAMPAIGN_WRONG],
            e->field[CAMPAIGN_CASES]);
    print_again(out, list_path, e->field[CAMPAIGN_ITEM]);
    fputc('\n', out);
  }
}

static void json_wrong(FILE *out, const campaign_list *list, const campaign_ledger *ledger) {
  const char *before = "";
  for (size_t i = 0; i < list->count; i++) {
    const campaign_entry *e = campaign_ledger_find(ledger, list->item[i].name);
    if (!e || !strcmp(e->field[CAMPAIGN_STATE], "open") || !whole(e->field[CAMPAIGN_WRONG])) continue;
    fprintf(out, "%s{\"id\": ", before);
    cli_json_string(out, e->field[CAMPAIGN_ITEM]);
    fprintf(out, ", \"wrong\": %s, \"cases\": %s}", e->field[CAMPAIGN_WRONG], e->field[CAMPAIGN_CASES]);
    before = ", ";
  }
}

uint64_t campaign_report(FILE *out, const campaign_list *list, const campaign_ledger *ledger, const char *list_path,
                         int json) {
  totals t = count(list, ledger);
  if (json) {
    fprintf(out, "{\"items\": %zu, \"done\": %" PRIu64 ", \"stale\": %" PRIu64 ", \"open\": %" PRIu64, list->count,
            t.done, t.stale, t.open);
    fprintf(out, ", \"cases\": %" PRIu64 ", \"wrong\": %" PRIu64 ", \"hours\": ", t.cases, t.wrong);
    cli_json_double(out, t.hours);
    fprintf(out, ", \"wrong_items\": [");
    json_wrong(out, list, ledger);
    fprintf(out, "]}\n");
    return t.wrong_items;
  }
  fprintf(out, "%zu items: %" PRIu64 " done, %" PRIu64 " stale, %" PRIu64 " open\n", list->count, t.done, t.stale,
          t.open);
  fprintf(out, "%" PRIu64 " cases, %s hours of processes, %" PRIu64 " wrong\n", t.cases, ROUNDED(t.hours, 3), t.wrong);
  print_wrong(out, list, ledger, list_path);
  return t.wrong_items;
}
