/* SPDX-License-Identifier: MIT */
/* The way of the model: each rank is a participant and sends, takes and joins sums in the order of collective.h. */
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "mpi/allreduce.h"

enum { BLOCK = 64 * HU_COLLECTIVE_PIECE }; /* elements of a message; of ring it is a chunk */

/* The elements from `first` up to `past`, and this rank's sum of them so far. */
typedef struct sum_block {
  mpi_call *call;
  size_t first, past;
  hu_partial sum;                     /* where this rank's sum lies: its own buffer, or `buffer` */
  uint8_t *buffer, *message, *answer; /* words of 32 bits for each element: any format fits */
} sum_block;

/* Computes a step of the piece that begins with `first`, counted or not: ranks that have the same sum are counted
 * once. */
static hu_step step_of(sum_block *block, size_t first, size_t n, hu_events *events) {
  hu_step step = {&block->call->reduce.model->base, first, n, 0, block->call->reduce.stream, events};
  return step;
}

/* Returns the end of the next piece of the block, which begins with `first`. */
static size_t piece_end(const sum_block *block, size_t first) {
  size_t end = hui_piece_end(&block->call->reduce, first);
  return end < block->past ? end : block->past;
}

static hu_partial part_of(const sum_block *block, hu_partial x, size_t first) {
  x.data = (const uint8_t *)x.data + (first - block->first) * hui_code_bytes(x.format);
  return x;
}

/* Numbers of what travels: a format of the wire, or that of the sum. */
static hu_format wire_format(const sum_block *block, hu_format sum) {
  const hu_collective_base *base = &block->call->reduce.model->base;
  if (base->wired == HU_COLLECTIVE_WIRE_FORMAT) return base->wire;
  return base->wired == HU_COLLECTIVE_WIRE_SCALED ? hu_binary32() : sum;
}

/* This rank's sum as it arrives elsewhere, into z. */
static hu_partial onto_wire(sum_block *block, uint64_t participant, int which, uint8_t *z, hu_events *events) {
  hu_collective_buffer buffer;
  hu_partial wired = {z, wire_format(block, block->sum.format)};
  size_t size = hui_code_bytes(wired.format);
  for (size_t first = block->first, end; first < block->past; first = end) {
    end = piece_end(block, first);
    hu_step step = step_of(block, first, end - first, events);
    hu_partial arrived = hui_step_send(&step, part_of(block, block->sum, first), participant, which, &buffer);
    memcpy(z + (first - block->first) * size, arrived.data, (end - first) * size);
  }
  return wired;
}

/* The sum of p and q, which has arrived from `participant`, into this rank's buffer; p may lie there. */
static void join(sum_block *block, hu_partial partial, hu_partial other, uint64_t participant, hu_events *events) {
  hu_collective_buffer buffer;
  hu_partial sum = {block->buffer, block->call->reduce.model->base.sum};
  size_t size = hui_code_bytes(sum.format);
  for (size_t first = block->first, end; first < block->past; first = end) {
    end = piece_end(block, first);
    hu_step step = step_of(block, first, end - first, events);
    hu_partial joined =
        hui_step_join(&step, part_of(block, partial, first), part_of(block, other, first), participant, &buffer);
    memcpy(block->buffer + (first - block->first) * size, joined.data, (end - first) * size);
  }
  block->sum = sum;
}

/* ---- messages ---- */

static int bytes_of(const sum_block *block, hu_format format) {
  return (int)((block->past - block->first) * hui_code_bytes(format));
}

static hu_status send_to(sum_block *block, int rank, const void *data, hu_format format) {
  MPI_Request request;
  hu_mpi *where = block->call->where;
  hu_status status = mpi_made(
      where, MPI_Isend(data, bytes_of(block, format), MPI_BYTE, rank, HU_MPI_TAG, where->comm, &request), "MPI_Isend");
  return status == HU_OK ? mpi_wait(where, &request, rank, "take a sum") : status;
}

static hu_status take_from(sum_block *block, int rank, void *data, hu_format format) {
  MPI_Request request;
  hu_mpi *where = block->call->where;
  hu_status status = mpi_made(
      where, MPI_Irecv(data, bytes_of(block, format), MPI_BYTE, rank, HU_MPI_TAG, where->comm, &request), "MPI_Irecv");
  return status == HU_OK ? mpi_wait(where, &request, rank, "send a sum") : status;
}

/* x, of the block `out`, goes to one rank while z, of `in`, comes from another. */
static hu_status swap(sum_block *out, int to, hu_partial x, sum_block *in, int from, hu_partial received) {
  hu_mpi *where = out->call->where;
  MPI_Request sent, got;
  hu_status status = mpi_made(where,
                              MPI_Irecv((void *)(uintptr_t)received.data, bytes_of(in, received.format), MPI_BYTE, from,
                                        HU_MPI_TAG, where->comm, &got),
                              "MPI_Irecv");
  if (status == HU_OK)
    status = mpi_made(where, MPI_Isend(x.data, bytes_of(out, x.format), MPI_BYTE, to, HU_MPI_TAG, where->comm, &sent),
                      "MPI_Isend");
  if (status == HU_OK) status = mpi_wait(where, &got, from, "send a sum");
  return status == HU_OK ? mpi_wait(where, &sent, to, "take a sum") : status;
}

/* This rank's sum goes to another one. */
static hu_status give(sum_block *block, int rank) {
  hu_partial wired = onto_wire(block, (uint64_t)block->call->rank, HU_STEP_WIRE, block->message, &block->call->events);
  return send_to(block, rank, wired.data, wired.format);
}

/* The sum of another rank, in format f before its wire, joins this one's. */
static hu_status take(sum_block *block, int rank, hu_format format) {
  hu_partial partial = {block->message, wire_format(block, format)};
  hu_status status = take_from(block, rank, block->message, partial.format);
  if (status == HU_OK) join(block, block->sum, partial, (uint64_t)rank, &block->call->events);
  return status;
}

/* What a rank holds before and after its first join. */
static hu_format own_format(const sum_block *block) { return block->call->reduce.format; }
static hu_format sum_format(const sum_block *block) { return block->call->reduce.model->base.sum; }

/* ---- tree and pairwise: the sum ends up on rank 0 ---- */

static hu_status tree(sum_block *block) {
  int rank = block->call->rank, size = block->call->size;
  for (int step = 1; step < size; step *= 2) {
    if (rank & step) return give(block, rank - step);
    if (rank + step >= size) continue;
    hu_status status =
        take(block, rank + step, rank + step + 1 < size && step > 1 ? sum_format(block) : own_format(block));
    if (status != HU_OK) return status;
  }
  return HU_OK;
}

/* Ranks low to past - 1, of which this is one. */
static hu_status pairwise(sum_block *block, int low, int past) {
  int rank = block->call->rank, middle = low + (past - low + 1) / 2;
  if (past - low == 1) return HU_OK;
  hu_status status = rank < middle ? pairwise(block, low, middle) : pairwise(block, middle, past);
  if (status != HU_OK) return status;
  if (rank == low) return take(block, middle, past - middle > 1 ? sum_format(block) : own_format(block));
  return rank == middle ? give(block, low) : HU_OK;
}

/* ---- doubling ---- */

/* Both send; both join the sum of the lower numbers, p, and that of the higher ones, q, which has the roundings. Of the
 * ranks that hold the same sum the first counts. */
static hu_status exchange(sum_block *block, int other, hu_format format, int low, int high, int is_low) {
  hu_events none = {0};
  int rank = block->call->rank, counts = rank == (is_low ? low : high);
  hu_partial mine = onto_wire(block, (uint64_t)high, is_low ? HU_STEP_OTHER_WIRE : HU_STEP_WIRE, block->message,
                              counts ? &block->call->events : &none);
  hu_partial theirs = {block->answer, wire_format(block, format)};
  hu_status status = swap(block, other, mine, block, other, theirs);
  if (status == HU_OK)
    join(block, is_low ? mine : theirs, is_low ? theirs : mine, (uint64_t)high,
         rank == low ? &block->call->events : &none);
  return status;
}

/* The rank of number i of the power of two that is left: `extra` of them have taken in their neighbour. */
static int rank_of(int i, int extra) { return i < extra ? 2 * i : extra + i; }

/* Returns the format of number i's sum before the round of `step`: F once it has been joined. */
static hu_format format_before(const sum_block *block, int i, int step, int extra) {
  return step > 1 || i < extra ? sum_format(block) : own_format(block);
}

static int power_below(int size) {
  int power = 1;
  while (power <= size / 2) power *= 2;
  return power;
}

static hu_status doubling(sum_block *block) {
  int rank = block->call->rank, power = power_below(block->call->size), extra = block->call->size - power;
  int beside = rank < 2 * extra, i = beside ? rank / 2 : rank - extra;
  if (beside && rank % 2) return give(block, rank - 1);
  hu_status status = beside ? take(block, rank + 1, own_format(block)) : HU_OK;
  for (int step = 1; step < power && status == HU_OK; step *= 2) {
    int first = i & ~(2 * step - 1), low = rank_of(first, extra), high = rank_of(first + step, extra), j = i ^ step;
    status = exchange(block, rank_of(j, extra), format_before(block, j, step, extra), low, high, !(i & step));
  }
  return status;
}

/* ---- the last sum ---- */

/* Writes what all ranks have into their buffers; rank 0 counts. */
static void finish(sum_block *block, hu_partial x) {
  hu_events none = {0};
  for (size_t first = block->first, end; first < block->past; first = end) {
    end = piece_end(block, first);
    hui_piece_finish(&block->call->reduce, first, end - first, part_of(block, x, first),
                     block->call->rank ? &none : &block->call->events);
  }
}

/* Sends the sum of rank `root`, once more through the wire, to all. */
static hu_status spread(sum_block *block, int root) {
  hu_mpi *where = block->call->where;
  MPI_Request request;
  hu_partial wired = {block->message, wire_format(block, sum_format(block))};
  if (block->call->rank == root) onto_wire(block, 0, HU_STEP_LAST_WIRE, block->message, &block->call->events);
  int code = MPI_Ibcast(block->message, bytes_of(block, wired.format), MPI_BYTE, root, where->comm, &request);
  hu_status status = mpi_made(where, code, "MPI_Ibcast");
  if (status == HU_OK) status = mpi_wait(where, &request, root, "send the last sum");
  if (status == HU_OK) finish(block, wired);
  return status;
}

/* All but the neighbours that were taken in hold the sum: these get it, if there are any, through the wire. */
static hu_status spread_doubled(sum_block *block) {
  hu_events none = {0};
  int rank = block->call->rank, extra = block->call->size - power_below(block->call->size), beside = rank < 2 * extra;
  hu_partial x = {block->message, wire_format(block, sum_format(block))};
  hu_status status = HU_OK;
  if (!extra) {
    x = block->sum;
  } else if (beside && rank % 2) {
    status = take_from(block, rank - 1, block->message, x.format);
  } else {
    onto_wire(block, 0, HU_STEP_LAST_WIRE, block->message, rank ? &none : &block->call->events);
    if (beside) status = send_to(block, rank + 1, block->message, x.format);
  }
  if (status == HU_OK) finish(block, x);
  return status;
}

/* ---- ring ---- */

static void at_chunk(sum_block *block, size_t chunk) {
  size_t n = block->call->reduce.n, count = block->call->reduce.ranks;
  block->first = hui_chunk_first(chunk, n, count);
  block->past = hui_chunk_first(chunk + 1, n, count);
}

static hu_partial own_numbers(const sum_block *block) {
  const hu_collective_call *call = &block->call->reduce;
  hu_partial x = {call->x[0] + block->first * call->size, call->format};
  return x;
}

/* In round t this rank sends chunk rank - t + 1, the sum that it has so far, and takes chunk rank - t. */
static hu_status ring(sum_block *block) {
  size_t size = (size_t)block->call->size, rank = (size_t)block->call->rank;
  int next = (int)((rank + 1) % size), before = (int)((rank + size - 1) % size);
  hu_status status = HU_OK;
  at_chunk(block, rank);
  block->sum = own_numbers(block);
  for (size_t round = 1; round < size && status == HU_OK; round++) {
    sum_block out = *block;
    hu_partial mine = onto_wire(&out, rank, HU_STEP_WIRE, block->message, &block->call->events);
    at_chunk(block, (rank + size - round) % size);
    hu_partial theirs = {block->answer, wire_format(block, round == 1 ? own_format(block) : sum_format(block))};
    status = swap(&out, next, mine, block, before, theirs);
    if (status == HU_OK) join(block, own_numbers(block), theirs, (uint64_t)before, &block->call->events);
  }
  return status;
}

/* Returns the participant before c, on which chunk c ends. */
static hu_status gather(sum_block *block) {
  size_t size = (size_t)block->call->size;
  hu_status status = HU_OK;
  for (size_t c = 0; c < size && status == HU_OK; c++) {
    sum_block chunk = *block;
    at_chunk(&chunk, c);
    status = spread(&chunk, (int)((c + size - 1) % size));
  }
  return status;
}

/* ---- the call ---- */

/* Returns the most elements of a chunk; a message counts its bytes as int. */
static size_t ring_chunk(const mpi_call *call) { return call->reduce.n / call->reduce.ranks + 1; }

int mpi_can_follow(const mpi_call *call) {
  if (call->where->way == HU_MPI_SEGMENTS || call->reduce.model->group || call->size == 1) return 0;
  for (int rank = 0; rank < call->size; rank++) {
    if (call->owns[rank] != 1) return 0;
  }
  if (call->reduce.model->base.kind == HU_COLLECTIVE_RING && ring_chunk(call) > INT32_MAX / sizeof(uint32_t)) return 0;
  int kind = call->reduce.model->base.kind;
  return kind != HU_COLLECTIVE_EXACT && kind != HU_COLLECTIVE_DIRECT && kind != HU_COLLECTIVE_SWITCH;
}

static hu_status do_block(sum_block *block) {
  int kind = block->call->reduce.model->base.kind;
  block->sum = own_numbers(block);
  if (kind == HU_COLLECTIVE_DOUBLING) {
    hu_status status = doubling(block);
    return status == HU_OK ? spread_doubled(block) : status;
  }
  hu_status status = kind == HU_COLLECTIVE_TREE ? tree(block) : pairwise(block, 0, block->call->size);
  return status == HU_OK ? spread(block, 0) : status;
}

static hu_status do_blocks(sum_block *block) {
  hu_status status = HU_OK;
  for (size_t first = 0; first < block->call->reduce.n && status == HU_OK; first += BLOCK) {
    block->first = first;
    block->past = block->call->reduce.n - first < BLOCK ? block->call->reduce.n : first + BLOCK;
    status = do_block(block);
  }
  return status;
}

hu_status mpi_follow_model(mpi_call *call) {
  int is_ring = call->reduce.model->base.kind == HU_COLLECTIVE_RING;
  size_t bytes = (is_ring ? ring_chunk(call) : BLOCK) * sizeof(uint32_t);
  sum_block block = {.call = call};
  uint8_t *buffers = malloc(3 * bytes);
  if (!buffers) return mpi_no_memory(call);
  block.buffer = buffers;
  block.message = buffers + bytes;
  block.answer = buffers + 2 * bytes;
  hu_status status = is_ring ? ring(&block) : do_blocks(&block);
  if (status == HU_OK && is_ring) status = gather(&block);
  if (status != HU_E_MPI) free(buffers); /* else messages that are not finished may use them */
  return status;
}
