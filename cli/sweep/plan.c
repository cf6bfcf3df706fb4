/* SPDX-License-Identifier: MIT */
/* Lists the runs of a sweep, their keys and names, and takes their results from the ledger: see sweep.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/config.h"
#include "cli/sweep/sweep.h"
#include "cli/train/ranks.h"
#include "halfulp/status.h"

/* What makes a run one in binary32, whatever the file says: no assignment, no rounding, nothing scaled. */
static const char *const baseline[][2] = {
    {"assignment.kind", "none"},     {"precision.system", "binary32"},  {"loss.scale", "none"},
    {"optimizer.state", "binary32"}, {"optimizer.weights", "binary32"}, {"optimizer.update", "rne"},
    {"optimizer.kahan", ""}};

static void set_title(const sweep_setup *sweep, sweep_run *run) {
  if (run->value)
    snprintf(run->title, SWEEP_NAME_MAX, "%s = %s, seed %llu", sweep->key, sweep_shown(run->value),
             (unsigned long long)run->seed);
  else
    snprintf(run->title, SWEEP_NAME_MAX, "binary32, seed %llu", (unsigned long long)run->seed);
  run->title[cli_whole_text(run->title, strlen(run->title))] = 0;
}

size_t sweep_count(const sweep_setup *sweep, int state) {
  size_t n = 0;
  for (size_t i = 0; i < sweep->runs; i++) n += sweep->run[i].state == state;
  return n;
}

/* ---- names ---- */

static uint32_t hash_of(const char *text) {
  uint32_t hash = 2166136261u;
  for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 16777619u;
  return hash;
}

/* "ratio-0.5-seed1". A value that has other characters than names of files have is shortened, and distinguished from
 * others by a hash. */
static char *name_of(const sweep_setup *sweep, const sweep_run *run) {
  enum { SHOWN = 40 };
  char name[SHOWN + 16] = "", *whole_name;
  const char *dot = strrchr(sweep->key, '.'), *part = dot ? dot + 1 : sweep->key;
  size_t n = 0;
  int whole = 1;
  for (const char *at = run->value; at && *at; at++) {
    int plain = isalnum((unsigned char)*at) || strchr("+-.", *at);
    if (n < SHOWN) name[n++] = plain ? *at : '_';
    whole = whole && plain && at - run->value < SHOWN;
  }
  name[n] = 0;
  if (!whole) snprintf(name + n, sizeof name - n, "-%08x", hash_of(run->value));
  int length = asprintf(&whole_name, "%s%s%s-seed%llu", run->value ? part : "baseline", run->value ? "-" : "", name,
                        (unsigned long long)run->seed);
  return length < 0 ? NULL : whole_name;
}

/* ---- keys ---- */

/* Sets a key that the command line does not name. */
static int set_key(hu_trainer *trainer, const char *where, const char *key, const char *value) {
  char why[HU_DATA_WHY_MAX] = "";
  hu_status status = hu_trainer_set(trainer, key, value, why);
  return status == HU_OK ? CLI_OK : config_refuse(where, key, value, *why ? why : hu_status_text(status));
}

/* What is left of a value while its parts are set, one for each key. */
typedef struct parts {
  hu_trainer *trainer;
  const char *value, *left;
} parts;

static int set_part(void *context, const char *key) {
  parts *these = context;
  if (!these->left) return cli_fail("--values", "'%s' has fewer parts than there are keys", these->value);
  char *part = sweep_take_item(&these->left);
  int status = part ? set_key(these->trainer, "--values", key, part) : CLI_BAD;
  free(part);
  return status;
}

static int set_value(const sweep_setup *sweep, hu_trainer *trainer, const char *value) {
  parts these = {trainer, value, value};
  if (!strchr(sweep->key, ',')) return set_key(trainer, "--values", sweep->key, value);
  int status = sweep_each_key(sweep, set_part, &these);
  if (status == CLI_OK && these.left) return cli_fail("--values", "'%s' has more parts than there are keys", value);
  return status;
}

static int set_run(const sweep_setup *sweep, hu_trainer *trainer, const sweep_run *run) {
  char seed[24];
  snprintf(seed, sizeof seed, "%llu", (unsigned long long)run->seed);
  if (set_key(trainer, "--seeds", "run.seed", seed)) return CLI_BAD;
  if (run->value && sweep_has_assignments(sweep)) return sweep_set_assignment(trainer, run->value);
  if (run->value) return set_value(sweep, trainer, run->value);
  for (size_t i = 0; i < sizeof baseline / sizeof *baseline; i++) {
    if (set_key(trainer, NULL, baseline[i][0], baseline[i][1])) return CLI_BAD;
  }
  return CLI_OK;
}

static int set_all(const sweep_setup *sweep, hu_trainer *trainer, const sweep_run *run) {
  if (config_apply(trainer, &sweep->file, sweep->config)) return CLI_BAD;
  for (size_t i = 0; i < sweep->sets; i++) {
    if (config_set(trainer, sweep->set[i])) return CLI_BAD;
  }
  return set_run(sweep, trainer, run);
}

hu_trainer *sweep_trainer(const sweep_setup *sweep, const sweep_run *run) {
  hu_trainer *trainer = hu_trainer_new();
  if (!trainer) cli_fail(NULL, "out of memory");
  if (!trainer || set_all(sweep, trainer, run) == CLI_OK) return trainer;
  hu_trainer_free(trainer);
  return NULL;
}

static int depends_on(const char *key) {
  size_t i = 0;
  while (i < hu_trainer_key_count() && strcmp(hu_trainer_key_at(i).name, key) != 0) i++;
  return i < hu_trainer_key_count() && (hu_trainer_key_at(i).weights || strcmp(key, "precision.system") == 0);
}

typedef struct named_key {
  const char *key;
  int times; /* how often it is among the keys, so far */
} named_key;

static int is_twice(void *context, const char *key) {
  named_key *one = context;
  one->times += strcmp(one->key, key) == 0;
  return one->times > 1;
}

typedef struct checked_keys {
  const sweep_setup *sweep;
  const hu_trainer *trainer;
} checked_keys;

/* Is it a key, and one that the runs depend on? What precision.system sets they do. */
static int check_key(void *context, const char *key) {
  const checked_keys *keys = context;
  const hu_trainer *trainer = keys->trainer;
  const char *kind = hu_trainer_get(trainer, "assignment.kind");
  if (!hu_trainer_get(trainer, key)) {
    const char *nearest = config_nearest(key);
    return nearest ? cli_fail("--key", "%s: there is no such key; perhaps %s is meant", key, nearest)
                   : cli_fail("--key", "%s: there is no such key", key);
  }
  if (sweep_each_key(keys->sweep, is_twice, &(named_key){key, 0})) return cli_fail("--key", "%s is there twice", key);
  if (strcmp(key, "run.seed") == 0) return cli_fail("--key", "run.seed is what --seeds is for");
  if (!depends_on(key)) return cli_fail("--key", "%s changes nothing in the weights", key);
  if (strcmp(key, "assignment.ratio") == 0 && kind && strcmp(kind, "demote") != 0)
    return cli_fail("--key", "assignment.ratio changes nothing while assignment.kind is %s, not demote", kind);
  return CLI_OK;
}

/* ---- what is there ---- */

/* The first key in which the entry's run is another one; NULL: it is this one. *was: the value there, NULL: none. */
static const char *other_key(const job_entry *entry, const cli_pairs *pairs, const hu_trainer *trainer,
                             const char **was) {
  *was = entry->field[JOB_VERSION];
  if (strcmp(*was, HU_VERSION_STRING) != 0) return "halfulp";
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    hu_trainer_key k = hu_trainer_key_at(i);
    if (!k.weights) continue;
    *was = cli_pairs_get(pairs, k.name);
    if (!*was || strcmp(*was, hu_trainer_get(trainer, k.name)) != 0) return k.name;
  }
  return NULL;
}

int sweep_refuse(void *context, size_t i, const job_entry *entry, const char *file) {
  const sweep_setup *sweep = context;
  const hu_trainer *trainer = sweep->run[i].trainer;
  cli_pairs pairs;
  const char *was;
  if (!cli_pairs_read_text(&pairs, entry->field[JOB_MORE])) return CLI_OK;
  const char *name = other_key(entry, &pairs, trainer, &was);
  int version = name && strcmp(name, "halfulp") == 0;
  int status = CLI_OK;
  if (name)
    status = cli_fail(file, "%s was made with %s%s%s, not %s; %s", sweep->run[i].name, version ? "halfulp" : name,
                      version ? " " : " = ", was ? was : "(nothing)",
                      version ? HU_VERSION_STRING : hu_trainer_get(trainer, name),
                      sweep->asked.merge ? "nothing was merged" : "--overwrite begins again");
  cli_pairs_free(&pairs);
  return status;
}

int sweep_take(sweep_setup *sweep) {
  for (size_t i = 0; i < sweep->runs; i++) {
    sweep_run *run = &sweep->run[i];
    const job_entry *entry = job_ledger_find(&sweep->work.ledger, run->name);
    run->state = sweep->work.item[i].why ? SWEEP_FAILED : SWEEP_TO_DO;
    run->why = sweep->work.item[i].why;
    if (job_state(&sweep->work, i) != JOB_IS_DONE) continue;
    if (!sweep_result_read(&run->result, entry))
      return cli_fail(sweep->work.path, "%s: its result cannot be read; remove the line, and the run is repeated",
                      run->name);
    run->state = SWEEP_DONE;
  }
  return CLI_OK;
}

/* ---- all runs ---- */

/* Checks that each process of those that share a run has a shard at least. */
static int check_shards(const sweep_setup *sweep, const sweep_run *run) {
  const char *shards = hu_trainer_get(run->trainer, "parallel.shards");
  if (!shards || strtoul(shards, NULL, 10) >= sweep->ranks_per_run) return CLI_OK;
  return cli_fail(NULL, "--ranks-per-run: %u, and %s has parallel.shards = %s: each rank takes at least one shard",
                  sweep->ranks_per_run, run->title, shards);
}

static int plan_run(const sweep_setup *sweep, sweep_run *run, job_item *item) {
  set_title(sweep, run);
  run->trainer = sweep_trainer(sweep, run);
  if (!run->trainer || check_shards(sweep, run)) return CLI_BAD;
  uint64_t keys = train_digest_keys(run->trainer, job_digest(HU_VERSION_STRING, JOB_DIGEST_START));
  snprintf(item->sources, sizeof item->sources, "%016llx", (unsigned long long)keys);
  item->title = run->title;
  item->name = run->name = name_of(sweep, run);
  return run->name ? CLI_OK : cli_fail(NULL, "out of memory");
}

static int plan_runs(sweep_setup *sweep) {
  sweep->run = calloc((sweep->values + 1) * sweep->seeds, sizeof *sweep->run);
  sweep->work.item = calloc((sweep->values + 1) * sweep->seeds, sizeof *sweep->work.item);
  if (!sweep->run || !sweep->work.item) return cli_fail(NULL, "out of memory");
  sweep->work.count = sweep->runs = (sweep->values + 1) * sweep->seeds;
  for (size_t i = 0; i < sweep->runs; i++) {
    sweep_run *run = &sweep->run[i];
    run->value = i < sweep->seeds ? NULL : sweep->value[i / sweep->seeds - 1];
    run->seed = sweep->seed[i % sweep->seeds];
  }
  /* The key before its values, so that the line says what is wrong. */
  hu_trainer *trainer = hu_trainer_new();
  int status = trainer ? config_apply(trainer, &sweep->file, sweep->config) : cli_fail(NULL, "out of memory");
  for (size_t i = 0; i < sweep->sets && status == CLI_OK; i++) status = config_set(trainer, sweep->set[i]);
  if (status == CLI_OK && !sweep_has_assignments(sweep))
    status = sweep_each_key(sweep, check_key, &(checked_keys){sweep, trainer});
  hu_trainer_free(trainer);
  for (size_t i = 0; i < sweep->runs && status == CLI_OK; i++)
    status = plan_run(sweep, &sweep->run[i], &sweep->work.item[i]);
  return status;
}

int sweep_plan(sweep_setup *sweep) {
  int status = config_read(&sweep->file, sweep->config);
  return status == CLI_OK ? plan_runs(sweep) : status;
}

void sweep_free(sweep_setup *sweep) {
  for (size_t i = 0; i < sweep->runs; i++) {
    hu_trainer_free(sweep->run[i].trainer);
    free(sweep->run[i].name);
  }
  for (size_t i = 0; i < sweep->values; i++) free(sweep->value[i]);
  config_free(&sweep->file);
  free(sweep->run);
  free(sweep->value);
  free(sweep->seed);
  free(sweep->set);
}
