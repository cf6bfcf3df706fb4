/* SPDX-License-Identifier: MIT */
/* Operands of generated vectors: codes at the edges of a format in every combination, and random ones. The same
 * operands for the same format, operation, level and stream. */
#include "cli/vectors.h"

#include <stdlib.h>

#include "halfulp/scalar.h"

enum { EDGES_MAX = 1 << 14, TRAILING_MAX = 80, FIELDS_MAX = 80 };

static size_t add_once(uint32_t *list, size_t n, size_t room, uint32_t x) {
  for (size_t i = 0; i < n; i++)
    if (list[i] == x) return n;
  if (n < room) list[n++] = x;
  return n;
}

/* Trailing significands: few digits set at either end; at level 2 a single one, and all above one, anywhere. */
static size_t trailing_of(uint32_t *list, hu_format f, int level) {
  uint32_t ones = (uint32_t)(((uint64_t)1 << f.m) - 1), half = f.m ? (uint32_t)1 << (f.m - 1) : 0;
  const uint32_t some[] = {0, 1, half, half + 1, half - 1, ones, ones - 1, 2};
  size_t n = 0;
  for (size_t i = 0; i < sizeof some / sizeof *some; i++) n = add_once(list, n, TRAILING_MAX, some[i] & ones);
  for (uint32_t i = 0; level > 1 && i < f.m; i++) {
    n = add_once(list, n, TRAILING_MAX, (uint32_t)1 << i);
    n = add_once(list, n, TRAILING_MAX, ones & ~(ones >> 1 >> i));
  }
  return n;
}

/* Exponent fields: both ends, one, and the distances from it at which a significand leaves another's reach. */
static size_t fields_of(uint32_t *list, hu_format f, int level) {
  uint32_t top = ((uint32_t)1 << f.e) - 1;
  hu_mode rtz = {.round = HU_RTZ, .saturate = HU_SAT_FINITE};
  uint32_t one = (hu_encode64(f, rtz, 1.0, 0, NULL) & ~hu_format_limits(f).sign_mask) >> f.m, m = f.m;
  const uint32_t some[] = {0,       1,       2,       top,     top - 1,     top - 2,    one,
                           one - 1, one + 1, one + m, one - m, one + m + 1, one - m - 1};
  size_t n = 0;
  for (size_t i = 0; i < sizeof some / sizeof *some; i++)
    if (some[i] <= top) n = add_once(list, n, FIELDS_MAX, some[i]);
  for (uint32_t i = 0; level > 1 && i < 2 * m + 4 && i < 16; i++) {
    if (one + i <= top) n = add_once(list, n, FIELDS_MAX, one + i);
    if (one >= i) n = add_once(list, n, FIELDS_MAX, one - i);
  }
  return n;
}

static size_t edges_of(uint32_t *list, hu_format f, int level) {
  uint32_t width = (uint32_t)f.sign + f.e + f.m, trailing[TRAILING_MAX], fields[FIELDS_MAX];
  if (width <= (level > 1 ? 8u : 6u)) {
    for (uint32_t c = 0; c < (uint32_t)1 << width; c++) list[c] = c;
    return (size_t)1 << width;
  }
  hu_limits l = hu_format_limits(f);
  size_t t = trailing_of(trailing, f, level), e = fields_of(fields, f, level), n = 0;
  uint32_t magnitudes[] = {l.max_code, l.max_code - 1, l.inf_code, l.min_code, l.min_normal_code};
  for (size_t k = 0; k < sizeof magnitudes / sizeof *magnitudes; k++)
    if (magnitudes[k] != HU_NO_CODE) n = add_once(list, n, EDGES_MAX, magnitudes[k]);
  for (size_t i = 0; i < e; i++)
    for (size_t j = 0; j < t; j++) n = add_once(list, n, EDGES_MAX, fields[i] << f.m | trailing[j]);
  if (l.has_nan) n = add_once(list, n, EDGES_MAX, l.nan_code);
  for (size_t i = 0, plus = n; f.sign && i < plus; i++) n = add_once(list, n, EDGES_MAX, list[i] ^ l.sign_mask);
  return n;
}

int vectors_source_open(vectors_source *s, const vectors *v, int level) {
  s->v = v;
  s->edges = malloc(EDGES_MAX * sizeof *s->edges);
  if (!s->edges) return cli_fail(NULL, "out of memory");
  s->edge_count = edges_of(s->edges, v->from, level);
  uint64_t n = s->edge_count, random = level > 1 ? 400000 : 10000;
  int all = v->from.sign + v->from.e + v->from.m <= 4;
  s->pairs = v->op->operands == 1 ? n : v->op->operands == 2 ? n * n : all ? n * n * n : 0;
  if (level == 1 && s->pairs > 250000) s->pairs = 250000;
  if (level == 2 && s->pairs > 4000000) s->pairs = 4000000;
  if (v->op->operands == 3) random *= 5;
  if (v->from.sign + v->from.e + v->from.m <= (level > 1 ? 8 : 6) && (v->op->operands < 3 || all)) random = 0;
  s->count = s->pairs + random;
  return CLI_OK;
}

void vectors_source_close(vectors_source *s) { free(s->edges); }

/* One more random word of case i. Operands have a key of their own, so that R of a stochastic mode is independent of
 * them. */
static uint32_t draw(const vectors_source *s, uint64_t i, unsigned k) {
  hu_stream stream = {s->v->stream.key ^ UINT64_C(0x5EC70C5), 0};
  return hu_stream_word(stream, 16 * i + k);
}

static uint32_t last_code(hu_format f) { return (uint32_t)(((uint64_t)1 << (f.sign + f.e + f.m)) - 1); }

/* A summand that nearly undoes the first operand or the product: minus it, rounded, and a step aside. */
static uint32_t cancelling(const vectors_source *s, const vectors_case *c, uint32_t word) {
  hu_format f = s->v->from;
  hu_mode mode = {.round = (uint8_t)(word >> 8 & 1 ? HU_RTZ : HU_RAZ), .saturate = HU_SAT_FINITE};
  uint32_t z = s->v->op->operands == 3 ? hu_mul(f, mode, f, c->x[0], f, c->x[1], 0, NULL) : c->x[0];
  if (word >> 9 & 1) z = word >> 10 & 1 ? hu_next_up(f, z) : hu_next_down(f, z);
  return f.sign ? z ^ ((uint32_t)1 << (f.e + f.m)) : z;
}

int vectors_source_case(const vectors_source *s, uint64_t i, vectors_case *c) {
  int operands = s->v->op->operands;
  if (i >= s->count) return 0;
  if (i < s->pairs) {
    /* Where only a part of the combinations is wanted, equal steps through all of them. */
    uint64_t n = s->edge_count, all = operands == 1 ? n : operands == 2 ? n * n : n * n * n;
    uint64_t at = s->pairs == all ? i : i * (all / s->pairs) + i % (all / s->pairs);
    for (int k = operands - 1; k >= 0; k--, at /= n) c->x[k] = s->edges[at % n];
    return 1;
  }
  for (int k = 0; k < operands; k++) {
    uint32_t word = draw(s, i, 4 * (unsigned)k), which = draw(s, i, 4 * (unsigned)k + 1);
    c->x[k] = which % 8 < 3 ? s->edges[word % s->edge_count] : word & last_code(s->v->from);
    if (k && k == operands - 1 && which % 8 == 7) c->x[k] = cancelling(s, c, word);
  }
  return 1;
}
