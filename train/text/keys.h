/* SPDX-License-Identifier: MIT */
/* train/text/keys.h - reads records from texts of keys, and writes them: "layers=2,activation=gelu,bypass". */
#ifndef HALFULP_TRAIN_TEXT_KEYS_H
#define HALFULP_TRAIN_TEXT_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "halfulp/status.h"

/* A key of a record: where its value lies, and as what.
 *   f, d: a float, a double               u, i: a whole number, uint64_t, uint32_t
 *   w: a word that sets a uint8_t to 1    c: one of `words`, whose place in them goes to a uint8_t
 *   l: HU_KEY_LIST uint32_t, written with '/' between them; zeros behind the last one */
typedef struct hu_text_key {
  const char *name;
  size_t at;
  char type;
  const char *const *words; /* of c, ended by NULL */
} hu_text_key;
enum { HU_KEY_LIST = 8 };
/* The keys of a record; and one from an array of them. */
typedef struct hu_text_keys {
  const hu_text_key *key;
  size_t count;
} hu_text_keys;
#define HU_TEXT_KEYS(array) \
  { array, sizeof(array) / sizeof *(array) }

/* A key with the name "" stands first, as its value alone, always. */

/* Keys between commas, n characters, into the record, which keeps what is not named. Bit i of *seen is set for key i.
 * HU_E_NAME: no such key; HU_E_TEXT: a key twice, or none, or a value that is not of its type; *off is then where. */
hu_status hui_keys_read(void *record, const hu_text_key *keys, size_t count, unsigned *seen, const char *text, size_t n,
                        size_t *off);
/* What hui_keys_read refused, as the end of a sentence: "has no 'layer'; it takes layers, units, activation; perhaps
 * layers is meant". text: the keys alone, n characters; off: what it said. */
void hui_keys_complain(char *z, size_t size, const hu_text_key *keys, size_t count, const char *text, size_t n,
                       size_t off);
/* Writes words up to a NULL with a comma between them. Returns z. */
char *hui_words_text(char *z, size_t size, const char *const *words);
/* Writes "; perhaps layers is meant", or "" where no word is near. Returns z. */
enum { HU_PERHAPS_MAX = 96 };
char *hui_perhaps(char z[HU_PERHAPS_MAX], const char *word, const char *const *words);

/* Writes "(key=value,...)" of the keys whose values differ from those of `standard`; "" if there is none. Returns the
 * length, which is written up to size - 1. */
size_t hui_keys_write(char *text, size_t size, const void *record, const void *standard, const hu_text_key *keys,
                      size_t count);
/* The value of a key that is a number, a choice or a word. */
double hui_key_number(const void *record, const hu_text_key *key);

#endif
