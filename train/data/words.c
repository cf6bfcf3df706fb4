/* SPDX-License-Identifier: MIT */
/* Loads text as words: a vocabulary from the training part, and tokens. */
#include <stdlib.h>
#include <string.h>

#include "train/data/subwords.h"

enum { PARTS = 3, WORD_MOST = 1024 };

/* All words of a file are ones that can be; *count: their number. */
static hu_status check_file(const hu_bytes *file, size_t *count, char *why) {
  hu_scan scan = hui_scan_of(file);
  hu_word word;
  *count = 0;
  hu_status status = hui_bytes_check_plain(file, why);
  if (status != HU_OK) return status;
  for (size_t line = 1; hui_next_word(&scan, &word); line = scan.line, ++*count) {
    if (word.size > WORD_MOST)
      return hui_data_wrong(why, HU_E_DATA, file->name, "word of line %zu: %zu bytes, more than %d", line, word.size,
                            WORD_MOST);
    if (memchr(word.at, 0, word.size))
      return hui_data_wrong(why, HU_E_DATA, file->name, "word of line %zu: has a NUL byte", line);
  }
  return HU_OK;
}

/* The words of the training part, then those that every vocabulary has. */
static hu_status count_words(hu_table *table, const hu_bytes *file, size_t training, char *why) {
  hu_scan scan = hui_scan_of(file);
  hu_word word;
  hu_status status = HU_OK;
  for (size_t i = 0; i < training && status == HU_OK && hui_next_word(&scan, &word); i++)
    status = hui_table_meet(table, word, 1);
  if (status == HU_OK) status = hui_table_meet(table, hui_word_of(HU_WORD_END), 0);
  if (status == HU_OK) status = hui_table_meet(table, hui_word_of(HU_WORD_UNKNOWN), 0);
  if (status == HU_E_DATA)
    return hui_data_wrong(why, status, file->name, "words: more than %d different ones, with %s and %s", HU_WORDS_MOST,
                          HU_WORD_END, HU_WORD_UNKNOWN);
  return status == HU_OK ? status : hui_data_wrong(why, status, file->name, "out of memory for its words");
}

/* ---- the vocabulary ---- */

static int is_kept_always(const hu_known *known) {
  return hui_same_words(known->word, hui_word_of(HU_WORD_END)) ||
         hui_same_words(known->word, hui_word_of(HU_WORD_UNKNOWN));
}

static int more_often(const void *a, const void *b) {
  const hu_known *x = a, *y = b;
  if (x->times != y->times) return x->times > y->times ? -1 : 1;
  return x->first < y->first ? -1 : x->first > y->first;
}

static int earlier(const void *a, const void *b) {
  const hu_known *x = a, *y = b;
  return x->first < y->first ? -1 : x->first > y->first;
}

/* Words that are kept get the front places of table->known, in the order of their tokens, and slots are those of these
 * places. Returns their number. */
static uint32_t choose(hu_table *table, uint32_t most, int by_count) {
  size_t kept = 0, others = most ? most - 2 : table->count;
  qsort(table->known, table->count, sizeof *table->known, more_often);
  for (size_t i = 0; i < table->count; i++) {
    int always = is_kept_always(&table->known[i]);
    if (!always && !others) continue;
    others -= !always;
    table->known[kept++] = table->known[i];
  }
  if (!by_count) qsort(table->known, kept, sizeof *table->known, earlier);
  memset(table->slot, 0, table->slots * sizeof *table->slot);
  table->count = kept;
  for (size_t i = 0; i < kept; i++) {
    table->known[i].token = (uint32_t)i;
    *hui_table_slot(table, table->known[i].word) = (uint32_t)i + 1;
  }
  return (uint32_t)kept;
}

/* Returns the words as texts: pointers, and behind them the bytes. */
static char **texts_of(const hu_table *table) {
  size_t bytes = table->count * sizeof(char *);
  for (size_t i = 0; i < table->count; i++) bytes += table->known[i].word.size + 1;
  char **z = hui_data_allocate(bytes, 1);
  if (!z) return NULL;
  char *to = (char *)(z + table->count);
  for (size_t i = 0; i < table->count; i++) {
    z[i] = to;
    memcpy(to, table->known[i].word.at, table->known[i].word.size);
    to += table->known[i].word.size + 1;
  }
  return z;
}

static void put_tokens(uint32_t *z, const hu_table *table, const hu_bytes *file) {
  const uint32_t other = table->known[*hui_table_slot(table, hui_word_of(HU_WORD_UNKNOWN)) - 1].token;
  hu_scan scan = hui_scan_of(file);
  for (hu_word word; hui_next_word(&scan, &word); z++) {
    uint32_t slot = *hui_table_slot(table, word);
    *z = slot ? table->known[slot - 1].token : other;
  }
}

/* ---- all of it ---- */

void hu_words_free(hu_words *words) {
  if (!words) return;
  free(words->tokens);
  free((void *)words->words);
  memset(words, 0, sizeof *words);
}

/* Counts the tokens of each part. */
static hu_status measure(hu_words *words, const hu_bytes *files, size_t n, char *why) {
  for (size_t i = 0; i < n; i++) {
    hu_status status = check_file(&files[i], &words->parts[i], why);
    if (status != HU_OK) return status;
    words->count += words->parts[i];
  }
  if (n > 1) return HU_OK;
  if (words->count < 10)
    return hui_data_wrong(why, HU_E_DATA, files->name, "size: %zu words with ends of lines, fewer than 10",
                          words->count);
  words->parts[0] = words->count / 10 * 9;
  words->parts[1] = words->count - words->parts[0];
  return HU_OK;
}

static hu_status fill(hu_words *words, hu_table *table, const hu_bytes *files, size_t n, uint32_t most, int by_count,
                      char *why) {
  hu_status status = count_words(table, files, words->parts[0], why);
  if (status != HU_OK) return status;
  words->kinds = choose(table, most, by_count);
  words->words = texts_of(table);
  words->tokens = hui_data_allocate(words->count, sizeof *words->tokens);
  if (!words->words || !words->tokens)
    return hui_data_wrong(why, HU_E_MEMORY, files->name, "out of memory for %zu tokens", words->count);
  size_t at = 0;
  for (size_t i = 0; i < n; at += words->parts[i++]) put_tokens(words->tokens + at, table, &files[i]);
  return HU_OK;
}

hu_status hui_words_read(hu_words *words, const hu_bytes *files, size_t n, uint32_t most, int by_count, char *why) {
  hu_words list;
  hu_table table;
  memset(&list, 0, sizeof list);
  memset(&table, 0, sizeof table);
  hu_status status = measure(&list, files, n, why);
  if (status == HU_OK) status = fill(&list, &table, files, n, most, by_count, why);
  hui_table_close(&table);
  if (status == HU_OK) {
    *words = list;
  } else {
    hu_words_free(&list);
  }
  return status;
}

hu_status hui_words_check_most(uint32_t most, char *why) {
  if (most != 1 && most != 2 && most <= HU_WORDS_MOST) return HU_OK;
  return hui_data_wrong(why, HU_E_SHAPE, "words", "most: %u, neither 0 nor from 3 to %d", most, HU_WORDS_MOST);
}

/* Reads files with parts in place of words. */
static hu_status read_subwords(hu_words *words, const hu_bytes *files, size_t n, const hu_word_rules *rules,
                               char *why) {
  hu_bytes coded[PARTS];
  if (n < 2)
    return hui_data_wrong(why, HU_E_SHAPE, files->name, "parts of words require a file for each part of the text");
  hu_status status = hui_subwords_code(rules->subwords, rules->learn, 1, files, n, coded, why);
  if (status != HU_OK) return status;
  status = hui_words_read(words, coded, n, rules->most, rules->by_count, why);
  for (size_t i = 0; i < n; i++) hui_bytes_free(&coded[i]);
  return status;
}

hu_status hui_words_load(hu_words *words, const char *const *paths, size_t files, const hu_word_rules *rules,
                         char *why) {
  hu_bytes file[PARTS] = {{NULL, NULL, 0}};
  hu_status status = HU_OK;
  if (!words || !paths) return hui_data_wrong(why, HU_E_NULL, "words", "z, paths: NULL");
  if (files == 0 || files > PARTS) return hui_data_wrong(why, HU_E_SHAPE, "words", "files: %zu, not 1 to 3", files);
  if (hui_words_check_most(rules->most, why) != HU_OK) return HU_E_SHAPE;
  for (size_t i = 0; i < files && status == HU_OK; i++) status = hui_bytes_read(&file[i], paths[i], why);
  if (status == HU_OK)
    status = rules->subwords ? read_subwords(words, file, files, rules, why)
                             : hui_words_read(words, file, files, rules->most, rules->by_count, why);
  for (size_t i = 0; i < PARTS; i++) hui_bytes_free(&file[i]);
  return status;
}

hu_status hu_words_load(hu_words *words, const char *const *paths, size_t files, uint32_t most, int by_count,
                        char *why) {
  return hui_words_load(words, paths, files, &(hu_word_rules){.most = most, .by_count = by_count}, why);
}
