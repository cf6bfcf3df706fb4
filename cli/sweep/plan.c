/* SPDX-License-Identifier: MIT */
/* Lists the runs of a sweep, their keys and names, and takes their results from the ledger: see sweep.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/config.h"
#include "cli/sweep/sweep.h"
#include "cli/train/ranks.h"
#include "halfulp/version.h"

/* What makes a run one in binary32, whatever the file says: no assignment, no rounding, nothing scaled. */
static const char *const baseline[][2] = {
    {"assignment.kind", "none"},     {"precision.system", "binary32"},  {"loss.scale", "none"},
    {"optimizer.state", "binary32"}, {"optimizer.weights", "binary32"}, {"optimizer.update", "rne"},
    {"optimizer.kahan", ""}};

static void set_title(const sweep *s, sweep_run *r) {
  if (r->value)
    snprintf(r->title, SWEEP_NAME_MAX, "%s = %s, seed %llu", s->key, r->value, (unsigned long long)r->seed);
  else
    snprintf(r->title, SWEEP_NAME_MAX, "binary32, seed %llu", (unsigned long long)r->seed);
  r->title[cli_whole_text(r->title, strlen(r->title))] = 0;
}

size_t sweep_count(const sweep *s, int state) {
  size_t n = 0;
  for (size_t i = 0; i < s->runs; i++) n += s->run[i].state == state;
  return n;
}

/* ---- names ---- */

static uint32_t hash_of(const char *text) {
  uint32_t h = 2166136261u;
  for (; *text; text++) h = (h ^ (unsigned char)*text) * 16777619u;
  return h;
}

/* "ratio-0.5-seed1". A value that has other characters than names of files have is shortened, and distinguished from
 * others by a hash. */
static char *name_of(const sweep *s, const sweep_run *r) {
  enum { SHOWN = 40 };
  char name[SHOWN + 16] = "", *whole_name;
  const char *dot = strrchr(s->key, '.'), *part = dot ? dot + 1 : s->key;
  size_t n = 0;
  int whole = 1;
  for (const char *p = r->value; p && *p; p++) {
    int plain = isalnum((unsigned char)*p) || strchr("+-.", *p);
    if (n < SHOWN) name[n++] = plain ? *p : '_';
    whole = whole && plain && p - r->value < SHOWN;
  }
  name[n] = 0;
  if (!whole) snprintf(name + n, sizeof name - n, "-%08x", hash_of(r->value));
  int length = asprintf(&whole_name, "%s%s%s-seed%llu", r->value ? part : "baseline", r->value ? "-" : "", name,
                        (unsigned long long)r->seed);
  return length < 0 ? NULL : whole_name;
}

/* ---- keys ---- */

/* A key that the command itself sets. */
static int set_key(hu_trainer *t, const char *where, const char *key, const char *value) {
  char why[HU_DATA_WHY_MAX] = "";
  hu_status s = hu_trainer_set(t, key, value, why);
  return s == HU_OK ? CLI_OK : config_refuse(where, key, value, *why ? why : hu_status_text(s));
}

static int set_run(const sweep *s, hu_trainer *t, const sweep_run *r) {
  char seed[24];
  snprintf(seed, sizeof seed, "%llu", (unsigned long long)r->seed);
  if (set_key(t, "--seeds", "run.seed", seed)) return CLI_BAD;
  if (r->value && sweep_has_assignments(s)) return sweep_set_assignment(t, r->value);
  if (r->value) return set_key(t, "--values", s->key, r->value);
  for (size_t i = 0; i < sizeof baseline / sizeof *baseline; i++) {
    if (set_key(t, NULL, baseline[i][0], baseline[i][1])) return CLI_BAD;
  }
  return CLI_OK;
}

static int set_all(const sweep *s, hu_trainer *t, const sweep_run *r) {
  if (config_apply(t, &s->file, s->config)) return CLI_BAD;
  for (size_t i = 0; i < s->sets; i++) {
    if (config_set(t, s->set[i])) return CLI_BAD;
  }
  return set_run(s, t, r);
}

hu_trainer *sweep_trainer(const sweep *s, const sweep_run *r) {
  hu_trainer *t = hu_trainer_new();
  if (!t) cli_fail(NULL, "out of memory");
  if (!t || set_all(s, t, r) == CLI_OK) return t;
  hu_trainer_free(t);
  return NULL;
}

static int depends_on(const char *key) {
  size_t i = 0;
  while (i < hu_trainer_key_count() && strcmp(hu_trainer_key_at(i).name, key) != 0) i++;
  return i < hu_trainer_key_count() && (hu_trainer_key_at(i).weights || strcmp(key, "precision.system") == 0);
}

/* Is it a key, and one that the runs depend on? What precision.system sets they do. */
static int check_key(const sweep *s, const hu_trainer *t) {
  const char *kind = hu_trainer_get(t, "assignment.kind");
  if (sweep_has_assignments(s)) return CLI_OK;
  if (!hu_trainer_get(t, s->key)) {
    const char *nearest = config_nearest(s->key);
    return nearest ? cli_fail("--key", "%s: there is no such key; perhaps %s is meant", s->key, nearest)
                   : cli_fail("--key", "%s: there is no such key", s->key);
  }
  if (strcmp(s->key, "run.seed") == 0) return cli_fail("--key", "run.seed is what --seeds is for");
  if (!depends_on(s->key)) return cli_fail("--key", "%s changes nothing in the weights", s->key);
  if (strcmp(s->key, "assignment.ratio") == 0 && kind && strcmp(kind, "demote") != 0)
    return cli_fail("--key", "assignment.ratio changes nothing while assignment.kind is %s, not demote", kind);
  return CLI_OK;
}

/* ---- what is there ---- */

/* The first key in which the entry's run is another one; NULL: it is this one. *was: the value there, NULL: none. */
static const char *other_key(const job_entry *entry, const cli_pairs *pairs, const hu_trainer *t, const char **was) {
  *was = entry->field[JOB_VERSION];
  if (strcmp(*was, HU_VERSION_STRING) != 0) return "halfulp";
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    hu_trainer_key k = hu_trainer_key_at(i);
    if (!k.weights) continue;
    *was = cli_pairs_get(pairs, k.name);
    if (!*was || strcmp(*was, hu_trainer_get(t, k.name)) != 0) return k.name;
  }
  return NULL;
}

int sweep_refuse(void *context, size_t i, const job_entry *entry) {
  const sweep *s = context;
  const hu_trainer *t = s->run[i].trainer;
  cli_pairs pairs;
  const char *was;
  if (!cli_pairs_read_text(&pairs, entry->field[JOB_MORE])) return CLI_OK;
  const char *name = other_key(entry, &pairs, t, &was);
  int version = name && strcmp(name, "halfulp") == 0;
  int status = CLI_OK;
  if (name)
    status = cli_fail(s->work.path, "%s was made with %s%s%s, not %s; --overwrite begins again", s->run[i].name,
                      version ? "halfulp" : name, version ? " " : " = ", was ? was : "(nothing)",
                      version ? HU_VERSION_STRING : hu_trainer_get(t, name));
  cli_pairs_free(&pairs);
  return status;
}

int sweep_take(sweep *s) {
  for (size_t i = 0; i < s->runs; i++) {
    sweep_run *r = &s->run[i];
    const job_entry *entry = job_ledger_find(&s->work.ledger, r->name);
    r->state = s->work.item[i].why ? SWEEP_FAILED : SWEEP_TO_DO;
    r->why = s->work.item[i].why;
    if (job_state(&s->work, i) != JOB_IS_DONE) continue;
    if (!sweep_result_read(&r->result, entry))
      return cli_fail(s->work.path, "%s: its result cannot be read; remove the line, and the run is repeated", r->name);
    r->state = SWEEP_DONE;
  }
  return CLI_OK;
}

/* ---- all runs ---- */

/* Processes that share a run take a shard each at least. */
static int check_shards(const sweep *s, const sweep_run *r) {
  const char *shards = hu_trainer_get(r->trainer, "parallel.shards");
  if (!shards || strtoul(shards, NULL, 10) >= s->ranks_per_run) return CLI_OK;
  return cli_fail(NULL, "--ranks-per-run: %u, and %s has parallel.shards = %s: each rank takes at least one shard",
                  s->ranks_per_run, r->title, shards);
}

static int plan_run(const sweep *s, sweep_run *r, job_item *item) {
  set_title(s, r);
  r->trainer = sweep_trainer(s, r);
  if (!r->trainer || check_shards(s, r)) return CLI_BAD;
  uint64_t keys = train_digest_keys(r->trainer, job_digest(HU_VERSION_STRING, JOB_DIGEST_START));
  snprintf(item->sources, sizeof item->sources, "%016llx", (unsigned long long)keys);
  item->title = r->title;
  item->name = r->name = name_of(s, r);
  return r->name ? CLI_OK : cli_fail(NULL, "out of memory");
}

static int plan_runs(sweep *s) {
  s->run = calloc((s->values + 1) * s->seeds, sizeof *s->run);
  s->work.item = calloc((s->values + 1) * s->seeds, sizeof *s->work.item);
  if (!s->run || !s->work.item) return cli_fail(NULL, "out of memory");
  s->work.count = s->runs = (s->values + 1) * s->seeds;
  for (size_t i = 0; i < s->runs; i++) {
    sweep_run *r = &s->run[i];
    r->value = i < s->seeds ? NULL : s->value[i / s->seeds - 1];
    r->seed = s->seed[i % s->seeds];
  }
  /* The key before its values, so that the line says what is wrong. */
  hu_trainer *t = hu_trainer_new();
  int status = t ? config_apply(t, &s->file, s->config) : cli_fail(NULL, "out of memory");
  for (size_t i = 0; i < s->sets && status == CLI_OK; i++) status = config_set(t, s->set[i]);
  if (status == CLI_OK) status = check_key(s, t);
  hu_trainer_free(t);
  for (size_t i = 0; i < s->runs && status == CLI_OK; i++) status = plan_run(s, &s->run[i], &s->work.item[i]);
  return status;
}

int sweep_plan(sweep *s) {
  int status = config_read(&s->file, s->config);
  return status == CLI_OK ? plan_runs(s) : status;
}

void sweep_free(sweep *s) {
  for (size_t i = 0; i < s->runs; i++) {
    hu_trainer_free(s->run[i].trainer);
    free(s->run[i].name);
  }
  for (size_t i = 0; i < s->values; i++) free(s->value[i]);
  config_free(&s->file);
  free(s->run);
  free(s->value);
  free(s->seed);
  free(s->set);
}
