/* SPDX-License-Identifier: MIT */
/* The folder of a sweep, and whose it is at a time: see sweep.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/cli.h"
#include "cli/base/io.h"
#include "cli/sweep/sweep.h"

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
  FILE *file = cli_own_stream(path);
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

/* ---- locks ---- */

#define PART ".shard-"

/* What parts lock lies in the folder "runs", and stays until a whole sweep comes: it may be locked the next moment. */
static int lock_part(sweep *s) {
  char *path;
  if (asprintf(&path, "%s/runs/" PART "%u-of-%u", s->out, s->shard, s->shards) < 0)
    return cli_fail(NULL, "out of memory");
  int status = make_folder(path);
  if (status == CLI_OK) status = cli_folder_lock(&s->part, path, "sweep");
  free(path);
  return status;
}

static void remove_parts(int runs) {
  int fd = openat(runs, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *list = fd < 0 ? NULL : fdopendir(fd);
  if (!list && fd >= 0) close(fd);
  for (const struct dirent *e; list && (e = readdir(list));) {
    if (!strncmp(e->d_name, PART, strlen(PART))) (void)unlinkat(runs, e->d_name, AT_REMOVEDIR);
  }
  if (list) closedir(list);
}

/* What runs were writing when they were killed. The lock of the sweep's folder is that of its runs, too. */
static void remove_leftovers(const sweep *s) {
  int runs = openat(s->lock, "runs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  (void)cli_folder_clean(s->lock);
  if (runs < 0) return;
  (void)cli_folder_clean(runs);
  remove_parts(runs);
  close(runs);
}

int sweep_open(sweep *s) {
  int status = make_folders(s);
  if (status != CLI_OK) return status;
  if (s->shards) {
    status = cli_folder_share(&s->lock, s->out, "sweep");
    return status == CLI_OK ? lock_part(s) : status;
  }
  status = cli_folder_lock(&s->lock, s->out, "sweep");
  if (status == CLI_OK) remove_leftovers(s);
  return status;
}

void sweep_close(sweep *s) {
  if (s->part >= 0) close(s->part);
  if (s->lock >= 0) close(s->lock);
}
