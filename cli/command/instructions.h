/* SPDX-License-Identifier: MIT */
/* cli/command/instructions.h - a device's or the CPU's own matrix instructions against the models of them, bit for
 * bit. */
#ifndef HALFULP_CLI_COMMAND_INSTRUCTIONS_H
#define HALFULP_CLI_COMMAND_INSTRUCTIONS_H

#include <stdint.h>

typedef struct instructions_asked {
  int cuda, json;     /* cuda: the device's, else the CPU's */
  uint64_t samples;   /* random dot products of each instruction, at least */
  uint64_t seed;      /* key of their operands */
  const char *golden; /* folder of mma/probes.txt; NULL: the installed one, if there is one */
} instructions_asked;

/* Checks the instructions whose model's name contains one of the names, or all if no name is given; an exit code. */
int cli_verify_instructions(const instructions_asked *asked, char **names, int count);

#endif
