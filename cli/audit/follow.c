/* SPDX-License-Identifier: MIT */
/* Which rules make the codes and scales of a tensor from values: rules that fail on some part of it are left out, until
 * the tensor ends or none is left. See audit.h. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/audit/audit.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"

/* Elements of the first part, which all rules see; each is eight times as long as the one before, up to PIECE. */
enum { FIRST = 1 << 11, PIECE = 1 << 19, WHOLE = 1 << 16 };

const char *const audit_orders[AUDIT_ORDERS] = {
    "in order", "the two codes of a byte exchanged", "scales in tiles of 128 x 4, read as rows",
    "scales in rows, read as tiles of 128 x 4", "scales stored column by column"};

/* A search: the tensors, the memory of a part, and what is known before. */
typedef struct search {
  const audit_tensor *source, *x;
  float *values, *copy, *scales, *biases;
  uint8_t *codes;
  audit_made made;
  size_t band; /* rows of a part: whole blocks */
  float *amax; /* of each matrix */
  int order, all;
  hu_format before;
  uint64_t best;  /* differences of the nearest rule; UINT64_MAX: none yet */
  size_t best_at; /* the row of the part in which they are */
} search;

static size_t smaller(size_t x, size_t y) { return x < y ? x : y; }

/* ---- memory ---- */

/* Returns the rows of a part of about `elements`: whole blocks, or all rows where a block has all rows of some columns.
 * One block that is the whole of a large tensor has an amax that is known before, and may be cut. */
static size_t band_of(const audit_tensor *x, size_t elements) {
  size_t rows = x->scaled ? x->block[0] : 1;
  if (x->scaled && rows >= x->rows && x->block[1] >= x->cols && x->rows > WHOLE / (x->cols ? x->cols : 1)) rows = 1;
  size_t blocks = elements / (rows * (x->cols ? x->cols : 1));
  return smaller(rows * (blocks ? blocks : 1), x->rows);
}

static int start(search *s, const audit_tensor *source, const audit_tensor *x) {
  memset(s, 0, sizeof *s);
  s->source = source;
  s->x = x;
  s->band = band_of(x, PIECE);
  size_t most = s->band * x->cols, blocks = x->scaled ? s->band * audit_blocks_across(x) : 1;
  s->values = cli_alloc(most, sizeof *s->values);
  s->copy = cli_alloc(most, sizeof *s->copy);
  s->codes = cli_alloc(most, 1);
  s->scales = cli_alloc(blocks, sizeof *s->scales);
  s->biases = cli_alloc(blocks, sizeof *s->biases);
  s->amax = cli_alloc(x->matrices, sizeof *s->amax);
  int good = s->values && s->copy && s->codes && s->scales && s->biases && s->amax;
  return good ? audit_made_alloc(&s->made, most, blocks) : CLI_BAD;
}

static void end(search *s) {
  free(s->values);
  free(s->copy);
  free(s->codes);
  free(s->scales);
  free(s->biases);
  free(s->amax);
  audit_made_free(&s->made);
}

static int read_values(search *s, size_t matrix, size_t row, size_t n) {
  size_t cols = s->x->cols;
  return audit_values(s->values, s->source, (matrix * s->x->rows + row) * cols, n * cols);
}

/* Finds the largest finite magnitude of each matrix; of the whole tensor where one scale belongs to all. */
static int find_amax(search *s) {
  const audit_tensor *x = s->x;
  float whole = 0;
  for (size_t m = 0; m < x->matrices; m++) {
    s->amax[m] = 0;
    for (size_t row = 0; row < x->rows; row += s->band) {
      size_t n = smaller(s->band, x->rows - row);
      if (read_values(s, m, row, n)) return CLI_BAD;
      for (size_t i = 0; i < n * x->cols; i++)
        if (isfinite(s->values[i]) && fabsf(s->values[i]) > s->amax[m]) s->amax[m] = fabsf(s->values[i]);
    }
    if (s->amax[m] > whole) whole = s->amax[m];
  }
  int each = x->found && (x->second ? x->found->second_step : x->found->matrix) != 0; /* a matrix has its own */
  for (size_t m = 0; m < x->matrices && !each; m++) s->amax[m] = whole;
  return CLI_OK;
}

/* ---- orders ---- */

/* Returns the scale that stands for block (p, q) if the tensor is stored in this order. */
static float ordered_scale(const audit_tensor *x, int order, size_t matrix, size_t p, size_t q) {
  size_t across = audit_blocks_across(x), down = audit_blocks_down(x), place = p * across + q;
  uint32_t code;
  if (order == AUDIT_TILED) place = hu_scaled_tile_place(p, q, across);
  if (order == AUDIT_TRANSPOSED) place = q * down + p;
  if (order == AUDIT_UNTILED) /* the row whose tile place is this one */
    for (place = 0;
         place < down * across && hu_scaled_tile_place(place / across, place % across, across) != p * across + q;)
      place++;
  return audit_scale(x, matrix, place / across, place % across, &code);
}

static int may_have(const audit_tensor *x, int order) {
  size_t across = audit_blocks_across(x), down = audit_blocks_down(x);
  int tiles = x->scaled && down % 128 == 0 && across % 4 == 0 && down && hu_limits_of(x->scale).storage == 8;
  switch (order) {
    case AUDIT_NIBBLES: return x->known && hu_limits_of(x->element).width == 4 && x->cols % 2 == 0;
    case AUDIT_TILED: return tiles;
    case AUDIT_UNTILED: return tiles && down * across <= 1 << 14;
    case AUDIT_TRANSPOSED: return x->scaled && down > 1 && across > 1;
    default: return 1;
  }
}

static void read_codes(search *s, size_t matrix, size_t row, size_t n) {
  const audit_tensor *x = s->x;
  size_t across = audit_blocks_across(x), first = x->scaled ? row / x->block[0] : 0;
  size_t down = x->scaled ? (n + x->block[0] - 1) / x->block[0] : 0;
  audit_codes(s->codes, x, matrix, row, n);
  for (size_t i = 0; s->order == AUDIT_NIBBLES && i + 1 < n * x->cols; i += 2) {
    uint8_t low = s->codes[i];
    s->codes[i] = s->codes[i + 1];
    s->codes[i + 1] = low;
  }
  for (size_t p = 0; p < down; p++)
    for (size_t q = 0; q < across; q++) {
      s->scales[p * across + q] = ordered_scale(x, s->order, matrix, first + p, q);
      s->biases[p * across + q] = audit_bias(x, matrix, first + p, q);
    }
}

/* ---- one rule on one part ---- */

static int same(float a, float b) { return a == b || (isnan(a) && isnan(b)); }

/* Is the number of the second level, as it is stored, that of a rule whose decode scale is t? Programs store t, 1 / t,
 * the amax itself, or 2688 / amax (docs/audit.md). */
static int same_second(const audit_tensor *x, const audit_rule *rule, float has, float t, float amax) {
  hu_format f = hu_binary32();
  double most = hu_limits_of(rule->scaling.element).max * hu_limits_of(rule->scaling.scale).max;
  if (!x->second || has == t) return 1;
  float over = (float)hu_quantize64(f, (hu_mode){0}, 1 / (double)has, 0, NULL);
  return over == t || has == amax || has == (float)hu_quantize64(f, (hu_mode){0}, most / amax, 0, NULL);
}

/* A difference of a part: the first block that has one. */
typedef struct miss {
  audit_counts counts;
  size_t p, q; /* blocks of the part */
  int there;
} miss;

static void compare_part(miss *z, const search *s, size_t n) {
  const audit_tensor *x = s->x;
  size_t across = audit_blocks_across(x), cols = x->cols, rows = x->scaled ? x->block[0] : 1;
  size_t down = x->scaled ? (n + rows - 1) / rows : 0, wide = x->scaled ? x->block[1] : cols;
  for (size_t p = 0; p < down; p++)
    for (size_t q = 0; q < across; q++)
      if (!same(s->scales[p * across + q], s->made.scales[p * across + q]) ||
          s->biases[p * across + q] != s->made.biases[p * across + q]) {
        if (!z->there) z->p = p, z->q = q, z->there = 1;
        z->counts.scales++;
      }
  if (!z->there && !memcmp(s->codes, s->made.codes, n * cols)) return;
  for (size_t i = 0; i < n * cols; i++)
    if (s->codes[i] != s->made.codes[i]) {
      if (!z->there) z->p = i / cols / rows, z->q = i % cols / wide, z->there = 1;
      z->counts.codes++;
    }
}

/* Applies a rule to the values of a part. Returns 1 and what is different, or 0: it cannot be applied. */
static int try_rule(miss *z, search *s, const audit_rule *rule, size_t matrix, size_t n) {
  const audit_tensor *x = s->x;
  float amax = s->amax[matrix];
  memset(z, 0, sizeof *z);
  memcpy(s->copy, s->values, n * x->cols * sizeof *s->copy);
  if (!audit_rule_apply(&s->made, rule, n, x->cols, s->copy, &amax)) return 0;
  compare_part(z, s, n);
  if (x->second && !same_second(x, rule, audit_second(x, matrix), s->made.second, amax)) z->counts.seconds = 1;
  return 1;
}

/* Keeps a rule that fails less than all before, and the block where it fails. */
static void keep_nearest(audit_followed *z, search *s, const audit_rule *rule, const miss *found, size_t matrix,
                         size_t row, size_t n) {
  const audit_tensor *x = s->x;
  const audit_counts *counts = &found->counts;
  uint64_t all = counts->codes + counts->scales + counts->seconds;
  size_t part = matrix * x->rows + row;
  if (all > s->best || (all == s->best && part <= s->best_at)) return;
  s->best = all;
  s->best_at = part;
  z->nearest = *rule;
  z->missed = *counts;
  z->missed.all_codes = n * x->cols;
  z->missed.all_scales = x->scaled ? (n + x->block[0] - 1) / x->block[0] * audit_blocks_across(x) : 0;
  z->shown = (audit_shown){.there = found->there, .known = 1, .matrix = matrix, .amax = NAN};
  if (!found->there) return;
  size_t rows = x->scaled ? x->block[0] : 1, wide = x->scaled ? x->block[1] : x->cols;
  size_t r0 = found->p * rows, c0 = found->q * wide, place = found->p * audit_blocks_across(x) + found->q;
  audit_shown *shown = &z->shown;
  shown->p = row / rows + found->p;
  shown->q = found->q;
  if (x->second) shown->amax = s->amax[matrix];
  shown->second[0] = audit_second(x, matrix);
  shown->second[1] = s->made.second;
  if (x->scaled) {
    audit_scale(x, matrix, shown->p, shown->q, &shown->scale_code[0]);
    shown->scale[0] = s->scales[place];
    shown->scale[1] = s->made.scales[place];
    shown->scale_code[1] = s->made.scale_codes[place];
  }
  for (size_t i = r0; i < r0 + rows && i < n; i++)
    for (size_t j = c0; j < c0 + wide && j < x->cols; j++) {
      size_t k = shown->all++, at = i * x->cols + j;
      if (k >= AUDIT_SHOWN) continue;
      shown->x[k] = s->values[at];
      shown->code[0][k] = s->codes[at];
      shown->code[1][k] = s->made.codes[at];
      shown->n = k + 1;
    }
}

/* ---- rules over all parts ---- */

static int run_part(audit_followed *z, search *s, audit_rules *rules, size_t matrix, size_t row, size_t n) {
  size_t left = 0;
  miss found;
  if (read_values(s, matrix, row, n)) return CLI_BAD;
  read_codes(s, matrix, row, n);
  for (size_t i = 0; i < rules->count; i++) {
    audit_rule *rule = &rules->list[i];
    rule->before = s->before;
    if (!try_rule(&found, s, rule, matrix, n)) continue;
    if (!found.there && !found.counts.codes && !found.counts.seconds)
      rules->list[left++] = *rule;
    else
      keep_nearest(z, s, rule, &found, matrix, row, n);
  }
  rules->count = left;
  return CLI_OK;
}

/* Leaves of a list the rules that make the whole tensor. The first part is small: most rules fail there. */
static int run(audit_followed *z, search *s, audit_rules *rules) {
  const audit_tensor *x = s->x;
  size_t elements = FIRST;
  for (size_t m = 0; m < x->matrices && rules->count; m++)
    for (size_t row = 0; row < x->rows && rules->count;) {
      size_t n = smaller(smaller(band_of(x, elements), s->band), x->rows - row);
      if (run_part(z, s, rules, m, row, n)) return CLI_BAD;
      elements = smaller(8 * elements, PIECE);
      row += n;
    }
  return CLI_OK;
}

/* Is there a rule without formulas? */
static int has_plain(const audit_rules *rules) {
  for (size_t i = 0; i < rules->count; i++)
    if (rules->list[i].plain || rules->list[i].scaling.rule != HU_SCALE_FORMULAS) return 1;
  return 0;
}

/* Tries the named rules, and variants where none of them holds, or all of them are asked for. */
static int try_lists(audit_followed *z, search *s, int varied) {
  audit_rules named = {NULL, 0, 0}, rules = {NULL, 0, 0};
  int code = audit_rules_named(&named, s->x);
  if (code == CLI_OK && varied) code = audit_rules_varied(&rules, &named, s->x);
  if (code == CLI_OK) code = run(z, s, &named);
  if (code == CLI_OK && (!has_plain(&named) || s->all))
    code = run(z, s, &rules);
  else
    rules.count = 0;
  if (code == CLI_OK) code = audit_rules_append(&named, &rules);
  audit_rules_free(&rules);
  if (code == CLI_OK && named.count) {
    z->rules = named;
    z->order = s->order;
    return CLI_OK;
  }
  audit_rules_free(&named);
  return code;
}

/* Tries the second level as that of another amax, from which the number in the file follows: tensors that are
 * multiplied together (query, key, value) often have one for all. */
static int try_given(audit_followed *z, search *s) {
  const audit_tensor *x = s->x;
  audit_rules rules = {NULL, 0, 0};
  if (!x->second || x->matrices != 1) return CLI_OK;
  int code = audit_rules_named(&rules, x);
  float own = s->amax[0], has = audit_second(x, 0);
  for (size_t i = 0; i < rules.count && code == CLI_OK && !z->rules.count; i++) {
    const hu_scaling *scaling = &rules.list[i].scaling;
    double most = hu_limits_of(scaling->element).max *
                  (scaling->tensor == HU_TENSOR_256 ? 256 : hu_limits_of(scaling->scale).max);
    float near = (float)(x->second > 0 ? has * most : most / has);
    for (int step = 0; step < 9 && code == CLI_OK && !z->rules.count; step++) {
      float amax = near;
      for (int k = 0; k < (step + 1) / 2; k++) amax = nextafterf(amax, step % 2 ? INFINITY : 0);
      if (!(amax > 0) || !isfinite(amax)) continue;
      s->amax[0] = amax;
      code = try_lists(z, s, 0);
    }
    if (z->rules.count) z->given = 1, z->amax = s->amax[0];
    if (i + 1 < rules.count && rules.list[i + 1].scaling.tensor == scaling->tensor) break;
  }
  s->amax[0] = own;
  audit_rules_free(&rules);
  return code;
}

static int look(audit_followed *z, search *s) {
  const hu_format before[] = {hu_bfloat16(), hu_binary16()};
  int code = try_lists(z, s, 1);
  for (int i = 1; i < AUDIT_ORDERS && code == CLI_OK && !z->rules.count; i++) {
    s->order = i;
    if (may_have(s->x, i)) code = try_lists(z, s, 0);
  }
  s->order = AUDIT_IN_ORDER;
  if (code == CLI_OK && !z->rules.count) code = try_given(z, s);
  for (size_t i = 0; i < sizeof before / sizeof before[0] && code == CLI_OK && !z->rules.count; i++) {
    s->before = before[i];
    code = try_lists(z, s, 1);
  }
  return code;
}

int audit_follow(audit_followed *z, const audit_tensor *source, const audit_tensor *x, int all) {
  search s;
  memset(z, 0, sizeof *z);
  if (!source || !x->quantized || !(x->known || x->integers) || source->count != x->count || !x->count ||
      hu_limits_of(x->element).width > 8)
    return CLI_OK;
  z->known = 1;
  int code = start(&s, source, x);
  s.best = UINT64_MAX;
  s.all = all;
  if (code == CLI_OK) code = find_amax(&s);
  if (code == CLI_OK) code = look(z, &s);
  audit_rules_sort(&z->rules);
  end(&s);
  return code;
}

void audit_followed_free(audit_followed *z) { audit_rules_free(&z->rules); }
