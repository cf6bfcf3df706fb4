/* SPDX-License-Identifier: MIT */
/* halfulp campaign - a list of checks, shared by many processes, with a ledger of the results. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/base/progress.h"
#include "cli/campaign/campaign.h"
#include "halfulp/version.h"

enum { KEY_LEDGER = CLI_KEY_FREE, KEY_INCLUDE, KEY_SOURCES, KEY_STATUS, KEY_MERGE, KEY_AGAIN, GLOBS_MAX = 64 };

typedef struct asked {
  const char *list_path, *ledger_path, *sources, *globs[GLOBS_MAX];
  int glob_count, status, merge, again, json;
  campaign_list list;
  campaign_ledger ledger;
  size_t *todo, todo_count; /* numbers of items, in the order in which they are handed out */
  campaign_part part;
  progress bar;
  uint64_t done, failed;
  double seconds, expected; /* of all items that were done in this job; of those to be done */
  char note[96], *folder;
  int lock;
} asked;

static int set(void *state, int key, const char *value) {
  asked *s = state;
  switch (key) {
    case KEY_LEDGER: s->ledger_path = value; return CLI_OK;
    case KEY_SOURCES: s->sources = value; return CLI_OK;
    case KEY_STATUS: s->status = 1; return CLI_OK;
    case KEY_MERGE: s->merge = 1; return CLI_OK;
    case KEY_AGAIN: s->again = 1; return CLI_OK;
    case CLI_KEY_JSON: s->json = 1; return CLI_OK;
    default: break;
  }
  if (s->glob_count == GLOBS_MAX) return cli_fail(NULL, "--include: more than %d patterns", GLOBS_MAX);
  s->globs[s->glob_count++] = value;
  return CLI_OK;
}

static const cli_option options[] = {
    {KEY_LEDGER, "ledger", "LEDGER", "the file of results; default: LIST's name with .ledger behind it"},
    {KEY_INCLUDE | CLI_REPEATS, "include", "GLOB", "those of these names alone: * and ? stand for other characters"},
    {KEY_AGAIN, "overwrite", NULL, "start again: items that the ledger has are run, too"},
    {KEY_SOURCES, "sources", "FILE", "lines NAME HASH: the digest of the sources that an item depends on"},
    {KEY_STATUS, "status", NULL, "run nothing; say what the ledger has and what is left"},
    {KEY_MERGE, "merge", NULL, "the operands are ledgers, which are put together into LEDGER"},
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "campaign",
    "LIST",
    "Run a long list of checks on many processes, and keep a ledger of the results",
    "Each line of LIST is an item: NAME KIND SUBJECTS ARGUMENT..., with blanks or tabs between them.\n\n"
    "  world FORMAT                           rounding, all codes and around them, against the oracle\n"
    "  steps FORMAT MODE                      rounding of all 2^32 binary32 numbers, against the oracle\n"
    "  pairs add|sub|mul|div FORMAT MODE I/N  all pairs of codes, lanes against the core; part I of N\n"
    "  triples FORMAT MODE I/N                the same for fused multiply-adds\n"
    "  mixed FORMAT FORMAT MODE I/N           two codes of the first format, one of the second, into it\n"
    "  powers FORMAT FORMAT MODE 1/K I/N      x^y of one pair in K, drawn at random, against the oracle\n"
    "  program PATH ARGUMENT...               a program; exit status 0 is right\n"
    "  program-fails PATH ARGUMENT...         a program that must fail\n\n"
    "SUBJECTS are the folders whose claims an item checks; they are for --sources. Items that the ledger\n"
    "has are not run again: after an interrupt the same command continues. A wrong result is written to the\n"
    "ledger and stops nothing. The exit status is 1 if there is one.\n"
    "`mpirun -n N halfulp campaign ...` shares the items among N processes; the entries of the ledger are\n"
    "the same except seconds, machines and dates. docs/cluster.md explains ledgers and large machines.",
    "  printf 'w world codes float4_e2m1fn\\nt triples arith float4_e2m1fn rne 1/1\\n' > /tmp/some.list\n"
    "  halfulp campaign /tmp/some.list\n"
    "  halfulp campaign /tmp/some.list --status --json",
    options,
    1,
    4096,
    set};

/* ---- what is to be done ---- */

static int is_chosen(const asked *s, const campaign_item *item) {
  for (int i = 0; i < s->glob_count; i++)
    if (fnmatch(s->globs[i], item->name, 0) == 0) return 1;
  return s->glob_count == 0;
}

static int is_done(const asked *s, const campaign_item *item) {
  const campaign_entry *e = campaign_ledger_find(&s->ledger, item->name);
  if (s->again || !e || strcmp(e->field[CAMPAIGN_STATE], "done")) return 0;
  return !strcmp(item->sources, "-") || !strcmp(item->sources, e->field[CAMPAIGN_SOURCES]);
}

static const asked *sorted; /* for by_length */

/* The longest first, so that the last processes end together; those of unknown length before them. */
static int by_length(const void *x, const void *y) {
  size_t i = *(const size_t *)x, k = *(const size_t *)y;
  double a = sorted->list.item[i].expected, b = sorted->list.item[k].expected;
  if ((a == 0) != (b == 0)) return a == 0 ? -1 : 1;
  return a != b ? (a > b ? -1 : 1) : i < k ? -1 : i > k;
}

static int plan(asked *s) {
  s->todo = calloc(s->list.count, sizeof *s->todo);
  if (!s->todo) return cli_fail(NULL, "out of memory");
  for (size_t i = 0; i < s->list.count; i++) {
    campaign_item *item = &s->list.item[i];
    const campaign_entry *e = campaign_ledger_find(&s->ledger, item->name);
    if (e && strcmp(e->field[CAMPAIGN_STATE], "open")) item->expected = strtod(e->field[CAMPAIGN_SECONDS], NULL);
    if (!is_chosen(s, item) || is_done(s, item)) continue;
    s->todo[s->todo_count++] = i;
    s->expected += item->expected;
  }
  sorted = s;
  qsort(s->todo, s->todo_count, sizeof *s->todo, by_length);
  return CLI_OK;
}

/* ---- the work ---- */

static campaign_done work(void *context, uint64_t i) {
  asked *s = context;
  campaign_result z = {0};
  char line[CAMPAIGN_LINE_MAX];
  const campaign_item *item = &s->list.item[s->todo[i]];
  campaign_done done = {(double)i, 0, 0, 0};
  double start = progress_seconds();
  int status = campaign_item_run(item, &z);
  done.seconds = progress_seconds() - start;
  if (status == CLI_OK) {
    int n = campaign_entry_write(line, item, &z, done.seconds);
    status = n < CAMPAIGN_LINE_MAX ? campaign_part_append(&s->part, line, (size_t)n)
                                   : cli_fail(item->name, "the line is too long for a ledger");
  }
  done.failed = status != CLI_OK;
  done.wrong = z.wrong != 0;
  return done;
}

static void told(void *context, const campaign_done *done) {
  asked *s = context;
  int size = campaign_ranks_get()->size;
  s->done++;
  s->seconds += done->seconds;
  s->failed += done->failed != 0;
  s->expected -= s->list.item[s->todo[(size_t)done->item]].expected;
  double rest = s->expected > 0 ? s->expected / size : 0;
  snprintf(s->note, sizeof s->note, "%.2f h of processes%s%.0f min at least", s->seconds / 3600, "  ", rest / 60);
  s->bar.note = s->note;
  progress_at(&s->bar, s->done);
}

/* What differs between processes must be said before anything is run. */
static int check_same(const asked *s, const campaign_ranks *ranks) {
  uint64_t digest = s->list.digest ^ s->todo_count * 0x9E3779B97F4A7C15u;
  int other;
  for (size_t i = 0; i < s->todo_count; i++) digest = (digest ^ s->todo[i]) * 0x100000001B3u;
  for (const char *p = HU_VERSION_STRING; *p; p++) digest = (digest ^ (uint8_t)*p) * 0x100000001B3u;
  for (size_t i = 0; i < s->list.count; i++)
    for (const char *p = s->list.item[i].sources; *p; p++) digest = (digest ^ (uint8_t)*p) * 0x100000001B3u;
  if (ranks->same(digest, &other)) return CLI_OK;
  if (ranks->rank) return CLI_BAD;
  return cli_fail(s->list_path, "process %d has another list, ledger or version than process 0", other);
}

static int run(asked *s, const campaign_ranks *ranks) {
  int status = check_same(s, ranks);
  if (status == CLI_OK) status = campaign_part_open(&s->part, s->ledger_path, ranks->rank);
  status = ranks->largest(status);
  if (status != CLI_OK) return status;
  progress_start(&s->bar, "campaign", s->todo_count);
  ranks->share(s->todo_count, work, told, s);
  progress_end(&s->bar);
  return CLI_OK;
}

/* Process 0 alone reads and writes ledgers; the others read what it wrote. */
static int prepare(asked *s, const campaign_ranks *ranks) {
  int status = CLI_OK;
  if (ranks->rank == 0) {
    status = campaign_ledger_read(&s->ledger, s->ledger_path, 1);
    if (status == CLI_OK) status = campaign_parts_read(&s->ledger, s->ledger_path);
    if (status == CLI_OK) status = campaign_ledger_write(&s->ledger, s->ledger_path);
  }
  status = ranks->largest(status);
  if (status == CLI_OK && ranks->rank) status = campaign_ledger_read(&s->ledger, s->ledger_path, 0);
  if (status == CLI_OK) status = plan(s);
  return ranks->largest(status);
}

static int report(asked *s) {
  uint64_t wrong = campaign_report(stdout, &s->list, &s->ledger, s->list_path, s->json);
  if (s->failed) return cli_fail(NULL, "campaign: %llu items could not be run", (unsigned long long)s->failed);
  return wrong ? CLI_DIFFERENT : CLI_OK;
}

static int finish(asked *s) {
  int status = campaign_parts_read(&s->ledger, s->ledger_path);
  if (status == CLI_OK) status = campaign_ledger_write(&s->ledger, s->ledger_path);
  return status == CLI_OK ? report(s) : status;
}

static int campaign(asked *s, const campaign_ranks *ranks) {
  int status = campaign_list_read(&s->list, s->list_path);
  if (status == CLI_OK && s->sources) status = campaign_sources_read(&s->list, s->sources);
  status = ranks->largest(status);
  if (status == CLI_OK) status = prepare(s, ranks);
  if (status == CLI_OK) status = run(s, ranks);
  campaign_part_close(&s->part);
  if (ranks->rank == 0 && status == CLI_OK) status = finish(s);
  return ranks->largest(status);
}

/* It only reads, so that it may be asked while a job is at work. */
static int look(asked *s) {
  int status = campaign_list_read(&s->list, s->list_path);
  if (status == CLI_OK && s->sources) status = campaign_sources_read(&s->list, s->sources);
  if (status == CLI_OK) status = campaign_ledger_look(&s->ledger, s->ledger_path);
  return status == CLI_OK ? report(s) : status;
}

static int merge(asked *s, int count, char **ledgers) {
  int status = campaign_ledger_read(&s->ledger, s->ledger_path, 1);
  if (status == CLI_OK) status = campaign_parts_read(&s->ledger, s->ledger_path);
  for (int i = 0; i < count && status == CLI_OK; i++) status = campaign_ledger_read(&s->ledger, ledgers[i], 0);
  if (status == CLI_OK) status = campaign_ledger_write(&s->ledger, s->ledger_path);
  if (status == CLI_OK) printf("%s: %zu items\n", s->ledger_path, s->ledger.count);
  return status;
}

/* One job at a time writes a ledger. The lock is that of the folder of parts, which goes while it is held. */
static int lock(asked *s, const campaign_ranks *ranks) {
  if (asprintf(&s->folder, "%s.parts", s->ledger_path) < 0) return cli_fail(NULL, "out of memory");
  if (ranks->rank) return CLI_OK;
  if (mkdir(s->folder, 0777) && errno != EEXIST) return cli_fail(s->folder, "cannot be made: %s", strerror(errno));
  return cli_folder_lock(&s->lock, s->folder, "campaign");
}

static void unlock(asked *s) {
  if (s->lock >= 0) {
    (void)rmdir(s->folder); /* stays where results lie in it */
    close(s->lock);
  }
  free(s->folder);
}

/* One job at a time: process 0 alone holds the lock, and merges. */
static int locked(asked *s, const campaign_ranks *ranks, int count, char **operands) {
  int status = ranks->largest(lock(s, ranks));
  if (status == CLI_OK && !s->merge) status = campaign(s, ranks);
  if (status == CLI_OK && s->merge) status = ranks->largest(ranks->rank ? CLI_OK : merge(s, count, operands));
  unlock(s);
  return status;
}

int cli_campaign(int argc, char **argv) {
  asked s = {.part = {.fd = -1}, .lock = -1};
  char **operands, *beside = NULL;
  const campaign_ranks *ranks = campaign_ranks_get();
  int count, status = cli_parse(&command, &s, argc, argv, &operands, &count);
  if (status >= 0) return status;
  if (s.merge && !s.ledger_path) return cli_fail(NULL, "campaign: --merge requires --ledger, the file of all results");
  if (!s.merge && count > 1)
    return cli_fail(NULL, "campaign: '%s' is one operand too many; it takes LIST", operands[1]);
  s.list_path = operands[0];
  if (!s.ledger_path && asprintf(&beside, "%s.ledger", operands[0]) < 0) return cli_fail(NULL, "out of memory");
  if (!s.ledger_path) s.ledger_path = beside;
  if (s.status && !s.merge)
    status = ranks->largest(ranks->rank ? CLI_OK : look(&s));
  else
    status = locked(&s, ranks, count, operands);
  campaign_list_free(&s.list);
  campaign_ledger_free(&s.ledger);
  free(s.todo);
  free(beside);
  return status;
}
