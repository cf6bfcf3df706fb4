/* SPDX-License-Identifier: MIT */
/* cli/tensors/integers.h - arrays of integers and of bool as numbers: each is the integer it says, false 0 and true 1,
 * and is rounded once (IEEE 754-2019 5.4.1, convertFromInt). */
#ifndef HALFULP_CLI_TENSORS_INTEGERS_H
#define HALFULP_CLI_TENSORS_INTEGERS_H

#include "cli/tensors/array.h"

/* Returns integer number i of a source of kind 'i' or 'u': its magnitude, and 1 in *negative if it is below 0. */
uint64_t cli_integer_at(const cli_source *x, size_t i, int *negative);
/* Returns it as binary64. Integers of more than 53 digits are rounded TO ODD: toward zero, the last bit then set. What
 * binary64 rounds to a format of up to 51 digits is then what the integer rounds to, in every mode that draws no random
 * word (number.h of cli/base). */
double cli_integer_value(const cli_source *x, size_t i);
/* Returns the first of n integers that binary64 lacks; n: there is none. */
size_t cli_integer_beyond(const cli_source *x, size_t n);
/* Encodes integers in `format`, each rounded once in every mode. */
hu_status cli_integers_encode(void *codes, const cli_source *x, size_t n, hu_format format, hu_mode mode,
                              const hu_exec *exec, hu_events *events);
/* Returns all as binary64; to be freed. NULL after an error line. */
double *cli_integers_wide(const cli_source *x, size_t n);

#endif
