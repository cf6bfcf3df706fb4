/* SPDX-License-Identifier: MIT */
/* What config.json, hf_quant_config.json and the header's metadata say of quantization: see layouts.h. */
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "layouts/layouts.h"

/* Python writes NaN and Infinity, which are no JSON: they become null, of the same length. */
static char *as_json(const uint8_t *bytes, size_t size) {
  static const char *const words[] = {"NaN", "-Infinity", "Infinity"};
  char *text = malloc(size + 1);
  int quoted = 0;
  if (!text) return NULL;
  memcpy(text, bytes, size);
  text[size] = 0;
  for (size_t i = 0; i < size; i++) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == '\\' && quoted) i++;
    for (int k = 0; k < 3 && !quoted && i < size; k++) {
      size_t n = strlen(words[k]);
      if (strncmp(text + i, words[k], n) != 0) continue;
      memset(text + i, ' ', n);
      memcpy(text + i, n == 3 ? "0  " : "null", n == 3 ? 3 : 4);
    }
  }
  return text;
}

/* Loads a JSON object from a file in the checkpoint's folder: 1, and *z NULL if there is none. */
static int load(hu_checkpoint *x, json_t **z, const char *name) {
  size_t capacity = strlen(x->folder) + strlen(name) + 1, skip;
  char *path = malloc(capacity);
  hui_bytes bytes;
  struct stat info;
  json_error_t where;
  *z = NULL;
  if (!path) return hui_wrong(x, "%s: out of memory", x->path);
  snprintf(path, capacity, "%s%s", x->folder, name);
  int there = stat(path, &info) == 0 && S_ISREG(info.st_mode), good = !there || x->reader->read(&bytes, path, x->line);
  if (there && good) {
    skip = bytes.size >= 3 && !memcmp(bytes.data, "\xEF\xBB\xBF", 3) ? 3 : 0;
    char *text = as_json(bytes.data + skip, bytes.size - skip);
    *z = text ? json_loads(text, 0, &where) : NULL;
    good = json_is_object(*z) || hui_wrong(x, "%s: %s", path,
                                           text && !*z ? where.text
                                           : text      ? "no JSON object"
                                                       : "out of memory");
    for (char *at = x->line; !good && *at; at++)
      if ((unsigned char)*at < 0x20) *at = '?';
    free(text);
    x->reader->free(&bytes);
  }
  free(path);
  return good;
}

static json_t *object_of(json_t *root, const char *key) {
  json_t *z = json_object_get(root, key), *inner = json_object_get(json_object_get(root, "text_config"), key);
  return json_is_object(z) ? z : json_is_object(inner) ? inner : NULL;
}

int hui_config_open(hu_checkpoint *x) {
  json_t *other = NULL;
  if (!load(x, &x->config, "config.json")) return 0;
  json_t *found = object_of(x->config, "quantization_config");
  if (!found) found = object_of(x->config, "compression_config");
  if (!found) found = object_of(x->config, "quantization");
  if (found) x->says = "config.json";
  if (!found) {
    if (!load(x, &other, "hf_quant_config.json")) return 0;
    found = object_of(other, "quantization");
    if (found) {
      x->says = "hf_quant_config.json";
      if (!json_object_get(found, "quant_method")) json_object_set_new(found, "quant_method", json_string("modelopt"));
    }
  }
  x->quantization = json_incref(found);
  json_decref(other);
  return 1;
}

const char *hui_config_method(const hu_checkpoint *x) {
  const char *z = json_string_value(json_object_get(x->quantization, "quant_method"));
  return z ? z : "";
}

/* ---- the weights of compressed-tensors' groups ---- */

static json_t *group_weights(const hu_checkpoint *x, size_t i) {
  const char *name;
  json_t *group;
  size_t n = 0;
  json_object_foreach(json_object_get(x->quantization, "config_groups"), name,
                      group) if (n++ == i) return json_object_get(group, "weights");
  return NULL;
}

/* Returns a value of the module itself, or else of all. */
static json_t *value_of(const hu_checkpoint *x, const char *module, const char *key) {
  json_t *own = module ? json_object_get(json_object_get(x->quantization, module), key) : NULL;
  if (!own) own = json_object_get(x->quantization, key);
  for (size_t i = 0; !own && group_weights(x, i); i++) own = json_object_get(group_weights(x, i), key);
  return own;
}

int hui_config_number(const hu_checkpoint *x, const char *module, const char *key, long *z) {
  json_t *value = value_of(x, module, key);
  if (!json_is_integer(value)) return 0;
  *z = (long)json_integer_value(value);
  return 1;
}

const char *hui_config_text(const hu_checkpoint *x, const char *module, const char *key) {
  const char *z = json_string_value(value_of(x, module, key));
  return z ? z : "";
}

static int read_block(const json_t *list, size_t block[2]) {
  for (size_t i = 0; i < 2; i++) {
    json_int_t side = json_integer_value(json_array_get(list, i));
    if (json_array_size(list) != 2 || side < 1 || side > 1 << 24) return 0;
    block[i] = (size_t)side;
  }
  return 1;
}

int hui_config_block(const hu_checkpoint *x, size_t i, size_t block[2]) {
  if (i == 0) return read_block(json_object_get(x->quantization, "weight_block_size"), block);
  return read_block(json_object_get(group_weights(x, i - 1), "block_structure"), block);
}

static int has_word(const json_t *value, const char *word, int depth) {
  const char *text = json_string_value(value), *key;
  json_t *one;
  size_t i;
  if (text && strstr(text, word)) return 1;
  if (depth == 0) return 0;
  json_object_foreach((json_t *)(uintptr_t)value, key, one) if (has_word(one, word, depth - 1)) return 1;
  json_array_foreach(value, i, one) if (has_word(one, word, depth - 1)) return 1;
  return 0;
}

int hui_config_has(const hu_checkpoint *x, const char *word) { return has_word(x->quantization, word, 8); }
