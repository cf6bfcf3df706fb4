/* SPDX-License-Identifier: MIT */
/* One tensor of a .safetensors file, for a command that reads floats: see quantize.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/quantize/tensors.h"
#include "cli/tensors/quantized.h"

/* Finds the only tensor of floats that scales no other one. NULL after an error line. */
static const st_tensor *only_of(const tensors_input *in, const quantized *already) {
  const st_tensor *found = NULL;
  char first[ST_NAME_MAX], second[ST_NAME_MAX];
  for (size_t i = 0; i < in->file.count; i++) {
    const st_tensor *tensor = &in->file.tensors[i];
    if (!tensors_is_float(tensor->dtype) || already->what[i]) continue;
    if (found) {
      cli_fail(in->name, "several tensors, '%s' and '%s' among them; choose one by --tensor NAME",
               st_printable(first, found->name), st_printable(second, tensor->name));
      return NULL;
    }
    found = tensor;
  }
  if (!found) cli_fail(in->name, "no tensor of F64, F32, F16 or BF16 that scales no other; name one by --tensor NAME");
  return found;
}

static const st_tensor *only_one(const tensors_input *in) {
  quantized already;
  const st_tensor *found = NULL;
  if (quantized_read(&already, &in->file, in->gguf, in->model != NULL, NULL))
    found = only_of(in, &already);
  else
    cli_fail(in->name, "out of memory");
  quantized_free(&already);
  return found;
}

static const st_tensor *chosen(const tensors_input *in, const char *name) {
  char shown[ST_NAME_MAX];
  if (!name) return only_one(in);
  const st_tensor *tensor = st_find(&in->file, name);
  if (tensor && tensors_has_numbers(in, tensor)) return tensor;
  if (tensor)
    cli_fail(in->name, "the tensor '%s' is %s, not F64, F32, F16, BF16, an integer or BOOL", st_printable(shown, name),
             tensors_type_name(in, tensor));
  else
    cli_fail(in->name, "no tensor is named '%s'", st_printable(shown, name));
  return NULL;
}

int cli_tensor_use(const char *path, const char *name, cli_floats_use *use, void *state) {
  tensors_input in;
  void *owned = NULL;
  int status = CLI_BAD;
  if (tensors_open(&in, path, TENSORS_AUTO)) return CLI_BAD;
  int file = cli_ends(path, ".safetensors") || in.gguf;
  if (in.model && name && !st_find(&in.file, name) && file) { /* a scale, say */
    tensors_close(&in);
    if (tensors_open(&in, path, NULL)) return CLI_BAD;
  }
  const st_tensor *tensor = chosen(&in, name);
  const void *data = tensor ? tensors_aligned(&owned, &in, tensor) : NULL;
  if (data) {
    const cli_source source = tensors_source(tensor->dtype, data);
    size_t rows, cols;
    cli_matrix(&rows, &cols, tensor->dims, tensor->shape);
    status = tensors_check_bool(&in, tensor) ? CLI_BAD : use(state, &source, rows, cols);
  }
  free(owned);
  tensors_close(&in);
  return status;
}
