/* SPDX-License-Identifier: MIT */
/* Finds the data files of a run: see data_folder.h. */
#include "cli/train/data_folder.h"

#include <string.h>

#include "cli/base/shipped.h"

const char *train_data_folder(const hu_trainer *trainer, const char *folder) {
  const char *set = hu_trainer_get(trainer, "data.set"), *path = hu_trainer_get(trainer, "data.path");
  if (!set || (path && *path)) return folder;
  if (!strcmp(set, "digits")) return cli_shipped(folder, CLI_DIGITS);
  return !strcmp(set, "text") ? cli_shipped(folder, CLI_TEXT) : folder;
}
