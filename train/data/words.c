/* SPDX-License-Identifier: MIT */
/* Loads text as words: a vocabulary from the training part, and tokens. */
#include <stdlib.h>
#include <string.h>

#include "train/data/file.h"

enum { PARTS = 3, WORD_MOST = 1024, KINDS_MOST = 1 << 24 };
static const char end_of_line[] = "<eos>", unknown[] = "<unk>";

/* ---- from bytes to words ---- */

typedef struct hu_word {
  const uint8_t *at;
  size_t size;
} hu_word;

/* Where reading stands in a file. */
typedef struct hu_scan {
  const hu_bytes *file;
  size_t at, line;
} hu_scan;

static int is_blank(uint8_t c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r'; }

static hu_scan scan_of(const hu_bytes *file) { return (hu_scan){file, 0, 1}; }

static hu_word marker(const char *text) { return (hu_word){(const uint8_t *)text, strlen(text)}; }

/* The end of line behind the last word; a file that does not end with LF has one, too. */
static hu_word end_line(hu_scan *scan) {
  scan->at++;
  scan->line++;
  return marker(end_of_line);
}

/* The next word; 0: the file has no more. */
static int next_word(hu_scan *scan, hu_word *word) {
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

/* All words of a file are ones that can be; *count: their number. */
static hu_status check_file(const hu_bytes *file, size_t *count, char *why) {
  hu_scan scan = scan_of(file);
  hu_word word;
  *count = 0;
  hu_status status = hui_bytes_check_plain(file, why);
  if (status != HU_OK) return status;
  for (size_t line = 1; next_word(&scan, &word); line = scan.line, ++*count) {
    if (word.size > WORD_MOST)
      return hui_data_wrong(why, HU_E_DATA, file->name, "word of line %zu: %zu bytes, more than %d", line, word.size,
                            WORD_MOST);
    if (memchr(word.at, 0, word.size))
      return hui_data_wrong(why, HU_E_DATA, file->name, "word of line %zu: has a NUL byte", line);
  }
  return HU_OK;
}

/* ---- the words that there are ---- */

typedef struct hu_known {
  hu_word word;
  uint64_t times; /* in the training part */
  uint32_t first; /* number in the order of first occurrence */
  uint32_t token;
} hu_known;

/* Words by what they are: known[slot[i] - 1]; 0: a free slot. */
typedef struct hu_table {
  uint32_t *slot;
  size_t slots; /* a power of two, more than words */
  hu_known *known;
  size_t count, buffer;
} hu_table;

static int same(hu_word a, hu_word b) { return a.size == b.size && memcmp(a.at, b.at, a.size) == 0; }

/* Returns the hash of a word by FNV-1a. */
static size_t hash(hu_word word) {
  uint64_t h = 0xCBF29CE484222325u;
  for (size_t i = 0; i < word.size; i++) h = (h ^ word.at[i]) * 0x100000001B3u;
  return (size_t)(h ^ h >> 32);
}

/* The slot of a word, or the free one where it would be. */
static uint32_t *slot_of(const hu_table *table, hu_word word) {
  size_t i = hash(word) & (table->slots - 1);
  while (table->slot[i] && !same(table->known[table->slot[i] - 1].word, word)) i = (i + 1) & (table->slots - 1);
  return &table->slot[i];
}

static void close_table(hu_table *table) {
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
  for (size_t i = 0; i < table->count; i++) *slot_of(table, table->known[i].word) = (uint32_t)i + 1;
  return 1;
}

/* A word is met so many times more. */
static hu_status meet(hu_table *table, hu_word word, uint64_t times) {
  if (!grow(table)) return HU_E_MEMORY;
  uint32_t *slot = slot_of(table, word);
  if (!*slot) {
    if (table->count == KINDS_MOST) return HU_E_DATA;
    table->known[table->count] = (hu_known){word, 0, (uint32_t)table->count, 0};
    *slot = (uint32_t)++table->count;
  }
  table->known[*slot - 1].times += times;
  return HU_OK;
}

/* The words of the training part, then those that every vocabulary has. */
static hu_status count_words(hu_table *table, const hu_bytes *file, size_t training, char *why) {
  hu_scan scan = scan_of(file);
  hu_word word;
  hu_status status = HU_OK;
  for (size_t i = 0; i < training && status == HU_OK && next_word(&scan, &word); i++) status = meet(table, word, 1);
  if (status == HU_OK) status = meet(table, marker(end_of_line), 0);
  if (status == HU_OK) status = meet(table, marker(unknown), 0);
  if (status == HU_E_DATA)
    return hui_data_wrong(why, status, file->name, "words: more than %d different ones, with %s and %s", KINDS_MOST,
                          end_of_line, unknown);
  return status == HU_OK ? status : hui_data_wrong(why, status, file->name, "out of memory for its words");
}

/* ---- the vocabulary ---- */

static int is_kept_always(const hu_known *known) {
  return same(known->word, marker(end_of_line)) || same(known->word, marker(unknown));
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
    *slot_of(table, table->known[i].word) = (uint32_t)i + 1;
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
  const uint32_t other = table->known[*slot_of(table, marker(unknown)) - 1].token;
  hu_scan scan = scan_of(file);
  for (hu_word word; next_word(&scan, &word); z++) {
    uint32_t slot = *slot_of(table, word);
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
  close_table(&table);
  if (status == HU_OK) {
    *words = list;
  } else {
    hu_words_free(&list);
  }
  return status;
}

hu_status hui_words_check_most(uint32_t most, char *why) {
  if (most != 1 && most != 2 && most <= KINDS_MOST) return HU_OK;
  return hui_data_wrong(why, HU_E_SHAPE, "words", "most: %u, neither 0 nor from 3 to %d", most, KINDS_MOST);
}

hu_status hu_words_load(hu_words *words, const char *const *paths, size_t files, uint32_t most, int by_count,
                        char *why) {
  hu_bytes file[PARTS] = {{NULL, NULL, 0}};
  hu_status status = HU_OK;
  if (!words || !paths) return hui_data_wrong(why, HU_E_NULL, "words", "z, paths: NULL");
  if (files == 0 || files > PARTS) return hui_data_wrong(why, HU_E_SHAPE, "words", "files: %zu, not 1 to 3", files);
  if (hui_words_check_most(most, why) != HU_OK) return HU_E_SHAPE;
  for (size_t i = 0; i < files && status == HU_OK; i++) status = hui_bytes_read(&file[i], paths[i], why);
  if (status == HU_OK) status = hui_words_read(words, file, files, most, by_count, why);
  for (size_t i = 0; i < PARTS; i++) hui_bytes_free(&file[i]);
  return status;
}
