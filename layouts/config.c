/* SPDX-License-Identifier: MIT */
/* What config.json, hf_quant_config.json and the header's metadata say of quantization: see layouts.h. */
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
    skip = hui_byte_order_mark(bytes.data, bytes.size);
    char *text = as_json(bytes.data + skip, bytes.size - skip);
    *z = text ? json_loads(text, 0, &where) : NULL;
    good =
        json_is_object(*z) || (text && !*z ? hui_wrong_json(x, path, &where)
                                           : hui_wrong(x, "%s: %s", path, text ? "no JSON object" : "out of memory"));
    free(text);
    x->reader->free(&bytes);
  }
  free(path);
  return good;
}

/* Checks that a key which only quantization has is an object, or null. */
static int check_object(hu_checkpoint *x, json_t *root, const char *key) {
  json_t *both[] = {json_object_get(root, key), json_object_get(json_object_get(root, "text_config"), key)};
  for (size_t i = 0; i < 2; i++)
    if (both[i] && !json_is_object(both[i]) && !json_is_null(both[i]))
      return hui_wrong(x, "%sconfig.json: %s is not an object", x->folder, key);
  return 1;
}

static json_t *object_of(json_t *root, const char *key) {
  json_t *z = json_object_get(root, key), *inner = json_object_get(json_object_get(root, "text_config"), key);
  return json_is_object(z) ? z : json_is_object(inner) ? inner : NULL;
}

int hui_config_open(hu_checkpoint *x) {
  json_t *other = NULL;
  if (!load(x, &x->config, "config.json") || !check_object(x, x->config, "quantization_config") ||
      !check_object(x, x->config, "compression_config"))
    return 0;
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
  return !found || (hui_config_check(x, "quantization", found) && hui_modules_open(x));
}

const char *hui_config_method(const hu_checkpoint *x) {
  const char *z = json_string_value(json_object_get(x->quantization, "quant_method"));
  return z ? z : "";
}

/* ---- values ---- */

/* Returns a value of the module itself, or else of all. */
static json_t *value_of(const hu_checkpoint *x, const char *base, const char *key) {
  json_t *own = base ? hui_module(x, base) : NULL, *z = json_object_get(own, key);
  return z ? z : json_object_get(x->quantization, key);
}

int hui_config_number(const hu_checkpoint *x, const char *base, const char *key, long *z) {
  json_t *value = value_of(x, base, key);
  if (!json_is_integer(value)) return 0;
  *z = (long)json_integer_value(value);
  return 1;
}

const char *hui_config_text(const hu_checkpoint *x, const char *base, const char *key) {
  const char *z = json_string_value(value_of(x, base, key));
  return z ? z : "";
}

int hui_config_block(const hu_checkpoint *x, const char *base, size_t block[2]) {
  return hui_config_sides(json_object_get(hui_module(x, base), "block_structure"), block) ||
         hui_config_sides(value_of(x, base, "weight_block_size"), block);
}
