/* SPDX-License-Identifier: MIT */
/* The calls of halfulp/mpi.h: arguments checked on this rank, agreed upon by all, and one of the two ways. */
#include "mpi/allreduce.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/array_extent.h"
#include "emu/base/exec.h"

/* What this rank's arguments alone say. Without numbers the call checks all but the buffers. */
static hu_status check_own(const mpi_call *c, void *z) {
  const hu_collective_call *r = &c->reduce;
  hu_strided az = {z, r->size, 1};
  const void *nothing = NULL;
  if (!r->model) return HU_E_NULL;
  if (c->where->way > HU_MPI_SEGMENTS) return HU_E_MODE;
  hu_status s = hu_collective_reduce(1, 0, NULL, r->format, &nothing, r->model, r->mode, NULL, NULL);
  if (s != HU_OK || r->n == 0) return s;
  if (!z || (c->own && !c->x)) return HU_E_NULL;
  for (size_t k = 0; k < c->own && s == HU_OK; k++) {
    hu_strided ax = {c->x[k], r->size, 1};
    s = hu_check_pair(r->n, &az, &ax);
    if (s == HU_OK) s = hu_codes_check_n(r->n, c->x[k], 1, r->format, c->exec, NULL);
  }
  return s;
}

static hu_status reduce(mpi_call *c, hu_events *events) {
  hu_events sum;
  hu_status s = HU_OK;
  if (c->reduce.n == 0) return HU_OK;
  s = mpi_can_follow(c) ? mpi_follow_model(c) : mpi_by_segments(c);
  if (s == HU_OK) s = mpi_sum_events(c, &sum);
  if (s == HU_OK && events) hu_events_add(events, &sum);
  return s;
}

hu_status hu_mpi_allreduce_many(hu_mpi *where, size_t n, void *z, hu_format f, size_t own, const void *const *x,
                                const hu_collective *model, hu_mode mode, const hu_exec *exec, hu_events *events) {
  mpi_call c;
  if (!where) return HU_E_NULL;
  memset(&c, 0, sizeof c);
  where->rank = -1;
  *where->why = 0;
  c.where = where;
  c.reduce = (hu_collective_call){0, n,     0,    (const uint8_t *const *)x, z, hu_code_bytes(f),
                                  f, model, mode, hu_exec_stream(exec)};
  c.exec = exec;
  c.own = own;
  c.x = x;
  hu_status s = mpi_made(where, MPI_Comm_rank(where->comm, &c.rank), "MPI_Comm_rank");
  if (s == HU_OK) s = mpi_made(where, MPI_Comm_size(where->comm, &c.size), "MPI_Comm_size");
  if (s == HU_OK) s = mpi_agree(&c, check_own(&c, z));
  if (s == HU_OK) s = reduce(&c, events);
  free(c.owns);
  return s;
}

hu_status hu_mpi_allreduce(hu_mpi *where, size_t n, void *z, hu_format f, const void *x, const hu_collective *model,
                           hu_mode mode, const hu_exec *exec, hu_events *events) {
  return hu_mpi_allreduce_many(where, n, z, f, 1, &x, model, mode, exec, events);
}
