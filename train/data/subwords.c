/* SPDX-License-Identifier: MIT */
/* Cuts words into parts by a list of merges, and reads and writes such lists. */
#include "train/data/subwords.h"

#include <stdlib.h>
#include <string.h>

enum { END = sizeof HU_SUBWORD_END - 1, MORE = sizeof HU_SUBWORD_MORE - 1 };
#define HEAD "#version: 0.2"

/* ---- symbols ---- */

uint32_t hui_subwords_symbol(hu_subwords *subwords, size_t size, const uint8_t *text) {
  hu_table *symbols = &subwords->symbols;
  uint32_t there = symbols->count ? *hui_table_slot(symbols, (hu_word){text, size}) : 0;
  if (there) return there - 1;
  uint8_t *copy = malloc(size);
  if (copy) memcpy(copy, text, size);
  if (copy && hui_table_meet(symbols, (hu_word){copy, size}, 0) == HU_OK) return (uint32_t)symbols->count - 1;
  free(copy);
  return UINT32_MAX;
}

/* Returns the bytes of the character that a word begins with: one, and those behind it that continue one. */
static size_t character(const uint8_t *at, size_t size) {
  size_t n = 1;
  while (n < size && (at[n] & 0xC0) == 0x80) n++;
  return n;
}

size_t hui_subwords_spell(hu_subwords *subwords, hu_word word, uint32_t *z) {
  uint8_t text[HU_SUBWORD_MOST + END];
  size_t n = 0;
  for (size_t at = 0, size; at < word.size; at += size) {
    size = character(word.at + at, word.size - at);
    memcpy(text, word.at + at, size);
    int last = at + size == word.size;
    if (last) memcpy(text + size, HU_SUBWORD_END, END);
    z[n] = hui_subwords_symbol(subwords, last ? size + END : size, text);
    if (z[n++] == UINT32_MAX) return 0;
  }
  return n;
}

/* Returns 1 if a symbol ends a word. */
static int ends(hu_word symbol) {
  return symbol.size > END && memcmp(symbol.at + symbol.size - END, HU_SUBWORD_END, END) == 0;
}

size_t hui_subwords_merge(size_t n, uint32_t *symbols, hu_symbol_pair pair, uint32_t result) {
  size_t to = 0;
  for (size_t i = 0; i < n; i++) {
    int is = i + 1 < n && symbols[i] == pair.left && symbols[i + 1] == pair.right;
    symbols[to++] = is ? result : symbols[i];
    i += (size_t)is;
  }
  return to;
}

/* ---- merges ---- */

/* Writes both texts, one behind the other; returns how many bytes. */
static size_t joined(const hu_subwords *subwords, hu_symbol_pair pair, uint8_t z[2 * (HU_SUBWORD_MOST + END)]) {
  const hu_word left = subwords->symbols.known[pair.left].word, right = subwords->symbols.known[pair.right].word;
  memcpy(z, left.at, left.size);
  memcpy(z + left.size, right.at, right.size);
  return left.size + right.size;
}

int hui_subwords_never(const hu_subwords *subwords, hu_symbol_pair pair) {
  uint8_t text[2 * (HU_SUBWORD_MOST + END)];
  const hu_word word = {text, joined(subwords, pair, text)};
  return word.size > HU_SUBWORD_MOST || hui_same_words(word, hui_word_of(HU_WORD_END HU_SUBWORD_END)) ||
         hui_same_words(word, hui_word_of(HU_WORD_UNKNOWN HU_SUBWORD_END));
}

hu_status hui_subwords_add(hu_subwords *subwords, hu_symbol_pair pair) {
  uint8_t text[2 * (HU_SUBWORD_MOST + END)];
  if (hui_subwords_never(subwords, pair) || hui_pair_number(&subwords->merges, pair.left, pair.right) != UINT32_MAX)
    return HU_E_DATA;
  const size_t n = subwords->merges.count;
  if (n == subwords->buffer) {
    uint32_t *more = realloc(subwords->result, (2 * n + 1024) * sizeof *more);
    if (!more) return HU_E_MEMORY;
    subwords->result = more;
    subwords->buffer = 2 * n + 1024;
  }
  subwords->result[n] = hui_subwords_symbol(subwords, joined(subwords, pair, text), text);
  if (subwords->result[n] == UINT32_MAX) return HU_E_MEMORY;
  return hui_pair_add(&subwords->merges, pair.left, pair.right) == n ? HU_OK : HU_E_MEMORY;
}

void hui_subwords_free(hu_subwords *subwords) {
  for (size_t i = 0; i < subwords->symbols.count; i++) free((void *)(uintptr_t)subwords->symbols.known[i].word.at);
  hui_table_close(&subwords->symbols);
  hui_pair_close(&subwords->merges);
  free(subwords->result);
  memset(subwords, 0, sizeof *subwords);
}

/* ---- a file of merges ---- */

/* Reads "left right" as two symbols; 0: something else. Sets *memory to 0 if there is none. */
static int read_pair(hu_subwords *subwords, hu_word line, hu_symbol_pair *pair, int *memory) {
  const uint8_t *blank = memchr(line.at, ' ', line.size);
  if (!blank) return 0;
  const hu_word left = {line.at, (size_t)(blank - line.at)}, right = {blank + 1, line.size - left.size - 1};
  if (!left.size || !right.size || left.size > HU_SUBWORD_MOST || right.size > HU_SUBWORD_MOST || ends(left) ||
      memchr(right.at, ' ', right.size))
    return 0;
  pair->left = hui_subwords_symbol(subwords, left.size, left.at);
  pair->right = hui_subwords_symbol(subwords, right.size, right.at);
  *memory = pair->left != UINT32_MAX && pair->right != UINT32_MAX;
  return 1;
}

static hu_status read_merge(hu_subwords *subwords, const hu_bytes *file, size_t number, hu_word line, char *why) {
  hu_symbol_pair pair;
  int memory = 1;
  hu_status status = HU_OK;
  if (!read_pair(subwords, line, &pair, &memory))
    return hui_data_wrong(why, HU_E_DATA, file->name,
                          "line %zu: no merge, which is two parts with a blank between them, %s at the end of the "
                          "second one alone",
                          number, HU_SUBWORD_END);
  if (memory) status = hui_subwords_add(subwords, pair);
  if (!memory || status == HU_E_MEMORY) return hui_data_wrong(why, HU_E_MEMORY, file->name, "out of memory");
  return HU_OK; /* a merge that is there twice, or is never made, changes nothing */
}

/* Reads the first line, which names the form, or a merge. */
static hu_status read_line(hu_subwords *subwords, const hu_bytes *file, size_t number, hu_word line, char *why) {
  if (number > 1) return read_merge(subwords, file, number, line, why);
  if (hui_same_words(line, hui_word_of(HEAD))) return HU_OK;
  return hui_data_wrong(why, HU_E_DATA, file->name, "line 1: not '%s', with which a file of merges begins", HEAD);
}

hu_status hui_subwords_read(hu_subwords *subwords, const hu_bytes *file, size_t most, char *why) {
  hu_status status = hui_bytes_check_plain(file, why);
  for (size_t at = 0, number = 1; at < file->size && status == HU_OK; number++) {
    const uint8_t *end = memchr(file->data + at, '\n', file->size - at);
    hu_word line = {file->data + at, (end ? (size_t)(end - file->data) : file->size) - at};
    at += line.size + 1;
    line.size -= line.size && line.at[line.size - 1] == '\r';
    if (!most || number <= most + 1) status = read_line(subwords, file, number, line, why);
  }
  if (status != HU_OK) hui_subwords_free(subwords);
  return status;
}

char *hui_subwords_text(const hu_subwords *subwords) {
  const hu_known *known = subwords->symbols.known;
  size_t bytes = sizeof HEAD + 1;
  for (size_t i = 0; i < subwords->merges.count; i++)
    bytes += known[subwords->merges.pair[i].left].word.size + known[subwords->merges.pair[i].right].word.size + 2;
  char *z = malloc(bytes), *to = z;
  if (!z) return NULL;
  memcpy(to, HEAD "\n", sizeof HEAD);
  to += sizeof HEAD;
  for (size_t i = 0; i < subwords->merges.count; i++) {
    const hu_word part[2] = {known[subwords->merges.pair[i].left].word, known[subwords->merges.pair[i].right].word};
    for (int k = 0; k < 2; k++) {
      memcpy(to, part[k].at, part[k].size);
      to += part[k].size;
      *to++ = k ? '\n' : ' ';
    }
  }
  *to = 0;
  return z;
}

/* ---- words that can be cut ---- */

static int has(hu_word word, hu_word part) {
  for (size_t i = 0; i + part.size <= word.size; i++)
    if (memcmp(word.at + i, part.at, part.size) == 0) return 1;
  return 0;
}

/* Returns 1 for words that stand for something else, which stay whole. */
static int is_whole(hu_word word) {
  return hui_same_words(word, hui_word_of(HU_WORD_END)) || hui_same_words(word, hui_word_of(HU_WORD_UNKNOWN));
}

hu_status hui_subwords_check(const hu_bytes *file, char *why) {
  hu_scan scan = hui_scan_of(file);
  hu_word word;
  hu_status status = hui_bytes_check_plain(file, why);
  if (status != HU_OK) return status;
  for (size_t line = 1; hui_next_word(&scan, &word); line = scan.line) {
    if (word.size > HU_SUBWORD_MOST)
      return hui_data_wrong(why, HU_E_DATA, file->name,
                            "word of line %zu: %zu bytes, more than the %d of data.subwords", line, word.size,
                            HU_SUBWORD_MOST);
    if (memchr(word.at, 0, word.size))
      return hui_data_wrong(why, HU_E_DATA, file->name, "word of line %zu: has a NUL byte", line);
    if (has(word, hui_word_of(HU_SUBWORD_END)))
      return hui_data_wrong(why, HU_E_DATA, file->name,
                            "word of line %zu: has %s, which marks the end of a word in merges", line, HU_SUBWORD_END);
    if (word.size >= MORE && memcmp(word.at + word.size - MORE, HU_SUBWORD_MORE, MORE) == 0)
      return hui_data_wrong(
          why, HU_E_DATA, file->name,
          "word of line %zu: ends with %s, which marks a part of a word; data.subwords requires whole "
          "words",
          line, HU_SUBWORD_MORE);
  }
  return HU_OK;
}

/* ---- from words to parts ---- */

/* Merges pairs until none has a merge, always those of the lowest rank. */
static size_t cut_word(const hu_subwords *subwords, size_t n, uint32_t *symbols) {
  for (;;) {
    uint32_t best = UINT32_MAX;
    for (size_t i = 0; i + 1 < n; i++) {
      uint32_t rank = hui_pair_number(&subwords->merges, symbols[i], symbols[i + 1]);
      best = rank < best ? rank : best;
    }
    if (best == UINT32_MAX) return n;
    n = hui_subwords_merge(n, symbols, subwords->merges.pair[best], subwords->result[best]);
  }
}

/* Text that grows. */
typedef struct hu_growing {
  uint8_t *data;
  size_t size, buffer;
} hu_growing;

static int put(hu_growing *z, size_t size, const void *bytes) {
  if (z->size + size > z->buffer) {
    const size_t buffer = 2 * (z->size + size) + 4096;
    uint8_t *more = realloc(z->data, buffer);
    if (!more) return 0;
    z->data = more;
    z->buffer = buffer;
  }
  memcpy(z->data + z->size, bytes, size);
  z->size += size;
  return 1;
}

/* Writes the parts of a word, each but the last one with its mark. */
static int put_word(hu_subwords *subwords, hu_word word, hu_growing *z) {
  uint32_t symbols[HU_SUBWORD_MOST];
  if (is_whole(word)) return put(z, word.size, word.at);
  size_t n = hui_subwords_spell(subwords, word, symbols);
  if (!n) return 0;
  n = cut_word(subwords, n, symbols);
  for (size_t i = 0; i < n; i++) {
    const hu_word part = subwords->symbols.known[symbols[i]].word;
    int last = i + 1 == n;
    if (!put(z, last ? part.size - END : part.size, part.at)) return 0;
    if (!last && !put(z, MORE + 1, HU_SUBWORD_MORE " ")) return 0;
  }
  return 1;
}

/* Text that is being written, and words whose parts are known: known[i].times is where they begin in `parts`. */
typedef struct hu_cut {
  hu_growing text, parts;
  hu_table met;
} hu_cut;

/* Writes a word's parts; so many words are kept as a table takes. 0: no memory. */
static int put_parts(hu_subwords *subwords, hu_cut *cut, hu_word word) {
  uint32_t known = cut->met.count ? *hui_table_slot(&cut->met, word) : 0;
  if (!known && cut->met.count == HU_WORDS_MOST) return put_word(subwords, word, &cut->text);
  if (!known) {
    const size_t at = cut->parts.size;
    if (!put_word(subwords, word, &cut->parts) || !put(&cut->parts, 1, "")) return 0;
    if (hui_table_meet(&cut->met, word, at) != HU_OK) return 0;
    known = (uint32_t)cut->met.count;
  }
  const char *text = (const char *)cut->parts.data + cut->met.known[known - 1].times;
  return put(&cut->text, strlen(text), text);
}

static int cut_file(hu_subwords *subwords, const hu_bytes *file, hu_cut *cut) {
  hu_scan scan = hui_scan_of(file);
  hu_word word;
  int begins = 1;
  for (size_t line = 1; hui_next_word(&scan, &word); line = scan.line) {
    const int ends_line = scan.line != line;
    if (!ends_line && !begins && !put(&cut->text, 1, " ")) return 0;
    if (!(ends_line ? put(&cut->text, 1, "\n") : put_parts(subwords, cut, word))) return 0;
    begins = ends_line;
  }
  return 1;
}

hu_status hui_subwords_apply(hu_subwords *subwords, const hu_bytes *file, hu_bytes *coded, char *why) {
  hu_cut cut;
  memset(&cut, 0, sizeof cut);
  int there = cut_file(subwords, file, &cut);
  hui_table_close(&cut.met);
  free(cut.parts.data);
  *coded = (hu_bytes){file->name, cut.text.data, cut.text.size};
  if (there) return HU_OK;
  free(cut.text.data);
  memset(coded, 0, sizeof *coded);
  return hui_data_wrong(why, HU_E_MEMORY, file->name, "out of memory for its parts of words");
}
