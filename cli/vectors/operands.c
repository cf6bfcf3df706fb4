/* SPDX-License-Identifier: MIT */
/* Operands of generated vectors: every code of one small operand; patterns at the edges of their types in every
 * combination, results at the border of tininess, random ones. The same operands for the same types, operation, level
 * and stream. */
#include <stdlib.h>

#include "cli/vectors/vectors.h"
#include "halfulp/scalar.h"

enum { EDGES_MAX = VECTORS_EDGES_MAX, TRAILING_MAX = 80, FIELDS_MAX = 80, EVERY_CODE_WIDTH = 16 };

static size_t add_small(uint32_t *list, size_t n, size_t room, uint32_t x) {
  for (size_t i = 0; i < n; i++)
    if (list[i] == x) return n;
  if (n < room) list[n++] = x;
  return n;
}

static size_t add_once(uint64_t *list, size_t n, uint64_t x) {
  for (size_t i = 0; i < n; i++)
    if (list[i] == x) return n;
  if (n < EDGES_MAX) list[n++] = x;
  return n;
}

/* Lists trailing significands: few digits set at either end; at level 2 a single one, and all above one, anywhere. */
static size_t trailing_of(uint32_t *list, hu_format f, int level) {
  uint32_t ones = (uint32_t)(((uint64_t)1 << f.m) - 1), half = f.m ? (uint32_t)1 << (f.m - 1) : 0;
  const uint32_t some[] = {0, 1, half, half + 1, half - 1, ones, ones - 1, 2};
  size_t n = 0;
  for (size_t i = 0; i < sizeof some / sizeof *some; i++) n = add_small(list, n, TRAILING_MAX, some[i] & ones);
  for (uint32_t i = 0; level > 1 && i < f.m; i++) {
    n = add_small(list, n, TRAILING_MAX, (uint32_t)1 << i);
    n = add_small(list, n, TRAILING_MAX, ones & ~(ones >> 1 >> i));
  }
  return n;
}

/* Lists exponent fields: both ends, one, and the distances from it at which a significand leaves another's reach. */
static size_t fields_of(uint32_t *list, hu_format f, int level) {
  uint32_t top = ((uint32_t)1 << f.e) - 1;
  hu_mode rtz = {.round = HU_RTZ, .saturate = HU_SAT_FINITE};
  uint32_t one = (hu_encode64(f, rtz, 1.0, 0, NULL) & ~hu_limits_of(f).sign_mask) >> f.m, m = f.m;
  const uint32_t some[] = {0,       1,       2,       top,     top - 1,     top - 2,    one,
                           one - 1, one + 1, one + m, one - m, one + m + 1, one - m - 1};
  size_t n = 0;
  for (size_t i = 0; i < sizeof some / sizeof *some; i++)
    if (some[i] <= top) n = add_small(list, n, FIELDS_MAX, some[i]);
  for (uint32_t i = 0; level > 1 && i < 2 * m + 4 && i < 16; i++) {
    if (one + i <= top) n = add_small(list, n, FIELDS_MAX, one + i);
    if (one >= i) n = add_small(list, n, FIELDS_MAX, one - i);
  }
  return n;
}

static size_t code_edges(uint64_t *list, hu_format f, int level) {
  uint32_t trailing[TRAILING_MAX], fields[FIELDS_MAX];
  hu_limits l = hu_limits_of(f);
  size_t t = trailing_of(trailing, f, level), e = fields_of(fields, f, level), n = 0;
  uint32_t magnitudes[] = {l.max_code, l.max_code - 1, l.inf_code, l.min_code, l.min_normal_code};
  for (size_t k = 0; k < sizeof magnitudes / sizeof *magnitudes; k++)
    if (magnitudes[k] != HU_NO_CODE) n = add_once(list, n, magnitudes[k]);
  for (size_t i = 0; i < e; i++)
    for (size_t j = 0; j < t; j++) n = add_once(list, n, (uint64_t)fields[i] << f.m | trailing[j]);
  if (l.has_nan) n = add_once(list, n, l.nan_code);
  for (size_t i = 0, plus = n; f.sign && i < plus; i++) n = add_once(list, n, list[i] ^ l.sign_mask);
  return n;
}

/* Lists powers of two, their neighbours, and halves between them: integers, and what they become by a narrow format. */
static size_t integer_edges(uint64_t *list, const vectors_type *t) {
  uint64_t last = vectors_last(t);
  size_t n = 0;
  for (unsigned i = 0; i < t->integer.width; i++) {
    uint64_t power = (uint64_t)1 << i;
    for (int d = -2; d <= 2; d++) n = add_once(list, n, (power + (uint64_t)(int64_t)d) & last);
    for (unsigned j = 1; j <= i; j++) n = add_once(list, n, power + (power >> j));
  }
  for (size_t i = 0, plus = n; i < plus; i++) n = add_once(list, n, (0 - list[i]) & last);
  return n;
}

static size_t double_edges(uint64_t *list) {
  static const uint64_t trailing[] = {0, 1, UINT64_C(1) << 51, (UINT64_C(1) << 51) - 1, (UINT64_C(1) << 52) - 1};
  size_t n = 0;
  for (uint64_t field = 0; field < 2048; field++) {
    int end = field < 2 || field > 2045, middle = field > 1023 - 160 && field < 1023 + 140;
    for (size_t j = 0; (end || middle) && j < sizeof trailing / sizeof *trailing; j++) {
      n = add_once(list, n, field << 52 | trailing[j]);
      n = add_once(list, n, UINT64_C(1) << 63 | field << 52 | trailing[j]);
    }
  }
  return n;
}

size_t vectors_edges(uint64_t *list, const vectors_type *t, int level) {
  unsigned width = vectors_width(t);
  if (width <= (level > 1 ? 8u : 6u)) {
    for (uint64_t c = 0; c <= vectors_last(t); c++) list[c] = c;
    return (size_t)1 << width;
  }
  if (t->kind == VECTORS_INTEGER) return integer_edges(list, t);
  return t->kind == VECTORS_BINARY64 ? double_edges(list) : code_edges(list, t->format, level);
}

/* ---- how many cases ---- */

static int is_whole(const vectors_source *s, int k) { return s->edge_count[k] - 1 == vectors_last(&s->v->x[k]); }

/* Counts edges against each other, all or in equal steps through them; three operands where all codes can be had. */
static void count_edges(vectors_source *s, int level, int *whole) {
  int operands = s->v->op->operands;
  uint64_t most = level > 1 ? 4000000 : 250000;
  s->combinations = 1;
  *whole = 1;
  for (int k = 0; k < operands; k++) {
    s->combinations *= s->edge_count[k];
    *whole = *whole && is_whole(s, k);
  }
  if (operands == 3 && !(*whole && s->combinations <= 4096)) s->combinations = *whole = 0;
  s->edge_cases = s->combinations < most ? s->combinations : most;
  if (s->edge_cases < s->combinations) *whole = 0;
}

static int open_edges(vectors_source *s, int level) {
  for (int k = 0; k < s->v->op->operands; k++) {
    s->edges[k] = malloc(EDGES_MAX * sizeof *s->edges[k]);
    if (!s->edges[k]) return cli_fail(NULL, "out of memory");
    s->edge_count[k] = vectors_edges(s->edges[k], &s->v->x[k], level);
  }
  return CLI_OK;
}

int vectors_source_open(vectors_source *s, const vectors *v, int level) {
  int whole, operands = v->op->operands;
  *s = (vectors_source){.v = v};
  if (operands == 1 && vectors_width(&v->x[0]) <= EVERY_CODE_WIDTH) {
    s->every_code = 1;
    s->count = vectors_last(&v->x[0]) + 1;
    return CLI_OK;
  }
  if (open_edges(s, level)) {
    vectors_source_close(s);
    return CLI_BAD;
  }
  count_edges(s, level, &whole);
  if (!whole && vectors_has_border(v)) s->border = level > 1 ? 200000 : 20000;
  uint64_t random = whole ? 0 : level > 1 ? 400000 : 10000;
  if (operands == 3) random *= 5;
  s->count = s->edge_cases + s->border + random;
  return CLI_OK;
}

void vectors_source_close(vectors_source *s) {
  for (int k = 0; k < VECTORS_OPERANDS; k++) free(s->edges[k]);
}

/* ---- cases ---- */

/* Draws one more random word of case i. Operands have a key of their own, so that R of a stochastic mode is independent
 * of them. */
static uint32_t draw(const vectors_source *s, uint64_t i, unsigned k) {
  hu_stream stream = {s->v->stream.key ^ UINT64_C(0x5EC70C5), 0};
  return hu_stream_word(stream, 16 * i + k);
}

/* Makes a summand that nearly undoes the first operand or the product: minus it, rounded, and a step aside. */
static uint64_t cancelling(const vectors_source *s, const vectors_case *c, uint32_t word) {
  const vectors_type *t = s->v->x;
  int last = s->v->op->operands - 1;
  hu_format f = t[last].format;
  hu_mode mode = {.round = (uint8_t)(word >> 8 & 1 ? HU_RTZ : HU_RAZ), .saturate = HU_SAT_FINITE};
  uint32_t a = (uint32_t)c->x[0], b = (uint32_t)c->x[1];
  uint32_t z = last == 2 ? hu_mul(f, mode, t[0].format, a, t[1].format, b, 0, NULL)
                         : hu_convert(f, mode, t[0].format, a, 0, NULL);
  if (word >> 9 & 1) z = word >> 10 & 1 ? hu_next_up(f, z) : hu_next_down(f, z);
  return f.sign ? z ^ ((uint32_t)1 << (f.e + f.m)) : z;
}

static void edge_case(const vectors_source *s, uint64_t i, uint64_t *x) {
  /* Where only a part of the combinations is asked for, equal steps go through all of them. */
  uint64_t step = s->combinations / s->edge_cases;
  uint64_t at = s->edge_cases == s->combinations ? i : i * step + i % step;
  for (int k = s->v->op->operands - 1; k >= 0; k--) {
    x[k] = s->edges[k][at % s->edge_count[k]];
    at /= s->edge_count[k];
  }
}

static void random_case(const vectors_source *s, uint64_t i, vectors_case *c) {
  int operands = s->v->op->operands;
  for (int k = 0; k < operands; k++) {
    const vectors_type *t = &s->v->x[k];
    uint32_t word = draw(s, i, 4 * (unsigned)k), which = draw(s, i, 4 * (unsigned)k + 1);
    uint64_t wide = (uint64_t)draw(s, i, 4 * (unsigned)k + 2) << 32 | word;
    c->x[k] = which % 8 < 3 ? s->edges[k][word % s->edge_count[k]] : wide & vectors_last(t);
    /* Integers of every length. */
    if (t->kind == VECTORS_INTEGER && which % 8 >= 3) c->x[k] >>= which / 8 % t->integer.width;
    if (k && k == operands - 1 && which % 8 == 7) c->x[k] = cancelling(s, c, word);
  }
}

int vectors_source_case(const vectors_source *s, uint64_t i, vectors_case *c) {
  if (i >= s->count) return 0;
  if (s->every_code) {
    c->x[0] = i;
  } else if (i < s->edge_cases) {
    edge_case(s, i, c->x);
  } else if (i < s->edge_cases + s->border) {
    uint32_t word[4];
    for (unsigned k = 0; k < 4; k++) word[k] = draw(s, i, k);
    vectors_border_case(s->v, word, c->x);
  } else {
    random_case(s, i, c);
  }
  return 1;
}
