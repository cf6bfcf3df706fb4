/* SPDX-License-Identifier: MIT */
/* The keys of networks' texts: from the record of a named model, or from a text of settings. */
#include <string.h>

#include "train/model/network.h"
#include "train/text/words.h"

static const hu_item nothing = {HU_ITEM_NONE, -1, 0, NULL, 0, NULL};

static hu_item word_item(const char *word, size_t size) {
  hu_item item = nothing;
  item.kind = HU_ITEM_WORD;
  item.word = word;
  item.count = size;
  return item;
}

/* ---- of a record ---- */

static hu_item of_record(hu_network *network, const hu_text_key *key) {
  const void *at = (const char *)network->model + key->at;
  double numbers[HU_KEY_LIST];
  size_t n = 0;
  if (key->type == 'c') return word_item(key->words[*(const uint8_t *)at], strlen(key->words[*(const uint8_t *)at]));
  if (key->type == 'l') {
    const uint32_t *x = at;
    for (; n < HU_KEY_LIST && x[n]; n++) numbers[n] = x[n];
    return hui_network_list(network, numbers, n);
  }
  hu_item item = nothing;
  item.kind = HU_ITEM_NUMBER;
  item.number = hui_key_number(network->model, key);
  return item;
}

/* ---- of a text: "width=0.25,channels=8/16,projection" ---- */

/* Reads the numbers of a list, between slashes. */
static hu_item read_list(hu_network *network, const char *text, size_t n) {
  double numbers[HU_NETWORK_LIST];
  size_t count = 0;
  for (size_t from = 0; from <= n; count++) {
    size_t length = 0;
    while (from + length < n && text[from + length] != '/') length++;
    if (count == HU_NETWORK_LIST || !hui_read_number(text + from, length, &numbers[count])) return nothing;
    from += length + 1;
  }
  return hui_network_list(network, numbers, count);
}

/* Reads n characters, "name=value" from `=` on; a name alone is 1. */
static hu_item read_setting(hu_network *network, const char *text, size_t n, const hu_item *standard) {
  hu_item item = nothing;
  const int alone = n == 0;
  text += !alone;
  n -= !alone;
  if (standard->kind == HU_ITEM_LIST) return read_list(network, text, n);
  if (standard->kind == HU_ITEM_WORD) return hui_is_layer(text, n) ? word_item(text, n) : nothing;
  if (hui_read_number(alone ? "1" : text, alone ? 1 : n, &item.number)) item.kind = HU_ITEM_NUMBER;
  return item;
}

/* Returns the key of that name in a named model's record. */
static hu_item key_of_record(hu_network *network, const char *name, size_t size, hu_item standard) {
  for (size_t i = 0; i < network->keys->count; i++) {
    const hu_text_key *key = &network->keys->key[i];
    if (strlen(key->name) == size && memcmp(key->name, name, size) == 0) return of_record(network, key);
  }
  return standard;
}

hu_item hui_network_key(hu_network *network, const char *name, size_t size, hu_item standard) {
  const hu_model *model = network->model;
  if (network->keys) return key_of_record(network, name, size, standard);
  const char *text = model && model->settings ? model->settings : "";
  for (unsigned i = 0; *text; i++) {
    size_t all = strcspn(text, ","), n = strcspn(text, ",=");
    if (n == size && memcmp(text, name, n) == 0) {
      if (i < 32) network->settings |= 1u << i;
      hu_item item = read_setting(network, text + n, all - n, &standard);
      if (item.kind != standard.kind)
        return hui_network_wrong(network, HU_E_TEXT, "the setting '%.*s' is not of its key's kind",
                                 (int)(all < 64 ? all : 64), text);
      return item;
    }
    text += all + (text[all] != 0);
  }
  return standard;
}

void hui_network_settings(hu_network *network) {
  const hu_model *model = network->model;
  const char *text = !network->keys && model && model->settings ? model->settings : "";
  for (unsigned i = 0; *text; i++) {
    size_t all = strcspn(text, ","), n = strcspn(text, ",=");
    if (i >= 32 || !(network->settings >> i & 1))
      hui_network_wrong(network, HU_E_NAME, "there is no key '%.*s' to set, or it is set twice", (int)(n < 64 ? n : 64),
                        text);
    text += all + (text[all] != 0);
  }
}
