/* SPDX-License-Identifier: MIT */
/* The command where a library that `train` needs was not found. */
#include "cli/base/cli.h"

int cli_train(int argc, char **argv) {
  (void)argc;
  (void)argv;
  return cli_fail(NULL, "train: this build has no training by configuration files: " HU_CLI_TRAIN_LACKS
                        " not found when it was configured");
}
