/* SPDX-License-Identifier: MIT */
/* hu_model_parse and hu_model_text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/environment.h"
#include "train/model/kinds.h"
#include "train/model/network.h"
#include "train/text/words.h"

static int kind_named(const char *word, size_t n) {
  for (uint8_t i = 0; i < HU_MODEL_KINDS; i++) {
    const hu_model_kind *kind = hui_model_kind_of(i);
    if (hui_same_word(word, n, kind->name) || (kind->alias && hui_same_word(word, n, kind->alias))) return i;
  }
  return -1;
}

/* Networks that have a name for other keys than the defaults of their kind. */
static int is_named(hu_model *model, const char *word, size_t n) {
  static const uint32_t stages[4] = {3, 4, 6, 3};
  int deep = hui_same_word(word, n, "resnet50");
  if (!deep && !hui_same_word(word, n, "resnet34")) return 0;
  *model = hu_model_default(HU_MODEL_RESNET4);
  memcpy(model->stages, stages, sizeof stages);
  model->bottleneck = (uint8_t)deep;
  return 1;
}

static hu_status unknown(const char *text, size_t n, char *why) {
  const char *names[HU_MODEL_KINDS + 1] = {NULL};
  char word[64], list[288], perhaps[HU_PERHAPS_MAX];
  for (uint8_t i = 0; i < HU_MODEL_KINDS; i++) names[i] = hui_model_kind_of(i)->name;
  snprintf(word, sizeof word, "%.*s", (int)(n < 63 ? n : 63), text);
  snprintf(why, HU_TEXT_WHY_MAX, "there is no model '%s'; the models are %s%s", word,
           hui_words_text(list, sizeof list, names), hui_perhaps(perhaps, word, names));
  return HU_E_NAME;
}

/* Reads what stands between the parentheses, n characters. */
static hu_status read_keys(hu_model *model, const hu_model_kind *kind, const char *text, size_t n, size_t *off,
                           char *why) {
  char said[HU_TEXT_WHY_MAX - 32];
  unsigned seen = 0;
  hu_status status = hui_keys_read(model, kind->keys.key, kind->keys.count, &seen, text, n, off);
  if (status == HU_OK) return status;
  hui_keys_complain(said, sizeof said, kind->keys.key, kind->keys.count, text, n, *off);
  snprintf(why, HU_TEXT_WHY_MAX, "%s %s", kind->name, said);
  return status;
}

/* A text of more than a line is a network's own. */
static hu_status read_network(hu_model *model, const char *text, size_t *where, char *why) {
  hu_network *network = calloc(1, sizeof *network);
  if (!network) return HU_E_MEMORY;
  network->text = text;
  hu_status status = hui_network_read(network, HU_NETWORK_CHECK);
  if (status == HU_OK) {
    memset(model, 0, sizeof *model);
    model->kind = HU_MODEL_NETWORK;
    model->text = text;
  } else {
    *where = network->wrong_at;
    snprintf(why, HU_TEXT_WHY_MAX, "line %u: %s", hui_network_line(text, *where), network->why);
  }
  free(network);
  return status;
}

static HU_NOINLINE hu_status read(hu_model *model, const char *text, size_t *where, char *why) {
  *where = 0;
  if (strchr(text, '\n')) return read_network(model, text, where, why);
  size_t word = strcspn(text, "("), all = strlen(text);
  hu_model made;
  if (!is_named(&made, text, word)) {
    int kind = kind_named(text, word);
    if (kind < 0) return unknown(text, word, why);
    made = hu_model_default((uint8_t)kind);
  }
  const hu_model_kind *known = hui_model_kind_of(made.kind);
  if (word < all) {
    size_t off = 0;
    *where = all;
    snprintf(why, HU_TEXT_WHY_MAX, "%s: a closing parenthesis is missing at the end", known->name);
    if (text[all - 1] != ')') return HU_E_TEXT;
    hu_status status = read_keys(&made, known, text + word + 1, all - word - 2, &off, why);
    *where = word + 1 + off;
    if (status != HU_OK) return status;
    *where = 0;
  }
  const char *what = "";
  hu_status status = hu_model_check(&made, NULL, &what);
  if (status != HU_OK) snprintf(why, HU_TEXT_WHY_MAX, "%s: %s", known->name, what);
  if (status == HU_OK) *model = made;
  return status;
}

hu_status hui_model_read(hu_model *model, const char *text, size_t *where, char why[HU_TEXT_WHY_MAX]) {
  HU_ENV_RETURN(hu_status, read(model, text, where, why));
}

hu_status hu_model_parse(hu_model *model, const char *text, size_t *where) {
  char why[HU_TEXT_WHY_MAX];
  size_t ignored;
  if (!where) where = &ignored;
  *where = 0;
  return model && text ? hui_model_read(model, text, where, why) : HU_E_NULL;
}

static HU_NOINLINE size_t write(char *text, size_t size, const hu_model *model) {
  char line[HU_MODEL_TEXT_MAX];
  if (hu_model_check(model, NULL, NULL) != HU_OK || model->kind == HU_MODEL_NETWORK) return 0;
  const hu_model_kind *kind = hui_model_kind_of(model->kind);
  hu_model standard = hu_model_default(model->kind);
  size_t n = (size_t)snprintf(line, sizeof line, "%s", kind->name);
  n += hui_keys_write(line + n, sizeof line - n, model, &standard, kind->keys.key, kind->keys.count);
  if (size) snprintf(text, size, "%s", line);
  return n;
}

size_t hu_model_text(char *text, size_t size, const hu_model *model) {
  HU_ENV_RETURN(size_t, write(text, size, model));
}
