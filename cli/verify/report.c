/* SPDX-License-Identifier: MIT */
/* What the self-test says: sums for each kind of items. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/verify/verify.h"
#include "halfulp/status.h"

const char *verify_kind_name(int kind) {
  static const char *const names[VERIFY_KINDS] = {"golden", "world", "steps", "device"};
  return names[kind];
}

typedef struct kind_sum {
  uint64_t items, skipped, cases, failures, digest;
} kind_sum;

static void print_sum(FILE *out, const char *name, const kind_sum *sum, int json, int first) {
  if (json)
    fprintf(out,
            "%s{\"kind\": \"%s\", \"items\": %llu, \"skipped\": %llu, \"cases\": %llu, \"failures\": %llu, \"digest\": "
            "\"%016llx\"}",
            first ? "" : ", ", name, (unsigned long long)sum->items, (unsigned long long)sum->skipped,
            (unsigned long long)sum->cases, (unsigned long long)sum->failures, (unsigned long long)sum->digest);
  else
    fprintf(out, "%-8s %8llu %8llu %14llu %10llu  %016llx\n", name, (unsigned long long)sum->items,
            (unsigned long long)sum->skipped, (unsigned long long)sum->cases, (unsigned long long)sum->failures,
            (unsigned long long)sum->digest);
}

static void add_item(kind_sum *sum, const verify_item *item) {
  sum->items += !item->skipped;
  sum->skipped += item->skipped != 0;
  sum->cases += item->cases;
  sum->failures += item->failures;
  sum->digest = verify_digest(sum->digest, item->digest);
}

static void print_summary(FILE *out, const verify_run *run, const kind_sum *sums, const kind_sum *all, int json) {
  if (json)
    fprintf(out, "{\"version\": \"%s\", \"level\": \"%s\", \"device\": \"%s\", \"shard\": \"%u/%u\", \"kinds\": [",
            HU_VERSION_STRING, run->level, run->device, run->shard, run->shards);
  else
    fprintf(out, "halfulp %s, level %s, device %s, shard %u/%u\n%-8s %8s %8s %14s %10s  %s\n", HU_VERSION_STRING,
            run->level, run->device, run->shard, run->shards, "kind", "items", "skipped", "cases", "failures",
            "digest");
  for (int k = 0; k < VERIFY_KINDS; k++) print_sum(out, verify_kind_name(k), &sums[k], json, k == 0);
  print_sum(out, "all", all, json, 0);
}

int verify_summary(FILE *out, const verify_run *run, int json) {
  kind_sum sums[VERIFY_KINDS], all = {0, 0, 0, 0, VERIFY_DIGEST_START};
  size_t own = 0;
  for (int k = 0; k < VERIFY_KINDS; k++) sums[k] = (kind_sum){0, 0, 0, 0, VERIFY_DIGEST_START};
  for (size_t i = 0; i < run->count; i++) {
    own += run->items[i].own != 0;
    if (!run->items[i].own || !run->items[i].done) continue;
    add_item(&sums[run->items[i].kind], &run->items[i]);
    add_item(&all, &run->items[i]);
  }
  size_t left = own - (size_t)(all.items + all.skipped);
  /* A part of a short list may have nothing to do. */
  int pass = all.failures == 0 && left == 0 && (all.cases > 0 || own == 0);
  if (out) print_summary(out, run, sums, &all, json);
  if (out && json)
    fprintf(out, "], \"pass\": %s}\n", pass ? "true" : "false");
  else if (out && own == 0)
    fprintf(out, "this part has no items\n");
  else if (out && left && !all.failures)
    fprintf(out, "%zu of %zu items are left\n", left, own);
  else if (out)
    fprintf(out, "%s\n", pass ? "all checks passed" : all.failures ? "FAILED" : "nothing was checked");
  return all.failures || (!pass && !left) ? CLI_DIFFERENT : CLI_OK;
}
