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
#include "cli/job/job.h"
#include "cli/train/tensors.h"
#include "cli/train/train.h"
#include "cli/train/weights.h"
#include "halfulp/status.h"
#include "halfulp/train/net.h"

enum {
  KEY_DATA = CLI_KEY_FREE,
  KEY_SET,
  KEY_RESUME,
  KEY_OVERWRITE,
  KEY_EVERY,
  KEY_CHECKPOINT,
  KEY_EVALUATE,
  KEY_FOLLOW,
  KEY_FOLLOW_EVERY,
  KEY_KEYS,
  KEY_TENSORS,
  KEY_MODEL,
  KEY_DESCRIBE,
  KEY_SIZES,
  KEY_WEIGHTS,
  KEY_PREDICTIONS
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
    {KEY_FOLLOW_EVERY, "follow-every", "N",
     "with --follow, its exponents every N steps, a multiple of --every, in followed-history.csv"},
    {'j', "threads", "N", "as --set run.threads=N: the result is the same for any number"},
    {KEY_KEYS, "keys", NULL, "no run: print all keys with their defaults and what they say"},
    {KEY_TENSORS, "tensors", NULL, "no run: print tensors.csv, the numbers of all values and parameters of the net"},
    {KEY_MODEL, "model", "FILE", "as --set model.file=FILE: a network of your own, docs/training/networks.md"},
    {KEY_DESCRIBE, "describe", NULL, "no run: print the network layer by layer, with shapes and numbers of parameters"},
    {KEY_SIZES, "sizes", "SIZES", "--describe: what the data are, in place of reading them: height=32,outputs=10"},
    {KEY_WEIGHTS, "write-weights", "FILE", "at the end: the weights by name, .safetensors that model.weights takes"},
    {KEY_PREDICTIONS, "predictions", "FILE", "at the end: answers to the test set, a table; of parallel translations"},
    CLI_OPTION_JSON,
    {0}};

static int add_set(train_run *run, const char *text) {
  const char **more = realloc(run->sets, (run->set_count + 1) * sizeof *more);
  if (!more) return cli_fail(NULL, "out of memory");
  run->sets = more;
  more[run->set_count++] = text;
  return CLI_OK;
}

static int add_followed(train_run *run, const char *name) {
  followed *more = realloc(run->follow, (run->follows + 1) * sizeof *more);
  if (!more) return cli_fail(NULL, "out of memory");
  run->follow = more;
  for (size_t i = 0; i < run->follows; i++) {
    if (strcmp(more[i].name, name) == 0) return cli_fail(NULL, "--follow: %s is given twice", name);
  }
  more[run->follows++] = (followed){.name = name, .tensor = -1};
  return CLI_OK;
}

static int set(void *context, int key, const char *value) {
  train_run *run = context;
  switch (key) {
    case 'o': run->out = value; return CLI_OK;
    case 'j': run->threads = value; return CLI_OK;
    case KEY_DATA: run->data = value; return CLI_OK;
    case KEY_SET: return add_set(run, value);
    case KEY_FOLLOW: return add_followed(run, value);
    case KEY_RESUME: run->resume = 1; return CLI_OK;
    case KEY_OVERWRITE: run->overwrite = 1; return CLI_OK;
    case KEY_EVERY: return cli_read_u64(&run->every, "--every", value, 1, UINT64_C(1) << 40);
    case KEY_FOLLOW_EVERY: return cli_read_u64(&run->follow_every, "--follow-every", value, 1, UINT64_C(1) << 40);
    case KEY_EVALUATE: return cli_read_u64(&run->evaluate, "--evaluate", value, 0, UINT64_C(1) << 40);
    case KEY_CHECKPOINT:
      run->checkpoint_asked = 1;
      return cli_read_u64(&run->checkpoint, "--checkpoint", value, 0, UINT64_C(1) << 40);
    case KEY_KEYS: run->keys = 1; return CLI_OK;
    case KEY_TENSORS: run->tensors = 1; return CLI_OK;
    case KEY_MODEL: run->model = value; return CLI_OK;
    case KEY_DESCRIBE: run->describe = 1; return CLI_OK;
    case KEY_SIZES: run->sizes = value; return CLI_OK;
    case KEY_WEIGHTS: run->weights = value; return CLI_OK;
    case KEY_PREDICTIONS: run->predictions = value; return CLI_OK;
    default: run->json = 1; return CLI_OK;
  }
}

static const cli_command command = {
    "train",
    "CONFIG",
    "Train a network in low precision, as a configuration file says",
    "CONFIG has sections of keys and values; --keys lists them, docs/training/command.md explains them. The run is a\n"
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

/* Sets a key to what an option of its own says, if it was given. */
static int set_option(train_run *run, const char *key, const char *value) {
  char *text = NULL;
  if (!value) return CLI_OK;
  if (asprintf(&text, "%s=%s", key, value) < 0) return cli_fail(NULL, "out of memory");
  int status = config_set(run->trainer, text);
  free(text);
  return status;
}

static int configure(train_run *run) {
  config file;
  int status = CLI_OK;
  run->trainer = hu_trainer_new();
  if (!run->trainer) return cli_fail(NULL, "out of memory");
  if (run->config) {
    if (config_read(&file, run->config)) return CLI_BAD;
    status = config_apply(run->trainer, &file, run->config);
    config_free(&file);
  }
  for (size_t i = 0; i < run->set_count && status == CLI_OK; i++) status = config_set(run->trainer, run->sets[i]);
  if (status == CLI_OK) status = set_option(run, "model.file", run->model);
  return status == CLI_OK ? set_option(run, "run.threads", run->threads) : status;
}

static int find_device(train_run *run) {
  const hu_engine *engine;
  char name[CLI_DEVICE_MAX];
  if (strcmp(hu_trainer_get(run->trainer, "run.device"), "cuda") != 0) return CLI_OK;
  if (!cli_device_engine(&engine, name)) return cli_fail(run->config, "run.device: cuda: %s", name);
  hu_status status = hu_trainer_set_engine(run->trainer, engine);
  return status == HU_OK ? CLI_OK : cli_fail(run->config, "run.device: cuda: %s", hu_status_text(status));
}

static int begin(train_run *run) {
  if (find_device(run)) return CLI_BAD;
  char why[HU_DATA_WHY_MAX] = "",
       *folder = run->data ? strdup(run->data) : config_folder(run->config ? run->config : "");
  if (!folder) return cli_fail(NULL, "out of memory");
  hu_status status = train_read_weights(run->trainer);
  if (status == HU_OK)
    status = hu_trainer_begin(run->trainer, run->data ? folder : train_data_folder(run->trainer, folder), why);
  free(folder);
  return status == HU_OK ? CLI_OK : cli_fail(run->config, "%s", *why ? why : hu_status_text(status));
}

#define MARK "; All keys of a run of halfulp train"

static void print_config(FILE *out, const void *what) {
  const train_run *run = what;
  fprintf(out, MARK " %s.\n\n", HU_VERSION_STRING);
  config_print(out, run->trainer);
}

static int write_config(const train_run *run) {
  char *path = train_path(run, "config.ini");
  int status = path ? cli_own_text(path, print_config, run) : CLI_BAD;
  free(path);
  return status;
}

static void print_merges(FILE *out, const void *what) {
  const train_run *run = what;
  fputs(hu_trainer_merges(run->trainer), out);
}

/* Writes the merges of parts of words, which another run can take with data.merges. */
static int write_merges(const train_run *run) {
  if (!hu_trainer_merges(run->trainer)) return CLI_OK;
  char *path = train_path(run, "merges.txt");
  int status = path ? cli_own_text(path, print_merges, run) : CLI_BAD;
  free(path);
  return status;
}

static int is_empty(const char *folder) {
  DIR *dir = opendir(folder);
  int others = 0;
  for (const struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
    others += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && !cli_is_temporary(entry->d_name);
  if (dir) closedir(dir);
  return dir && !others;
}

/* Checks the folder. A run replaces only what a run wrote: `--output .` among one's own files is a slip. */
static int check_folder(const train_run *run) {
  char *path = train_path(run, "config.ini"), line[sizeof MARK] = "";
  if (!path) return CLI_BAD;
  FILE *file = cli_own_stream(path);
  int ours = file && fgets(line, sizeof line, file) && !strcmp(line, MARK);
  if (file) fclose(file);
  free(path);
  if (ours || is_empty(run->out)) return CLI_OK;
  return cli_fail(run->out, "is no folder of a run, and not an empty one; name another with --output");
}

/* Reports what is no ordinary file before anything is removed or written; other files of a run are removed first. */
static int check_names(const train_run *run) {
  static const char *const names[] = {"config.ini",      "log.csv",       "log.jsonl",
                                      "evaluations.csv", "overflows.csv", "tensors.csv"};
  int status = CLI_OK;
  for (size_t i = 0; i < sizeof names / sizeof names[0] && status == CLI_OK; i++) {
    char *path = train_path(run, names[i]);
    status = path ? cli_own_check(path) : CLI_BAD;
    free(path);
  }
  return status;
}

/* Removes what an earlier run left: at no time does a checkpoint stand beside another run's log. */
static int clear_folder(const train_run *run) {
  static const char *const names[] = {"checkpoint.safetensors", "report.html",          "exponents.csv", "followed.csv",
                                      "followed-exponents.csv", "followed-history.csv", "merges.txt"};
  int status = CLI_OK;
  for (size_t i = 0; i < sizeof names / sizeof names[0] && status == CLI_OK; i++) {
    char *path = train_path(run, names[i]);
    if (!path || (unlink(path) && errno != ENOENT))
      status = cli_fail(path ? path : run->out, "cannot remove: %s", strerror(errno));
    free(path);
  }
  return status;
}

/* Refuses, without --overwrite, to replace an earlier run, whether it was stopped or had come to its end. */
static int check_earlier(const train_run *run) {
  uint64_t step, steps;
  int found = run->overwrite ? TRAIN_FOUND_NOTHING : train_found(run, &step, &steps);
  if (found == TRAIN_FOUND_STOPPED)
    return cli_fail(run->out,
                    "holds a run that was stopped after step %llu of %llu: --resume continues it, --overwrite begins "
                    "again, --output names another folder",
                    (unsigned long long)step, (unsigned long long)steps);
  if (found == TRAIN_FOUND_ENDED)
    return cli_fail(run->out,
                    "holds a run that ended after step %llu: --resume with a larger run.epochs or run.steps makes it "
                    "longer, --overwrite starts again, --output names another folder",
                    (unsigned long long)step);
  if (found == TRAIN_FOUND_FILES)
    return cli_fail(run->out, "holds files of an earlier run: --overwrite starts again, --output names another folder");
  return CLI_OK;
}

static int start_fresh(train_run *run) {
  if (mkdir(run->out, 0777) && errno != EEXIST)
    return cli_fail(run->out, "cannot make the folder: %s", strerror(errno));
  if (cli_folder_lock(&run->lock, run->out, "run") || check_folder(run) || check_earlier(run)) return CLI_BAD;
  (void)cli_folder_clean(run->lock);
  int status = check_names(run);
  if (status == CLI_OK) status = write_config(run);
  if (status == CLI_OK) status = clear_folder(run);
  if (status == CLI_OK) status = write_merges(run);
  return status == CLI_OK ? train_log_begin(run) : status;
}

static int start_again(train_run *run) {
  int status = cli_folder_lock(&run->lock, run->out, "run");
  if (status == CLI_OK) status = check_names(run);
  if (status == CLI_OK) status = train_resume(run);
  if (status == CLI_OK) (void)cli_folder_clean(run->lock);
  if (status == CLI_OK) status = train_log_resume(run, hu_trainer_at(run->trainer));
  if (status == CLI_OK) status = write_merges(run);
  return status == CLI_OK ? write_config(run) : status;
}

/* ---- the run ---- */

static void say(const train_run *run, int stopped, double seconds) {
  if (cli_quiet() && (stopped || !run->json)) return;
  if (stopped)
    train_print_stopped(stderr, run, strsignal(stopped));
  else if (run->json)
    train_json(stdout, run, seconds);
  else
    train_print(stdout, run, seconds);
}

/* Refuses, before the first step, what could not be written behind the last one. */
static int check_predictions(const train_run *run) {
  const char *set = hu_trainer_get(run->trainer, "data.set");
  if (!run->predictions) return CLI_OK;
  if (!strcmp(set, "text") || !strcmp(set, "words"))
    return cli_fail(NULL, "train: --predictions: data.set = %s has windows of text, and no examples", set);
  if (train_ranks_get()->trainer.size > 1)
    return cli_fail(NULL, "train: --predictions: one process computes them, and this run has %d",
                    train_ranks_get()->trainer.size);
  return CLI_OK;
}

static int prepare(train_run *run) {
  int status = configure(run);
  hu_status error = status == CLI_OK ? hu_trainer_set_ranks(run->trainer, &train_ranks_get()->trainer) : HU_OK;
  if (error != HU_OK) return cli_fail_status(run->config, error);
  if (status == CLI_OK) status = begin(run);
  if (status == CLI_OK) status = check_predictions(run);
  return status == CLI_OK ? train_tensors_find(run) : status;
}

/* Returns a digest of what decides at which steps the processes meet besides their own. */
static uint64_t digest_intervals(const train_run *run) {
  char text[100];
  snprintf(text, sizeof text, "%" PRIu64 " %d %" PRIu64 " %d", run->evaluate, run->checkpoint_asked, run->checkpoint,
           run->resume);
  return job_digest(text, JOB_DIGEST_START);
}

/* Prepares the run. The first process is asked before the others, so that what is wrong everywhere is said once; then
 * it is checked that all have the same run. */
static int prepare_together(train_run *run) {
  int status = CLI_OK;
  if (train_ranks_get()->trainer.size == 1) return prepare(run);
  if (train_speaks()) status = prepare(run);
  status = train_largest(status);
  if (status == CLI_OK && !train_speaks()) status = prepare(run);
  status = train_largest(status);
  if (status != CLI_OK) return status;
  status = train_same(job_digest(HU_VERSION_STRING, JOB_DIGEST_START), "version of halfulp");
  if (status == CLI_OK)
    status = train_same(train_digest_keys(run->trainer, JOB_DIGEST_START), "keys in CONFIG or --set");
  if (status == CLI_OK) status = train_same(digest_intervals(run), "--evaluate, --checkpoint or --resume");
  return status == CLI_OK ? train_same(hu_trainer_data_digest(run->trainer), "numbers in its data files") : status;
}

static int start_together(train_run *run) {
  int status = CLI_OK;
  if (train_speaks()) status = run->resume ? start_again(run) : start_fresh(run);
  status = train_largest(status);
  return status == CLI_OK && run->resume ? train_spread(run->trainer) : status;
}

/* Prints the network; its sizes are those of --sizes, or of the data, which are read then. */
static int describe(train_run *run) {
  char why[HU_DATA_WHY_MAX] = "";
  hu_model_sizes sizes;
  int status = configure(run);
  if (status == CLI_OK) status = run->sizes ? train_read_sizes(&sizes, run->sizes) : begin(run);
  if (status != CLI_OK) return status;
  size_t size = 1 << 16, n = size; /* a net is built for each call */
  char *text = NULL;
  while (n >= size) {
    size = n + 1;
    char *more = realloc(text, size);
    if (more) text = more;
    n = more ? hu_trainer_describe(run->trainer, run->sizes ? &sizes : NULL, text, size, why) : 0;
    if (!more || !n) {
      free(text);
      return more ? cli_fail(run->config, "%s", why) : cli_fail(NULL, "out of memory");
    }
  }
  fputs(text, stdout);
  free(text);
  return CLI_OK;
}

static int run_steps(train_run *run, int *stopped) {
  double start = progress_seconds();
  int status = prepare_together(run);
  if (status == CLI_OK && run->tensors) {
    if (train_speaks()) train_tensors_print(stdout, run);
    return CLI_OK;
  }
  if (status == CLI_OK) status = start_together(run);
  if (status == CLI_OK) status = train_steps(run, stopped);
  if (!train_speaks()) return status;
  if (status == CLI_OK) status = train_log_exponents(run);
  if (status == CLI_OK) status = train_tensors_exponents(run);
  if (status == CLI_OK) status = train_report(run);
  if (status == CLI_OK && !*stopped && run->weights) status = train_write_weights(run->trainer, run->weights);
  if (status == CLI_OK && !*stopped && run->predictions)
    status = train_write_predictions(run->trainer, run->predictions);
  if (status == CLI_OK) say(run, *stopped, progress_seconds() - start);
  return status;
}

int cli_train(int argc, char **argv) {
  train_run run = {.every = TRAIN_EVERY, .evaluate = TRAIN_EVALUATE, .lock = -1};
  char **operands, *out = NULL;
  int count, stopped = 0, status = cli_parse(&command, &run, argc, argv, &operands, &count);
  if (status < 0 && run.keys) {
    train_print_keys(stdout, run.json);
    status = CLI_OK;
  } else if (status < 0 && run.sizes && !run.describe) {
    status = cli_fail(NULL, "train: --sizes is for --describe");
  } else if (status < 0 && run.describe &&
             (run.resume || run.overwrite || run.out || run.json || run.tensors || run.weights || run.predictions)) {
    status = cli_fail(NULL,
                      "train: --describe prints a text and makes no run: leave out --output, --resume, --overwrite, "
                      "--tensors, --write-weights, --predictions and --json");
  } else if (status < 0 && run.describe) {
    run.config = count ? operands[0] : NULL;
    status = describe(&run);
  } else if (status < 0 && !count) {
    status = cli_fail(NULL, "train: requires CONFIG; see `halfulp train --help`");
  } else if (status < 0 && run.resume && run.overwrite) {
    status = cli_fail(NULL, "train: --resume continues a run, --overwrite starts again: only one of them");
  } else if (status < 0 && run.tensors &&
             (run.resume || run.overwrite || run.out || run.json || run.weights || run.predictions)) {
    status = cli_fail(NULL,
                      "train: --tensors prints a table and makes no run: leave out --output, --resume, --overwrite, "
                      "--write-weights, --predictions and --json");
  } else if (status < 0) {
    run.config = operands[0];
    run.out_asked = run.out != NULL;
    if (!run.out) run.out = out = config_beside(run.config, "run");
    if (!run.out)
      status = cli_fail(NULL, "out of memory");
    else if (train_ranks_get()->trainer.size > 1 && !strcmp(run.config, "-"))
      status = train_speaks()
                   ? cli_fail(NULL, "train: several processes cannot share standard input: CONFIG is to be a file")
                   : CLI_BAD;
    else
      status = run_steps(&run, &stopped);
  }
  if (run.lock >= 0) close(run.lock);
  hu_trainer_free(run.trainer);
  table_free(&run.log);
  table_free(&run.seen);
  table_free(&run.over);
  table_free(&run.followed);
  table_free(&run.history);
  train_tensors_free(&run);
  free(run.sets);
  free(out);
  if (status != CLI_OK || !stopped) return status;
  if (train_ranks_get()->trainer.size > 1) return 128 + stopped; /* as shells report it: MPI is to end in order */
  raise(stopped);                                                /* takes its default effect now */
  return status;
}
