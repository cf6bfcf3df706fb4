/* SPDX-License-Identifier: MIT */
/* Reads sizes of data that are not there: see train.h. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/train/train.h"

static const struct {
  const char *name;
  size_t at;
} fields[] = {{"height", offsetof(hu_model_sizes, height)},
              {"width", offsetof(hu_model_sizes, width)},
              {"channels", offsetof(hu_model_sizes, channels)},
              {"steps", offsetof(hu_model_sizes, steps)},
              {"vocabulary", offsetof(hu_model_sizes, vocabulary)},
              {"users", offsetof(hu_model_sizes, users)},
              {"items", offsetof(hu_model_sizes, items)},
              {"outputs", offsetof(hu_model_sizes, outputs)},
              {"dense", offsetof(hu_model_sizes, dense)},
              {"categories", offsetof(hu_model_sizes, categories)},
              {"source_vocabulary", offsetof(hu_model_sizes, source_vocabulary)}};

/* Reads one size, n characters; 0 after an error line. */
static int read_size(hu_model_sizes *sizes, const char *text, size_t n) {
  char word[64], *value;
  uint64_t x;
  if (n >= sizeof word) return !cli_fail(NULL, "--sizes: '%.*s...' is not name=number", 60, text);
  memcpy(word, text, n);
  word[n] = 0;
  value = strchr(word, '=');
  if (!value) return !cli_fail(NULL, "--sizes: '%s' is not name=number", word);
  *value++ = 0;
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    size_t *size = (size_t *)((char *)sizes + fields[i].at);
    if (strcmp(fields[i].name, word) != 0) continue;
    if (*size) return !cli_fail(NULL, "--sizes: '%s' is given twice", word);
    if (cli_read_u64(&x, "--sizes", value, 1, UINT64_C(1) << 32)) return 0;
    *size = (size_t)x;
    return 1;
  }
  return !cli_fail(NULL,
                   "--sizes: there is no '%s'; it takes height, width, channels, steps, vocabulary, users, items, "
                   "outputs, source_vocabulary, dense, categories",
                   word);
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
