/* SPDX-License-Identifier: MIT */
/* hu_collective_parse and hu_collective_text. The grammar stands in halfulp/collective.h. */
#include <string.h>

#include "emu/format/put.h"
#include "emu/format/reader.h"
#include "halfulp/collective.h"

static const char *const kinds[HU_COLLECTIVE_COUNT] = {"exact", "pairwise", "ring", "tree", "doubling"};

/* ---- text to record ---- */

/* 1 if what follows begins so, and is passed. */
static int passed_key(hu_reader *r, const char *key) {
  size_t n = strlen(key);
  if (strncmp(r->text + r->at, key, n) != 0) return 0;
  r->at += n;
  return 1;
}

/* Characters up to the parenthesis that closes the base. */
static size_t wire_length(const char *text) {
  int depth = 0;
  for (size_t i = 0; text[i]; i++) {
    if (text[i] == '(') depth++;
    if (text[i] == ')' && depth-- == 0) return i;
  }
  return strlen(text);
}

static int read_scaling(hu_reader *r, hu_scaling *z) {
  char piece[HU_SCALING_TEXT_MAX];
  size_t n = wire_length(r->text + r->at), where = 0;
  if (n >= sizeof piece) return hui_reader_failed(r, r->at, HU_E_TEXT);
  memcpy(piece, r->text + r->at, n);
  piece[n] = 0;
  hu_status s = hu_scaling_parse(z, piece, &where);
  if (s != HU_OK) return hui_reader_failed(r, r->at + where, s);
  r->at += n;
  return 1;
}

static int read_wire(hu_reader *r, hu_collective_base *b) {
  hu_reader ahead = *r;
  if (hui_reader_format(&ahead, &b->wire) && ahead.text[ahead.at] == ')') {
    *r = ahead;
    b->wired = HU_COLLECTIVE_WIRE_FORMAT;
    return 1;
  }
  memset(&b->wire, 0, sizeof b->wire);
  b->wired = HU_COLLECTIVE_WIRE_SCALED;
  return read_scaling(r, &b->scaling);
}

/* [","MODE][",sat="POLICY][",wire="WIRE] ")", each in its place. */
static int read_options(hu_reader *r, hu_collective_base *b) {
  for (int next = 0; hui_reader_passed(r, ',');) {
    size_t start = r->at;
    int option = passed_key(r, "sat=") ? 1 : passed_key(r, "wire=") ? 2 : 0;
    if (option < next) return hui_reader_failed(r, start, HU_E_TEXT);
    next = option + 1;
    int read = option == 0   ? hui_reader_mode_word(r, &b->mode, hu_mode_round_parse)
               : option == 1 ? hui_reader_mode_word(r, &b->mode, hu_mode_saturate_parse)
                             : read_wire(r, b);
    if (!read) return 0;
  }
  return hui_reader_mark(r, ')');
}

static int read_base(hu_reader *r, hu_collective_base *b) {
  memset(b, 0, sizeof *b);
  if (hui_reader_word(r, kinds[HU_COLLECTIVE_EXACT])) return 1;
  for (uint8_t kind = 1; kind < HU_COLLECTIVE_COUNT; kind++) {
    if (!hui_reader_passed_name(r, kinds[kind])) continue;
    b->kind = kind;
    return hui_reader_mark(r, '(') && hui_reader_format(r, &b->sum) && read_options(r, b);
  }
  return hui_reader_failed(r, r->at, strcspn(r->text + r->at, "(),") ? HU_E_NAME : HU_E_TEXT);
}

static int read_model(hu_reader *r, hu_collective *z) {
  if (!hui_reader_passed_name(r, "hierarchical")) return read_base(r, &z->base);
  return hui_reader_mark(r, '(') && hui_reader_length(r, &z->group) && hui_reader_mark(r, ',') &&
         read_base(r, &z->base) && hui_reader_mark(r, ',') && read_base(r, &z->outer) && hui_reader_mark(r, ')');
}

hu_status hu_collective_parse(hu_collective *model, const char *text, size_t *where) {
  hu_collective read;
  hu_reader r = {text, 0, HU_OK};
  if (!model || !text) return HU_E_NULL;
  memset(&read, 0, sizeof read);
  if (read_model(&r, &read) && text[r.at] != 0) r.wrong = HU_E_TEXT;
  if (r.wrong == HU_OK) {
    r.wrong = hu_collective_check(&read);
    if (r.wrong != HU_OK) r.at = 0;
  }
  if (r.wrong == HU_OK) *model = read;
  if (r.wrong != HU_OK && where) *where = r.at;
  return r.wrong;
}

/* ---- record to text ---- */

static void put_options(hu_writer *w, const hu_collective_base *b) {
  static const char *const policies[] = {"default", "none", "finite", "propagate"};
  char word[8], scaling[HU_SCALING_TEXT_MAX];
  if (b->mode.round) {
    hui_put(w, ",");
    hui_put(w, hu_mode_round_text(word, b->mode));
  }
  if (b->mode.saturate) {
    hui_put(w, ",sat=");
    hui_put(w, policies[b->mode.saturate]);
  }
  if (b->wired) hui_put(w, ",wire=");
  if (b->wired == HU_COLLECTIVE_WIRE_FORMAT) hui_put_format(w, b->wire);
  if (b->wired == HU_COLLECTIVE_WIRE_SCALED && hu_scaling_text(scaling, sizeof scaling, &b->scaling))
    hui_put(w, scaling);
}

static void put_base(hu_writer *w, const hu_collective_base *b) {
  hui_put(w, kinds[b->kind]);
  if (b->kind == HU_COLLECTIVE_EXACT) return;
  hui_put(w, "(");
  hui_put_format(w, b->sum);
  put_options(w, b);
  hui_put(w, ")");
}

size_t hu_collective_text(char *text, size_t size, const hu_collective *model) {
  hu_writer w = {text, text ? size : 0, 0};
  if (hu_collective_check(model) != HU_OK) return 0;
  if (model->group) {
    hui_put(&w, "hierarchical(");
    hui_put_number(&w, (int)model->group);
    hui_put(&w, ",");
  }
  put_base(&w, &model->base);
  if (model->group) {
    hui_put(&w, ",");
    put_base(&w, &model->outer);
    hui_put(&w, ")");
  }
  return hui_put_end(&w);
}
