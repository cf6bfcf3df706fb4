/* SPDX-License-Identifier: MIT */
/* Work from its list to its ledger: which items are to be done, who does them, and what becomes of the results. */
#include "cli/job/job.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/progress.h"
#include "halfulp/version.h"

enum { UNITS = 1000 /* of the bar, an item */ };

typedef struct job_plan {
  job_work *work;
  uint64_t *todo; /* numbers of items, in the order in which they are handed out */
  uint64_t count;
  /* in process 0 */
  uint64_t ended;
  unsigned workers;
  double seconds, expected; /* of the items that ended in this job; of those that have not */
  progress bar;
  char note[160];
} job_plan;

/* ---- what is to be done ---- */

int job_state(const job_work *work, size_t i) {
  const job_item *item = &work->item[i];
  const job_entry *entry = job_ledger_find(&work->ledger, item->name);
  const char *state = entry ? entry->field[JOB_STATE] : "open";
  if (!strcmp(state, "open") || !strcmp(state, "again")) return JOB_IS_OPEN;
  int same = !strcmp(item->sources, "-") || !strcmp(item->sources, entry->field[JOB_SOURCES]);
  if (!same || !strcmp(state, "stale")) return JOB_IS_STALE;
  return strcmp(state, "done") ? JOB_IS_SKIPPED : JOB_IS_DONE;
}

static const job_work *sorted; /* for by_length */

/* Puts the longest first, so that the last processes end together, and those of unknown length before them. */
static int by_length(const void *x, const void *y) {
  uint64_t i = *(const uint64_t *)x, k = *(const uint64_t *)y;
  double a = sorted->item[i].expected, b = sorted->item[k].expected;
  if ((a == 0) != (b == 0)) return a == 0 ? -1 : 1;
  return a != b ? (a > b ? -1 : 1) : i < k ? -1 : i > k;
}

/* Entries of other sources are refused where the command says so, unless they are replaced. */
static int check_entries(const job_work *work) {
  int status = CLI_OK;
  for (size_t i = 0; i < work->count && work->refuse && status == CLI_OK; i++) {
    int replaced = work->asked->overwrite && job_is_own(work, i);
    const job_entry *entry = job_ledger_find(&work->ledger, work->item[i].name);
    if (!replaced && job_state(work, i) == JOB_IS_STALE) status = work->refuse(work->context, i, entry);
  }
  return status;
}

static int make_plan(job_plan *plan) {
  job_work *work = plan->work;
  int status = check_entries(work);
  for (size_t i = 0; i < work->count && status == CLI_OK; i++) {
    job_item *item = &work->item[i];
    int state = job_state(work, i);
    if (state != JOB_IS_OPEN)
      item->expected = strtod(job_ledger_find(&work->ledger, item->name)->field[JOB_SECONDS], NULL);
    if (!job_is_own(work, i) || (state == JOB_IS_DONE && !work->asked->overwrite)) continue;
    if (work->asked->overwrite) status = job_ledger_again(&work->ledger, item->name);
    plan->todo[plan->count++] = i;
    plan->expected += item->expected;
  }
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

static void note(void *context, const job_done *done) {
  job_plan *plan = context;
  job_work *work = plan->work;
  job_item *item = &work->item[plan->todo[done->item]];
  plan->ended++;
  plan->seconds += done->seconds;
  plan->expected -= item->expected;
  work->failed += done->failed || job_ledger_append(&work->ledger, done->text) != CLI_OK;
  if (!done->failed) return;
  item->why = strdup(done->text);
  progress_end(&plan->bar);
  if (*done->text) (void)cli_fail(item->title ? item->title : item->name, "%s", done->text);
}

static void say_stopped(void *context) {
  job_plan *plan = context;
  size_t done = 0;
  for (size_t i = 0; i < plan->work->count; i++) done += job_state(plan->work, i) == JOB_IS_DONE;
  progress_end(&plan->bar);
  (void)cli_fail(NULL, "stopped with %zu of %zu items done; the same command continues", done, plan->work->count);
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
    if (plan->work->path)
      status = job_ledger_open(&plan->work->ledger, plan->work->path, asked->shard, asked->shards, plan->work->who);
    if (status == CLI_OK) status = make_plan(plan);
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
  const job_deal deal = {plan->count, run, note, show, leave, plan};
  int asked = work->asked->jobs;
  unsigned jobs = asked < 0 ? work->jobs : asked ? (unsigned)asked : cli_processors(JOB_JOBS_MAX);
  int here = ranks->size > 1 || jobs == 0 || (jobs == 1 && work->jobs == 0);
  plan->workers = here ? (unsigned)ranks->size / (work->group ? work->group : 1) : jobs;
  return here ? ranks->share(&deal) : job_in_processes(&deal, jobs, say_stopped);
}

/* What other parts have done meanwhile is in the ledger, too. */
static int read_again(job_work *work) {
  job_ledger again = JOB_NO_LEDGER(work->ledger.fields);
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

/* What must be the same in all processes, besides the files that process 0 alone reads. */
static int check_same(const job_work *work) {
  const job_asked *asked = work->asked;
  char text[160], what[160];
  snprintf(text, sizeof text, "%u/%u %d %d %d %u", asked->shard, asked->shards, asked->overwrite, asked->status,
           asked->merge, work->group);
  uint64_t options = job_digest(work->path ? work->path : "", job_digest(text, JOB_DIGEST_START ^ work->options)),
           list = work->digest;
  for (int i = 0; i < asked->globs; i++) options = job_digest(asked->glob[i], options);
  for (size_t i = 0; i < work->count; i++)
    list = job_digest(work->item[i].sources, job_digest(work->item[i].name, list));
  snprintf(what, sizeof what, "%s than rank 0", work->list);
  int status = job_same(work->who, options, "other options than rank 0");
  return status == CLI_OK ? job_same(work->who, list, what) : status;
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
  int status = work->path ? job_ledger_open(&work->ledger, work->path, 0, 0, work->who) : CLI_OK;
  for (int i = 0; i < count && status == CLI_OK; i++) status = job_ledger_read(&work->ledger, ledgers[i]);
  if (status == CLI_OK && work->path) status = job_ledger_tidy(&work->ledger);
  if (status != CLI_OK && work->ledger.is_new) (void)unlink(work->path);
  return status;
}

static int begin(const job_work *work) {
  int reads = work->asked->status || !work->begin || job_ranks_get()->rank;
  return job_ranks_get()->largest(reads ? CLI_OK : work->begin(work->context));
}

int job_run(job_work *work, int count, char **ledgers) {
  const job_ranks *ranks = job_ranks_get();
  int status = prepare_all(work);
  if (status == CLI_OK) status = check_same(work);
  if (status == CLI_OK) status = check_ranks(work);
  if (status == CLI_OK) status = begin(work);
  if (status != CLI_OK) return status;
  if (work->asked->merge) return ranks->largest(ranks->rank ? CLI_OK : merge(work, count, ledgers));
  if (!work->asked->status) return run_all(work);
  return ranks->largest(ranks->rank || !work->path ? CLI_OK : job_ledger_look(&work->ledger, work->path));
}

void job_free(job_work *work) {
  for (size_t i = 0; i < work->count; i++) free(work->item[i].why);
  free(work->item);
  job_ledger_free(&work->ledger);
}
