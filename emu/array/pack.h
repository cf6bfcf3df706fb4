/* SPDX-License-Identifier: MIT */
/* emu/array/pack.h - packs codes without a look at their upper bits; calls that have looked share it. */
#ifndef HALFULP_EMU_ARRAY_PACK_H
#define HALFULP_EMU_ARRAY_PACK_H

#include <stddef.h>
#include <stdint.h>

/* hu_pack_n with arguments that have been checked: of every code the lowest `width` bits. */
void hui_pack_run(size_t n, uint8_t *z, const uint8_t *x, unsigned width);

#endif
