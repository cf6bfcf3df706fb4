/* SPDX-License-Identifier: MIT */
/* halfulp sweep where libinih is missing. */
#include "cli/base/cli.h"

int cli_sweep(int argc, char **argv) {
  (void)argc, (void)argv;
  return cli_fail(NULL, "sweep: this build reads no configuration files (libinih was missing)");
}
