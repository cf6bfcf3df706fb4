/* SPDX-License-Identifier: MIT */
/* Remembers --quiet, of the command that this process is. */
#include "cli/base/cli.h"

static int quiet;

void cli_be_quiet(void) { quiet = 1; }

int cli_quiet(void) { return quiet; }
