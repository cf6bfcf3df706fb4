/* SPDX-License-Identifier: MIT */
/* Reads files word by word, and keeps a table of different words. */
#include "train/data/table.h"

#include <stdlib.h>
#include <string.h>

/* ---- from bytes to words ---- */

static int is_blank(uint8_t c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }

hu_scan hui_scan_of(const hu_bytes *file) { return (hu_scan){file, 0, 1}; }

hu_word hui_word_of(const char *text) { return (hu_word){(const uint8_t *)text, strlen(text)}; }

/* The end of line behind the last word; a file that does not end with LF has one, too. */
static hu_word end_line(hu_scan *scan) {
  scan->at++;
  scan->line++;
  return hui_word_of(HU_WORD_END);
}

/* The next word; 0: the file has no more. */
int hui_next_word(hu_scan *scan, hu_word *word) {
  const uint8_t *data = scan->file->data;
  const size_t size = scan->file->size;
  while (scan->at < size && is_blank(data[scan->at])) scan->at++;
  if (scan->at >= size) {
    int open = scan->at == size && data[size - 1] != '\n'; /* at size + 1 its end has been reported */
    if (open) *word = end_line(scan);
    return open;
  }
  if (data[scan->at] == '\n') {
    *word = end_line(scan);
    return 1;
  }
  word->at = data + scan->at;
  while (scan->at < size && data[scan->at] != '\n' && !is_blank(data[scan->at])) scan->at++;
  word->size = (size_t)(data + scan->at - word->at);
  return 1;
}

/* ---- the words that there are ---- */

int hui_same_words(hu_word a, hu_word b) { return a.size == b.size && memcmp(a.at, b.at, a.size) == 0; }

/* Returns the hash of a word by FNV-1a. */
static size_t hash(hu_word word) {
  uint64_t h = 0xCBF29CE484222325u;
  for (size_t i = 0; i < word.size; i++) h = (h ^ word.at[i]) * 0x100000001B3u;
  return (size_t)(h ^ h >> 32);
}

/* The slot of a word, or the free one where it would be. */
uint32_t *hui_table_slot(const hu_table *table, hu_word word) {
  size_t i = hash(word) & (table->slots - 1);
  while (table->slot[i] && !hui_same_words(table->known[table->slot[i] - 1].word, word))
    i = (i + 1) & (table->slots - 1);
  return &table->slot[i];
}

void hui_table_close(hu_table *table) {
  free(table->slot);
  free(table->known);
}

/* Makes space for one word more, half of the slots being free. */
static int grow(hu_table *table) {
  if (table->count < table->buffer) return 1;
  const size_t buffer = table->buffer ? 2 * table->buffer : 1024;
  hu_known *known = realloc(table->known, buffer * sizeof *known);
  if (!known) return 0;
  table->known = known;
  uint32_t *slot = hui_data_allocate(2 * buffer, sizeof *slot);
  if (!slot) return 0;
  free(table->slot);
  table->slot = slot;
  table->slots = 2 * buffer;
  table->buffer = buffer;
  for (size_t i = 0; i < table->count; i++) *hui_table_slot(table, table->known[i].word) = (uint32_t)i + 1;
  return 1;
}

/* A word is met so many times more. */
hu_status hui_table_meet(hu_table *table, hu_word word, uint64_t times) {
  if (!grow(table)) return HU_E_MEMORY;
  uint32_t *slot = hui_table_slot(table, word);
  if (!*slot) {
    if (table->count == HU_WORDS_MOST) return HU_E_DATA;
    table->known[table->count] = (hu_known){word, 0, (uint32_t)table->count, 0};
    *slot = (uint32_t)++table->count;
  }
  table->known[*slot - 1].times += times;
  return HU_OK;
}
