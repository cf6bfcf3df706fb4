/* SPDX-License-Identifier: MIT */
/* tests/walk/misuse.c - the mistakes that every call refuses, each with its status, before it writes anything; and what
 * looks like one and is not. */
#include <stdlib.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "tests/walk/walk.h"

enum { N = 8, MANY = 203, SOME = 64 };

/* A call without a mistake: every code is 0. */
static walk_case start(const walk_call *call) {
  walk_case c;
  memset(&c, 0, sizeof c);
  c.call = *call;
  c.n = N;
  c.counts = 1;
  c.in_place = -1;
  for (int i = 0; i < WALK_ENDS; i++) {
    c.type[i].carrier = i == WALK_Z ? call->to : call->from;
    c.type[i].number = call->systems ? hu_number_posit(16, 2) : hu_number_float(hu_binary16());
    c.inc[i] = 1;
    c.skip[i] = SOME;
  }
  return c;
}

static void zero(const walk_case *c, const walk_ends *ends) {
  for (int i = 0; i < WALK_ENDS; i++) {
    for (size_t k = 0; walk_has(&c->call, i) && i != WALK_Z && k < c->n; k++)
      walk_put(ends->data[i], walk_size(&c->type[i]), (ptrdiff_t)k * c->inc[i], 0);
  }
}

/* A call with a mistake: its rooms and counts must stay. */
typedef struct mistake {
  walk_case made;
  walk_ends ends;
  hu_events counts;
} mistake;

static void begin_with(mistake *m) {
  walk_make(&m->made, &m->ends);
  zero(&m->made, &m->ends);
  memset(&m->counts, 0x11, sizeof m->counts);
  m->ends.events = &m->counts;
}

static void begin(mistake *m, const walk_call *call) {
  m->made = start(call);
  begin_with(m);
}

/* What there was, to be compared with what there is. */
static uint8_t *room_of(const walk_ends *ends, int i) {
  uint8_t *copy = malloc(ends->bytes[i] + 1);
  if (!copy) abort();
  if (ends->room[i]) memcpy(copy, ends->room[i], ends->bytes[i]);
  return copy;
}

static size_t end(mistake *m, const char *what, hu_status wanted) {
  hu_events before = m->counts;
  uint8_t *rooms[WALK_ENDS];
  for (int i = 0; i < WALK_ENDS; i++) rooms[i] = room_of(&m->ends, i);
  for (size_t place = 0; place < walk_places(); place++) {
    hu_status status = walk_at(place, &m->made, &m->ends);
    int same = memcmp(&before, &m->counts, sizeof before) == 0;
    if (status != wanted)
      walk_fail(&m->made, "%s: %s: %s, not %s", walk_place_name(place), what, hu_status_name(status),
                hu_status_name(wanted));
    for (int i = 0; i < WALK_ENDS; i++)
      same = same && (!m->ends.room[i] || memcmp(rooms[i], m->ends.room[i], m->ends.bytes[i]) == 0);
    if (wanted != HU_OK && !same) walk_fail(&m->made, "%s: %s: something was written", walk_place_name(place), what);
  }
  for (int i = 0; i < WALK_ENDS; i++) free(rooms[i]);
  walk_free(&m->ends);
  return 1;
}

/* ---- types and modes ---- */

static size_t wrong_types(const walk_call *call) {
  hu_format bad = hu_binary16();
  size_t made = 0;
  bad.e = 12;
  for (int i = 0; i < WALK_ENDS; i++) {
    mistake m;
    if (!walk_has(call, i) || !walk_is_typed(call, i)) continue;
    begin(&m, call);
    m.made.type[i].number = call->systems ? hu_number_posit(33, 2) : hu_number_float(bad);
    made += end(&m, "a type that is none", call->systems ? HU_E_NUMBER : HU_E_FORMAT);
  }
  if (call->rounds) {
    mistake m;
    begin(&m, call);
    m.made.mode.round = 99;
    made += end(&m, "a mode that is none", HU_E_MODE);
  }
  return made;
}

/* One bit above the width of the code at a place. On a device hu_device_synchronize reports it
 * (test_device_codes.c). */
static size_t wide_code(const walk_call *call, const char *type, int i, size_t place, ptrdiff_t inc) {
  size_t made = 0;
  hu_number number;
  if (hu_number_parse(&number, type, NULL, NULL) != HU_OK) abort();
  hu_number_limits limits = hu_number_limits_of(number);
  for (uint32_t bit = limits.width; bit < limits.storage; bit++) {
    mistake m;
    m.made = start(call);
    m.made.n = MANY;
    m.made.inc[i] = inc;
    m.made.threads = inc == 1 ? 3 : 1;
    for (int k = 0; k < WALK_ENDS; k++) m.made.type[k].number = number;
    begin_with(&m);
    walk_put(m.ends.data[i], limits.storage / 8, (ptrdiff_t)place * inc, (uint64_t)1 << bit);
    made += end(&m, "a code beyond its width", HU_E_CODE);
  }
  return made;
}

static size_t wide_codes(const walk_call *call) {
  static const char *const types[2][3] = {{"fp(3,2,0)", "fp(5,6,0)", "fp(8,15,0)"},
                                          {"posit(6,1)", "q(3.8)", "takum(21)"}};
  static const ptrdiff_t strides[] = {1, 3, -2};
  size_t made = 0;
  if (walk_device || call->from != WALK_CODES) return 0;
  for (int i = 0; i < call->operands; i++) {
    for (size_t k = 0; k < 27; k++) /* each type, its first, a middle and its last element, three strides */
      made += wide_code(call, types[call->systems][k / 9], i, k % 3 * (MANY - 1) / 2, strides[k / 3 % 3]);
  }
  return made;
}

/* ---- arrays ---- */

static size_t wrong_arrays(const walk_call *call) {
  size_t made = 0;
  for (int i = 0; i < WALK_ENDS; i++) {
    mistake m;
    if (!walk_has(call, i)) continue;
    begin(&m, call);
    m.ends.data[i] = NULL;
    made += end(&m, "no array", HU_E_NULL);
    if (walk_size(&m.made.type[i]) == 1) continue;
    begin(&m, call);
    m.ends.data[i]++;
    made += end(&m, "an odd address", HU_E_ALIGN);
  }
  mistake m;
  begin(&m, call);
  m.made.inc[WALK_Z] = 0;
  made += end(&m, "results without a stride", HU_E_SHAPE);
  begin(&m, call);
  m.made.n = SIZE_MAX / 2;
  made += end(&m, "more elements than addresses", HU_E_SHAPE);
  begin(&m, call);
  m.made.inc[WALK_Z] = PTRDIFF_MAX / 4;
  made += end(&m, "a stride beyond the addresses", HU_E_SHAPE);
  return made;
}

static size_t overlaps(const walk_call *call) {
  size_t made = 0;
  for (int i = 0; i < call->operands; i++) {
    mistake m;
    begin(&m, call);
    size_t size = walk_size(&m.made.type[i]), other = walk_size(&m.made.type[WALK_Z]);
    size_t most = size > other ? size : other;
    m.ends.data[WALK_Z] = m.ends.data[i] + most; /* an element further */
    made += end(&m, "results an element behind an operand", HU_E_OVERLAP);
    begin(&m, call);
    m.ends.data[WALK_Z] = m.ends.data[i];
    m.made.inc[WALK_Z] = 2;
    made += end(&m, "another stride in place", HU_E_OVERLAP);
    if (size == other) continue;
    begin(&m, call);
    m.ends.data[WALK_Z] = m.ends.data[i];
    made += end(&m, "another size in place", HU_E_OVERLAP);
  }
  return made;
}

/* Nothing to do; elements that interleave. */
static size_t allowed(const walk_call *call) {
  mistake m;
  size_t made = 0;
  begin(&m, call);
  m.made.n = 0;
  for (int i = 0; i < WALK_ENDS; i++) m.ends.data[i] = NULL;
  made += end(&m, "no element", HU_OK);
  begin(&m, call);
  size_t size = walk_size(&m.made.type[0]);
  if (size == walk_size(&m.made.type[WALK_Z])) {
    m.ends.data[WALK_Z] = m.ends.data[0] + size;
    m.made.n = N / 2;
    m.made.inc[0] = m.made.inc[WALK_Z] = 2;
    return made + end(&m, "elements that interleave", HU_OK);
  }
  walk_free(&m.ends);
  return made;
}

size_t walk_misuse(const walk_call *call) {
  return wrong_types(call) + wide_codes(call) + wrong_arrays(call) + overlaps(call) + allowed(call);
}
