/* SPDX-License-Identifier: MIT */
/* Reports of the self-test: lines of text, one an item, that shards write and --merge reads.
 *
 *   halfulp-verify 2
 *   version 0.1.0
 *   level quick
 *   device none
 *   items 88 8c5ca2f0a1a5bb9e
 *   shard 2/4
 *   item 1 world float8_e4m3fn - done 51232 0 0123456789abcdef
 *   item 5 steps bfloat16 rne skipped 0 0 cbf29ce484222325
 *   end 2
 *
 * The items line has their number and a digest of the whole list (kinds, names, modes), the same in every shard. An
 * item line has index, kind, name, mode, state, cases, failures, digest; the last line the number of item lines.
 * Reports merge if their first five lines are equal and every item comes exactly once. Digests are FNV-1a, 64 bits,
 * over the results in order, so equal reports mean equal bits. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/verify/verify.h"
#include "halfulp/version.h"

enum { ITEMS_MAX = 1 << 20 };

const char *verify_kind_name(int kind) {
  static const char *const names[VERIFY_KINDS] = {"golden", "world", "steps", "device"};
  return names[kind];
}

static uint64_t digest_text(uint64_t digest, const char *text) {
  do digest = verify_digest(digest, (unsigned char)*text);
  while (*text++);
  return digest;
}

/* What is to be done, whoever does it. */
static uint64_t digest_list(const verify_run *run) {
  uint64_t digest = VERIFY_DIGEST_START;
  for (size_t i = 0; i < run->count; i++) {
    digest = digest_text(digest, verify_kind_name(run->items[i].kind));
    digest = digest_text(digest, run->items[i].name);
    digest = digest_text(digest, run->items[i].mode);
  }
  return digest;
}

static void write_lines(FILE *out, const void *what) {
  const verify_run *run = what;
  size_t lines = 0;
  fprintf(out, "halfulp-verify 2\nversion %s\nlevel %s\ndevice %s\n", HU_VERSION_STRING, run->level, run->device);
  fprintf(out, "items %zu %016llx\nshard %u/%u\n", run->count, (unsigned long long)digest_list(run), run->shard,
          run->shards);
  for (size_t i = 0; i < run->count; i++) {
    const verify_item *item = &run->items[i];
    if (!item->done) continue;
    fprintf(out, "item %zu %s %s %s %s %llu %llu %016llx\n", i, verify_kind_name(item->kind), item->name, item->mode,
            item->skipped ? "skipped" : "done", (unsigned long long)item->cases, (unsigned long long)item->failures,
            (unsigned long long)item->digest);
    lines++;
  }
  fprintf(out, "end %zu\n", lines);
}

int verify_report_write(const char *path, const verify_run *run) { return cli_text_write(path, write_lines, run); }

typedef struct kind_sum {
  uint64_t items, skipped, cases, failures, digest;
} kind_sum;

static void print_sum(FILE *out, const char *name, const kind_sum *s, int json, int first) {
  if (json)
    fprintf(out,
            "%s{\"kind\": \"%s\", \"items\": %llu, \"skipped\": %llu, \"cases\": %llu, \"failures\": %llu, \"digest\": "
            "\"%016llx\"}",
            first ? "" : ", ", name, (unsigned long long)s->items, (unsigned long long)s->skipped,
            (unsigned long long)s->cases, (unsigned long long)s->failures, (unsigned long long)s->digest);
  else
    fprintf(out, "%-8s %8llu %8llu %14llu %10llu  %016llx\n", name, (unsigned long long)s->items,
            (unsigned long long)s->skipped, (unsigned long long)s->cases, (unsigned long long)s->failures,
            (unsigned long long)s->digest);
}

static void add_item(kind_sum *s, const verify_item *item) {
  s->items += !item->skipped;
  s->skipped += item->skipped != 0;
  s->cases += item->cases;
  s->failures += item->failures;
  s->digest = verify_digest(s->digest, item->digest);
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
  for (int k = 0; k < VERIFY_KINDS; k++) sums[k] = (kind_sum){0, 0, 0, 0, VERIFY_DIGEST_START};
  for (size_t i = 0; i < run->count; i++) {
    if (!run->items[i].done) continue;
    add_item(&sums[run->items[i].kind], &run->items[i]);
    add_item(&all, &run->items[i]);
  }
  /* A shard of a short list may have nothing to do; that the others did it all is for --merge to see. */
  int idle = run->shards > 1 && all.items + all.skipped == 0;
  int pass = all.failures == 0 && (all.cases > 0 || idle);
  if (out) print_summary(out, run, sums, &all, json);
  if (out && json)
    fprintf(out, "], \"pass\": %s}\n", pass ? "true" : "false");
  else if (out && idle)
    fprintf(out, "this shard has no work\n");
  else if (out)
    fprintf(out, "%s\n", pass ? "all checks passed" : all.failures ? "FAILED" : "nothing was checked");
  return pass ? CLI_OK : CLI_DIFFERENT;
}

/* ---- merging ---- */

typedef struct merge {
  char version[64], level[32], device[VERIFY_NAME_MAX], items_text[64];
  size_t count, seen;
  verify_item *items;
} merge;

static int expect(cli_lines *lines, const char *key, char *value, size_t size) {
  size_t n = strlen(key);
  if (cli_lines_next(lines) != 1 || strncmp(lines->line, key, n) || lines->line[n] != ' ' ||
      strlen(lines->line + n + 1) >= size)
    return cli_fail(lines->name, "not a report of halfulp verify: line %lu is not '%s ...'", lines->number, key);
  strcpy(value, lines->line + n + 1);
  return CLI_OK;
}

/* The head; the first report sets what the others must equal. */
static int read_head(merge *m, cli_lines *lines) {
  char format[8], items[64], shard[32], *blank;
  merge head = {{0}, {0}, {0}, {0}, 0, 0, NULL};
  uint64_t count;
  if (expect(lines, "halfulp-verify", format, sizeof format)) return CLI_BAD;
  if (strcmp(format, "2")) return cli_fail(lines->name, "a report of kind %s, this halfulp reads kind 2", format);
  if (expect(lines, "version", head.version, sizeof head.version) ||
      expect(lines, "level", head.level, sizeof head.level) ||
      expect(lines, "device", head.device, sizeof head.device) || expect(lines, "items", items, sizeof items) ||
      expect(lines, "shard", shard, sizeof shard))
    return CLI_BAD;
  strcpy(head.items_text, items);
  if ((blank = strchr(items, ' ')) != NULL) *blank = 0;
  if (cli_read_u64(&count, lines->name, items, 1, ITEMS_MAX)) return CLI_BAD;
  head.count = (size_t)count;
  if (!m->items) {
    head.items = calloc(head.count, sizeof *head.items);
    *m = head;
    return m->items ? CLI_OK : cli_fail(lines->name, "out of memory");
  }
  if (strcmp(m->version, head.version) || strcmp(m->level, head.level) || strcmp(m->device, head.device) ||
      strcmp(m->items_text, head.items_text))
    return cli_fail(lines->name, "version, level, device or items are not those of the first report");
  return CLI_OK;
}

static int kind_of(const char *name) {
  for (int k = 0; k < VERIFY_KINDS; k++)
    if (!strcmp(name, verify_kind_name(k))) return k;
  return -1;
}

static int read_item(merge *m, cli_lines *lines) {
  unsigned long long index, cases, failures, digest;
  char kind[16], state[16];
  verify_item item;
  memset(&item, 0, sizeof item);
  int end = 0, n = sscanf(lines->line, "item %llu %15s %191s %15s %15s %llu %llu %16llx%n", &index, kind, item.name,
                          item.mode, state, &cases, &failures, &digest, &end);
  item.kind = n == 8 ? kind_of(kind) : -1;
  item.skipped = n == 8 && !strcmp(state, "skipped");
  if (item.kind < 0 || lines->line[end] || (!item.skipped && strcmp(state, "done")))
    return cli_lines_fail(lines, "not an item line");
  if (index >= m->count) return cli_lines_fail(lines, "an item beyond the number of items");
  if (m->items[index].done) return cli_lines_fail(lines, "this item is already there, from this or an earlier report");
  item.cases = cases;
  item.failures = failures;
  item.digest = digest;
  item.done = 1;
  m->items[index] = item;
  m->seen++;
  return CLI_OK;
}

static int read_report(merge *m, cli_lines *lines) {
  uint64_t count = 0, stated;
  if (read_head(m, lines)) return CLI_BAD;
  for (;;) {
    int next = cli_lines_next(lines);
    if (next < 0) return CLI_BAD;
    if (next == 0) return cli_fail(lines->name, "the report is cut off: no 'end' line");
    if (!strncmp(lines->line, "end ", 4)) break;
    if (read_item(m, lines)) return CLI_BAD;
    count++;
  }
  if (cli_read_u64(&stated, lines->name, lines->line + 4, 0, ITEMS_MAX)) return CLI_BAD;
  if (stated != count)
    return cli_fail(lines->name, "the 'end' line says %llu items, there are %llu", (unsigned long long)stated,
                    (unsigned long long)count);
  return cli_lines_next(lines) == 0 ? CLI_OK : cli_lines_fail(lines, "something follows the 'end' line");
}

int verify_report_merge(int count, char **paths, int json) {
  merge m = {{0}, {0}, {0}, {0}, 0, 0, NULL};
  int status = CLI_OK;
  for (int i = 0; i < count && status == CLI_OK; i++) {
    cli_lines lines;
    status = cli_lines_open(&lines, paths[i]);
    if (status != CLI_OK) break;
    status = read_report(&m, &lines);
    cli_lines_close(&lines);
  }
  if (status == CLI_OK && m.seen < m.count)
    status = cli_fail(NULL, "verify --merge: %zu of %zu items are in none of the reports", m.count - m.seen, m.count);
  if (status == CLI_OK && strcmp(m.version, HU_VERSION_STRING))
    status = cli_fail(NULL, "verify --merge: the reports are of version %s", m.version);
  if (status == CLI_OK) {
    verify_run run = {m.level, m.device, 1, 1, m.count, m.items};
    status = verify_summary(stdout, &run, json);
  }
  free(m.items);
  return status;
}
