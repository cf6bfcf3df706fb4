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
#include "cli/campaign/campaign.h"
#include "cli/sweep/sweep.h"
#include "cli/train/ranks.h"
#include "halfulp/version.h"

typedef struct sweep_asked {
  sweep sweep;
  int json;
} sweep_asked;

enum { JOBS_MAX = 256, SETS_MAX = 256, RANKS_MAX = 1 << 20, SHARDS_MAX = 1000000 };
enum {
  KEY_KEY = CLI_KEY_FREE,
  KEY_VALUES,
  KEY_SEEDS,
  KEY_JOBS,
  KEY_LOSS,
  KEY_SET,
  KEY_DATA,
  KEY_OVERWRITE,
  KEY_SHARD,
  KEY_RANKS
};

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

static int set_ranks(sweep *s, const char *value) {
  uint64_t x;
  if (cli_read_u64(&x, "--ranks-per-run", value, 1, RANKS_MAX)) return CLI_BAD;
  s->ranks_per_run = (unsigned)x;
  return CLI_OK;
}

static int set_shard(sweep *s, const char *value) {
  uint64_t i, n;
  if (!campaign_shard(value, &i, &n) || n > SHARDS_MAX)
    return cli_fail(NULL, "--shard: '%s' is not I/N with 1 <= I <= N <= %d", value, SHARDS_MAX);
  s->shard = (unsigned)i;
  s->shards = (unsigned)n;
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
    case KEY_RANKS: return set_ranks(s, value);
    case KEY_SHARD: return set_shard(s, value);
    case 'o': s->out = value; return CLI_OK;
    default: return CLI_BAD;
  }
}

static const cli_option options[] = {
    {KEY_KEY, "key", "KEY", "the key that is varied; assignment: all kinds of them; default assignment.ratio"},
    {KEY_VALUES, "values", "LIST", "its values; 0,0.1,...,1 counts; semicolons where a value has commas"},
    {KEY_SEEDS, "seeds", "N", "so many seeds, from 0; or a list: 3,7 or 3, ; default 3"},
    {KEY_JOBS, "jobs", "N", "training runs at once, each a process; default 0: one per processor"},
    {KEY_RANKS, "ranks-per-run", "N",
     "ranks of an MPI job that share a run, whose parallel.shards they compute; default 1"},
    {KEY_SHARD, "shard", "I/N", "do part I of N of the runs, 1 <= I <= N, and no report"},
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
    "`mpirun -n N halfulp sweep ...` shares the runs among N ranks. Without MPI, N commands with --shard 1/N to N/N\n"
    "share them, on any machines that see OUT; then the command without --shard makes the report. The files are the\n"
    "same. docs/sweep.md explains all of it.",
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
  int status = cli_own_check(path);
  if (status == CLI_OK)
    status = print ? cli_own_text(path, print, what) : sweep_plot_write(path, what, first_drawing(what));
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
  if (status == CLI_OK && !json && !cli_quiet()) {
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

/* ---- the processes of a job ---- */

/* FNV-1a of the options that are not in the runs' keys and paths. */
static uint64_t digest_of_options(const sweep *s, int json) {
  char text[160];
  snprintf(text, sizeof text, "%a %u %u/%u %d %d %zu", s->loss, s->ranks_per_run, s->shard, s->shards, s->fresh, json,
           s->seeds);
  return train_digest(s->data, train_digest(s->out, train_digest(text, TRAIN_DIGEST)));
}

/* The first process is asked before the others, so that what is wrong everywhere is said once. Then: do all have the
 * same sweep? */
static int plan_together(sweep *s, int json) {
  const campaign_ranks *ranks = campaign_ranks_get();
  int status = ranks->rank ? CLI_OK : sweep_plan(s);
  status = ranks->largest(status);
  if (status != CLI_OK) return status;
  if (ranks->rank) status = sweep_plan(s);
  int same = sweep_same((uint64_t)status, "an error that rank 0 has not");
  if (same == CLI_OK) same = sweep_same(train_digest(HU_VERSION_STRING, TRAIN_DIGEST), "another version than rank 0");
  if (same == CLI_OK) same = sweep_same(digest_of_options(s, json), "other options than rank 0");
  if (same == CLI_OK) same = sweep_same(sweep_digest(s), "other keys in CONFIG or its options than rank 0");
  return same;
}

/* What cannot be, as the command line and the number of processes are. */
static int check(const sweep *s, int json) {
  int size = campaign_ranks_get()->size;
  if (size > 1 && !strcmp(s->config, "-"))
    return cli_fail(NULL, "sweep: several processes cannot share standard input: CONFIG is to be a file");
  if (size > 1 && s->jobs) return cli_fail(NULL, "sweep: --jobs: each rank of an MPI job does one run at a time");
  if (size % (int)s->ranks_per_run)
    return cli_fail(NULL, "sweep: --ranks-per-run: %d rank%s cannot be cut into groups of %u", size,
                    size == 1 ? "" : "s", s->ranks_per_run);
  if (s->shards && json) return cli_fail(NULL, "sweep: --json prints the report, which --shard does not make");
  return CLI_OK;
}

/* The end of a part: how much of it and of the whole sweep there is. */
static int report_part(sweep *s) {
  char shown[CLI_SHOWN_MAX];
  size_t own = 0, done = 0;
  s->fresh = 0;
  if (sweep_find(s)) return CLI_BAD; /* what other parts have done */
  for (size_t i = 0; i < s->runs; i++) {
    if (!sweep_is_own(s, &s->run[i])) continue;
    own++;
    done += s->run[i].state == SWEEP_DONE;
  }
  size_t missing = s->runs - sweep_count(s, SWEEP_DONE);
  int code = sweep_count(s, SWEEP_FAILED) ? CLI_DIFFERENT : CLI_OK;
  if (cli_quiet()) return code;
  printf("%s: part %u/%u: %zu of %zu runs done; ", cli_shown(shown, s->out), s->shard, s->shards, done, own);
  if (missing)
    printf("%zu of all %zu runs are missing\n", missing, s->runs);
  else
    printf("all %zu runs are done: without --shard the command makes the report\n", s->runs);
  return code;
}

/* In the first process, which has the folder. */
static int find_runs(sweep *s) {
  int status = sweep_open(s);
  return status == CLI_OK ? sweep_find(s) : status;
}

static int work(sweep *s) {
  if (campaign_ranks_get()->size > 1) return sweep_share(s);
  if (!s->jobs) s->jobs = default_jobs(s);
  return sweep_work(s);
}

static int run_sweep(sweep *s, int json) {
  const campaign_ranks *ranks = campaign_ranks_get();
  int status = ranks->rank ? CLI_OK : check(s, json);
  if (!s->values && status == CLI_OK)
    status = sweep_read_values(s, sweep_has_assignments(s) ? "uniform,operator,operator',0,0.1,...,1" : "0,0.1,...,1");
  if (!s->seeds && status == CLI_OK) status = sweep_read_seeds(s, "3");
  status = ranks->largest(status);
  if (status == CLI_OK) status = plan_together(s, json);
  if (status == CLI_OK) status = ranks->largest(ranks->rank ? CLI_OK : find_runs(s));
  if (status == CLI_OK) status = work(s);
  if (status != CLI_OK || ranks->rank) return status;
  return s->shards ? report_part(s) : report(s, json);
}

/* Goes on where all processes go on. */
static int parse_together(sweep_asked *a, int argc, char **argv, char ***operands) {
  int count, status = cli_parse(&command, a, argc, argv, operands, &count);
  int same = sweep_same((uint64_t)(unsigned)(status + 1), "other options than rank 0");
  return same == CLI_OK ? status : same;
}

int cli_sweep(int argc, char **argv) {
  sweep_asked a = {.sweep = {.key = "assignment.ratio", .loss = 1, .lock = -1, .part = -1, .ranks_per_run = 1}};
  char **operands, *out = NULL, *data = NULL;
  int status = parse_together(&a, argc, argv, &operands);
  if (status < 0) {
    a.sweep.config = operands[0];
    if (!a.sweep.out) a.sweep.out = out = config_beside(operands[0], "sweep");
    a.sweep.any_data = !a.sweep.data;
    if (!a.sweep.data) a.sweep.data = data = config_folder(operands[0]);
    status = a.sweep.out && a.sweep.data ? run_sweep(&a.sweep, a.json) : cli_fail(NULL, "out of memory");
  }
  sweep_close(&a.sweep);
  sweep_free(&a.sweep);
  free(out);
  free(data);
  return status;
}
