/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/mpi.h: this rank checks its arguments, all ranks agree on them, and one of the two methods
 * runs. */
#include "mpi/allreduce.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/array_extent.h"
#include "emu/base/exec.h"

/* Checks this rank's arguments alone. Without numbers it checks all except the buffers. */
static hu_status check_own(const mpi_call *call, void *z) {
  const hu_collective_call *reduce = &call->reduce;
  hu_strided az = {z, reduce->size, 1};
  const void *nothing = NULL;
  if (hui_is_elsewhere(call->exec)) return HU_E_DEVICE;
  if (!reduce->model) return HU_E_NULL;
  if (call->where->way > HU_MPI_SEGMENTS) return HU_E_MODE;
  hu_how how = {reduce->mode, NULL, NULL};
  hu_status status = hu_collective_reduce(1, 0, NULL, reduce->format, &nothing, reduce->model, &how);
  if (status != HU_OK || reduce->n == 0) return status;
  if (!z || (call->own && !call->x)) return HU_E_NULL;
  for (size_t k = 0; k < call->own && status == HU_OK; k++) {
    hu_strided ax = {call->x[k], reduce->size, 1};
    status = hui_check_pair(reduce->n, &az, &ax);
    if (status == HU_OK) status = hu_codes_check_n(reduce->n, call->x[k], 1, reduce->format, call->exec, NULL);
  }
  return status;
}

static hu_status reduce(mpi_call *call, hu_events *events) {
  hu_events sum;
  hu_status status = HU_OK;
  if (call->reduce.n == 0) return HU_OK;
  status = mpi_can_follow(call) ? mpi_follow_model(call) : mpi_by_segments(call);
  if (status == HU_OK) status = mpi_sum_events(call, &sum);
  if (status == HU_OK && events) hu_events_add(events, &sum);
  return status;
}

hu_status hu_mpi_allreduce_many(hu_mpi *where, size_t n, void *z, hu_format format, size_t own, const void *const *x,
                                const hu_collective *model, const hu_how *how) {
  const hu_how defaults = {{0}, NULL, NULL};
  mpi_call call;
  if (!how) how = &defaults;
  if (!where) return HU_E_NULL;
  memset(&call, 0, sizeof call);
  where->rank = -1;
  *where->why = 0;
  call.where = where;
  call.reduce = (hu_collective_call){.n = n,
                                     .x = (const uint8_t *const *)x,
                                     .z = z,
                                     .size = hui_code_bytes(format),
                                     .format = format,
                                     .model = model,
                                     .mode = how->mode,
                                     .stream = hui_exec_stream(how->exec)};
  call.exec = how->exec;
  call.own = own;
  call.x = x;
  hu_status status = mpi_made(where, MPI_Comm_rank(where->comm, &call.rank), "MPI_Comm_rank");
  if (status == HU_OK) status = mpi_made(where, MPI_Comm_size(where->comm, &call.size), "MPI_Comm_size");
  if (status == HU_OK) status = mpi_agree(&call, check_own(&call, z));
  if (status == HU_OK) status = reduce(&call, how->events);
  free(call.owns);
  return status;
}

hu_status hu_mpi_allreduce(hu_mpi *where, size_t n, void *z, hu_format format, const void *x,
                           const hu_collective *model, const hu_how *how) {
  return hu_mpi_allreduce_many(where, n, z, format, 1, &x, model, how);
}
