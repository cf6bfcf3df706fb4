/* SPDX-License-Identifier: MIT */
/* What a ledger says of a list: how much is done, how much is left, what is wrong and how to see it again. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/numbers.h"
#include "cli/job/job.h"

typedef struct totals {
  uint64_t done, stale, open, wrong_items, wrong, cases;
  double hours;
} totals;

static uint64_t whole(const char *text) { return strtoull(text, NULL, 10); }

/* The entry of an item that has a result; NULL: it has none. */
static const job_entry *result_of(const job_work *work, size_t i) {
  int state = job_state(work, i);
  return state == JOB_IS_DONE || state == JOB_IS_STALE ? job_ledger_find(&work->ledger, work->item[i].name) : NULL;
}

static totals count(const job_work *work) {
  totals sum = {0};
  for (size_t i = 0; i < work->count; i++) {
    const job_entry *entry = result_of(work, i);
    if (!entry) {
      sum.open++;
      continue;
    }
    *(job_state(work, i) == JOB_IS_STALE ? &sum.stale : &sum.done) += 1;
    sum.cases += whole(entry->field[JOB_CASES]);
    sum.wrong += whole(entry->field[JOB_WRONG]);
    sum.wrong_items += whole(entry->field[JOB_WRONG]) != 0;
    sum.hours += strtod(entry->field[JOB_SECONDS], NULL) / 3600;
  }
  return sum;
}

static void print_wrong(FILE *out, const job_work *work, const char *again) {
  for (size_t i = 0; i < work->count; i++) {
    const job_entry *entry = result_of(work, i);
    if (!entry || !whole(entry->field[JOB_WRONG])) continue;
    fprintf(out, "  %s: %s wrong of %s, again with\n    %s --include '%s' --ledger again.txt --overwrite\n",
            entry->field[JOB_ITEM], entry->field[JOB_WRONG], entry->field[JOB_CASES], again, entry->field[JOB_ITEM]);
  }
}

static void json_wrong(FILE *out, const job_work *work) {
  const char *before = "";
  for (size_t i = 0; i < work->count; i++) {
    const job_entry *entry = result_of(work, i);
    if (!entry || !whole(entry->field[JOB_WRONG])) continue;
    fprintf(out, "%s{\"id\": ", before);
    cli_json_string(out, entry->field[JOB_ITEM]);
    fprintf(out, ", \"wrong\": %s, \"cases\": %s}", entry->field[JOB_WRONG], entry->field[JOB_CASES]);
    before = ", ";
  }
}

/* How much of a part is done. */
static void print_part(FILE *out, const job_work *work) {
  size_t own = 0, done = 0;
  for (size_t i = 0; i < work->count; i++) {
    if (!job_is_own(work, i)) continue;
    own++;
    done += job_state(work, i) == JOB_IS_DONE;
  }
  fprintf(out, "part %u/%u: %zu of %zu items done\n", work->asked->shard, work->asked->shards, done, own);
}

uint64_t job_report(FILE *out, const job_work *work, const char *again, int json) {
  totals sum = count(work);
  if (json) {
    fprintf(out, "{\"items\": %zu, \"done\": %" PRIu64 ", \"stale\": %" PRIu64 ", \"open\": %" PRIu64, work->count,
            sum.done, sum.stale, sum.open);
    fprintf(out, ", \"cases\": %" PRIu64 ", \"wrong\": %" PRIu64 ", \"hours\": ", sum.cases, sum.wrong);
    cli_json_double(out, sum.hours);
    fprintf(out, ", \"wrong_items\": [");
    json_wrong(out, work);
    fprintf(out, "]}\n");
    return sum.wrong_items;
  }
  if (work->asked->shards) print_part(out, work);
  fprintf(out, "%zu items: %" PRIu64 " done, %" PRIu64 " stale, %" PRIu64 " open\n", work->count, sum.done, sum.stale,
          sum.open);
  fprintf(out, "%" PRIu64 " cases, %s hours of processes, %" PRIu64 " wrong\n", sum.cases, ROUNDED(sum.hours, 3),
          sum.wrong);
  print_wrong(out, work, again);
  return sum.wrong_items;
}
