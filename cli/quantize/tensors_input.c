/* SPDX-License-Identifier: MIT */
/* Reads .safetensors files, and names what is made of their tensors: see tensors.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/quantize/tensors.h"
#include "cli/tensors/foreign.h"
#include "halfulp/formats/fnuz.h"
#include "halfulp/formats/ieee.h"
#include "halfulp/formats/ocp.h"

static int open_file(tensors_input *in, const char *path) {
  char error[ST_ERROR_MAX];
  if (cli_bytes_read(&in->bytes, path)) return CLI_BAD;
  if (!st_parse(&in->file, in->bytes.data, in->bytes.size, error)) {
    const char *foreign = cli_foreign(in->name, in->bytes.data, in->bytes.size);
    int status =
        cli_fail(in->name, "not a .safetensors file: %s%s%s", error, foreign ? "; " : "", foreign ? foreign : "");
    cli_bytes_free(&in->bytes);
    return status;
  }
  in->data = in->bytes.data + in->file.data;
  return CLI_OK;
}

static int open_gguf(tensors_input *in, const char *path) {
  char error[ST_ERROR_MAX];
  if (cli_bytes_read(&in->bytes, path)) return CLI_BAD;
  const uint8_t *data = in->bytes.data;
  size_t size = in->bytes.size;
  int other = size < 4 || memcmp(data, "GGUF", 4) != 0;
  in->gguf = cli_alloc(1, sizeof *in->gguf);
  if (in->gguf && !gguf_parse(in->gguf, data, size, error)) {
    const char *foreign = other ? cli_foreign(in->name, data, size) : NULL;
    cli_fail(in->name, "not a GGUF file: %s%s%s", error, foreign ? "; " : "", foreign ? foreign : "");
  } else if (in->gguf) {
    in->data = data + in->gguf->data;
    if (gguf_as_tensors(&in->file, in->gguf)) return CLI_OK;
    cli_fail(in->name, "out of memory");
  }
  tensors_close(in);
  return CLI_BAD;
}

/* Reads the blocks of a .gguf file, where it has some, as values. */
static int open_blocks(tensors_input *in, const char *layout) {
  size_t blocks = 0;
  int good = 1;
  for (size_t i = 0; i < in->gguf->count && good; i++) {
    blocks += in->gguf->tensors[i].type->dtype < 0;
    good = st_place_set(&in->places, in->gguf->tensors[i].name, i);
  }
  int code = !good                         ? cli_fail(in->name, "out of memory")
             : blocks && !in->bytes.mapped ? cli_fail(in->name, "blocks are read in ordinary files alone")
             : blocks                      ? tensors_open_model(in, layout, 1)
                                           : CLI_OK;
  if (code != CLI_OK) tensors_close(in);
  return code;
}

int tensors_is_float(int dtype) { return dtype == ST_F64 || dtype == ST_F32 || dtype == ST_F16 || dtype == ST_BF16; }

/* Of an array and a tensor, by the size of an element: 1, 2, 4, 8 bytes. */
static const int signed_dtypes[] = {ST_I8, ST_I16, ST_I32, ST_I64};
static const int unsigned_dtypes[] = {ST_U8, ST_U16, ST_U32, ST_U64};
enum { WHOLES = sizeof signed_dtypes / sizeof signed_dtypes[0] };

static int is_signed(int dtype) {
  for (int i = 0; i < WHOLES; i++)
    if (dtype == signed_dtypes[i]) return 1;
  return 0;
}

int tensors_is_integer(int dtype) {
  for (int i = 0; i < WHOLES; i++)
    if (dtype == unsigned_dtypes[i]) return 1;
  return dtype == ST_BOOL || is_signed(dtype);
}

/* Returns the type of a tensor that is as a .gguf file stores it, else NULL. */
static const gguf_type *type_of(const tensors_input *in, const st_tensor *tensor) {
  return in->gguf && !in->model ? in->gguf->tensors[tensor - in->file.tensors].type : NULL;
}

const gguf_tensor *tensors_stored(const tensors_input *in, const char *name) {
  size_t place = st_place(in->places, name);
  return place == SIZE_MAX ? NULL : &in->gguf->tensors[place];
}

int tensors_has_numbers(const tensors_input *in, const st_tensor *tensor) {
  const gguf_type *type = type_of(in, tensor);
  int block = type && type->dtype < 0;
  return !block && (tensors_is_float(tensor->dtype) || tensors_is_integer(tensor->dtype));
}

const char *tensors_type_name(const tensors_input *in, const st_tensor *tensor) {
  const gguf_type *type = type_of(in, tensor);
  return type ? type->name : st_dtype_name(tensor->dtype);
}

int tensors_check_bool(const tensors_input *in, const st_tensor *tensor) {
  char shown[ST_NAME_MAX];
  const uint8_t *bytes = tensor->dtype == ST_BOOL ? tensors_bytes(in, tensor) : NULL;
  for (size_t i = 0; bytes && i < tensor->size; i++)
    if (bytes[i] > 1)
      return cli_fail(in->name, "tensor '%s': element %zu is 0x%02X, which is neither false nor true",
                      st_printable(shown, tensor->name), i, bytes[i]);
  return CLI_OK;
}

int tensors_value_dtype(const cli_target *target, int dtype) {
  return tensors_is_float(dtype) ? dtype : target->kind->fits(target, 4) ? ST_F32 : ST_F64;
}

static int dtype_of_array(const npy_info *info) {
  int place = info->size == 8 ? 3 : info->size == 4 ? 2 : info->size == 2;
  if (info->kind == 'f') return info->size == 2 ? ST_F16 : info->size == 4 ? ST_F32 : ST_F64;
  if (info->kind == 'b') return ST_BOOL;
  return (info->kind == 'i' ? signed_dtypes : unsigned_dtypes)[place];
}

/* Adds an array's one tensor. */
static int add_array(tensors_input *in, const char *path) {
  const npy_info *info = &in->array.info;
  char *name = cli_array_tensor(path);
  if (name && !strcmp(name, ST_METADATA)) {
    free(name);
    return cli_fail(in->name, "no tensor can be named '%s'; give the array another name", ST_METADATA);
  }
  int good = name && st_add(&in->file, name, dtype_of_array(info), info->dims, info->shape);
  free(name);
  return good ? CLI_OK : cli_fail(in->name, "a side beyond 2^63 - 1, or out of memory");
}

static int open_array(tensors_input *in, const char *path) {
  if (cli_array_load(&in->array, path)) return CLI_BAD;
  if (cli_array_in_rows(&in->array) || add_array(in, path)) {
    st_free(&in->file);
    cli_array_free(&in->array);
    return CLI_BAD;
  }
  in->data = in->array.data;
  return CLI_OK;
}

int tensors_open(tensors_input *in, const char *path, const char *layout) {
  memset(in, 0, sizeof *in);
  in->name = strcmp(path, "-") ? path : "standard input";
  in->path = path;
  if (cli_ends(path, ".gguf")) return open_gguf(in, path) || (layout && open_blocks(in, layout)) ? CLI_BAD : CLI_OK;
  in->is_array = !cli_is_model(path);
  if (in->is_array && layout && strcmp(layout, TENSORS_AUTO) != 0)
    return cli_fail(in->name, "--layout goes with models and folders of them");
  if (in->is_array) return open_array(in, path);
  int file = cli_ends(path, ".safetensors");
  if (file && open_file(in, path)) return CLI_BAD;
  if (tensors_open_model(in, layout, !file) == CLI_OK) return CLI_OK;
  tensors_close(in);
  return CLI_BAD;
}

void tensors_close(tensors_input *in) {
  st_free(&in->file);
  tensors_close_model(in);
  if (in->gguf) gguf_free(in->gguf);
  free(in->gguf);
  st_places_free(&in->places);
  if (in->is_array)
    cli_array_free(&in->array);
  else
    cli_bytes_free(&in->bytes);
}

int tensors_open_for_info(tensors_input *in, const char *path, const char *layout) {
  memset(in, 0, sizeof *in);
  in->name = in->path = path;
  if (tensors_open_model(in, layout, 1) == CLI_OK) return CLI_OK;
  tensors_close(in);
  return CLI_BAD;
}

cli_source tensors_source(int dtype, const void *data) {
  if (tensors_is_integer(dtype)) {
    cli_source integers = {data, {0}, st_dtype_bits(dtype) / 8, is_signed(dtype) ? 'i' : 'u'};
    return integers;
  }
  if (dtype == ST_F16) return cli_codes_source(data, hu_binary16());
  if (dtype == ST_BF16) return cli_codes_source(data, hu_bfloat16());
  return cli_floats_source(data, dtype == ST_F64 ? 8 : 4);
}

/* Returns the values of a tensor of a model, in new memory. NULL after an error line. */
static const void *computed(void **owned, const tensors_input *in, const st_tensor *tensor) {
  *owned = cli_alloc(tensor->count, sizeof(float));
  if (!*owned || tensors_read_values(*owned, in, tensor, 0, tensor->count) == CLI_OK) return *owned;
  free(*owned);
  return *owned = NULL;
}

const void *tensors_aligned(void **owned, const tensors_input *in, const st_tensor *tensor) {
  const uint8_t *data = tensors_bytes(in, tensor);
  if (!data) return computed(owned, in, tensor);
  unsigned size = st_dtype_bits(tensor->dtype) / 8;
  int swapped = CLI_HOST_BIG && !in->is_array && size > 1;
  *owned = NULL;
  if (!swapped && (uintptr_t)data % size == 0) return data;
  *owned = cli_alloc(tensor->count, size);
  if (*owned && swapped) cli_copy_swapped(*owned, data, tensor->count, size);
  if (*owned && !swapped) memcpy(*owned, data, tensor->size);
  return *owned;
}

int tensors_native(const cli_target *target) {
  const struct {
    hu_format format;
    int dtype;
  } natives[] = {{hu_float8_e4m3fn(), ST_F8_E4M3},
                 {hu_float8_e5m2(), ST_F8_E5M2},
                 {hu_float8_e4m3fnuz(), ST_F8_E4M3FNUZ},
                 {hu_float8_e5m2fnuz(), ST_F8_E5M2FNUZ},
                 {hu_float8_e8m0fnu(), ST_F8_E8M0},
                 {hu_binary16(), ST_F16},
                 {hu_bfloat16(), ST_BF16},
                 {hu_binary32(), ST_F32}};
  if (target->kind != &cli_kind_format) return -1;
  for (size_t i = 0; i < sizeof natives / sizeof natives[0]; i++)
    if (hu_format_equal(target->format, natives[i].format)) return natives[i].dtype;
  return -1;
}

static char *joined(const char *a, const char *dot, const char *b) {
  size_t capacity = strlen(a) + strlen(dot) + strlen(b) + 1;
  char *z = cli_alloc(capacity, 1);
  if (z) snprintf(z, capacity, "%s%s%s", a, dot, b);
  return z;
}

char *tensors_name(const char *name, const char *suffix) { return joined(name, ".", suffix); }
char *tensors_key(const char *name) { return joined("halfulp", ".", name); }

int tensors_layout(st_file *plan, const char *out) {
  char shown[ST_NAME_MAX];
  const char *name = st_layout(plan);
  if (!name) return CLI_OK;
  if (!strcmp(name, ST_METADATA)) return cli_fail(out, "no tensor can be named '%s'", name);
  return cli_fail(out, "two tensors would be named '%s'", st_printable(shown, name));
}
