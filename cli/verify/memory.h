/* SPDX-License-Identifier: MIT */
/* cli/verify/memory.h - what becomes of the command where GMP and MPFR, with which the oracle computes, get no memory. */
#ifndef HALFULP_CLI_BASE_MEMORY_H
#define HALFULP_CLI_BASE_MEMORY_H

/* They end the process by SIGABRT then, and have no other way than not to return; from this call on they end it with an
 * error line and CLI_BAD, and its temporary files go. What a campaign has done stays in its ledger's parts. For a
 * program's main alone: their calls for memory belong to the process, and so to no library. Nothing without an
 * oracle. */
void cli_memory_start(void);

#endif
