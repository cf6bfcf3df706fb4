/* SPDX-License-Identifier: MIT */
/* Types of the config's values, of all modules and of single ones: see layouts.h. */
#include <jansson.h>
#include <stdio.h>

#include "layouts/layouts.h"

int hui_config_sides(const json_t *value, size_t block[2]) {
  const char *text = json_string_value(value);
  char end;
  if (text) {
    long sides[2];
    if (sscanf(text, "%8ldx%8ld%c", &sides[0], &sides[1], &end) != 2 || sides[0] < 1 || sides[1] < 1) return 0;
    block[0] = (size_t)sides[0];
    block[1] = (size_t)sides[1];
    return 1;
  }
  for (size_t i = 0; i < 2; i++) {
    json_int_t side = json_integer_value(json_array_get(value, i));
    if (json_array_size(value) != 2 || side < 1 || side > 1 << 24) return 0;
    block[i] = (size_t)side;
  }
  return 1;
}

enum { WHOLE, TEXT, SIDES, TEXTS, OBJECT };

static int is_texts(const json_t *list) {
  for (size_t i = 0; i < json_array_size(list); i++)
    if (!json_is_string(json_array_get(list, i))) return 0;
  return json_is_array(list);
}

static int has_type(const json_t *value, int type) {
  size_t block[2];
  if (json_is_null(value)) return 1;
  if (type == WHOLE) return json_is_integer(value);
  if (type == TEXTS) return is_texts(value);
  if (type == OBJECT) return json_is_object(value);
  return type == TEXT ? json_is_string(value) : hui_config_sides(value, block);
}

int hui_config_check(hu_checkpoint *x, const char *field, json_t *value) {
  static const struct {
    const char *key;
    int type;
  } keys[] = {{"bits", WHOLE},
              {"w_bit", WHOLE},
              {"num_bits", WHOLE},
              {"group_size", WHOLE},
              {"q_group_size", WHOLE},
              {"quant_method", TEXT},
              {"quant_algo", TEXT},
              {"checkpoint_format", TEXT},
              {"packing_format", TEXT},
              {"weight_block_size", SIDES},
              {"block_structure", SIDES},
              {"format", TEXT},
              {"type", TEXT},
              {"targets", TEXTS},
              {"ignore", TEXTS},
              {"config_groups", OBJECT}};
  static const char *const words[] = {"a whole number", "a text", "two numbers of at least 1", "a list of texts",
                                      "an object"};
  char shown[ST_NAME_MAX];
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    json_t *one = json_object_get(value, keys[i].key);
    /* "2:4", of sparsity, is no block of scales. */
    if (!one || has_type(one, keys[i].type) || (keys[i].type == SIDES && json_is_string(one))) continue;
    return hui_wrong(x, "%s%s: %s: %s is not %s", x->folder, x->says, st_printable(shown, field), keys[i].key,
                     words[keys[i].type]);
  }
  return 1;
}
