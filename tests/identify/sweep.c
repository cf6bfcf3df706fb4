/* SPDX-License-Identifier: MIT */
/* Every preset as a black box, its name hidden: is an equal model found, with how many questions, in what time?
 *
 * usage: sweep VECTORS drawn FIRST COUNT   units number FIRST, FIRST + 1, ... of draw_unit.h
 *        sweep VECTORS known PART...      units of the list below whose texts contain one of the PARTs
 *        sweep VECTORS CHANGED PART...    presets whose names contain one of the PARTs, "" for all, but not those whose
 * names contain the rest of a PART that begins with '-'; with CHANGED > 0 so many models of each with one parameter
 * changed, drawn, instead. Equality is looked at on VECTORS drawn vectors.
 * The search verifies on as many, at most on 100,000 as the command does. Prints a line each: name, questions before
 * the verification, seconds of processor time, candidates left, verdict, model; with HU_IDENTIFY_STEPS set the steps of
 * each search on standard error. Exit code 1: a model was not found, or a wrong one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/accum/text.h"
#include "cli/base/cli.h"
#include "cli/identify/identify.h"
#include "cli/identify/report.h"
#include "tests/identify/draw_unit.h"

enum { VERIFIED = 100000 }; /* as many as the command draws in the end */

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static id_shape shape_of(const hu_accum_preset *preset) {
  id_shape shape = {.a = preset->a,
                    .b = preset->b,
                    .result = preset->c,
                    .scale = preset->accum.block.scale,
                    .every = preset->accum.block.every};
  shape.n = preset->k * 2 < 8 ? 8 : preset->k * 2;
  return shape;
}

/* The first of `count` drawn vectors of all kinds on which the models differ, printed; count: none. */
static size_t difference(const id_shape *shape, const hu_accum *x, const hu_accum *y, size_t count) {
  enum { ROWS = 1000 };
  id_random random = {0x1234567};
  id_vectors vectors;
  id_vectors_start(&vectors, shape);
  if (id_vectors_grow(&vectors, ROWS) == SIZE_MAX) abort();
  size_t at = 0, row = ROWS;
  for (; at < count && row == ROWS; at += ROWS) {
    id_draw(&vectors, 0, ROWS, (int)(at / ROWS) % ID_DRAW_KINDS, &random);
    if (id_compute(x, &vectors, 0, ROWS, vectors.column[ID_D]) != HU_OK) abort();
    row = id_first_difference(y, &vectors, 0, ROWS);
    if (row == ROWS) continue;
    printf("    ");
    id_vectors_print(stdout, &vectors, row);
    printf("\n");
  }
  id_vectors_free(&vectors);
  return row == ROWS ? count : at + row;
}

static int try_model(const char *name, id_shape shape, const hu_accum *accum, size_t vectors) {
  char text[HU_ACCUM_TEXT_MAX] = "nothing";
  id_model model = {*accum, NULL};
  id_box box = {.shape = shape, .answer = id_model_answer, .context = &model};
  id_settings settings = {.seed = 1, .verify = vectors < VERIFIED ? vectors : VERIFIED};
  id_search search;
  static id_result z;
  model.shape = &box.shape;
  double start = seconds();
  id_search_start(&search, &box, 1, getenv("HU_IDENTIFY_STEPS") ? stderr : NULL);
  int found = id_identify(&search, &settings, &z) == CLI_OK && z.verdict == ID_FOUND;
  double took = seconds() - start;
  if (found) id_model_text(&search, &z.model, text);
  const char *verdict = !found ? "nothing" : difference(&shape, accum, &z.model, vectors) < vectors ? "wrong" : "found";
  printf("%-36s %6llu %6.2f %5zu %-8s %s\n", name, (unsigned long long)z.questions, took, z.candidates, verdict, text);
  id_result_free(&z);
  id_search_free(&search);
  int bad = strcmp(verdict, "found") != 0;
  if (bad) {
    hu_accum_text(text, sizeof text, accum);
    printf("    is %s\n", text);
  }
  fflush(stdout);
  return bad;
}

static int is_taken(const id_shape *shape, const hu_accum *x) {
  id_vectors vectors;
  id_vectors_start(&vectors, shape);
  if (id_vectors_grow(&vectors, 1) == SIZE_MAX) abort();
  hu_status status = id_compute(x, &vectors, 0, 1, vectors.column[ID_D]);
  id_vectors_free(&vectors);
  return status == HU_OK;
}

/* One parameter of the model takes another value that the operands' formats go with. */
static int change(const id_shape *shape, hu_accum *x, id_random *random, char *what, size_t size) {
  static int values[ID_VALUES_MOST];
  id_space space = id_space_of(shape);
  space.least_digits = shape->result.format.m / 2;
  for (int tries = 0; tries < 1000; tries++) {
    hu_accum y = *x;
    char text[64];
    int axis = (int)id_random_below(random, ID_AXES);
    size_t count = id_axis_values(&space, axis, &y, values);
    int value = values[id_random_below(random, count)];
    if (count < 2 || value == id_axis_get(&space, axis, x)) continue;
    id_axis_set(&space, axis, &y, value);
    if (hu_accum_check(&y) != HU_OK || !is_taken(shape, &y)) continue;
    id_axis_text(&space, axis, x, value, text, sizeof text);
    snprintf(what, size, "%s=%s", id_axis_key(axis), text);
    *x = y;
    return 1;
  }
  return 0;
}

static int try_changed(const hu_accum_preset *preset, size_t vectors, size_t count, id_random *random) {
  int bad = 0;
  id_shape shape = shape_of(preset);
  for (size_t i = 0; i < count; i++) {
    hu_accum x = hu_accum_any(preset->accum);
    char name[160], what[96];
    if (!change(&shape, &x, random, what, sizeof what)) break;
    snprintf(name, sizeof name, "%s %s", preset->name, what);
    bad += try_model(name, shape, &x, vectors);
  }
  return bad;
}

static int is_expected(const char *name, int count, char **part) {
  int expected = 0;
  for (int i = 0; i < count; i++) {
    int but = part[i][0] == '-';
    if (!strstr(name, part[i] + but)) continue;
    if (but) return 0;
    expected = 1;
  }
  return expected;
}

/* Units that are drawn, each by its own number. */
static int try_drawn(size_t vectors, uint64_t first, uint64_t count) {
  int bad = 0;
  double start = seconds();
  printf("%-36s %6s %6s %5s\n", "unit", "asked", "cpu s", "left");
  for (uint64_t i = first; i < first + count; i++) {
    id_random random = {i};
    id_shape shape;
    hu_accum unit;
    char text[HU_ACCUM_TEXT_MAX] = "", name[4 * CLI_NAME_MAX], a[CLI_NAME_MAX], result[CLI_NAME_MAX];
    draw_unit(&unit, &shape, &random);
    hu_accum_text(text, sizeof text, &unit);
    if (getenv("HU_IDENTIFY_STEPS")) fprintf(stderr, "%s\n", text);
    snprintf(name, sizeof name, "%llu %s %s %u", (unsigned long long)i, cli_element_name(a, shape.a),
             cli_element_name(result, shape.result), shape.n);
    bad += try_model(name, shape, &unit, vectors);
  }
  printf("%llu units, %d not found, %.0f s\n", (unsigned long long)count, bad, seconds() - start);
  return bad || !count ? 1 : 0;
}

/* Units without a name, each with a key that searches have missed: operands, D, products, scales and how many share
 * one, text. */
static const struct {
  const char *operand, *result;
  uint32_t n;
  const char *scale;
  uint32_t every;
  const char *text;
} known[] = {
    {"bfloat16", "binary32", 4, NULL, 0, "block(late,l=2,f=7,f2=8,round=rtz)"},
    {"bfloat16", "binary32", 8, NULL, 0, "block(late,l=4,f=24,f2=31,daz=sign)"},
    {"binary16", "binary32", 8, NULL, 0, "block(align,l=4,f=24,emin=-126,round=rto)"},
    {"bfloat16", "binary32", 8, NULL, 0, "block(align,l=4,f=24,emin=-252,daz=sign,ftz=tiny)"},
    {"bfloat16", "binary32", 8, NULL, 0, "block(groups,l=4,g=2,f=24,emin=-252,daz=plus,ftz=before)"},
    {"binary16", "binary32", 16, NULL, 0, "block(align,l=8,f=20,emin=-60,wide=2)"},
    {"binary16", "binary32", 8, NULL, 0, "block(align,l=4,f=20,emin=-60,wide=1,past=limit)"},
    {"float8_e4m3fn", "binary32", 16, NULL, 0, "block(align,l=8,f=18,emin=4,to=fixed,wide=12,past=limit)"},
    {"float8_e5m2", "binary32", 8, NULL, 0, "block(align,l=4,f=0,emin=-16,cut=rne,to=fixed,wide=20)"},
    {"binary16", "binary32", 8, NULL, 0, "block(tree,l=4,in=7,nan=kept)"},
    {"float8_e5m2", "binary32", 8, NULL, 0, "block(exact,l=4,zero=ieee)"},
    {"binary16", "binary32", 8, NULL, 0, "block(chain,l=4,c=last,last=rtz)"},
    {"float4_e2m1fn", "binary32", 16, "ue4m3", 8, "block(exact,l=4,c=last,last=rtz,scaling=sum,every=8,scale=ue4m3)"},
};

static hu_format format_named(const char *name) {
  hu_format format;
  if (hu_format_parse(&format, name, NULL) != HU_OK) abort();
  return format;
}

static int try_known(size_t vectors, int count, char **part) {
  int bad = 0, tried = 0;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    id_shape shape = {.n = known[i].n, .every = known[i].every};
    hu_accum unit;
    if (!is_expected(known[i].text, count, part)) continue;
    shape.a = shape.b = hu_type_codes(format_named(known[i].operand));
    shape.result = hu_type_codes(format_named(known[i].result));
    if (known[i].scale) shape.scale = format_named(known[i].scale);
    if (hu_accum_parse(&unit, known[i].text, NULL) != HU_OK) abort();
    bad += try_model(known[i].text, shape, &unit, vectors);
    tried++;
  }
  printf("%d units, %d not found\n", tried, bad);
  return bad || !tried ? 1 : 0;
}

int main(int argc, char **argv) {
  size_t vectors = argc > 1 ? strtoul(argv[1], NULL, 10) : 0, changed = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
  const char *seed = getenv("HU_TEST_SEED");
  id_random random = {seed ? strtoull(seed, NULL, 0) : 1};
  int bad = 0, count = 0;
  if (argc < 4 || !vectors) return 2;
  if (!strcmp(argv[2], "drawn"))
    return argc == 5 ? try_drawn(vectors, strtoull(argv[3], NULL, 0), strtoull(argv[4], NULL, 0)) : 2;
  if (!strcmp(argv[2], "known")) return try_known(vectors, argc - 3, argv + 3);
  printf("seed %llu\n%-36s %6s %6s %5s\n", (unsigned long long)random.state, "preset", "asked", "cpu s", "left");
  for (size_t i = 0; i < hu_accum_preset_count(); i++) {
    hu_accum_preset preset;
    if (hu_accum_preset_at(&preset, i) != HU_OK || !is_expected(preset.name, argc - 3, argv + 3)) continue;
    hu_accum any = hu_accum_any(preset.accum);
    bad += changed ? try_changed(&preset, vectors, changed, &random)
                   : try_model(preset.name, shape_of(&preset), &any, vectors);
    count++;
  }
  printf("%d presets, %d not found\n", count, bad);
  return bad || !count ? 1 : 0;
}
