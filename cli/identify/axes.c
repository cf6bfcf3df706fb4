/* SPDX-License-Identifier: MIT */
/* The axes of space.h: which model has which, their values, and how a record holds them. */
#include <stdio.h>
#include <string.h>

#include "cli/question/operand.h"
#include "cli/identify/space.h"

enum { NO_KEY = HU_BLOCK_KEY_COUNT };

typedef struct axis {
  unsigned key;     /* HU_BLOCK_KEY_: that of block(...), of which the axis is the value where nothing else is said */
  const char *name; /* of an axis without a key */
  const char *meaning;
} axis;

static const axis axes[ID_AXES] = {
    [ID_AXIS_IN] = {HU_BLOCK_KEY_IN, NULL, "bits of an operand's fraction that are looked at"},
    [ID_AXIS_DIGITS] = {NO_KEY, "out", "fraction digits of the accumulator"},
    [ID_AXIS_PRODUCT] = {NO_KEY, "P", "fraction digits of rounded products"},
    [ID_AXIS_ROUND] = {NO_KEY, "round", "rounding into the accumulator"},
    [ID_AXIS_JOIN] = {HU_BLOCK_KEY_C, NULL, "where C joins a block"},
    [ID_AXIS_VIA] = {HU_BLOCK_KEY_VIA, NULL, "a format into which sums are rounded first"},
    [ID_AXIS_LAST] = {HU_BLOCK_KEY_LAST, NULL, "rounding of the addition of C"},
    [ID_AXIS_CUT] = {HU_BLOCK_KEY_CUT, NULL, "what happens to the digits below the cut"},
    [ID_AXIS_STICKY] = {HU_BLOCK_KEY_STICKY, NULL, "whether the digits below the cut are kept as one bit"},
    [ID_AXIS_ZEROS] = {HU_BLOCK_KEY_ZEROS, NULL, "what terms that are zero count as"},
    [ID_AXIS_KEPT] = {HU_BLOCK_KEY_F, NULL, "digits kept below the largest exponent"},
    [ID_AXIS_KEPT2] = {HU_BLOCK_KEY_F2, NULL, "digits kept where the sum meets C"},
    [ID_AXIS_FAR] = {HU_BLOCK_KEY_FAR, NULL, "binades below which C is dropped"},
    [ID_AXIS_ORDER] = {HU_BLOCK_KEY_ORDER, NULL, "order of k in a block"},
    [ID_AXIS_LANES] = {HU_BLOCK_KEY_LANES, NULL, "even and odd k aligned apart"},
    [ID_AXIS_LENGTH] = {HU_BLOCK_KEY_L, NULL, "products in a block"},
    [ID_AXIS_GROUP] = {HU_BLOCK_KEY_G, NULL, "products that are added before they are aligned or scaled"},
    [ID_AXIS_WINDOW] = {HU_BLOCK_KEY_WINDOW, NULL, "digits kept below the largest exponent of a group"},
    [ID_AXIS_WRAP] = {NO_KEY, "parts", "sums of parts on their own: promote(N), splitk(S)"},
    [ID_AXIS_WIDE] = {HU_BLOCK_KEY_WIDE, NULL, "digits of the register of a sum from its largest exponent up"},
    [ID_AXIS_PAST] = {HU_BLOCK_KEY_PAST, NULL, "what becomes of a sum beyond its register"},
    [ID_AXIS_PLACE] = {HU_BLOCK_KEY_EMIN, NULL, "where the register lies"},
    [ID_AXIS_EMIN] = {HU_BLOCK_KEY_EMIN, NULL, "lower limit of the largest exponent"},
    [ID_AXIS_AS] = {HU_BLOCK_KEY_AS, NULL, "the format that operands are taken as"},
    [ID_AXIS_DAZ] = {HU_BLOCK_KEY_DAZ, NULL, "what subnormal operands are read as"},
    [ID_AXIS_FTZ] = {HU_BLOCK_KEY_FTZ, NULL, "when subnormal results become zero"},
    [ID_AXIS_ZERO] = {HU_BLOCK_KEY_ZERO, NULL, "the sign of a sum that is rounded to zero"},
    [ID_AXIS_OVER] = {HU_BLOCK_KEY_OVER, NULL, "what an overflow gives"},
    [ID_AXIS_SAT] = {NO_KEY, "sat", "saturation"},
    [ID_AXIS_NAN] = {HU_BLOCK_KEY_NAN, NULL, "NaN operands whose digits are not looked at"},
    [ID_AXIS_BIG] = {HU_BLOCK_KEY_BIG, NULL, "products that count as infinities"},
};

const char *id_axis_key(int i) { return axes[i].name ? axes[i].name : hu_block_key_at(axes[i].key)->name; }
const char *id_axis_meaning(int i) { return axes[i].meaning; }

int id_axis_is_option(int i, const hu_block *block) {
  const hu_block_key *key = hu_block_key_at(axes[i].key);
  return key && !(key->required >> block->rule & 1) && hu_block_key_get(block, axes[i].key) != 0;
}

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
  EXACT = 1 << HU_BLOCK_EXACT,
  TREE = 1 << HU_BLOCK_TREE,
  CHAIN = 1 << HU_BLOCK_CHAIN
};

static int has_rounding(const hu_accum *model) {
  return model->kind != HU_ACCUM_EXACT && model->kind != HU_ACCUM_FP32 && model->kind != HU_ACCUM_FP64 &&
         model->kind != HU_ACCUM_INT32;
}

static int has_length(const hu_accum *model) {
  if (model->kind == HU_ACCUM_CHUNK || model->kind == HU_ACCUM_INT32) return 1;
  if (model->kind != HU_ACCUM_BLOCK) return 0;
  return model->block.rule != HU_BLOCK_CHAIN || model->block.order != HU_BLOCK_ORDER_UP ||
         model->block.join == HU_BLOCK_JOIN_LAST;
}

/* Returns 1 if its sums are flushed where their format says so: blocks flush by the key ftz. */
static int flushes_by_format(const hu_accum *model) { return has_rounding(model) && model->kind != HU_ACCUM_BLOCK; }

static int can_flush(const hu_accum *model) {
  return flushes_by_format(model) && model->sum.e && model->sum.zero == HU_ZERO_FIELD &&
         model->sum.subnormal != HU_SUBNORMAL_NONE;
}

static int has_axis(int i, const hu_accum *model) {
  const hu_block_key *key = hu_block_key_at(axes[i].key);
  int taken = key && is_block(model, key->rules);
  switch (i) {
    case ID_AXIS_DIGITS:
    case ID_AXIS_ROUND:
    case ID_AXIS_SAT: return has_rounding(model);
    case ID_AXIS_PRODUCT: return model->kind == HU_ACCUM_SEQ2 || model->kind == HU_ACCUM_CHUNK;
    case ID_AXIS_JOIN: return taken && !model->promote && !model->slices && !model->block.scaling;
    case ID_AXIS_LAST: return taken && model->block.join == HU_BLOCK_JOIN_LAST;
    case ID_AXIS_LENGTH: return has_length(model);
    case ID_AXIS_WRAP: return model->promote || model->slices;
    case ID_AXIS_PLACE: return taken && model->block.to;
    case ID_AXIS_EMIN: return taken && !model->block.to;
    case ID_AXIS_PAST: return taken && model->block.wide;
    case ID_AXIS_NAN: return taken && model->block.input;
    case ID_AXIS_FTZ: return flushes_by_format(model) ? can_flush(model) : taken;
    case ID_AXIS_OVER: return taken && model->sum.inf != HU_INF_NONE;
    default: return taken;
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

/* Returns 1 if blocks of this model may have the length that the order of the sum says. */
static int takes_length(const hu_accum *model, int length) {
  const hu_block *block = &model->block;
  if (model->kind == HU_ACCUM_CHUNK) return 1;
  if (model->kind != HU_ACCUM_BLOCK || block->scaling || block->order) return 0;
  if (block->rule == HU_BLOCK_TREE) return (length & (length - 1)) == 0 && length > (block->products != 0);
  return block->rule != HU_BLOCK_GROUPS || length % block->group == 0;
}

static void put_lengths(values *list, const id_space *space, const hu_accum *model) {
  int n = (int)space->shape->n, most = model->promote && (int)model->promote < n ? (int)model->promote : n;
  if (space->length && !model->promote && !model->slices && takes_length(model, space->length)) {
    put(list, space->length);
  } else if (model->kind == HU_ACCUM_INT32) {
    put_range(list, 0, n);
  } else if (is_block(model, TREE)) {
    for (int length = 1 + (model->block.products != 0); length < 2 * most && length <= 4096; length *= 2)
      put(list, length);
  } else if (model->kind == HU_ACCUM_BLOCK && model->block.scaling) {
    for (int length = 1; length <= (int)space->shape->every; length++)
      if (space->shape->every % (unsigned)length == 0) put(list, length);
  } else if (is_block(model, GROUPS)) {
    for (int length = model->block.group; length <= n; length += model->block.group) put(list, length);
  } else {
    int step = model->block.order == HU_BLOCK_ORDER_MOD4 ? 2 : 1;
    for (int length = step; length <= most || length == step; length += step) put(list, length);
  }
}

/* Puts what divides the products that share a scale, and the block; sums of exact products are the leaves of a tree,
 * and a block of one pair has no other. */
static void put_groups(values *list, const id_space *space, const hu_accum *model) {
  int length = model->block.length;
  if (is_block(model, TREE)) {
    if (!model->block.products || length == 2) put(list, 0);
    for (int group = 2; group <= length && model->block.products && length > 2; group *= 2) put(list, group);
    return;
  }
  for (int group = 2; group <= length && !space->shape->every; group++) /* one product alone is an aligned term */
    if (length % group == 0) put(list, group);
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

/* Puts the value that the model has, which was seen, and those next to it. */
static void put_near(values *list, unsigned number, const hu_block *block) {
  const hu_block_key *key = hu_block_key_at(number);
  int value = hu_block_key_get(block, number);
  put_range(list, value > key->low ? value - 1 : value, value < key->high ? value + 1 : value);
}

/* Puts digits of a register: it matters where the terms of a block, below 4 2^E each and C below 2 2^E, are more. */
static void put_widths(values *list, const hu_block *block) {
  const hu_block_key *key = hu_block_key_at(HU_BLOCK_KEY_WIDE);
  int most = 0;
  while ((uint64_t)2 << most < 4 * (uint64_t)block->length + 2) most++;
  put_range(list, 0, most < key->high ? most : key->high);
}

/* Puts lower limits of the largest exponent. A limit hides the powers of two that lie more digits below it than are
 * kept; which these are was asked (id_read_place), and zeros that have an exponent may hide them as well. */
static void put_limits(values *list, const id_space *space, const hu_accum *model) {
  const hu_block *block = &model->block;
  int high = id_operand_of(space->shape->result).emax, low = space->lowest;
  int apart = block->join == HU_BLOCK_JOIN_LAST || model->promote || model->slices; /* C is not aligned */
  if (space->least_known && !(apart && space->least_by_c)) {
    int at = space->least + block->kept;
    if (at + 1 < high) high = at + 1;
    if (space->least_known > 1 && !(block->zeros & HU_BLOCK_ZEROS_EXPONENT) && at - 1 > low) low = at - 1;
  }
  put_range(list, low, high > low ? high : low);
}

/* Puts what a key takes, and 0 where it may be left out. */
static void put_key(values *list, unsigned number, const hu_block *block) {
  const hu_block_key *key = hu_block_key_at(number);
  int words = 0;
  while (key->words[words]) words++;
  if (words) {
    put_range(list, 0, words - 1);
    return;
  }
  if (key->low && !(key->required >> block->rule & 1)) put(list, 0);
  put_range(list, key->low, key->high);
}

static void put_all(values *list, const id_space *space, int i, const hu_accum *model) {
  const hu_block *block = &model->block;
  if (block->to && (i == ID_AXIS_KEPT || i == ID_AXIS_WIDE || i == ID_AXIS_PLACE)) {
    put_near(list, axes[i].key, block);
    return;
  }
  switch (i) {
    case ID_AXIS_IN:
      put(list, 0);
      if (space->inputs) put(list, space->inputs);
      break;
    case ID_AXIS_DAZ:
      if (space->keeps_small)
        put(list, 0);
      else
        put_key(list, axes[i].key, block);
      break;
    case ID_AXIS_VIA:
      put(list, 0);
      for (int value = 1; value < AS_NAMES; value++)
        if (as_format(value).m > model->sum.m && as_format(value).e >= model->sum.e) put(list, value);
      break;
    case ID_AXIS_DIGITS: put_range(list, space->least_digits, space->sum.m); break;
    case ID_AXIS_PRODUCT: put_range(list, 1, space->sum.m); break;
    case ID_AXIS_ROUND: put_range(list, HU_RNE, HU_SRA - 1); break;
    case ID_AXIS_WIDE: put_widths(list, block); break;
    case ID_AXIS_KEPT: put_range(list, 0, block->rule == HU_BLOCK_LATE ? block->kept2 : 40); break;
    case ID_AXIS_KEPT2: put_range(list, block->kept, 40); break;
    case ID_AXIS_STICKY:
      put_range(list, 0, block->cut == HU_BLOCK_CUT_TRUNC || block->cut == HU_BLOCK_CUT_FLOOR);
      break;
    case ID_AXIS_ZEROS:
      put(list, HU_BLOCK_ZEROS_NONE);
      put(list, HU_BLOCK_ZEROS_EXPONENT);
      if (block->sticky) put(list, HU_BLOCK_ZEROS_STICKY);
      if (block->sticky) put(list, HU_BLOCK_ZEROS_BOTH);
      break;
    case ID_AXIS_ORDER:
      put(list, HU_BLOCK_ORDER_UP);
      if (space->length && !model->promote && !model->slices) break; /* it was seen to go up */
      put(list, block->rule == HU_BLOCK_ALIGN ? HU_BLOCK_ORDER_MOD4 : HU_BLOCK_ORDER_DOWN);
      break;
    case ID_AXIS_LENGTH: put_lengths(list, space, model); break;
    case ID_AXIS_GROUP: put_groups(list, space, model); break;
    case ID_AXIS_WRAP: put_scaling(list, space); break;
    case ID_AXIS_EMIN: put_limits(list, space, model); break;
    case ID_AXIS_AS: put_range(list, 0, AS_NAMES - 1); break;
    case ID_AXIS_FTZ:
      if (space->gives_small)
        put(list, 0);
      else if (flushes_by_format(model))
        put_range(list, 0, 1);
      else
        put_key(list, axes[i].key, block);
      break;
    case ID_AXIS_ZERO:
      put(list, HU_BLOCK_ZERO_SIGN);
      if (block->rule == HU_BLOCK_EXACT)
        put(list, HU_BLOCK_ZERO_IEEE);
      else if (has_underflow(space))
        put(list, HU_BLOCK_ZERO_PLUS);
      break;
    case ID_AXIS_SAT:
      put(list, HU_SAT_DEFAULT);
      put(list, HU_SAT_FINITE);
      put(list, HU_SAT_PROPAGATE);
      break;
    case ID_AXIS_BIG: put_range(list, 0, products_top(space)); break;
    default: put_key(list, axes[i].key, block); break;
  }
}

size_t id_axis_values(const id_space *space, int i, const hu_accum *model, int z[ID_VALUES_MOST]) {
  values list = {z, 0};
  if (has_axis(i, model)) put_all(&list, space, i, model);
  if (!list.count) put(&list, id_axis_get(space, i, model));
  return list.count;
}

int id_axis_get(const id_space *space, int i, const hu_accum *model) {
  switch (i) {
    case ID_AXIS_DIGITS: return model->sum.m;
    case ID_AXIS_PRODUCT: return model->product.m;
    case ID_AXIS_ROUND: return model->mode.round;
    case ID_AXIS_LENGTH: return model->kind == HU_ACCUM_BLOCK ? model->block.length : (int)model->length;
    case ID_AXIS_WRAP: return model->slices ? (int)(space->shape->n + model->slices) : (int)model->promote;
    case ID_AXIS_AS: return as_value(model->block.as);
    case ID_AXIS_VIA: return as_value(model->block.via);
    case ID_AXIS_FTZ:
      if (flushes_by_format(model)) return model->sum.subnormal == HU_SUBNORMAL_FLUSH;
      break;
    case ID_AXIS_SAT: return model->mode.saturate;
    default: break;
  }
  return hu_block_key_get(&model->block, axes[i].key);
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

/* Sets the digits of a register: without one nothing can be beyond it. */
static void set_wide(hu_block *block, int value) {
  block->wide = (uint8_t)value;
  if (!value) block->past = block->to = 0;
}

/* Sets the digits of operands that are looked at: where all are, none is hidden. */
static void set_input(hu_block *block, int value) {
  block->input = (uint8_t)value;
  if (!value) block->nan = 0;
}

/* Sets how terms are cut, or whether a bit keeps what is lost: without it zeros cannot set it. */
static void set_cut(hu_block *block, unsigned key, int value) {
  hu_block_key_set(block, key, value);
  if (block->cut > HU_BLOCK_CUT_FLOOR) block->sticky = 0;
  if (!block->sticky) block->zeros &= HU_BLOCK_ZEROS_EXPONENT;
}

void id_axis_set(const id_space *space, int i, hu_accum *model, int value) {
  hu_block *block = &model->block;
  switch (i) {
    case ID_AXIS_DIGITS: model->sum.m = (uint8_t)value; break;
    case ID_AXIS_PRODUCT: model->product.m = (uint8_t)value; break;
    case ID_AXIS_ROUND: model->mode.round = (uint8_t)value; break;
    case ID_AXIS_IN: set_input(block, value); break;
    case ID_AXIS_WIDE: set_wide(block, value); break;
    case ID_AXIS_JOIN: set_join(block, value); break;
    case ID_AXIS_CUT:
    case ID_AXIS_STICKY: set_cut(block, axes[i].key, value); break;
    case ID_AXIS_LENGTH:
      if (model->kind == HU_ACCUM_BLOCK)
        block->length = (uint16_t)value;
      else
        model->length = (uint32_t)value;
      break;
    case ID_AXIS_WRAP: set_wrap(space, model, value); break;
    case ID_AXIS_AS: block->as = as_format(value); break;
    case ID_AXIS_VIA: block->via = as_format(value); break;
    case ID_AXIS_FTZ:
      if (flushes_by_format(model))
        model->sum.subnormal = value ? HU_SUBNORMAL_FLUSH : HU_SUBNORMAL_GRADUAL;
      else
        hu_block_key_set(block, axes[i].key, value);
      break;
    case ID_AXIS_SAT: model->mode.saturate = (uint8_t)value; break;
    default: hu_block_key_set(block, axes[i].key, value); break;
  }
}

/* Returns the word of a value; NULL where the axis has numbers. */
static const char *word_of(int i, int value) {
  static const char *const saturations[] = {"default", "none", "finite", "propagate"};
  const hu_block_key *key = hu_block_key_at(axes[i].key);
  if (i == ID_AXIS_ROUND) return hu_mode_round_words((uint32_t)value).name;
  if (i == ID_AXIS_AS || i == ID_AXIS_VIA) return value ? as_names[value] : "none";
  if (i == ID_AXIS_SAT) return saturations[value & 3];
  return key ? key->words[value < 0 || value > 7 || !key->words[0] ? 8 : value] : NULL;
}

void id_axis_text(const id_space *space, int i, const hu_accum *model, int value, char *text, size_t size) {
  int n = (int)space->shape->n;
  const hu_block_key *key = hu_block_key_at(axes[i].key);
  const char *word = word_of(i, value);
  (void)model;
  if (word) {
    snprintf(text, size, "%s", word);
  } else if (i == ID_AXIS_WRAP && value == 0) {
    snprintf(text, size, "none");
  } else if (i == ID_AXIS_WRAP) {
    snprintf(text, size, value > n ? "splitk(%d)" : "promote(%d)", value > n ? value - n : value);
  } else if (key && key->low > 0 && !key->required && value == 0) {
    snprintf(text, size, i == ID_AXIS_IN ? "all" : "none");
  } else {
    snprintf(text, size, "%d", value);
  }
}
