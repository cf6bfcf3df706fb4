/* SPDX-License-Identifier: MIT */
/* cli/target/ggml.h - the blocks of ggml whose scales are searched for: Q2_K to Q6_K, IQ4_NL and IQ4_XS; and with an
 * importance matrix Q4_0 to Q5_1. */
#ifndef HALFULP_CLI_TARGET_GGML_H
#define HALFULP_CLI_TARGET_GGML_H

#include <stddef.h>
#include <stdint.h>

/* A block: codes, the binary16 codes of its scale and of its minimum, or the scale of its minima, and scales and minima
 * of groups of 16 or 32 numbers as they are stored (Q6_K: in two's complement). Types of 32 numbers have no groups. */
typedef struct cli_ggml_block {
  uint8_t codes[256], scales[16], mins[16];
  uint16_t scale, dmin;
} cli_ggml_block;

/* Does to the numbers of one block, which are finite, what ggml's quantizer does. type: that of GGUF. importance: of
 * the block's columns, finite and from 0 up, with the mean of the squares of its row; NULL: no importance matrix. */
void cli_ggml_search(cli_ggml_block *block, uint32_t type, const float *x, const float *importance, float mean);
float cli_ggml_mean(const float *row, size_t n);

/* The 16 numbers of IQ4_NL and IQ4_XS. */
extern const int8_t cli_ggml_uneven[16];

#endif
