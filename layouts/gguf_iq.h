/* SPDX-License-Identifier: MIT */
/* layouts/gguf_iq.h - the numbers of blocks of GGUF whose elements are entries of a grid (IQ1, IQ2, IQ3) or have three
 * values (TQ1, TQ2). */
#ifndef HALFULP_LAYOUTS_GGUF_IQ_H
#define HALFULP_LAYOUTS_GGUF_IQ_H

#include <stdint.h>

extern const uint16_t gguf_grid_iq2_xxs[256], gguf_grid_iq2_xs[512], gguf_grid_iq2_s[1024], gguf_grid_iq3_xxs[256],
    gguf_grid_iq3_s[512], gguf_grid_iq1_s[2048];

/* Writes the 256 numbers of a block of one of these types: 1, or 0: it is another type. */
int gguf_iq_block(float z[256], uint32_t type, const uint8_t *x);

#endif
