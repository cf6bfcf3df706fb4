/* SPDX-License-Identifier: MIT */
/* halfulp sweep - training runs for values of a key and seeds: how much low precision costs how much accuracy. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/config.h"
#include "cli/base/io.h"
#include "cli/base/numbers.h"
#include "cli/sweep/sweep.h"

typedef struct sweep_asked {
  sweep sweep;
  int json;
} sweep_asked;

enum { JOBS_MAX = 256, SETS_MAX = 256 };
enum { KEY_KEY = CLI_KEY_FREE, KEY_VALUES, KEY_SEEDS, KEY_JOBS, KEY_LOSS, KEY_SET, KEY_DATA, KEY_OVERWRITE };

static int set_loss(sweep *s, const char *value) {
  number x;
  if (!number_parse(&x, value) || !isfinite(x.value) || x.value < 0)
    return cli_fail(NULL, "--loss: '%s' is not a number of points", value);
  s->loss = x.value;
  return CLI_OK;
}

static int set_jobs(sweep *s, const char *value) {
  uint64_t x;
  if (cli_read_u64(&x, "--jobs", value, 0, JOBS_MAX)) return CLI_BAD;
  s->jobs = (unsigned)x;
  return CLI_OK;
}

static int set_values(sweep *s, const char *value) {
  if (!config_is_text(value, strlen(value))) return cli_fail("--values", "not UTF-8 text, or a control character");
  return sweep_read_values(s, value);
}

static int add_set(sweep *s, const char *value) {
  if (!s->set) s->set = calloc(SETS_MAX, sizeof *s->set);
  if (!s->set) return cli_fail(NULL, "out of memory");
  if (s->sets == SETS_MAX) return cli_fail("--set", "more than %d", SETS_MAX);
  s->set[s->sets++] = value;
  return CLI_OK;
}

static int set(void *state, int key, const char *value) {
  sweep_asked *a = state;
  sweep *s = &a->sweep;
  switch (key) {
    case KEY_KEY: s->key = value; return CLI_OK;
    case KEY_VALUES: return set_values(s, value);
    case KEY_SEEDS: return sweep_read_seeds(s, value);
    case KEY_LOSS: return set_loss(s, value);
    case KEY_SET: return add_set(s, value);
    case KEY_DATA: s->data = value; return CLI_OK;
    case KEY_OVERWRITE: s->fresh = 1; return CLI_OK;
    case CLI_KEY_JSON: a->json = 1; return CLI_OK;
    case KEY_JOBS: return set_jobs(s, value);
    case 'o': s->out = value; return CLI_OK;
    default: return CLI_BAD;
  }
}

static const cli_option options[] = {
    {KEY_KEY, "key", "KEY", "the key that is varied; default assignment.ratio"},
    {KEY_VALUES, "values", "LIST", "its values; 0,0.1,...,1 counts; semicolons where a value has commas"},
    {KEY_SEEDS, "seeds", "N", "so many seeds, from 0; or a list: 3,7 or 3, ; default 3"},
    {KEY_JOBS, "jobs", "N", "training runs at once, each a process; default 0: one per processor"},
    {KEY_LOSS, "loss", "POINTS", "accuracy that may be lost against binary32; default 1"},
    {'o', "output", "OUT", "folder where results go; default: CONFIG's name with .sweep for its suffix"},
    {KEY_SET | CLI_REPEATS, "set", "KEY=VALUE", "another key of the configuration"},
    {KEY_DATA, "data", "FOLDER", "where its files are; default: the folder of CONFIG, ./data, the installed ones"},
    {KEY_OVERWRITE, "overwrite", NULL, "start again: runs that are done already are done again"},
    CLI_OPTION_JSON,
    {0}};
static const cli_command command = {
    "sweep",
    "CONFIG",
    "Train for many values of one key, with several seeds, and compare with binary32",
    "Each run is a process of its own and leaves a file in OUT/runs. A run whose file is there is not done again:\n"
    "after an interrupt the same command continues. Then OUT has summary.csv, summary.json, plot.svg and "
    "report.html.\n"
    "Among the values whose mean accuracy is within the accepted loss of binary32's, recommends the one that stores\n"
    "the fewest bytes; where the key does not change these, the most accurate one. Exits with 1 if a run failed.\n"
    "docs/sweep.md explains all of it.",
    "  printf '[data]\\nset = gratings\\n[run]\\nsteps = 20\\n[assignment]\\nkind = demote\\n' | \\\n"
    "      halfulp sweep - --values 0,0.5,1 --seeds 2 --output /tmp/ratios.sweep\n"
    "  printf '[data]\\nset = gratings\\n[run]\\nsteps = 20\\n' | \\\n"
    "      halfulp sweep - --key precision.system --values fp16,nvfp4 --seeds 7, --output /tmp/systems.sweep",
    options,
    1,
    1,
    set};

/* ---- results ---- */

static int first_drawing(const sweep_summary *z) {
  return sweep_has_low(z) ? SWEEP_BY_LOW : sweep_has_stored(z) ? SWEEP_BY_STORED : SWEEP_BY_VALUE;
}

static int write_one(const sweep *s, const char *name, void (*print)(FILE *out, const void *what), const void *what) {
  char *path;
  if (asprintf(&path, "%s/%s", s->out, name) < 0) return cli_fail(NULL, "out of memory");
  int status = print ? cli_text_write(path, print, what) : sweep_plot_write(path, what, first_drawing(what));
  free(path);
  return status;
}

static int report(const sweep *s, int json) {
  static const char *const names[] = {SWEEP_FILES};
  static void (*const print[])(FILE * out, const void *what) = {sweep_print_csv, sweep_print_json, NULL,
                                                                sweep_print_page};
  sweep_summary z;
  int status = sweep_summarize(&z, s);
  for (size_t i = 0; i < sizeof names / sizeof *names && status == CLI_OK; i++)
    status = write_one(s, names[i], print[i], &z);
  if (status == CLI_OK && json) sweep_print_json(stdout, &z);
  if (status == CLI_OK && !json) {
    char shown[CLI_SHOWN_MAX];
    sweep_print_table(stdout, &z);
    printf("%s: summary.csv summary.json plot.svg report.html\n", cli_shown(shown, s->out));
  }
  sweep_summary_free(&z);
  return status == CLI_OK && sweep_count(s, SWEEP_FAILED) ? CLI_DIFFERENT : status;
}

/* ---- the command ---- */

/* As many as there are processors; fewer where a run has threads of its own. */
static unsigned default_jobs(const sweep *s) {
  const char *text = hu_trainer_get(s->run[0].trainer, "run.threads");
  long processors = sysconf(_SC_NPROCESSORS_ONLN), threads = text ? strtol(text, NULL, 10) : 1;
  long n = threads > 0 ? processors / threads : 1;
  return n < 1 ? 1 : n > JOBS_MAX ? JOBS_MAX : (unsigned)n;
}

/* What runs were writing when they were killed. The lock of the sweep's folder is that of its runs, too. */
static void remove_leftovers(const sweep *s) {
  int runs = openat(s->lock, "runs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  (void)cli_folder_clean(s->lock);
  if (runs < 0) return;
  (void)cli_folder_clean(runs);
  close(runs);
}

static int run_sweep(sweep *s, int json) {
  int status = CLI_OK;
  if (!s->values) status = sweep_read_values(s, "0,0.1,...,1");
  if (!s->seeds && status == CLI_OK) status = sweep_read_seeds(s, "3");
  if (status == CLI_OK) status = sweep_plan(s);
  if (status == CLI_OK) status = cli_folder_lock(&s->lock, s->out, "sweep");
  if (status == CLI_OK) remove_leftovers(s);
  if (status == CLI_OK) status = sweep_find(s);
  if (status != CLI_OK) return status;
  if (!s->jobs) s->jobs = default_jobs(s);
  status = sweep_work(s);
  return status == CLI_OK ? report(s, json) : status;
}

int cli_sweep(int argc, char **argv) {
  sweep_asked a = {.sweep = {.key = "assignment.ratio", .loss = 1, .lock = -1}};
  char **operands, *out = NULL, *data = NULL;
  int count, status = cli_parse(&command, &a, argc, argv, &operands, &count);
  if (status < 0) {
    a.sweep.config = operands[0];
    if (!a.sweep.out) a.sweep.out = out = config_beside(operands[0], "sweep");
    a.sweep.any_data = !a.sweep.data;
    if (!a.sweep.data) a.sweep.data = data = config_folder(operands[0]);
    status = a.sweep.out && a.sweep.data ? run_sweep(&a.sweep, a.json) : cli_fail(NULL, "out of memory");
  }
  if (a.sweep.lock >= 0) close(a.sweep.lock);
  sweep_free(&a.sweep);
  free(out);
  free(data);
  return status;
}
