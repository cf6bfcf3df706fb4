/* SPDX-License-Identifier: MIT */
/* What an audit says of two tensors: see audit.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/audit/audit.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"

enum { PIECE = 1 << 16, COMPARED = 64 };

const char *const audit_verdicts[AUDIT_VERDICTS] = {"equal",  "made",    "rearranged", "equal values",
                                                    "parted", "formats", "different",  "alone"};

/* ---- values ---- */

static int same_value(float x, float y) { return x == y || (isnan(x) && isnan(y)); }

/* Counts elements of different value, and the squares between them. rounded: of values of side 0 that were rounded into
 * it; NULL: none is. */
static int compare_values(audit_pair *pair, const hu_format *rounded, int from, uint64_t *differing) {
  const audit_tensor *a = pair->x[from], *b = pair->x[!from];
  float *x = cli_alloc(PIECE, sizeof *x), *y = cli_alloc(PIECE, sizeof *y);
  int code = x && y ? CLI_OK : CLI_BAD;
  *differing = 0;
  for (size_t i = 0; i < a->count && code == CLI_OK; i += PIECE) {
    size_t n = a->count - i < PIECE ? a->count - i : PIECE;
    if (audit_values(x, a, i, n) || audit_values(y, b, i, n)) code = CLI_BAD;
    for (size_t k = 0; k < n && code == CLI_OK; k++) {
      float value = rounded ? hu_quantize(*rounded, (hu_mode){0}, x[k], 0, NULL) : x[k];
      double error = (double)y[k] - value;
      *differing += !same_value(value, y[k]);
      if (rounded || !isfinite(error)) continue;
      pair->moved += error * error;
      pair->moved_signal += (double)value * value;
    }
  }
  free(x);
  free(y);
  return code;
}

static int compare_plain(audit_pair *pair) {
  const struct {
    const char *dtype;
    hu_format format;
  } formats[] = {{"BF16", hu_bfloat16()}, {"F16", hu_binary16()}, {"float16", hu_binary16()}};
  int code = compare_values(pair, NULL, 0, &pair->values);
  pair->verdict = pair->values ? AUDIT_DIFFERENT : AUDIT_EQUAL;
  for (size_t i = 0; i < sizeof formats / sizeof formats[0] && code == CLI_OK; i++)
    for (int from = 0; from < 2 && pair->verdict == AUDIT_DIFFERENT && code == CLI_OK; from++) {
      uint64_t left = 1;
      if (strcmp(pair->x[!from]->elements, formats[i].dtype) != 0) continue;
      code = compare_values(pair, &formats[i].format, from, &left);
      if (left) continue;
      pair->verdict = AUDIT_MADE;
      pair->from = from;
      snprintf(pair->part, sizeof pair->part, "rounded into %s", formats[i].dtype);
    }
  return code;
}

/* ---- codes and scales ---- */

static int same_numbers(float x, float y) { return x == y || (isnan(x) && isnan(y)); }

/* The second level as it is multiplied. */
static float factor(const audit_tensor *x, size_t matrix) {
  float t = audit_second(x, matrix);
  return x->second < 0 ? (float)hu_quantize64(hu_binary32(), (hu_mode){0}, 1 / (double)t, 0, NULL) : t;
}

static int same_structure(const audit_tensor *x, const audit_tensor *y) {
  return x->known == y->known && x->rows == y->rows && x->cols == y->cols && x->scaled == y->scaled &&
         (x->known ? audit_same_elements(x->element, y->element) : !strcmp(x->elements, y->elements)) &&
         (!x->scaled || (x->block[0] == y->block[0] && x->block[1] == y->block[1] && !x->second == !y->second));
}

static void show_block(audit_pair *pair, size_t matrix, size_t p, size_t q) {
  const audit_tensor *x = pair->x[0];
  audit_shown *shown = &pair->shown;
  size_t r0 = x->scaled ? p * x->block[0] : p, c0 = x->scaled ? q * x->block[1] : 0;
  size_t rows = x->scaled ? x->block[0] : 1, wide = x->scaled ? x->block[1] : x->cols;
  *shown = (audit_shown){.there = 1, .matrix = matrix, .p = p, .q = q, .amax = NAN};
  for (int k = 0; k < 2; k++) {
    shown->scale[k] = 1;
    if (x->scaled) shown->scale[k] = audit_scale(pair->x[k], matrix, p, q, &shown->scale_code[k]);
    shown->second[k] = audit_second(pair->x[k], matrix);
  }
  for (size_t i = r0; i < r0 + rows && i < x->rows; i++)
    for (size_t j = c0; j < c0 + wide && j < x->cols; j++) {
      size_t at = shown->all++;
      if (at >= AUDIT_SHOWN) continue;
      for (int k = 0; k < 2; k++) shown->code[k][at] = (uint8_t)audit_code(pair->x[k], matrix, i, j);
      shown->n = at + 1;
    }
}

/* Counts codes, scales and second levels that differ, and keeps the first block of differences. */
static int compare_codes(audit_pair *pair) {
  const audit_tensor *x = pair->x[0], *y = pair->x[1];
  size_t cols = x->cols, rows = x->scaled ? x->block[0] : 1, across = x->scaled ? audit_blocks_across(x) : 1;
  size_t wide = x->scaled ? x->block[1] : cols;
  uint8_t *a = cli_alloc(cols, 1), *b = cli_alloc(cols, 1);
  uint32_t code;
  int good = a && b;
  audit_counts *counts = &pair->counts;
  pair->counted = 1;
  counts->all_codes = x->count;
  counts->all_scales = x->scaled ? x->matrices * audit_blocks_down(x) * across : 0;
  for (size_t m = 0; m < x->matrices && good; m++) {
    counts->seconds += x->second && !same_numbers(factor(x, m), factor(y, m));
    for (size_t r = 0; r < x->rows; r++) {
      size_t first = SIZE_MAX;
      for (size_t q = 0; x->scaled && r % rows == 0 && q < across; q++)
        if (!same_numbers(audit_scale(x, m, r / rows, q, &code), audit_scale(y, m, r / rows, q, &code)) ||
            !same_numbers(audit_bias(x, m, r / rows, q), audit_bias(y, m, r / rows, q))) {
          counts->scales++;
          if (first == SIZE_MAX) first = q;
        }
      audit_codes(a, x, m, r, 1);
      audit_codes(b, y, m, r, 1);
      for (size_t j = 0; j < cols; j++)
        if (a[j] != b[j]) {
          counts->codes++;
          if (first == SIZE_MAX) first = j / wide;
        }
      if (first != SIZE_MAX && !pair->shown.there) show_block(pair, m, r / rows, first);
    }
  }
  free(a);
  free(b);
  return good ? CLI_OK : CLI_BAD;
}

/* ---- the same in another order ---- */

/* Is y what x is, with the two codes of each byte exchanged? */
static int is_exchanged(const audit_tensor *x, const audit_tensor *y) {
  if (x->cols % 2) return 0;
  for (size_t m = 0; m < x->matrices; m++)
    for (size_t r = 0; r < x->rows; r++)
      for (size_t j = 0; j < x->cols; j++)
        if (audit_code(x, m, r, j) != audit_code(y, m, r, j ^ 1)) return 0;
  return 1;
}

/* Has y at block (p, q) the scale that x has where it is stored in this order? */
static int is_moved(const audit_tensor *x, const audit_tensor *y, int order) {
  size_t across = audit_blocks_across(x), down = audit_blocks_down(x);
  uint32_t code;
  for (size_t m = 0; m < x->matrices; m++)
    for (size_t p = 0; p < down; p++)
      for (size_t q = 0; q < across; q++) {
        size_t place = order == AUDIT_TRANSPOSED ? q * down + p : hu_scaled_tile_place(p, q, across);
        if (place >= down * across) return 0;
        if (!same_numbers(audit_scale(x, m, p, q, &code), audit_scale(y, m, place / across, place % across, &code)))
          return 0;
      }
  return 1;
}

static void find_order(audit_pair *pair) {
  const audit_tensor *x = pair->x[0], *y = pair->x[1];
  const audit_counts *counts = &pair->counts;
  if (counts->seconds) return;
  if (!counts->scales && x->known && hu_limits_of(x->element).width == 4 && is_exchanged(x, y))
    pair->order = AUDIT_NIBBLES;
  if (!counts->codes && counts->scales && x->scaled) {
    if (is_moved(x, y, AUDIT_TILED))
      pair->order = AUDIT_TILED;
    else if (is_moved(y, x, AUDIT_TILED))
      pair->order = AUDIT_UNTILED;
    else if (is_moved(x, y, AUDIT_TRANSPOSED) || is_moved(y, x, AUDIT_TRANSPOSED))
      pair->order = AUDIT_TRANSPOSED;
  }
  if (pair->order == AUDIT_IN_ORDER) return;
  pair->verdict = AUDIT_ARRANGED;
  snprintf(pair->part, sizeof pair->part, "%s", audit_orders[pair->order]);
}

/* ---- rules ---- */

static int rank(const audit_rule *rule) {
  return (rule->name[0] ? 0 : 1) + (rule->scaling.rule == HU_SCALE_FORMULAS ? 4 : 0);
}

/* Chooses of all rules of the two sides those that differ in the fewest keys, named ones first. */
static void choose(audit_pair *pair) {
  char text[AUDIT_PART_TEXT];
  const audit_rules *a = &pair->by[0].rules, *b = &pair->by[1].rules;
  int least = INT32_MAX;
  for (size_t i = 0; i < a->count && i < COMPARED; i++)
    for (size_t j = 0; j < b->count && j < COMPARED; j++) {
      int parts = 4 * audit_rules_part(text, &a->list[i], &b->list[j]) + rank(&a->list[i]) + rank(&b->list[j]);
      if (parts >= least) continue;
      least = parts;
      pair->chosen[0] = i;
      pair->chosen[1] = j;
      memcpy(pair->part, text, sizeof pair->part);
    }
  if (pair->part[0]) return;
  if (pair->by[0].given != pair->by[1].given || pair->by[0].amax != pair->by[1].amax)
    snprintf(pair->part, sizeof pair->part, "amax of the second level: %s, %s",
             pair->by[0].given ? "another tensor's" : "its own", pair->by[1].given ? "another tensor's" : "its own");
  else
    snprintf(pair->part, sizeof pair->part, "%s, %s", audit_orders[pair->by[0].order], audit_orders[pair->by[1].order]);
}

/* Reads the values of the block that is shown, and leaves out what does not matter to the two rules. */
static int shorten(audit_pair *pair) {
  const audit_tensor *x = pair->x[0];
  audit_shown *shown = &pair->shown;
  size_t cols = x->scaled ? x->block[1] : x->cols;
  audit_block *block = cli_alloc(1, sizeof *block);
  audit_made made[2] = {{0}, {0}};
  float *row = cli_alloc(x->cols, sizeof *row);
  int code = block && row ? CLI_OK : CLI_BAD;
  size_t r0 = shown->p * (x->scaled ? x->block[0] : 1), c0 = shown->q * cols, rows = x->scaled ? x->block[0] : 1;
  if (code == CLI_OK) *block = (audit_block){.amax = shown->amax};
  for (size_t i = r0; i < r0 + rows && i < x->rows && code == CLI_OK; i++) {
    code = audit_values(row, pair->source, (shown->matrix * x->rows + i) * x->cols, x->cols);
    for (size_t j = c0; code == CLI_OK && j < c0 + cols && j < x->cols && block->n < AUDIT_BLOCK; j++)
      block->x[block->n++] = row[j];
  }
  for (int k = 0; k < 2 && code == CLI_OK; k++) code = audit_made_alloc(&made[k], AUDIT_BLOCK, AUDIT_BLOCK);
  const audit_rule *a = &pair->by[0].rules.list[pair->chosen[0]], *b = &pair->by[1].rules.list[pair->chosen[1]];
  if (code == CLI_OK && audit_block_differs(block, made, a, b) == 1) {
    audit_block_shorten(block, made, a, b, 0);
    block->shown.matrix = shown->matrix;
    block->shown.p = shown->p;
    block->shown.q = shown->q;
    *shown = block->shown;
  } else if (code == CLI_OK && block->n <= AUDIT_SHOWN && !pair->shown.known) {
    memcpy(shown->x, block->x, shown->n * sizeof *shown->x);
    shown->known = 1;
  }
  for (int k = 0; k < 2; k++) audit_made_free(&made[k]);
  free(row);
  free(block);
  return code;
}

/* Finds the largest magnitude of the source, from which second levels are made. */
static int amax_of(float *z, const audit_tensor *x) {
  float *block = cli_alloc(PIECE, sizeof *block);
  int code = block ? CLI_OK : CLI_BAD;
  *z = 0;
  for (size_t i = 0; i < x->count && code == CLI_OK; i += PIECE) {
    size_t n = x->count - i < PIECE ? x->count - i : PIECE;
    code = audit_values(block, x, i, n);
    for (size_t k = 0; k < n && code == CLI_OK; k++)
      if (isfinite(block[k]) && fabsf(block[k]) > *z) *z = fabsf(block[k]);
  }
  free(block);
  return code;
}

/* With a source: which rule each side follows, and where the two part. */
static int part_by_source(audit_pair *pair) {
  for (int k = 0; k < 2; k++)
    if (audit_follow(&pair->by[k], pair->source, pair->x[k], pair->all)) return CLI_BAD;
  if (!pair->by[0].rules.count || !pair->by[1].rules.count) return CLI_OK;
  pair->verdict = AUDIT_PARTED;
  choose(pair);
  if (!pair->shown.there) return CLI_OK;
  float amax = NAN;
  if (pair->x[0]->second && amax_of(&amax, pair->source)) return CLI_BAD;
  pair->shown.amax = pair->by[0].given ? pair->by[0].amax : amax;
  return shorten(pair);
}

/* Is one side what a rule makes of the other side's values: was one quantized again, or from the other? */
static int part_by_sides(audit_pair *pair, int first, int last) {
  for (int from = first; from <= last; from++) {
    audit_followed found;
    const audit_tensor *x = pair->x[!from];
    if (!x->quantized) continue;
    if (audit_follow(&found, pair->x[from], x, pair->all)) return CLI_BAD;
    int holds = found.rules.count != 0;
    if (holds || (!pair->x[from]->quantized && !pair->by[!from].known)) {
      audit_followed_free(&pair->by[!from]);
      pair->by[!from] = found;
      pair->from = from;
      if (found.known && !holds) pair->shown = found.shown, pair->counts = found.missed;
    } else {
      audit_followed_free(&found);
    }
    if (!holds) continue;
    pair->verdict = found.order == AUDIT_IN_ORDER ? AUDIT_MADE : AUDIT_ARRANGED;
    if (found.order != AUDIT_IN_ORDER) snprintf(pair->part, sizeof pair->part, "%s", audit_orders[found.order]);
    pair->order = found.order;
    return CLI_OK;
  }
  return CLI_OK;
}

static const char *format_part(char text[AUDIT_PART_TEXT], const audit_tensor *x, const audit_tensor *y) {
  const char *what = x->known != y->known || (x->known && y->known && !audit_same_elements(x->element, y->element))
                         ? "elements"
                     : x->scaled != y->scaled   ? "scales"
                     : !x->second != !y->second ? "second level"
                                                : "blocks";
  snprintf(text, AUDIT_PART_TEXT, "%s: blocks of %zu x %zu, %zu x %zu", what, x->block[0], x->block[1], y->block[0],
           y->block[1]);
  return text;
}

/* ---- the error ---- */

static int split(cli_causes *z, const audit_tensor *source, const audit_tensor *x) {
  size_t block[2] = {x->scaled ? x->block[0] : 1, x->scaled ? x->block[1] : x->cols};
  size_t whole = block[0] * x->cols <= 16 * PIECE ? block[0] : 1;
  if (whole != block[0]) block[0] = 1; /* a block of many rows is counted by rows */
  size_t most_blocks = x->cols / (block[1] ? block[1] : 1) + 1, n = whole * x->cols;
  float *before = cli_alloc(n, sizeof *before), *after = cli_alloc(n, sizeof *after);
  double *most = cli_alloc(most_blocks, sizeof *most), limit = x->known ? hu_limits_of(x->element).max : HUGE_VAL;
  cli_source from = cli_floats_source(before, sizeof *before), to = cli_floats_source(after, sizeof *after);
  int code = before && after && most ? CLI_OK : CLI_BAD;
  for (size_t m = 0; m < x->matrices && code == CLI_OK; m++)
    for (size_t r = 0; r < x->rows && code == CLI_OK; r += whole) {
      size_t rows = x->rows - r < whole ? x->rows - r : whole, first = (m * x->rows + r) * x->cols;
      uint32_t stored;
      for (size_t q = 0; q < most_blocks; q++) most[q] = limit;
      for (size_t q = 0; x->scaled && q < audit_blocks_across(x); q++)
        most[q] = limit * fabs((double)audit_scale(x, m, r / x->block[0], q, &stored)) * (double)factor(x, m);
      code = audit_values(before, source, first, rows * x->cols);
      if (code == CLI_OK) code = audit_values(after, x, first, rows * x->cols);
      if (code == CLI_OK) code = cli_causes_matrix(z, &from, &to, rows, x->cols, block, most);
    }
  free(before);
  free(after);
  free(most);
  return code;
}

static int find_causes(audit_pair *pair) {
  for (int k = 0; k < 2; k++) {
    const audit_tensor *source = pair->source ? pair->source : pair->x[!k]->quantized ? NULL : pair->x[!k];
    if (!source || !pair->x[k]->quantized || source->count != pair->x[k]->count) continue;
    if (split(&pair->causes[k], source, pair->x[k])) return CLI_BAD;
  }
  return CLI_OK;
}

/* ---- a pair ---- */

static int compare_quantized(audit_pair *pair) {
  int structure = same_structure(pair->x[0], pair->x[1]);
  pair->verdict = structure ? AUDIT_DIFFERENT : AUDIT_FORMATS;
  if (structure && compare_codes(pair)) return CLI_BAD;
  const audit_counts *counts = &pair->counts;
  const audit_tensor *x = pair->x[0];
  int whole = x->scaled || !x->found || !x->found->scale; /* else scales, zero points, tables are not compared */
  if (structure && !counts->codes && !counts->scales && !counts->seconds && (whole || !pair->values)) {
    pair->verdict = AUDIT_EQUAL;
    return CLI_OK;
  }
  if (structure) find_order(pair);
  if (pair->verdict != AUDIT_ARRANGED && pair->source && part_by_source(pair)) return CLI_BAD;
  if (pair->verdict == AUDIT_ARRANGED || pair->verdict == AUDIT_PARTED) return CLI_OK;
  if (!pair->values) {
    pair->verdict = AUDIT_VALUES;
    return CLI_OK;
  }
  if (part_by_sides(pair, 0, 1)) return CLI_BAD;
  if (pair->verdict == AUDIT_FORMATS) format_part(pair->part, pair->x[0], pair->x[1]);
  if (pair->verdict == AUDIT_DIFFERENT && counts->seconds && !counts->scales && !counts->codes)
    snprintf(pair->part, sizeof pair->part, "second level: %.9g, %.9g", (double)factor(pair->x[0], 0),
             (double)factor(pair->x[1], 0));
  return CLI_OK;
}

int audit_compare(audit_pair *pair) {
  const audit_tensor *x = pair->x[0], *y = pair->x[1];
  pair->verdict = AUDIT_LONE;
  if (!x || !y) return CLI_OK;
  if (x->count != y->count || x->cols != y->cols) {
    pair->verdict = AUDIT_FORMATS;
    snprintf(pair->part, sizeof pair->part, "shape: %zu rows of %zu, %zu rows of %zu", x->rows * x->matrices, x->cols,
             y->rows * y->matrices, y->cols);
    return CLI_OK;
  }
  if (pair->source && (pair->source->count != x->count || pair->source->cols != x->cols)) pair->source = NULL;
  if (!x->quantized && !y->quantized) return compare_plain(pair);
  if (compare_values(pair, NULL, 0, &pair->values)) return CLI_BAD;
  int code = CLI_OK;
  if (x->quantized && y->quantized) {
    code = compare_quantized(pair);
  } else {
    pair->verdict = AUDIT_DIFFERENT;
    code = part_by_sides(pair, x->quantized, x->quantized);
  }
  return code == CLI_OK ? find_causes(pair) : code;
}

void audit_pair_free(audit_pair *pair) {
  audit_followed_free(&pair->by[0]);
  audit_followed_free(&pair->by[1]);
}
