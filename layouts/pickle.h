/* SPDX-License-Identifier: MIT */
/* layouts/pickle.h - the pickle of a state dict as a tree of values. Nothing is executed: a GLOBAL is a name, and
 * REDUCE is a record of a name and its arguments, whose meaning the caller knows or refuses (torch.c).
 *
 * Opcodes of protocols 2 to 4 that torch.save writes are read; others are refused by their number and place. */
#ifndef HALFULP_LAYOUTS_PICKLE_H
#define HALFULP_LAYOUTS_PICKLE_H

#include <stddef.h>
#include <stdint.h>

enum hui_kind_of_value {
  HUI_NONE, /* None, numbers with a fraction, bytes: what no tensor is made of */
  HUI_INT,  /* integers, booleans */
  HUI_TEXT,
  HUI_TUPLE, /* and lists */
  HUI_DICT,  /* items: key, value, ... */
  HUI_GLOBAL,
  HUI_PERSISTENT, /* items: its identifier */
  HUI_REDUCED     /* items: a global, its arguments */
};

typedef struct hui_value {
  int kind;
  int64_t number;
  const char *text; /* in the pickle; of a global: module and name with a \n or 0 between that does not matter */
  size_t length;
  const char *module;
  size_t module_length;
  uint32_t *items; /* places of values */
  size_t count, capacity;
} hui_value;

typedef struct hui_pickle {
  hui_value *values;
  size_t count, capacity;
  uint32_t root;
} hui_pickle;

enum { HUI_PICKLE_ERROR = 400 };
/* Reads a pickle, whose texts stay in the bytes: 1 and *z (to be freed), or 0 and a sentence. */
int hui_pickle_read(hui_pickle *z, const uint8_t *bytes, size_t size, char error[HUI_PICKLE_ERROR]);
void hui_pickle_free(hui_pickle *z);
/* Returns item i of a value; NULL: it has none. */
const hui_value *hui_item(const hui_pickle *x, const hui_value *value, size_t i);
/* Returns 1 if a value is this text, or this global. */
int hui_is_text(const hui_value *value, const char *text);
int hui_is_global(const hui_value *value, const char *module, const char *name);

#endif
