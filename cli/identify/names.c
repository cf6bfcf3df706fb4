/* SPDX-License-Identifier: MIT */
/* Presets that a box equals, and the golden probes of its formats. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/numbers.h"
#include "cli/identify/evidence.h"
#include "cli/identify/identify.h"
#include "cli/question/operand.h"
#include "cli/vectors/dot_line.h"
#include "cli/accum/text.h"

/* Returns 1 for formats whose codes read the same, whatever NaN they give. */
static int same_element(hu_type x, hu_type y) {
  if (x.kind != y.kind) return 0;
  if (x.kind != HU_TYPE_CODES) return 1;
  if (x.format.nan == HU_NAN_IEEE_ONES) x.format.nan = HU_NAN_IEEE;
  if (y.format.nan == HU_NAN_IEEE_ONES) y.format.nan = HU_NAN_IEEE;
  return hu_format_equal(x.format, y.format);
}

int id_is_of_shape(const hu_accum_preset *preset, const id_shape *shape, hu_type sum) {
  return shape->n % preset->k == 0 && same_element(preset->a, shape->a) && same_element(preset->b, shape->b) &&
         (same_element(preset->c, shape->result) || same_element(preset->c, sum)) &&
         preset->accum.block.every == shape->every && hu_format_equal(preset->accum.block.scale, shape->scale);
}

void id_names_free(id_names *names) {
  for (int i = 0; i < names->other_count; i++) id_vectors_free(&names->others[i].question);
  names->count = names->other_count = 0;
}

/* Adds the preset to those that the box equals, or to the others with what shows it. */
static int place(id_search *search, const hu_accum *model, const hu_accum_preset *preset, id_names *names) {
  hu_accum accum = hu_accum_any(preset->accum);
  int status = CLI_OK, asked = 1;
  if (id_agrees(search, &accum)) status = id_ask_for(search, model, &accum, &asked);
  if (status != CLI_OK) return status;
  if (!asked) {
    memcpy(names->equal[names->count++], preset->name, sizeof names->equal[0]);
    return CLI_OK;
  }
  if (id_agrees(search, &accum))
    return CLI_OK; /* the box answered as the preset: the model is wrong, which the caller sees */
  id_other *other = &names->others[names->other_count++];
  memset(other, 0, sizeof *other);
  memcpy(other->name, preset->name, sizeof other->name);
  id_vectors_start(&other->question, &search->box->shape);
  return id_show(search, model, &accum, &other->question, &other->gives);
}

int id_find_names(id_search *search, const hu_accum *model, id_names *names, int *failed) {
  int status = CLI_OK;
  hu_type sum = search->box->shape.result;
  if (sum.kind == HU_TYPE_CODES) sum.format = search->space.sum;
  id_names_free(names);
  for (size_t i = 0; i < hu_accum_preset_count() && status == CLI_OK; i++) {
    hu_accum_preset preset;
    if (names->count == ID_NAMES_MOST || names->other_count == ID_NAMES_MOST) break;
    if (hu_accum_preset_at(&preset, i) == HU_OK && id_is_of_shape(&preset, &search->box->shape, sum))
      status = place(search, model, &preset, names);
  }
  *failed = status == CLI_OK && !id_agrees(search, model);
  return status;
}

/* ---- golden probes ---- */

static int put_patterns(id_vectors *questions, int column, const char *text, hu_type element) {
  unsigned digits = (hu_type_width(element) + 3) / 4;
  size_t count = strlen(text) / digits;
  char piece[17] = "";
  if (strlen(text) % digits || count > id_column_length(questions->shape, column)) return 0;
  for (size_t k = 0; k < count; k++) {
    uint64_t x;
    memcpy(piece, text + k * digits, digits);
    if (!hex_parse(&x, piece, digits)) return 0;
    id_put(questions, column, 0, k, x);
  }
  return 1;
}

/* Returns 1 if this shape can be asked row 0. A box without C takes +0, one that adds numbers 1 for each of B. */
static int is_question(const id_vectors *questions) {
  const id_shape *shape = questions->shape;
  id_operand b = id_operand_of(shape->b);
  for (size_t k = 0; k < shape->n && shape->sums; k++)
    if (id_get(questions, ID_B, 0, k) != id_operand_power(&b, 0)) return 0;
  return !shape->without_c || id_get(questions, ID_C, 0, 0) == 0;
}

/* Reads a probe's operands as row 0, products beyond its own 0; 0: it has other formats, or is no question of these. */
static int read_probe(id_vectors *questions, char *line) {
  char *word[PROBE_WORDS];
  const id_shape *shape = questions->shape;
  hu_type a, b, result;
  if (line[0] == '#' || cli_split(line, word, PROBE_WORDS) != PROBE_WORDS) return 0;
  if (!cli_parse_element(&a, word[PROBE_FA]) || !cli_parse_element(&b, word[PROBE_FB]) ||
      !cli_parse_element(&result, word[PROBE_FD]))
    return 0;
  if (!same_element(a, shape->a) || !same_element(b, shape->b) || !same_element(result, shape->result)) return 0;
  if ((word[PROBE_SA][0] == '-') != (shape->every == 0)) return 0;
  questions->count = 0;
  if (id_vectors_grow(questions, 1) == SIZE_MAX) return 0;
  hu_type scale = hu_type_codes(shape->scale);
  if (shape->every && (!put_patterns(questions, ID_SA, word[PROBE_SA], scale) ||
                       !put_patterns(questions, ID_SB, word[PROBE_SB], scale)))
    return 0;
  return put_patterns(questions, ID_A, word[PROBE_A], a) && put_patterns(questions, ID_B, word[PROBE_B], b) &&
         (word[PROBE_C][0] == '-' || put_patterns(questions, ID_C, word[PROBE_C], result)) && is_question(questions);
}

int id_ask_probes(id_search *search, const char *folder, const hu_accum *model, uint64_t *count, int *failed) {
  char path[4096], *line = NULL;
  size_t capacity = 0;
  id_vectors questions;
  int status = CLI_OK;
  *count = 0;
  if (!folder) return CLI_OK;
  snprintf(path, sizeof path, "%s/mma/probes.txt", folder);
  FILE *in = fopen(path, "r");
  if (!in) return CLI_OK;
  id_vectors_start(&questions, &search->box->shape);
  while (status == CLI_OK && getline(&line, &capacity, in) > 0) {
    line[strcspn(line, "\r\n")] = 0;
    if (!read_probe(&questions, line)) continue;
    status = id_ask_rows(search, &questions, 0, 1);
    ++*count;
    if (status == CLI_OK &&
        id_first_difference(model, &search->asked, search->asked.count - 1, search->asked.count) < search->asked.count)
      *failed = 1;
  }
  id_vectors_free(&questions);
  free(line);
  fclose(in);
  return status;
}
