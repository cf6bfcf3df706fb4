/* SPDX-License-Identifier: MIT */
/* tests/walk/cover.c - what the walk met: a row for each call, and what was left out. */
#include <stdio.h>
#include <string.h>

#include "tests/walk/walk.h"

enum { CALLS = 128, NAMES = 512 };

/* What the layouts of a call's cases had, as bits. */
enum {
  MET_IN_PLACE = 1 << 0,
  MET_STRIDE = 1 << 1,
  MET_BACKWARD = 1 << 2,
  MET_ONE_VALUE = 1 << 3,
  MET_TAIL = 1 << 4,
  MET_SHORT = 1 << 5,
  MET_THREADS = 1 << 6,
  MET_NO_COUNTS = 1 << 7,
  MET_ALL = (1 << 8) - 1
};
static const char *const met_names[] = {"in place", "stride", "backward stride", "one value for all",
                                        "tail",     "n < 4",  "threads",         "no counts"};

typedef struct covered {
  walk_call call;
  uint64_t cases, elements, asked;
  uint32_t modes, met;
  uint8_t named[NAMES]; /* of the catalogue */
  uint64_t others;
} covered;

static covered rows[CALLS];

/* The place in the catalogue; NAMES: not there. */
static size_t named(const walk_call *call, hu_number number) {
  for (size_t i = 0; !call->systems && i < hu_format_count(); i++)
    if (hu_format_equal(hu_format_at(i).format, number.format)) return i;
  for (size_t i = 0; call->systems && i < hu_number_count(); i++)
    if (hu_number_equal(hu_number_at(i).number, number)) return i;
  return NAMES;
}

static covered *row_of(const walk_call *call) {
  size_t i = 0;
  while (i + 1 < CALLS && rows[i].cases && strcmp(rows[i].call.name, call->name) != 0) i++;
  rows[i].call = *call;
  return &rows[i];
}

void walk_count(const walk_case *c, size_t places, size_t asked) {
  covered *row = row_of(&c->call);
  size_t at = named(&c->call, c->type[WALK_Z].number);
  row->cases++;
  row->elements += c->n * places;
  row->asked += asked;
  row->modes |= 1u << c->mode.round;
  if (at < NAMES) {
    row->named[at] = 1;
  } else {
    row->others++;
  }
  ptrdiff_t z = c->inc[WALK_Z];
  row->met |= (c->in_place >= 0 ? MET_IN_PLACE : 0) | (z > 1 ? MET_STRIDE : 0) | (z < 0 ? MET_BACKWARD : 0) |
              (c->inc[0] == 0 ? MET_ONE_VALUE : 0) | (c->n % 64 ? MET_TAIL : 0) | (c->n < 4 ? MET_SHORT : 0) |
              (c->threads > 1 && c->n > 1024 ? MET_THREADS : 0) | (c->counts ? 0 : MET_NO_COUNTS);
}

/* Names of the catalogue that stand for a type of their own. */
static size_t types_of(const walk_call *call) {
  size_t n = 0, count = call->systems ? hu_number_count() : hu_format_count();
  for (size_t i = 0; i < count; i++) {
    hu_number x = call->systems ? hu_number_at(i).number : hu_number_float(hu_format_at(i).format);
    n += named(call, x) == i;
  }
  return n;
}

static size_t set(const uint8_t *bytes) {
  size_t n = 0;
  for (size_t i = 0; i < NAMES; i++) n += bytes[i];
  return n;
}

/* What a call can have: no operand as wide as the result, no place to take; slow ones are short. */
static uint32_t wanted(const walk_call *call) {
  uint32_t all = MET_ALL & ~(uint32_t)MET_THREADS;
  int apart =
      walk_is_conversion(call, WALK_VALUES64, WALK_CODES) || walk_is_conversion(call, WALK_CODES, WALK_VALUES64);
  return apart ? all & ~(uint32_t)MET_IN_PLACE : all;
}

/* Says what a row lacks. */
static int lacks(const covered *row) {
  uint32_t left = wanted(&row->call) & ~row->met, modes = (1u << HU_ROUND_COUNT) - 1;
  size_t catalogue = types_of(&row->call);
  int bad = 0;
  for (unsigned i = 0; i < sizeof met_names / sizeof *met_names; i++) {
    if (!(left >> i & 1)) continue;
    printf("not met: %s: %s\n", row->call.name, met_names[i]);
    bad = 1;
  }
  if (row->modes != modes || set(row->named) < catalogue) {
    printf("not met: %s: %zu of %zu formats, modes %#x of %#x\n", row->call.name, set(row->named), catalogue,
           row->modes, modes);
    bad = 1;
  }
  return bad;
}

int walk_report(int complete) {
  int bad = 0;
  uint64_t elements = 0, cases = 0;
  printf("\n%-20s %8s %12s %8s  %s\n", "call", "cases", "elements", "oracle", "named types + others, modes");
  for (size_t i = 0; i < CALLS && rows[i].cases; i++) {
    const covered *row = &rows[i];
    unsigned modes = 0;
    for (uint32_t left = row->modes; left; left &= left - 1) modes++;
    printf("%-20s %8llu %12llu %8llu  %zu + %llu, %u\n", row->call.name, (unsigned long long)row->cases,
           (unsigned long long)row->elements, (unsigned long long)row->asked, set(row->named),
           (unsigned long long)row->others, modes);
    elements += row->elements;
    cases += row->cases;
  }
  printf("%llu cases, %llu elements; places:", (unsigned long long)cases, (unsigned long long)elements);
  for (size_t i = 0; i < walk_places(); i++) printf(" %s", walk_place_name(i));
  printf("\nleft out: %s; without the oracle:", walk_device ? "levels of the CPU" : "the device");
  for (size_t i = 0; i < CALLS && rows[i].cases; i++)
    if (!rows[i].asked) printf(" %s", rows[i].call.name);
  putchar('\n');
  for (size_t i = 0; complete && i < CALLS && rows[i].cases; i++) bad |= lacks(&rows[i]);
  return bad;
}
