/* SPDX-License-Identifier: MIT */
/* Cells of a ledger where a library that checkpoints need was not found: see ledger.h. */
#include "cli/base/cli.h"
#include "cli/experiment/attribute.h"
#include "cli/experiment/ledger.h"

static int absent(void) {
  return cli_fail(NULL,
                  "experiment: --cell: this build has no checkpoints of runs: libinih or jansson was not found "
                  "when it was configured");
}

int ledger_command(const ledger_how *how) {
  (void)how;
  return absent();
}

int attribute_command(const ledger_how *how, size_t seeds, double budget) {
  (void)how;
  (void)seeds;
  (void)budget;
  return absent();
}
