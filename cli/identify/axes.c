/* SPDX-License-Identifier: MIT */
/* The axes of space.h: which model has which, their values, and how a record holds them. */
#include <stdio.h>
#include <string.h>

#include "cli/question/operand.h"
#include "cli/identify/space.h"

typedef struct axis {
  const char *key, *meaning;
} axis;

static const axis axes[ID_AXES] = {
    {"in", "bits of an operand's fraction that are looked at"},
    {"out", "fraction digits of the accumulator"},
    {"P", "fraction digits of rounded products"},
    {"round", "rounding into the accumulator"},
    {"c", "where C joins a block"},
    {"last", "rounding of the addition of C"},
    {"cut", "what happens to the digits below the cut"},
    {"f", "digits kept below the largest exponent"},
    {"f2", "digits kept where the sum meets C"},
    {"far", "binades below which C is dropped"},
    {"order", "order of k in a block"},
    {"lanes", "even and odd k aligned apart"},
    {"l", "products in a block"},
    {"g", "products that are added exactly before their scales"},
    {"parts", "sums of parts on their own: promote(N), splitk(S)"},
    {"emin", "lower limit of the largest exponent"},
    {"as", "the format that operands are taken as"},
    {"daz", "what subnormal operands are read as"},
    {"ftz", "when subnormal results become zero"},
    {"zero", "the sign of a sum that is rounded to zero"},
    {"over", "what an overflow gives"},
    {"sat", "saturation"},
    {"big", "products that count as infinities"},
};

const char *id_axis_key(int i) { return axes[i].key; }
const char *id_axis_meaning(int i) { return axes[i].meaning; }

static const char *const as_names[] = {NULL, "binary16", "bfloat16", "binary32"};
enum { AS_NAMES = sizeof as_names / sizeof as_names[0] };

static hu_format as_format(int value) {
  hu_format format;
  memset(&format, 0, sizeof format);
  if (value && hu_format_parse(&format, as_names[value], NULL) != HU_OK) memset(&format, 0, sizeof format);
  return format;
}

static int as_value(hu_format format) {
  for (int i = 0; i < AS_NAMES; i++)
    if (hu_format_equal(format, as_format(i))) return i;
  return 0;
}

static int is_block(const hu_accum *model, unsigned rules) {
  return model->kind == HU_ACCUM_BLOCK && (rules >> model->block.rule & 1);
}

enum {
  ALIGN = 1 << HU_BLOCK_ALIGN,
  GROUPS = 1 << HU_BLOCK_GROUPS,
  LATE = 1 << HU_BLOCK_LATE,
  EXACT = 1 << HU_BLOCK_EXACT,
  TREE = 1 << HU_BLOCK_TREE,
  CHAIN = 1 << HU_BLOCK_CHAIN,
  CUTTING = ALIGN | GROUPS | LATE,
  STEPPING = TREE | CHAIN | 1 << HU_BLOCK_LANES,
  ALL = 127
};

static int has_rounding(const hu_accum *model) {
  return model->kind != HU_ACCUM_EXACT && model->kind != HU_ACCUM_FP32 && model->kind != HU_ACCUM_FP64 &&
         model->kind != HU_ACCUM_INT32;
}

static int has_length(const hu_accum *model) {
  if (model->kind == HU_ACCUM_CHUNK || model->kind == HU_ACCUM_INT32) return 1;
  if (model->kind != HU_ACCUM_BLOCK || model->block.products) return 0;
  return model->block.rule != HU_BLOCK_CHAIN || model->block.order != HU_BLOCK_ORDER_UP;
}

/* Returns 1 if it can flush: an exact block does where its format does. */
static int can_flush(const hu_accum *model) {
  return is_block(model, EXACT) && model->sum.e && model->sum.zero == HU_ZERO_FIELD &&
         model->sum.subnormal != HU_SUBNORMAL_NONE;
}

static int has_axis(int i, const hu_accum *model) {
  switch (i) {
    case ID_AXIS_IN: return is_block(model, ALL & ~GROUPS);
    case ID_AXIS_AS: return is_block(model, ALL & ~GROUPS);
    case ID_AXIS_DIGITS:
    case ID_AXIS_ROUND:
    case ID_AXIS_SAT: return has_rounding(model);
    case ID_AXIS_PRODUCT: return model->kind == HU_ACCUM_SEQ2 || model->kind == HU_ACCUM_CHUNK;
    case ID_AXIS_JOIN: return is_block(model, ALIGN | EXACT) && !model->promote && !model->slices;
    case ID_AXIS_LAST: return is_block(model, ALIGN | EXACT) && model->block.join == HU_BLOCK_JOIN_LAST;
    case ID_AXIS_CUT: return is_block(model, ALIGN | GROUPS);
    case ID_AXIS_KEPT: return is_block(model, CUTTING);
    case ID_AXIS_KEPT2:
    case ID_AXIS_FAR:
    case ID_AXIS_LANES:
    case ID_AXIS_BIG: return is_block(model, LATE);
    case ID_AXIS_ORDER: return is_block(model, ALIGN | CHAIN);
    case ID_AXIS_LENGTH: return has_length(model);
    case ID_AXIS_GROUP: return is_block(model, GROUPS);
    case ID_AXIS_WRAP: return model->promote || model->slices;
    case ID_AXIS_EMIN: return is_block(model, ALIGN | GROUPS);
    case ID_AXIS_DAZ: return is_block(model, STEPPING);
    case ID_AXIS_FTZ: return is_block(model, STEPPING) || can_flush(model);
    case ID_AXIS_ZERO: return is_block(model, ALIGN | GROUPS);
    default: return is_block(model, ALL) && model->sum.inf != HU_INF_NONE;
  }
}

/* ---- values ---- */

typedef struct values {
  int *z;
  size_t count;
} values;

static void put(values *list, int value) {
  if (list->count < ID_VALUES_MOST) list->z[list->count++] = value;
}

static void put_range(values *list, int low, int high) {
  for (int i = low; i <= high; i++) put(list, i);
}

static void put_lengths(values *list, const id_space *space, const hu_accum *model) {
  int n = (int)space->shape->n, most = model->promote && (int)model->promote < n ? (int)model->promote : n;
  if (model->kind == HU_ACCUM_INT32) {
    put_range(list, 0, n);
  } else if (is_block(model, TREE)) {
    for (int length = 1; length < 2 * most && length <= 4096; length *= 2) put(list, length);
  } else if (is_block(model, GROUPS)) {
    for (int length = model->block.group; length <= n; length += model->block.group) put(list, length);
  } else {
    int step = model->block.order == HU_BLOCK_ORDER_MOD4 ? 2 : 1;
    for (int length = step; length <= most || length == step; length += step) put(list, length);
  }
}

static void put_groups(values *list, const id_space *space, const hu_accum *model) {
  for (int group = 1; group <= (int)space->shape->every; group++)
    if (space->shape->every % (unsigned)group == 0 && model->block.length % group == 0) put(list, group);
}

/* Puts promote(N), where C is added to the sum of N products, and splitk(S), where it is added to the sum of all. */
static void put_scaling(values *list, const id_space *space) {
  int n = (int)space->shape->n;
  put_range(list, space->part ? space->part : 1, space->part ? space->part : n);
  if (!space->part || space->part == n) put_range(list, n + 2, 2 * n);
}

/* Returns the exponent that no product reaches: big at or above it has no effect. */
static int products_top(const id_space *space) {
  int top = id_operand_of(space->shape->a).emax + id_operand_of(space->shape->b).emax + 2;
  return top < 1 ? 1 : top > 1023 ? 1023 : top;
}

/* Returns 1 if a sum can be rounded to zero: not where products are multiples of D's least number, as C is. */
static int has_underflow(const id_space *space) {
  id_operand a = id_operand_of(space->shape->a), b = id_operand_of(space->shape->b),
             result = id_operand_of(space->shape->result);
  return space->shape->every || a.emin - a.digits + b.emin - b.digits < result.emin - result.digits;
}

static void put_all(values *list, const id_space *space, int i, const hu_accum *model) {
  const hu_block *block = &model->block;
  switch (i) {
    case ID_AXIS_IN:
      put(list, 0);
      if (space->inputs) put(list, space->inputs);
      break;
    case ID_AXIS_DIGITS: put_range(list, space->least_digits, space->sum.m); break;
    case ID_AXIS_PRODUCT: put_range(list, 1, space->sum.m); break;
    case ID_AXIS_LAST:
    case ID_AXIS_ROUND: put_range(list, HU_RNE, HU_RTO); break;
    case ID_AXIS_JOIN: put_range(list, 0, 1); break;
    case ID_AXIS_CUT: put_range(list, HU_BLOCK_CUT_TRUNC, HU_BLOCK_CUT_ODD); break;
    case ID_AXIS_KEPT: put_range(list, 0, block->rule == HU_BLOCK_LATE ? block->kept2 : 40); break;
    case ID_AXIS_KEPT2: put_range(list, block->kept, 40); break;
    case ID_AXIS_FAR: put_range(list, 0, 64); break;
    case ID_AXIS_LANES:
      put(list, 0);
      put(list, 2);
      break;
    case ID_AXIS_ORDER:
      put(list, 0);
      put(list, block->rule == HU_BLOCK_ALIGN ? HU_BLOCK_ORDER_MOD4 : HU_BLOCK_ORDER_DOWN);
      break;
    case ID_AXIS_LENGTH: put_lengths(list, space, model); break;
    case ID_AXIS_GROUP: put_groups(list, space, model); break;
    case ID_AXIS_WRAP: put_scaling(list, space); break;
    case ID_AXIS_EMIN: put_range(list, space->lowest, id_operand_of(space->shape->result).emax); break;
    case ID_AXIS_AS: put_range(list, 0, AS_NAMES - 1); break;
    case ID_AXIS_DAZ: put_range(list, 0, 2); break;
    case ID_AXIS_FTZ: put_range(list, 0, is_block(model, EXACT) ? 1 : 3); break;
    case ID_AXIS_ZERO: put_range(list, 0, has_underflow(space)); break;
    case ID_AXIS_OVER: put_range(list, 0, 1); break;
    case ID_AXIS_SAT:
      put(list, HU_SAT_DEFAULT);
      put(list, HU_SAT_FINITE);
      put(list, HU_SAT_PROPAGATE);
      break;
    default: put_range(list, 0, products_top(space)); break;
  }
}

size_t id_axis_values(const id_space *space, int i, const hu_accum *model, int z[ID_VALUES_MOST]) {
  values list = {z, 0};
  if (has_axis(i, model)) put_all(&list, space, i, model);
  if (!list.count) put(&list, id_axis_get(space, i, model));
  return list.count;
}

int id_axis_get(const id_space *space, int i, const hu_accum *model) {
  const hu_block *block = &model->block;
  switch (i) {
    case ID_AXIS_IN: return block->input;
    case ID_AXIS_DIGITS: return model->sum.m;
    case ID_AXIS_PRODUCT: return model->product.m;
    case ID_AXIS_ROUND: return model->mode.round;
    case ID_AXIS_JOIN: return block->join;
    case ID_AXIS_LAST: return block->last;
    case ID_AXIS_CUT: return block->cut;
    case ID_AXIS_KEPT: return block->kept;
    case ID_AXIS_KEPT2: return block->kept2;
    case ID_AXIS_FAR: return block->far;
    case ID_AXIS_ORDER: return block->order;
    case ID_AXIS_LANES: return block->lanes;
    case ID_AXIS_LENGTH: return model->kind == HU_ACCUM_BLOCK ? block->length : (int)model->length;
    case ID_AXIS_GROUP: return block->group;
    case ID_AXIS_WRAP: return model->slices ? (int)(space->shape->n + model->slices) : (int)model->promote;
    case ID_AXIS_EMIN: return block->emin;
    case ID_AXIS_AS: return as_value(block->as);
    case ID_AXIS_DAZ: return block->daz;
    case ID_AXIS_FTZ: return is_block(model, EXACT) ? model->sum.subnormal == HU_SUBNORMAL_FLUSH : block->ftz;
    case ID_AXIS_ZERO: return block->zero;
    case ID_AXIS_OVER: return block->over;
    case ID_AXIS_SAT: return model->mode.saturate;
    default: return block->big;
  }
}

static void set_wrap(const id_space *space, hu_accum *model, int value) {
  uint32_t n = space->shape->n;
  memset(&model->promoted, 0, sizeof model->promoted);
  model->slices = (uint32_t)value > n ? (uint32_t)value - n : 0;
  model->promote = (uint32_t)value > n ? 0 : (uint32_t)value;
  if (model->promote) model->promoted = space->sum;
}

/* Sets where C joins. C among the terms is not added, so that there is no rounding of that. */
static void set_join(hu_block *block, int value) {
  block->join = (uint8_t)value;
  if (block->join != HU_BLOCK_JOIN_LAST) block->last = 0;
}

void id_axis_set(const id_space *space, int i, hu_accum *model, int value) {
  hu_block *block = &model->block;
  switch (i) {
    case ID_AXIS_IN: block->input = (uint8_t)value; break;
    case ID_AXIS_DIGITS: model->sum.m = (uint8_t)value; break;
    case ID_AXIS_PRODUCT: model->product.m = (uint8_t)value; break;
    case ID_AXIS_ROUND: model->mode.round = (uint8_t)value; break;
    case ID_AXIS_JOIN: set_join(block, value); break;
    case ID_AXIS_LAST: block->last = (uint8_t)value; break;
    case ID_AXIS_CUT: block->cut = (uint8_t)value; break;
    case ID_AXIS_KEPT: block->kept = (uint16_t)value; break;
    case ID_AXIS_KEPT2: block->kept2 = (uint16_t)value; break;
    case ID_AXIS_FAR: block->far = (uint16_t)value; break;
    case ID_AXIS_ORDER: block->order = (uint8_t)value; break;
    case ID_AXIS_LANES: block->lanes = (uint8_t)value; break;
    case ID_AXIS_LENGTH:
      if (model->kind == HU_ACCUM_BLOCK)
        block->length = (uint16_t)value;
      else
        model->length = (uint32_t)value;
      break;
    case ID_AXIS_GROUP: block->group = (uint16_t)value; break;
    case ID_AXIS_WRAP: set_wrap(space, model, value); break;
    case ID_AXIS_EMIN: block->emin = (int16_t)value; break;
    case ID_AXIS_AS: block->as = as_format(value); break;
    case ID_AXIS_DAZ: block->daz = (uint8_t)value; break;
    case ID_AXIS_FTZ:
      if (is_block(model, EXACT))
        model->sum.subnormal = value ? HU_SUBNORMAL_FLUSH : HU_SUBNORMAL_GRADUAL;
      else
        block->ftz = (uint8_t)value;
      break;
    case ID_AXIS_ZERO: block->zero = (uint8_t)value; break;
    case ID_AXIS_OVER: block->over = (uint8_t)value; break;
    case ID_AXIS_SAT: model->mode.saturate = (uint8_t)value; break;
    default: block->big = (uint16_t)value; break;
  }
}

void id_axis_text(const id_space *space, int i, const hu_accum *model, int value, char *text, size_t size) {
  static const char *const rounds[] = {"rne", "rna", "rnz", "rtz", "rtp", "rtn", "raz", "rto"};
  static const char *const words[ID_AXES][4] = {[ID_AXIS_JOIN] = {"first", "last"},
                                                [ID_AXIS_CUT] = {"trunc", "floor", "rne", "odd"},
                                                [ID_AXIS_ORDER] = {"up", "down", "mod4"},
                                                [ID_AXIS_DAZ] = {"none", "sign", "plus"},
                                                [ID_AXIS_FTZ] = {"none", "after", "tiny", "before"},
                                                [ID_AXIS_ZERO] = {"sign", "plus"},
                                                [ID_AXIS_OVER] = {"mode", "inf"},
                                                [ID_AXIS_SAT] = {"default", "none", "finite", "propagate"}};
  int n = (int)space->shape->n;
  (void)model;
  if (i == ID_AXIS_ROUND || i == ID_AXIS_LAST) {
    snprintf(text, size, "%s", rounds[value & 7]);
  } else if (i == ID_AXIS_AS) {
    snprintf(text, size, "%s", value ? as_names[value] : "none");
  } else if (words[i][0]) {
    snprintf(text, size, "%s", words[i][value & 3] ? words[i][value & 3] : "?");
  } else if (i == ID_AXIS_WRAP && value == 0) {
    snprintf(text, size, "none");
  } else if (i == ID_AXIS_WRAP) {
    snprintf(text, size, value > n ? "splitk(%d)" : "promote(%d)", value > n ? value - n : value);
  } else if ((i == ID_AXIS_FAR || i == ID_AXIS_BIG || i == ID_AXIS_LANES || i == ID_AXIS_IN) && value == 0) {
    snprintf(text, size, i == ID_AXIS_IN ? "all" : "none");
  } else {
    snprintf(text, size, "%d", value);
  }
}
