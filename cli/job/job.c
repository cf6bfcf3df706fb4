/* SPDX-License-Identifier: MIT */
/* Work from its list to its ledger: which items are to be done, who does them, and what becomes of the results. */
#include "cli/job/job.h"

#include <fnmatch.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/progress.h"
#include "halfulp/status.h"

enum { UNITS = 1000 /* of the bar, an item */ };

typedef struct job_plan {
  job_work *work;
  uint64_t *todo; /* numbers of items, in the order in which they are handed out */
  uint64_t count;
  /* in process 0 */
  uint64_t own, done; /* items of this part, and those of them that need not be run */
  uint64_t ended;
  int status; /* an exit code, once a result could not be kept */
  unsigned workers;
  double seconds, expected; /* of the items that ended in this job; of those that have not */
  progress bar;
  char note[160];
} job_plan;

/* ---- items and entries ---- */

/* Is an entry of what its item depends on now? A digest of lines is compared with such a one alone: what else the entry
 * depends on, or what its line was, is not known then. */
static int is_of(const job_item *item, const char *sources) {
  if (!strcmp(item->sources, "-") || !strcmp(item->sources, sources)) return 1;
  return !job_is_hash(item->sources) && (job_is_hash(sources) || !strcmp(sources, "-"));
}

int job_state(const job_work *work, size_t i) {
  const job_item *item = &work->item[i];
  const job_entry *entry = job_ledger_find(&work->ledger, item->name);
  const char *state = entry ? entry->field[JOB_STATE] : "open";
  if (!strcmp(state, "open") || !strcmp(state, "again")) return JOB_IS_OPEN;
  if (!is_of(item, entry->field[JOB_SOURCES]) || !strcmp(state, "stale")) return JOB_IS_STALE;
  return strcmp(state, "done") ? JOB_IS_SKIPPED : JOB_IS_DONE;
}

static int by_name(const void *x, const void *y) {
  return strcmp((*(const job_item *const *)x)->name, (*(const job_item *const *)y)->name);
}

static int sort_items(job_work *work) {
  work->by_name = calloc(work->count + 1, sizeof *work->by_name);
  if (!work->by_name) return cli_fail(NULL, "out of memory");
  for (size_t i = 0; i < work->count; i++) work->by_name[i] = &work->item[i];
  qsort(work->by_name, work->count, sizeof *work->by_name, by_name);
  return CLI_OK;
}

static const job_item *item_of(const job_work *work, const char *name) {
  const job_item item = {.name = name}, *key = &item;
  const job_item *const *found = bsearch(&key, work->by_name, work->count, sizeof *work->by_name, by_name);
  return found ? *found : NULL;
}

static int has_result(const job_entry *entry) {
  return !strcmp(entry->field[JOB_STATE], "done") || !strcmp(entry->field[JOB_STATE], "stale");
}

/* For entries that are merged where those of other sources are refused. The sources of an item that is not listed are
 * not known: two results of it are refused where theirs differ. */
static int refuse_merged(const job_work *work, const char *file, const job_entry *entry, const job_item *item) {
  const job_entry *old = job_ledger_find(&work->ledger, entry->field[JOB_ITEM]);
  const char *sources = entry->field[JOB_SOURCES];
  if (item)
    return is_of(item, sources) ? CLI_OK : work->refuse(work->context, (size_t)(item - work->item), entry, file);
  if (!old || !has_result(old) || !strcmp(old->field[JOB_SOURCES], sources)) return CLI_OK;
  return cli_fail(file, "%s was made with other keys than the one in %s; nothing was merged", entry->field[JOB_ITEM],
                  work->ledger.file[old->file]);
}

static int judge(void *context, const char *file, const job_entry *entry, int *fits) {
  job_work *work = context;
  int status = work->by_name ? CLI_OK : sort_items(work);
  if (status != CLI_OK || !has_result(entry)) return status;
  const job_item *item = item_of(work, entry->field[JOB_ITEM]);
  *fits = !item || is_of(item, entry->field[JOB_SOURCES]);
  return work->asked->merge && work->refuse ? refuse_merged(work, file, entry, item) : CLI_OK;
}

/* ---- what is to be done ---- */

static const job_work *sorted; /* for by_length */

/* Puts the longest first, so that the last processes end together, and those of unknown length before them. */
static int by_length(const void *x, const void *y) {
  uint64_t i = *(const uint64_t *)x, k = *(const uint64_t *)y;
  double a = sorted->item[i].expected, b = sorted->item[k].expected;
  if ((a == 0) != (b == 0)) return a == 0 ? -1 : 1;
  return a != b ? (a > b ? -1 : 1) : i < k ? -1 : i > k;
}

/* Entries of other sources are refused where the command says so, unless the job begins again: a part of it replaces
 * its own, and those of other parts stay until these do the same. */
static int check_entries(const job_work *work) {
  int status = CLI_OK;
  for (size_t i = 0; i < work->count && work->refuse && !work->asked->overwrite && status == CLI_OK; i++) {
    const job_entry *entry = job_ledger_find(&work->ledger, work->item[i].name);
    if (job_state(work, i) == JOB_IS_STALE) status = work->refuse(work->context, i, entry, work->path);
  }
  return status;
}

/* Results that the ledger has and that do not count any more, for a note. */
typedef struct dropped {
  size_t count;
  char names[256]; /* of the first of them, with commas between them */
} dropped;

static void drop(dropped *results, const char *name) {
  size_t n = strlen(results->names);
  if (n + strlen(name) + 8 < sizeof results->names)
    snprintf(results->names + n, sizeof results->names - n, "%s%s", n ? ", " : "", name);
  else if (results->names[0] && results->names[n - 1] != '.')
    snprintf(results->names + n, sizeof results->names - n, ", ...");
  results->count++;
}

static void say_dropped(const job_work *work, const dropped *results) {
  const char *why = work->asked->overwrite ? "dropped for --overwrite" : "of other sources, and made again";
  if (results->count)
    cli_note("%s: %zu result%s %s %s: %s", work->path, results->count, results->count == 1 ? "" : "s",
             results->count == 1 ? "is" : "are", why, results->names);
}

/* Adds an item to what is to be done, unless it is done. */
static int plan_item(job_plan *plan, size_t i, dropped *results) {
  job_work *work = plan->work;
  job_item *item = &work->item[i];
  int state = job_state(work, i), overwrite = work->asked->overwrite;
  if (state != JOB_IS_OPEN)
    item->expected = strtod(job_ledger_find(&work->ledger, item->name)->field[JOB_SECONDS], NULL);
  if (!job_is_own(work, i)) return CLI_OK;
  plan->own++;
  if (state == JOB_IS_DONE && !overwrite) return plan->done++, CLI_OK;
  if (state == JOB_IS_STALE || state == JOB_IS_DONE) drop(results, item->name);
  plan->todo[plan->count++] = i;
  plan->expected += item->expected;
  return overwrite ? job_ledger_again(&work->ledger, item->name) : CLI_OK;
}

static int make_plan(job_plan *plan) {
  job_work *work = plan->work;
  dropped results = {0};
  int status = check_entries(work);
  for (size_t i = 0; i < work->count && status == CLI_OK; i++) status = plan_item(plan, i, &results);
  if (status == CLI_OK) say_dropped(work, &results);
  sorted = work;
  qsort(plan->todo, plan->count, sizeof *plan->todo, by_length);
  return status;
}

/* ---- an item ---- */

static void run(void *context, uint64_t i, job_done *done, job_steps *steps) {
  job_plan *plan = context;
  job_work *work = plan->work;
  const job_item *item = &work->item[plan->todo[i]];
  job_result *result = calloc(1, sizeof *result);
  double start = progress_seconds();
  int status = result ? work->run(work->context, plan->todo[i], result, steps) : cli_fail(item->name, "out of memory");
  done->seconds = progress_seconds() - start;
  done->failed = status != CLI_OK;
  if (done->failed) {
    snprintf(done->text, sizeof done->text, "%s", result ? result->why : "");
  } else if (!job_entry_write(done->text, item->name, item->sources, result, done->seconds)) {
    done->failed = 1;
    snprintf(done->text, sizeof done->text, "the line is too long for a ledger");
  }
  done->size = (uint32_t)strlen(done->text) + 1;
  done->item = i;
  if (result) free(result->more);
  free(result);
}

static void leave(void *context) { job_ledger_leave(&((job_plan *)context)->work->ledger); }

static void show(void *context, double parts) {
  job_plan *plan = context;
  size_t failed = plan->work->failed;
  uint64_t left = plan->count - plan->ended, under_way = left < plan->workers ? left : plan->workers;
  double rest = plan->expected > 0 && under_way ? plan->expected / (double)under_way : 0;
  snprintf(plan->note, sizeof plan->note,
           "%llu of %llu done, %llu at work, %zu failed  %.2f h of processes  %.0f min at least",
           (unsigned long long)(plan->ended - failed), (unsigned long long)plan->count, (unsigned long long)under_way,
           failed, plan->seconds / 3600, rest / 60);
  progress_at(&plan->bar, plan->ended * UNITS + (uint64_t)(parts * UNITS));
}

/* A result that cannot be kept ends the job: more of them would be lost. */
static int note(void *context, const job_done *done) {
  job_plan *plan = context;
  job_work *work = plan->work;
  job_item *item = &work->item[plan->todo[done->item]];
  if (plan->status != CLI_OK) return plan->status;
  plan->ended++;
  plan->seconds += done->seconds;
  plan->expected -= item->expected;
  work->failed += done->failed;
  if (!done->failed) {
    plan->status = job_ledger_append(&work->ledger, done->text);
    work->failed += plan->status != CLI_OK;
    return plan->status;
  }
  item->why = strdup(done->text);
  progress_end(&plan->bar);
  if (*done->text) (void)cli_fail(item->title ? item->title : item->name, "%s", done->text);
  return CLI_OK;
}

/* The bar, where one is shown, makes place for the text. */
static void last_words(void *context, char text[JOB_WHY_MAX]) {
  const job_plan *plan = context;
  const job_work *work = plan->work;
  uint64_t done = plan->done + plan->ended - work->failed;
  snprintf(text, JOB_WHY_MAX, "%shalfulp: stopped with %llu of %llu items done, %llu left; %s\n",
           plan->bar.shown ? "\r\033[K" : "", (unsigned long long)done, (unsigned long long)plan->own,
           (unsigned long long)(plan->own - done),
           !work->path              ? "without --ledger no result is kept"
           : work->asked->overwrite ? "the same command without --overwrite continues"
                                    : "the same command continues");
}

/* ---- all of them ---- */

/* What is to be done is what process 0 has found in the ledger. */
static int find_items(job_plan *plan) {
  const job_ranks *ranks = job_ranks_get();
  const job_asked *asked = plan->work->asked;
  int status = CLI_OK;
  plan->todo = calloc(plan->work->count + 1, sizeof *plan->todo);
  if (!plan->todo) status = cli_fail(NULL, "out of memory");
  if (status == CLI_OK && ranks->rank == 0) {
    const job_part part = {asked->shard, asked->shards, plan->work->digest, plan->work->list};
    if (plan->work->path) status = job_ledger_open(&plan->work->ledger, plan->work->path, &part, plan->work->who);
    if (status == CLI_OK) status = make_plan(plan);
    if (status != CLI_OK) job_ledger_discard(&plan->work->ledger);
  }
  status = ranks->largest(status);
  if (status != CLI_OK) return status;
  ranks->spread(&plan->count, sizeof plan->count);
  ranks->spread(plan->todo, plan->count * sizeof *plan->todo);
  return CLI_OK;
}

static int share(job_plan *plan) {
  const job_ranks *ranks = job_ranks_get();
  const job_work *work = plan->work;
  const job_deal deal = {plan->count, run, note, show, leave, last_words, plan};
  int asked = work->asked->jobs;
  unsigned jobs = asked < 0 ? work->jobs : asked ? (unsigned)asked : cli_processors(JOB_JOBS_MAX);
  int here = ranks->size > 1 || jobs == 0 || (jobs == 1 && work->jobs == 0);
  plan->workers = here ? (unsigned)ranks->size / (work->group ? work->group : 1) : jobs;
  int status = here ? ranks->share(&deal) : job_in_processes(&deal, jobs);
  return plan->status == CLI_OK ? status : plan->status;
}

static void say_stopped(job_plan *plan) {
  char text[JOB_WHY_MAX];
  progress_end(&plan->bar);
  plan->bar.shown = 0;
  last_words(plan, text);
  fputs(text, stderr);
}

/* What other parts have done meanwhile is in the ledger, too. */
static int read_again(job_work *work) {
  job_ledger again = JOB_NO_LEDGER(work->ledger.fields);
  again.judge = judge;
  again.context = work;
  int status = job_ledger_look(&again, work->path);
  if (status != CLI_OK) {
    job_ledger_free(&again);
    return status;
  }
  job_ledger_free(&work->ledger);
  work->ledger = again;
  return CLI_OK;
}

static int finish(job_work *work) {
  int status = job_ledger_sync(&work->ledger);
  if (status != CLI_OK) return status;
  return work->asked->shards ? read_again(work) : job_ledger_tidy(&work->ledger);
}

static int run_all(job_work *work) {
  const job_ranks *ranks = job_ranks_get();
  job_plan plan = {.work = work};
  int status = find_items(&plan);
  if (status == CLI_OK) {
    if (!ranks->rank) progress_start(&plan.bar, work->who, plan.count * UNITS);
    plan.bar.note = plan.note;
    status = ranks->largest(share(&plan));
    if (plan.status != CLI_OK) say_stopped(&plan);
    if (!ranks->rank) progress_end(&plan.bar);
  }
  if (!ranks->rank && work->path && status == CLI_OK) status = finish(work);
  free(plan.todo);
  return ranks->largest(status);
}

/* Process 0 is asked before the others, so that what is wrong everywhere is said once. */
static int prepare_all(job_work *work) {
  const job_ranks *ranks = job_ranks_get();
  int status = ranks->largest(ranks->rank ? CLI_OK : work->prepare(work->context));
  if (status != CLI_OK) return status;
  if (ranks->rank) status = work->prepare(work->context);
  int same = job_same(work->who, (uint64_t)status, "an error that rank 0 has not");
  if (same != CLI_OK) return same;
  return job_same(work->who, job_digest(HU_VERSION_STRING, JOB_DIGEST_START), "another version than rank 0");
}

/* What must be the same in all processes, besides the files that process 0 alone reads. Afterwards work->digest is that
 * of the whole list. */
static int check_same(job_work *work) {
  const job_asked *asked = work->asked;
  char text[160], what[160];
  snprintf(text, sizeof text, "%u/%u %d %d %d %u", asked->shard, asked->shards, asked->overwrite, asked->status,
           asked->merge, work->group);
  uint64_t options = job_digest(work->path ? work->path : "", job_digest(text, JOB_DIGEST_START ^ work->options));
  for (int i = 0; i < asked->globs; i++) options = job_digest(asked->glob[i], options);
  for (size_t i = 0; i < work->count; i++)
    work->digest = job_digest(work->item[i].sources, job_digest(work->item[i].name, work->digest));
  snprintf(what, sizeof what, "%s than rank 0", work->list);
  int status = job_same(work->who, options, "other options than rank 0");
  return status == CLI_OK ? job_same(work->who, work->digest, what) : status;
}

static int check_ranks(const job_work *work) {
  const job_ranks *ranks = job_ranks_get();
  unsigned group = work->group ? work->group : 1;
  int status = CLI_OK;
  if (ranks->size > 1 && work->asked->jobs >= 0)
    status = ranks->rank ? CLI_BAD
                         : cli_fail(NULL, "%s: --jobs: each rank of an MPI job does one item at a time", work->who);
  if (status == CLI_OK && !ranks->group((int)group))
    status = ranks->rank
                 ? CLI_BAD
                 : cli_fail(NULL, "%s: --ranks-per-run: this MPI library has no MPI_THREAD_MULTIPLE", work->who);
  return status;
}

/* Is called in process 0. */
static int merge(job_work *work, int count, char **ledgers) {
  const job_part whole = {0, 0, 0, NULL};
  int status = work->path ? job_ledger_open(&work->ledger, work->path, &whole, work->who) : CLI_OK;
  for (int i = 0; i < count && status == CLI_OK; i++) status = job_ledger_read(&work->ledger, ledgers[i]);
  if (status == CLI_OK && work->path) status = job_ledger_tidy(&work->ledger);
  if (status != CLI_OK) job_ledger_discard(&work->ledger);
  return status;
}

/* Refuses options that --merge does not follow: it runs nothing, and takes all items. */
static int check_merge(const job_work *work) {
  const job_asked *asked = work->asked;
  const char *other = asked->status      ? "--status"
                      : asked->overwrite ? "--overwrite"
                      : asked->shards    ? "--shard"
                      : asked->globs     ? "--include"
                      : asked->jobs >= 0 ? "--jobs"
                                         : NULL;
  if (!asked->merge || !other) return CLI_OK;
  return job_ranks_get()->rank ? CLI_BAD : cli_fail(NULL, "%s: --merge and %s do not go together", work->who, other);
}

/* A pattern that names no item is a mistake in it. */
static int check_globs(const job_work *work) {
  const job_asked *asked = work->asked;
  for (int k = 0; k < asked->globs && !asked->merge; k++) {
    size_t i = 0;
    while (i < work->count && fnmatch(asked->glob[k], work->item[i].name, 0) != 0) i++;
    if (i < work->count) continue;
    return job_ranks_get()->rank ? CLI_BAD
                                 : cli_fail("--include", "'%s' matches none of the %zu items, of which %s is the first",
                                            asked->glob[k], work->count, work->item[0].name);
  }
  return CLI_OK;
}

static int begin(const job_work *work) {
  int reads = work->asked->status || !work->begin || job_ranks_get()->rank;
  return job_ranks_get()->largest(reads ? CLI_OK : work->begin(work->context));
}

int job_run(job_work *work, int count, char **ledgers) {
  const job_ranks *ranks = job_ranks_get();
  int status = check_merge(work);
  if (status == CLI_OK) status = prepare_all(work);
  if (status == CLI_OK) status = check_same(work);
  if (status == CLI_OK) status = check_ranks(work);
  if (status == CLI_OK) status = check_globs(work);
  work->ledger.judge = judge;
  work->ledger.context = work;
  if (status == CLI_OK) status = begin(work);
  if (status != CLI_OK) return status;
  if (work->asked->merge) return ranks->largest(ranks->rank ? CLI_OK : merge(work, count, ledgers));
  if (!work->asked->status) return run_all(work);
  return ranks->largest(ranks->rank || !work->path ? CLI_OK : job_ledger_look(&work->ledger, work->path));
}

void job_free(job_work *work) {
  for (size_t i = 0; i < work->count; i++) free(work->item[i].why);
  free(work->item);
  free(work->by_name);
  job_ledger_free(&work->ledger);
}
