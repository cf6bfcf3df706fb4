/* SPDX-License-Identifier: MIT */
/* halfulp experiment - papers' claims about training, reproduced on a small scale and judged. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/base/cli.h"
#include "cli/base/device.h"
#include "cli/base/progress.h"
#include "cli/base/shipped.h"
#include "cli/experiment/experiment.h"
#include "cli/experiment/attribute.h"
#include "cli/experiment/budget.h"
#include "cli/experiment/given.h"
#include "cli/experiment/ledger.h"
#include "files/suggest.h"
#include "halfulp/train/data.h"
#include "halfulp/train/net.h"

enum { SETS_MAX = 64 };
typedef struct experiment_state {
  experiment_given given;
  int all, quick, attribute;
  const char *row;
  budget_how table;    /* of --paper */
  ledger_how cell;     /* of --cell */
  const char *configs; /* folder */
  size_t seeds;
  const char *pairs[2 * SETS_MAX + 3]; /* of --set and -j, up to a NULL */
  char *keys[SETS_MAX];                /* the keys in it, to be freed */
  size_t sets;
  progress bar;
  int printed; /* objects of a JSON list */
} experiment_state;

enum {
  KEY_DATA = CLI_KEY_FREE,
  KEY_SET,
  KEY_RUN,
  KEY_ALL,
  KEY_QUICK,
  KEY_SEEDS,
  KEY_PAPER,
  KEY_TABLE,
  KEY_ROW,
  KEY_BUDGET,
  KEY_STAND_IN,
  KEY_CONFIGS,
  KEY_OVERWRITE,
  KEY_CELL,
  KEY_LEDGER,
  KEY_VERIFY,
  KEY_KEEP,
  KEY_COMMIT,
  KEY_ATTRIBUTE
};
enum { SEEDS = 3, SEEDS_MOST = 1000 };

/* Takes KEY=VALUE. */
static int add_set(experiment_state *state, const char *text) {
  const char *is = strchr(text, '=');
  if (!is || is == text) return cli_fail(NULL, "--set: '%s' is not KEY=VALUE", text);
  if (state->sets == SETS_MAX) return cli_fail(NULL, "--set: at most %d of them", SETS_MAX);
  char *key = strndup(text, (size_t)(is - text));
  if (!key) return cli_fail(NULL, "out of memory");
  state->keys[state->sets] = key;
  state->pairs[2 * state->sets] = key;
  state->pairs[2 * state->sets++ + 1] = is + 1;
  return CLI_OK;
}

static int read_seeds(experiment_state *state, const char *text) {
  char *end;
  errno = 0;
  unsigned long n = strtoul(text, &end, 10);
  if (errno || end == text || *end || *text == '-' || n < 1 || n > SEEDS_MOST)
    return cli_fail(NULL, "--seeds: '%s' is not a number from 1 to %d", text, SEEDS_MOST);
  state->seeds = n;
  return CLI_OK;
}

static int set(void *context, int key, const char *value) {
  experiment_state *state = context;
  if (key == CLI_KEY_JSON) state->given.json = 1;
  if (key == KEY_ALL) state->all = 1;
  if (key == KEY_QUICK) state->quick = 1;
  if (key == KEY_DATA) state->given.data = value;
  if (key == 'o') state->given.out = value;
  if (key == 'j') state->given.threads = value;
  if (key == KEY_RUN) state->row = value;
  if (key == KEY_PAPER) state->table.paper = value;
  if (key == KEY_TABLE) state->table.table = value;
  if (key == KEY_ROW) state->table.row = value;
  if (key == KEY_STAND_IN) state->given.stand_in = 1;
  if (key == KEY_CELL) state->cell.cell = value;
  if (key == KEY_LEDGER) state->cell.path = value;
  if (key == KEY_VERIFY) state->cell.verify = value;
  if (key == KEY_KEEP) state->cell.keep = 1;
  if (key == KEY_COMMIT) state->cell.commit = value;
  if (key == KEY_ATTRIBUTE) state->attribute = 1;
  if (key == KEY_OVERWRITE) state->table.overwrite = 1;
  if (key == KEY_BUDGET) return budget_read_time(&state->table.seconds, value);
  if (key == KEY_CONFIGS) state->configs = value;
  if (key == KEY_SEEDS) return read_seeds(state, value);
  return key == KEY_SET ? add_set(state, value) : CLI_OK;
}

/* ---- the list ---- */

static int list(int json) {
  if (json) return experiment_list_json(), CLI_OK;
  for (size_t i = 0; i < hu_experiment_count(); i++) {
    hu_experiment experiment = hu_experiment_at(i);
    printf("%-22s %4u s%s  %s\n%30s  expected: %s\n%30s  %s, %s\n", experiment.name, experiment.seconds,
           experiment.quick ? "*" : " ", experiment.shows, "", experiment.expected, "", experiment.source,
           experiment.figure);
  }
  return CLI_OK;
}

/* ---- running ---- */

static const cli_option options[] = {
    {KEY_DATA, "data", "FOLDER", "where the data files are; default ./data, or the installed ones"},
    {'o', "output", "OUT", "folder where report.html, rows.csv, series.csv and a drawing of each figure go"},
    {KEY_ALL, "all", NULL, "no NAME: run all of them; with --output each has a folder in OUT"},
    {KEY_QUICK, "quick", NULL, "with --all: those that `make check-all` runs"},
    {KEY_SET | CLI_REPEATS, "set", "KEY=VALUE", "in every run, after its own keys (halfulp train --keys lists them)"},
    {KEY_RUN, "run", "RUN", "--set in the run of this name alone, for example to see what a claim rests on"},
    {KEY_SEEDS, "seeds", "N",
     "so many seeds, 0 to N - 1, for every run; claims are judged on the means; default 3, of a table 1"},
    {KEY_PAPER, "paper", "PAPER", "no NAME: list the tables of a paper; with --table and --budget run one"},
    {KEY_TABLE, "table", "TABLE", "one of them: 1, A2, figure4"},
    {KEY_ROW, "row", "ROW", "one row of the table, by its name in files: resnet20"},
    {KEY_BUDGET, "budget", "TIME", "run what of the table fits into this time: 90s, 30m, 12h, 3d"},
    {KEY_STAND_IN, "stand-in", NULL, "with --budget or --cell: generated data in place of the paper's"},
    {KEY_CONFIGS, "configs", "FOLDER", "with --paper: write a configuration for every cell of its tables"},
    {KEY_OVERWRITE, "overwrite", NULL, "with --budget: start again, whatever results are in OUT"},
    {KEY_CELL, "cell", "CELL",
     "no NAME: run one cell of a table, whose name begins with that of its file, with --ledger"},
    {KEY_LEDGER, "ledger", "LEDGER", "the file of its digests, every 1000 steps; what is there is compared"},
    {KEY_VERIFY, "verify", "FROM..TO", "with --cell: replay these steps alone, and compare their digests"},
    {KEY_KEEP, "keep", NULL, "with --cell and --output: keep the checkpoint of every 1000 steps"},
    {KEY_COMMIT, "commit", "TEXT", "with --cell: the commit of the sources that the ledger is to name"},
    {KEY_ATTRIBUTE, "attribute", NULL, "with --cell and --output: find the roundings that cost its accuracy"},
    {'j', "threads", "N", "as --set run.threads=N: the result is the same for any number"},
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "experiment",
    "[NAME]",
    "List papers' claims on training in low precision; run one, or all, and judge it",
    "Without NAME lists the experiments: for each its name, about how long it takes on one core, what it shows, what "
    "is\n"
    "expected, and the paper. An asterisk marks those that `make check-all` runs.\n\n"
    "With NAME makes every run with several seeds; an experiment that has seeds of its own is run once. Prints a line "
    "for\n"
    "each training run, means and standard deviations: loss of the training set and of the test set, accuracy on\n"
    "the test set, steps skipped by the loss scale, share of the weight updates that were lost, and a digest of the "
    "weights,\n"
    "which is the same on every machine; then other tables, and the paper's claims with the numbers measured. Exits\n"
    "with 1 if one does not hold, or if nothing of a table fits its budget.",
    "  halfulp experiment\n"
    "  halfulp experiment bfloat16-updates --data . -j 2\n"
    "  halfulp experiment s2fp8 --data . --output /tmp/s2fp8 --json\n"
    "  halfulp experiment long-reduction --output /tmp/reduction\n"
    "  halfulp experiment --paper s2fp8 --table 1\n"
    "  halfulp experiment --paper s2fp8 --table 4 --budget 20s --stand-in --output /tmp/ncf.table",
    options,
    0,
    1,
    set};

static int on_step(void *context, size_t done, size_t of, const hu_experiment_row *row) {
  experiment_state *state = context;
  (void)row;
  if (done == 1) progress_start(&state->bar, "training", of);
  progress_at(&state->bar, done);
  return 1;
}

/* Prints a line of a summary. */
static void print_line(const experiment_result *result) {
  printf("%-22s %zu of %zu claims hold, %.1f s\n", result->what.name, result->report->held, result->report->claims,
         result->seconds);
  for (size_t i = 0; i < result->report->claims; i++)
    if (!result->report->claim[i].holds) printf("  FAILS: %s\n", result->report->claim[i].text);
  fflush(stdout);
}

static void show(experiment_state *state, const experiment_result *result) {
  if (cli_quiet() && state->given.out && !state->given.json) return;
  if (state->given.json) {
    if (state->all) printf("%s\n", state->printed++ ? "," : "[");
    experiment_print_json(result);
    if (!state->all) putchar('\n');
  } else if (state->all) {
    print_line(result);
  } else {
    experiment_print(result);
  }
}

/* Finds the device, if a --set asks for it. */
static int find_device(experiment_state *state) {
  char name[CLI_DEVICE_MAX];
  int cuda = 0;
  for (size_t i = 0; i < state->sets; i++) {
    if (strcmp(state->pairs[2 * i], "run.device") == 0) cuda = strcmp(state->pairs[2 * i + 1], "cuda") == 0;
  }
  if (!cuda || cli_device_engine(&state->given.engine, name)) return CLI_OK;
  return cli_fail(NULL, "run.device: cuda: %s", name);
}

static int run_one(experiment_state *state, hu_experiment what, const char *folder) {
  const hu_experiment_options how = {state->given.data ? state->given.data : cli_shipped("data", CLI_DIGITS),
                                     state->pairs,
                                     on_step,
                                     state,
                                     state->given.engine,
                                     state->seeds ? state->seeds : SEEDS,
                                     state->row};
  char why[HU_DATA_WHY_MAX] = "";
  hu_experiment_report report;
  double start = progress_seconds();
  memset(&state->bar, 0, sizeof state->bar);
  hu_status status = hu_experiment_run(&report, what.name, &how, why);
  if (state->bar.total) progress_end(&state->bar);
  if (status != HU_OK) return cli_fail(NULL, "%s: %s", what.name, *why ? why : hu_status_text(status));
  const experiment_result result = {what, &report, progress_seconds() - start};
  show(state, &result);
  int code = folder ? experiment_write(folder, &result) : CLI_OK;
  if (code == CLI_OK && report.held != report.claims) code = CLI_DIFFERENT;
  hu_experiment_report_free(&report);
  return code;
}

static int run_all(experiment_state *state) {
  int code = CLI_OK;
  if (state->given.out && mkdir(state->given.out, 0777) != 0 && errno != EEXIST)
    return cli_fail(state->given.out, "%s", strerror(errno));
  for (size_t i = 0; i < hu_experiment_count(); i++) {
    char folder[4096];
    hu_experiment experiment = hu_experiment_at(i);
    if (state->quick && !experiment.quick) continue;
    if (state->given.out) snprintf(folder, sizeof folder, "%s/%s", state->given.out, experiment.name);
    int one = run_one(state, experiment, state->given.out ? folder : NULL);
    if (one > code) code = one;
    if (one == CLI_BAD) break;
  }
  if (state->given.json) printf("%s\n]\n", state->printed ? "" : "[");
  return code;
}

static int run_named(experiment_state *state, const char *name) {
  char end[SUGGEST_MAX];
  suggest near;
  suggest_start(&near, name);
  for (size_t i = 0; i < hu_experiment_count(); i++) {
    hu_experiment experiment = hu_experiment_at(i);
    if (strcmp(experiment.name, name) == 0) return run_one(state, experiment, state->given.out);
    suggest_offer(&near, experiment.name);
  }
  return cli_fail(NULL, "no experiment '%s'%s", name, suggest_end(end, &near, "`halfulp experiment` lists them"));
}

/* ---- a paper's table ---- */

static int is_of_table(const experiment_state *state) {
  const budget_how *how = &state->table;
  return how->table || how->row || how->seconds > 0 || state->given.stand_in || how->overwrite || state->configs;
}

static int run_table(experiment_state *state) {
  budget_how how = state->table;
  how.given = state->given;
  how.seeds = state->seeds ? state->seeds : 1;
  if (state->seeds && !(how.seconds > 0)) return cli_fail(NULL, "experiment: --seeds of a table requires --budget");
  for (size_t i = 0; i < state->sets && state->seeds; i++) {
    if (strcmp(state->keys[i], "run.seed") == 0) return cli_fail(NULL, "experiment: --seeds sets run.seed");
  }
  if (!state->configs) return budget_command(&how);
  if (how.table || how.row || how.seconds > 0 || how.given.stand_in || how.overwrite)
    return cli_fail(NULL, "experiment: --configs is for all tables of a paper");
  if (state->sets || state->given.threads || state->given.data || state->given.out || state->given.json)
    return cli_fail(NULL,
                    "experiment: --configs writes the tables' own keys: no --set, -j, --data, --output or --json");
  return budget_write_configs(state->configs, &how);
}

/* ---- a cell of a ledger ---- */

static int is_of_cell(const ledger_how *how) { return how->path || how->verify || how->keep || how->commit; }

static int run_cell(experiment_state *state) {
  ledger_how how = state->cell;
  how.given = state->given;
  if (state->attribute) {
    if (how.path || is_of_cell(&how))
      return cli_fail(NULL,
                      "experiment: --attribute has a ledger of its own: no --ledger, --verify, --keep or --commit");
    if (!how.given.out) return cli_fail(NULL, "experiment: --attribute requires --output");
    return attribute_command(&how, state->seeds ? state->seeds : SEEDS, state->table.seconds);
  }
  if (state->table.seconds > 0) return cli_fail(NULL, "experiment: --budget of a cell requires --attribute");
  if (!how.path) return cli_fail(NULL, "experiment: --cell requires --ledger or --attribute");
  if (how.keep && !how.given.out) return cli_fail(NULL, "experiment: --keep requires --output");
  if (how.verify && (how.keep || how.commit))
    return cli_fail(NULL, "experiment: --verify writes nothing: no --keep and no --commit");
  if (state->seeds) return cli_fail(NULL, "experiment: --seeds: a cell has one seed, --set run.seed=N");
  return ledger_command(&how);
}

int cli_experiment(int argc, char **argv) {
  experiment_state state = {0};
  char **operands;
  state.given.pairs = state.pairs;
  int count, status = cli_parse(&command, &state, argc, argv, &operands, &count);
  if (status < 0) {
    if (state.given.threads) {
      state.pairs[2 * state.sets] = "run.threads";
      state.pairs[2 * state.sets + 1] = state.given.threads;
    }
    if (state.cell.cell) {
      const budget_how *of = &state.table;
      int others = of->paper || of->table || of->row || of->overwrite || state.configs;
      status =
          count || state.all || state.quick || state.row || others
              ? cli_fail(NULL, "experiment: --cell stands without NAME, --all, --quick, --run, and --paper's options")
              : find_device(&state);
      if (status == CLI_OK) status = run_cell(&state);
    } else if (is_of_cell(&state.cell) || state.attribute) {
      status = cli_fail(NULL, "experiment: --ledger, --verify, --keep, --commit and --attribute require --cell");
    } else if (state.table.paper) {
      status = count || state.all || state.quick || state.row
                   ? cli_fail(NULL, "experiment: --paper stands without NAME, --all, --quick and --run")
                   : find_device(&state);
      if (status == CLI_OK) status = run_table(&state);
    } else if (is_of_table(&state)) {
      status =
          cli_fail(NULL, "experiment: --table, --row, --budget, --stand-in, --configs and --overwrite require --paper");
    } else if (state.all && count) {
      status = cli_fail(NULL, "experiment: either NAME or --all");
    } else if (state.quick && !state.all) {
      status = cli_fail(NULL, "experiment: --quick is for --all");
    } else if (!state.all && !count) {
      status = state.sets || state.given.data || state.given.out || state.given.threads || state.row || state.seeds
                   ? cli_fail(NULL, "experiment: NAME or --all is missing; without options the experiments are listed")
                   : list(state.given.json);
    } else if ((status = find_device(&state)) == CLI_OK) {
      status = state.all ? run_all(&state) : run_named(&state, operands[0]);
    }
  }
  for (size_t i = 0; i < state.sets; i++) free(state.keys[i]);
  return status;
}
