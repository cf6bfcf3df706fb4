/* SPDX-License-Identifier: MIT */
/* tests/walk/misuse.c - the mistakes that every call refuses, each with its status, before it writes anything; and what
 * looks like one and is not. */
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"
#include "tests/walk/walk.h"

enum { N = 8, SOME = 64 };

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
    c.type[i].number = call->family == WALK_NUMBER ? hu_number_posit(16, 2) : hu_number_float(hu_binary16());
    c.inc[i] = 1;
    c.skip[i] = SOME;
  }
  return c;
}

static void zero(const walk_case *c, const walk_ends *ends) {
  for (int i = 0; i < WALK_ENDS; i++) {
    for (size_t k = 0; walk_has(&c->call, i) && i != WALK_Z && k < N; k++)
      walk_put(ends->data[i], walk_size(&c->type[i]), (ptrdiff_t)k, 0);
  }
}

/* Calls with rooms of the correct call and another case or other arrays; the rooms and counts must stay. */
typedef struct mistake {
  walk_case made;
  walk_ends ends; /* arrays of the rooms */
  hu_events counts;
} mistake;

static void begin(mistake *m, const walk_call *call) {
  m->made = start(call);
  walk_make(&m->made, &m->ends);
  zero(&m->made, &m->ends);
  memset(&m->counts, 0x11, sizeof m->counts);
  m->ends.events = &m->counts;
}

static size_t end(mistake *m, const char *what, hu_status wanted) {
  hu_events before;
  walk_case plain = start(&m->made.call);
  walk_ends want;
  memset(&before, 0x11, sizeof before);
  walk_make(&plain, &want);
  zero(&plain, &want);
  for (size_t place = 0; place < walk_places(); place++) {
    hu_status status = walk_at(place, &m->made, &m->ends);
    if (status != wanted)
      walk_fail(&m->made, "%s: %s: %s, not %s", walk_place_name(place), what, hu_status_name(status),
                hu_status_name(wanted));
    for (int i = 0; wanted != HU_OK && i < WALK_ENDS; i++) {
      if (want.room[i] && m->made.in_place < 0 && memcmp(want.room[i], m->ends.room[i], want.bytes[i]) != 0)
        walk_fail(&m->made, "%s: %s: something was written", walk_place_name(place), what);
    }
    if (wanted != HU_OK && memcmp(&before, &m->counts, sizeof before) != 0)
      walk_fail(&m->made, "%s: %s: something was counted", walk_place_name(place), what);
  }
  walk_free(&want);
  walk_free(&m->ends);
  return 1;
}

/* ---- types and modes ---- */

static int has_type(const walk_call *call, int i) {
  if (call->family == WALK_OPERATION || call->op == WALK_CONVERT) return walk_has(call, i) && call->to + i >= 0;
  return i == (call->from == WALK_CODES ? 0 : WALK_Z);
}

static size_t wrong_types(const walk_call *call) {
  hu_format bad = hu_binary16();
  size_t made = 0;
  bad.e = 12;
  for (int i = 0; i < WALK_ENDS; i++) {
    mistake m;
    if (!has_type(call, i) || (i == WALK_Z && call->to == WALK_INT8)) continue;
    begin(&m, call);
    m.made.type[i].number = call->family == WALK_NUMBER ? hu_number_posit(33, 2) : hu_number_float(bad);
    made += end(&m, "a type that is none", call->family == WALK_NUMBER ? HU_E_NUMBER : HU_E_FORMAT);
  }
  if (call->rounds) {
    mistake m;
    begin(&m, call);
    m.made.mode.round = 99;
    made += end(&m, "a mode that is none", HU_E_MODE);
  }
  return made;
}

/* Bits above the width of a code. On a device hu_device_synchronize reports them (test_device_codes.c). */
static size_t wide_codes(const walk_call *call) {
  size_t made = 0;
  for (int i = 0; !walk_device && call->from == WALK_CODES && i < call->operands; i++) {
    mistake m;
    begin(&m, call);
    for (int k = 0; k < WALK_ENDS; k++) m.made.type[k].number = hu_number_float(hu_format_ieee(5, 8, 0));
    walk_put(m.ends.data[i], 2, N - 1, 0x4000);
    m.made.in_place = WALK_ENDS; /* its room is not the one of the correct call */
    made += end(&m, "a code beyond its width", HU_E_CODE);
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
