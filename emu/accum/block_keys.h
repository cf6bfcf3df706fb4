/* SPDX-License-Identifier: MIT */
/* emu/accum/block_keys.h - what readers, writers and checks of block(...) ask about its keys (hu_block_key). */
#ifndef HALFULP_EMU_ACCUM_BLOCK_KEYS_H
#define HALFULP_EMU_ACCUM_BLOCK_KEYS_H

#include "emu/core/round.h"
#include "halfulp/accum.h"

extern const char *const hu_rule_names[HU_BLOCK_RULES];

/* The words of types that takes(...) names, by kind: "any" is HU_TYPE_NONE; NULL: the word is a format's, or no model
 * names the kind. */
enum { HU_TYPE_KINDS = HU_TYPE_INT32 + 1 };
extern const char *const hu_type_names[HU_TYPE_KINDS];

/* May the block's rule have the key, and must it? */
int hui_key_taken(const hu_block *block, unsigned key);
int hui_key_required(const hu_block *block, unsigned key);
/* Has a record a number or a word for it, and is it a word? */
int hui_key_has_value(unsigned key);
int hui_key_is_word(unsigned key);
/* Word number `value`; NULL if there are not as many. */
const char *hui_key_word(unsigned key, int value);
/* The first key whose value does not go with the others; HU_BLOCK_KEY_COUNT if there is none. */
unsigned hui_key_clash(const hu_accum *accum);

#endif
