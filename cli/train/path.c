/* SPDX-License-Identifier: MIT */
/* Paths of the files in the folder of a run: see train.h. */
#include <stdio.h>

#include "cli/base/cli.h"
#include "cli/train/train.h"

char *train_path(const train_run *run, const char *name) {
  char *path = NULL;
  if (asprintf(&path, "%s/%s", run->out, name) >= 0) return path;
  cli_fail(run->out, "out of memory");
  return NULL;
}
