/* SPDX-License-Identifier: MIT */
/* An element of a shifted and squeezed tensor through the loop of emu/s2fp8/loops.c, against hui_s2_found of the core:
 * functions that return 0, whatever they are given. The search, with its table, is any memory of which the few things
 * hold that `made` asks for. */
#include "question.h"

#include "emu/s2fp8/lanes.h"
#undef HU_OF_LEVEL
#define HU_OF_LEVEL(name) \
  not_a_table;            \
  static const hu_s2_lanes unread __attribute__((unused))
#include "emu/s2fp8/loops.c"

int s2fp8_codes(const hu_s2_search *s, uint32_t u);
int s2fp8_values(const hu_s2_search *s, uint32_t u);
int s2fp8_reached(const hu_s2_search *s, uint32_t u);
size_t s2fp8_room(void);

/* Steps that a search takes within a bucket: as many as the loop has cases for, and one more. */
enum { MOST = 3 };

/* The code's magnitude of a by the buckets, as hui_s2_found has it. */
static inline uint32_t magnitude(const hu_s2_search *s, uint32_t sign, uint32_t a) {
  uint32_t c = s->base[sign][(a - s->first[sign]) >> s->shift[sign]];
  for (uint32_t k = 0; k < MOST; k++) {
    c += k < s->most[sign] && c < s->spec.max_code && a >= s->table.bound[sign][c + 1];
  }
  return c;
}

/* What hui_s2_search_start and hui_s2_bucket make of a table, where u is concerned. Patterns from the first bound on
 * that are no edge have a bucket. Its code and further ones are numbers', and behind the last step no further bound is
 * reached. Zero is below every bound, is tiny and is no exact number. */
static inline int made(const hu_s2_search *s, uint32_t u) {
  const uint32_t a = u & 0x7FFFFFFF, sign = u >> 31;
  if (s->spec.max_code >= HU_S2_CODES || s->spec.m > 7 || s->spec.negzero > 1) return 0;
  if (s->limit == 0 || s->first[sign] == 0 || s->table.tiny[sign] == 0 || s->table.exact[0] == 0) return 0;
  if (s->most[0] > MOST || s->most[1] > MOST || s->shift[sign] > 31) return 0;
  if (a < s->first[sign]) return 1;
  if (a >= s->limit && (a >= HU_S2_NEVER || a >= s->table.bound[sign][s->spec.max_code + 1])) return 1; /* an edge */
  const uint32_t bucket = (a - s->first[sign]) >> s->shift[sign];
  if (bucket >= HU_S2_BUCKETS || s->base[sign][bucket] > s->spec.max_code) return 0;
  const uint32_t c = magnitude(s, sign, a);
  return c == s->spec.max_code || a < s->table.bound[sign][c + 1];
}

int s2fp8_codes(const hu_s2_search *s, uint32_t u) {
  hu_events counts;
  uint32_t events;
  uint8_t z = 0;
  if (!made(s, u)) return 0;
  const uint32_t code = hui_s2_found(s, u, &events);
  if (events & HU_EVENT_DIVIDE_BY_ZERO) return 0; /* an edge cannot have it */
  memset(&counts, 0, sizeof counts);
  encode(s, NULL, 1, &z, &u, &counts);
  return (int)(wrong_events(&counts, events) | (z == (uint8_t)code ? 0 : WRONG_CODE));
}

/* The value is the table's entry of the code. */
int s2fp8_values(const hu_s2_search *s, uint32_t u) {
  hu_events counts;
  uint32_t events, z = 0;
  if (!made(s, u)) return 0;
  const uint32_t code = hui_s2_found(s, u, &events);
  if (code >= 2 * HU_S2_CODES || (events & HU_EVENT_DIVIDE_BY_ZERO)) return 0; /* an edge cannot have them */
  memset(&counts, 0, sizeof counts);
  quantize(s, NULL, 1, &z, &u, 0, &counts);
  return (int)(wrong_events(&counts, events) | (z == s->table.value[code] ? 0 : WRONG_VALUE));
}

/* An inexact element of code 5, two steps behind its bucket's. */
int s2fp8_reached(const hu_s2_search *s, uint32_t u) {
  hu_events counts;
  uint8_t z = 0;
  if (!made(s, u) || u >= s->limit || u < s->first[0] || s->most[0] != 2) return 0;
  memset(&counts, 0, sizeof counts);
  encode(s, NULL, 1, &z, &u, &counts);
  return z == 5 && counts.inexact == 1 && s->base[0][(u - s->first[0]) >> s->shift[0]] == 3;
}

size_t s2fp8_room(void) { return sizeof(hu_s2_search); }
