/* SPDX-License-Identifier: MIT */
/* cli/experiment/budget.h - `halfulp experiment --paper P --table T`: the runs of a paper's table within a budget of
 * time. Steps are timed, the runs are cut to fit, and what was cut is said. The time of a step is what processors work,
 * by the threads of the run, so that other work on the machine does not change a plan; on a device it is the clock's.
 *
 * What is cut, in this order: epochs, down to a tenth of the paper's; the width of the networks, to a half and a
 * quarter; epochs, down to one; steps, down to BUDGET_STEPS_LEAST; whole rows, from the last one on. All runs of a row
 * are cut alike. Rates drop at the same shares of a run. */
#ifndef HALFULP_CLI_EXPERIMENT_BUDGET_H
#define HALFULP_CLI_EXPERIMENT_BUDGET_H

#include <stdint.h>
#include <stdio.h>

#include "cli/experiment/given.h"
#include "cli/experiment/tables.h"

enum { BUDGET_STEPS_LEAST = 20, BUDGET_WIDTHS = 3, BUDGET_LEFT_MAX = 200 };

/* What the command line says. */
typedef struct budget_how {
  const char *paper, *table, *row; /* row: its name in files; NULL: all */
  double seconds;                  /* 0: none is given, and nothing is run */
  experiment_given given;
  int overwrite;
  size_t seeds; /* of each cell, from 0 on */
} budget_how;

typedef struct budget_row {
  const table_row *row;
  double part;         /* of the paper's width */
  size_t width;        /* its number in budget_parts, as it was timed */
  uint64_t steps;      /* of each run; 0: none */
  uint64_t full_steps; /* of the paper's; 0: not timed */
  uint64_t an_epoch;
  uint64_t batch;             /* of the paper's */
  double seconds;             /* of all of its runs, as planned */
  char left[BUDGET_LEFT_MAX]; /* why it is not run; "" */
} budget_row;

enum { BUDGET_SEED_MAX = 24 };
typedef struct budget_run {
  table_cell cell;
  size_t row;
  char seed[BUDGET_SEED_MAX];                       /* run.seed; "" where there is one seed alone, which is the keys' */
  double step[BUDGET_WIDTHS], begin[BUDGET_WIDTHS]; /* seconds at each width */
  double full_seconds;                              /* at the paper's size; NaN */
  int done;
  double figure, best, test_loss, seconds; /* best: of the epochs; NaN where the table has none */
  char measure[32];
  uint64_t steps, skipped, digest;
} budget_run;

typedef struct budget {
  const budget_how *how;
  const paper_table *table;
  char *folder; /* of the results */
  int lock;
  int fresh; /* 1: the plan was made now, and results of another one do not count */
  budget_row *row;
  size_t rows;
  budget_run *run; /* row by row, cell by cell, seed by seed */
  size_t runs;
  double started, last; /* seconds: when; of the last timing of steps */
  double smallest;      /* seconds for which something would be run, where nothing is; else NaN */
} budget;

/* All return 0, or an exit code after an error line. */

/* Runs the command. */
int budget_command(const budget_how *how);
/* Writes the configurations of a paper's tables to a folder. */
int budget_write_configs(const char *folder, const budget_how *how);
/* Reads "90s", "30m", "12h", "3d". */
int budget_read_time(double *seconds, const char *text);

/* What the runs of a cell are like together. */
typedef struct budget_cell {
  size_t done; /* seeds that are */
  double figure, deviation, best, test_loss,
      seconds; /* means of these; deviation of figure, NaN of one; sum of seconds */
} budget_cell;
budget_cell budget_cell_of(const budget *work, const budget_run *first);

/* How a run is cut. */
typedef struct budget_size {
  double part;               /* of the width */
  const char *seed;          /* run.seed; NULL or "": the keys' */
  uint64_t steps;            /* so many; 0: the paper's */
  int cut;                   /* 1: they are fewer, though `steps` does not say how many */
  uint64_t an_epoch;         /* steps of an epoch, where steps is not 0 */
  unsigned long long divide; /* the batch is divided by this, where it is large enough; 0: it is not */
} budget_size;
/* The name of a run's files: that of its cell, with "-seed1" where there are several seeds. */
const char *budget_run_name(char text[TABLE_NAME_MAX], const budget_run *run);
/* Begins a trainer with the keys of a run (budget_trainer.c). NULL after an error line. */
hu_trainer *budget_begin(const budget *work, const table_cell *cell, const budget_size *size);
/* Writes the configuration of a run as it is made, a file that `halfulp train` takes. */
int budget_write_config(const budget *work, const budget_run *run);
/* Checks that the files are there that the rows need. */
int budget_find_data(const budget *work);

/* Times steps and decides what is cut (budget_plan.c); or reads what was decided before. A plan of nothing is not kept.
 */
int budget_plan(budget *work);
extern const double budget_parts[BUDGET_WIDTHS];

/* Makes the runs that have no result yet (budget_run.c). *stopped: the signal that ended it, 0 for none. */
int budget_do(budget *work, int *stopped);

/* Print what standard output gets, and table.csv (budget_print.c). */
void budget_print_list(const paper_table *table, const budget_how *how);
void budget_print_list_json(const budget_how *how);
void budget_print(FILE *out, const budget *work);
void budget_print_json(FILE *out, const void *budget);
int budget_write_csv(const budget *work);

#endif
