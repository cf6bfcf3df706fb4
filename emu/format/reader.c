/* SPDX-License-Identifier: MIT */
/* Reads the parts that the texts of models share. */
#include "emu/format/reader.h"

#include <string.h>

int hui_reader_failed(hu_reader *reader, size_t at, hu_status wrong) {
  reader->at = at;
  reader->wrong = wrong;
  return 0;
}

int hui_reader_mark(hu_reader *reader, char c) {
  if (reader->text[reader->at] != c) return hui_reader_failed(reader, reader->at, HU_E_TEXT);
  reader->at++;
  return 1;
}

/* 1 if c stood there, and is passed. */
int hui_reader_passed(hu_reader *reader, char c) {
  if (reader->text[reader->at] != c) return 0;
  reader->at++;
  return 1;
}

int hui_reader_word(hu_reader *reader, const char *word) {
  size_t n = strlen(word);
  char next = reader->text[reader->at + (strncmp(reader->text + reader->at, word, n) == 0 ? n : 0)];
  if (strncmp(reader->text + reader->at, word, n) != 0 || (next != ',' && next != ')' && next != 0)) return 0;
  reader->at += n;
  return 1;
}

/* Decimal from low to high, no leading zero, a minus where low is negative. */
int hui_reader_number(hu_reader *reader, int64_t low, int64_t high, int64_t *z) {
  size_t start = reader->at;
  int minus = low < 0 && hui_reader_passed(reader, '-');
  const char *text = reader->text + reader->at;
  size_t n = 0;
  int64_t value = 0;
  for (; text[n] >= '0' && text[n] <= '9' && n < 10; n++) value = value * 10 + (text[n] - '0');
  if (n == 0 || (text[0] == '0' && (n > 1 || minus)) || (text[n] >= '0' && text[n] <= '9'))
    return hui_reader_failed(reader, start, HU_E_TEXT);
  value = minus ? -value : value;
  if (value < low || value > high) return hui_reader_failed(reader, start, HU_E_TEXT);
  reader->at += n;
  *z = value;
  return 1;
}

int hui_reader_length(hu_reader *reader, uint32_t *z) {
  int64_t n;
  if (!hui_reader_number(reader, 1, INT32_MAX, &n)) return 0;
  *z = (uint32_t)n;
  return 1;
}

/* The end of the argument that starts at `from`, or of one more after it where `from` is such an end. */
static size_t argument_end(const char *text, size_t from) {
  int depth = 0;
  for (size_t i = from; text[i]; i++) {
    if (text[i] == '(') depth++;
    if (text[i] == ')' && depth-- == 0) return i;
    if (text[i] == ',' && depth == 0 && i > from) return i;
  }
  return from + strlen(text + from);
}

int hui_reader_longest(hu_reader *reader, void *z, hu_piece_reader read) {
  char piece[HU_FORMAT_TEXT_MAX];
  hu_status first = HU_OK;
  size_t start = reader->at, where = 0, best = 0;
  for (size_t end = argument_end(reader->text, start); end - start < sizeof piece;
       end = argument_end(reader->text, end)) {
    size_t wrong = 0;
    memcpy(piece, reader->text + start, end - start);
    piece[end - start] = 0;
    hu_status status = read(z, piece, &wrong);
    if (status == HU_OK) best = end;
    if (first == HU_OK && status != HU_OK && !best) {
      first = status;
      where = wrong;
    }
    if (reader->text[end] != ',') break;
  }
  if (!best) return hui_reader_failed(reader, start + where, first == HU_E_NAME ? HU_E_NAME : HU_E_TEXT);
  reader->at = best;
  return 1;
}

static hu_status read_format(void *z, const char *piece, size_t *wrong) { return hu_format_parse(z, piece, wrong); }

int hui_reader_format(hu_reader *reader, hu_format *format) { return hui_reader_longest(reader, format, read_format); }

/* Reads a word up to the next comma or parenthesis, by a reader of hu_mode's texts. */
int hui_reader_mode_word(hu_reader *reader, hu_mode *mode, hu_mode_reader parse) {
  char word[16];
  size_t n = strcspn(reader->text + reader->at, ",)");
  if (n >= sizeof word) return hui_reader_failed(reader, reader->at, HU_E_TEXT);
  memcpy(word, reader->text + reader->at, n);
  word[n] = 0;
  if (parse(mode, word) != HU_OK) return hui_reader_failed(reader, reader->at, HU_E_TEXT);
  reader->at += n;
  return 1;
}

/* [","MODE][",sat="POLICY] ")" */
int hui_reader_rounding(hu_reader *reader, hu_mode *mode) {
  for (int part = 0; hui_reader_passed(reader, ','); part++) {
    int sat = strncmp(reader->text + reader->at, "sat=", 4) == 0;
    if (part > sat) return hui_reader_failed(reader, reader->at, HU_E_TEXT);
    if (sat) {
      reader->at += 4;
      return hui_reader_mode_word(reader, mode, hu_mode_saturate_parse) && hui_reader_mark(reader, ')');
    }
    if (!hui_reader_mode_word(reader, mode, hu_mode_round_parse)) return 0;
  }
  return hui_reader_mark(reader, ')');
}

/* The next word is this one, and is passed. */
int hui_reader_passed_name(hu_reader *reader, const char *word) {
  size_t n = strcspn(reader->text + reader->at, "(),");
  if (strlen(word) != n || strncmp(reader->text + reader->at, word, n) != 0) return 0;
  reader->at += n;
  return 1;
}
