/* SPDX-License-Identifier: MIT */
/* Every preset as a black box, its name hidden: is an equal model found, with how many questions, in what time?
 *
 * usage: sweep [PART [VECTORS]]     presets whose names contain PART; equality is looked at on so many drawn vectors */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/base/cli.h"
#include "cli/identify/decide.h"

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static id_shape shape_of(const hu_accum_preset *p) {
  id_shape s = {.a = p->a, .b = p->b, .d = p->c, .scale = p->accum.block.scale, .every = p->accum.block.every};
  s.n = p->k * 2 < 8 ? 8 : p->k * 2;
  return s;
}

/* The first of `count` drawn vectors of all kinds on which the models differ; count: none. */
static size_t difference(const id_shape *shape, const hu_accum *x, const hu_accum *y, size_t count) {
  enum { ROWS = 2048 };
  id_random random = {0x1234567};
  for (size_t at = 0; at < count; at += ROWS) {
    id_vectors v;
    id_vectors_start(&v, shape);
    if (id_vectors_grow(&v, ROWS) == SIZE_MAX) abort();
    id_draw(&v, 0, ROWS, (int)(at / ROWS) % ID_DRAW_KINDS, &random);
    if (id_compute(x, &v, 0, ROWS, v.column[ID_D]) != HU_OK) abort();
    size_t row = id_first_difference(y, &v, 0, ROWS);
    if (row < ROWS) {
      printf("    ");
      id_vectors_print(stdout, &v, row);
      printf("\n");
    }
    id_vectors_free(&v);
    if (row < ROWS) return at + row;
  }
  return count;
}

static int one(const hu_accum_preset *p, size_t vectors, int loud) {
  char text[HU_ACCUM_TEXT_MAX] = "nothing";
  id_shape shape = shape_of(p);
  id_model model = {p->accum, &shape};
  id_box box = {shape, id_model_answer, &model, 0};
  id_search s;
  model.shape = &box.shape;
  double start = seconds();
  id_search_start(&s, &box, 1, loud ? stdout : NULL);
  id_decisions decisions;
  int status = id_find(&s);
  if (status == CLI_OK) status = id_decide(&s, &decisions);
  id_decisions_free(&decisions);
  double took = seconds() - start;
  hu_accum any = hu_accum_any(p->accum);
  int found = status == CLI_OK && s.set.count > 0;
  if (found) hu_accum_text(text, sizeof text, &s.set.x[0]);
  size_t equal = found ? difference(&box.shape, &any, &s.set.x[0], vectors) : 0;
  const char *verdict = !found ? "NOTHING" : equal < vectors ? "WRONG" : "found";
  printf("%-36s %6llu %6.2f %5zu %-8s %s\n", p->name, (unsigned long long)box.asked, took, s.set.count, verdict, text);
  if (strcmp(verdict, "found") != 0) {
    hu_accum_text(text, sizeof text, &any);
    printf("    is %s\n", text);
  }
  fflush(stdout);
  id_search_free(&s);
  return strcmp(verdict, "found") != 0;
}

int main(int argc, char **argv) {
  const char *part = argc > 1 ? argv[1] : "";
  size_t vectors = argc > 2 ? strtoul(argv[2], NULL, 10) : 20000;
  int bad = 0, count = 0;
  printf("%-36s %6s %6s %5s\n", "preset", "asked", "cpu s", "left");
  for (size_t i = 0; i < hu_accum_preset_count(); i++) {
    hu_accum_preset p;
    if (hu_accum_preset_at(&p, i) != HU_OK || !strstr(p.name, part)) continue;
    bad += one(&p, vectors, argc > 3);
    count++;
  }
  printf("%d presets, %d not found\n", count, bad);
  return bad ? 1 : 0;
}
