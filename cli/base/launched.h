/* SPDX-License-Identifier: MIT */
/* cli/base/launched.h - is this one of the processes that an MPI launcher has started, and what each of them runs? */
#ifndef HALFULP_CLI_BASE_LAUNCHED_H
#define HALFULP_CLI_BASE_LAUNCHED_H

/* CLI_OK: it is not, or the command knows nothing of processes. Else `halfulp-mpi` beside this program takes over and
 * this does not return; where there is none, an exit code after an error line, as N processes would all do the same. */
int cli_launched(int argc, char **argv);
/* Is "NAME=VALUE" one of the variables that launchers set for each of their processes? */
int cli_is_from_launcher(const char *variable);
/* The whole command, in this process (cli/main.c): for main(), there and in mpi/ranks.c. An exit code. */
int cli_run(int argc, char **argv);

#endif
