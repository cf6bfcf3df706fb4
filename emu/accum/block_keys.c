/* SPDX-License-Identifier: MIT */
/* The keys of block(...). */
#include "emu/accum/block_keys.h"

#include <stddef.h>
#include <string.h>

#include "emu/core/modes.h"

const char *const hu_rule_names[HU_BLOCK_RULES] = {"align", "groups", "late", "exact", "tree", "chain", "lanes"};

const char *const hu_type_names[HU_TYPE_KINDS] = {"any", NULL, NULL, NULL, NULL, "binary64",
                                                  "s8",  "u8", "s4", "u4", "s32"};

enum {
  ALIGN = 1 << HU_BLOCK_ALIGN,
  GROUPS = 1 << HU_BLOCK_GROUPS,
  LATE = 1 << HU_BLOCK_LATE,
  EXACT = 1 << HU_BLOCK_EXACT,
  TREE = 1 << HU_BLOCK_TREE,
  CHAIN = 1 << HU_BLOCK_CHAIN,
  LANES = 1 << HU_BLOCK_LANES,
  CUTTING = ALIGN | GROUPS | LATE,
  STEPPING = TREE | CHAIN | LANES,
  ALL = CUTTING | EXACT | STEPPING
};

/* A key, and where a record has a number or a word; no bytes: it is neither. */
typedef struct key_row {
  hu_block_key key;
  uint8_t place, bytes;
} key_row;

#define NUMBER(name, field, low, high, rules, required, values, meaning) \
  { {name, values, meaning, {NULL}, low, high, rules, required}, FIELD(field) }
#define WORD(name, field, rules, values, meaning, ...) \
  { {name, values, meaning, {__VA_ARGS__}, 0, 0, rules, 0}, FIELD(field) }
#define OTHER(name, rules, required, values, meaning) \
  { {name, values, meaning, {NULL}, 0, 0, rules, required}, 0, 0 }
#define FIELD(name) offsetof(hu_block, name), sizeof(((hu_block *)0)->name)
#define NAME_OF(mode, name, first, words, p3109, ieee) #name,
#define COMMA_OF(mode, name, first, words, p3109, ieee) #name ", "

static const key_row rows[HU_BLOCK_KEY_COUNT] = {
    [HU_BLOCK_KEY_L] = NUMBER("l", length, 1, 4096, ALL, ALL, "1 to 4096 (tree: a power of two; order=mod4: even)",
                              "products in a block; the result of a block is the C of the next one"),
    [HU_BLOCK_KEY_F] = NUMBER("f", kept, 0, 40, CUTTING, CUTTING, "0 to 40",
                              "binary digits kept below the largest exponent E: what lies below 2^(E-f) is cut"),
    [HU_BLOCK_KEY_F2] =
        NUMBER("f2", kept2, 0, 40, LATE, LATE, "f to 40", "digits kept where the sum of the products meets C"),
    [HU_BLOCK_KEY_EMIN] = NUMBER("emin", emin, -4096, 4096, ALIGN | GROUPS, ALIGN | GROUPS, "-4096 to 4096",
                                 "E is never taken lower than this"),
    [HU_BLOCK_KEY_LANES] =
        NUMBER("lanes", lanes, 2, 2, LATE, 0, "2",
               "2: even and odd k are aligned apart, each to its own largest exponent; default: together"),
    [HU_BLOCK_KEY_FAR] = NUMBER("far", far, 1, 64, LATE, 0, "1 to 64",
                                "C more than this many binades below the products is dropped; default: never"),
    [HU_BLOCK_KEY_BIG] = NUMBER("big", big, 1, 1023, LATE, 0, "1 to 1023",
                                "a finite product of 2^big or more counts as an infinity; default: none does"),
    [HU_BLOCK_KEY_IN] =
        NUMBER("in", input, 1, 30, ALL & ~GROUPS, 0, "1 to 30",
               "trailing significand bits of A and B that are looked at, the rest are read as 0; default: all"),
    [HU_BLOCK_KEY_G] =
        NUMBER("g", group, 1, 4096, GROUPS | TREE, GROUPS, "1 to 4096, a divisor of l and of every",
               "products in a group, which are added exactly; in a tree, with products=exact, such a sum is a leaf"),
    [HU_BLOCK_KEY_EVERY] =
        NUMBER("every", every, 1, 4096, ALIGN | GROUPS | EXACT, 0,
               "1 to 4096, with scale= (scaling=sum: a multiple of l)", "products that share a scale"),
    [HU_BLOCK_KEY_CUT] = WORD("cut", cut, ALIGN | GROUPS, "trunc, floor, rne, odd",
                              "how the digits below 2^(E-f) are cut: toward zero, toward minus infinity, to nearest "
                              "even, to odd; default trunc",
                              "trunc", "floor", "rne", "odd"),
    [HU_BLOCK_KEY_ORDER] =
        WORD("order", order, ALIGN | CHAIN, "up, mod4 (chain: up, down)",
             "order of k in a block; mod4: of 2 l products those with k mod 4 = 0, 1 first; default up", "up", "down",
             "mod4"),
    [HU_BLOCK_KEY_C] =
        WORD("c", join, ALIGN | EXACT | CHAIN, "first, last",
             "C is among the terms that are added, or added to the block's result; default first", "first", "last"),
    [HU_BLOCK_KEY_LAST] = WORD("last", last, ALIGN | EXACT | CHAIN, HU_EACH_DETERMINISTIC_MODE(COMMA_OF) "with c=last",
                               "rounding of the addition of C, which has the policy of sat=; default rne",
                               HU_EACH_DETERMINISTIC_MODE(NAME_OF) NULL),
    [HU_BLOCK_KEY_DAZ] =
        WORD("daz", daz, ALL, "none, sign, plus",
             "subnormal operands and C are read as 0 of their sign, or these and all zeros as +0; default none", "none",
             "sign", "plus"),
    [HU_BLOCK_KEY_FTZ] =
        WORD("ftz", ftz, ALL, "none, after, tiny, before",
             "subnormal results become 0 of their sign: seen after rounding, when tiny, before rounding; default none",
             "none", "after", "tiny", "before"),
    [HU_BLOCK_KEY_PRODUCTS] = WORD(
        "products", products, TREE, "rounded, exact (with g=, or l=2)",
        "products are rounded into out before the tree, or groups of them (l=2: both) are added exactly and rounded; "
        "default rounded",
        "rounded", "exact"),
    [HU_BLOCK_KEY_NAN] =
        WORD("nan", nan, ALL & ~GROUPS, "cut, kept, with in=",
             "a NaN whose digits that in= looks at are 0 is read without the others, or is a NaN; default cut", "cut",
             "kept"),
    [HU_BLOCK_KEY_SCALING] =
        WORD("scaling", scaling, ALIGN | EXACT, "terms, sum (exact: sum; with c=last and every=)",
             "scales are applied to the products, or to the block's rounded sum before C is added; default terms",
             "terms", "sum"),
    [HU_BLOCK_KEY_AS] = OTHER("as", ALL & ~GROUPS, 0, "a format",
                              "operands are taken as values of this format, which holds theirs; default: their own"),
    [HU_BLOCK_KEY_SCALE] = OTHER("scale", ALIGN | GROUPS | EXACT, 0,
                                 "an unsigned format without infinities, of m up to 3 (align: 0), with every=",
                                 "format of the scales of A and B"),
    [HU_BLOCK_KEY_ACC] =
        OTHER("acc", CUTTING, 0, "a format", "format of C: its smallest exponent takes part in E; default that of out"),
    [HU_BLOCK_KEY_OUT] =
        OTHER("out", ALL, 0, "a format", "format into which each block's sum is rounded; default binary32"),
    [HU_BLOCK_KEY_ROUND] = OTHER("round", ALL, 0, "a rounding mode", "rounding into out; default rne"),
    [HU_BLOCK_KEY_SAT] =
        OTHER("sat", ALL, 0, "default, none, finite, propagate",
              "what becomes of sums beyond the range of out (and with c=last of acc); default: as the card says"),
    [HU_BLOCK_KEY_OVER] =
        WORD("over", over, ALL, "mode, inf (where out= has infinities)",
             "inf: overflow gives infinity in every mode; default mode: as the rounding mode says", "mode", "inf"),
    [HU_BLOCK_KEY_ZERO] = WORD("zero", zero, ALIGN | GROUPS | EXACT, "sign, plus (exact: sign, ieee)",
                               "a sum other than 0 that is rounded to 0 gives 0 of its sign, or +0; ieee: a sum of 0 "
                               "has IEEE 754's sign, otherwise it is +0; default sign",
                               "sign", "plus", "ieee"),
    [HU_BLOCK_KEY_STICKY] = WORD(
        "sticky", sticky, ALIGN | GROUPS, "none, or (with cut=trunc or floor)",
        "or: digits that cuts lose set one bit below the sum, which its rounding sees; default none", "none", "or"),
    [HU_BLOCK_KEY_ZEROS] =
        WORD("zeros", zeros, ALIGN | GROUPS, "none, sticky, exponent, both (sticky, both: with sticky=or)",
             "zero products and a zero C set that bit, or take part in E with emin of their formats; default none",
             "none", "sticky", "exponent", "both"),
    [HU_BLOCK_KEY_WINDOW] = NUMBER(
        "window", window, 1, 40, GROUPS, 0, "1 to 40",
        "digits of a product kept below the largest exponent of its group, the rest cut as cut= says; default: all"),
    [HU_BLOCK_KEY_TO] =
        WORD("to", to, ALIGN | GROUPS, "largest, fixed (with wide=)",
             "terms are aligned to E, or to emin whatever their exponents are; default largest", "largest", "fixed"),
    [HU_BLOCK_KEY_WIDE] =
        NUMBER("wide", wide, 1, 20, ALIGN | GROUPS, 0, "1 to 20",
               "digits that the register of the sum has from 2^E up, beside its sign; default: as many as there are"),
    [HU_BLOCK_KEY_PAST] =
        WORD("past", past, ALIGN | GROUPS, "wrap, limit, with wide=",
             "a sum beyond the register wraps, or stops at its limit in every addition; default wrap", "wrap", "limit"),
    [HU_BLOCK_KEY_VIA] = OTHER("via", CUTTING | EXACT, 0, "a format",
                               "the sum is rounded into this format first, by round= too; default: only into out"),
};

const hu_block_key *hu_block_key_at(uint32_t key) { return key < HU_BLOCK_KEY_COUNT ? &rows[key].key : NULL; }

/* Fields of two bytes are taken for signed ones: what is too large for that is beyond every key's range, as negative
 * numbers are. */
int hu_block_key_get(const hu_block *block, uint32_t key) {
  int16_t wide = 0;
  uint8_t narrow = 0;
  const char *from = (const char *)block;
  if (key >= HU_BLOCK_KEY_COUNT) return 0;
  if (rows[key].bytes == 1) memcpy(&narrow, from + rows[key].place, 1);
  if (rows[key].bytes == 2) memcpy(&wide, from + rows[key].place, 2);
  return narrow + wide;
}

void hu_block_key_set(hu_block *block, uint32_t key, int value) {
  uint16_t wide = (uint16_t)value;
  uint8_t narrow = (uint8_t)value;
  char *to = (char *)block;
  if (key >= HU_BLOCK_KEY_COUNT) return;
  if (rows[key].bytes == 1) memcpy(to + rows[key].place, &narrow, 1);
  if (rows[key].bytes == 2) memcpy(to + rows[key].place, &wide, 2);
}

int hui_key_taken(const hu_block *block, unsigned key) { return rows[key].key.rules >> block->rule & 1; }
int hui_key_required(const hu_block *block, unsigned key) { return rows[key].key.required >> block->rule & 1; }
int hui_key_has_value(unsigned key) { return rows[key].bytes != 0; }
int hui_key_is_word(unsigned key) { return rows[key].key.words[0] != NULL; }

const char *hui_key_word(unsigned key, int value) {
  const char *const *word = rows[key].key.words;
  while (value-- > 0 && *word) word++;
  return *word;
}

static int is_absent(hu_format format) {
  hu_format none;
  memset(&none, 0, sizeof none);
  return hu_format_equal(format, none);
}

/* Scales are unsigned, and their significands' products short: see hui_accum_usable. Those of a block's sum are one for
 * a block, and C comes after them. */
static unsigned scale_clash(const hu_accum *accum) {
  const hu_block *block = &accum->block;
  if (block->scaling && (block->join != HU_BLOCK_JOIN_LAST || !block->every || block->order))
    return HU_BLOCK_KEY_SCALING;
  if (is_absent(block->scale)) return block->every ? HU_BLOCK_KEY_EVERY : HU_BLOCK_KEY_COUNT;
  if (block->scaling && block->every % block->length) return HU_BLOCK_KEY_EVERY;
  if (block->rule == HU_BLOCK_EXACT && !block->scaling) return HU_BLOCK_KEY_SCALE;
  if (!block->every || block->scale.sign || block->scale.inf != HU_INF_NONE) return HU_BLOCK_KEY_SCALE;
  return block->scale.m > (block->rule == HU_BLOCK_ALIGN ? 0 : 3) ? HU_BLOCK_KEY_SCALE : HU_BLOCK_KEY_COUNT;
}

/* The leaves of a tree are as many as a power of two; groups come with exact products, and these with groups, or there
 * is one pair. */
static unsigned tree_clash(const hu_block *block) {
  unsigned group = block->group ? block->group : block->products ? 2 : 1, leaves = block->length / group;
  if (block->products && !block->group && block->length != 2) return HU_BLOCK_KEY_PRODUCTS;
  if (block->group && (!block->products || block->length % block->group)) return HU_BLOCK_KEY_G;
  return leaves & (leaves - 1) ? HU_BLOCK_KEY_L : HU_BLOCK_KEY_COUNT;
}

unsigned hui_key_clash(const hu_accum *accum) {
  const hu_block *block = &accum->block;
  if (block->rule == HU_BLOCK_LATE && block->kept2 < block->kept) return HU_BLOCK_KEY_F2;
  if (block->rule == HU_BLOCK_GROUPS && (block->length % block->group || block->every % block->group))
    return HU_BLOCK_KEY_G;
  if (block->rule == HU_BLOCK_TREE && tree_clash(block) != HU_BLOCK_KEY_COUNT) return tree_clash(block);
  if (block->last && block->join != HU_BLOCK_JOIN_LAST) return HU_BLOCK_KEY_LAST;
  if (block->nan && !block->input) return HU_BLOCK_KEY_NAN;
  if (block->zero && (block->zero == HU_BLOCK_ZERO_IEEE) != (block->rule == HU_BLOCK_EXACT)) return HU_BLOCK_KEY_ZERO;
  if (block->order == (block->rule == HU_BLOCK_CHAIN ? HU_BLOCK_ORDER_MOD4 : HU_BLOCK_ORDER_DOWN))
    return HU_BLOCK_KEY_ORDER;
  if (block->order == HU_BLOCK_ORDER_MOD4 && block->length % 2) return HU_BLOCK_KEY_L;
  if (block->over && accum->sum.inf == HU_INF_NONE) return HU_BLOCK_KEY_OVER;
  if (block->sticky && block->cut > HU_BLOCK_CUT_FLOOR) return HU_BLOCK_KEY_STICKY;
  if (block->zeros & HU_BLOCK_ZEROS_STICKY && !block->sticky) return HU_BLOCK_KEY_ZEROS;
  if (block->to && !block->wide) return HU_BLOCK_KEY_TO;
  if (block->past && !block->wide) return HU_BLOCK_KEY_PAST;
  return scale_clash(accum);
}
