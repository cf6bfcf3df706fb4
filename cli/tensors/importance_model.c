/* SPDX-License-Identifier: MIT */
/* Reads how important columns are from .safetensors and GGUF: see importance.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/tensors/array.h"
#include "cli/tensors/importance.h"
#include "files/gguf.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/scalar.h"

#define SUMS ".in_sum2"
#define COUNTS ".counts"

static float float_at(const uint8_t *bytes, size_t i) {
  uint32_t bits = 0;
  float z;
  for (unsigned k = 0; k < 4; k++) bits |= (uint32_t)bytes[4 * i + k] << 8 * k;
  memcpy(&z, &bits, sizeof z);
  return z;
}

/* ---- .safetensors ---- */

static float number_at(const st_tensor *tensor, const uint8_t *bytes, size_t i) {
  uint32_t half = tensor->dtype == ST_F32 ? 0 : bytes[2 * i] | (uint32_t)bytes[2 * i + 1] << 8;
  if (tensor->dtype == ST_F32) return float_at(bytes, i);
  return hu_decode(tensor->dtype == ST_F16 ? hu_binary16() : hu_bfloat16(), half);
}

static int add_tensor(cli_importances *z, const st_tensor *tensor, const uint8_t *bytes) {
  char shown[ST_NAME_MAX];
  if (tensor->dtype != ST_F32 && tensor->dtype != ST_F16 && tensor->dtype != ST_BF16)
    return cli_fail(z->path, "tensor '%s' is %s; importance is F32, F16 or BF16", st_printable(shown, tensor->name),
                    st_dtype_name(tensor->dtype));
  float *numbers = cli_columns_add(z, tensor->name, strlen(tensor->name), tensor->count);
  for (size_t i = 0; numbers && i < tensor->count; i++) numbers[i] = number_at(tensor, bytes, i);
  return numbers ? CLI_OK : CLI_BAD;
}

int cli_importances_safetensors(cli_importances *z) {
  char error[ST_ERROR_MAX];
  cli_bytes bytes;
  st_file file;
  if (cli_bytes_read(&bytes, z->path)) return CLI_BAD;
  int code = CLI_OK;
  if (st_parse(&file, bytes.data, bytes.size, error)) {
    for (size_t i = 0; i < file.count && code == CLI_OK; i++)
      code = add_tensor(z, &file.tensors[i], bytes.data + file.data + file.tensors[i].begin);
    st_free(&file);
  } else {
    code = cli_fail(z->path, "not a .safetensors file: %s", error);
  }
  cli_bytes_free(&bytes);
  return code;
}

/* ---- GGUF ---- */

/* Finds NAME.counts; names is the file's list by names. */
static const gguf_tensor *counts_of(const gguf_file *file, const st_file *names, const char *sums, size_t length) {
  char name[GGUF_NAME_MAX + sizeof COUNTS];
  snprintf(name, sizeof name, "%.*s" COUNTS, (int)length, sums);
  const st_tensor *found = st_find(names, name);
  return found ? &file->tensors[found - names->tensors] : NULL;
}

/* Adds the means of one tensor; each count is of an equal part of the sums. */
static int add_means(cli_importances *z, const gguf_file *file, const st_file *names, const uint8_t *data,
                     const gguf_tensor *sums) {
  char shown[ST_NAME_MAX];
  size_t length = strlen(sums->name) - strlen(SUMS);
  const gguf_tensor *counts = counts_of(file, names, sums->name, length);
  st_printable(shown, sums->name);
  if (!counts) return cli_fail(z->path, "tensor '%s': there is no %.*s" COUNTS, shown, (int)length, sums->name);
  if (sums->type->id != GGUF_F32 || counts->type->id != GGUF_F32)
    return cli_fail(z->path, "tensor '%s': it and its counts are %s and %s, not F32", shown, sums->type->name,
                    counts->type->name);
  if (!counts->count || sums->count % counts->count)
    return cli_fail(z->path, "tensor '%s': %zu sums do not go with %zu counts", shown, sums->count, counts->count);
  float *numbers = cli_columns_add(z, sums->name, length, sums->count);
  if (!numbers) return CLI_BAD;
  for (size_t i = 0; i < sums->count; i++) {
    float count = roundf(float_at(data + counts->begin, i / (sums->count / counts->count)));
    numbers[i] = count > 0 ? float_at(data + sums->begin, i) / count : 1;
  }
  return CLI_OK;
}

int cli_importances_gguf(cli_importances *z, const uint8_t *bytes, size_t size) {
  char error[ST_ERROR_MAX];
  gguf_file file;
  st_file names = {0};
  if (!gguf_parse(&file, bytes, size, error)) return cli_fail(z->path, "not a GGUF file: %s", error);
  int code = gguf_as_tensors(&names, &file) ? CLI_OK : cli_fail(z->path, "out of memory");
  for (size_t i = 0; i < file.count && code == CLI_OK; i++)
    if (cli_ends(file.tensors[i].name, SUMS)) code = add_means(z, &file, &names, bytes + file.data, &file.tensors[i]);
  st_free(&names);
  gguf_free(&file);
  if (code == CLI_OK && !z->count) code = cli_fail(z->path, "no importance matrix: no tensor NAME" SUMS);
  return code;
}
