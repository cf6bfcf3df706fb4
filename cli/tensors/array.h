/* SPDX-License-Identifier: MIT */
/* cli/tensors/array.h - .npy arrays in memory, and the numbers in any of them as binary64, a block at a time. */
#ifndef HALFULP_CLI_TENSORS_ARRAY_H
#define HALFULP_CLI_TENSORS_ARRAY_H

#include "cli/base/io.h"
#include "cli/base/json.h"
#include "files/npy.h"
#include "halfulp/array.h"
#include "halfulp/format.h"

enum { CLI_HOST_BIG = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };
/* Copies n elements with their bytes in the other order; z may be x. */
void cli_copy_swapped(uint8_t *z, const uint8_t *x, size_t n, unsigned size);

typedef struct cli_array {
  const char *name;
  npy_info info;
  const void *data; /* aligned, in this machine's byte order, in the order of the file */
  cli_bytes bytes;
  void *copy; /* what data points to where the file's own bytes would not do */
} cli_array;

/* Loads an array. Returns 0, or an exit code after an error line. */
int cli_array_load(cli_array *array, const char *path);
/* Loads one of codes (npy_parse_codes). */
int cli_array_load_codes(cli_array *array, const char *path);
/* Loads one from a file whose name halfulp chose (io.h). */
int cli_array_load_own(cli_array *array, const char *path);
void cli_array_free(cli_array *array);
/* Returns 1 if the array holds codes where a command takes values and codes: uint8, uint16, uint32. */
int cli_array_is_codes(const cli_array *x);
/* "[3, 0]": the place of element i in the file's order, counted as NumPy does. */
#define CLI_INDEX_MAX (NPY_DIMS_MAX * 22 + 4)
const char *cli_index_text(char text[CLI_INDEX_MAX], const npy_info *info, size_t i);
/* Brings the elements into rows (NumPy's C order), in a copy if they are not. Returns 0 or an exit code. */
int cli_array_in_rows(cli_array *array);
/* Brings x, in rows, into the order that info says: *z is x itself or a copy, which *copy is then, to be freed; else
 * *copy is NULL. */
int cli_rows_in_order(const void **z, void **copy, const npy_info *info, const void *x);
/* Writes an array in this machine's byte order as a little-endian file, by cli_file_write. */
int cli_array_save(const char *path, const npy_info *info, const void *data);
/* Writes the values of codes, as binary32 where it holds all of the format, else as binary64. info: of their places. */
int cli_array_save_values(const char *path, npy_info info, const void *codes, hu_format format);
/* Several, up to CLI_ARRAYS_MAX, by cli_set_write. */
typedef struct cli_array_file {
  const char *path;
  npy_info info;
  const void *data;
} cli_array_file;
enum { CLI_ARRAYS_MAX = 8 };
int cli_arrays_save(const cli_array_file *files, size_t count);

/* Numbers in memory: floats, doubles, codes of a format (float16 is codes of binary16), or integers. */
typedef struct cli_source {
  const void *data;
  hu_format format; /* of codes */
  unsigned size;    /* bytes of an element */
  char kind;        /* 'f': binary32 or binary64 by size; 'c': codes; 'i', 'u': integers of 1 to 8 bytes */
} cli_source;
enum { CLI_BLOCK = 4096 };
/* Reads elements first .. first + n - 1 as binary64, n <= CLI_BLOCK; integers as in integers.h. */
void cli_source_read(const cli_source *source, double *z, size_t first, size_t n);
/* Returns the values, whatever the dtype: floats, integers, bool. */
cli_source cli_values_source(const cli_array *array);
/* Returns the same where an array of uint8, uint16 or uint32 holds codes of `format`. */
cli_source cli_array_source(const cli_array *array, hu_format format);
cli_source cli_codes_source(const void *data, hu_format format);
cli_source cli_floats_source(const void *data, unsigned size);

/* How y differs from x. Errors are over the elements finite in both. */
typedef struct cli_errors {
  size_t count, finite, zeros; /* elements, finite in both, zeros of y */
  size_t nonzero;              /* finite elements of x that are not 0 */
  size_t changed;              /* elements of different value; NaN is equal to NaN, -0 to +0 */
  size_t worst;                /* index of the largest absolute error */
  double max_abs, rms, sqnr;   /* sqnr in dB, infinity if there is no error */
} cli_errors;
void cli_measure(cli_errors *errors, const cli_source *x, const cli_source *y, size_t count);
/* Says why there is no SQNR: "no error", "out of range", or "-" (nothing but what is not finite changed). */
const char *cli_no_sqnr(const cli_errors *errors);
void cli_print_errors(FILE *out, const char *indent, const cli_errors *errors);
cli_value cli_errors_value(const cli_errors *errors);

/* Rounds n floats, integers, or codes of another format, into codes of `format`, one rounding each, whatever their own
 * width. */
hu_status cli_encode_source(void *codes, const cli_source *x, size_t n, hu_format format, hu_mode mode,
                            const hu_exec *exec, hu_events *events);

#endif
