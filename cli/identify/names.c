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
static int same_element(hu_element x, hu_element y) {
  if (x.kind != y.kind) return 0;
  if (x.kind != HU_ELEMENT_CODE) return 1;
  if (x.format.nan == HU_NAN_IEEE_ONES) x.format.nan = HU_NAN_IEEE;
  if (y.format.nan == HU_NAN_IEEE_ONES) y.format.nan = HU_NAN_IEEE;
  return hu_format_equal(x.format, y.format);
}

/* Returns 1 if the preset computes from the box's formats, into its D or the format of its sums, in blocks of which K
 * is a multiple. */
static int same_shape(const hu_accum_preset *p, const id_shape *s, hu_element sum) {
  return s->n % p->k == 0 && same_element(p->a, s->a) && same_element(p->b, s->b) &&
         (same_element(p->c, s->d) || same_element(p->c, sum)) && p->accum.block.every == s->every &&
         hu_format_equal(p->accum.block.scale, s->scale);
}

void id_names_free(id_names *z) {
  for (int i = 0; i < z->other_count; i++) id_vectors_free(&z->others[i].question);
  z->count = z->other_count = 0;
}

/* Adds the preset to those that the box equals, or to the others with what shows it. */
static int place(id_search *s, const hu_accum *model, const hu_accum_preset *p, id_names *z) {
  hu_accum x = hu_accum_any(p->accum);
  int status = CLI_OK, asked = 1;
  if (id_agrees(s, &x)) status = id_ask_for(s, model, &x, &asked);
  if (status != CLI_OK) return status;
  if (!asked) {
    memcpy(z->equal[z->count++], p->name, sizeof z->equal[0]);
    return CLI_OK;
  }
  if (id_agrees(s, &x)) return CLI_OK; /* the box answered as the preset: the model is wrong, which the caller sees */
  id_other *other = &z->others[z->other_count++];
  memset(other, 0, sizeof *other);
  memcpy(other->name, p->name, sizeof other->name);
  id_vectors_start(&other->question, &s->box->shape);
  return id_show(s, model, &x, &other->question, &other->gives);
}

int id_find_names(id_search *s, const hu_accum *model, id_names *z, int *failed) {
  int status = CLI_OK;
  hu_element sum = s->box->shape.d;
  if (sum.kind == HU_ELEMENT_CODE) sum.format = s->space.sum;
  id_names_free(z);
  for (size_t i = 0; i < hu_accum_preset_count() && status == CLI_OK; i++) {
    hu_accum_preset p;
    if (z->count == ID_NAMES_MOST || z->other_count == ID_NAMES_MOST) break;
    if (hu_accum_preset_at(&p, i) == HU_OK && same_shape(&p, &s->box->shape, sum)) status = place(s, model, &p, z);
  }
  *failed = status == CLI_OK && !id_agrees(s, model);
  return status;
}

/* ---- golden probes ---- */

static int put_patterns(id_vectors *v, int column, const char *text, hu_element e) {
  unsigned digits = (hu_element_width(e) + 3) / 4;
  size_t count = strlen(text) / digits;
  char piece[17] = "";
  if (strlen(text) % digits || count > id_column_length(v->shape, column)) return 0;
  for (size_t k = 0; k < count; k++) {
    uint64_t x;
    memcpy(piece, text + k * digits, digits);
    if (!hex_parse(&x, piece, digits)) return 0;
    id_put(v, column, 0, k, x);
  }
  return 1;
}

/* Returns 1 if this shape can be asked row 0. A box without C takes +0, one that adds numbers 1 for each of B. */
static int is_question(const id_vectors *v) {
  const id_shape *s = v->shape;
  id_operand b = id_operand_of(s->b);
  for (size_t k = 0; k < s->n && s->sums; k++)
    if (id_get(v, ID_B, 0, k) != id_operand_power(&b, 0)) return 0;
  return !s->without_c || id_get(v, ID_C, 0, 0) == 0;
}

/* Reads a probe's operands as row 0, products beyond its own 0; 0: it has other formats, or is no question of these. */
static int read_probe(id_vectors *v, char *line) {
  char *word[PROBE_WORDS];
  const id_shape *s = v->shape;
  hu_element a, b, d;
  if (line[0] == '#' || cli_split(line, word, PROBE_WORDS) != PROBE_WORDS) return 0;
  if (!cli_parse_element(&a, word[PROBE_FA]) || !cli_parse_element(&b, word[PROBE_FB]) ||
      !cli_parse_element(&d, word[PROBE_FD]))
    return 0;
  if (!same_element(a, s->a) || !same_element(b, s->b) || !same_element(d, s->d)) return 0;
  if ((word[PROBE_SA][0] == '-') != (s->every == 0)) return 0;
  v->count = 0;
  if (id_vectors_grow(v, 1) == SIZE_MAX) return 0;
  hu_element scale = {.format = s->scale};
  if (s->every && (!put_patterns(v, ID_SA, word[PROBE_SA], scale) || !put_patterns(v, ID_SB, word[PROBE_SB], scale)))
    return 0;
  return put_patterns(v, ID_A, word[PROBE_A], a) && put_patterns(v, ID_B, word[PROBE_B], b) &&
         (word[PROBE_C][0] == '-' || put_patterns(v, ID_C, word[PROBE_C], d)) && is_question(v);
}

int id_ask_probes(id_search *s, const char *folder, const hu_accum *model, uint64_t *count, int *failed) {
  char path[4096], *line = NULL;
  size_t room = 0;
  id_vectors v;
  int status = CLI_OK;
  *count = 0;
  if (!folder) return CLI_OK;
  snprintf(path, sizeof path, "%s/mma/probes.txt", folder);
  FILE *in = fopen(path, "r");
  if (!in) return CLI_OK;
  id_vectors_start(&v, &s->box->shape);
  while (status == CLI_OK && getline(&line, &room, in) > 0) {
    line[strcspn(line, "\r\n")] = 0;
    if (!read_probe(&v, line)) continue;
    status = id_ask_rows(s, &v, 0, 1);
    ++*count;
    if (status == CLI_OK && id_first_difference(model, &s->asked, s->asked.count - 1, s->asked.count) < s->asked.count)
      *failed = 1;
  }
  id_vectors_free(&v);
  free(line);
  fclose(in);
  return status;
}
