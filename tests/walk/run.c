/* SPDX-License-Identifier: MIT */
/* tests/walk/run.c - a case at every place: whole rooms are compared, so that what lies around and between the elements
 * must stay, and so must the operands; and the counts of events. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/walk/walk.h"

enum { PAD = 64 };

void walk_fail(const walk_case *c, const char *format, ...) {
  va_list args;
  fflush(stdout);
  fprintf(stderr, "walk: %s\n  ", walk_text(c));
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  exit(1);
}

static size_t type_text(char *text, size_t size, const walk_type *type) {
  static const char *const carriers[] = {"binary32 for ", "binary64 for ", "", "int8 for "};
  char number[HU_NUMBER_TEXT_MAX] = "?";
  (void)hu_number_text(number, sizeof number, type->number);
  const char *id = hu_number_id(type->number);
  return (size_t)snprintf(text, size, "%s%.120s", carriers[type->carrier], id ? id : number);
}

const char *walk_text(const walk_case *c) {
  static char text[1600];
  char mode[T_MODE_TEXT];
  size_t at = (size_t)snprintf(text, sizeof text, "%s case %s%llu:", c->call.name, c->directed ? "directed " : "",
                               (unsigned long long)c->number);
  for (int i = 0; i < WALK_ENDS; i++) {
    if (!walk_has(&c->call, i)) continue;
    at += (size_t)snprintf(text + at, sizeof text - at, "%s", i == WALK_Z ? " -> " : i ? ", " : " ");
    at += type_text(text + at, sizeof text - at, &c->type[i]);
    at += (size_t)snprintf(text + at, sizeof text - at, " by %td", c->inc[i]);
  }
  snprintf(text + at, sizeof text - at, "; %s; %zu elements, in place of %d, %u threads, setting %d",
           t_mode_text(mode, c->mode), c->n, c->in_place, c->threads, c->setting);
  return text;
}

/* ---- rooms ---- */

static void *take(size_t bytes) {
  void *z = malloc(bytes);
  if (z) return z;
  fputs("walk: no memory\n", stderr);
  exit(1);
}

void walk_make(const walk_case *c, walk_ends *ends) {
  memset(ends, 0, sizeof *ends);
  for (int i = 0; i < WALK_ENDS; i++) {
    size_t size = ends->size[i] = walk_size(&c->type[i]), step = (size_t)(c->inc[i] < 0 ? -c->inc[i] : c->inc[i]);
    if (!walk_has(&c->call, i)) continue;
    if (i == WALK_Z && c->in_place >= 0) {
      ends->data[i] = ends->data[c->in_place];
      continue;
    }
    ends->bytes[i] = (c->n * step + 1 + c->skip[i]) * size + PAD;
    ends->room[i] = take(ends->bytes[i]);
    t_fill_pattern(ends->room[i], ends->bytes[i]);
    ends->data[i] = ends->room[i] + (c->skip[i] + (c->inc[i] < 0 && c->n ? (c->n - 1) * step : 0)) * size;
  }
}

void walk_free(walk_ends *ends) {
  for (int i = 0; i < WALK_ENDS; i++) free(ends->room[i]);
}

static void copy(const walk_ends *to, const walk_ends *from) {
  for (int i = 0; i < WALK_ENDS; i++) {
    if (from->room[i]) memcpy(to->room[i], from->room[i], from->bytes[i]);
  }
}

/* ---- what the core and the oracle say ---- */

static uint32_t word(const walk_case *c, size_t i) {
  return c->mode.bits ? hu_stream_word(c->stream, i) >> (32 - c->mode.bits) : 0;
}

static void element(const walk_case *c, const walk_ends *ends, size_t i, uint64_t *x) {
  for (int k = 0; k < c->call.operands; k++) x[k] = walk_get(ends->data[k], ends->size[k], (ptrdiff_t)i * c->inc[k]);
}

static void expect(const walk_case *c, const walk_ends *in, const walk_ends *out) {
  size_t size = walk_size(&c->type[WALK_Z]);
  for (size_t i = 0; i < c->n; i++) {
    uint64_t x[HU_OPERANDS_MAX];
    uint32_t events;
    element(c, in, i, x);
    walk_put(out->data[WALK_Z], size, (ptrdiff_t)i * c->inc[WALK_Z], walk_one(c, x, word(c, i), &events));
    if (c->counts) hu_events_count(out->events, events);
  }
}

/* Some elements; returns how many. */
static size_t ask(const walk_case *c, const walk_ends *in) {
  size_t most = c->n < 6 ? c->n : 6;
  for (size_t k = 0; k < most; k++) {
    uint64_t x[HU_OPERANDS_MAX], z = 0;
    uint32_t events, said = 0;
    size_t i = k * c->n / most;
    element(c, in, i, x);
    if (!walk_oracle(c, x, word(c, i), &z, &said)) return 0;
    uint64_t core = walk_one_there(c, x, word(c, i), &events);
    char a[T_EVENTS_TEXT], b[T_EVENTS_TEXT];
    if (core != z || events != said)
      walk_fail(c, "[%zu] %#llx, %#llx, %#llx, R %#x: %#llx %s, the oracle %#llx %s", i, (unsigned long long)x[0],
                (unsigned long long)x[1 % c->call.operands], (unsigned long long)x[2 % c->call.operands], word(c, i),
                (unsigned long long)core, t_events_text(a, events), (unsigned long long)z, t_events_text(b, said));
  }
  return most;
}

/* ---- comparison ---- */

/* Ends the program: which element differs, or which end's room. */
static void differ(const walk_case *c, size_t place, const walk_ends *in, const walk_ends *got, const walk_ends *want,
                   int end) {
  size_t size = walk_size(&c->type[WALK_Z]);
  const char *name = walk_place_name(place);
  for (size_t i = 0; i < c->n; i++) {
    ptrdiff_t at = (ptrdiff_t)i * c->inc[WALK_Z];
    uint64_t z = walk_get(got->data[WALK_Z], size, at), core = walk_get(want->data[WALK_Z], size, at);
    uint64_t x[HU_OPERANDS_MAX] = {0};
    element(c, in, i, x);
    if (z != core)
      walk_fail(c, "%s: [%zu] %#llx, %#llx, %#llx gives %#llx, the core %#llx", name, i, (unsigned long long)x[0],
                (unsigned long long)x[1], (unsigned long long)x[2], (unsigned long long)z, (unsigned long long)core);
  }
  walk_fail(c, "%s: bytes beside the elements of end %d changed", name, end);
}

static void compare(const walk_case *c, size_t place, const walk_ends *in, const walk_ends *got,
                    const walk_ends *want) {
  for (int i = 0; i < WALK_ENDS; i++) {
    if (got->room[i] && memcmp(got->room[i], want->room[i], got->bytes[i]) != 0) differ(c, place, in, got, want, i);
  }
  uint64_t counted[sizeof(hu_events) / 8], core[sizeof(hu_events) / 8];
  memcpy(counted, got->events, sizeof counted);
  memcpy(core, want->events, sizeof core);
  for (size_t i = 0; i < sizeof core / sizeof *core; i++) {
    if (counted[i] != core[i])
      walk_fail(c, "%s: counter %zu of hu_events is off by %lld", walk_place_name(place), i,
                (long long)(counted[i] - core[i]));
  }
}

/* The sort of each case's status, results and counts at one place. */
static void run_at(const walk_case *c, size_t place, const walk_ends *in, walk_ends *work, const walk_ends *want) {
  hu_events counts;
  memset(&counts, 0x11, sizeof counts);
  copy(work, in);
  work->events = c->counts ? &counts : NULL;
  hu_status status = walk_at(place, c, work), wanted = walk_place_expected(c);
  work->events = &counts;
  if (status != wanted)
    walk_fail(c, "%s: %s, not %s", walk_place_name(place), hu_status_name(status), hu_status_name(wanted));
  compare(c, place, in, work, status == HU_OK ? want : in);
}

void walk_run(const walk_case *c, uint64_t seed) {
  walk_ends in, work, want;
  hu_events before, counts;
  memset(&before, 0x11, sizeof before);
  counts = before;
  walk_make(c, &in);
  walk_fill(c, &in, seed);
  walk_make(c, &work);
  walk_make(c, &want);
  in.events = &before;
  want.events = &counts;
  copy(&want, &in);
  if (walk_expected(c) == HU_OK) expect(c, &in, &want);
  size_t asked = ask(c, &in), places = 0;
  for (size_t place = 0; place < walk_places(); place++) {
    if (!walk_place_takes(place, c)) continue;
    run_at(c, place, &in, &work, &want);
    places++;
  }
  walk_count(c, places, asked);
  walk_free(&in);
  walk_free(&work);
  walk_free(&want);
}
