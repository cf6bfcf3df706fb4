/* SPDX-License-Identifier: MIT */
/* cli/tensors/codes.h - what an array of codes may hold, and packed codes.
 *
 * A code of w bits in a wider element has zeros above them. Codes in two's complement (fixed point, MXINT8's kind) may
 * also repeat their sign there. Anything else is an error, for such arrays are packed codes most of the time, or codes
 * of another format. */
#ifndef HALFULP_CLI_TENSORS_CODES_H
#define HALFULP_CLI_TENSORS_CODES_H

#include "cli/tensors/array.h"

typedef struct cli_code_rule {
  unsigned width;   /* bits of a code; 0: any */
  int twos;         /* 1: two's complement */
  int can_unpack;   /* 1: the command has --packed, which the error line names */
  const char *name; /* of the format; NULL: it is not known */
} cli_code_rule;
cli_code_rule cli_code_rule_of(hu_format format, const char *name);

/* Returns the first of n codes in elements of `size` bytes that the rule refuses; n if it refuses no code. */
size_t cli_codes_wrong(const void *codes, unsigned size, size_t n, cli_code_rule rule);
/* Checks codes. Returns 0, or an exit code after an error line that names the file, the element and the code. */
int cli_codes_check(const char *file, const npy_info *info, const void *codes, cli_code_rule rule);

/* Puts an array's elements, brought into rows, into codes of a format: codes as they are, checked; values rounded, ties
 * to even, and those that were no values of the format added to *off_grid. 0, or an exit code after an error line. */
int cli_array_to_codes(void *codes, cli_array *x, hu_format format, size_t *off_grid);

/* Do --packed: an array of bytes with two codes of 4 bits in each, or four of 6 bits in three, becomes one with a code
 * to a byte, in rows. The order is hu_unpack_n's: the first code lies in the low bits. The last axis becomes 2 or 4/3
 * of what it was. 0, or an exit code after an error line. */
int cli_array_may_unpack(const cli_array *x, cli_code_rule rule); /* 1: bytes, of codes of 4 or 6 bits */
int cli_array_unpack(cli_array *x, cli_code_rule rule);
#define CLI_OPTION_PACKED(key) \
  { key, "packed", NULL, "uint8 files hold packed codes: two of 4 bits in a byte, or four of 6 bits in three" }

#endif
