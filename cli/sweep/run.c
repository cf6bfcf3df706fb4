/* SPDX-License-Identifier: MIT */
/* One run of a sweep, in its process: see sweep.h. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/progress.h"
#include "cli/base/device.h"
#include "cli/sweep/sweep.h"
#include "cli/train/data_folder.h"

static void add_bytes(double z[4], hu_trainer_memory m) {
  z[0] += m.weights;
  z[1] += m.state;
  z[2] += m.values;
  z[3] += m.gradients;
}

/* Sums over the steps; memory changes with promotions alone. */
static hu_status train(hu_trainer *t, sweep_result *z, sweep_shared *at, long parent) {
  hu_trainer_memory memory = hu_trainer_memory_of(t);
  hu_trainer_report report = {0};
  if (hu_trainer_done(t)) add_bytes(z->bytes, memory);
  while (!hu_trainer_done(t)) {
    if (getppid() != parent) _exit(CLI_BAD); /* no one waits for it any more */
    hu_status s = hu_trainer_step(t, &report);
    if (s != HU_OK) return s;
    add_bytes(z->bytes, memory);
    z->low += report.low;
    z->low_end = report.low;
    if (report.promoted != z->promoted) memory = hu_trainer_memory_of(t);
    z->promoted = report.promoted;
    z->skipped = report.skipped;
    z->steps++;
    atomic_store(&at->done, z->steps);
  }
  double steps = z->steps ? (double)z->steps : 1;
  z->low /= steps;
  for (int i = 0; i < 4; i++) z->bytes[i] /= steps;
  return HU_OK;
}

static hu_status evaluate(hu_trainer *t, sweep_result *z) {
  for (int on = HU_ON_TRAINING; on <= HU_ON_TEST; on++) {
    hu_trainer_seen seen;
    hu_status s = hu_trainer_evaluate(t, on, &seen);
    if (s != HU_OK) return s;
    z->classes = !isnan(seen.accuracy);
    z->accuracy[on] = z->classes ? seen.accuracy : seen.r2;
    z->loss[on] = seen.loss;
  }
  return HU_OK;
}

/* The device is looked for here, in the process of the run, since what it opens does not survive a fork. */
static int set_engine(hu_trainer *t) {
  const hu_engine *engine;
  char name[CLI_DEVICE_MAX];
  const char *device = hu_trainer_get(t, "run.device");
  if (!device || strcmp(device, "cuda") != 0) return CLI_OK;
  if (!cli_device_engine(&engine, name)) return cli_fail(NULL, "run.device: cuda: %s", name);
  hu_status s = hu_trainer_set_engine(t, engine);
  return s == HU_OK ? CLI_OK : cli_fail(NULL, "run.device: %s", hu_status_text(s));
}

int sweep_do(const sweep *s, sweep_run *r, sweep_shared *at, long parent) {
  char why[HU_DATA_WHY_MAX] = "";
  double start = progress_seconds();
  sweep_result z = {0};
  if (set_engine(r->trainer)) return CLI_BAD;
  const char *data = s->any_data ? train_data_folder(r->trainer, s->data) : s->data;
  hu_status status = hu_trainer_begin(r->trainer, data, why);
  if (status == HU_OK) {
    atomic_store(&at->of, hu_trainer_steps(r->trainer));
    status = train(r->trainer, &z, at, parent);
  }
  if (status == HU_OK) status = evaluate(r->trainer, &z);
  if (status != HU_OK) return cli_fail(NULL, "%s", *why ? why : hu_status_text(status));
  z.digest = hu_trainer_digest(r->trainer);
  z.seconds = progress_seconds() - start;
  r->result = z;
  return sweep_file_write(s, r);
}
