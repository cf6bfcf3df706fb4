/* SPDX-License-Identifier: MIT */
/* Finds the data files that come with halfulp. */
#include "cli/base/shipped.h"

#include <stdio.h>
#include <unistd.h>

static int has(const char *folder, const char *file) {
  char path[4096];
  int n = snprintf(path, sizeof path, "%s/%s", folder, file);
  return n > 0 && (size_t)n < sizeof path && access(path, R_OK) == 0;
}

const char *cli_shipped(const char *folder, const char *file) {
  static const char *const others[] = {"data", HU_CLI_DATA};
  if (has(folder, file)) return folder;
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (has(others[i], file)) return others[i];
  return folder;
}
