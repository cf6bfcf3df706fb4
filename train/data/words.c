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
static hu_word end_line(hu_scan *s) {
  s->at++;
  s->line++;
  return marker(end_of_line);
}

/* The next word; 0: the file has no more. */
static int next_word(hu_scan *s, hu_word *z) {
  const uint8_t *data = s->file->data;
  const size_t size = s->file->size;
  while (s->at < size && is_blank(data[s->at])) s->at++;
  if (s->at >= size) {
    int open = s->at == size && data[size - 1] != '\n'; /* at size + 1 its end has been told */
    if (open) *z = end_line(s);
    return open;
  }
  if (data[s->at] == '\n') {
    *z = end_line(s);
    return 1;
  }
  z->at = data + s->at;
  while (s->at < size && data[s->at] != '\n' && !is_blank(data[s->at])) s->at++;
  z->size = (size_t)(data + s->at - z->at);
  return 1;
}

/* All words of a file are ones that can be; *count: their number. */
static hu_status check_file(const hu_bytes *file, size_t *count, char *why) {
  hu_scan s = scan_of(file);
  hu_word w;
  *count = 0;
  hu_status status = hu_bytes_check_plain(file, why);
  if (status != HU_OK) return status;
  for (size_t line = 1; next_word(&s, &w); line = s.line, ++*count) {
    if (w.size > WORD_MOST)
      return hu_data_wrong(why, HU_E_DATA, file->name, "word of line %zu: %zu bytes, more than %d", line, w.size,
                           WORD_MOST);
    if (memchr(w.at, 0, w.size))
      return hu_data_wrong(why, HU_E_DATA, file->name, "word of line %zu: has a NUL byte", line);
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
  size_t count, room;
} hu_table;

static int same(hu_word a, hu_word b) { return a.size == b.size && memcmp(a.at, b.at, a.size) == 0; }

/* FNV-1a. */
static size_t hash(hu_word w) {
  uint64_t h = 0xCBF29CE484222325u;
  for (size_t i = 0; i < w.size; i++) h = (h ^ w.at[i]) * 0x100000001B3u;
  return (size_t)(h ^ h >> 32);
}

/* The slot of a word, or the free one where it would be. */
static uint32_t *slot_of(const hu_table *t, hu_word w) {
  size_t i = hash(w) & (t->slots - 1);
  while (t->slot[i] && !same(t->known[t->slot[i] - 1].word, w)) i = (i + 1) & (t->slots - 1);
  return &t->slot[i];
}

static void close_table(hu_table *t) {
  free(t->slot);
  free(t->known);
}

/* Room for one word more, half of the slots being free. */
static int grow(hu_table *t) {
  if (t->count < t->room) return 1;
  const size_t room = t->room ? 2 * t->room : 1024;
  hu_known *known = realloc(t->known, room * sizeof *known);
  if (!known) return 0;
  t->known = known;
  uint32_t *slot = hu_data_room(2 * room, sizeof *slot);
  if (!slot) return 0;
  free(t->slot);
  t->slot = slot;
  t->slots = 2 * room;
  t->room = room;
  for (size_t i = 0; i < t->count; i++) *slot_of(t, t->known[i].word) = (uint32_t)i + 1;
  return 1;
}

/* A word is met so many times more. */
static hu_status meet(hu_table *t, hu_word w, uint64_t times) {
  if (!grow(t)) return HU_E_MEMORY;
  uint32_t *slot = slot_of(t, w);
  if (!*slot) {
    if (t->count == KINDS_MOST) return HU_E_DATA;
    t->known[t->count] = (hu_known){w, 0, (uint32_t)t->count, 0};
    *slot = (uint32_t)++t->count;
  }
  t->known[*slot - 1].times += times;
  return HU_OK;
}

/* The words of the training part, then those that every vocabulary has. */
static hu_status count_words(hu_table *t, const hu_bytes *file, size_t training, char *why) {
  hu_scan scan = scan_of(file);
  hu_word w;
  hu_status s = HU_OK;
  for (size_t i = 0; i < training && s == HU_OK && next_word(&scan, &w); i++) s = meet(t, w, 1);
  if (s == HU_OK) s = meet(t, marker(end_of_line), 0);
  if (s == HU_OK) s = meet(t, marker(unknown), 0);
  if (s == HU_E_DATA)
    return hu_data_wrong(why, s, file->name, "words: more than %d different ones, with %s and %s", KINDS_MOST,
                         end_of_line, unknown);
  return s == HU_OK ? s : hu_data_wrong(why, s, file->name, "out of memory for its words");
}

/* ---- the vocabulary ---- */

static int is_kept_always(const hu_known *k) {
  return same(k->word, marker(end_of_line)) || same(k->word, marker(unknown));
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

/* Words that are kept get the front places of t->known, in the order of their tokens, and slots are those of these
 * places. Returns their number. */
static uint32_t choose(hu_table *t, uint32_t most, int by_count) {
  size_t kept = 0, others = most ? most - 2 : t->count;
  qsort(t->known, t->count, sizeof *t->known, more_often);
  for (size_t i = 0; i < t->count; i++) {
    int always = is_kept_always(&t->known[i]);
    if (!always && !others) continue;
    others -= !always;
    t->known[kept++] = t->known[i];
  }
  if (!by_count) qsort(t->known, kept, sizeof *t->known, earlier);
  memset(t->slot, 0, t->slots * sizeof *t->slot);
  t->count = kept;
  for (size_t i = 0; i < kept; i++) {
    t->known[i].token = (uint32_t)i;
    *slot_of(t, t->known[i].word) = (uint32_t)i + 1;
  }
  return (uint32_t)kept;
}

/* The words as texts: pointers, and behind them the bytes. */
static char **texts_of(const hu_table *t) {
  size_t bytes = t->count * sizeof(char *);
  for (size_t i = 0; i < t->count; i++) bytes += t->known[i].word.size + 1;
  char **z = hu_data_room(bytes, 1);
  if (!z) return NULL;
  char *to = (char *)(z + t->count);
  for (size_t i = 0; i < t->count; i++) {
    z[i] = to;
    memcpy(to, t->known[i].word.at, t->known[i].word.size);
    to += t->known[i].word.size + 1;
  }
  return z;
}

static void put_tokens(uint32_t *z, const hu_table *t, const hu_bytes *file) {
  const uint32_t other = t->known[*slot_of(t, marker(unknown)) - 1].token;
  hu_scan scan = scan_of(file);
  for (hu_word w; next_word(&scan, &w); z++) {
    uint32_t slot = *slot_of(t, w);
    *z = slot ? t->known[slot - 1].token : other;
  }
}

/* ---- all of it ---- */

void hu_words_free(hu_words *z) {
  if (!z) return;
  free(z->tokens);
  free((void *)z->words);
  memset(z, 0, sizeof *z);
}

/* Tokens of each part. */
static hu_status measure(hu_words *z, const hu_bytes *files, size_t n, char *why) {
  for (size_t i = 0; i < n; i++) {
    hu_status s = check_file(&files[i], &z->parts[i], why);
    if (s != HU_OK) return s;
    z->count += z->parts[i];
  }
  if (n > 1) return HU_OK;
  if (z->count < 10)
    return hu_data_wrong(why, HU_E_DATA, files->name, "size: %zu words with ends of lines, fewer than 10", z->count);
  z->parts[0] = z->count / 10 * 9;
  z->parts[1] = z->count - z->parts[0];
  return HU_OK;
}

static hu_status fill(hu_words *z, hu_table *t, const hu_bytes *files, size_t n, uint32_t most, int by_count,
                      char *why) {
  hu_status s = count_words(t, files, z->parts[0], why);
  if (s != HU_OK) return s;
  z->kinds = choose(t, most, by_count);
  z->words = texts_of(t);
  z->tokens = hu_data_room(z->count, sizeof *z->tokens);
  if (!z->words || !z->tokens)
    return hu_data_wrong(why, HU_E_MEMORY, files->name, "out of memory for %zu tokens", z->count);
  size_t at = 0;
  for (size_t i = 0; i < n; at += z->parts[i++]) put_tokens(z->tokens + at, t, &files[i]);
  return HU_OK;
}

hu_status hu_words_read(hu_words *z, const hu_bytes *files, size_t n, uint32_t most, int by_count, char *why) {
  hu_words w;
  hu_table t;
  memset(&w, 0, sizeof w);
  memset(&t, 0, sizeof t);
  hu_status s = measure(&w, files, n, why);
  if (s == HU_OK) s = fill(&w, &t, files, n, most, by_count, why);
  close_table(&t);
  if (s == HU_OK) {
    *z = w;
  } else {
    hu_words_free(&w);
  }
  return s;
}

hu_status hu_words_check_most(uint32_t most, char *why) {
  if (most != 1 && most != 2 && most <= KINDS_MOST) return HU_OK;
  return hu_data_wrong(why, HU_E_SHAPE, "words", "most: %u, neither 0 nor from 3 to %d", most, KINDS_MOST);
}

hu_status hu_words_load(hu_words *z, const char *const *paths, size_t files, uint32_t most, int by_count, char *why) {
  hu_bytes file[PARTS] = {{NULL, NULL, 0}};
  hu_status s = HU_OK;
  if (!z || !paths) return hu_data_wrong(why, HU_E_NULL, "words", "z, paths: NULL");
  if (files == 0 || files > PARTS) return hu_data_wrong(why, HU_E_SHAPE, "words", "files: %zu, not 1 to 3", files);
  if (hu_words_check_most(most, why) != HU_OK) return HU_E_SHAPE;
  for (size_t i = 0; i < files && s == HU_OK; i++) s = hu_bytes_read(&file[i], paths[i], why);
  if (s == HU_OK) s = hu_words_read(z, file, files, most, by_count, why);
  for (size_t i = 0; i < PARTS; i++) hu_bytes_free(&file[i]);
  return s;
}
