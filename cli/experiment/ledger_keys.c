/* SPDX-License-Identifier: MIT */
/* The keys of a cell, and what its digests depend on: see ledger.h. */
#include <inttypes.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/shipped.h"
#include "cli/experiment/ledger.h"
#include "cli/experiment/tables.h"
#include "cli/sweep/pairs.h"
#include "cli/train/data_folder.h"
#include "cli/train/weights.h"

/* Where a file lies says nothing of what is in it, and a system only stands for the keys that it sets. */
static int is_beside(const char *key) {
  static const char *const keys[] = {"data.path",        "data.target",       "data.labels",
                                     "data.valid_file",  "data.valid_target", "data.test_file",
                                     "data.test_target", "model.file",        "precision.system"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    if (strcmp(key, keys[i]) == 0) return 1;
  }
  return 0;
}

/* ---- setting ---- */

static int set_key(void *trainer, const char *key, const char *value) {
  char why[HU_DATA_WHY_MAX] = "";
  hu_status status = hu_trainer_set(trainer, key, value, why);
  return status == HU_OK ? CLI_OK : cli_fail(NULL, "%s", *why ? why : hu_status_text(status));
}

/* Finds the paper's cell with the longest name that the cell's begins with, up to its end or a "-". */
static int find_cell(table_cell *z, const char *name) {
  size_t longest = 0;
  for (size_t i = 0; i < table_count(); i++) {
    const paper_table *of = table_at(i);
    for (size_t k = 0; k < of->rows * of->columns; k++) {
      const table_cell cell = {of, &of->row[k / of->columns], &of->column[k % of->columns]};
      char text[TABLE_NAME_MAX];
      if (!table_has(of, cell.row, k % of->columns)) continue;
      size_t n = strlen(table_cell_name(text, &cell));
      if (n <= longest || strncmp(text, name, n) != 0 || (name[n] && name[n] != '-')) continue;
      longest = n;
      *z = cell;
    }
  }
  return longest > 0;
}

/* Sets the keys that a line of the ledger has. */
static int set_recorded(hu_trainer *trainer, const char *path, const job_entry *entry) {
  cli_pairs pairs;
  int status = CLI_OK;
  if (!cli_pairs_read_text(&pairs, entry->field[JOB_MORE]))
    return cli_fail(path, "%s: its result is no JSON object of one line", entry->field[JOB_ITEM]);
  for (size_t i = 0; i < pairs.count && status == CLI_OK; i++) {
    if (hu_trainer_get(trainer, pairs.pair[i].name)) status = set_key(trainer, pairs.pair[i].name, pairs.pair[i].text);
  }
  cli_pairs_free(&pairs);
  return status;
}

int ledger_set_keys(hu_trainer *trainer, const ledger_how *how, const job_entry *first) {
  table_cell of;
  int status = CLI_OK;
  if (first)
    status = set_recorded(trainer, how->path, first);
  else if (find_cell(&of, how->cell))
    status = table_cell_keys(&of, how->given.stand_in, 1, set_key, trainer);
  else if (how->verify)
    return cli_fail(how->path, "has no line %s@0, which says what the cell is", how->cell);
  else if (!how->given.pairs || !how->given.pairs[0])
    return cli_fail(NULL,
                    "--cell: '%s' begins with the name of no paper's cell (`halfulp experiment --paper PAPER --configs "
                    "FOLDER` writes all of them), and no --set says what it is",
                    how->cell);
  for (const char *const *at = how->given.pairs; at && at[0] && status == CLI_OK; at += 2)
    status = set_key(trainer, at[0], at[1]);
  return status == CLI_OK && how->given.threads ? set_key(trainer, "run.threads", how->given.threads) : status;
}

int ledger_begin_trainer(hu_trainer *trainer, const ledger_how *how) {
  char why[HU_DATA_WHY_MAX] = "";
  hu_status error = hu_trainer_set_engine(trainer, how->given.engine);
  if (error == HU_OK) error = train_read_weights(trainer);
  if (error == HU_OK)
    error = hu_trainer_begin(trainer, how->given.data ? how->given.data : train_data_folder(trainer, "data"), why);
  return error == HU_OK ? CLI_OK : cli_fail(NULL, "%s: %s", how->cell, *why ? why : hu_status_text(error));
}

/* ---- what digests depend on ---- */

uint64_t ledger_sources(const hu_trainer *trainer) {
  uint64_t z = JOB_DIGEST_START, data = hu_trainer_data_digest(trainer);
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    hu_trainer_key key = hu_trainer_key_at(i);
    const char *value = hu_trainer_get(trainer, key.name);
    /* A key that later versions have is not in the digests of earlier ones. */
    if (!key.weights || is_beside(key.name) || strcmp(value, key.by_default) == 0) continue;
    z = job_digest(value, job_digest(key.name, z));
  }
  return job_digest_bytes(&data, sizeof data, z);
}

/* Names the first key that has another value in the ledger. */
static int refuse(const ledger_cell *cell, const job_entry *first) {
  cli_pairs pairs;
  int status = CLI_OK;
  if (!cli_pairs_read_text(&pairs, first->field[JOB_MORE])) return CLI_BAD;
  for (size_t i = 0; i < hu_trainer_key_count() && status == CLI_OK; i++) {
    hu_trainer_key key = hu_trainer_key_at(i);
    const char *here = hu_trainer_get(cell->run.trainer, key.name), *there = cli_pairs_get(&pairs, key.name);
    if (!there) there = key.by_default;
    if (key.weights && !is_beside(key.name) && strcmp(here, there) != 0)
      status = cli_fail(cell->how->path, "%s: %s is '%s' there, '%s' here; name another cell", first->field[JOB_ITEM],
                        key.name, there, here);
  }
  cli_pairs_free(&pairs);
  if (status != CLI_OK) return status;
  return cli_fail(cell->how->path,
                  "%s: the data files or the network's text are others here; the line has the SHA-256 of the files",
                  first->field[JOB_ITEM]);
}

int ledger_begin(ledger_cell *cell) {
  char item[LEDGER_NAME_MAX + 24];
  const job_entry *first = job_ledger_find(&cell->ledger, ledger_item(item, cell, 0));
  hu_trainer *trainer = cell->run.trainer = hu_trainer_new();
  int status = trainer ? ledger_set_keys(trainer, cell->how, first) : cli_fail(NULL, "out of memory");
  if (status == CLI_OK) status = ledger_begin_trainer(trainer, cell->how);
  if (status != CLI_OK) return status;
  snprintf(cell->sources, sizeof cell->sources, "%016" PRIx64, ledger_sources(trainer));
  return first && strcmp(first->field[JOB_SOURCES], cell->sources) != 0 ? refuse(cell, first) : CLI_OK;
}
