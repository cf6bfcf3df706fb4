/* SPDX-License-Identifier: MIT */
/* Cells of a ledger where a library that checkpoints need was not found: see ledger.h. */
#include "cli/base/cli.h"
#include "cli/experiment/ledger.h"

int ledger_command(const ledger_how *how) {
  (void)how;
  return cli_fail(NULL,
                  "experiment: --cell: this build has no checkpoints of runs: libinih or jansson was not found "
                  "when it was configured");
}
