/* SPDX-License-Identifier: MIT */
/* train/data/subwords.h - parts of words by byte-pair encoding: docs/training/data.md, Subwords. */
#ifndef HALFULP_TRAIN_DATA_SUBWORDS_H
#define HALFULP_TRAIN_DATA_SUBWORDS_H

#include "train/data/table.h"

/* The mark of a word's end in symbols and files of merges; in text, the mark of a part that is not the last one of its
 * word; the most bytes of a word. */
#define HU_SUBWORD_END "</w>"
#define HU_SUBWORD_MORE "@@"
enum { HU_SUBWORD_MOST = 1000 };

/* Pairs of symbols by what they are: pair[slot[i] - 1]; 0: a free slot. All zero: an empty table. */
typedef struct hu_symbol_pair {
  uint32_t left, right;
} hu_symbol_pair;
typedef struct hu_pair_table {
  uint32_t *slot;
  size_t slots;
  hu_symbol_pair *pair;
  size_t count, buffer;
} hu_pair_table;

/* Returns the number of a pair, from 0; UINT32_MAX: the table does not have it. */
uint32_t hui_pair_number(const hu_pair_table *table, uint32_t left, uint32_t right);
/* The same, of a pair that is added if it is not there; UINT32_MAX: no memory. */
uint32_t hui_pair_add(hu_pair_table *table, uint32_t left, uint32_t right);
void hui_pair_close(hu_pair_table *table);

/* Merges in their order. All zero: there are none. */
typedef struct hu_subwords {
  hu_table symbols;     /* their texts, HU_SUBWORD_END behind what ends a word; allocated one by one */
  hu_pair_table merges; /* by their number, which is their rank */
  uint32_t *result;     /* the symbol that each of them makes */
  size_t buffer;
} hu_subwords;

void hui_subwords_free(hu_subwords *subwords);
/* HU_E_DATA: a file that is empty or compressed, or has a word that cannot be cut into parts. */
hu_status hui_subwords_check(const hu_bytes *file, char *why);
/* Learns at most `most` merges from the words of files, each checked before. */
hu_status hui_subwords_learn(hu_subwords *subwords, const hu_bytes *files, size_t n, size_t most, char *why);
/* Reads at most `most` merges (0: all) of a file of subword-nmt's version 0.2. */
hu_status hui_subwords_read(hu_subwords *subwords, const hu_bytes *file, size_t most, char *why);
/* Returns such a file as a text to be freed; NULL: no memory. */
char *hui_subwords_text(const hu_subwords *subwords);
/* Writes the file with parts in place of words, a blank between two. The caller frees coded->data; its name is the
 * file's. */
hu_status hui_subwords_apply(hu_subwords *subwords, const hu_bytes *file, hu_bytes *coded, char *why);

/* Checks n files, learns `learn` merges (0: those that are there hold) from the first `training` of them, and writes
 * all with parts, into coded, which are freed as above. */
hu_status hui_subwords_code(hu_subwords *subwords, size_t learn, size_t training, const hu_bytes *files, size_t n,
                            hu_bytes *coded, char *why);

/* ---- for learning ---- */

/* Returns the symbol of a text, which is added if it is not there; UINT32_MAX: no memory. */
uint32_t hui_subwords_symbol(hu_subwords *subwords, size_t size, const uint8_t *text);
/* Writes the characters of a word as symbols, at most as many as it has bytes, and their number; 0: no memory. */
size_t hui_subwords_spell(hu_subwords *subwords, hu_word word, uint32_t *z);
/* Puts the result instead of each pair, from the left; returns the number of symbols that are left. */
size_t hui_subwords_merge(size_t n, uint32_t *symbols, hu_symbol_pair pair, uint32_t result);
/* Adds a merge behind the others. HU_E_DATA: no merge can be of these two, or it is there; HU_E_MEMORY. */
hu_status hui_subwords_add(hu_subwords *subwords, hu_symbol_pair pair);
/* Returns 1 if the merge of two symbols would make a word that stands for something else, or too long a part. */
int hui_subwords_never(const hu_subwords *subwords, hu_symbol_pair pair);

#endif
