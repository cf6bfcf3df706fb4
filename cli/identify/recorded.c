/* SPDX-License-Identifier: MIT */
/* See recorded.h. */
#include "cli/identify/recorded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/tensors/array.h"
#include "cli/question/operand.h"
#include "cli/tensors/codes.h"

/* ---- the arrays ---- */

enum { OPERANDS = 4, PRODUCTS_MOST = 1 << 21, ROWS_LEAST = 256 };

typedef struct arrays {
  cli_array array[OPERANDS]; /* A, B, C, D */
  int is_there[OPERANDS];
} arrays;

static const int columns[OPERANDS] = {ID_A, ID_B, ID_C, ID_D};

/* Makes the patterns of values that are wider, such as binary32 of a narrower format; each must be a value of it. */
static int encode(cli_array *array, hu_type element, const char *path) {
  id_operand operand = id_operand_of(element);
  cli_source values = cli_values_source(array);
  size_t size = hu_type_size(element);
  char *codes = calloc(array->info.count ? array->info.count : 1, size);
  if (!codes) return cli_fail(NULL, "not enough memory");
  for (size_t i = 0; i < array->info.count; i++) {
    double value;
    cli_source_read(&values, &value, i, 1);
    uint64_t code = id_operand_nearest(&operand, value);
    if (id_value(element, code) != value && value == value) {
      char place[CLI_INDEX_MAX];
      free(codes);
      return cli_fail(path, "element %s, %g, is not a value of the operand's format",
                      cli_index_text(place, &array->info, i), value);
    }
    memcpy(codes + i * size, &code, size);
  }
  free(array->copy);
  array->data = array->copy = codes;
  array->info.size = (uint8_t)size;
  array->info.kind = 'u';
  return CLI_OK;
}

static int load_one(cli_array *array, hu_type element, const char *path) {
  int status = cli_array_load(array, path);
  if (status == CLI_OK) status = cli_array_in_rows(array);
  if (status == CLI_OK && element.kind == HU_TYPE_CODES && array->info.kind == 'f' &&
      array->info.size > hu_type_size(element))
    status = encode(array, element, path);
  if (status == CLI_OK && array->info.size != hu_type_size(element))
    status = cli_fail(path, "elements of %u bytes; this operand has %zu", array->info.size, hu_type_size(element));
  if (status == CLI_OK && cli_array_is_codes(array) && element.kind == HU_TYPE_CODES)
    status = cli_codes_check(path, &array->info, array->data, cli_code_rule_of(element.format, NULL));
  return status;
}

static int load_all(arrays *operands, const id_shape *shape, char *const *path, int count) {
  const hu_type element[OPERANDS] = {shape->a, shape->b, shape->result, shape->result};
  int status = CLI_OK;
  for (int i = 0; i < count && status == CLI_OK; i++) {
    int which = count == OPERANDS || i < 2 ? i : 3;
    status = load_one(&operands->array[which], element[which], path[i]);
    operands->is_there[which] = status == CLI_OK;
  }
  return status;
}

/* Sets M, N and K, and checks that the arrays are of these. */
static int measure(id_recorded *recorded, id_shape *shape, const arrays *operands, int product) {
  const npy_info *a = &operands->array[0].info, *b = &operands->array[1].info, *result = &operands->array[3].info;
  if (a->dims != 2 || b->dims != 2 || !a->count || !b->count)
    return cli_fail(operands->array[a->dims != 2 || !a->count ? 0 : 1].name, "is no matrix");
  shape->n = (uint32_t)a->shape[1];
  recorded->m = product ? a->shape[0] : 0;
  recorded->n = product ? b->shape[1] : 0;
  recorded->all = product ? recorded->m * recorded->n : a->shape[0];
  if (a->shape[1] > 65536) return cli_fail(operands->array[0].name, "K = %zu; at most 65536", (size_t)a->shape[1]);
  if (b->shape[product ? 0 : 1] != a->shape[1] || (!product && b->shape[0] != a->shape[0]))
    return cli_fail(operands->array[1].name, "%zu x %zu does not go with A, which is %zu x %zu", (size_t)b->shape[0],
                    (size_t)b->shape[1], (size_t)a->shape[0], (size_t)a->shape[1]);
  if (result->count != recorded->all)
    return cli_fail(operands->array[3].name, "%zu elements; A and B make %zu", (size_t)result->count, recorded->all);
  if (operands->is_there[2] && operands->array[2].info.count != recorded->all)
    return cli_fail(operands->array[2].name, "%zu elements; D has %zu", (size_t)operands->array[2].info.count,
                    recorded->all);
  return CLI_OK;
}

static uint64_t pattern_at(const cli_array *array, size_t i) {
  uint64_t x = 0;
  memcpy(&x, (const char *)array->data + i * array->info.size, array->info.size);
  return x;
}

static void take_row(id_recorded *recorded, const arrays *operands, size_t row, size_t place) {
  size_t k_count = recorded->rows.shape->n, i = recorded->n ? place / recorded->n : place,
         j = recorded->n ? place % recorded->n : place, step = recorded->n ? recorded->n : 1;
  recorded->place[row] = place;
  for (size_t k = 0; k < k_count; k++) {
    size_t at_b = recorded->n ? k * step + j : i * k_count + k;
    id_put(&recorded->rows, ID_A, row, k, pattern_at(&operands->array[0], i * k_count + k));
    id_put(&recorded->rows, ID_B, row, k, pattern_at(&operands->array[1], at_b));
  }
  for (int which = 2; which < OPERANDS; which++)
    if (operands->is_there[which])
      id_put(&recorded->rows, columns[which], row, 0, pattern_at(&operands->array[which], place));
}

static int take_rows(id_recorded *recorded, const id_shape *shape, const arrays *operands) {
  size_t most = PRODUCTS_MOST / shape->n < ROWS_LEAST ? ROWS_LEAST : PRODUCTS_MOST / shape->n,
         count = recorded->all < most ? recorded->all : most;
  id_vectors_start(&recorded->rows, shape);
  recorded->place = calloc(count, sizeof *recorded->place);
  if (!recorded->place || id_vectors_grow(&recorded->rows, count) == SIZE_MAX)
    return cli_fail(NULL, "not enough memory");
  /* Multiples of the golden ratio are spread evenly, over rows of D and over its columns. */
  for (size_t row = 0; row < count; row++) {
    double turn = (double)row * 0.6180339887498949;
    take_row(recorded, operands, row,
             count == recorded->all ? row : (size_t)((turn - floor(turn)) * (double)recorded->all));
  }
  return CLI_OK;
}

int id_recorded_load(id_recorded *recorded, id_shape *shape, char *const *path, int count, int product) {
  arrays operands = {0};
  memset(recorded, 0, sizeof *recorded);
  int status = load_all(&operands, shape, path, count);
  shape->without_c = count < OPERANDS;
  if (status == CLI_OK) status = measure(recorded, shape, &operands, product);
  if (status == CLI_OK) status = take_rows(recorded, shape, &operands);
  for (int i = 0; i < OPERANDS; i++)
    if (operands.is_there[i]) cli_array_free(&operands.array[i]);
  return status;
}

void id_recorded_free(id_recorded *recorded) {
  if (recorded->rows.shape) id_vectors_free(&recorded->rows);
  free(recorded->place);
}

/* ---- candidates ---- */

/* Adds promote(N) and splitk(S) of a model: N of whole instructions that divide K, S up to 16 and what divides K. */
static int add_parts(id_set *set, const id_search *search, const hu_accum *model, uint32_t depth) {
  enum { SPLITS = 16 };
  uint32_t n = search->box->shape.n;
  int fine = 1;
  for (uint32_t length = depth; length < n && fine; length += depth) {
    hu_accum promoted = *model, split = *model;
    uint32_t slices = n / length;
    if (n % length) continue;
    promoted.promote = length;
    promoted.promoted = search->space.sum;
    split.slices = slices;
    fine = id_set_add(set, &promoted) && (slices <= SPLITS || id_set_add(set, &split));
  }
  for (uint32_t slices = 1; slices <= SPLITS && slices <= n && fine; slices++) {
    hu_accum split = *model;
    split.slices = slices;
    fine = id_set_add(set, &split);
  }
  return fine;
}

/* ---- a product that is asked for ---- */

/* Draws numbers near 1, so that every sum is rounded and none overflows. */
static void draw_near_one(id_vectors *questions, uint64_t seed) {
  const id_shape *shape = questions->shape;
  id_random random = {seed};
  for (size_t row = 0; row < questions->count; row++) {
    for (int i = 0; i < OPERANDS - 1; i++) {
      id_operand operand = id_operand_of(id_column_element(shape, columns[i]));
      for (size_t k = 0; k < id_column_length(shape, columns[i]) && !(i == 2 && shape->without_c); k++)
        id_put(questions, columns[i], row, k,
               i == 1 && shape->sums ? id_operand_power(&operand, 0)
                                     : id_operand_draw(&operand, id_random_from(&random, -2, 1), &random));
    }
  }
}

/* Takes element (i, j) of the product. */
static void take_element(id_recorded *recorded, const id_vectors *questions, const id_tile *tile, size_t i, size_t j) {
  size_t row = i * tile->rows + j, size = id_column_size(questions->shape, ID_D);
  uint64_t result = 0;
  memcpy(&result, (const char *)tile->result + row * size, size);
  for (size_t k = 0; k < questions->shape->n; k++) {
    id_put(&recorded->rows, ID_A, row, k, id_get(questions, ID_A, i, k));
    id_put(&recorded->rows, ID_B, row, k, id_get(questions, ID_B, j, k));
  }
  id_put(&recorded->rows, ID_C, row, 0, id_get(questions, ID_C, i, 0)); /* of the row: id_tile_fill */
  id_put(&recorded->rows, ID_D, row, 0, result);
  recorded->place[row] = row;
}

int id_recorded_ask(id_recorded *recorded, id_box *box, const id_tile *tile, uint64_t seed) {
  id_vectors questions;
  size_t all = tile->rows * tile->rows;
  memset(recorded, 0, sizeof *recorded);
  recorded->all = all;
  recorded->m = recorded->n = tile->rows;
  recorded->place = calloc(all, sizeof *recorded->place);
  id_vectors_start(&recorded->rows, &box->shape);
  id_vectors_start(&questions, &box->shape);
  int fine = recorded->place && id_vectors_grow(&recorded->rows, all) != SIZE_MAX &&
             id_vectors_grow(&questions, tile->rows) != SIZE_MAX,
      status = CLI_OK;
  if (fine) draw_near_one(&questions, seed);
  if (fine) status = id_ask(box, &questions, 0, tile->rows);
  for (size_t row = 0; fine && status == CLI_OK && row < all; row++)
    take_element(recorded, &questions, tile, row / tile->rows, row % tile->rows);
  id_vectors_free(&questions);
  return fine ? status : cli_fail(NULL, "not enough memory");
}

static hu_type sum_type(const id_search *search) {
  hu_type sum = search->box->shape.result;
  if (sum.kind == HU_TYPE_CODES) sum.format = search->space.sum;
  return sum;
}

/* Returns 1 and the preset if number i is of these formats. */
static int preset_of(const id_search *search, size_t i, hu_accum_preset *preset) {
  return hu_accum_preset_at(preset, i) == HU_OK && id_is_of_shape(preset, &search->box->shape, sum_type(search));
}

/* Lists the named units of these formats and the sums of software, each whole and in parts. */
static int list_candidates(const id_search *search, id_set *set) {
  hu_accum_preset preset;
  hu_accum bases[ID_BASES_MOST];
  int fine = 1;
  for (size_t i = 0; i < hu_accum_preset_count() && fine; i++) {
    if (!preset_of(search, i, &preset)) continue;
    hu_accum any = hu_accum_any(preset.accum);
    fine = id_set_add(set, &any) && (any.promote || any.slices || add_parts(set, search, &any, preset.k));
  }
  for (size_t i = 0, count = id_bases(&search->space, 0, bases); i < count && fine; i++)
    fine = id_set_add(set, &bases[i]) && (bases[i].kind == HU_ACCUM_BLOCK || add_parts(set, search, &bases[i], 1));
  return fine;
}

/* ---- which of them give the rows ---- */

enum { SAMPLE = 8 };

static size_t score_of_sample(const hu_accum *model, const id_vectors *rows) {
  size_t score = 0;
  for (size_t i = 0; i < SAMPLE && i < rows->count; i++) {
    size_t row = i * rows->count / SAMPLE;
    score += id_first_difference(model, rows, row, row + 1) > row;
  }
  return score;
}

/* Finds the candidate that gives most of the rows: of those that give most of a sample the best. Returns its score. */
static size_t best_of(const id_set *set, const id_vectors *rows, hu_accum *best) {
  size_t most = 0, sampled = 1;
  for (size_t i = 0; i < set->count; i++) {
    size_t some = score_of_sample(&set->x[i], rows);
    if (some < sampled) continue;
    size_t score = id_score(&set->x[i], rows);
    sampled = some;
    if (score <= most) continue;
    most = score;
    *best = set->x[i];
  }
  return most;
}

/* Moves the rows that the model gives out of `left`, and notes where they lie. */
static void take_part(const id_recorded *recorded, id_vectors *left, size_t *place, id_part *part) {
  size_t kept = 0;
  part->count = 0;
  for (size_t row = 0; row < left->count; row++) {
    if (id_first_difference(&part->model, left, row, row + 1) == row) {
      id_vectors_copy(left, kept, left, row);
      place[kept++] = place[row];
      continue;
    }
    size_t at[2] = {recorded->n ? place[row] / recorded->n : place[row], recorded->n ? place[row] % recorded->n : 0};
    for (int i = 0; i < 2; i++) {
      if (!part->count || at[i] < part->low[i]) part->low[i] = at[i];
      if (!part->count || at[i] > part->high[i]) part->high[i] = at[i];
    }
    part->count++;
  }
  left->count = kept;
}

/* Explains the rows by several models, each of those that are left. */
static int find_parts(const id_set *set, const id_recorded *recorded, id_explained *found) {
  id_vectors left;
  size_t count = recorded->rows.count, *place = calloc(count, sizeof *place);
  int fine = place != NULL;
  id_vectors_start(&left, recorded->rows.shape);
  fine = fine && id_vectors_grow(&left, count) != SIZE_MAX;
  for (size_t row = 0; row < count && fine; row++) {
    id_vectors_copy(&left, row, &recorded->rows, row);
    place[row] = recorded->place[row];
  }
  while (fine && left.count && found->part_count < ID_PARTS_MOST) {
    id_part *part = &found->parts[found->part_count];
    if (!best_of(set, &left, &part->model)) break;
    take_part(recorded, &left, place, part);
    found->part_count++;
  }
  found->left = left.count;
  id_vectors_free(&left);
  free(place);
  return fine;
}

static const id_stage stages[] = {
    {"blocks, digits and order",
     {ID_AXIS_ORDER, ID_AXIS_LANES, ID_AXIS_LENGTH, ID_AXIS_GROUP, ID_AXIS_WINDOW, ID_AXIS_PRODUCT, ID_AXIS_ROUND,
      ID_AXIS_JOIN, ID_AXIS_CUT, ID_AXIS_STICKY, ID_AXIS_ZEROS, ID_AXIS_KEPT, ID_AXIS_KEPT2, -1},
     {-1},
     0,
     0},
    {"the lower end", {ID_AXIS_EMIN, ID_AXIS_DAZ, ID_AXIS_FTZ, ID_AXIS_ZERO, -1}, {-1}, 1, 0},
    {"the upper end", {ID_AXIS_OVER, ID_AXIS_SAT, -1}, {-1}, 1, 0},
};

enum { LANGUAGE_MOST = 32 }; /* K up to which the language is searched */

/* Finds models of the language that give all rows. */
static int find_language(id_search *search) {
  hu_accum bases[ID_BASES_MOST];
  int status = CLI_OK, fine = 1;
  for (size_t i = 0, count = id_bases(&search->space, 0, bases); i < count && fine; i++)
    fine = id_set_add(&search->set, &bases[i]);
  for (size_t i = 0; i < sizeof stages / sizeof stages[0] && fine && status == CLI_OK; i++)
    status = id_stage_run(search, &stages[i]);
  return fine ? status : cli_fail(NULL, "not enough memory");
}

/* Places the presets of these formats with those that give all rows, or with the others. */
static void sort_presets(const id_search *search, id_explained *found) {
  hu_accum_preset preset;
  for (size_t i = 0; i < hu_accum_preset_count(); i++) {
    if (!preset_of(search, i, &preset)) continue;
    hu_accum any = hu_accum_any(preset.accum);
    size_t first = id_first_difference(&any, &search->asked, 0, search->asked.count);
    if (first == search->asked.count && found->count < ID_NAMES_MOST) {
      memcpy(found->names[found->count++], preset.name, sizeof found->names[0]);
    } else if (first < search->asked.count && found->other_count < ID_NAMES_MOST) {
      memcpy(found->others[found->other_count].name, preset.name, sizeof preset.name);
      found->others[found->other_count].differs = search->asked.count - id_score(&any, &search->asked);
      found->others[found->other_count++].first = first;
    }
  }
}

/* Adds the candidates that give all rows. */
static int add_agreeing(const id_search *search, const id_set *set, id_set *to) {
  int fine = 1;
  for (size_t i = 0; i < set->count && fine; i++)
    if (id_first_difference(&set->x[i], &search->asked, 0, search->asked.count) == search->asked.count)
      fine = id_set_add(to, &set->x[i]);
  return fine;
}

int id_explain_recorded(id_search *search, const id_recorded *recorded, id_explained *found) {
  id_set all = {0};
  memset(found, 0, sizeof *found);
  if (id_vectors_grow(&search->asked, recorded->rows.count) == SIZE_MAX) return cli_fail(NULL, "not enough memory");
  for (size_t row = 0; row < recorded->rows.count; row++) id_vectors_copy(&search->asked, row, &recorded->rows, row);
  search->recorded = 1;
  sort_presets(search, found);
  int fine = list_candidates(search, &all) && add_agreeing(search, &all, &found->models), status = CLI_OK;
  if (fine && !found->models.count && search->box->shape.n <= LANGUAGE_MOST) status = find_language(search);
  found->stopped = status == ID_STOPPED || id_stop_due();
  if (status == ID_STOPPED) status = CLI_OK;
  if (fine && status == CLI_OK) fine = add_agreeing(search, &search->set, &found->models);
  if (fine && !found->models.count) fine = find_parts(&all, recorded, found);
  id_set_free(&all);
  return fine ? status : cli_fail(NULL, "not enough memory");
}
