/* SPDX-License-Identifier: MIT */
/* Test vectors of dot products: rows at the edges of their formats, rows that cancel, random ones. */
#include <stdlib.h>
#include <string.h>

#include "cli/tensors/array.h"
#include "cli/vectors/vectors.h"
#include "halfulp/scalar.h"

enum { A, B, C, SA, SB, OPERANDS };

typedef struct dot_case {
  uint64_t *x[OPERANDS]; /* patterns */
  uint32_t *words;
  size_t words_capacity, inside; /* roundings inside the model */
  uint64_t result;
  uint32_t flags;
} dot_case;

typedef struct generator {
  const vectors_dot *test;
  uint64_t *edges[OPERANDS]; /* of codes; elements that are no codes have some patterns of their own */
  size_t edge_count[OPERANDS];
  size_t count[OPERANDS]; /* elements */
  void *stored[OPERANDS]; /* as hu_dot takes them */
  uint64_t corners;
} generator;

struct vectors_dot_source {
  generator shared;
  dot_case row;
};

static hu_type element_of(const vectors_dot *test, int i) {
  return i == A ? test->dot.a : i == B ? test->dot.b : i == C ? test->dot.result : test->dot.scale;
}

vectors_type vectors_dot_result(const vectors_dot *test) {
  hu_type element = test->dot.result;
  if (element.kind == HU_TYPE_CODES) return (vectors_type){VECTORS_CODE, element.format, {0}};
  if (element.kind == HU_TYPE_BINARY64) return (vectors_type){VECTORS_BINARY64, {0}, {0}};
  return (vectors_type){VECTORS_INTEGER, {0}, {(uint8_t)hu_type_width(element), element.kind == HU_TYPE_INT32, 0, 1}};
}

unsigned vectors_dot_digits(const vectors_dot *test, int i) { return (hu_type_width(element_of(test, i)) + 3) / 4; }

size_t vectors_dot_scales(const vectors_dot *test) {
  size_t every = test->dot.accum.scaled ? test->dot.accum.promote : test->dot.accum.block.every;
  return every ? (test->n + every - 1) / every : 0;
}

/* ---- operands ---- */

/* Draws a word for the k-th question about case i; independent of the words that the roundings draw. */
static uint32_t draw(const generator *shared, uint64_t i, size_t k) {
  hu_stream stream = {shared->test->stream.key ^ UINT64_C(0xD07D07), 0};
  return hu_stream_word(stream, (i << 16) + k);
}

static uint64_t edge_of(const generator *shared, int operand, uint32_t which) {
  static const uint64_t others[] = {0,
                                    1,
                                    2,
                                    0x7F,
                                    0x80,
                                    0xFF,
                                    0x7FFFFFFF,
                                    0x80000000,
                                    UINT64_C(0x3FF0000000000000),
                                    UINT64_C(0x7FEFFFFFFFFFFFFF),
                                    UINT64_C(0x8000000000000000)};
  if (shared->edges[operand]) return shared->edges[operand][which % shared->edge_count[operand]];
  return others[which % (sizeof others / sizeof *others)];
}

static uint64_t masked(hu_type element, uint64_t x) {
  unsigned width = hu_type_width(element);
  return width >= 64 ? x : x & (((uint64_t)1 << width) - 1);
}

/* Draws a row. Some rows are full, some nearly empty; three elements of eight are edges. */
static void draw_row(const generator *shared, uint64_t i, int operand, uint64_t *z) {
  size_t ask = (size_t)operand << 13;
  hu_type element = element_of(shared->test, operand);
  uint32_t sparse = draw(shared, i, 0) % 4;
  for (size_t k = 0; k < shared->count[operand]; k++) {
    uint32_t word = draw(shared, i, ask + 2 * k + 1), which = draw(shared, i, ask + 2 * k + 2);
    uint64_t wide = (uint64_t)which << 32 | word;
    z[k] = masked(element, which % 8 < 3 ? edge_of(shared, operand, word) : hu_type_width(element) > 32 ? wide : word);
    if (operand < C && sparse == 0 && which >> 30) z[k] = 0;
  }
}

/* Puts edges of A, B and C against each other in element 0; what multiplies nothing is one or an edge as well. */
static void draw_corner(const generator *shared, uint64_t i, const dot_case *row) {
  for (int operand = 0; operand < OPERANDS; operand++) {
    for (size_t k = 0; k < shared->count[operand]; k++) row->x[operand][k] = 0;
    if (shared->count[operand])
      row->x[operand][0] =
          masked(element_of(shared->test, operand), edge_of(shared, operand, draw(shared, i, (size_t)operand + 1)));
    for (size_t k = 1; operand > C && k < shared->count[operand]; k++) row->x[operand][k] = row->x[operand][0];
  }
}

/* Describes the sum of the row, whose result goes into z. */
static hu_product product_of(const generator *shared, const dot_case *row, uint64_t *z) {
  const cli_dot *dot = &shared->test->dot;
  hu_view view[OPERANDS];
  for (int i = 0; i < OPERANDS; i++) {
    hu_type element = element_of(shared->test, i);
    for (size_t k = 0; k < shared->count[i]; k++)
      cli_put_pattern(shared->stored[i], k, hu_type_size(element), row->x[i][k]);
    view[i] = hu_view_of(shared->count[i] ? shared->stored[i] : NULL, 1, element);
  }
  hu_product made = hu_product_of_dot(shared->test->n, hu_output_of(z, 1, dot->result), view[A], view[B], &dot->accum);
  made.c = view[C];
  made.sa = view[SA];
  made.sb = view[SB];
  return made;
}

/* Makes C minus the sum of the products, or a step beside it. */
static int cancel(const generator *shared, uint64_t i, dot_case *row) {
  hu_type element = shared->test->dot.result;
  uint64_t z[1] = {0};
  uint32_t word = draw(shared, i, 3);
  if (element.kind != HU_TYPE_CODES || !element.format.sign) return CLI_OK;
  hu_product in = product_of(shared, row, z);
  hu_how how = {.mode = {.round = HU_RTZ, .saturate = HU_SAT_FINITE}};
  in.c.data = NULL;
  hu_status status = hu_dot(&in, &how);
  if (status != HU_OK) return cli_fail_status(NULL, status);
  uint32_t code = (uint32_t)cli_get_pattern(z, 0, hu_type_size(element));
  if (word & 1) code = word & 2 ? hu_next_up(element.format, code) : hu_next_down(element.format, code);
  row->x[C][0] = masked(element, code ^ hu_limits_of(element.format).sign_mask);
  return CLI_OK;
}

static int draw_case(const generator *shared, uint64_t i, dot_case *row) {
  if (i < shared->corners) {
    draw_corner(shared, i, row);
    return CLI_OK;
  }
  for (int operand = 0; operand < OPERANDS; operand++) draw_row(shared, i, operand, row->x[operand]);
  return draw(shared, i, 4) % 6 == 0 ? cancel(shared, i, row) : CLI_OK;
}

/* ---- results ---- */

int vectors_dot_is_signalling(const hu_type *element, uint64_t x) {
  vectors_type type = {element->kind == HU_TYPE_BINARY64 ? VECTORS_BINARY64 : VECTORS_CODE, element->format, {0}};
  return (element->kind == HU_TYPE_CODES || element->kind == HU_TYPE_BINARY64) && vectors_is_signalling(&type, x);
}

static int has_signalling(const generator *shared, const dot_case *row) {
  for (int i = 0; i < OPERANDS; i++) {
    hu_type element = element_of(shared->test, i);
    for (size_t k = 0; k < shared->count[i]; k++)
      if (vectors_dot_is_signalling(&element, row->x[i][k])) return 1;
  }
  return 0;
}

/* Counts the roundings that there are inside, where the model requires words of its own. */
static int count_inside(const generator *shared, dot_case *row, const hu_product *in, hu_mode mode) {
  hu_dot_random none = {0};
  hu_how how = {.mode = mode};
  if (!shared->test->dot.accum.mode.bits) return CLI_OK;
  hu_status status = hu_dot_words(in, &none, &how);
  row->inside = none.roundings;
  if (status != HU_OK && status != HU_E_SHAPE) return cli_fail_status(NULL, status);
  if (row->inside < row->words_capacity) return CLI_OK;
  free(row->words);
  row->words_capacity = row->inside + 1;
  row->words = cli_alloc(row->words_capacity, sizeof *row->words);
  return row->words ? CLI_OK : CLI_BAD;
}

static int solve(const generator *shared, uint64_t i, dot_case *row) {
  const cli_dot *dot = &shared->test->dot;
  uint64_t z[1] = {0};
  hu_events events = {0};
  hu_exec exec = {1, 0, shared->test->stream, {0}};
  hu_product in = product_of(shared, row, z);
  hu_how how = {dot->mode, &exec, &events};
  hu_status status;
  exec.stream.counter += i;
  if (dot->words) {
    if (count_inside(shared, row, &in, dot->mode)) return CLI_BAD;
    for (size_t k = 0; k <= row->inside; k++) {
      unsigned bits = k < row->inside ? dot->accum.mode.bits : dot->mode.bits;
      row->words[k] = bits ? draw(shared, i, ((size_t)7 << 13) + k) >> (32 - bits) : 0;
    }
    hu_dot_random random = {row->words, row->inside, row->words[row->inside], 0};
    status = hu_dot_words(&in, &random, &how);
  } else {
    status = hu_dot(&in, &how);
  }
  if (status != HU_OK) return cli_fail_status(NULL, status);
  row->result = cli_get_pattern(z, 0, hu_type_size(dot->result));
  if (has_signalling(shared, row)) events.invalid++;
  row->flags = vectors_flags_of(&events);
  return CLI_OK;
}

/* Writes the operands and the words as fields of a line. */
static void write_fields(FILE *out, const generator *shared, const dot_case *row) {
  const vectors_dot *test = shared->test;
  const char *blank = test->joined ? "" : " ";
  for (int i = 0; i < OPERANDS; i++) {
    if (!shared->count[i]) continue;
    if (i) fputs(blank, out);
    for (size_t k = 0; k < shared->count[i]; k++)
      fprintf(out, "%0*llX", (int)vectors_dot_digits(test, i), (unsigned long long)row->x[i][k]);
  }
  if (test->dot.words) fputs(blank, out);
  for (size_t k = 0; test->dot.words && k < row->inside + (test->dot.mode.bits ? 1 : 0); k++)
    fprintf(out, "%08X", row->words[k]);
}

/* Prints a case as JSON. Returns 0 or an exit code. */
static int json_case(const generator *shared, const dot_case *row, int first) {
  vectors_type type = vectors_dot_result(shared->test);
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (!out) return cli_fail(NULL, "out of memory");
  write_fields(out, shared, row);
  int failed = fclose(out);
  if (!failed) vectors_json_case(first, text, &type, row->result, row->flags);
  free(text);
  return failed ? cli_fail(NULL, "out of memory") : CLI_OK;
}

static void print_case(const generator *shared, const dot_case *row) {
  const char *blank = shared->test->joined ? "" : " ";
  write_fields(stdout, shared, row);
  printf("%s%0*llX%s%02X\n", blank, (int)vectors_dot_digits(shared->test, C), (unsigned long long)row->result, blank,
         row->flags);
}

/* ---- all cases ---- */

static int open_operand(generator *shared, dot_case *row, int i) {
  hu_type element = element_of(shared->test, i);
  shared->count[i] = i < C ? shared->test->n : i == C ? 1 : vectors_dot_scales(shared->test);
  if (!shared->count[i]) return CLI_OK;
  row->x[i] = cli_alloc(shared->count[i], sizeof *row->x[i]);
  shared->stored[i] = cli_alloc(shared->count[i], hu_type_size(element));
  if (!row->x[i] || !shared->stored[i]) return CLI_BAD;
  if (element.kind != HU_TYPE_CODES) return CLI_OK;
  vectors_type type = {VECTORS_CODE, element.format, {0}};
  shared->edges[i] = cli_alloc(VECTORS_EDGES_MAX, sizeof *shared->edges[i]);
  if (!shared->edges[i]) return CLI_BAD;
  shared->edge_count[i] = vectors_edges(shared->edges[i], &type, 1);
  return CLI_OK;
}

static int open_all(generator *shared, dot_case *row) {
  int status = CLI_OK;
  row->words_capacity = 1;
  row->words = cli_alloc(1, sizeof *row->words);
  if (!row->words) return CLI_BAD;
  for (int i = 0; i < OPERANDS && status == CLI_OK; i++) status = open_operand(shared, row, i);
  return status;
}

static void close_all(generator *shared, dot_case *row) {
  for (int i = 0; i < OPERANDS; i++) {
    free(shared->edges[i]);
    free(row->x[i]);
    free(shared->stored[i]);
  }
  free(row->words);
}

static uint64_t corners_of(int level) { return level > 1 ? 100000 : 5000; }

uint64_t vectors_dot_cases(int level) { return corners_of(level) * 3; }

int vectors_dot_generate(const vectors_dot *test, int level) {
  generator shared = {.test = test, .corners = corners_of(level)};
  dot_case row = {0};
  int status = open_all(&shared, &row);
  for (uint64_t i = 0; i < vectors_dot_cases(level) && status == CLI_OK && !ferror(stdout); i++) {
    status = draw_case(&shared, i, &row);
    if (status == CLI_OK) status = solve(&shared, i, &row);
    if (status == CLI_OK && test->json) status = json_case(&shared, &row, i == 0);
    if (status == CLI_OK && !test->json) print_case(&shared, &row);
  }
  if (test->json) printf("]\n");
  close_all(&shared, &row);
  return status;
}

/* ---- one case, for a complete file that is judged ---- */

vectors_dot_source *vectors_dot_open(const vectors_dot *test, int level) {
  vectors_dot_source *source = calloc(1, sizeof *source);
  if (!source) return cli_fail(NULL, "out of memory"), NULL;
  source->shared.test = test;
  source->shared.corners = corners_of(level);
  if (open_all(&source->shared, &source->row) == CLI_OK) return source;
  vectors_dot_close(source);
  return NULL;
}

char *vectors_dot_fields(vectors_dot_source *source, uint64_t i) {
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (!out) return NULL;
  /* The number of words comes from the case solved. */
  int status = draw_case(&source->shared, i, &source->row);
  if (status == CLI_OK && source->shared.test->dot.words) status = solve(&source->shared, i, &source->row);
  if (status == CLI_OK) write_fields(out, &source->shared, &source->row);
  if (fclose(out) == 0 && status == CLI_OK) return text;
  free(text);
  return NULL;
}

void vectors_dot_close(vectors_dot_source *source) {
  close_all(&source->shared, &source->row);
  free(source);
}
