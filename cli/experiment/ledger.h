/* SPDX-License-Identifier: MIT */
/* cli/experiment/ledger.h - a ledger of training runs that others can check (docs/training/ledger.md): `halfulp
 * experiment --cell`. It is a ledger of cli/job/job.h whose item CELL@STEP has the digests of a cell's weights up to
 * that step, every LEDGER_MARK steps, and at the end the figures. */
#ifndef HALFULP_CLI_EXPERIMENT_LEDGER_H
#define HALFULP_CLI_EXPERIMENT_LEDGER_H

#include <stdint.h>
#include <stdio.h>

#include "cli/experiment/given.h"
#include "cli/job/job.h"
#include "cli/train/train.h"

enum { LEDGER_LINE = 1000, LEDGER_MARK = 100, LEDGER_MARKS = LEDGER_LINE / LEDGER_MARK, LEDGER_NAME_MAX = 96 };

/* What the command line says. */
typedef struct ledger_how {
  const char *cell, *path; /* path: of the ledger */
  const char *verify;      /* "2000..2100"; NULL: the run is made */
  const char *commit;
  experiment_given given;
  int keep;
} ledger_how;

/* A cell at work. */
typedef struct ledger_cell {
  const ledger_how *how;
  train_run run; /* its trainer, and the folder of its checkpoint */
  job_ledger ledger;
  char sources[JOB_SOURCES_MAX];
  uint64_t start;           /* the step that is begun from */
  char *mark[LEDGER_MARKS]; /* of this line, so far */
  uint64_t same, added;     /* digests that are those of the ledger; lines that are new */
  double seconds;           /* when the line began */
} ledger_cell;

/* All return 0, or an exit code after an error line; CLI_DIFFERENT where digests differ. */

/* Runs or verifies a cell (ledger.c). */
int ledger_command(const ledger_how *how);
/* Makes the trainer of a cell and begins it: the keys of the ledger's line CELL@0, or those of the paper's cell whose
 * name the cell's begins with; then --set (ledger_keys.c). Writes the digest of keys and data to cell->sources, and
 * refuses another one than the ledger's. */
int ledger_begin(ledger_cell *cell);

/* Sets the keys of a cell: those of its first line, if it is not NULL, else as above. */
int ledger_set_keys(hu_trainer *trainer, const ledger_how *how, const job_entry *first);
/* Begins its run. */
int ledger_begin_trainer(hu_trainer *trainer, const ledger_how *how);
/* Returns a digest of the keys that weights depend on, without where files lie, and of what the run has read. */
uint64_t ledger_sources(const hu_trainer *trainer);

/* Takes the digests of a step (ledger_line.c): compares them with those that the ledger has, adds a line where one is
 * due and missing. */
int ledger_take(ledger_cell *cell);
/* Writes "CELL@STEP". */
const char *ledger_item(char text[LEDGER_NAME_MAX + 24], const ledger_cell *cell, uint64_t step);
/* Returns the step of the line that has the digests of a step. */
uint64_t ledger_line_of(const ledger_cell *cell, uint64_t step);
/* Is there a digest of this step? */
int ledger_is_marked(const ledger_cell *cell, uint64_t step);

#endif
