/* SPDX-License-Identifier: MIT */
/* halfulp train - one training run, as a configuration file says. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/config.h"
#include "cli/base/device.h"
#include "cli/base/io.h"
#include "cli/base/progress.h"
#include "cli/train/data_folder.h"
#include "cli/train/ranks.h"
#include "cli/train/tensors.h"
#include "cli/train/train.h"
#include "halfulp/train/device.h"
#include "halfulp/version.h"

enum {
  KEY_DATA = CLI_KEY_FREE,
  KEY_SET,
  KEY_RESUME,
  KEY_OVERWRITE,
  KEY_EVERY,
  KEY_CHECKPOINT,
  KEY_EVALUATE,
  KEY_FOLLOW,
  KEY_KEYS,
  KEY_TENSORS
};
static const cli_option options[] = {
    {'o', "output", "OUT", "folder where its files go; default: CONFIG's name with .run for its suffix"},
    {KEY_DATA, "data", "FOLDER",
     "where data files are looked for; default: the folder of CONFIG, ./data, the installed ones"},
    {KEY_SET | CLI_REPEATS, "set", "KEY=VALUE", "section.key=value, after what CONFIG says, in this order"},
    {KEY_RESUME, "resume", NULL,
     "continue from the folder's checkpoint; a larger run.epochs or run.steps makes the run longer"},
    {KEY_OVERWRITE, "overwrite", NULL, "start again in the folder of an earlier run, whose files are lost"},
    {KEY_EVERY, "every", "N", "a row of the log every N steps; default 10"},
    {KEY_CHECKPOINT, "checkpoint", "N", "a checkpoint every N steps, 0: at the end only; default: after each epoch"},
    {KEY_EVALUATE, "evaluate", "N",
     "training and test set are looked at every N epochs, 0: at the end only; default 1"},
    {KEY_FOLLOW | CLI_REPEATS, "follow", "TENSOR",
     "mu, m, alpha, beta and overflows of this tensor in each row of the log: linear1.weight, 3, 3.gradient"},
    {'j', "threads", "N", "as --set run.threads=N: the result is the same for any number"},
    {KEY_KEYS, "keys", NULL, "no run: print all keys with their defaults and what they say"},
    {KEY_TENSORS, "tensors", NULL, "no run: print tensors.csv, the numbers of all values and parameters of the net"},
    CLI_OPTION_JSON,
    {0}};

static int add_set(train_run *r, const char *text) {
  const char **more = realloc(r->sets, (r->set_count + 1) * sizeof *more);
  if (!more) return cli_fail(NULL, "out of memory");
  r->sets = more;
  more[r->set_count++] = text;
  return CLI_OK;
}

static int add_followed(train_run *r, const char *name) {
  followed *more = realloc(r->follow, (r->follows + 1) * sizeof *more);
  if (!more) return cli_fail(NULL, "out of memory");
  r->follow = more;
  for (size_t i = 0; i < r->follows; i++) {
    if (strcmp(more[i].name, name) == 0) return cli_fail(NULL, "--follow: %s is given twice", name);
  }
  more[r->follows++] = (followed){.name = name, .tensor = -1};
  return CLI_OK;
}

static int set(void *state, int key, const char *value) {
  train_run *r = state;
  switch (key) {
    case 'o': r->out = value; return CLI_OK;
    case 'j': r->threads = value; return CLI_OK;
    case KEY_DATA: r->data = value; return CLI_OK;
    case KEY_SET: return add_set(r, value);
    case KEY_FOLLOW: return add_followed(r, value);
    case KEY_RESUME: r->resume = 1; return CLI_OK;
    case KEY_OVERWRITE: r->overwrite = 1; return CLI_OK;
    case KEY_EVERY: return cli_read_u64(&r->every, "--every", value, 1, UINT64_C(1) << 40);
    case KEY_EVALUATE: return cli_read_u64(&r->evaluate, "--evaluate", value, 0, UINT64_C(1) << 40);
    case KEY_CHECKPOINT:
      r->checkpoint_asked = 1;
      return cli_read_u64(&r->checkpoint, "--checkpoint", value, 0, UINT64_C(1) << 40);
    case KEY_KEYS: r->keys = 1; return CLI_OK;
    case KEY_TENSORS: r->tensors = 1; return CLI_OK;
    default: r->json = 1; return CLI_OK;
  }
}

static const cli_command command = {
    "train",
    "CONFIG",
    "Train a network in low precision, as a configuration file says",
    "CONFIG has sections of keys and values; --keys lists them, docs/train-command.md explains them. The run is a\n"
    "function of them alone: the same weights, bit for bit, on every machine and for any number of threads. The "
    "folder\n"
    "gets the configuration as run, log.csv and log.jsonl, evaluations.csv, exponents.csv, report.html and\n"
    "checkpoint.safetensors. SIGINT, SIGTERM and SIGHUP end the run after the step in hand, with a checkpoint; "
    "--resume\n"
    "continues from there, and ends with the same weights and log as a run that was not stopped. The folder of an\n"
    "earlier run is left alone without --resume or --overwrite.",
    "  halfulp train --keys\n"
    "  printf '[data]\\nset = gratings\\n[run]\\nsteps = 20\\n' | halfulp train - --output /tmp/first.run\n"
    "  halfulp train /tmp/first.run/config.ini --set precision.system=fp16 --set loss.scale=backoff \\\n"
    "      --output /tmp/fp16.run --json",
    options,
    0,
    1,
    set};

/* ---- before the first step ---- */

static int configure(train_run *r) {
  config c;
  r->t = hu_trainer_new();
  if (!r->t) return cli_fail(NULL, "out of memory");
  if (config_read(&c, r->config)) return CLI_BAD;
  int status = config_apply(r->t, &c, r->config);
  config_free(&c);
  for (size_t i = 0; i < r->set_count && status == CLI_OK; i++) status = config_set(r->t, r->sets[i]);
  if (status != CLI_OK || !r->threads) return status;
  char *threads = NULL;
  if (asprintf(&threads, "run.threads=%s", r->threads) < 0) return cli_fail(NULL, "out of memory");
  status = config_set(r->t, threads);
  free(threads);
  return status;
}

static int find_device(train_run *r) {
  const hu_engine *engine;
  char name[CLI_DEVICE_MAX];
  if (strcmp(hu_trainer_get(r->t, "run.device"), "cuda") != 0) return CLI_OK;
  if (!cli_device_engine(&engine, name)) return cli_fail(r->config, "run.device: cuda: %s", name);
  hu_status s = hu_trainer_set_engine(r->t, engine);
  return s == HU_OK ? CLI_OK : cli_fail(r->config, "run.device: cuda: %s", hu_status_text(s));
}

static int begin(train_run *r) {
  if (find_device(r)) return CLI_BAD;
  char why[HU_DATA_WHY_MAX] = "", *folder = r->data ? strdup(r->data) : config_folder(r->config);
  if (!folder) return cli_fail(NULL, "out of memory");
  hu_status s = hu_trainer_begin(r->t, r->data ? folder : train_data_folder(r->t, folder), why);
  free(folder);
  return s == HU_OK ? CLI_OK : cli_fail(r->config, "%s", *why ? why : hu_status_text(s));
}

#define MARK "; All keys of a run of halfulp train"

static void print_config(FILE *out, const void *what) {
  const train_run *r = what;
  fprintf(out, MARK " %s.\n\n", HU_VERSION_STRING);
  config_print(out, r->t);
}

static int write_config(const train_run *r) {
  char *path = train_path(r, "config.ini");
  int status = path ? cli_own_text(path, print_config, r) : CLI_BAD;
  free(path);
  return status;
}

static int is_empty(const char *folder) {
  DIR *d = opendir(folder);
  int others = 0;
  for (const struct dirent *e; d && (e = readdir(d)) != NULL;)
    others += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && !cli_is_temporary(e->d_name);
  if (d) closedir(d);
  return d && !others;
}

/* Checks the folder. A run replaces only what a run wrote: `--output .` among one's own files is a slip. */
static int check_folder(const train_run *r) {
  char *path = train_path(r, "config.ini"), line[sizeof MARK] = "";
  if (!path) return CLI_BAD;
  FILE *f = cli_own_stream(path);
  int ours = f && fgets(line, sizeof line, f) && !strcmp(line, MARK);
  if (f) fclose(f);
  free(path);
  if (ours || is_empty(r->out)) return CLI_OK;
  return cli_fail(r->out, "is no folder of a run, and not an empty one; name another with --output");
}

/* Reports what is no ordinary file before anything is removed or written; other files of a run are removed first. */
static int check_names(const train_run *r) {
  static const char *const names[] = {"config.ini",      "log.csv",       "log.jsonl",
                                      "evaluations.csv", "overflows.csv", "tensors.csv"};
  int status = CLI_OK;
  for (size_t i = 0; i < sizeof names / sizeof names[0] && status == CLI_OK; i++) {
    char *path = train_path(r, names[i]);
    status = path ? cli_own_check(path) : CLI_BAD;
    free(path);
  }
  return status;
}

/* Removes what an earlier run left: at no time does a checkpoint stand beside another run's log. */
static int clear_folder(const train_run *r) {
  static const char *const names[] = {"checkpoint.safetensors", "report.html", "exponents.csv", "followed.csv",
                                      "followed-exponents.csv"};
  int status = CLI_OK;
  for (size_t i = 0; i < sizeof names / sizeof names[0] && status == CLI_OK; i++) {
    char *path = train_path(r, names[i]);
    if (!path || (unlink(path) && errno != ENOENT))
      status = cli_fail(path ? path : r->out, "cannot remove: %s", strerror(errno));
    free(path);
  }
  return status;
}

/* Refuses, without --overwrite, to replace an earlier run, whether it was stopped or had come to its end. */
static int check_earlier(const train_run *r) {
  uint64_t step, steps;
  int found = r->overwrite ? TRAIN_FOUND_NOTHING : train_found(r, &step, &steps);
  if (found == TRAIN_FOUND_STOPPED)
    return cli_fail(r->out,
                    "holds a run that was stopped after step %llu of %llu: --resume continues it, --overwrite begins "
                    "again, --output names another folder",
                    (unsigned long long)step, (unsigned long long)steps);
  if (found == TRAIN_FOUND_ENDED)
    return cli_fail(r->out,
                    "holds a run that ended after step %llu: --resume with a larger run.epochs or run.steps makes it "
                    "longer, --overwrite starts again, --output names another folder",
                    (unsigned long long)step);
  if (found == TRAIN_FOUND_FILES)
    return cli_fail(r->out, "holds files of an earlier run: --overwrite starts again, --output names another folder");
  return CLI_OK;
}

static int start_fresh(train_run *r) {
  if (mkdir(r->out, 0777) && errno != EEXIST) return cli_fail(r->out, "cannot make the folder: %s", strerror(errno));
  if (cli_folder_lock(&r->lock, r->out, "run") || check_folder(r) || check_earlier(r)) return CLI_BAD;
  (void)cli_folder_clean(r->lock);
  int status = check_names(r);
  if (status == CLI_OK) status = write_config(r);
  if (status == CLI_OK) status = clear_folder(r);
  return status == CLI_OK ? train_log_begin(r) : status;
}

static int start_again(train_run *r) {
  int status = cli_folder_lock(&r->lock, r->out, "run");
  if (status == CLI_OK) status = check_names(r);
  if (status == CLI_OK) status = train_resume(r);
  if (status == CLI_OK) (void)cli_folder_clean(r->lock);
  if (status == CLI_OK) status = train_log_resume(r, hu_trainer_at(r->t));
  return status == CLI_OK ? write_config(r) : status;
}

/* ---- the run ---- */

static void say(const train_run *r, int stopped, double seconds) {
  if (cli_quiet() && (stopped || !r->json)) return;
  if (stopped)
    train_print_stopped(stderr, r, strsignal(stopped));
  else if (r->json)
    train_json(stdout, r, seconds);
  else
    train_print(stdout, r, seconds);
}

static int prepare(train_run *r) {
  int status = configure(r);
  hu_status s = status == CLI_OK ? hu_trainer_set_ranks(r->t, &train_ranks_get()->trainer) : HU_OK;
  if (s != HU_OK) return cli_fail_status(r->config, s);
  if (status == CLI_OK) status = begin(r);
  return status == CLI_OK ? train_tensors_find(r) : status;
}

/* Returns a digest of what decides at which steps the processes meet besides their own. */
static uint64_t digest_intervals(const train_run *r) {
  char text[100];
  snprintf(text, sizeof text, "%" PRIu64 " %d %" PRIu64 " %d", r->evaluate, r->checkpoint_asked, r->checkpoint,
           r->resume);
  return train_digest(text, TRAIN_DIGEST);
}

/* Prepares the run. The first process is asked before the others, so that what is wrong everywhere is said once; then
 * it is checked that all have the same run. */
static int prepare_together(train_run *r) {
  int status = CLI_OK;
  if (train_ranks_get()->trainer.size == 1) return prepare(r);
  if (train_speaks()) status = prepare(r);
  status = train_largest(status);
  if (status == CLI_OK && !train_speaks()) status = prepare(r);
  status = train_largest(status);
  if (status != CLI_OK) return status;
  status = train_same(train_digest(HU_VERSION_STRING, TRAIN_DIGEST), "version of halfulp");
  if (status == CLI_OK) status = train_same(train_digest_keys(r->t, TRAIN_DIGEST), "keys in CONFIG or --set");
  if (status == CLI_OK) status = train_same(digest_intervals(r), "--evaluate, --checkpoint or --resume");
  return status == CLI_OK ? train_same(hu_trainer_data_digest(r->t), "numbers in its data files") : status;
}

static int start_together(train_run *r) {
  int status = CLI_OK;
  if (train_speaks()) status = r->resume ? start_again(r) : start_fresh(r);
  status = train_largest(status);
  return status == CLI_OK && r->resume ? train_spread(r->t) : status;
}

static int run(train_run *r, int *stopped) {
  double start = progress_seconds();
  int status = prepare_together(r);
  if (status == CLI_OK && r->tensors) {
    if (train_speaks()) train_tensors_print(stdout, r);
    return CLI_OK;
  }
  if (status == CLI_OK) status = start_together(r);
  if (status == CLI_OK) status = train_steps(r, stopped);
  if (!train_speaks()) return status;
  if (status == CLI_OK) status = train_log_exponents(r);
  if (status == CLI_OK) status = train_tensors_exponents(r);
  if (status == CLI_OK) status = train_report(r);
  if (status == CLI_OK) say(r, *stopped, progress_seconds() - start);
  return status;
}

int cli_train(int argc, char **argv) {
  train_run r = {.every = TRAIN_EVERY, .evaluate = TRAIN_EVALUATE, .lock = -1};
  char **operands, *out = NULL;
  int count, stopped = 0, status = cli_parse(&command, &r, argc, argv, &operands, &count);
  if (status < 0 && r.keys) {
    train_print_keys(stdout, r.json);
    status = CLI_OK;
  } else if (status < 0 && !count) {
    status = cli_fail(NULL, "train: requires CONFIG; see `halfulp train --help`");
  } else if (status < 0 && r.resume && r.overwrite) {
    status = cli_fail(NULL, "train: --resume continues a run, --overwrite starts again: only one of them");
  } else if (status < 0 && r.tensors && (r.resume || r.overwrite || r.out || r.json)) {
    status = cli_fail(NULL,
                      "train: --tensors prints a table and makes no run: leave out --output, --resume, --overwrite "
                      "and --json");
  } else if (status < 0) {
    r.config = operands[0];
    r.out_asked = r.out != NULL;
    if (!r.out) r.out = out = config_beside(r.config, "run");
    if (!r.out)
      status = cli_fail(NULL, "out of memory");
    else if (train_ranks_get()->trainer.size > 1 && !strcmp(r.config, "-"))
      status = train_speaks()
                   ? cli_fail(NULL, "train: several processes cannot share standard input: CONFIG is to be a file")
                   : CLI_BAD;
    else
      status = run(&r, &stopped);
  }
  if (r.lock >= 0) close(r.lock);
  hu_trainer_free(r.t);
  table_free(&r.log);
  table_free(&r.seen);
  table_free(&r.over);
  table_free(&r.followed);
  train_tensors_free(&r);
  free(r.sets);
  free(out);
  if (status != CLI_OK || !stopped) return status;
  if (train_ranks_get()->trainer.size > 1) return 128 + stopped; /* as shells report it: MPI is to end in order */
  raise(stopped);                                                /* takes its default effect now */
  return status;
}
