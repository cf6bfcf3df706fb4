/* SPDX-License-Identifier: MIT */
/* Reads how important columns are: see importance.h. */
#include "cli/tensors/importance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/tensors/array.h"

enum { NAME_MOST = 65535 };

float *cli_columns_add(cli_importances *z, const char *name, size_t length, size_t count) {
  if (z->count == z->capacity) {
    size_t capacity = z->capacity ? 2 * z->capacity : 64;
    cli_columns *more = realloc(z->list, capacity * sizeof *more);
    if (!more) {
      cli_fail(z->path, "out of memory");
      return NULL;
    }
    z->list = more;
    z->capacity = capacity;
  }
  cli_columns *made = &z->list[z->count];
  made->count = count;
  made->name = name ? strndup(name, length) : NULL;
  made->numbers = cli_alloc(count, sizeof *made->numbers);
  if (name && !made->name) cli_fail(z->path, "out of memory");
  z->count++;
  return name && !made->name ? NULL : made->numbers;
}

void cli_importances_free(cli_importances *z) {
  for (size_t i = 0; i < z->count; i++) {
    free(z->list[i].name);
    free(z->list[i].numbers);
  }
  free(z->list);
  memset(z, 0, sizeof *z);
}

/* ---- the earlier imatrix ---- */

typedef struct cursor {
  const uint8_t *bytes;
  size_t at, size;
} cursor;

static int take(int32_t *z, cursor *from) {
  uint32_t bits = 0;
  if (from->size - from->at < 4) return 0;
  for (unsigned i = 0; i < 4; i++) bits |= (uint32_t)from->bytes[from->at + i] << 8 * i;
  memcpy(z, &bits, sizeof *z);
  from->at += 4;
  return 1;
}

static float take_float(cursor *from) {
  int32_t bits = 0;
  float z;
  take(&bits, from);
  memcpy(&z, &bits, sizeof z);
  return z;
}

static int read_entry(cli_importances *z, cursor *from, int32_t number) {
  int32_t length, calls, count;
  if (!take(&length, from)) return cli_fail(z->path, "entry %d: truncated before the length of its name", number);
  if (length < 1 || length > NAME_MOST || (size_t)length > from->size - from->at)
    return cli_fail(z->path, "entry %d: a name of %d bytes; is it an importance matrix of llama.cpp?", number, length);
  const char *name = (const char *)from->bytes + from->at;
  from->at += (size_t)length;
  if (!take(&calls, from) || !take(&count, from))
    return cli_fail(z->path, "entry %d: truncated before its number of sums", number);
  if (count < 1 || (size_t)count > (from->size - from->at) / 4)
    return cli_fail(z->path, "entry %d: %d sums do not fit the file", number, count);
  float *sums = cli_columns_add(z, name, (size_t)length, (size_t)count);
  if (!sums) return CLI_BAD;
  for (int32_t i = 0; i < count; i++) {
    float sum = take_float(from);
    sums[i] = calls > 0 ? sum / (float)calls : sum;
  }
  return CLI_OK;
}

int cli_importances_earlier(cli_importances *z, const uint8_t *bytes, size_t size) {
  cursor from = {bytes, 0, size};
  int32_t entries;
  int code = CLI_OK;
  if (!take(&entries, &from) || entries < 1)
    return cli_fail(z->path, "no importance matrix: neither .npy, .safetensors, GGUF, nor entries of llama.cpp's");
  for (int32_t i = 1; i <= entries && code == CLI_OK; i++) code = read_entry(z, &from, i);
  return code;
}

/* ---- an array ---- */

int cli_importances_array(cli_importances *z) {
  cli_array array;
  if (cli_array_load(&array, z->path)) return CLI_BAD;
  int code = cli_array_in_rows(&array);
  float *numbers = code == CLI_OK ? cli_columns_add(z, NULL, 0, array.info.count) : NULL;
  cli_source source = cli_values_source(&array);
  for (size_t i = 0; numbers && i < array.info.count; i++) {
    double x;
    cli_source_read(&source, &x, i, 1);
    numbers[i] = (float)x;
  }
  cli_array_free(&array);
  return numbers ? CLI_OK : CLI_BAD;
}

/* ---- the list ---- */

static int by_name(const void *a, const void *b) {
  const cli_columns *x = a, *y = b;
  return strcmp(x->name ? x->name : "", y->name ? y->name : "");
}

static int check(const cli_importances *z) {
  char shown[CLI_SHOWN_MAX];
  for (size_t i = 0; i < z->count; i++) {
    const cli_columns *columns = &z->list[i];
    const char *name = cli_shown(shown, columns->name ? columns->name : "the array");
    if (i && columns->name && !strcmp(columns->name, z->list[i - 1].name))
      return cli_fail(z->path, "'%s' is there twice", name);
    for (size_t k = 0; k < columns->count; k++)
      if (!(columns->numbers[k] >= 0) || isinf(columns->numbers[k]))
        return cli_fail(z->path, "'%s': number %zu is %g; importance is finite and from 0 up", name, k,
                        (double)columns->numbers[k]);
  }
  return CLI_OK;
}

int cli_importances_end(cli_importances *z) {
  if (z->count) qsort(z->list, z->count, sizeof *z->list, by_name);
  return check(z);
}

const cli_columns *cli_importances_of(const cli_importances *from, const char *tensor) {
  cli_columns asked = {(char *)(uintptr_t)tensor, NULL, 0};
  if (from->count == 1 && !from->list[0].name) return &from->list[0];
  return from->count ? bsearch(&asked, from->list, from->count, sizeof asked, by_name) : NULL;
}
