/* SPDX-License-Identifier: MIT */
/* mpi/allreduce.h - the parts of hu_mpi_allreduce: waiting, agreement, and its two methods. */
#ifndef HALFULP_MPI_ALLREDUCE_H
#define HALFULP_MPI_ALLREDUCE_H

#include "emu/collective/step.h"
#include "emu/core/round.h"
#include "halfulp/mpi.h"

/* A call: checked, agreed upon by all ranks. */
typedef struct mpi_call {
  hu_mpi *where;
  hu_collective_call reduce; /* ranks: participants */
  const hu_exec *exec;
  hu_events events; /* of this rank's part of the work */
  int rank, size;
  size_t own;           /* participants of this rank */
  uint64_t *owns;       /* of each rank */
  const void *const *x; /* own buffers */
} mpi_call;

/* Writes the sentence and returns HU_E_MPI; rank -1: it is unknown. */
hu_status mpi_fail(hu_mpi *where, int rank, const char *what);
/* Returns HU_OK where an MPI call returned MPI_SUCCESS. */
hu_status mpi_made(hu_mpi *where, int code, const char *what);
/* Waits until the request is done, asleep in between, or the time is up: HU_E_MPI, and what is not finished must
 * stay in memory. `rank` is who is waited for, `what` the rest of the sentence "rank 3 did not ... within 300 s". */
hu_status mpi_wait(hu_mpi *where, MPI_Request *request, int rank, const char *what);

/* All ranks exchange their arguments (agree.c). status: what this rank's own check says. Fills owns. The status is
 * equal on all ranks unless that is HU_E_MPI. */
hu_status mpi_agree(mpi_call *call, hu_status status);

/* Returns HU_E_MEMORY of this rank; the timeout ends the others. */
hu_status mpi_no_memory(const mpi_call *call);

/* Sums of the events of all ranks. */
hu_status mpi_sum_events(mpi_call *call, hu_events *sum);

/* Returns 1 if the model's messages can be carried out. The two methods follow. */
int mpi_can_follow(const mpi_call *call);
hu_status mpi_follow_model(mpi_call *call);
hu_status mpi_by_segments(mpi_call *call);

#endif
