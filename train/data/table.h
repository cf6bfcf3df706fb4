/* SPDX-License-Identifier: MIT */
/* train/data/table.h - words of a file, one after the other, and a table of different words. */
#ifndef HALFULP_TRAIN_DATA_TABLE_H
#define HALFULP_TRAIN_DATA_TABLE_H

#include "train/data/file.h"

/* The most different words of a table, and the words that every vocabulary has. */
enum { HU_WORDS_MOST = 1 << 24 };
#define HU_WORD_END "<eos>"
#define HU_WORD_UNKNOWN "<unk>"

/* Bytes that somebody else keeps. */
typedef struct hu_word {
  const uint8_t *at;
  size_t size;
} hu_word;

hu_word hui_word_of(const char *text);
int hui_same_words(hu_word a, hu_word b);

/* Where reading stands in a file, which is not empty: docs/training/data.md, Words. */
typedef struct hu_scan {
  const hu_bytes *file;
  size_t at, line;
} hu_scan;

hu_scan hui_scan_of(const hu_bytes *file);
/* Goes to the next word, or to HU_WORD_END at the end of a line; 0: the file has no more. */
int hui_next_word(hu_scan *scan, hu_word *word);

typedef struct hu_known {
  hu_word word;
  uint64_t times; /* that it was met */
  uint32_t first; /* number in the order of first occurrence */
  uint32_t token;
} hu_known;

/* Words by what they are: known[slot[i] - 1]; 0: a free slot. All zero: an empty table, which has no slots. */
typedef struct hu_table {
  uint32_t *slot;
  size_t slots; /* a power of two, more than words */
  hu_known *known;
  size_t count, buffer;
} hu_table;

/* Returns the slot of a word, or the free one where it would be; the table has a word at least. */
uint32_t *hui_table_slot(const hu_table *table, hu_word word);
/* A word is met so many times more. HU_E_MEMORY; HU_E_DATA: it would be one word more than HU_WORDS_MOST. */
hu_status hui_table_meet(hu_table *table, hu_word word, uint64_t times);
/* Frees the table, and not the bytes of its words. */
void hui_table_close(hu_table *table);

#endif
