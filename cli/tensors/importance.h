/* SPDX-License-Identifier: MIT */
/* cli/tensors/importance.h - files that say how important the columns of tensors are: --importance FILE.
 *
 *   .npy           the numbers of the one tensor there is
 *   .safetensors   floats under the names of the tensors that they are for
 *   GGUF           llama.cpp's imatrix: NAME.in_sum2, sums of squares, and NAME.counts, of how many; F32
 *   another        llama.cpp's imatrix of earlier versions: 32-bit numbers, little endian. The number of entries; of
 *                  each the length of its name, the name, calls, how many sums there are, and these as floats; what
 *                  stands behind is left out
 *
 * The importance of a column is sum / count, or sum / calls, one division of binary32; 1 where a count is 0 or less,
 * and the sum where there are no calls. All numbers must be finite and from 0 up. */
#ifndef HALFULP_CLI_TENSORS_IMPORTANCE_H
#define HALFULP_CLI_TENSORS_IMPORTANCE_H

#include <stddef.h>
#include <stdint.h>

typedef struct cli_columns {
  char *name; /* of the tensor; NULL: whichever there is */
  float *numbers;
  size_t count;
} cli_columns;
typedef struct cli_importances {
  const char *path;
  cli_columns *list; /* in the order of names */
  size_t count, capacity;
} cli_importances;

/* Returns what a list says of a tensor; NULL: nothing. Several threads may ask at a time. */
const cli_columns *cli_importances_of(const cli_importances *from, const char *tensor);
void cli_importances_free(cli_importances *z);

/* Read the file of z->path, of one kind each, into an empty list. Return 0, or an exit code after an error line; to be
 * freed in both cases. */
int cli_importances_array(cli_importances *z);
int cli_importances_earlier(cli_importances *z, const uint8_t *bytes, size_t size);
int cli_importances_safetensors(cli_importances *z);
int cli_importances_gguf(cli_importances *z, const uint8_t *bytes, size_t size);
/* Brings the list into its order, and checks its numbers. */
int cli_importances_end(cli_importances *z);
/* Adds `count` numbers, not set yet, under a name that is copied up to `length`. NULL after an error line. */
float *cli_columns_add(cli_importances *z, const char *name, size_t length, size_t count);

#endif
