/* SPDX-License-Identifier: MIT */
/* Test vectors of dot products: rows at the edges of their formats, rows that cancel, random ones; lines judged. */
#include <stdlib.h>
#include <string.h>

#include "cli/array.h"
#include "cli/numbers.h"
#include "cli/vectors.h"
#include "halfulp/scalar.h"

enum { A, B, C, SA, SB, OPERANDS };

/* The edge codes of each operand; elements that are no codes have some patterns of their own. */
typedef struct edges {
  vectors format;
  vectors_source source;
} edges;

typedef struct dot_case {
  uint64_t *x[OPERANDS]; /* patterns */
  uint32_t *words;
  size_t words_room, inside; /* roundings inside the model */
  uint64_t d;
  uint32_t flags;
} dot_case;

typedef struct generator {
  const vectors_dot *v;
  edges edge[OPERANDS];
  size_t count[OPERANDS]; /* elements */
  void *stored[OPERANDS]; /* as hu_dot takes them */
  uint64_t corners;
} generator;

static hu_element element_of(const vectors_dot *v, int i) {
  return i == A ? v->dot.a : i == B ? v->dot.b : i == C ? v->dot.d : v->dot.scale;
}

static unsigned digits_of(const vectors_dot *v, int i) { return (hu_element_width(element_of(v, i)) + 3) / 4; }

static size_t scales_of(const vectors_dot *v) {
  size_t every = v->dot.accum.scaled ? v->dot.accum.promote : v->dot.accum.block.every;
  return every ? (v->n + every - 1) / every : 0;
}

/* ---- operands ---- */

/* A word for the k-th question about case i; independent of the words that the roundings draw. */
static uint32_t draw(const generator *g, uint64_t i, size_t k) {
  hu_stream stream = {g->v->stream.key ^ UINT64_C(0xD07D07), 0};
  return hu_stream_word(stream, (i << 16) + k);
}

static uint64_t edge_of(const generator *g, int operand, uint32_t which) {
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
  const vectors_source *s = &g->edge[operand].source;
  if (element_of(g->v, operand).kind == HU_ELEMENT_CODE) return s->edges[which % s->edge_count];
  return others[which % (sizeof others / sizeof *others)];
}

static uint64_t masked(hu_element e, uint64_t x) {
  unsigned width = hu_element_width(e);
  return width >= 64 ? x : x & (((uint64_t)1 << width) - 1);
}

/* Some rows are full, some nearly empty; three elements of eight are edges. */
static void draw_row(const generator *g, uint64_t i, int operand, uint64_t *z) {
  size_t ask = (size_t)operand << 13;
  hu_element e = element_of(g->v, operand);
  uint32_t sparse = draw(g, i, 0) % 4;
  for (size_t k = 0; k < g->count[operand]; k++) {
    uint32_t word = draw(g, i, ask + 2 * k + 1), which = draw(g, i, ask + 2 * k + 2);
    uint64_t wide = (uint64_t)which << 32 | word;
    z[k] = masked(e, which % 8 < 3 ? edge_of(g, operand, word) : hu_element_width(e) > 32 ? wide : word);
    if (operand < C && sparse == 0 && which >> 30) z[k] = 0;
  }
}

/* Edges of A, B and C against each other in element 0; what multiplies nothing is one or an edge as well. */
static void draw_corner(const generator *g, uint64_t i, const dot_case *c) {
  for (int operand = 0; operand < OPERANDS; operand++) {
    for (size_t k = 0; k < g->count[operand]; k++) c->x[operand][k] = 0;
    if (g->count[operand])
      c->x[operand][0] = masked(element_of(g->v, operand), edge_of(g, operand, draw(g, i, (size_t)operand + 1)));
    for (size_t k = 1; operand > C && k < g->count[operand]; k++) c->x[operand][k] = c->x[operand][0];
  }
}

static hu_dot_operands operands_of(const generator *g, const dot_case *c) {
  hu_dot_operands in = {0};
  hu_vector *const v[OPERANDS] = {&in.a, &in.b, &in.c, &in.sa, &in.sb};
  for (int i = 0; i < OPERANDS; i++) {
    hu_element e = element_of(g->v, i);
    for (size_t k = 0; k < g->count[i]; k++) cli_put_pattern(g->stored[i], k, hu_element_size(e), c->x[i][k]);
    *v[i] = (hu_vector){g->count[i] ? g->stored[i] : NULL, 1, 0, e};
  }
  return in;
}

/* C becomes minus the sum of the products, or a step beside it. */
static int cancel(const generator *g, uint64_t i, dot_case *c) {
  hu_element e = g->v->dot.d;
  uint64_t z[1] = {0};
  uint32_t word = draw(g, i, 3);
  if (e.kind != HU_ELEMENT_CODE || !e.format.sign) return CLI_OK;
  hu_dot_operands in = operands_of(g, c);
  hu_mode mode = {.round = HU_RTZ, .saturate = HU_SAT_FINITE};
  in.c.data = NULL;
  hu_status s = hu_dot(g->v->n, z, e, &in, &g->v->dot.accum, mode, NULL, NULL);
  if (s != HU_OK) return cli_fail_status(NULL, s);
  uint32_t code = (uint32_t)cli_get_pattern(z, 0, hu_element_size(e));
  if (word & 1) code = word & 2 ? hu_next_up(e.format, code) : hu_next_down(e.format, code);
  c->x[C][0] = masked(e, code ^ hu_format_limits(e.format).sign_mask);
  return CLI_OK;
}

static int draw_case(const generator *g, uint64_t i, dot_case *c) {
  if (i < g->corners) {
    draw_corner(g, i, c);
    return CLI_OK;
  }
  for (int operand = 0; operand < OPERANDS; operand++) draw_row(g, i, operand, c->x[operand]);
  return draw(g, i, 4) % 6 == 0 ? cancel(g, i, c) : CLI_OK;
}

/* ---- results ---- */

static uint32_t flags_of(const hu_events *e) {
  uint32_t set = 0;
  if (e->inexact) set |= HU_EVENT_INEXACT;
  if (e->underflow) set |= HU_EVENT_UNDERFLOW;
  if (e->overflow) set |= HU_EVENT_OVERFLOW;
  if (e->divide_by_zero) set |= HU_EVENT_DIVIDE_BY_ZERO;
  if (e->invalid) set |= HU_EVENT_INVALID;
  return vectors_flags(set);
}

/* How many roundings there are inside, where the model wants words of its own. */
static int count_inside(const generator *g, dot_case *c, const hu_dot_operands *in) {
  const cli_dot *t = &g->v->dot;
  uint64_t z[1];
  if (!t->accum.mode.bits) return CLI_OK;
  hu_status s = hu_dot_words(g->v->n, z, t->d, in, &t->accum, t->mode, NULL, 0, 0, &c->inside, NULL);
  if (s != HU_OK && s != HU_E_SHAPE) return cli_fail_status(NULL, s);
  if (c->inside < c->words_room) return CLI_OK;
  free(c->words);
  c->words_room = c->inside + 1;
  c->words = cli_room(c->words_room, sizeof *c->words);
  return c->words ? CLI_OK : CLI_BAD;
}

static int solve(const generator *g, uint64_t i, dot_case *c) {
  const cli_dot *t = &g->v->dot;
  uint64_t z[1] = {0};
  hu_events events = {0};
  hu_exec exec = {1, 0, g->v->stream};
  hu_dot_operands in = operands_of(g, c);
  hu_status s;
  exec.stream.counter += i;
  if (t->words) {
    if (count_inside(g, c, &in)) return CLI_BAD;
    for (size_t k = 0; k <= c->inside; k++) {
      unsigned bits = k < c->inside ? t->accum.mode.bits : t->mode.bits;
      c->words[k] = bits ? draw(g, i, ((size_t)7 << 13) + k) >> (32 - bits) : 0;
    }
    s = hu_dot_words(g->v->n, z, t->d, &in, &t->accum, t->mode, c->words, c->inside, c->words[c->inside], NULL,
                     &events);
  } else {
    s = hu_dot(g->v->n, z, t->d, &in, &t->accum, t->mode, &exec, &events);
  }
  if (s != HU_OK) return cli_fail_status(NULL, s);
  c->d = cli_get_pattern(z, 0, hu_element_size(t->d));
  c->flags = flags_of(&events);
  return CLI_OK;
}

static void print_case(const generator *g, const dot_case *c) {
  const vectors_dot *v = g->v;
  const char *blank = v->joined ? "" : " ";
  for (int i = 0; i < OPERANDS; i++) {
    if (!g->count[i]) continue;
    if (i) fputs(blank, stdout);
    for (size_t k = 0; k < g->count[i]; k++) printf("%0*llX", (int)digits_of(v, i), (unsigned long long)c->x[i][k]);
  }
  if (v->dot.words) fputs(blank, stdout);
  for (size_t k = 0; v->dot.words && k < c->inside + (v->dot.mode.bits ? 1 : 0); k++) printf("%08X", c->words[k]);
  printf("%s%0*llX%s%02X\n", blank, (int)digits_of(v, C), (unsigned long long)c->d, blank, c->flags);
}

/* ---- all cases ---- */

static int open_all(generator *g, dot_case *c) {
  int status = CLI_OK;
  c->words_room = 1;
  c->words = cli_room(1, sizeof *c->words);
  if (!c->words) return CLI_BAD;
  for (int i = 0; i < OPERANDS && status == CLI_OK; i++) {
    hu_element e = element_of(g->v, i);
    g->count[i] = i < C ? g->v->n : i == C ? 1 : scales_of(g->v);
    if (!g->count[i]) continue;
    g->edge[i].format.op = vectors_find("add");
    g->edge[i].format.from = e.format;
    c->x[i] = cli_room(g->count[i], sizeof *c->x[i]);
    g->stored[i] = cli_room(g->count[i], hu_element_size(e));
    if (!c->x[i] || !g->stored[i]) return CLI_BAD;
    if (e.kind == HU_ELEMENT_CODE) status = vectors_source_open(&g->edge[i].source, &g->edge[i].format, 1);
  }
  return status;
}

static void close_all(generator *g, dot_case *c) {
  for (int i = 0; i < OPERANDS; i++) {
    if (g->edge[i].source.v) vectors_source_close(&g->edge[i].source);
    free(c->x[i]);
    free(g->stored[i]);
  }
  free(c->words);
}

int vectors_dot_generate(const vectors_dot *v, int level) {
  generator g = {.v = v, .corners = level > 1 ? 100000 : 5000};
  dot_case c = {0};
  uint64_t cases = g.corners * 3;
  int status = open_all(&g, &c);
  for (uint64_t i = 0; i < cases && status == CLI_OK && !ferror(stdout); i++) {
    status = draw_case(&g, i, &c);
    if (status == CLI_OK) status = solve(&g, i, &c);
    if (status == CLI_OK) print_case(&g, &c);
  }
  close_all(&g, &c);
  return status;
}

/* ---- lines judged ---- */

/* Fields of a line without blanks; the words' number is what is left. */
static char *spread(const vectors_dot *v, const char *line) {
  size_t digits[OPERANDS + 3], sum = digits_of(v, C) + 2, length = strlen(line);
  int fields = 0, operands = cli_dot_operands(&v->dot) - v->dot.words;
  for (int i = 0; i < operands; i++) {
    digits[fields] = digits_of(v, i) * (i < C ? v->n : i == C ? 1 : scales_of(v));
    sum += digits[fields++];
  }
  if (v->dot.words) {
    if (length < sum || (length - sum) % 8) return NULL;
    digits[fields++] = length - sum;
  }
  digits[fields++] = digits_of(v, C);
  digits[fields++] = 2;
  return vectors_spread(line, digits, fields);
}

static int is_nan(hu_element e, uint64_t d) {
  if (e.kind == HU_ELEMENT_BINARY64) return (d & INT64_MAX) > UINT64_C(0x7FF0000000000000);
  return e.kind == HU_ELEMENT_CODE && hu_class(e.format, (uint32_t)d) == HU_CLASS_NAN;
}

static int judge_line(const vectors_dot *v, cli_lines *lines, char *line, uint64_t *wrong) {
  static const char misfit[] = "not the operands, a result and flags in hex, each within its format";
  char *word[CLI_DOT_WORDS + 2];
  int operands = cli_dot_operands(&v->dot), count = cli_split(line, word, operands + 2);
  unsigned digits = digits_of(v, C);
  uint64_t given, flags = 0, want;
  hu_events events = {0};
  hu_exec exec = {1, 0, v->stream};
  exec.stream.counter += lines->number - 1;
  if (count != operands + 2 && !(v->no_flags && count == operands + 1)) return cli_lines_fail(lines, misfit);
  if (!hex_parse_any(&given, word[operands], masked(v->dot.d, UINT64_MAX))) return cli_lines_fail(lines, misfit);
  if (count > operands + 1 && !hex_parse_any(&flags, word[operands + 1], 0x1F)) return cli_lines_fail(lines, misfit);
  if (cli_dot_line(&want, &events, &v->dot, word, operands, lines, &exec)) return CLI_BAD;
  int nan = is_nan(v->dot.d, want);
  int right = (nan ? is_nan(v->dot.d, given) : given == want) && (v->no_flags || flags == flags_of(&events));
  if (right || (*wrong)++ >= v->first) return CLI_OK;
  printf("line %lu:", lines->number);
  for (int i = 0; i < operands; i++) printf(" %s", word[i]);
  printf(" is %0*llX %02X, wanted %0*llX %02X\n", (int)digits, (unsigned long long)given,
         (unsigned)(v->no_flags ? flags_of(&events) : flags), (int)digits, (unsigned long long)want, flags_of(&events));
  return CLI_OK;
}

int vectors_dot_judge(const vectors_dot *v, cli_lines *lines, uint64_t *cases, uint64_t *wrong) {
  int next, status = CLI_OK;
  *cases = *wrong = 0;
  while (status == CLI_OK && (next = cli_lines_next(lines)) != 0) {
    char *own = next > 0 && v->joined ? spread(v, lines->line) : NULL;
    if (next < 0)
      status = -next;
    else if (v->joined && !own)
      status = cli_lines_fail(lines, "not as many digits as the operands, a result and flags have");
    else
      status = judge_line(v, lines, own ? own : lines->line, wrong);
    ++*cases;
    free(own);
  }
  return status;
}
