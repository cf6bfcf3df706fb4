/* SPDX-License-Identifier: MIT */
/* cli/base/launched.h - is this one of the processes that an MPI launcher has started, and what each of them runs? */
#ifndef HALFULP_CLI_BASE_LAUNCHED_H
#define HALFULP_CLI_BASE_LAUNCHED_H

/* Returns CLI_OK if it is not, or the command knows no processes. Else `halfulp-mpi` beside this program takes over and
 * this does not return; where there is none, an exit code after an error line, as N processes would all do the same. */
int cli_launched(int argc, char **argv);
/* Returns 1 if "NAME=VALUE" is one of the variables that launchers set for each of their processes. */
int cli_is_from_launcher(const char *variable);
/* Runs the whole command in this process (cli/main.c): for main(), there and in mpi/ranks.c. Returns an exit code. */
int cli_run(int argc, char **argv);

#endif
