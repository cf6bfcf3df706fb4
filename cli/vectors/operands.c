/* SPDX-License-Identifier: MIT */
/* Operands of generated vectors: every code of one small operand; patterns at the edges of their types in every
 * combination, results at the border of tininess, random ones. The same operands for the same types, operation, level
 * and stream. */
#include <stdlib.h>

#include "cli/vectors/vectors.h"
#include "halfulp/scalar.h"

enum { EDGES_MAX = VECTORS_EDGES_MAX, TRAILING_MAX = 80, FIELDS_MAX = 80, EVERY_CODE_WIDTH = 16 };

static size_t add_small(uint32_t *list, size_t n, size_t capacity, uint32_t x) {
  for (size_t i = 0; i < n; i++)
    if (list[i] == x) return n;
  if (n < capacity) list[n++] = x;
  return n;
}

static size_t add_once(uint64_t *list, size_t n, uint64_t x) {
  for (size_t i = 0; i < n; i++)
    if (list[i] == x) return n;
  if (n < EDGES_MAX) list[n++] = x;
  return n;
}

/* Lists trailing significands: few digits set at either end; at level 2 a single one, and all above one, anywhere. */
static size_t trailing_of(uint32_t *list, hu_format format, int level) {
  uint32_t ones = (uint32_t)(((uint64_t)1 << format.m) - 1), half = format.m ? (uint32_t)1 << (format.m - 1) : 0;
  const uint32_t some[] = {0, 1, half, half + 1, half - 1, ones, ones - 1, 2};
  size_t n = 0;
  for (size_t i = 0; i < sizeof some / sizeof *some; i++) n = add_small(list, n, TRAILING_MAX, some[i] & ones);
  for (uint32_t i = 0; level > 1 && i < format.m; i++) {
    n = add_small(list, n, TRAILING_MAX, (uint32_t)1 << i);
    n = add_small(list, n, TRAILING_MAX, ones & ~(ones >> 1 >> i));
  }
  return n;
}

/* Lists exponent fields: both ends, one, and the distances from it at which a significand leaves another's reach. */
static size_t fields_of(uint32_t *list, hu_format format, int level) {
  uint32_t top = ((uint32_t)1 << format.e) - 1;
  hu_mode rtz = {.round = HU_RTZ, .saturate = HU_SAT_FINITE};
  uint32_t one = (hu_encode64(format, rtz, 1.0, 0, NULL) & ~hu_limits_of(format).sign_mask) >> format.m, m = format.m;
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

static size_t code_edges(uint64_t *list, hu_format format, int level) {
  uint32_t trailing[TRAILING_MAX], fields[FIELDS_MAX];
  hu_limits limits = hu_limits_of(format);
  size_t trailing_count = trailing_of(trailing, format, level), field_count = fields_of(fields, format, level), n = 0;
  uint32_t magnitudes[] = {limits.max_code, limits.max_code - 1, limits.inf_code, limits.min_code,
                           limits.min_normal_code};
  for (size_t k = 0; k < sizeof magnitudes / sizeof *magnitudes; k++)
    if (magnitudes[k] != HU_NO_CODE) n = add_once(list, n, magnitudes[k]);
  for (size_t i = 0; i < field_count; i++)
    for (size_t j = 0; j < trailing_count; j++) n = add_once(list, n, (uint64_t)fields[i] << format.m | trailing[j]);
  if (limits.has_nan) n = add_once(list, n, limits.nan_code);
  for (size_t i = 0, plus = n; format.sign && i < plus; i++) n = add_once(list, n, list[i] ^ limits.sign_mask);
  return n;
}

/* Lists powers of two, their neighbours, and halves between them: integers, and what they become by a narrow format. */
static size_t integer_edges(uint64_t *list, const vectors_type *type) {
  uint64_t last = vectors_last(type);
  size_t n = 0;
  for (unsigned i = 0; i < type->integer.width; i++) {
    uint64_t power = (uint64_t)1 << i;
    for (int step = -2; step <= 2; step++) n = add_once(list, n, (power + (uint64_t)(int64_t)step) & last);
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

size_t vectors_edges(uint64_t *list, const vectors_type *type, int level) {
  unsigned width = vectors_width(type);
  if (width <= (level > 1 ? 8u : 6u)) {
    for (uint64_t c = 0; c <= vectors_last(type); c++) list[c] = c;
    return (size_t)1 << width;
  }
  if (type->kind == VECTORS_INTEGER) return integer_edges(list, type);
  return type->kind == VECTORS_BINARY64 ? double_edges(list) : code_edges(list, type->format, level);
}

/* ---- how many cases ---- */

static int is_whole(const vectors_source *source, int k) {
  return source->edge_count[k] - 1 == vectors_last(&source->test->x[k]);
}

/* Counts edges against each other, all or in equal steps through them; three operands where all codes can be had. */
static void count_edges(vectors_source *source, int level, int *whole) {
  int operands = source->test->op.operands;
  uint64_t most = level > 1 ? 4000000 : 250000;
  source->combinations = 1;
  *whole = 1;
  for (int k = 0; k < operands; k++) {
    source->combinations *= source->edge_count[k];
    *whole = *whole && is_whole(source, k);
  }
  if (operands == 3 && !(*whole && source->combinations <= 4096)) source->combinations = *whole = 0;
  source->edge_cases = source->combinations < most ? source->combinations : most;
  if (source->edge_cases < source->combinations) *whole = 0;
}

static int open_edges(vectors_source *source, int level) {
  for (int k = 0; k < source->test->op.operands; k++) {
    source->edges[k] = malloc(EDGES_MAX * sizeof *source->edges[k]);
    if (!source->edges[k]) return cli_fail(NULL, "out of memory");
    source->edge_count[k] = vectors_edges(source->edges[k], &source->test->x[k], level);
  }
  return CLI_OK;
}

int vectors_source_open(vectors_source *source, const vectors *test, int level) {
  int whole, operands = test->op.operands;
  *source = (vectors_source){.test = test};
  if (operands == 1 && vectors_width(&test->x[0]) <= EVERY_CODE_WIDTH) {
    source->every_code = 1;
    source->count = vectors_last(&test->x[0]) + 1;
    return CLI_OK;
  }
  if (open_edges(source, level)) {
    vectors_source_close(source);
    return CLI_BAD;
  }
  count_edges(source, level, &whole);
  if (!whole && vectors_has_border(test)) source->border = level > 1 ? 200000 : 20000;
  uint64_t random = whole ? 0 : level > 1 ? 400000 : 10000;
  if (operands == 3) random *= 5;
  source->count = source->edge_cases + source->border + random;
  return CLI_OK;
}

void vectors_source_close(vectors_source *source) {
  for (int k = 0; k < VECTORS_OPERANDS; k++) free(source->edges[k]);
}

/* ---- cases ---- */

/* Draws one more random word of case i. Operands have a key of their own, so that R of a stochastic mode is independent
 * of them. */
static uint32_t draw(const vectors_source *source, uint64_t i, unsigned k) {
  hu_stream stream = {source->test->stream.key ^ UINT64_C(0x5EC70C5), 0};
  return hu_stream_word(stream, 16 * i + k);
}

/* Makes a summand that nearly undoes the first operand or the product: minus it, rounded, and a step aside. */
static uint64_t cancelling(const vectors_source *source, const vectors_case *instance, uint32_t word) {
  const vectors_type *type = source->test->x;
  int last = source->test->op.operands - 1;
  hu_format format = type[last].format;
  hu_mode mode = {.round = (uint8_t)(word >> 8 & 1 ? HU_RTZ : HU_RAZ), .saturate = HU_SAT_FINITE};
  uint32_t a = (uint32_t)instance->x[0], b = (uint32_t)instance->x[1];
  uint32_t z = last == 2 ? hu_mul(format, mode, type[0].format, a, type[1].format, b, 0, NULL)
                         : hu_convert(format, mode, type[0].format, a, 0, NULL);
  if (word >> 9 & 1) z = word >> 10 & 1 ? hu_next_up(format, z) : hu_next_down(format, z);
  return format.sign ? z ^ ((uint32_t)1 << (format.e + format.m)) : z;
}

static void edge_case(const vectors_source *source, uint64_t i, uint64_t *x) {
  /* Where only a part of the combinations is asked for, equal steps go through all of them. */
  uint64_t step = source->combinations / source->edge_cases;
  uint64_t at = source->edge_cases == source->combinations ? i : i * step + i % step;
  for (int k = source->test->op.operands - 1; k >= 0; k--) {
    x[k] = source->edges[k][at % source->edge_count[k]];
    at /= source->edge_count[k];
  }
}

static void random_case(const vectors_source *source, uint64_t i, vectors_case *instance) {
  int operands = source->test->op.operands;
  for (int k = 0; k < operands; k++) {
    const vectors_type *type = &source->test->x[k];
    uint32_t word = draw(source, i, 4 * (unsigned)k), which = draw(source, i, 4 * (unsigned)k + 1);
    uint64_t wide = (uint64_t)draw(source, i, 4 * (unsigned)k + 2) << 32 | word;
    instance->x[k] = which % 8 < 3 ? source->edges[k][word % source->edge_count[k]] : wide & vectors_last(type);
    /* Integers of every length. */
    if (type->kind == VECTORS_INTEGER && which % 8 >= 3) instance->x[k] >>= which / 8 % type->integer.width;
    if (k && k == operands - 1 && which % 8 == 7) instance->x[k] = cancelling(source, instance, word);
  }
}

int vectors_source_case(const vectors_source *source, uint64_t i, vectors_case *instance) {
  if (i >= source->count) return 0;
  if (source->every_code) {
    instance->x[0] = i;
  } else if (i < source->edge_cases) {
    edge_case(source, i, instance->x);
  } else if (i < source->edge_cases + source->border) {
    uint32_t word[4];
    for (unsigned k = 0; k < 4; k++) word[k] = draw(source, i, k);
    vectors_border_case(source->test, word, instance->x);
  } else {
    random_case(source, i, instance);
  }
  return 1;
}
