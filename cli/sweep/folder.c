/* SPDX-License-Identifier: MIT */
/* The folder of a sweep, which replaces nothing that is not its own: see sweep.h. */
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

/* 1 if OUT/runs has the file of a run, NAME-seedN.json, as older programs kept them. */
static int has_old_run(const char *folder) {
  char *path;
  int found = 0;
  if (asprintf(&path, "%s/runs", folder) < 0) return 0;
  DIR *list = opendir(path);
  free(path);
  for (const struct dirent *file; list && !found && (file = readdir(list));) {
    const char *seed = strstr(file->d_name, "-seed"), *end = seed ? strrchr(seed, '.') : NULL;
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

static int is_there(const char *folder, const char *name) {
  struct stat info;
  char *path;
  if (asprintf(&path, "%s/%s", folder, name) < 0) return 0;
  int there = lstat(path, &info) == 0;
  free(path);
  return there;
}

int sweep_make_folder(const char *folder) {
  static const char *const names[] = {SWEEP_FILES};
  int ours = is_there(folder, SWEEP_LEDGER);
  if (!ours && has_old_run(folder))
    return cli_fail(folder, "has a file for each run, as an older halfulp wrote them; give another folder with -o");
  ours = ours || has_summary(folder);
  for (size_t i = 0; i < sizeof names / sizeof *names && !ours; i++) {
    if (is_there(folder, names[i]))
      return cli_fail(folder, "has a %s, but nothing of a sweep, and it would be replaced; give another folder with -o",
                      names[i]);
  }
  if (mkdir(folder, 0777) && errno != EEXIST) return cli_fail(folder, "cannot make the folder: %s", strerror(errno));
  return CLI_OK;
}

void sweep_clean_folder(const char *folder) {
  int open_folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (open_folder < 0) return;
  (void)cli_folder_clean(open_folder);
  close(open_folder);
}
