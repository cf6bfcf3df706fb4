/* SPDX-License-Identifier: MIT */
/* The way of the model: each rank is a participant and sends, takes and joins sums in the order of collective.h. */
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "mpi/allreduce.h"

enum { BLOCK = 64 * HU_COLLECTIVE_PIECE }; /* elements of a message, but for ring: there it is a chunk */

/* The elements from `first` up to `past` on their way: this rank's sum of them so far. */
typedef struct block {
  mpi_call *c;
  size_t first, past;
  hu_partial sum;                   /* where this rank's sum lies: its own buffer, or `room` */
  uint8_t *room, *message, *answer; /* words of 32 bits for each element: any format fits */
} block;

/* A step of the piece that begins with `first`, counted or not: ranks that hold the same sum count once. */
static hu_step step_of(block *b, size_t first, size_t n, hu_events *events) {
  hu_step s = {&b->c->reduce.model->base, first, n, 0, b->c->reduce.stream, events};
  return s;
}

/* Of the pieces of the block from `first` on: the end of the next one. */
static size_t piece_end(const block *b, size_t first) {
  size_t end = hu_piece_end(&b->c->reduce, first);
  return end < b->past ? end : b->past;
}

static hu_partial part_of(const block *b, hu_partial x, size_t first) {
  x.data = (const uint8_t *)x.data + (first - b->first) * hu_code_bytes(x.format);
  return x;
}

/* Numbers of what travels: a format of the wire, or that of the sum. */
static hu_format wire_format(const block *b, hu_format sum) {
  const hu_collective_base *base = &b->c->reduce.model->base;
  if (base->wired == HU_COLLECTIVE_WIRE_FORMAT) return base->wire;
  return base->wired == HU_COLLECTIVE_WIRE_SCALED ? hu_binary32() : sum;
}

/* This rank's sum as it arrives elsewhere, into z. */
static hu_partial onto_wire(block *b, uint64_t participant, int which, uint8_t *z, hu_events *events) {
  hu_collective_room room;
  hu_partial wired = {z, wire_format(b, b->sum.format)};
  size_t size = hu_code_bytes(wired.format);
  for (size_t first = b->first, end; first < b->past; first = end) {
    end = piece_end(b, first);
    hu_step s = step_of(b, first, end - first, events);
    hu_partial arrived = hu_step_send(&s, part_of(b, b->sum, first), participant, which, &room);
    memcpy(z + (first - b->first) * size, arrived.data, (end - first) * size);
  }
  return wired;
}

/* The sum of p and q, which has arrived from `participant`, into this rank's room; p may lie there. */
static void join(block *b, hu_partial p, hu_partial q, uint64_t participant, hu_events *events) {
  hu_collective_room room;
  hu_partial sum = {b->room, b->c->reduce.model->base.sum};
  size_t size = hu_code_bytes(sum.format);
  for (size_t first = b->first, end; first < b->past; first = end) {
    end = piece_end(b, first);
    hu_step s = step_of(b, first, end - first, events);
    hu_partial z = hu_step_join(&s, part_of(b, p, first), part_of(b, q, first), participant, &room);
    memcpy(b->room + (first - b->first) * size, z.data, (end - first) * size);
  }
  b->sum = sum;
}

/* ---- messages ---- */

static int bytes_of(const block *b, hu_format f) { return (int)((b->past - b->first) * hu_code_bytes(f)); }

static hu_status send_to(block *b, int rank, const void *data, hu_format f) {
  MPI_Request request;
  hu_mpi *where = b->c->where;
  hu_status s =
      mpi_made(where, MPI_Isend(data, bytes_of(b, f), MPI_BYTE, rank, HU_MPI_TAG, where->comm, &request), "MPI_Isend");
  return s == HU_OK ? mpi_wait(where, &request, rank, "take a sum") : s;
}

static hu_status take_from(block *b, int rank, void *data, hu_format f) {
  MPI_Request request;
  hu_mpi *where = b->c->where;
  hu_status s =
      mpi_made(where, MPI_Irecv(data, bytes_of(b, f), MPI_BYTE, rank, HU_MPI_TAG, where->comm, &request), "MPI_Irecv");
  return s == HU_OK ? mpi_wait(where, &request, rank, "send a sum") : s;
}

/* x, of the block `out`, goes to one rank while z, of `in`, comes from another. */
static hu_status swap(block *out, int to, hu_partial x, block *in, int from, hu_partial z) {
  hu_mpi *where = out->c->where;
  MPI_Request sent, got;
  hu_status s = mpi_made(
      where,
      MPI_Irecv((void *)(uintptr_t)z.data, bytes_of(in, z.format), MPI_BYTE, from, HU_MPI_TAG, where->comm, &got),
      "MPI_Irecv");
  if (s == HU_OK)
    s = mpi_made(where, MPI_Isend(x.data, bytes_of(out, x.format), MPI_BYTE, to, HU_MPI_TAG, where->comm, &sent),
                 "MPI_Isend");
  if (s == HU_OK) s = mpi_wait(where, &got, from, "send a sum");
  return s == HU_OK ? mpi_wait(where, &sent, to, "take a sum") : s;
}

/* This rank's sum goes to another one. */
static hu_status give(block *b, int rank) {
  hu_partial wired = onto_wire(b, (uint64_t)b->c->rank, HU_STEP_WIRE, b->message, &b->c->events);
  return send_to(b, rank, wired.data, wired.format);
}

/* The sum of another rank, in format f before its wire, joins this one's. */
static hu_status take(block *b, int rank, hu_format f) {
  hu_partial q = {b->message, wire_format(b, f)};
  hu_status s = take_from(b, rank, b->message, q.format);
  if (s == HU_OK) join(b, b->sum, q, (uint64_t)rank, &b->c->events);
  return s;
}

/* What a rank holds before and after its first join. */
static hu_format own_format(const block *b) { return b->c->reduce.format; }
static hu_format sum_format(const block *b) { return b->c->reduce.model->base.sum; }

/* ---- tree and pairwise: the sum ends up on rank 0 ---- */

static hu_status tree(block *b) {
  int r = b->c->rank, size = b->c->size;
  for (int s = 1; s < size; s *= 2) {
    if (r & s) return give(b, r - s);
    if (r + s >= size) continue;
    hu_status status = take(b, r + s, r + s + 1 < size && s > 1 ? sum_format(b) : own_format(b));
    if (status != HU_OK) return status;
  }
  return HU_OK;
}

/* Ranks l to h - 1, of which this is one. */
static hu_status pairwise(block *b, int l, int h) {
  int r = b->c->rank, m = l + (h - l + 1) / 2;
  if (h - l == 1) return HU_OK;
  hu_status s = r < m ? pairwise(b, l, m) : pairwise(b, m, h);
  if (s != HU_OK) return s;
  if (r == l) return take(b, m, h - m > 1 ? sum_format(b) : own_format(b));
  return r == m ? give(b, l) : HU_OK;
}

/* ---- doubling ---- */

/* Both send; both join the sum of the lower numbers, p, and that of the higher ones, q, which has the roundings. Of the
 * ranks that hold the same sum the first counts. */
static hu_status exchange(block *b, int other, hu_format f, int low, int high, int is_low) {
  hu_events none = {0};
  int r = b->c->rank, counts = r == (is_low ? low : high);
  hu_partial mine = onto_wire(b, (uint64_t)high, is_low ? HU_STEP_OTHER_WIRE : HU_STEP_WIRE, b->message,
                              counts ? &b->c->events : &none);
  hu_partial theirs = {b->answer, wire_format(b, f)};
  hu_status s = swap(b, other, mine, b, other, theirs);
  if (s == HU_OK)
    join(b, is_low ? mine : theirs, is_low ? theirs : mine, (uint64_t)high, r == low ? &b->c->events : &none);
  return s;
}

/* The rank of number i of the power of two that is left: `extra` of them have taken in their neighbour. */
static int rank_of(int i, int extra) { return i < extra ? 2 * i : extra + i; }

/* Number i's sum before round s: in F once it has been joined. */
static hu_format format_before(const block *b, int i, int s, int extra) {
  return s > 1 || i < extra ? sum_format(b) : own_format(b);
}

static int power_below(int size) {
  int power = 1;
  while (power <= size / 2) power *= 2;
  return power;
}

static hu_status doubling(block *b) {
  int r = b->c->rank, power = power_below(b->c->size), extra = b->c->size - power;
  int beside = r < 2 * extra, i = beside ? r / 2 : r - extra;
  if (beside && r % 2) return give(b, r - 1);
  hu_status status = beside ? take(b, r + 1, own_format(b)) : HU_OK;
  for (int s = 1; s < power && status == HU_OK; s *= 2) {
    int first = i & ~(2 * s - 1), low = rank_of(first, extra), high = rank_of(first + s, extra), j = i ^ s;
    status = exchange(b, rank_of(j, extra), format_before(b, j, s, extra), low, high, !(i & s));
  }
  return status;
}

/* ---- the last sum ---- */

/* What all hold into their buffers; rank 0 counts. */
static void finish(block *b, hu_partial x) {
  hu_events none = {0};
  for (size_t first = b->first, end; first < b->past; first = end) {
    end = piece_end(b, first);
    hu_piece_finish(&b->c->reduce, first, end - first, part_of(b, x, first), b->c->rank ? &none : &b->c->events);
  }
}

/* The sum of rank `root`, once more through the wire, to all. */
static hu_status spread(block *b, int root) {
  hu_mpi *where = b->c->where;
  MPI_Request request;
  hu_partial wired = {b->message, wire_format(b, sum_format(b))};
  if (b->c->rank == root) onto_wire(b, 0, HU_STEP_LAST_WIRE, b->message, &b->c->events);
  int code = MPI_Ibcast(b->message, bytes_of(b, wired.format), MPI_BYTE, root, where->comm, &request);
  hu_status s = mpi_made(where, code, "MPI_Ibcast");
  if (s == HU_OK) s = mpi_wait(where, &request, root, "send the last sum");
  if (s == HU_OK) finish(b, wired);
  return s;
}

/* All but the neighbours that were taken in hold the sum: these get it, if there are any, through the wire. */
static hu_status spread_doubled(block *b) {
  hu_events none = {0};
  int r = b->c->rank, extra = b->c->size - power_below(b->c->size), beside = r < 2 * extra;
  hu_partial x = {b->message, wire_format(b, sum_format(b))};
  hu_status s = HU_OK;
  if (!extra) {
    x = b->sum;
  } else if (beside && r % 2) {
    s = take_from(b, r - 1, b->message, x.format);
  } else {
    onto_wire(b, 0, HU_STEP_LAST_WIRE, b->message, r ? &none : &b->c->events);
    if (beside) s = send_to(b, r + 1, b->message, x.format);
  }
  if (s == HU_OK) finish(b, x);
  return s;
}

/* ---- ring ---- */

static void at_chunk(block *b, size_t chunk) {
  size_t n = b->c->reduce.n, count = b->c->reduce.ranks;
  b->first = hu_chunk_first(chunk, n, count);
  b->past = hu_chunk_first(chunk + 1, n, count);
}

static hu_partial own_numbers(const block *b) {
  const hu_collective_call *r = &b->c->reduce;
  hu_partial x = {r->x[0] + b->first * r->size, r->format};
  return x;
}

/* In round t this rank sends chunk rank - t + 1, the sum that it has so far, and takes chunk rank - t. */
static hu_status ring(block *b) {
  size_t size = (size_t)b->c->size, r = (size_t)b->c->rank;
  int next = (int)((r + 1) % size), before = (int)((r + size - 1) % size);
  hu_status s = HU_OK;
  at_chunk(b, r);
  b->sum = own_numbers(b);
  for (size_t t = 1; t < size && s == HU_OK; t++) {
    block out = *b;
    hu_partial mine = onto_wire(&out, r, HU_STEP_WIRE, b->message, &b->c->events);
    at_chunk(b, (r + size - t) % size);
    hu_partial theirs = {b->answer, wire_format(b, t == 1 ? own_format(b) : sum_format(b))};
    s = swap(&out, next, mine, b, before, theirs);
    if (s == HU_OK) join(b, own_numbers(b), theirs, (uint64_t)before, &b->c->events);
  }
  return s;
}

/* Chunk c ends on the participant before c. */
static hu_status gather(block *b) {
  size_t size = (size_t)b->c->size;
  hu_status s = HU_OK;
  for (size_t c = 0; c < size && s == HU_OK; c++) {
    block chunk = *b;
    at_chunk(&chunk, c);
    s = spread(&chunk, (int)((c + size - 1) % size));
  }
  return s;
}

/* ---- the call ---- */

/* The most elements of a chunk; a message counts its bytes as int. */
static size_t ring_chunk(const mpi_call *c) { return c->reduce.n / c->reduce.ranks + 1; }

int mpi_can_follow(const mpi_call *c) {
  if (c->where->way == HU_MPI_SEGMENTS || c->reduce.model->group || c->size == 1) return 0;
  for (int r = 0; r < c->size; r++) {
    if (c->owns[r] != 1) return 0;
  }
  if (c->reduce.model->base.kind == HU_COLLECTIVE_RING && ring_chunk(c) > INT32_MAX / sizeof(uint32_t)) return 0;
  return c->reduce.model->base.kind != HU_COLLECTIVE_EXACT;
}

static hu_status do_block(block *b) {
  int kind = b->c->reduce.model->base.kind;
  b->sum = own_numbers(b);
  if (kind == HU_COLLECTIVE_DOUBLING) {
    hu_status s = doubling(b);
    return s == HU_OK ? spread_doubled(b) : s;
  }
  hu_status s = kind == HU_COLLECTIVE_TREE ? tree(b) : pairwise(b, 0, b->c->size);
  return s == HU_OK ? spread(b, 0) : s;
}

static hu_status do_blocks(block *b) {
  hu_status s = HU_OK;
  for (size_t first = 0; first < b->c->reduce.n && s == HU_OK; first += BLOCK) {
    b->first = first;
    b->past = b->c->reduce.n - first < BLOCK ? b->c->reduce.n : first + BLOCK;
    s = do_block(b);
  }
  return s;
}

hu_status mpi_follow_model(mpi_call *c) {
  int is_ring = c->reduce.model->base.kind == HU_COLLECTIVE_RING;
  size_t bytes = (is_ring ? ring_chunk(c) : BLOCK) * sizeof(uint32_t);
  block b = {.c = c};
  uint8_t *rooms = malloc(3 * bytes);
  if (!rooms) return mpi_no_memory(c);
  b.room = rooms;
  b.message = rooms + bytes;
  b.answer = rooms + 2 * bytes;
  hu_status s = is_ring ? ring(&b) : do_blocks(&b);
  if (s == HU_OK && is_ring) s = gather(&b);
  if (s != HU_E_MPI) free(rooms); /* else messages under way may use them */
  return s;
}
