/* SPDX-License-Identifier: MIT */
/* A run of a cell without some of its roundings, and what the ledger of these has of it: see attribute.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/numbers.h"
#include "cli/base/progress.h"
#include "cli/experiment/attribute.h"
#include "cli/sweep/pairs.h"
#include "cli/train/interrupt.h"

/* States of the run with all roundings are kept in memory up to this size. */
static const double kept_most = 1 << 30;

/* ---- states ---- */

static size_t numbers_of(const hu_trainer *trainer) {
  size_t n = 0;
  for (size_t i = 0; i < hu_trainer_tensor_count(trainer); i++) {
    hu_trainer_tensor tensor = hu_trainer_tensor_at(trainer, i);
    n += tensor.rows * tensor.cols;
  }
  return n;
}

static attribute_state *state_of(const attribute *work, size_t seed, uint64_t step) {
  uint64_t slice = step * ATTRIBUTE_SLICES / work->steps;
  if (!work->state || step == 0 || slice * work->steps / ATTRIBUTE_SLICES != step) return NULL;
  return &work->state[seed * ATTRIBUTE_SLICES + slice];
}

/* Keeps the state at the beginning of a slice. What does not fit is made again from the first step. */
static void keep_state(attribute *work, size_t seed, const hu_trainer *trainer) {
  size_t n = numbers_of(trainer), size = hu_trainer_state(trainer, NULL, 0) + 1, at = 0;
  if ((double)n * sizeof(float) * ATTRIBUTE_SLICES * (double)work->seeds > kept_most) return;
  if (!work->state) work->state = calloc(work->seeds * ATTRIBUTE_SLICES, sizeof *work->state);
  attribute_state *state = state_of(work, seed, hu_trainer_at(trainer));
  if (!state || state->text) return;
  state->numbers = malloc(n * sizeof *state->numbers + 1);
  char *text = state->numbers ? malloc(size) : NULL;
  int good = text && hu_trainer_state(trainer, text, size) < size;
  for (size_t i = 0; i < hu_trainer_tensor_count(trainer) && good; i++) {
    hu_trainer_tensor tensor = hu_trainer_tensor_at(trainer, i);
    good = hu_trainer_read(trainer, i, state->numbers + at) == HU_OK;
    at += tensor.rows * tensor.cols;
  }
  if (good)
    state->text = text;
  else
    free(text);
}

/* Goes to the state at a step, if it is kept. */
static hu_status go_to(const attribute *work, size_t seed, hu_trainer *trainer, uint64_t step) {
  const attribute_state *state = state_of(work, seed, step);
  size_t at = 0;
  hu_status status = HU_OK;
  if (!state || !state->text) return HU_OK;
  for (size_t i = 0; i < hu_trainer_tensor_count(trainer) && status == HU_OK; i++) {
    hu_trainer_tensor tensor = hu_trainer_tensor_at(trainer, i);
    status = hu_trainer_write(trainer, i, state->numbers + at);
    at += tensor.rows * tensor.cols;
  }
  return status == HU_OK ? hu_trainer_resume(trainer, state->text, NULL) : status;
}

void attribute_free_states(attribute *work) {
  for (size_t i = 0; work->state && i < work->seeds * ATTRIBUTE_SLICES; i++) {
    free(work->state[i].numbers);
    free(work->state[i].text);
  }
  free(work->state);
}

/* ---- a run ---- */

static int set_off(hu_trainer *trainer, const char *off, size_t seed) {
  static const char *const updates[] = {"optimizer.state",
                                        "binary32",
                                        "optimizer.weights",
                                        "binary32",
                                        "optimizer.update",
                                        "rne",
                                        "optimizer.kahan",
                                        "",
                                        "optimizer.stored_m",
                                        "keep",
                                        "optimizer.stored_v",
                                        "keep",
                                        "optimizer.round_decay",
                                        "rne",
                                        "optimizer.round_momentum",
                                        "rne",
                                        NULL};
  const char *before = hu_trainer_get(trainer, "precision.off");
  char text[24], why[HU_DATA_WHY_MAX] = "", *both = NULL;
  if (asprintf(&both, "%s%s%s", before, *before ? "," : "", off) < 0) return cli_fail(NULL, "out of memory");
  const char *const whole[] = {"precision.off", both, NULL}, *const none[] = {NULL};
  const char *const *pair = strcmp(off, "updates") == 0 ? updates : strcmp(off, "none") == 0 ? none : whole;
  snprintf(text, sizeof text, "%zu", seed);
  hu_status status = hu_trainer_set(trainer, "run.seed", text, why);
  for (; *pair && status == HU_OK; pair += 2) status = hu_trainer_set(trainer, pair[0], pair[1], why);
  free(both);
  return status == HU_OK ? CLI_OK : cli_fail(NULL, "%s", *why ? why : hu_status_text(status));
}

/* Takes the figure that the data have: the same choice as for tables. */
static void take_end(attribute *work, attribute_end *end, const hu_trainer_seen *seen) {
  const struct {
    const char *name;
    double x;
  } all[] = {{"hit_rate_10", seen->hit},
             {"bleu", seen->bleu},
             {"auc", seen->auc},
             {"accuracy", seen->accuracy},
             {"r2", seen->r2}};
  size_t i = 0;
  while (i + 1 < sizeof all / sizeof *all && isnan(all[i].x)) i++;
  snprintf(work->measure, sizeof work->measure, "%s", all[i].name);
  end->loss = seen->loss < ATTRIBUTE_LOSS_MOST ? seen->loss : ATTRIBUTE_LOSS_MOST;
  end->measure = isnan(all[i].x) ? 0 : all[i].x;
}

static int make_run(attribute *work, size_t seed, const char *off, uint64_t from, attribute_end *end) {
  int is_all = strcmp(off, "none") == 0;
  hu_trainer_seen seen;
  hu_trainer *trainer = hu_trainer_new();
  double start = progress_processor_seconds();
  int status = trainer ? ledger_set_keys(trainer, work->how, NULL) : cli_fail(NULL, "out of memory");
  if (status == CLI_OK) status = set_off(trainer, off, seed);
  if (status == CLI_OK) status = ledger_begin_trainer(trainer, work->how);
  hu_status error = status == CLI_OK && from ? go_to(work, seed, trainer, from) : HU_OK;
  while (status == CLI_OK && error == HU_OK && !hu_trainer_done(trainer) && !interrupt_signal()) {
    if (is_all) keep_state(work, seed, trainer);
    error = hu_trainer_step(trainer, NULL);
  }
  work->ended |= interrupt_signal() != 0;
  if (status == CLI_OK && error == HU_OK && !work->ended) error = hu_trainer_evaluate(trainer, HU_ON_TEST, &seen);
  if (error != HU_OK) status = cli_fail_status(off, error);
  hu_trainer_free(trainer);
  if (status != CLI_OK || work->ended) return status;
  take_end(work, end, &seen);
  work->spent = fmax(work->spent, progress_processor_seconds() - start);
  work->runs++;
  return CLI_OK;
}

/* ---- the ledger ---- */

static int add_line(attribute *work, const char *item, const attribute_end *end, double seconds) {
  char line[JOB_LINE_MAX], text[128];
  snprintf(text, sizeof text, "{\"loss\": %s, \"%s\": %s}", DECIMAL(end->loss), work->measure, DECIMAL(end->measure));
  job_result result = {.cases = work->steps, .more = text};
  return job_entry_write(line, item, work->sources, &result, seconds) ? job_ledger_append(&work->ledger, line)
                                                                      : cli_fail(item, "too long a line");
}

/* Reads the result that an earlier command has left. */
static int read_line(attribute *work, const job_entry *entry, attribute_end *end) {
  cli_pairs pairs;
  if (!cli_pairs_read_text(&pairs, entry->field[JOB_MORE])) return 0;
  int good = pairs.count == 2 && cli_pairs_number(&pairs, "loss", &end->loss) &&
             cli_pairs_number(&pairs, pairs.pair[1].name, &end->measure);
  if (good) snprintf(work->measure, sizeof work->measure, "%s", pairs.pair[1].name);
  cli_pairs_free(&pairs);
  return good && strcmp(entry->field[JOB_SOURCES], work->sources) == 0;
}

static int run_seed(attribute *work, size_t seed, const char *off, uint64_t from, attribute_end *end) {
  char *item = NULL;
  double start = progress_seconds();
  if (asprintf(&item, "%s/seed%zu", off, seed) < 0) return cli_fail(NULL, "out of memory");
  const job_entry *entry = job_ledger_find(&work->ledger, item);
  int status = CLI_OK;
  if (entry && !read_line(work, entry, end))
    status = cli_fail(work->path, "%s is of other keys or data; name another --output", item);
  else if (!entry)
    status = make_run(work, seed, off, from, end);
  if (status == CLI_OK && !entry && !work->ended) status = add_line(work, item, end, progress_seconds() - start);
  free(item);
  return status;
}

/* ---- all seeds ---- */

static void mean_of(const double *x, size_t n, double *mean, double *deviation) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < n; i++) sum += x[i];
  *mean = sum / (double)n;
  for (size_t i = 0; i < n; i++) squares += (x[i] - *mean) * (x[i] - *mean);
  *deviation = n > 1 ? sqrt(squares / (double)(n - 1)) : (double)NAN;
}

static int is_done(const attribute *work, const char *off) {
  char *item = NULL;
  int done = 1;
  for (size_t seed = 0; seed < work->seeds && done; seed++) {
    if (asprintf(&item, "%s/seed%zu", off, seed) < 0) return 0;
    done = job_ledger_find(&work->ledger, item) != NULL;
    free(item);
  }
  return done;
}

/* Does another set of runs, each as long as the longest so far, fit the budget? */
static int fits(attribute *work, const char *off) {
  double next = progress_processor_seconds() + work->spent * (double)work->seeds;
  if (work->budget > 0 && next > work->budget && !is_done(work, off)) work->ended = 1;
  return !work->ended;
}

static int add_try(attribute *work, const attribute_try *one, const attribute_try **z) {
  attribute_try *list = work->tried;
  list[work->count] = *one;
  list[work->count].off = strdup(one->off);
  if (!list[work->count].off) return cli_fail(NULL, "out of memory");
  *z = &list[work->count++];
  return CLI_OK;
}

int attribute_run(attribute *work, const char *search, const char *off, uint64_t from, const attribute_try **z) {
  attribute_end end[ATTRIBUTE_SEEDS_MAX];
  double loss[ATTRIBUTE_SEEDS_MAX], measure[ATTRIBUTE_SEEDS_MAX];
  int is_all = strcmp(off, "none") == 0, status = CLI_OK;
  *z = NULL;
  for (size_t i = 0; i < work->count; i++) {
    if (strcmp(work->tried[i].off, off) == 0) *z = &work->tried[i];
  }
  if (*z || work->count == ATTRIBUTE_TRIES_MAX || !fits(work, off)) return CLI_OK;
  for (size_t seed = 0; seed < work->seeds && status == CLI_OK && !work->ended; seed++) {
    status = run_seed(work, seed, off, from, &end[seed]);
    if (status != CLI_OK || work->ended) return status;
    if (is_all) work->all[seed] = end[seed];
    loss[seed] = is_all ? end[seed].loss : work->all[seed].loss - end[seed].loss;
    measure[seed] = is_all ? end[seed].measure : end[seed].measure - work->all[seed].measure;
  }
  attribute_try one = {.off = (char *)(uintptr_t)off, .search = search, .noise = -1};
  mean_of(loss, work->seeds, &one.loss, &one.loss_deviation);
  mean_of(measure, work->seeds, &one.measure, &one.measure_deviation);
  if (work->seeds > 1 && !is_all) one.noise = fabs(one.loss) <= 2 * one.loss_deviation / sqrt((double)work->seeds);
  return add_try(work, &one, z);
}
