/* SPDX-License-Identifier: MIT */
/* Lists the runs of a sweep, their keys and files, and finds those that are done already: see sweep.h. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/config.h"
#include "cli/sweep/sweep.h"
#include "halfulp/version.h"

/* What makes a run one in binary32, whatever the file says: no assignment, no rounding, nothing scaled. */
static const char *const baseline[][2] = {
    {"assignment.kind", "none"},     {"precision.system", "binary32"},  {"loss.scale", "none"},
    {"optimizer.state", "binary32"}, {"optimizer.weights", "binary32"}, {"optimizer.update", "rne"},
    {"optimizer.kahan", ""}};

const char *sweep_run_name(char text[SWEEP_NAME_MAX], const sweep *s, const sweep_run *r) {
  if (r->value) {
    snprintf(text, SWEEP_NAME_MAX, "%s = %s, seed %llu", s->key, r->value, (unsigned long long)r->seed);
  } else {
    snprintf(text, SWEEP_NAME_MAX, "binary32, seed %llu", (unsigned long long)r->seed);
  }
  text[cli_whole_text(text, strlen(text))] = 0;
  return text;
}

size_t sweep_count(const sweep *s, int state) {
  size_t n = 0;
  for (size_t i = 0; i < s->runs; i++) n += s->run[i].state == state;
  return n;
}

/* ---- files ---- */

static uint32_t hash_of(const char *text) {
  uint32_t h = 2166136261u;
  for (; *text; text++) h = (h ^ (unsigned char)*text) * 16777619u;
  return h;
}

/* "OUT/runs/ratio-0.5-seed1.json". A value that is no file's name is shortened, and told from others by a hash. */
static char *path_of(const sweep *s, const sweep_run *r) {
  enum { SHOWN = 40 };
  char name[SHOWN + 16] = "", *path;
  const char *part = strrchr(s->key, '.');
  size_t n = 0;
  int whole = 1;
  for (const char *p = r->value; p && *p; p++) {
    int plain = isalnum((unsigned char)*p) || strchr("+-.", *p);
    if (n < SHOWN) name[n++] = plain ? *p : '_';
    whole = whole && plain && p - r->value < SHOWN;
  }
  name[n] = 0;
  if (!whole) snprintf(name + n, sizeof name - n, "-%08x", hash_of(r->value));
  int length = asprintf(&path, "%s/runs/%s%s%s-seed%llu.json", s->out, r->value ? part + 1 : "baseline",
                        r->value ? "-" : "", name, (unsigned long long)r->seed);
  return length < 0 ? NULL : path;
}

static int make_folder(const char *path) {
  if (mkdir(path, 0777) == 0 || errno == EEXIST) return CLI_OK;
  return cli_fail(path, "cannot make the folder: %s", strerror(errno));
}

/* 1 if a folder has the file of a run, NAME-seedN.json. */
static int has_run(const char *folder) {
  DIR *list = opendir(folder);
  int found = 0;
  for (const struct dirent *e; list && !found && (e = readdir(list));) {
    const char *seed = strstr(e->d_name, "-seed"), *end = seed ? strrchr(seed, '.') : NULL;
    found = end && !strcmp(end, ".json");
  }
  if (list) closedir(list);
  return found;
}

/* 1 if a folder has the summary.json of a sweep, which begins with the text that sweep_print_json writes first. */
static int has_summary(const char *folder) {
  static const char *const begins = "{\n  \"key\": ";
  char *path, head[16] = "";
  if (asprintf(&path, "%s/summary.json", folder) < 0) return 0;
  FILE *file = fopen(path, "r");
  free(path);
  size_t n = file ? fread(head, 1, sizeof head - 1, file) : 0;
  if (file) fclose(file);
  return n >= strlen(begins) && !strncmp(head, begins, strlen(begins));
}

/* What has a result's name in a folder that is no sweep's is somebody's file. */
static int is_free(const char *folder, const char *runs) {
  static const char *const names[] = {SWEEP_FILES};
  if (has_run(runs) || has_summary(folder)) return 1;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct stat info;
    char *path;
    if (asprintf(&path, "%s/%s", folder, names[i]) < 0) return !cli_fail(NULL, "out of memory");
    int there = lstat(path, &info) == 0;
    free(path);
    if (there)
      return !cli_fail(
          folder, "has a %s, but nothing of a sweep, and it would be replaced; give another folder with -o", names[i]);
  }
  return 1;
}

static int make_folders(const sweep *s) {
  char *runs;
  if (asprintf(&runs, "%s/runs", s->out) < 0) return cli_fail(NULL, "out of memory");
  int status = is_free(s->out, runs) ? make_folder(s->out) : CLI_BAD;
  if (status == CLI_OK) status = make_folder(runs);
  free(runs);
  return status;
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
  if (r->value) return set_key(t, "--values", s->key, r->value);
  for (size_t i = 0; i < sizeof baseline / sizeof *baseline; i++) {
    if (set_key(t, NULL, baseline[i][0], baseline[i][1])) return CLI_BAD;
  }
  return CLI_OK;
}

static int set_all(const sweep *s, const config *c, sweep_run *r) {
  r->trainer = hu_trainer_new();
  if (!r->trainer) return cli_fail(NULL, "out of memory");
  if (config_apply(r->trainer, c, s->config)) return CLI_BAD;
  for (size_t i = 0; i < s->sets; i++) {
    if (config_set(r->trainer, s->set[i])) return CLI_BAD;
  }
  return set_run(s, r->trainer, r);
}

static int depends_on(const char *key) {
  size_t i = 0;
  while (i < hu_trainer_key_count() && strcmp(hu_trainer_key_at(i).name, key) != 0) i++;
  return i < hu_trainer_key_count() && (hu_trainer_key_at(i).weights || strcmp(key, "precision.system") == 0);
}

/* Is it a key, and one that the runs depend on? What precision.system sets they do. */
static int check_key(const sweep *s, const hu_trainer *t) {
  const char *kind = hu_trainer_get(t, "assignment.kind");
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

/* The first key in which the file's run is another one; NULL: it is this one. *was: the file's value, NULL: none. */
static const char *other_key(const sweep_file *f, const hu_trainer *t, const char **was) {
  *was = sweep_file_get(f, "halfulp");
  if (!*was || strcmp(*was, HU_VERSION_STRING) != 0) return "halfulp";
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    hu_trainer_key k = hu_trainer_key_at(i);
    if (!k.weights) continue;
    *was = sweep_file_get(f, k.name);
    if (!*was || strcmp(*was, hu_trainer_get(t, k.name)) != 0) return k.name;
  }
  return NULL;
}

static int refuse_file(const sweep_run *r, const char *name, const char *was) {
  int version = strcmp(name, "halfulp") == 0;
  return cli_fail(r->path, "was made with %s%s%s, not %s; --overwrite begins again", version ? "halfulp" : name,
                  version ? " " : " = ", was ? was : "(nothing)",
                  version ? HU_VERSION_STRING : hu_trainer_get(r->trainer, name));
}

static int look_for(const sweep *s, sweep_run *r) {
  sweep_file f;
  const char *was, *name = NULL;
  if (s->fresh && unlink(r->path) && errno != ENOENT) return cli_fail(r->path, "cannot remove: %s", strerror(errno));
  if (!sweep_file_read(&f, r->path)) return CLI_OK;
  if (sweep_file_result(&f, &r->result)) {
    name = other_key(&f, r->trainer, &was);
    r->state = name ? SWEEP_TO_DO : SWEEP_DONE;
  }
  int status = name ? refuse_file(r, name, was) : CLI_OK;
  sweep_file_free(&f);
  return status;
}

/* ---- all runs ---- */

static int plan_run(const sweep *s, const config *c, sweep_run *r) {
  if (set_all(s, c, r)) return CLI_BAD;
  r->path = path_of(s, r);
  return r->path ? CLI_OK : cli_fail(NULL, "out of memory");
}

static int plan_runs(sweep *s, const config *c) {
  s->run = calloc((s->values + 1) * s->seeds, sizeof *s->run);
  if (!s->run) return cli_fail(NULL, "out of memory");
  s->runs = (s->values + 1) * s->seeds;
  for (size_t i = 0; i < s->runs; i++) {
    sweep_run *r = &s->run[i];
    r->value = i < s->seeds ? NULL : s->value[i / s->seeds - 1];
    r->seed = s->seed[i % s->seeds];
  }
  /* The key before its values, so that the line says what is wrong. */
  hu_trainer *t = hu_trainer_new();
  int status = t ? config_apply(t, c, s->config) : cli_fail(NULL, "out of memory");
  for (size_t i = 0; i < s->sets && status == CLI_OK; i++) status = config_set(t, s->set[i]);
  if (status == CLI_OK) status = check_key(s, t);
  hu_trainer_free(t);
  for (size_t i = 0; i < s->runs && status == CLI_OK; i++) status = plan_run(s, c, &s->run[i]);
  return status;
}

int sweep_plan(sweep *s) {
  config c = {0};
  int status = config_read(&c, s->config);
  if (status == CLI_OK) status = plan_runs(s, &c);
  config_free(&c);
  return status == CLI_OK ? make_folders(s) : status;
}

int sweep_find(sweep *s) {
  int status = CLI_OK;
  for (size_t i = 0; i < s->runs && status == CLI_OK; i++) status = look_for(s, &s->run[i]);
  return status;
}

void sweep_free(sweep *s) {
  for (size_t i = 0; i < s->runs; i++) {
    hu_trainer_free(s->run[i].trainer);
    free(s->run[i].path);
    free(s->run[i].said);
  }
  for (size_t i = 0; i < s->values; i++) free(s->value[i]);
  free(s->run);
  free(s->value);
  free(s->seed);
  free(s->set);
}
