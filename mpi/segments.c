/* SPDX-License-Identifier: MIT */
/* The way by segments: in each round every rank gets the same part of all participants' buffers, a part of its own,
 * reduces it as one machine would, and hands the sums out. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/allreduce.h"

enum { BUFFER = 4 << 20 }; /* bytes that a rank sends, and gets, in a round, unless a piece of each is more */

/* What a call needs from round to round. */
typedef struct segment_rounds {
  mpi_call *call;
  size_t each;           /* elements of a rank's segment, a multiple of HU_COLLECTIVE_PIECE */
  uint8_t *out, *in, *z; /* own participants' parts for all ranks; all participants' of this segment; its sums */
  const void **x;        /* where each participant's part begins in `in` */
  int *sent, *sent_at, *got, *got_at; /* of each rank, in bytes */
} segment_rounds;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Returns the number of elements of this rank's segment in the round that begins with element `first`. */
static size_t length(const segment_rounds *rounds, size_t first, int rank, size_t *from) {
  size_t n = rounds->call->reduce.n;
  *from = least(n, first + (size_t)rank * rounds->each);
  return least(n - *from, rounds->each);
}

/* The most segments that a rank sends or gets in a round. */
static size_t most_segments(const mpi_call *call) {
  size_t ranks = (size_t)call->size, most = call->reduce.ranks;
  for (size_t rank = 0; rank < ranks; rank++) {
    if (call->owns[rank] * ranks > most) most = call->owns[rank] * ranks;
  }
  return most;
}

/* Checks that messages can count their bytes as int. All ranks come to the same answer. */
static hu_status check_sizes(const mpi_call *call) {
  if (most_segments(call) <= INT_MAX / (call->reduce.size * HU_COLLECTIVE_PIECE)) return HU_OK;
  (void)mpi_fail(call->where, -1, "the participants of one rank, times the ranks, are more than a message holds");
  return HU_E_SHAPE;
}

static int open_rounds(segment_rounds *rounds, mpi_call *call) {
  size_t size = call->reduce.size, all = call->reduce.ranks, ranks = (size_t)call->size;
  size_t pieces = BUFFER / (most_segments(call) * size * HU_COLLECTIVE_PIECE),
         whole = (call->reduce.n - 1) / ranks / HU_COLLECTIVE_PIECE + 1;
  rounds->call = call;
  rounds->each = HU_COLLECTIVE_PIECE * (pieces < 1 ? 1 : least(pieces, whole));
  rounds->out = malloc(call->own * ranks * rounds->each * size + 1);
  rounds->in = malloc(all * rounds->each * size);
  rounds->z = malloc(rounds->each * size);
  rounds->x = malloc(all * sizeof *rounds->x);
  rounds->sent = calloc(4 * ranks, sizeof *rounds->sent);
  if (!rounds->out || !rounds->in || !rounds->z || !rounds->x || !rounds->sent) return 0;
  rounds->sent_at = rounds->sent + ranks;
  rounds->got = rounds->sent_at + ranks;
  rounds->got_at = rounds->got + ranks;
  return 1;
}

static void close_rounds(segment_rounds *rounds) {
  free(rounds->out);
  free(rounds->in);
  free(rounds->z);
  free((void *)rounds->x);
  free(rounds->sent);
}

/* Packs the segments rank after rank, participant after participant. */
static void pack(segment_rounds *rounds, size_t first) {
  const mpi_call *call = rounds->call;
  size_t size = call->reduce.size, from;
  uint8_t *at = rounds->out;
  for (int rank = 0; rank < call->size; rank++) {
    size_t bytes = length(rounds, first, rank, &from) * size;
    rounds->sent[rank] = (int)(call->own * bytes);
    rounds->sent_at[rank] = (int)(at - rounds->out);
    for (size_t k = 0; k < call->own; k++, at += bytes)
      if (bytes) memcpy(at, (const uint8_t *)call->x[k] + from * size, bytes);
  }
}

static hu_status transpose(segment_rounds *rounds, size_t first, size_t own_length) {
  mpi_call *call = rounds->call;
  size_t bytes = own_length * call->reduce.size, at = 0, part = 0;
  MPI_Request request;
  pack(rounds, first);
  for (int rank = 0; rank < call->size; rank++) {
    rounds->got[rank] = (int)(call->owns[rank] * bytes);
    rounds->got_at[rank] = (int)at;
    for (uint64_t k = 0; k < call->owns[rank]; k++, at += bytes) rounds->x[part++] = rounds->in + at;
  }
  int code = MPI_Ialltoallv(rounds->out, rounds->sent, rounds->sent_at, MPI_BYTE, rounds->in, rounds->got,
                            rounds->got_at, MPI_BYTE, call->where->comm, &request);
  hu_status status = mpi_made(call->where, code, "MPI_Ialltoallv");
  return status == HU_OK ? mpi_wait(call->where, &request, -1, "send its numbers") : status;
}

static hu_status hand_out(segment_rounds *rounds, size_t first, size_t own_length) {
  mpi_call *call = rounds->call;
  size_t size = call->reduce.size, from;
  MPI_Request request;
  for (int rank = 0; rank < call->size; rank++) {
    rounds->got[rank] = (int)(length(rounds, first, rank, &from) * size);
    rounds->got_at[rank] = (int)((from - least(first, from)) * size);
  }
  int code = MPI_Iallgatherv(rounds->z, (int)(own_length * size), MPI_BYTE, call->reduce.z + first * size, rounds->got,
                             rounds->got_at, MPI_BYTE, call->where->comm, &request);
  hu_status status = mpi_made(call->where, code, "MPI_Iallgatherv");
  return status == HU_OK ? mpi_wait(call->where, &request, -1, "send its sums") : status;
}

static hu_status do_round(segment_rounds *rounds, size_t first) {
  mpi_call *call = rounds->call;
  const hu_collective_call *reduce = &call->reduce;
  size_t from, n = length(rounds, first, call->rank, &from);
  hu_how how = {reduce->mode, call->exec, &call->events};
  hu_status status = transpose(rounds, first, n);
  if (status == HU_OK && n)
    status = hu_collective_reduce_part(reduce->ranks, reduce->n, from, n, rounds->z, reduce->format, rounds->x,
                                       reduce->model, &how);
  return status == HU_OK ? hand_out(rounds, first, n) : status;
}

hu_status mpi_by_segments(mpi_call *call) {
  segment_rounds rounds;
  hu_status status = check_sizes(call);
  if (status != HU_OK) return status;
  memset(&rounds, 0, sizeof rounds);
  if (!open_rounds(&rounds, call)) {
    close_rounds(&rounds);
    return mpi_no_memory(call);
  }
  for (size_t first = 0; first < call->reduce.n && status == HU_OK; first += rounds.each * (size_t)call->size)
    status = do_round(&rounds, first);
  if (status != HU_E_MPI) close_rounds(&rounds); /* else messages that are not finished may use the buffers */
  return status;
}
