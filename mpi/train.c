/* SPDX-License-Identifier: MIT */
/* Joins gradients and counts of shards over MPI. A process that cannot continue ends the job, as the others
 * would wait. */
#include "mpi/train.h"

#include <stdio.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/train/ranks.h"
#include "halfulp/formats/ieee.h"
#include "mpi/allreduce.h"

/* How long a process waits for another one: for its shards of a step, a checkpoint, an evaluation. */
static const double timeout = 600;

static MPI_Comm comm = MPI_COMM_NULL; /* of this library alone */

static hu_mpi here(void) {
  hu_mpi where = {comm, timeout, HU_MPI_AS_MODEL, -1, ""};
  return where;
}

static void end(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

/* Ends the job after HU_E_MPI: messages that are not finished may lie in memory that callers free. */
static hu_status or_end(const hu_mpi *where, hu_status status) {
  int rank;
  if (status != HU_OK && MPI_Comm_rank(comm, &rank) == MPI_SUCCESS)
    fprintf(stderr, "halfulp: train: rank %d: %s\n", rank, where->why);
  if (status == HU_E_MPI) end(CLI_BAD);
  return status;
}

static hu_status join(void *context, size_t n, float *z, size_t own, const void *const *x, const hu_collective *model,
                      const hu_exec *exec) {
  hu_mpi where = here();
  hu_mode rne;
  (void)context;
  memset(&rne, 0, sizeof rne);
  return or_end(&where, hu_mpi_allreduce_many(&where, n, z, hu_binary32(), own, x, model, &(hu_how){rne, exec, NULL}));
}

/* In any order: at most one number is not zero, or all are whole and small. */
static hu_status sum(void *context, size_t n, double *x) {
  enum { PART = 1 << 20 };
  hu_mpi where = here();
  hu_status status = HU_OK;
  (void)context;
  for (size_t i = 0; i < n && status == HU_OK; i += PART) {
    MPI_Request request;
    int count = n - i < PART ? (int)(n - i) : PART;
    status = mpi_made(&where, MPI_Iallreduce(MPI_IN_PLACE, x + i, count, MPI_DOUBLE, MPI_SUM, comm, &request),
                      "MPI_Iallreduce");
    if (status == HU_OK) status = mpi_wait(&where, &request, -1, "answer");
  }
  return or_end(&where, status);
}

static train_ranks ranks = {{0, 1, NULL, join, sum}, end};

void mpi_train_start(MPI_Comm of) {
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  MPI_Comm_dup(of, &comm);
  MPI_Comm_rank(comm, &ranks.trainer.rank);
  MPI_Comm_size(comm, &ranks.trainer.size);
  train_ranks_set(&ranks);
}
