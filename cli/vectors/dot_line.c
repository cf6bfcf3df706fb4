/* SPDX-License-Identifier: MIT */
/* See dot_line.h. */
#include "cli/vectors/dot_line.h"

#include <stdlib.h>
#include <string.h>

#include "cli/accum/text.h"
#include "cli/base/numbers.h"
#include "cli/tensors/array.h"

/* Elements of one operand: codes as hu_dot stores them. */
typedef struct elements {
  void *data;
  size_t count;
} elements;

uint64_t cli_get_pattern(const void *x, size_t i, size_t size) {
  if (size == 1) return ((const uint8_t *)x)[i];
  if (size == 2) return ((const uint16_t *)x)[i];
  return size == 4 ? ((const uint32_t *)x)[i] : ((const uint64_t *)x)[i];
}

void cli_put_pattern(void *z, size_t i, size_t size, uint64_t pattern) {
  if (size == 1) ((uint8_t *)z)[i] = (uint8_t)pattern;
  if (size == 2) ((uint16_t *)z)[i] = (uint16_t)pattern;
  if (size == 4) ((uint32_t *)z)[i] = (uint32_t)pattern;
  if (size == 8) ((uint64_t *)z)[i] = pattern;
}

static int read_elements(elements *z, const cli_dot *s, const cli_lines *lines, const char *text, hu_element e,
                         const char *what) {
  char piece[17] = "", wrong[160];
  unsigned width = hu_element_width(e);
  size_t digits = (width + 3) / 4, size = hu_element_size(e), length = strlen(text);
  uint64_t last = UINT64_MAX >> (64 - width);
  if (length % digits) {
    snprintf(wrong, sizeof wrong, "%s: %zu hex digits, not a multiple of %zu", what, length, digits);
    return cli_lines_fail(lines, wrong);
  }
  z->count = length / digits;
  z->data = cli_room(z->count, size);
  if (!z->data) return CLI_BAD;
  for (size_t i = 0; i < z->count; i++) {
    uint64_t x;
    memcpy(piece, text + i * digits, digits);
    if (!hex_parse(&x, piece, (unsigned)digits)) {
      snprintf(wrong, sizeof wrong, "%s: '%s' is not hex", what, piece);
      return cli_lines_fail(lines, wrong);
    }
    if (s->recorded) x &= last;
    if (x > last) {
      snprintf(wrong, sizeof wrong, "%s: '%s' is above %llX, the largest code there", what, piece,
               (unsigned long long)last);
      return cli_lines_fail(lines, wrong);
    }
    cli_put_pattern(z->data, i, size, x);
  }
  return CLI_OK;
}

enum { A, B, C, SA, SB, OPERANDS, WORDS = OPERANDS, ROWS };
typedef struct row {
  elements x[ROWS];
} row;

static hu_element element_of(const cli_dot *s, int i) {
  if (i == WORDS) return (hu_element){.kind = HU_ELEMENT_S32};
  return i == A ? s->a : i == B ? s->b : i == C ? s->d : s->scale;
}

static int check_counts(const cli_dot *s, const cli_lines *lines, const row *r) {
  char wrong[160];
  size_t n = r->x[A].count, every = s->accum.scaled ? s->accum.promote : s->accum.block.every;
  size_t scales = every ? (n + every - 1) / every : 0;
  if (r->x[B].count != n) {
    snprintf(wrong, sizeof wrong, "A has %zu elements, B has %zu", n, r->x[B].count);
  } else if (n % s->depth) {
    snprintf(wrong, sizeof wrong, "%zu elements, not a multiple of the instruction's K, %zu", n, s->depth);
  } else if (r->x[C].data && r->x[C].count != 1) {
    snprintf(wrong, sizeof wrong, "C has %zu elements, one is expected", r->x[C].count);
  } else if (r->x[SA].count != scales || r->x[SB].count != scales) {
    snprintf(wrong, sizeof wrong, "%zu and %zu scales, %zu are expected", r->x[SA].count, r->x[SB].count, scales);
  } else {
    return CLI_OK;
  }
  return cli_lines_fail(lines, wrong);
}

/* Sums with words that the row brings along: those of the model, then that of the last rounding. */
static hu_status sum_by_words(uint64_t *z, const cli_dot *s, const row *r, const hu_dot_operands *in,
                              hu_events *events) {
  const elements *w = &r->x[WORDS];
  size_t inside = 0, last = s->mode.bits ? 1 : 0, n = r->x[A].count;
  uint32_t random = last && w->count ? ((const uint32_t *)w->data)[w->count - 1] : 0;
  hu_status status = hu_dot_words(n, z, s->d, in, &s->accum, s->mode, w->data, w->count, random, &inside, NULL);
  if (status != HU_OK) return status;
  if (w->count != (s->accum.mode.bits ? inside : 0) + last) return HU_E_SHAPE;
  return hu_dot_words(n, z, s->d, in, &s->accum, s->mode, w->data, w->count, random, NULL, events);
}

static int sum_of(uint64_t *d, hu_events *events, const cli_dot *s, const row *r, const cli_lines *lines,
                  const hu_exec *exec) {
  hu_dot_operands in = {0};
  uint64_t z[1] = {0};
  hu_vector *v[OPERANDS] = {&in.a, &in.b, &in.c, &in.sa, &in.sb};
  for (int i = 0; i < OPERANDS; i++) *v[i] = (hu_vector){r->x[i].data, 1, 0, element_of(s, i)};
  size_t n = r->x[A].count;
  hu_status status;
  if (s->words)
    status = sum_by_words(z, s, r, &in, events);
  else if (s->visit)
    status = hu_dot_trace(n, z, s->d, &in, &s->accum, s->mode, exec, events, s->visit, s->context);
  else
    status = hu_dot(n, z, s->d, &in, &s->accum, s->mode, exec, events);
  if (status == HU_E_SHAPE) return cli_lines_fail(lines, "not as many random words as the row has random roundings");
  if (status != HU_OK) return cli_fail_status(NULL, status);
  *d = cli_get_pattern(z, 0, hu_element_size(s->d));
  return CLI_OK;
}

int cli_split(char *line, char **word, int most) {
  int count = 0;
  for (char *rest = line, *next; (next = strsep(&rest, " \t")) != NULL;) {
    if (!*next) continue;
    if (count == most) return most + 1;
    word[count++] = next;
  }
  return count;
}

int cli_dot_operands(const cli_dot *s) { return (hu_accum_is_scaled(&s->accum) ? OPERANDS : SA) + s->words; }

int cli_dot_line(uint64_t *d, hu_events *events, const cli_dot *s, char *const *word, int count, const cli_lines *lines,
                 const hu_exec *exec) {
  static const char *const names[ROWS] = {"A", "B", "C", "scales of A", "scales of B", "random words"};
  static const char *const fields[] = {"three fields are expected: A B C", "four fields are expected: A B C WORDS",
                                       "five fields are expected: A B C SCALES_A SCALES_B",
                                       "six fields are expected: A B C SCALES_A SCALES_B WORDS"};
  row r = {0};
  int wanted = cli_dot_operands(s), scaled = wanted - s->words == OPERANDS, status = CLI_OK;
  if (count != wanted) return cli_lines_fail(lines, fields[2 * scaled + s->words]);
  for (int i = 0; i < count && status == CLI_OK; i++) {
    int at = s->words && i == count - 1 ? WORDS : i;
    if (at == C && !strcmp(word[i], "-")) continue;
    status = read_elements(&r.x[at], s, lines, word[i], element_of(s, at), names[at]);
  }
  if (status == CLI_OK) status = check_counts(s, lines, &r);
  if (status == CLI_OK) status = sum_of(d, events, s, &r, lines, exec);
  for (int i = 0; i < ROWS; i++) free(r.x[i].data);
  return status;
}

int cli_dot_model(cli_dot *s, const char *what, const char *text, int *named) {
  hu_accum_preset p;
  if (cli_read_model(&s->accum, what, text)) return CLI_BAD;
  s->depth = 1;
  s->words = 0;
  *named = hu_accum_preset_find(&p, text) == HU_OK;
  if (*named) {
    s->depth = p.k;
    s->a = p.a;
    s->b = p.b;
    s->d = p.c;
  }
  s->scale.format = s->accum.scaled ? hu_format_ieee(8, 23, 0) : s->accum.block.scale;
  return CLI_OK;
}

int cli_dot_taken(const cli_dot *dot, const char *text) {
  uint64_t z = 0;
  hu_dot_operands x = {.a = {&z, 1, 0, dot->a}, .b = {&z, 1, 0, dot->b}, .c = {.element = dot->d}};
  hu_status status = hu_dot(0, &z, dot->d, &x, &dot->accum, dot->mode, NULL, NULL);
  if (status == HU_E_OPERAND_A) return cli_fail_operand(text, &dot->accum, status, dot->a, "--fa");
  if (status == HU_E_OPERAND_B) return cli_fail_operand(text, &dot->accum, status, dot->b, "--fb");
  return CLI_OK;
}
