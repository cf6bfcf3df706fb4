/* SPDX-License-Identifier: MIT */
/* Ranks compare the arguments of a call before anything else, so that a wrong one ends it everywhere. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halfulp/status.h"
#include "mpi/allreduce.h"

/* What must be equal on all ranks, as 64 bits each. */
enum {
  SAME_VERSION,
  SAME_N,
  SAME_FORMAT,
  SAME_MODE,
  SAME_MODEL,
  SAME_KEY,
  SAME_COUNTER,
  SAME_WAY,
  SAMES,
  OWN_STATUS = SAMES, /* and what need not be */
  OWN_COUNT,
  WORDS
};
static const char *const same_names[SAMES] = {
    "version of halfulp", "n", "format f", "mode", "model", "key of the stream", "counter of the stream", "way"};

/* Returns a hash by FNV-1a, which distinguishes other arguments and no more. */
static uint64_t digest(const void *data, size_t n) {
  const unsigned char *bytes = data;
  uint64_t hash = 0xCBF29CE484222325u;
  for (size_t i = 0; i < n; i++) hash = (hash ^ bytes[i]) * 0x100000001B3u;
  return hash;
}

static uint64_t digest_of_model(const hu_collective *model) {
  char text[HU_COLLECTIVE_TEXT_MAX];
  size_t n = model ? hu_collective_text(text, sizeof text, model) : 0;
  return digest(text, n);
}

static void describe(const mpi_call *call, hu_status status, uint64_t z[WORDS]) {
  const hu_collective_call *reduce = &call->reduce;
  z[SAME_VERSION] = digest(HU_VERSION_STRING, strlen(HU_VERSION_STRING));
  z[SAME_N] = reduce->n;
  z[SAME_FORMAT] = digest(&reduce->format, sizeof reduce->format);
  z[SAME_MODE] = digest(&reduce->mode, sizeof reduce->mode);
  z[SAME_MODEL] = digest_of_model(reduce->model);
  z[SAME_KEY] = reduce->stream.key;
  z[SAME_COUNTER] = reduce->stream.counter;
  z[SAME_WAY] = call->where->way;
  z[OWN_STATUS] = (uint64_t)(int64_t)status;
  z[OWN_COUNT] = call->own;
}

static hu_status refuse(hu_mpi *where, hu_status status, int rank, const char *format, const char *what) {
  where->rank = rank;
  snprintf(where->why, sizeof where->why, format, rank, what);
  return status;
}

/* The first rank that is wrong by itself, then the first one that differs from rank 0. */
static hu_status compare(mpi_call *call, const uint64_t *all) {
  for (int rank = 0; rank < call->size; rank++) {
    hu_status status = (hu_status)(int64_t)all[rank * WORDS + OWN_STATUS];
    if (status != HU_OK) return refuse(call->where, status, rank, "rank %d: %s", hu_status_text(status));
  }
  for (int rank = 1; rank < call->size; rank++) {
    for (int i = 0; i < SAMES; i++) {
      if (all[rank * WORDS + i] != all[i])
        return refuse(call->where, HU_E_SHAPE, rank, "rank %d has another %s than rank 0", same_names[i]);
    }
  }
  return HU_OK;
}

static hu_status count_participants(mpi_call *call, const uint64_t *all) {
  call->reduce.ranks = 0;
  for (int rank = 0; rank < call->size; rank++) {
    call->owns[rank] = all[rank * WORDS + OWN_COUNT];
    call->reduce.ranks += call->owns[rank];
  }
  if (call->reduce.ranks > 0 && call->reduce.ranks <= 1 << 24) return HU_OK;
  return refuse(call->where, HU_E_SHAPE, 0, "rank %d and all others: %s",
                "the number of participants is 0 or above 2^24");
}

hu_status mpi_no_memory(const mpi_call *call) {
  return refuse(call->where, HU_E_MEMORY, call->rank, "rank %d: %s", "no memory");
}

hu_status mpi_agree(mpi_call *call, hu_status status) {
  MPI_Request request;
  uint64_t *all =
      malloc(((size_t)call->size + 1) * WORDS * sizeof *all); /* of each rank; then this one's, as it is sent */
  call->owns = malloc((size_t)call->size * sizeof *call->owns);
  if (!all || !call->owns) { /* the timeout ends the others */
    free(all);
    return mpi_no_memory(call);
  }
  uint64_t *own = all + (size_t)call->size * WORDS;
  describe(call, status, own);
  status = mpi_made(call->where,
                    MPI_Iallgather(own, WORDS, MPI_UINT64_T, all, WORDS, MPI_UINT64_T, call->where->comm, &request),
                    "MPI_Iallgather");
  if (status == HU_OK) status = mpi_wait(call->where, &request, -1, "make the call");
  if (status != HU_OK) return status; /* `all` may still be read and written */
  status = compare(call, all);
  if (status == HU_OK) status = count_participants(call, all);
  free(all);
  return status;
}

hu_status mpi_sum_events(mpi_call *call, hu_events *sum) {
  enum { COUNTS = sizeof(hu_events) / sizeof(uint64_t) };
  MPI_Request request;
  hu_events *own = malloc(2 * sizeof *own), *all = own + 1; /* what is sent, what comes back */
  if (!own) return mpi_no_memory(call);
  *own = call->events;
  hu_status status =
      mpi_made(call->where, MPI_Iallreduce(own, all, COUNTS, MPI_UINT64_T, MPI_SUM, call->where->comm, &request),
               "MPI_Iallreduce");
  if (status == HU_OK) status = mpi_wait(call->where, &request, -1, "send its events");
  if (status == HU_OK) *sum = *all;
  if (status != HU_E_MPI) free(own); /* else a message that is not finished may use it */
  return status;
}
