/* SPDX-License-Identifier: MIT */
/* Hands over to halfulp-mpi where an MPI launcher has started this process, so that the plain command is built without
 * MPI and starts as fast as ever. */
#include "cli/base/launched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/cli.h"

/* Looks for what launchers set for their processes: Open MPI, MPICH and Intel MPI, PMIx (Slurm's srun --mpi=pmix). */
static int is_launched(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK", "PMIX_RANK"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (getenv(names[i])) return 1;
  return 0;
}

/* Returns 1 for those above, and for what goes with them, which without them would be half of a launch. */
int cli_is_from_launcher(const char *variable) {
  static const char *const starts[] = {"OMPI_COMM_WORLD_", "PMI_", "PMIX_"};
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
    if (!strncmp(variable, starts[i], strlen(starts[i]))) return 1;
  return 0;
}

static int knows_ranks(const char *name) {
  static const char *const names[] = {"campaign", "sweep", "train", "verify"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(name, names[i])) return 1;
  return 0;
}

/* Returns 1 and the path of the program of that name in the folder of this one. */
static int beside(char path[4096], const char *name) {
  ssize_t n = readlink("/proc/self/exe", path, 4096 - strlen(name) - 1);
  if (n <= 0) return 0;
  path[n] = 0;
  char *slash = strrchr(path, '/');
  if (!slash) return 0;
  strcpy(slash + 1, name);
  return 1;
}

int cli_launched(int argc, char **argv) {
  char path[4096];
  const char *given = getenv("HALFULP_MPI");
  if (argc < 2 || !knows_ranks(argv[1]) || !is_launched()) return CLI_OK;
  if (given) {
    (void)execv(given, argv);
    return cli_fail(given, "HALFULP_MPI: %s", strerror(errno));
  }
  if (beside(path, "halfulp-mpi")) (void)execv(path, argv);
  return cli_fail(NULL, "%s: started by an MPI launcher, but this halfulp was built without MPI", argv[1]);
}
