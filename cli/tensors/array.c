/* SPDX-License-Identifier: MIT */
/* Arrays: see array.h. */
#include "cli/tensors/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/cli.h"
#include "cli/base/numbers.h"
#include "cli/tensors/foreign.h"
#include "cli/tensors/integers.h"
#include "halfulp/formats/ieee.h"

void cli_copy_swapped(uint8_t *z, const uint8_t *x, size_t n, unsigned size) {
  for (size_t i = 0; i < n; i++, z += size, x += size)
    for (unsigned j = 0; j < (size + 1) / 2; j++) {
      uint8_t low = x[j], high = x[size - 1 - j];
      z[j] = high;
      z[size - 1 - j] = low;
    }
}

/* Says of a file that is no .npy file at all what is read. */
static int fail_npy(const cli_array *array, const char *error) {
  const cli_bytes *bytes = &array->bytes;
  if (bytes->size >= 6 && !memcmp(bytes->data, "\x93NUMPY", 6)) return cli_fail(array->name, "%s", error);
  const char *foreign = cli_foreign(array->name, bytes->data, bytes->size);
  return cli_fail(array->name, "%s; %s", error, foreign ? foreign : ".npy, .safetensors and .gguf files are read");
}

int cli_array_is_codes(const cli_array *x) { return x->info.kind == 'u' && x->info.size <= 4; }

const char *cli_index_text(char text[CLI_INDEX_MAX], const npy_info *info, size_t i) {
  size_t index[NPY_DIMS_MAX], at = 1;
  for (uint32_t k = 0; k < info->dims; k++) {
    uint32_t axis = info->fortran ? k : info->dims - 1 - k;
    index[axis] = i % info->shape[axis];
    i /= info->shape[axis];
  }
  strcpy(text, "[");
  for (uint32_t axis = 0; axis < info->dims; axis++)
    at += (size_t)snprintf(text + at, CLI_INDEX_MAX - at, "%s%zu", axis ? ", " : "", index[axis]);
  snprintf(text + at, CLI_INDEX_MAX - at, "]");
  return text;
}

/* Checks that each byte of bool is 0 or 1. */
static int check_bool(const cli_array *array, const uint8_t *data) {
  char index[CLI_INDEX_MAX];
  for (size_t i = 0; i < array->info.count && array->info.kind == 'b'; i++)
    if (data[i] > 1)
      return cli_fail(array->name, "holds 0x%02X at %.80s, which is neither false nor true", data[i],
                      cli_index_text(index, &array->info, i));
  return CLI_OK;
}

typedef int read_file(cli_bytes *bytes, const char *path);
typedef int parse_file(npy_info *info, const uint8_t *bytes, size_t size, char error[NPY_ERROR_MAX]);

static int load(cli_array *array, const char *path, read_file *read, parse_file *parse) {
  char error[NPY_ERROR_MAX];
  memset(array, 0, sizeof *array);
  array->name = strcmp(path, "-") ? path : "standard input";
  if (read(&array->bytes, path)) return CLI_BAD;
  if (!parse(&array->info, array->bytes.data, array->bytes.size, error)) {
    int status = fail_npy(array, error);
    cli_bytes_free(&array->bytes);
    return status;
  }
  const uint8_t *data = array->bytes.data + array->info.offset;
  unsigned size = array->info.size;
  if (check_bool(array, data)) {
    cli_bytes_free(&array->bytes);
    return CLI_BAD;
  }
  int swapped = size > 1 && array->info.big != CLI_HOST_BIG;
  array->data = data;
  if (!swapped && (uintptr_t)data % size == 0) return CLI_OK;
  array->copy = cli_alloc(array->info.count, size);
  if (!array->copy) {
    cli_bytes_free(&array->bytes);
    return CLI_BAD;
  }
  if (swapped)
    cli_copy_swapped(array->copy, data, array->info.count, size);
  else
    memcpy(array->copy, data, array->info.count * size);
  array->data = array->copy;
  return CLI_OK;
}

int cli_array_load(cli_array *array, const char *path) { return load(array, path, cli_bytes_read, npy_parse); }

int cli_array_load_codes(cli_array *array, const char *path) {
  return load(array, path, cli_bytes_read, npy_parse_codes);
}

int cli_array_load_own(cli_array *array, const char *path) { return load(array, path, cli_own_read, npy_parse); }

void cli_array_free(cli_array *array) {
  cli_bytes_free(&array->bytes);
  free(array->copy);
  array->copy = NULL;
}

/* A file's bytes: its header, and its data, in a copy where this machine has another byte order. */
typedef struct image {
  char header[NPY_HEADER_ROOM];
  void *copy;
  cli_piece pieces[2];
} image;

static int make_image(image *file, const npy_info *info, const void *data) {
  size_t length = npy_header(file->header, info);
  file->copy = NULL;
  if (CLI_HOST_BIG && info->size > 1) {
    file->copy = cli_alloc(info->count, info->size);
    if (!file->copy) return CLI_BAD;
    cli_copy_swapped(file->copy, data, info->count, info->size);
  }
  file->pieces[0] = (cli_piece){file->header, length};
  file->pieces[1] = (cli_piece){file->copy ? file->copy : data, info->count * info->size};
  return CLI_OK;
}

int cli_array_save(const char *path, const npy_info *info, const void *data) {
  image file;
  if (make_image(&file, info, data)) return CLI_BAD;
  int status = cli_file_write(path, file.pieces, 2);
  free(file.copy);
  return status;
}

int cli_array_save_values(const char *path, npy_info info, const void *codes, hu_format format) {
  info.kind = 'f';
  info.big = 0;
  info.size = hu_format_fits_binary32(format) ? 4 : 8;
  void *z = cli_alloc(info.count, info.size);
  if (!z) return CLI_BAD;
  hu_status status = info.size == 8 ? hu_decode64_n(info.count, z, 1, codes, 1, format, NULL)
                                    : hu_decode_n(info.count, z, 1, codes, 1, format, NULL);
  int code = status == HU_OK ? cli_array_save(path, &info, z) : cli_fail_status(path, status);
  free(z);
  return code;
}

int cli_arrays_save(const cli_array_file *files, size_t count) {
  image images[CLI_ARRAYS_MAX];
  cli_member members[CLI_ARRAYS_MAX] = {{NULL, NULL, 0}};
  size_t made = 0;
  int status = CLI_OK;
  for (; made < count && status == CLI_OK; made++) {
    status = make_image(&images[made], &files[made].info, files[made].data);
    members[made] = (cli_member){files[made].path, images[made].pieces, 2};
  }
  if (status == CLI_OK) status = cli_set_write(members, count);
  for (size_t i = 0; i < made; i++) free(images[i].copy);
  return status;
}

static size_t c_place(const npy_info *info, size_t at) {
  size_t place = 0, step[NPY_DIMS_MAX], n = 1;
  for (uint32_t i = info->dims; i-- > 0; n *= info->shape[i]) step[i] = n;
  for (uint32_t i = 0; i < info->dims; i++) {
    place += at % info->shape[i] * step[i];
    at /= info->shape[i];
  }
  return place;
}

int cli_array_in_rows(cli_array *array) {
  npy_info *info = &array->info;
  if (!info->fortran) return CLI_OK;
  uint8_t *z = cli_alloc(info->count, info->size);
  const uint8_t *x = array->data;
  if (!z) return CLI_BAD;
  for (size_t i = 0; i < info->count; i++) memcpy(z + c_place(info, i) * info->size, x + i * info->size, info->size);
  free(array->copy);
  array->data = array->copy = z;
  info->fortran = 0;
  return CLI_OK;
}

int cli_rows_in_order(const void **z, void **copy, const npy_info *info, const void *x) {
  *z = x;
  *copy = NULL;
  if (!info->fortran) return CLI_OK;
  uint8_t *to = *copy = cli_alloc(info->count, info->size);
  const uint8_t *from = x;
  if (!to) return CLI_BAD;
  for (size_t i = 0; i < info->count; i++)
    memcpy(to + i * info->size, from + c_place(info, i) * info->size, info->size);
  *z = to;
  return CLI_OK;
}

cli_source cli_floats_source(const void *data, unsigned size) {
  cli_source source = {data, {0}, size, 'f'};
  return source;
}

cli_source cli_codes_source(const void *data, hu_format format) {
  cli_source source = {data, format, hu_limits_of(format).storage / 8, 'c'};
  return source;
}

cli_source cli_values_source(const cli_array *array) {
  const npy_info *info = &array->info;
  if (info->kind != 'f') return (cli_source){array->data, {0}, info->size, info->kind == 'i' ? 'i' : 'u'};
  if (info->size == 2) return cli_codes_source(array->data, hu_binary16());
  return cli_floats_source(array->data, info->size);
}

cli_source cli_array_source(const cli_array *array, hu_format format) {
  return cli_array_is_codes(array) ? cli_codes_source(array->data, format) : cli_values_source(array);
}

void cli_source_read(const cli_source *source, double *z, size_t first, size_t n) {
  const uint8_t *data = (const uint8_t *)source->data + first * source->size;
  if (source->kind == 'u' || source->kind == 'i') {
    for (size_t i = 0; i < n; i++) z[i] = cli_integer_value(source, first + i);
  } else if (source->kind == 'c') {
    /* Cannot fail: the format has been checked and binary64 holds every grid. */
    if (hu_decode64_n(n, z, 1, data, 1, source->format, NULL) != HU_OK) memset(z, 0xFF, n * sizeof *z);
  } else if (source->size == sizeof *z) {
    memcpy(z, data, n * sizeof *z);
  } else {
    const float *x = (const float *)(const void *)data;
    for (size_t i = 0; i < n; i++) z[i] = x[i];
  }
}

/* long double: where it has more exponents than double, squares neither overflow nor vanish. */
typedef struct sums {
  long double signal, noise;
} sums;

static sums measure_block(cli_errors *errors, const double *x, const double *y, size_t first, size_t n) {
  sums total = {0, 0};
  for (size_t i = 0; i < n; i++) {
    errors->zeros += y[i] == 0;
    if (!isfinite(x[i]) || !isfinite(y[i])) {
      errors->changed += !(x[i] == y[i] || (isnan(x[i]) && isnan(y[i])));
      continue;
    }
    double error = y[i] - x[i], size = fabs(error);
    errors->finite++;
    errors->nonzero += x[i] != 0;
    errors->changed += x[i] != y[i];
    total.signal += (long double)x[i] * x[i];
    total.noise += (long double)error * error;
    if (size > errors->max_abs) {
      errors->max_abs = size;
      errors->worst = first + i;
    }
  }
  return total;
}

void cli_measure(cli_errors *errors, const cli_source *x, const cli_source *y, size_t count) {
  double a[CLI_BLOCK], b[CLI_BLOCK];
  sums total = {0, 0};
  memset(errors, 0, sizeof *errors);
  errors->count = count;
  for (size_t i = 0; i < count; i += CLI_BLOCK) {
    size_t n = count - i < CLI_BLOCK ? count - i : CLI_BLOCK;
    cli_source_read(x, a, i, n);
    cli_source_read(y, b, i, n);
    sums part = measure_block(errors, a, b, i, n);
    total.signal += part.signal;
    total.noise += part.noise;
  }
  errors->rms = errors->finite ? (double)sqrtl(total.noise / (long double)errors->finite) : 0;
  errors->sqnr = total.noise > 0 ? (double)(10 * log10l(total.signal / total.noise)) : HUGE_VAL;
}

const char *cli_no_sqnr(const cli_errors *errors) {
  return errors->max_abs > 0 ? "out of range" : errors->changed ? "-" : "no error";
}

void cli_print_errors(FILE *out, const char *indent, const cli_errors *errors) {
  fprintf(out, "%smax abs error  %s", indent, ROUNDED(errors->max_abs, 9));
  if (errors->max_abs > 0) fprintf(out, " (element %zu)", errors->worst);
  fprintf(out, "\n%srms error      %s\n", indent, ROUNDED(errors->rms, 9));
  if (isfinite(errors->sqnr))
    fprintf(out, "%sSQNR           %.2f dB\n", indent, errors->sqnr);
  else
    fprintf(out, "%sSQNR           %s\n", indent, cli_no_sqnr(errors));
  fprintf(out, "%szeros          %zu of %zu (%.2f %%)\n", indent, errors->zeros, errors->count,
          errors->count ? 100.0 * (double)errors->zeros / (double)errors->count : 0.0);
  if (errors->finite < errors->count)
    fprintf(out, "%sleft out       %zu elements that are not finite before or after\n", indent,
            errors->count - errors->finite);
}

static void print_errors(FILE *out, const cli_value *value) {
  const cli_errors *errors = value->record;
  cli_json(out, "{'count': ?, 'finite': ?, 'zeros': ?, 'changed': ?, 'max_abs': ?, 'worst': ?, 'rms': ?, 'sqnr_db': ?}",
           JSON(errors->count), JSON(errors->finite), JSON(errors->zeros), JSON(errors->changed), JSON(errors->max_abs),
           JSON(errors->worst), JSON(errors->rms), JSON(errors->sqnr));
}

cli_value cli_errors_value(const cli_errors *errors) { return (cli_value){.print = print_errors, .record = errors}; }

hu_status cli_encode_source(void *codes, const cli_source *x, size_t n, hu_format format, hu_mode mode,
                            const hu_exec *exec, hu_events *events) {
  if (x->kind == 'u' || x->kind == 'i') return cli_integers_encode(codes, x, n, format, mode, exec, events);
  if (x->kind == 'c') return hu_convert_n(n, codes, 1, format, x->data, 1, x->format, mode, exec, events);
  if (x->size == 4) return hu_encode_n(n, codes, 1, x->data, 1, format, mode, exec, events);
  return hu_encode64_n(n, codes, 1, x->data, 1, format, mode, exec, events);
}
