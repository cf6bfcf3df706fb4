/* SPDX-License-Identifier: MIT */
/* The way by segments: in each round every rank gets the same part of all participants' buffers, a part of its own,
 * reduces it as one machine would, and hands the sums out. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/allreduce.h"

enum { ROOM = 4 << 20 }; /* bytes that a rank sends, and gets, in a round, unless a piece of each is more */

/* What a call needs from round to round. */
typedef struct rounds {
  mpi_call *c;
  size_t each;           /* elements of a rank's segment, a multiple of HU_COLLECTIVE_PIECE */
  uint8_t *out, *in, *z; /* own participants' parts for all ranks; all participants' of this segment; its sums */
  const void **x;        /* where each participant's part begins in `in` */
  int *sent, *sent_at, *got, *got_at; /* of each rank, in bytes */
} rounds;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Elements of rank r's segment in the round that begins with element `first`. */
static size_t length(const rounds *w, size_t first, int r, size_t *from) {
  size_t n = w->c->reduce.n;
  *from = least(n, first + (size_t)r * w->each);
  return least(n - *from, w->each);
}

/* The most segments that a rank sends or gets in a round. */
static size_t most_segments(const mpi_call *c) {
  size_t ranks = (size_t)c->size, most = c->reduce.ranks;
  for (size_t r = 0; r < ranks; r++) {
    if (c->owns[r] * ranks > most) most = c->owns[r] * ranks;
  }
  return most;
}

/* Messages count their bytes as int. All ranks come to the same answer. */
static hu_status check_sizes(const mpi_call *c) {
  if (most_segments(c) <= INT_MAX / (c->reduce.size * HU_COLLECTIVE_PIECE)) return HU_OK;
  (void)mpi_fail(c->where, -1, "the participants of one rank, times the ranks, are more than a message holds");
  return HU_E_SHAPE;
}

static int open_rounds(rounds *w, mpi_call *c) {
  size_t size = c->reduce.size, all = c->reduce.ranks, ranks = (size_t)c->size;
  size_t pieces = ROOM / (most_segments(c) * size * HU_COLLECTIVE_PIECE),
         whole = (c->reduce.n - 1) / ranks / HU_COLLECTIVE_PIECE + 1;
  w->c = c;
  w->each = HU_COLLECTIVE_PIECE * (pieces < 1 ? 1 : least(pieces, whole));
  w->out = malloc(c->own * ranks * w->each * size + 1);
  w->in = malloc(all * w->each * size);
  w->z = malloc(w->each * size);
  w->x = malloc(all * sizeof *w->x);
  w->sent = calloc(4 * ranks, sizeof *w->sent);
  if (!w->out || !w->in || !w->z || !w->x || !w->sent) return 0;
  w->sent_at = w->sent + ranks;
  w->got = w->sent_at + ranks;
  w->got_at = w->got + ranks;
  return 1;
}

static void close_rounds(rounds *w) {
  free(w->out);
  free(w->in);
  free(w->z);
  free((void *)w->x);
  free(w->sent);
}

/* Rank after rank, participant after participant. */
static void pack(rounds *w, size_t first) {
  const mpi_call *c = w->c;
  size_t size = c->reduce.size, from;
  uint8_t *at = w->out;
  for (int r = 0; r < c->size; r++) {
    size_t bytes = length(w, first, r, &from) * size;
    w->sent[r] = (int)(c->own * bytes);
    w->sent_at[r] = (int)(at - w->out);
    for (size_t k = 0; k < c->own; k++, at += bytes)
      if (bytes) memcpy(at, (const uint8_t *)c->x[k] + from * size, bytes);
  }
}

static hu_status transpose(rounds *w, size_t first, size_t own_length) {
  mpi_call *c = w->c;
  size_t bytes = own_length * c->reduce.size, at = 0, p = 0;
  MPI_Request request;
  pack(w, first);
  for (int r = 0; r < c->size; r++) {
    w->got[r] = (int)(c->owns[r] * bytes);
    w->got_at[r] = (int)at;
    for (uint64_t k = 0; k < c->owns[r]; k++, at += bytes) w->x[p++] = w->in + at;
  }
  int code = MPI_Ialltoallv(w->out, w->sent, w->sent_at, MPI_BYTE, w->in, w->got, w->got_at, MPI_BYTE, c->where->comm,
                            &request);
  hu_status s = mpi_made(c->where, code, "MPI_Ialltoallv");
  return s == HU_OK ? mpi_wait(c->where, &request, -1, "send its numbers") : s;
}

static hu_status hand_out(rounds *w, size_t first, size_t own_length) {
  mpi_call *c = w->c;
  size_t size = c->reduce.size, from;
  MPI_Request request;
  for (int r = 0; r < c->size; r++) {
    w->got[r] = (int)(length(w, first, r, &from) * size);
    w->got_at[r] = (int)((from - least(first, from)) * size);
  }
  int code = MPI_Iallgatherv(w->z, (int)(own_length * size), MPI_BYTE, c->reduce.z + first * size, w->got, w->got_at,
                             MPI_BYTE, c->where->comm, &request);
  hu_status s = mpi_made(c->where, code, "MPI_Iallgatherv");
  return s == HU_OK ? mpi_wait(c->where, &request, -1, "send its sums") : s;
}

static hu_status do_round(rounds *w, size_t first) {
  mpi_call *c = w->c;
  const hu_collective_call *r = &c->reduce;
  size_t from, n = length(w, first, c->rank, &from);
  hu_status s = transpose(w, first, n);
  if (s == HU_OK && n)
    s = hu_collective_reduce_part(r->ranks, r->n, from, n, w->z, r->format, w->x, r->model, r->mode, c->exec,
                                  &c->events);
  return s == HU_OK ? hand_out(w, first, n) : s;
}

hu_status mpi_by_segments(mpi_call *c) {
  rounds w;
  hu_status s = check_sizes(c);
  if (s != HU_OK) return s;
  memset(&w, 0, sizeof w);
  if (!open_rounds(&w, c)) {
    close_rounds(&w);
    return mpi_no_memory(c);
  }
  for (size_t first = 0; first < c->reduce.n && s == HU_OK; first += w.each * (size_t)c->size) s = do_round(&w, first);
  if (s != HU_E_MPI) close_rounds(&w); /* else messages under way may use the rooms */
  return s;
}
