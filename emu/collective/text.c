/* SPDX-License-Identifier: MIT */
/* hu_collective_parse and hu_collective_text. The grammar stands in halfulp/collective.h. */
#include <string.h>

#include "emu/format/put.h"
#include "emu/format/reader.h"
#include "halfulp/collective.h"

static const char *const kinds[HU_COLLECTIVE_COUNT] = {"exact",    "pairwise", "ring",  "tree",
                                                       "doubling", "direct",   "switch"};

/* ---- text to record ---- */

/* Passes the key if it comes next in the text, and then returns 1. */
static int passed_key(hu_reader *reader, const char *key) {
  size_t n = strlen(key);
  if (strncmp(reader->text + reader->at, key, n) != 0) return 0;
  reader->at += n;
  return 1;
}

/* Counts the characters up to the parenthesis that closes the base. */
static size_t wire_length(const char *text) {
  int depth = 0;
  for (size_t i = 0; text[i]; i++) {
    if (text[i] == '(') depth++;
    if (text[i] == ')' && depth-- == 0) return i;
  }
  return strlen(text);
}

static int read_scaling(hu_reader *reader, hu_scaling *z) {
  char piece[HU_SCALING_TEXT_MAX];
  size_t n = wire_length(reader->text + reader->at), where = 0;
  if (n >= sizeof piece) return hui_reader_failed(reader, reader->at, HU_E_TEXT);
  memcpy(piece, reader->text + reader->at, n);
  piece[n] = 0;
  hu_status status = hu_scaling_parse(z, piece, &where);
  if (status != HU_OK) return hui_reader_failed(reader, reader->at + where, status);
  reader->at += n;
  return 1;
}

static int read_wire(hu_reader *reader, hu_collective_base *base) {
  hu_reader ahead = *reader;
  if (hui_reader_format(&ahead, &base->wire) && ahead.text[ahead.at] == ')') {
    *reader = ahead;
    base->wired = HU_COLLECTIVE_WIRE_FORMAT;
    return 1;
  }
  memset(&base->wire, 0, sizeof base->wire);
  base->wired = HU_COLLECTIVE_WIRE_SCALED;
  return read_scaling(reader, &base->scaling);
}

/* [","MODE][",sat="POLICY][",wire="WIRE] ")", each in its place. */
static int read_options(hu_reader *reader, hu_collective_base *base) {
  for (int next = 0; hui_reader_passed(reader, ',');) {
    size_t start = reader->at;
    int option = passed_key(reader, "sat=") ? 1 : passed_key(reader, "wire=") ? 2 : 0;
    if (option < next) return hui_reader_failed(reader, start, HU_E_TEXT);
    next = option + 1;
    int read = option == 0   ? hui_reader_mode_word(reader, &base->mode, hu_mode_round_parse)
               : option == 1 ? hui_reader_mode_word(reader, &base->mode, hu_mode_saturate_parse)
                             : read_wire(reader, base);
    if (!read) return 0;
  }
  return hui_reader_mark(reader, ')');
}

static int read_base(hu_reader *reader, hu_collective_base *base) {
  memset(base, 0, sizeof *base);
  if (hui_reader_word(reader, kinds[HU_COLLECTIVE_EXACT])) return 1;
  for (uint8_t kind = 1; kind < HU_COLLECTIVE_COUNT; kind++) {
    if (!hui_reader_passed_name(reader, kinds[kind])) continue;
    base->kind = kind;
    return hui_reader_mark(reader, '(') && hui_reader_format(reader, &base->sum) && read_options(reader, base);
  }
  return hui_reader_failed(reader, reader->at, strcspn(reader->text + reader->at, "(),") ? HU_E_NAME : HU_E_TEXT);
}

static int read_model(hu_reader *reader, hu_collective *z) {
  if (!hui_reader_passed_name(reader, "hierarchical")) return read_base(reader, &z->base);
  return hui_reader_mark(reader, '(') && hui_reader_length(reader, &z->group) && hui_reader_mark(reader, ',') &&
         read_base(reader, &z->base) && hui_reader_mark(reader, ',') && read_base(reader, &z->outer) &&
         hui_reader_mark(reader, ')');
}

hu_status hu_collective_parse(hu_collective *model, const char *text, size_t *where) {
  hu_collective read;
  hu_reader reader = {text, 0, HU_OK};
  if (!model || !text) return HU_E_NULL;
  memset(&read, 0, sizeof read);
  if (read_model(&reader, &read) && text[reader.at] != 0) reader.wrong = HU_E_TEXT;
  if (reader.wrong == HU_OK) {
    reader.wrong = hu_collective_check(&read);
    if (reader.wrong != HU_OK) reader.at = 0;
  }
  if (reader.wrong == HU_OK) *model = read;
  if (reader.wrong != HU_OK && where) *where = reader.at;
  return reader.wrong;
}

/* ---- record to text ---- */

static void put_options(hu_writer *writer, const hu_collective_base *base) {
  static const char *const policies[] = {"default", "none", "finite", "propagate"};
  char word[8], scaling[HU_SCALING_TEXT_MAX];
  if (base->mode.round) {
    hui_put(writer, ",");
    hui_put(writer, hu_mode_round_text(word, base->mode));
  }
  if (base->mode.saturate) {
    hui_put(writer, ",sat=");
    hui_put(writer, policies[base->mode.saturate]);
  }
  if (base->wired) hui_put(writer, ",wire=");
  if (base->wired == HU_COLLECTIVE_WIRE_FORMAT) hui_put_format(writer, base->wire);
  if (base->wired == HU_COLLECTIVE_WIRE_SCALED && hu_scaling_text(scaling, sizeof scaling, &base->scaling))
    hui_put(writer, scaling);
}

static void put_base(hu_writer *writer, const hu_collective_base *base) {
  hui_put(writer, kinds[base->kind]);
  if (base->kind == HU_COLLECTIVE_EXACT) return;
  hui_put(writer, "(");
  hui_put_format(writer, base->sum);
  put_options(writer, base);
  hui_put(writer, ")");
}

size_t hu_collective_text(char *text, size_t size, const hu_collective *model) {
  hu_writer writer = {text, text ? size : 0, 0};
  if (hu_collective_check(model) != HU_OK) return 0;
  if (model->group) {
    hui_put(&writer, "hierarchical(");
    hui_put_number(&writer, (int)model->group);
    hui_put(&writer, ",");
  }
  put_base(&writer, &model->base);
  if (model->group) {
    hui_put(&writer, ",");
    put_base(&writer, &model->outer);
    hui_put(&writer, ")");
  }
  return hui_put_end(&writer);
}
