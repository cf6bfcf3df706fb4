/* SPDX-License-Identifier: MIT */
/* The keys of a run of a table, its data and its trainer: see budget.h. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/base/shipped.h"
#include "cli/experiment/budget.h"
#include "cli/train/weights.h"

static const char *data_folder(const budget *work) {
  return work->how->given.data       ? work->how->given.data
         : work->how->given.stand_in ? cli_shipped("data", CLI_DIGITS)
                                     : "data";
}

/* ---- files of the user's ---- */

static int sets(const budget *work, const char *key) {
  for (const char *const *pair = work->how->given.pairs; pair && pair[0]; pair += 2) {
    if (strcmp(pair[0], key) == 0) return 1;
  }
  return 0;
}

static int find_files(const budget *work, const table_data *data) {
  char path[4096];
  for (const char *const *file = data->files; *file; file++) {
    int n = snprintf(path, sizeof path, "%s/%s/%s", data_folder(work), data->folder, *file);
    if (n < 0 || (size_t)n >= sizeof path) return cli_fail(data_folder(work), "too long a name");
    if (access(path, R_OK) == 0) continue;
    return cli_fail(path,
                    "is missing: %s is to be had from %s; unpack it and name the folder above %s with --data. With "
                    "--stand-in the table is run on other data: %s",
                    data->name, data->from, data->folder, data->stand_in_is);
  }
  return CLI_OK;
}

int budget_find_data(const budget *work) {
  int status = CLI_OK;
  if (work->how->given.stand_in || sets(work, "data.path") || sets(work, "data.set")) return CLI_OK;
  for (size_t i = 0; i < work->rows && status == CLI_OK; i++) status = find_files(work, work->row[i].row->data);
  return status;
}

/* ---- keys ---- */

typedef struct taker {
  int (*set)(void *context, const char *key, const char *value);
  void *context;
} taker;

/* Sets the keys of the cell, of what is cut, and the user's. */
static int all_keys(const budget *work, const table_cell *cell, const budget_size *size, taker to) {
  char text[24];
  int status = table_cell_keys(cell, work->how->given.stand_in, size->part, to.set, to.context);
  for (const char *const *at = size->steps || size->cut ? cell->row->cut : NULL; at && at[0] && !status; at += 2)
    status = to.set(to.context, at[0], at[1]);
  for (const char *const *at = work->how->given.pairs; at && at[0] && !status; at += 2)
    status = to.set(to.context, at[0], at[1]);
  if (!status && size->seed && *size->seed) status = to.set(to.context, "run.seed", size->seed);
  if (status || !size->steps) return status;
  uint64_t steps = size->steps, an_epoch = size->an_epoch;
  int whole = an_epoch && steps % an_epoch == 0;
  snprintf(text, sizeof text, "%llu", (unsigned long long)(whole ? steps / an_epoch : steps));
  return to.set(to.context, whole ? "run.epochs" : "run.steps", text);
}

static int set_key(void *context, const char *key, const char *value) {
  char why[HU_DATA_WHY_MAX] = "";
  hu_status status = hu_trainer_set(context, key, value, why);
  return status == HU_OK ? CLI_OK : cli_fail(NULL, "%s", *why ? why : hu_status_text(status));
}

/* Makes the batch smaller, for timing. */
static int divide_batch(hu_trainer *trainer, unsigned long long by) {
  char text[24];
  unsigned long long batch = strtoull(hu_trainer_get(trainer, "run.batch"), NULL, 10);
  if (by < 2 || batch < 2 * by) return CLI_OK;
  snprintf(text, sizeof text, "%llu", batch / by);
  int status = set_key(trainer, "run.batch", text);
  return status == CLI_OK ? set_key(trainer, "assignment.ratio_max", "1") : status; /* of tensors of other sizes */
}

hu_trainer *budget_begin(const budget *work, const table_cell *cell, const budget_size *size) {
  char why[HU_DATA_WHY_MAX] = "", name[TABLE_NAME_MAX];
  hu_trainer *trainer = hu_trainer_new();
  int status = trainer ? all_keys(work, cell, size, (taker){set_key, trainer}) : cli_fail(NULL, "out of memory");
  if (status == CLI_OK) status = divide_batch(trainer, size->divide);
  if (status == CLI_OK && work->how->given.threads) status = set_key(trainer, "run.threads", work->how->given.threads);
  if (status == CLI_OK) {
    hu_status error = hu_trainer_set_engine(trainer, work->how->given.engine);
    if (error == HU_OK) error = train_read_weights(trainer);
    if (error == HU_OK) error = hu_trainer_begin(trainer, data_folder(work), why);
    if (error != HU_OK)
      status = cli_fail(NULL, "%s: %s", table_cell_name(name, cell), *why ? why : hu_status_text(error));
  }
  if (status == CLI_OK) return trainer;
  hu_trainer_free(trainer);
  return NULL;
}

/* ---- the configuration of a run ---- */

const char *budget_run_name(char text[TABLE_NAME_MAX], const budget_run *run) {
  (void)table_cell_name(text, &run->cell);
  size_t n = strlen(text);
  if (*run->seed) snprintf(text + n, TABLE_NAME_MAX - n, "-seed%s", run->seed);
  return text;
}

typedef struct as_run {
  const budget *work;
  const budget_run *run;
} as_run;

static void print_as_run(FILE *out, const void *what) {
  const as_run *request = what;
  const budget_row *row = &request->work->row[request->run->row];
  table_keys keys = {.count = 0};
  char name[TABLE_NAME_MAX];
  fprintf(out, "; As it was run by `halfulp experiment --paper %s --table %s`%s.\n", request->work->table->paper,
          request->work->table->name,
          request->work->how->given.stand_in ? " --stand-in: the data are not the paper's" : "");
  (void)table_keys_add(&keys, "run.name", budget_run_name(name, request->run));
  char epochs[24];
  if (!all_keys(request->work, &request->run->cell,
                &(budget_size){.part = row->part, .seed = request->run->seed, .cut = row->steps != row->full_steps},
                (taker){table_keys_add, &keys}) &&
      row->steps != row->full_steps) {
    int whole = row->steps % row->an_epoch == 0;
    snprintf(epochs, sizeof epochs, "%llu", (unsigned long long)(whole ? row->steps / row->an_epoch : row->steps));
    (void)table_keys_add(&keys, whole ? "run.epochs" : "run.steps", epochs);
  }
  table_keys_print(out, &keys);
}

int budget_write_config(const budget *work, const budget_run *run) {
  char path[4096], name[TABLE_NAME_MAX];
  const as_run request = {work, run};
  int n = snprintf(path, sizeof path, "%s/%s.ini", work->folder, budget_run_name(name, run));
  if (n < 0 || (size_t)n >= sizeof path) return cli_fail(work->folder, "too long a name");
  return cli_own_text(path, print_as_run, &request);
}
