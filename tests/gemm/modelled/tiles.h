/* SPDX-License-Identifier: MIT */
/* tests/gemm/modelled/tiles.h - the tiles of AMX in plain C, for immintrin.h beside this: as the Intel 64 and IA-32
 * Architectures Software Developer's Manual, volume 2, has the instructions (LDTILECFG, TILELOADD, TILESTORED,
 * TILEZERO, TILERELEASE, TDPBF16PS, TDPBSSD, TDPBUSD: "Operation"). What the processor refuses ends the program. */
#ifndef HALFULP_TESTS_GEMM_MODELLED_TILES_H
#define HALFULP_TESTS_GEMM_MODELLED_TILES_H

#include <stddef.h>

/* How many threads have tiles now, and how often tiles were set up. */
long model_tiles_in_use(void);
long model_tiles_set_up(void);

void model_load_config(const void *config);
void model_release(void);
void model_load_tile(int z, const void *base, ptrdiff_t stride);
void model_zero_tile(int z);
void model_store_tile(int x, void *base, ptrdiff_t stride);
void model_dpbf16ps(int z, int x, int y);
void model_dpbssd(int z, int x, int y);
void model_dpbusd(int z, int x, int y);

#define _tile_loadconfig(config) model_load_config(config)
#define _tile_release() model_release()
#define _tile_loadd(z, base, stride) model_load_tile(z, base, stride)
#define _tile_zero(z) model_zero_tile(z)
#define _tile_stored(x, base, stride) model_store_tile(x, base, stride)
#define _tile_dpbf16ps(z, x, y) model_dpbf16ps(z, x, y)
#define _tile_dpbssd(z, x, y) model_dpbssd(z, x, y)
#define _tile_dpbusd(z, x, y) model_dpbusd(z, x, y)

#endif
