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

static int is_tf32(hu_type element) {
  return element.kind == HU_TYPE_CODES && hu_format_equal(element.format, hu_format_ieee(8, 10, 0));
}

static int read_elements(elements *list, const cli_dot *dot, const cli_lines *lines, const char *text, hu_type element,
                         const char *what) {
  char piece[17] = "", wrong[160];
  unsigned width = hu_type_width(element);
  unsigned low = dot->registers && is_tf32(element) && *what != 'C' ? 13 : 0;
  size_t digits = (width + low + 3) / 4, size = hu_type_size(element), length = strlen(text);
  uint64_t last = UINT64_MAX >> (64 - width);
  if (length % digits) {
    snprintf(wrong, sizeof wrong, "%s: %zu hex digits, not a multiple of %zu", what, length, digits);
    return cli_lines_fail(lines, wrong);
  }
  list->count = length / digits;
  list->data = cli_alloc(list->count, size);
  if (!list->data) return CLI_BAD;
  for (size_t i = 0; i < list->count; i++) {
    uint64_t x;
    memcpy(piece, text + i * digits, digits);
    if (!hex_parse(&x, piece, (unsigned)digits)) {
      snprintf(wrong, sizeof wrong, "%s: '%s' is not hex", what, piece);
      return cli_lines_fail(lines, wrong);
    }
    if (x & ((1u << low) - 1)) {
      snprintf(wrong, sizeof wrong, "%s: '%s' is not a number of TF32: its 13 low bits are not 0", what, piece);
      return cli_lines_fail(lines, wrong);
    }
    x >>= low;
    if (dot->recorded) x &= last;
    if (x > last) {
      snprintf(wrong, sizeof wrong, "%s: '%s' is above %llX, the largest code there", what, piece,
               (unsigned long long)last);
      return cli_lines_fail(lines, wrong);
    }
    cli_put_pattern(list->data, i, size, x);
  }
  return CLI_OK;
}

enum { A, B, C, SA, SB, OPERANDS, WORDS = OPERANDS, ROWS };
typedef struct row {
  elements x[ROWS];
} row;

static hu_type element_of(const cli_dot *dot, int i) {
  if (i == WORDS) return hu_type_plain(HU_TYPE_INT32);
  return i == A ? dot->a : i == B ? dot->b : i == C ? dot->result : dot->scale;
}

static int check_counts(const cli_dot *dot, const cli_lines *lines, const row *line) {
  char wrong[160];
  size_t n = line->x[A].count, every = dot->accum.scaled ? dot->accum.promote : dot->accum.block.every;
  size_t scales = every ? (n + every - 1) / every : 0;
  if (line->x[B].count != n) {
    snprintf(wrong, sizeof wrong, "A has %zu elements, B has %zu", n, line->x[B].count);
  } else if (n % dot->depth) {
    snprintf(wrong, sizeof wrong, "%zu elements, not a multiple of the instruction's K, %zu", n, dot->depth);
  } else if (line->x[C].data && line->x[C].count != 1) {
    snprintf(wrong, sizeof wrong, "C has %zu elements, one is expected", line->x[C].count);
  } else if (line->x[SA].count != scales || line->x[SB].count != scales) {
    snprintf(wrong, sizeof wrong, "%zu and %zu scales, %zu are expected", line->x[SA].count, line->x[SB].count, scales);
  } else {
    return CLI_OK;
  }
  return cli_lines_fail(lines, wrong);
}

/* Sums with words that the row brings along: those of the model, then that of the last rounding. */
static hu_status sum_by_words(const cli_dot *dot, const row *line, const hu_product *x, const hu_how *how) {
  const elements *words = &line->x[WORDS];
  size_t last = dot->mode.bits ? 1 : 0;
  hu_dot_random random = {words->data, words->count, 0, 0};
  hu_how silent = hu_how_of(how->mode, NULL, NULL);
  if (last && words->count) random.last = random.words[words->count - 1];
  hu_status status = hu_dot_words(x, &random, &silent);
  if (status != HU_OK) return status;
  if (words->count != (dot->accum.mode.bits ? random.roundings : 0) + last) return HU_E_SHAPE;
  return hu_dot_words(x, &random, how);
}

static int sum_of(uint64_t *result, hu_events *events, const cli_dot *dot, const row *line, const cli_lines *lines,
                  const hu_exec *exec) {
  uint64_t z[1] = {0};
  hu_view view[OPERANDS];
  hu_how how = {dot->mode, exec, events};
  for (int i = 0; i < OPERANDS; i++) view[i] = hu_view_of(line->x[i].data, 1, element_of(dot, i));
  hu_product x = hu_product_of_dot(line->x[A].count, hu_output_of(z, 1, dot->result), view[A], view[B], &dot->accum);
  x.c = view[C];
  x.sa = view[SA];
  x.sb = view[SB];
  hu_status status;
  if (dot->words)
    status = sum_by_words(dot, line, &x, &how);
  else if (dot->visit)
    status = hu_dot_trace(&x, &how, dot->visit, dot->context);
  else
    status = hu_dot(&x, &how);
  if (status == HU_E_SHAPE) return cli_lines_fail(lines, "not as many random words as the row has random roundings");
  if (status != HU_OK) return cli_fail_status(NULL, status);
  *result = cli_get_pattern(z, 0, hu_type_size(dot->result));
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

int cli_dot_operands(const cli_dot *dot) { return (hu_accum_is_scaled(&dot->accum) ? OPERANDS : SA) + dot->words; }

int cli_dot_line(uint64_t *result, hu_events *events, const cli_dot *dot, char *const *word, int count,
                 const cli_lines *lines, const hu_exec *exec) {
  static const char *const names[ROWS] = {"A", "B", "C", "scales of A", "scales of B", "random words"};
  static const char *const fields[] = {"three fields are expected: A B C", "four fields are expected: A B C WORDS",
                                       "five fields are expected: A B C SCALES_A SCALES_B",
                                       "six fields are expected: A B C SCALES_A SCALES_B WORDS"};
  row line = {0};
  int expected = cli_dot_operands(dot), scaled = expected - dot->words == OPERANDS, status = CLI_OK;
  if (count != expected) return cli_lines_fail(lines, fields[2 * scaled + dot->words]);
  for (int i = 0; i < count && status == CLI_OK; i++) {
    int at = dot->words && i == count - 1 ? WORDS : i;
    if (at == C && !strcmp(word[i], "-")) continue;
    status = read_elements(&line.x[at], dot, lines, word[i], element_of(dot, at), names[at]);
  }
  if (status == CLI_OK) status = check_counts(dot, lines, &line);
  if (status == CLI_OK) status = sum_of(result, events, dot, &line, lines, exec);
  for (int i = 0; i < ROWS; i++) free(line.x[i].data);
  return status;
}

int cli_dot_model(cli_dot *dot, const char *what, const char *text, int *named) {
  hu_accum_preset preset;
  if (cli_read_model(&dot->accum, what, text)) return CLI_BAD;
  dot->depth = 1;
  dot->words = 0;
  *named = hu_accum_preset_find(&preset, text) == HU_OK;
  if (*named) {
    dot->depth = preset.k;
    dot->a = preset.a;
    dot->b = preset.b;
    dot->result = preset.c;
  }
  dot->scale = hu_type_codes(dot->accum.scaled ? hu_format_ieee(8, 23, 0) : dot->accum.block.scale);
  return CLI_OK;
}

int cli_dot_taken(const cli_dot *dot, const char *text) {
  uint64_t z = 0;
  hu_product x = hu_product_of_dot(0, hu_output_of(&z, 1, dot->result), hu_view_of(&z, 1, dot->a),
                                   hu_view_of(&z, 1, dot->b), &dot->accum);
  hu_how how = {.mode = dot->mode};
  hu_status status = hu_dot(&x, &how);
  if (status == HU_E_OPERAND_A) return cli_fail_operand(text, &dot->accum, status, dot->a, "--fa");
  if (status == HU_E_OPERAND_B) return cli_fail_operand(text, &dot->accum, status, dot->b, "--fb");
  return CLI_OK;
}
