/* SPDX-License-Identifier: MIT */
/* Reads sizes of data that are not there: see train.h. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/train/train.h"

/* Reads one size, n characters; 0 after an error line. */
static int read_size(hu_model_sizes *sizes, const char *text, size_t n) {
  char word[64], names[256] = "", *value;
  const char *name;
  size_t length = 0;
  uint64_t x;
  if (n >= sizeof word) return !cli_fail(NULL, "--sizes: '%.*s...' is not name=number", 60, text);
  memcpy(word, text, n);
  word[n] = 0;
  value = strchr(word, '=');
  if (!value) return !cli_fail(NULL, "--sizes: '%s' is not name=number", word);
  *value++ = 0;
  for (size_t i = 0, *size; (size = hu_model_size(sizes, i, &name)) != NULL; i++) {
    length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "", name);
    if (strcmp(name, word) != 0) continue;
    if (*size) return !cli_fail(NULL, "--sizes: '%s' is given twice", word);
    if (cli_read_u64(&x, "--sizes", value, 1, UINT64_C(1) << 32)) return 0;
    *size = (size_t)x;
    return 1;
  }
  return !cli_fail(NULL, "--sizes: there is no '%s'; it takes %s", word, names);
}

int train_read_sizes(hu_model_sizes *sizes, const char *text) {
  memset(sizes, 0, sizeof *sizes);
  while (*text) {
    size_t n = strcspn(text, ",");
    if (!read_size(sizes, text, n)) return CLI_BAD;
    text += n + (text[n] == ',');
  }
  if (sizes->height && !sizes->channels) sizes->channels = 1;
  return CLI_OK;
}
