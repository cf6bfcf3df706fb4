/* SPDX-License-Identifier: MIT */
/* Paths of files in the folder of the data. */
#include <stdio.h>

#include "train/trainer/trainer.h"

hu_status hui_path_of(char z[HU_PATH_SIZE], const char *folder, const char *path, const char *name, char *why) {
  const char *first = *path == '/' ? "" : folder, *gap = *path == '/' || !*path ? "" : "/", *end = *name ? "/" : "";
  int n = snprintf(z, HU_PATH_SIZE, "%s%s%s%s%s", first, gap, path, end, name);
  return n > 0 && n < HU_PATH_SIZE ? HU_OK : hui_say(why, HU_E_FILE, "data.path: too long");
}
