/* SPDX-License-Identifier: MIT */
/* The runs of a sweep in the processes of an MPI job, each in one of them or in a group: see sweep.h. At the end
 * processes tell the first one how their runs came out, as a file that another machine has written may not be seen
 * yet. */
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/progress.h"
#include "cli/campaign/campaign.h"
#include "cli/sweep/sweep.h"
#include "cli/train/ranks.h"

/* How a run ended. */
typedef struct ending {
  uint64_t run;
  int failed;
  char said[SWEEP_WHY_MAX]; /* of a run that failed: why */
  sweep_result result;
} ending;

typedef struct sharing {
  sweep *sweep;
  uint64_t *todo, count; /* numbers of runs, in the order in which they are handed out */
  ending *ended;         /* those that this process tells of */
  size_t ends;
  progress bar;
  uint64_t done, failed; /* in the first process */
  char note[80];
} sharing;

int sweep_same(uint64_t x, const char *what) {
  const campaign_ranks *ranks = campaign_ranks_get();
  int other;
  if (ranks->same(x, &other)) return CLI_OK;
  return ranks->rank ? CLI_BAD : cli_fail(NULL, "sweep: rank %d has %s", other, what);
}

/* ---- one run ---- */

/* What a run needs while it trains is freed; its keys are asked for later. */
static int renew(const sweep *s, sweep_run *r) {
  hu_trainer *fresh = sweep_trainer(s, r);
  if (!fresh) return CLI_BAD;
  hu_trainer_free(r->trainer);
  r->trainer = fresh;
  return CLI_OK;
}

/* A process of a group that cannot make a step ends all: the others would wait for it. */
static void end_all(const sweep *s, const sweep_run *r, const char *why) {
  char name[SWEEP_NAME_MAX];
  cli_fail(NULL, "%s: %s", sweep_run_name(name, s, r), why);
  train_ranks_get()->end(CLI_BAD);
}

static campaign_done work(void *context, uint64_t i) {
  sharing *z = context;
  char name[SWEEP_NAME_MAX], why[SWEEP_WHY_MAX];
  sweep_run *r = &z->sweep->run[z->todo[i]];
  sweep_shared at = {0, 0};
  campaign_done done = {(double)i, 0, 0, 0};
  double start = progress_seconds();
  int status = sweep_do(z->sweep, r, &at, 0, why);
  if (status != CLI_OK && at.of && *why && train_ranks_get()->trainer.size > 1) end_all(z->sweep, r, why);
  if (renew(z->sweep, r) && status == CLI_OK) status = CLI_BAD;
  done.seconds = progress_seconds() - start;
  done.failed = status != CLI_OK;
  if (!train_speaks()) return done;
  ending *e = &z->ended[z->ends++];
  *e = (ending){.run = z->todo[i], .failed = status != CLI_OK, .result = r->result};
  if (status == CLI_OK) return done;
  snprintf(e->said, sizeof e->said, "%s", *why ? why : "its file could not be written");
  cli_fail(NULL, "%s: %s", sweep_run_name(name, z->sweep, r), e->said);
  return done;
}

static void told(void *context, const campaign_done *done) {
  sharing *z = context;
  z->done++;
  z->failed += done->failed != 0;
  snprintf(z->note, sizeof z->note, "%llu of %llu done, %llu failed", (unsigned long long)(z->done - z->failed),
           (unsigned long long)z->count, (unsigned long long)z->failed);
  progress_at(&z->bar, z->done);
}

/* ---- all of them ---- */

/* Which runs are to be done is what the first process has found. */
static int list_runs(sharing *z) {
  sweep *s = z->sweep;
  int *state = calloc(s->runs, sizeof *state);
  z->todo = calloc(s->runs, sizeof *z->todo);
  z->ended = calloc(s->runs, sizeof *z->ended);
  int status = state && z->todo && z->ended ? CLI_OK : cli_fail(NULL, "out of memory");
  status = campaign_ranks_get()->largest(status);
  if (status == CLI_OK) {
    for (size_t i = 0; i < s->runs; i++) state[i] = s->run[i].state;
    campaign_ranks_get()->spread(state, s->runs * sizeof *state);
    for (size_t i = 0; i < s->runs; i++) {
      s->run[i].state = state[i];
      if (state[i] == SWEEP_TO_DO) z->todo[z->count++] = i;
    }
  }
  free(state);
  return status;
}

/* In the first process. */
static void take(sweep *s, const ending *e) {
  sweep_run *r = &s->run[e->run];
  r->state = e->failed ? SWEEP_FAILED : SWEEP_DONE;
  r->result = e->result;
  if (e->failed) r->said = strdup(e->said);
}

static void take_all(const sharing *z) {
  size_t size;
  ending *all = campaign_ranks_get()->collect(z->ended, z->ends * sizeof *z->ended, &size);
  for (size_t i = 0; all && i < size / sizeof *all; i++) take(z->sweep, &all[i]);
  free(all);
}

int sweep_share(sweep *s) {
  sharing z = {.sweep = s};
  const campaign_ranks *ranks = campaign_ranks_get();
  int status = list_runs(&z);
  if (status == CLI_OK && !ranks->group((int)s->ranks_per_run))
    status =
        ranks->rank ? CLI_BAD : cli_fail(NULL, "sweep: --ranks-per-run: this MPI library has no MPI_THREAD_MULTIPLE");
  if (status == CLI_OK) {
    if (!ranks->rank) progress_start(&z.bar, "sweep", z.count);
    z.bar.note = z.note;
    ranks->share(z.count, work, told, &z);
    if (!ranks->rank) progress_end(&z.bar);
    take_all(&z);
  }
  free(z.todo);
  free(z.ended);
  return status;
}
