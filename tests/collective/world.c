/* SPDX-License-Identifier: MIT */
/* The participants of an all-reduce, which send each other messages step by step, as halfulp/collective.h says. */
#include "tests/collective/world.h"

#include <stdlib.h>
#include <string.h>

#include "halfulp/arith.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"

/* The participants of a base: number i is participant first + i step. */
typedef struct members {
  const hu_collective_base *base;
  size_t first, step, count;
  uint64_t k; /* 1: the second base of hierarchical */
} members;

static t_held *held_at(const t_world *world, const members *m, size_t number) {
  return world->at + (m->first + number * m->step) * world->n;
}

static hu_stream words(const t_world *world, const members *m, size_t number, int j) {
  uint64_t b = m->first + number * m->step, r = 4 * (b + m->k * world->ranks) + (uint64_t)j;
  hu_stream stream = {world->stream.key + (r + 1) * 0x9E3779B97F4A7C15u, world->stream.counter};
  return stream;
}

static uint32_t random_of(hu_stream stream, size_t i, hu_mode mode) {
  return mode.bits ? hu_stream_word(stream, i) >> (32 - mode.bits) : 0;
}

/* ---- messages ---- */

/* Where element i's chunk of a ring or a direct over `count` ends. */
static size_t chunk_end(size_t n, size_t count, size_t i) {
  size_t end = 0;
  for (size_t c = 0; c < count; c++) {
    end += n / count + (c < n % count);
    if (i < end) return end;
  }
  return n;
}

static int has_chunks(const hu_collective_base *base) {
  return base->kind == HU_COLLECTIVE_RING || base->kind == HU_COLLECTIVE_DIRECT;
}

static size_t piece_end(const t_world *world, size_t i) {
  const hu_collective *m = world->model;
  size_t end = i;
  do end++;
  while (end < world->n && end % HU_COLLECTIVE_PIECE);
  size_t group = m->group && m->group < world->ranks ? m->group : world->ranks, rings[3] = {0, 0, 0};
  if (has_chunks(&m->base)) {
    rings[0] = group;
    rings[1] = world->ranks % group;
  }
  if (m->group && has_chunks(&m->outer)) rings[2] = (world->ranks + group - 1) / group;
  for (int k = 0; k < 3; k++)
    if (rings[k] > 1 && chunk_end(world->n, rings[k], i) < end) end = chunk_end(world->n, rings[k], i);
  return end;
}

/* Elements first to past - 1 of x, the sum of `number`, as they arrive. */
static void sent(t_world *world, const members *m, t_held *z, const t_held *x, size_t first, size_t past, size_t number,
                 int j) {
  hu_mode mode = m->base->mode;
  hu_stream stream = words(world, m, number, j);
  mode.saturate = HU_SAT_DEFAULT;
  for (size_t i = first; i < past; i++) {
    z[i] = x[i];
    if (m->base->wired != HU_COLLECTIVE_WIRE_FORMAT) continue;
    uint32_t set;
    z[i].code = hu_convert(m->base->wire, mode, x[i].format, x[i].code, random_of(stream, i, mode), &set);
    z[i].format = m->base->wire;
    hu_events_count(&world->events, set);
  }
  if (m->base->wired != HU_COLLECTIVE_WIRE_SCALED) return;
  for (size_t i = first, end; i < past; i = end) {
    float row[HU_COLLECTIVE_PIECE];
    hu_exec exec = {0, 0, {stream.key, stream.counter + i}, {0}};
    end = piece_end(world, i);
    for (size_t k = i; k < end; k++) row[k - i] = (float)hu_decode64(x[k].format, x[k].code);
    assert_int_equal(hu_scaled_quantize(1, end - i, row, end - i, row, end - i, &m->base->scaling, mode, NULL, NULL,
                                        &exec, &world->events),
                     HU_OK);
    for (size_t k = i; k < end; k++) {
      z[k].code = t_bits32(row[k - i]);
      z[k].format = hu_binary32();
    }
  }
}

static t_held added(t_world *world, const members *m, t_held held, t_held q, size_t i, size_t number) {
  t_held z = {0, m->base->sum};
  uint32_t set;
  z.code = hu_add(z.format, m->base->mode, held.format, held.code, q.format, q.code,
                  random_of(words(world, m, number, 2), i, m->base->mode), &set);
  hu_events_count(&world->events, set);
  return z;
}

/* ---- algorithms ---- */

/* The sum of number `from` goes into that of number `to`. */
static void send_into(t_world *world, const members *m, size_t to, size_t from) {
  t_held *held = held_at(world, m, to), *q = calloc(world->n, sizeof *q);
  sent(world, m, q, held_at(world, m, from), 0, world->n, from, 0);
  for (size_t i = 0; i < world->n; i++) held[i] = added(world, m, held[i], q[i], i, from);
  free(q);
}

/* Elements of number `from` to everybody. */
static void send_to_all(t_world *world, const members *m, size_t from, size_t first, size_t past) {
  t_held *x = calloc(world->n, sizeof *x);
  sent(world, m, x, held_at(world, m, from), first, past, 0, 3);
  for (size_t r = 0; r < m->count; r++)
    for (size_t i = first; i < past; i++) held_at(world, m, r)[i] = x[i];
  free(x);
}

static void pairwise(t_world *world, const members *m, size_t l, size_t h) {
  if (h - l < 2) return;
  size_t middle = l + (h - l + 1) / 2;
  pairwise(world, m, l, middle);
  pairwise(world, m, middle, h);
  send_into(world, m, l, middle);
}

static void tree(t_world *world, const members *m) {
  for (size_t s = 1; s < m->count; s *= 2)
    for (size_t r = 0; r + s < m->count; r += 2 * s) send_into(world, m, r, r + s);
}

/* Reduce-scatter: in step s participant r sends chunk r - s to its neighbour. Then everybody gets every chunk. */
static void ring(t_world *world, const members *m) {
  size_t count = m->count, first[T_RANKS_MAX + 1] = {0};
  t_held *messages = calloc(count * world->n, sizeof *messages);
  for (size_t c = 0; c < count; c++) first[c + 1] = first[c] + world->n / count + (c < world->n % count);
  for (size_t s = 0; s + 1 < count; s++) {
    for (size_t r = 0; r < count; r++) {
      size_t c = (r + count - s) % count;
      sent(world, m, messages + r * world->n, held_at(world, m, r), first[c], first[c + 1], r, 0);
    }
    for (size_t r = 0; r < count; r++) {
      size_t from = (r + count - 1) % count, c = (from + count - s) % count;
      t_held *own = held_at(world, m, r);
      for (size_t i = first[c]; i < first[c + 1]; i++)
        own[i] = added(world, m, own[i], messages[from * world->n + i], i, from);
    }
  }
  for (size_t r = 0; r < count; r++) send_to_all(world, m, r, first[(r + 1) % count], first[(r + 1) % count + 1]);
  free(messages);
}

/* Two exchange their sums and must make the same one of them; `number` is the lowest that holds the higher one's. */
static void exchange(t_world *world, const members *m, size_t low, size_t high, size_t number, int first) {
  t_held *held = calloc(world->n, sizeof *held), *q = calloc(world->n, sizeof *q), *x = held_at(world, m, low),
         *y = held_at(world, m, high);
  hu_events before = world->events, after;
  sent(world, m, held, x, 0, world->n, number, 1);
  sent(world, m, q, y, 0, world->n, number, 0);
  for (size_t i = 0; i < world->n; i++) x[i] = added(world, m, held[i], q[i], i, number);
  after = world->events;
  for (size_t i = 0; i < world->n; i++) {
    y[i] = added(world, m, q[i], held[i], i, number);
    assert_int_equal(x[i].code, y[i].code);
  }
  world->events = first ? after : before; /* of each sum once */
  free(held);
  free(q);
}

static void doubling(t_world *world, const members *m) {
  size_t power = 1, number[T_RANKS_MAX];
  while (2 * power <= m->count) power *= 2;
  size_t extra = m->count - power;
  for (size_t i = 0; i < power; i++) number[i] = i < extra ? 2 * i : extra + i;
  for (size_t i = 0; i < extra; i++) send_into(world, m, 2 * i, 2 * i + 1);
  for (size_t s = 1; s < power; s *= 2)
    for (size_t i = 0; i < power; i++)
      if (!(i & s)) exchange(world, m, number[i], number[i ^ s], number[(i ^ s) / s * s], i % (2 * s) == 0);
  if (extra) send_to_all(world, m, 0, 0, world->n);
}

/* Two shots: what arrives at the owner of a chunk, from itself, too, is added in order. */
static void direct(t_world *world, const members *m) {
  size_t first = 0;
  t_held *sum = calloc(world->n, sizeof *sum), *q = calloc(world->n, sizeof *q);
  for (size_t owner = 0; owner < m->count; owner++) {
    size_t past = first + world->n / m->count + (owner < world->n % m->count);
    sent(world, m, sum, held_at(world, m, 0), first, past, 0, 0);
    for (size_t r = 1; r < m->count; r++) {
      sent(world, m, q, held_at(world, m, r), first, past, r, 0);
      for (size_t i = first; i < past; i++) sum[i] = added(world, m, sum[i], q[i], i, r);
    }
    for (size_t i = first; i < past; i++) held_at(world, m, owner)[i] = sum[i];
    send_to_all(world, m, owner, first, past);
    first = past;
  }
  free(sum);
  free(q);
}

/* One sum of all that arrives, rounded once, which is sent to all. */
static void in_switch(t_world *world, const members *m) {
  t_held *q = calloc(m->count * world->n, sizeof *q);
  hu_mode mode = m->base->mode;
  for (size_t r = 0; r < m->count; r++) sent(world, m, q + r * world->n, held_at(world, m, r), 0, world->n, r, 0);
  for (size_t i = 0; i < world->n; i++) {
    hu_sum sum = {{0}, 0, 0};
    t_held z = {0, m->base->sum};
    uint32_t set;
    for (size_t r = m->count; r-- > 0;) hu_sum_add(&sum, q[r * world->n + i].format, q[r * world->n + i].code);
    z.code = hu_sum_round(&sum, z.format, mode, random_of(words(world, m, 0, 2), i, mode), &set);
    hu_events_count(&world->events, set);
    held_at(world, m, 0)[i] = z;
  }
  send_to_all(world, m, 0, 0, world->n);
  free(q);
}

static void exact(t_world *world, const members *m) {
  for (size_t i = 0; i < world->n; i++) {
    hu_sum sum = {{0}, 0, 0};
    t_held z = {0, world->format};
    uint32_t set;
    for (size_t r = 0; r < m->count; r++)
      hu_sum_add(&sum, held_at(world, m, r)[i].format, held_at(world, m, r)[i].code);
    z.code = hu_sum_round(&sum, world->format, world->mode, random_of(world->stream, i, world->mode), &set);
    hu_events_count(&world->events, set);
    for (size_t r = 0; r < m->count; r++) held_at(world, m, r)[i] = z;
  }
}

static void all_reduce(t_world *world, const members *m) {
  if (m->base->kind == HU_COLLECTIVE_EXACT) {
    exact(world, m);
    return;
  }
  if (m->count == 1) return;
  switch (m->base->kind) {
    case HU_COLLECTIVE_PAIRWISE:
      pairwise(world, m, 0, m->count);
      send_to_all(world, m, 0, 0, world->n);
      break;
    case HU_COLLECTIVE_TREE:
      tree(world, m);
      send_to_all(world, m, 0, 0, world->n);
      break;
    case HU_COLLECTIVE_RING: ring(world, m); break;
    case HU_COLLECTIVE_DIRECT: direct(world, m); break;
    case HU_COLLECTIVE_SWITCH: in_switch(world, m); break;
    default: doubling(world, m); break;
  }
}

void t_run_world(t_world *world) {
  const hu_collective *model = world->model;
  size_t group = model->group ? model->group : world->ranks;
  for (size_t first = 0; first < world->ranks; first += group) {
    members m = {&model->base, first, 1, world->ranks - first < group ? world->ranks - first : group, 0};
    all_reduce(world, &m);
  }
  if (!model->group) return;
  members leaders = {&model->outer, 0, group, (world->ranks + group - 1) / group, 1};
  all_reduce(world, &leaders);
  for (size_t r = 0; r < world->ranks; r++) /* the leader tells its group */
    memmove(world->at + r * world->n, world->at + r / group * group * world->n, world->n * sizeof *world->at);
}

uint32_t t_stored(t_world *world, t_held x, size_t i) {
  uint32_t set;
  hu_mode plain = {0};
  if (hu_format_equal(x.format, world->format)) return hu_convert(world->format, plain, x.format, x.code, 0, &set);
  uint32_t code =
      hu_convert(world->format, world->mode, x.format, x.code, random_of(world->stream, i, world->mode), &set);
  hu_events_count(&world->events, set);
  return code;
}
