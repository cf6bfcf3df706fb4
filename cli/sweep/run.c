/* SPDX-License-Identifier: MIT */
/* One run of a sweep, in a process or in those of a group: see sweep.h. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/device.h"
#include "cli/sweep/sweep.h"
#include "cli/train/data_folder.h"
#include "cli/train/ranks.h"
#include "cli/train/weights.h"

static void add_bytes(double z[4], hu_trainer_memory m) {
  z[0] += m.weights;
  z[1] += m.state;
  z[2] += m.values;
  z[3] += m.gradients;
}

/* Sums over the steps; memory changes with promotions alone. */
static hu_status train(hu_trainer *trainer, sweep_result *z, job_steps *steps) {
  hu_trainer_memory memory = hu_trainer_memory_of(trainer);
  hu_trainer_report report = {0};
  if (hu_trainer_done(trainer)) add_bytes(z->bytes, memory);
  while (!hu_trainer_done(trainer)) {
    if (steps->parent && getppid() != steps->parent) _exit(CLI_BAD); /* no one waits for it any more */
    hu_status status = hu_trainer_step(trainer, &report);
    if (status != HU_OK) return status;
    add_bytes(z->bytes, memory);
    z->low += report.low;
    z->low_end = report.low;
    if (report.promoted != z->promoted) memory = hu_trainer_memory_of(trainer);
    z->promoted = report.promoted;
    z->skipped = report.skipped;
    z->steps++;
    atomic_store(&steps->done, z->steps);
  }
  double count = z->steps ? (double)z->steps : 1;
  z->low /= count;
  for (int i = 0; i < 4; i++) z->bytes[i] /= count;
  return HU_OK;
}

static hu_status evaluate(hu_trainer *trainer, sweep_result *z) {
  for (int on = HU_ON_TRAINING; on <= HU_ON_TEST; on++) {
    hu_trainer_seen seen;
    hu_status status = hu_trainer_evaluate(trainer, on, &seen);
    if (status != HU_OK) return status;
    z->classes = !isnan(seen.accuracy);
    const double figures[SWEEP_MEASURES] = {[SWEEP_ACCURACY] = z->classes ? seen.accuracy : seen.r2,
                                            [SWEEP_LOSS] = seen.loss,
                                            [SWEEP_PERPLEXITY] = seen.perplexity,
                                            [SWEEP_AUC] = seen.auc,
                                            [SWEEP_HIT_RATE] = seen.hit,
                                            [SWEEP_NDCG] = seen.ndcg,
                                            [SWEEP_BLEU] = seen.bleu};
    for (int i = 0; i < SWEEP_MEASURES; i++) z->figure[i][on] = figures[i];
  }
  return HU_OK;
}

static int fail(char why[JOB_WHY_MAX], const char *where, const char *text) {
  snprintf(why, JOB_WHY_MAX, "%s%s", where, text);
  why[cli_whole_text(why, strlen(why))] = 0;
  return CLI_BAD;
}

/* The device is looked for here, in the process of the run, since what it opens does not survive a fork. */
static int set_engine(hu_trainer *trainer, char why[JOB_WHY_MAX]) {
  const hu_engine *engine;
  char name[CLI_DEVICE_MAX];
  const char *device = hu_trainer_get(trainer, "run.device");
  if (!device || strcmp(device, "cuda") != 0) return CLI_OK;
  if (!cli_device_engine(&engine, name)) return fail(why, "run.device: cuda: ", name);
  hu_status status = hu_trainer_set_engine(trainer, engine);
  return status == HU_OK ? CLI_OK : fail(why, "run.device: ", hu_status_text(status));
}

/* As far as the first step: alike in all processes of a group, which one that stays behind would keep waiting. */
static int begin(const sweep_setup *sweep, hu_trainer *trainer, char why[JOB_WHY_MAX]) {
  char text[HU_DATA_WHY_MAX] = "";
  const char *data = sweep->any_data ? train_data_folder(trainer, sweep->data) : sweep->data;
  int status = set_engine(trainer, why);
  hu_status z = status == CLI_OK ? hu_trainer_set_ranks(trainer, &train_ranks_get()->trainer) : HU_OK;
  if (z == HU_OK && status == CLI_OK) z = train_read_weights(trainer);
  if (z == HU_OK && status == CLI_OK) z = hu_trainer_begin(trainer, data, text);
  if (z != HU_OK) status = fail(why, "", *text ? text : hu_status_text(z));
  int all = train_largest(status);
  if (all != CLI_OK && status == CLI_OK) fail(why, "", "another rank of its group could not begin");
  if (all != CLI_OK) return all;
  int other = train_ranks_get()->trainer.size > 1 ? train_other(hu_trainer_data_digest(trainer)) : 0;
  if (other == 0) return CLI_OK;
  char rank[80] = "the ranks of its group could not be asked for their data files";
  if (other > 0) snprintf(rank, sizeof rank, "rank %d of its group has other numbers in its data files", other);
  return fail(why, "", rank);
}

/* What a run needs while it trains is freed; its keys are asked for later. */
static int renew(const sweep_setup *sweep, sweep_run *run) {
  hu_trainer *fresh = sweep_trainer(sweep, run);
  if (!fresh) return CLI_BAD;
  hu_trainer_free(run->trainer);
  run->trainer = fresh;
  return CLI_OK;
}

/* A process of a group that cannot make a step ends all: the others would wait for it. */
static int end_group(const sweep_run *run, const char *why) {
  if (train_ranks_get()->trainer.size > 1) {
    (void)cli_fail(NULL, "%s: %s", run->title, why);
    train_ranks_get()->end(CLI_BAD);
  }
  return CLI_BAD;
}

static int make(const sweep_setup *sweep, sweep_run *run, job_result *result, job_steps *steps) {
  run->result = (sweep_result){.steps = 0};
  if (begin(sweep, run->trainer, result->why)) return CLI_BAD;
  atomic_store(&steps->of, hu_trainer_steps(run->trainer));
  hu_status status = train(run->trainer, &run->result, steps);
  if (status == HU_OK) status = evaluate(run->trainer, &run->result);
  if (status != HU_OK) return fail(result->why, "", hu_status_text(status)), end_group(run, result->why);
  result->cases = run->result.steps;
  result->digest = hu_trainer_digest(run->trainer);
  result->more = sweep_result_text(sweep, run);
  return result->more ? CLI_OK : fail(result->why, "", "out of memory");
}

int sweep_do(void *context, size_t i, job_result *result, job_steps *steps) {
  sweep_setup *sweep = context;
  int status = make(sweep, &sweep->run[i], result, steps), again = renew(sweep, &sweep->run[i]);
  return status == CLI_OK ? again : status;
}
