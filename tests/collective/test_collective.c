/* SPDX-License-Identifier: MIT */
/* hu_collective_reduce against participants that send each other messages, step by step, as halfulp/collective.h says:
 * every participant must end with the same numbers, which are those of the call. And the texts of models. */
#define _GNU_SOURCE /* sigaction, setitimer */
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include "halfulp/arith.h"
#include "halfulp/collective.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "halfulp/scalar.h"
#include "tests/support/cmocka.h"
#include "tests/support/random.h"
#include "tests/support/support.h"

enum { RANKS = 21, N = 1400 };

/* A number as a participant holds it. */
typedef struct t_held {
  uint32_t code;
  hu_format format;
} t_held;

typedef struct t_world {
  size_t ranks, n;
  hu_format format;
  hu_mode mode;
  const hu_collective *model;
  hu_stream stream;
  hu_events events;
  t_held *at; /* participant r's element i: at[r n + i] */
} t_world;

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
  size_t count = m->count, first[RANKS + 1] = {0};
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
  size_t power = 1, number[RANKS];
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

static void run_world(t_world *world) {
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

/* The number as a code of the buffers' format. */
static uint32_t stored(t_world *world, t_held x, size_t i) {
  uint32_t set;
  hu_mode plain = {0};
  if (hu_format_equal(x.format, world->format)) return hu_convert(world->format, plain, x.format, x.code, 0, &set);
  uint32_t code =
      hu_convert(world->format, world->mode, x.format, x.code, random_of(world->stream, i, world->mode), &set);
  hu_events_count(&world->events, set);
  return code;
}

/* ---- cases ---- */

static hu_format random_wide(t_random *random) {
  const hu_format some[] = {hu_binary32(), hu_bfloat16(), hu_binary16(), hu_float8_e5m2(), hu_float8_e4m3fn()};
  return some[t_below(random, sizeof some / sizeof *some)];
}

static hu_collective_base random_base(t_random *random, int scaled) {
  hu_collective_base b;
  memset(&b, 0, sizeof b);
  b.kind = (uint8_t)t_below(random, HU_COLLECTIVE_COUNT);
  if (b.kind == HU_COLLECTIVE_EXACT) return b;
  b.sum = scaled || t_below(random, 2) ? random_wide(random) : t_random_format(random, 3, 32);
  if (t_below(random, 2))
    b.mode = t_below(random, 2) ? t_mode(t_below(random, T_DETERMINISTIC))
                                : t_stochastic(HU_SRA + t_below(random, 3), 1 + t_below(random, 32));
  b.mode.saturate = (uint8_t)(t_below(random, 3) ? 0 : t_below(random, 4));
  if (scaled) {
    b.wired = HU_COLLECTIVE_WIRE_SCALED;
    assert_int_equal(
        hu_scaling_parse(&b.scaling, hu_scaling_at(t_below(random, (uint32_t)hu_scaling_count())).name, NULL), HU_OK);
  } else if (t_below(random, 2)) {
    b.wired = HU_COLLECTIVE_WIRE_FORMAT;
    b.wire = t_below(random, 2) ? random_wide(random) : t_random_format(random, 2, 16);
  }
  return b;
}

static hu_collective random_model(t_random *random, int scaled) {
  hu_collective m;
  memset(&m, 0, sizeof m);
  m.base = random_base(random, scaled);
  if (t_below(random, 3)) return m;
  m.group = 1 + t_below(random, 9);
  m.outer = random_base(random, scaled);
  return m;
}

static uint32_t random_number(t_random *random, hu_format format) {
  hu_mode mode = {0};
  double x = t_below(random, 30) ? (double)t_between(random, -4000, 4000) / (double)(1 + t_below(random, 512))
                                 : t_random_operand(random, format);
  return hu_encode64(format, mode, x, 0, NULL);
}

static void check_case(t_random *random, int scaled) {
  hu_collective model = random_model(random, scaled);
  t_world world;
  memset(&world, 0, sizeof world);
  world.ranks = 1 + t_below(random, RANKS);
  world.n = 1 + t_below(random, t_below(random, 4) ? 40 : N);
  world.format = scaled || t_below(random, 2) ? random_wide(random) : t_random_format(random, 3, 32);
  world.mode = t_random_mode(random);
  world.model = &model;
  world.stream.key = t_next64(random);
  world.stream.counter = t_next64(random);
  size_t size = hu_limits_of(world.format).storage / 8;
  world.at = calloc(world.ranks * world.n, sizeof *world.at);
  uint8_t *buffers = calloc(world.ranks * world.n, size);
  const void *x[RANKS];
  for (size_t i = 0; i < world.ranks * world.n; i++) {
    world.at[i].format = world.format;
    world.at[i].code = random_number(random, world.format);
    t_put(buffers, size, (ptrdiff_t)i, world.at[i].code);
  }
  for (size_t k = 0; k < world.ranks; k++) x[k] = buffers + k * world.n * size;
  run_world(&world);
  hu_exec exec = {1 + t_below(random, 4), t_below(random, 2) ? UINT32_MAX : 0, world.stream, {0}};
  hu_events events = {0};
  uint8_t *z =
      t_below(random, 2) ? buffers + t_below(random, (uint32_t)world.ranks) * world.n * size : calloc(world.n, size);
  assert_int_equal(
      hu_collective_reduce(world.ranks, world.n, z, world.format, x, &model, &(hu_how){world.mode, &exec, &events}),
      HU_OK);
  char text[HU_COLLECTIVE_TEXT_MAX];
  (void)hu_collective_text(text, sizeof text, &model);
  for (size_t i = 0; i < world.n; i++) {
    for (size_t k = 1; k < world.ranks; k++) assert_int_equal(world.at[k * world.n + i].code, world.at[i].code);
    uint32_t expected = stored(&world, world.at[i], i), got = t_get(z, size, (ptrdiff_t)i);
    if (got != expected)
      fail_msg("%s, %zu participants, element %zu of %zu: 0x%x, not 0x%x", text, world.ranks, i, world.n, got,
               expected);
  }
  if (!t_same_events(&events, &world.events))
    fail_msg("%s, %zu participants, %zu elements: events", text, world.ranks, world.n);
  ;
  if (z < buffers || z >= buffers + world.ranks * world.n * size) free(z);
  free(buffers);
  free(world.at);
}

static void test_messages(void **state) {
  t_random random = {t_seed("collective", 1)};
  (void)state;
  for (unsigned i = 0; i < t_runs(1500); i++) check_case(&random, 0);
}

static void test_scaled_messages(void **state) {
  t_random random = {t_seed("collective scaled", 2)};
  (void)state;
  for (unsigned i = 0; i < t_runs(600); i++) check_case(&random, 1);
}

/* Exact sums of binary32 numbers: as binary64 numbers where these hold them, and by the core. Exponents near each other
 * and far apart, numbers that cancel, halves between neighbours, zeros, subnormal numbers, the ends of the range. */
static float addend(t_random *random, unsigned spread, float last) {
  uint32_t sign = t_next32(random) & 0x80000000, digits = t_next32(random) & 0x7FFFFF;
  switch (t_below(random, 12)) {
    case 0: return -last;
    case 1: return t_float(sign | (t_below(random, 4) ? 0 : t_next32(random) & 7));
    case 2: return t_float(sign | 0x3F800000);
    case 3: return t_float(sign | (127 - 24) << 23);
    case 4: return t_below(random, 40) ? last : t_float(sign | 0x7F000000 | digits | t_below(random, 2) << 23);
    case 5: return t_float(sign | (t_below(random, 2) ? 0x00800000 : 0x00000000) | digits >> t_below(random, 24));
    default: return t_float(sign | (127 - t_below(random, spread)) << 23 | digits);
  }
}

static void test_quick(void **state) {
  enum { LONG = 3 * HU_COLLECTIVE_PIECE + 5 };
  static float x[RANKS][LONG], z[2][LONG];
  static const int directions[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  t_random random = {t_seed("collective quick", 5)};
  const hu_mode rne = {0};
  hu_collective exactly;
  (void)state;
  memset(&exactly, 0, sizeof exactly);
  for (unsigned i = 0; i < t_part(240); i++) {
    size_t ranks = 1 + i % RANKS;
    unsigned spread = i % 3 == 0 ? 1 + t_below(&random, 6) : i % 3 == 1 ? 30 : 126;
    const void *rows[RANKS];
    hu_events events[2] = {{0}, {0}};
    for (size_t k = 0; k < ranks; k++) {
      rows[k] = x[k];
      for (size_t j = 0; j < LONG; j++) x[k][j] = addend(&random, spread, k ? x[k - 1][j] : 1);
    }
    fesetround(directions[t_below(&random, 4)]);
    for (int core = 0; core < 2; core++) {
      hu_exec exec = {1 + t_below(&random, 3), core ? UINT32_MAX : 0, {0, 0}, {0}};
      assert_int_equal(hu_collective_reduce(ranks, LONG, z[core], hu_binary32(), rows, &exactly,
                                            &(hu_how){rne, &exec, &events[core]}),
                       HU_OK);
    }
    fesetround(FE_TONEAREST);
    assert_memory_equal(z[0], z[1], sizeof z[0]);
    assert_true(t_same_events(&events[0], &events[1]));
  }
}

/* A buffer in parts is the whole buffer. */
static void test_parts(void **state) {
  enum { RANKS_HERE = 5, LONG = 4 * HU_COLLECTIVE_PIECE + 77 };
  t_random random = {t_seed("collective parts", 4)};
  (void)state;
  for (unsigned i = 0; i < t_part(60); i++) {
    hu_collective model = random_model(&random, (int)t_below(&random, 2));
    hu_mode mode = t_random_mode(&random);
    hu_exec exec = {1 + t_below(&random, 3), 0, {t_next64(&random), t_next64(&random)}, {0}};
    static float x[RANKS_HERE][LONG], z[LONG], whole[LONG];
    const void *rows[RANKS_HERE], *rest[RANKS_HERE];
    hu_events events = {0}, expected = {0};
    size_t first = (1 + t_below(&random, 4)) * HU_COLLECTIVE_PIECE;
    for (size_t k = 0; k < RANKS_HERE; k++) {
      for (size_t j = 0; j < LONG; j++) x[k][j] = t_float(random_number(&random, hu_binary32()));
      rows[k] = x[k];
      rest[k] = x[k] + first;
    }
    assert_int_equal(
        hu_collective_reduce(RANKS_HERE, LONG, whole, hu_binary32(), rows, &model, &(hu_how){mode, &exec, &expected}),
        HU_OK);
    assert_int_equal(hu_collective_reduce_part(RANKS_HERE, LONG, 0, first, z, hu_binary32(), rows, &model,
                                               &(hu_how){mode, &exec, &events}),
                     HU_OK);
    assert_int_equal(hu_collective_reduce_part(RANKS_HERE, LONG, first, LONG - first, z + first, hu_binary32(), rest,
                                               &model, &(hu_how){mode, &exec, &events}),
                     HU_OK);
    assert_memory_equal(z, whole, sizeof z);
    assert_true(t_same_events(&events, &expected));
    assert_int_equal(
        hu_collective_reduce_part(RANKS_HERE, LONG, 1, 5, z, hu_binary32(), rows, &model, &(hu_how){mode, &exec, NULL}),
        HU_E_SHAPE);
    assert_int_equal(
        hu_collective_reduce_part(RANKS_HERE, LONG, 0, 5, z, hu_binary32(), rows, &model, &(hu_how){mode, &exec, NULL}),
        HU_E_SHAPE);
    assert_int_equal(hu_collective_reduce_part(RANKS_HERE, LONG, first, LONG, z, hu_binary32(), rows, &model,
                                               &(hu_how){mode, &exec, NULL}),
                     HU_E_SHAPE);
  }
}

/* ---- texts ---- */

static void test_texts(void **state) {
  t_random random = {t_seed("collective texts", 3)};
  (void)state;
  for (unsigned i = 0; i < t_part(3000); i++) {
    hu_collective m = random_model(&random, (int)t_below(&random, 2)), back;
    char text[HU_COLLECTIVE_TEXT_MAX], cut[HU_COLLECTIVE_TEXT_MAX];
    size_t n = hu_collective_text(text, sizeof text, &m), where = 0;
    assert_true(n > 0 && n < sizeof text);
    assert_int_equal(hu_collective_parse(&back, text, &where), HU_OK);
    assert_memory_equal(&back, &m, sizeof m);
    memcpy(cut, text, n + 1);
    cut[t_below(&random, (uint32_t)n)] = "(),=x0"[t_below(&random, 6)];
    if (hu_collective_parse(&back, cut, &where) == HU_OK) {
      assert_int_equal(hu_collective_check(&back), HU_OK);
    } else {
      assert_true(where <= n);
    }
  }
}

static void test_wrong_texts(void **state) {
  static const struct {
    const char *text;
    hu_status status;
    size_t where;
  } wrong[] = {{"", HU_E_TEXT, 0},
               {"rung(bfloat16)", HU_E_NAME, 0},
               {"ring", HU_E_TEXT, 4},
               {"ring(", HU_E_TEXT, 5},
               {"ring(bfloat17)", HU_E_NAME, 5},
               {"ring(bfloat16", HU_E_TEXT, 13},
               {"ring(bfloat16,up)", HU_E_TEXT, 14},
               {"ring(bfloat16,sat=finite,rne)", HU_E_TEXT, 25},
               {"ring(bfloat16,wire=bfloat17)", HU_E_NAME, 19},
               {"ring(bfloat16,wire=mxfp8_e4m3,rne)", HU_E_NAME, 19},
               {"ring(fp(11,20,0),wire=mxfp8_e4m3)", HU_E_CARRIER, 0},
               {"switch", HU_E_TEXT, 6},
               {"direct(fp(11,20,0),wire=nvfp4)", HU_E_CARRIER, 0},
               {"exact(bfloat16)", HU_E_NAME, 0},
               {"exact ", HU_E_NAME, 0},
               {"hierarchical(0,exact,exact)", HU_E_TEXT, 13},
               {"hierarchical(4,exact)", HU_E_TEXT, 20},
               {"hierarchical(4,hierarchical(2,exact,exact),exact)", HU_E_NAME, 15},
               {"hierarchical(4,ring(bfloat16),tree(binary32)", HU_E_TEXT, 44}};
  hu_collective m, before;
  (void)state;
  t_fill_pattern(&before, sizeof before);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    size_t where = 999;
    m = before;
    hu_status status = hu_collective_parse(&m, wrong[i].text, &where);
    if (status != wrong[i].status || where != wrong[i].where)
      fail_msg("%s: %s at %zu", wrong[i].text, hu_status_name(status), where);
    assert_memory_equal(&m, &before, sizeof m);
  }
  assert_int_equal(hu_collective_parse(NULL, "exact", NULL), HU_E_NULL);
  assert_int_equal(hu_collective_parse(&m, NULL, NULL), HU_E_NULL);
}

static void test_errors(void **state) {
  float x[4] = {1, 2, 3, 4}, z[2];
  const void *rows[2] = {x, x + 2}, *missing[2] = {x, NULL}, *odd[2] = {x, (const uint8_t *)x + 2};
  hu_format format = hu_binary32(), wrong = format;
  hu_mode none = {.round = 77};
  hu_collective exact, ring, bad;
  (void)state;
  memset(&exact, 0, sizeof exact);
  assert_int_equal(hu_collective_parse(&ring, "ring(bfloat16,wire=mxfp8_e4m3)", NULL), HU_OK);
  wrong.e = 99;
  assert_int_equal(hu_collective_reduce(0, 2, z, format, rows, &exact, NULL), HU_E_SHAPE);
  assert_int_equal(hu_collective_reduce((size_t)1 << 25, 2, z, format, rows, &exact, NULL), HU_E_SHAPE);
  assert_int_equal(hu_collective_reduce(2, 2, z, format, NULL, &exact, NULL), HU_E_NULL);
  assert_int_equal(hu_collective_reduce(2, 2, z, format, missing, &exact, NULL), HU_E_NULL);
  assert_int_equal(hu_collective_reduce(2, 2, z, format, odd, &exact, NULL), HU_E_ALIGN);
  assert_int_equal(hu_collective_reduce(2, 2, NULL, format, rows, &exact, NULL), HU_E_NULL);
  assert_int_equal(hu_collective_reduce(2, 2, x + 1, format, rows, &exact, NULL), HU_E_OVERLAP);
  assert_int_equal(hu_collective_reduce(2, 2, z, format, rows, NULL, NULL), HU_E_NULL);
  assert_int_equal(hu_collective_reduce(2, 2, z, wrong, rows, &exact, NULL), HU_E_FORMAT);
  assert_int_equal(hu_collective_reduce(2, 2, z, format, rows, &exact, &(hu_how){none, NULL, NULL}), HU_E_MODE);
  hu_format wide = {1, 11, 20, HU_ZERO_FIELD, HU_SUBNORMAL_GRADUAL, HU_INF_IEEE, HU_NAN_IEEE, 1, HU_OVERFLOW_INF, 0, 0};
  assert_int_equal(hu_collective_reduce(2, 2, z, wide, rows, &ring, NULL), HU_E_CARRIER);
  assert_int_equal(hu_collective_reduce(2, 0, NULL, format, NULL, &ring, NULL), HU_OK);
  bad = exact;
  bad.base.sum = format;
  assert_int_equal(hu_collective_check(&bad), HU_E_ACCUM);
  bad = ring;
  bad.base.wire = format;
  assert_int_equal(hu_collective_check(&bad), HU_E_ACCUM);
  bad = ring;
  bad.outer = ring.base;
  assert_int_equal(hu_collective_check(&bad), HU_E_ACCUM);
  bad = ring;
  bad.base.mode.tiny = 1;
  assert_int_equal(hu_collective_check(&bad), HU_E_ACCUM);
  assert_int_equal(hu_collective_text(NULL, 0, &bad), 0);
}

/* ---- signals ---- */

/* Uses the stack below whatever it interrupts. */
static void scribble(int signal) {
  volatile unsigned char below[1 << 14];
  (void)signal;
  for (size_t i = 0; i < sizeof below; i++) below[i] = 0xA5;
}

/* A sum is in no place that a function has left: a handler would write over it. */
static void test_signals(void **state) {
  enum { LONG = 4096, ROUNDS = 400 };
  static float x[LONG], z[LONG];
  const void *ranks[3] = {x, x, x};
  struct sigaction act = {.sa_handler = scribble}, before;
  struct itimerval soon = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
  hu_collective ring;
  size_t wrong = 0;
  (void)state;
  for (size_t i = 0; i < LONG; i++) x[i] = 1;
  assert_int_equal(hu_collective_parse(&ring, "ring(binary32)", NULL), HU_OK);
  act.sa_flags = SA_RESTART;
  assert_int_equal(sigaction(SIGALRM, &act, &before), 0);
  assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
  for (int k = 0; k < ROUNDS; k++) {
    hu_status status = hu_collective_reduce(3, LONG, z, hu_binary32(), ranks, &ring, NULL);
    for (size_t i = 0; i < LONG; i++) wrong += status != HU_OK || z[i] != 3;
  }
  assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
  assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
  assert_int_equal(wrong, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_quick),           cmocka_unit_test(test_messages),
                                     cmocka_unit_test(test_scaled_messages), cmocka_unit_test(test_parts),
                                     cmocka_unit_test(test_texts),           cmocka_unit_test(test_wrong_texts),
                                     cmocka_unit_test(test_errors),          cmocka_unit_test(test_signals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
