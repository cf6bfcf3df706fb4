/* SPDX-License-Identifier: MIT */
/* halfulp sweep - training runs for values of a key and seeds: how much low precision costs how much accuracy. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/config.h"
#include "cli/base/io.h"
#include "cli/base/numbers.h"
#include "cli/sweep/sweep.h"
#include "cli/train/ranks.h"
#include "halfulp/status.h"

enum { SETS_MAX = 256, RANKS_MAX = 1 << 20 };
enum { KEY_KEY = CLI_KEY_FREE, KEY_VALUES, KEY_SEEDS, KEY_MEASURE, KEY_LOSS, KEY_SET, KEY_DATA, KEY_RANKS };

static int set_loss(sweep_setup *sweep, const char *value) {
  number x;
  if (!number_parse(&x, value) || !isfinite(x.value) || x.value < 0)
    return cli_fail(NULL, "--loss: '%s' is not a number of points", value);
  sweep->loss = x.value;
  return CLI_OK;
}

static int set_measure(sweep_setup *sweep, const char *value) {
  for (sweep->measure = 0; sweep->measure < SWEEP_MEASURES; sweep->measure++) {
    if (strcmp(sweep_measures[sweep->measure].name, value) == 0) return CLI_OK;
  }
  return cli_fail(NULL, "--measure: '%s' is not accuracy, loss, perplexity, auc, hit_rate_10, ndcg_10 or bleu", value);
}

static int set_ranks(sweep_setup *sweep, const char *value) {
  uint64_t x;
  if (cli_read_u64(&x, "--ranks-per-run", value, 1, RANKS_MAX)) return CLI_BAD;
  sweep->ranks_per_run = (unsigned)x;
  return CLI_OK;
}

static int set_values(sweep_setup *sweep, const char *value) {
  if (!config_is_text(value, strlen(value))) return cli_fail("--values", "not UTF-8 text, or a control character");
  return sweep_read_values(sweep, value);
}

static int add_set(sweep_setup *sweep, const char *value) {
  if (!sweep->set) sweep->set = calloc(SETS_MAX, sizeof *sweep->set);
  if (!sweep->set) return cli_fail(NULL, "out of memory");
  if (sweep->sets == SETS_MAX) return cli_fail("--set", "more than %d", SETS_MAX);
  sweep->set[sweep->sets++] = value;
  return CLI_OK;
}

static int set(void *state, int key, const char *value) {
  sweep_setup *sweep = state;
  switch (key) {
    case KEY_KEY: sweep->key = value; return CLI_OK;
    case KEY_VALUES: return set_values(sweep, value);
    case KEY_SEEDS: return sweep_read_seeds(sweep, value);
    case KEY_LOSS: return set_loss(sweep, value);
    case KEY_MEASURE: return set_measure(sweep, value);
    case KEY_SET: return add_set(sweep, value);
    case KEY_DATA: sweep->data = value; return CLI_OK;
    case CLI_KEY_JSON: sweep->json = 1; return CLI_OK;
    case KEY_RANKS: return set_ranks(sweep, value);
    case 'o': sweep->out = value; return CLI_OK;
    default: return job_set(&sweep->asked, key, value);
  }
}

static const cli_option options[] = {
    {KEY_KEY, "key", "KEY",
     "the key that is varied, or KEY,KEY...; assignment: all kinds of them; default assignment.ratio"},
    {KEY_VALUES, "values", "LIST", "its values; 0,0.1,...,1 counts; semicolons where a value has commas"},
    {KEY_SEEDS, "seeds", "N", "so many seeds, from 0; or a list: 3,7 or 3, ; default 3"},
    {KEY_RANKS, "ranks-per-run", "N",
     "ranks of an MPI job that share a run, whose parallel.shards they compute; default 1"},
    {KEY_MEASURE, "measure", "NAME",
     "accuracy (or R^2), loss, perplexity, auc, hit_rate_10, ndcg_10 or bleu of the test set; default accuracy"},
    {KEY_LOSS, "loss", "POINTS", "what may be lost against binary32, in hundredths; default 1"},
    {'o', "output", "OUT", "folder where results go; default: CONFIG's name with .sweep for its suffix"},
    {KEY_SET | CLI_REPEATS, "set", "KEY=VALUE", "another key of the configuration"},
    {KEY_DATA, "data", "FOLDER", "where its files are; default: the folder of CONFIG, ./data, the installed ones"},
    JOB_OPTIONS_OF(0, "0"),
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "sweep",
    "CONFIG [LEDGER...]",
    "Train for many values of one key, with several seeds, and compare with binary32",
    "Each run is an item, and its result a line of OUT/runs.ledger. A run that is there is not done again: after an\n"
    "interrupt the same command continues. Then OUT has summary.csv, summary.json, plot.svg and report.html.\n"
    "Among the values whose mean accuracy is within the accepted loss of binary32's, recommends the one that stores\n"
    "the fewest bytes; where the key does not change these, the most accurate one. Exits with 1 if a run failed.\n"
    "`mpirun -n N halfulp sweep ...` shares the runs among N ranks. Without MPI, N commands with --shard 1/N to N/N\n"
    "share them, on any machines that see OUT; then the command without --shard makes the report. The results are the\n"
    "same. With --merge, ledgers behind CONFIG go into OUT/runs.ledger. docs/training/sweep.md explains all of it.",
    "  printf '[data]\\nset = gratings\\n[run]\\nsteps = 20\\n[assignment]\\nkind = demote\\n' | \\\n"
    "      halfulp sweep - --values 0,0.5,1 --seeds 2 --output /tmp/ratios.sweep\n"
    "  printf '[data]\\nset = gratings\\n[run]\\nsteps = 20\\n' | \\\n"
    "      halfulp sweep - --key precision.system --values fp16,nvfp4 --seeds 7, --output /tmp/systems.sweep",
    options,
    1,
    4096,
    set};

/* ---- results ---- */

static int first_drawing(const sweep_summary *z) {
  return sweep_has_low(z) ? SWEEP_BY_LOW : sweep_has_stored(z) ? SWEEP_BY_STORED : SWEEP_BY_VALUE;
}

static int write_one(const sweep_setup *sweep, const char *name, void (*print)(FILE *out, const void *what),
                     const void *what) {
  char *path;
  if (asprintf(&path, "%s/%s", sweep->out, name) < 0) return cli_fail(NULL, "out of memory");
  int status = cli_own_check(path);
  if (status == CLI_OK)
    status = print ? cli_own_text(path, print, what) : sweep_plot_write(path, what, first_drawing(what));
  free(path);
  return status;
}

static int report(const sweep_setup *sweep) {
  static const char *const names[] = {SWEEP_FILES};
  static void (*const print[])(FILE * out, const void *what) = {sweep_print_csv, sweep_print_json, NULL,
                                                                sweep_print_page};
  sweep_summary z;
  sweep_clean_folder(sweep->out);
  int status = sweep_summarize(&z, sweep);
  for (size_t i = 0; i < sizeof names / sizeof *names && status == CLI_OK; i++)
    status = write_one(sweep, names[i], print[i], &z);
  if (status == CLI_OK && sweep->json) sweep_print_json(stdout, &z);
  if (status == CLI_OK && !sweep->json && !cli_quiet()) {
    char shown[CLI_SHOWN_MAX];
    sweep_print_table(stdout, &z);
    printf("%s: summary.csv summary.json plot.svg report.html\n", cli_shown(shown, sweep->out));
  }
  sweep_summary_free(&z);
  return status == CLI_OK && sweep_count(sweep, SWEEP_FAILED) ? CLI_DIFFERENT : status;
}

/* ---- the command ---- */

/* As many as there are processors; fewer where a run has threads of its own. */
static unsigned default_jobs(const sweep_setup *sweep) {
  const char *text = hu_trainer_get(sweep->run[0].trainer, "run.threads");
  long processors = sysconf(_SC_NPROCESSORS_ONLN), threads = text ? strtol(text, NULL, 10) : 1;
  long n = threads > 0 ? processors / threads : 1;
  return n < 1 ? 1 : n > JOB_JOBS_MAX ? JOB_JOBS_MAX : (unsigned)n;
}

/* FNV-1a of the options that are not in the runs' keys and names. */
static uint64_t digest_of_options(const sweep_setup *sweep) {
  char text[64];
  snprintf(text, sizeof text, "%a %d %d %zu", sweep->loss, sweep->measure, sweep->json, sweep->seeds);
  return job_digest(sweep->data, job_digest(text, JOB_DIGEST_START));
}

/* What cannot be, as the command line and the number of processes are. */
static int check(const sweep_setup *sweep) {
  int size = job_ranks_get()->size;
  if (size > 1 && !strcmp(sweep->config, "-"))
    return cli_fail(NULL, "sweep: several processes cannot share standard input: CONFIG is to be a file");
  if (size % (int)sweep->ranks_per_run)
    return cli_fail(NULL, "sweep: --ranks-per-run: %d rank%s cannot be cut into groups of %u", size,
                    size == 1 ? "" : "s", sweep->ranks_per_run);
  if (sweep->json && (job_is_part(&sweep->asked) || sweep->asked.status || sweep->asked.merge))
    return cli_fail(NULL,
                    "sweep: --json prints the report, which --shard, --include, --status and --merge do not make");
  return CLI_OK;
}

static int prepare(void *context) {
  sweep_setup *sweep = context;
  int status = check(sweep);
  if (!sweep->values && status == CLI_OK)
    status = sweep_read_values(sweep,
                               sweep_has_assignments(sweep) ? "uniform,operator,operator',0,0.1,...,1" : "0,0.1,...,1");
  if (!sweep->seeds && status == CLI_OK) status = sweep_read_seeds(sweep, "3");
  if (status == CLI_OK) status = sweep_plan(sweep);
  if (status != CLI_OK) return status;
  sweep->work.jobs = default_jobs(sweep);
  sweep->work.options = digest_of_options(sweep);
  return CLI_OK;
}

static int make_folder(void *context) { return sweep_make_folder(((const sweep_setup *)context)->out); }

/* Prints what the first process says at the end. */
static int say(sweep_setup *sweep) {
  char shown[CLI_SHOWN_MAX];
  if (sweep->asked.merge) {
    if (!cli_quiet()) printf("%s: %zu items\n", cli_shown(shown, sweep->work.path), sweep->work.ledger.count);
    return CLI_OK;
  }
  int status = sweep_take(sweep);
  if (status != CLI_OK) return status;
  if (!job_is_part(&sweep->asked) && !sweep->asked.status) return report(sweep);
  if (!cli_quiet()) (void)job_report(stdout, &sweep->work, "", 0);
  return sweep->work.failed ? CLI_DIFFERENT : CLI_OK;
}

static int run(sweep_setup *sweep, int count, char **operands) {
  char *path;
  if (count > 1 && !sweep->asked.merge)
    return cli_fail(NULL, "sweep: '%s' is one operand too many; it takes CONFIG, and ledgers with --merge",
                    operands[1]);
  if (!sweep->out || !sweep->data || asprintf(&path, "%s/" SWEEP_LEDGER, sweep->out) < 0)
    return cli_fail(NULL, "out of memory");
  sweep->work = (job_work){.who = "sweep",
                           .asked = &sweep->asked,
                           .path = path,
                           .list = "other keys in CONFIG or its options",
                           .prepare = prepare,
                           .begin = make_folder,
                           .run = sweep_do,
                           .refuse = sweep_refuse,
                           .context = sweep,
                           .group = sweep->ranks_per_run,
                           .ledger = JOB_NO_LEDGER(JOB_FIELDS)};
  int status = job_run(&sweep->work, count - 1, operands + 1);
  if (status == CLI_OK && !job_ranks_get()->rank) status = say(sweep);
  job_free(&sweep->work);
  free(path);
  return status;
}

int cli_sweep(int argc, char **argv) {
  sweep_setup sweep = {.key = "assignment.ratio", .loss = 1, .ranks_per_run = 1, .asked = JOB_NOTHING_ASKED};
  char **operands, *out = NULL, *data = NULL;
  int count, status = job_parse(&command, &sweep, argc, argv, &operands, &count);
  if (status < 0) {
    sweep.config = operands[0];
    if (!sweep.out) sweep.out = out = config_beside(operands[0], "sweep");
    sweep.any_data = !sweep.data;
    if (!sweep.data) sweep.data = data = config_folder(operands[0]);
    status = run(&sweep, count, operands);
  }
  sweep_free(&sweep);
  free(out);
  free(data);
  return status;
}
