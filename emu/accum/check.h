/* SPDX-License-Identifier: MIT */
/* emu/accum/check.h - checks the arguments of hu_dot; the CPU and the CUDA calls share it. */
#ifndef HALFULP_EMU_ACCUM_CHECK_H
#define HALFULP_EMU_ACCUM_CHECK_H

#include "emu/base/codes.h"
#include "halfulp/accum.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hu_dot_plan; /* emu/core/dot.h */

/* hu_dot's errors but HU_E_CODE; HU_OK: *plan is made. Nothing here looks at what a pointer points to. */
hu_status hui_dot_plan_make(struct hu_dot_plan *plan, const hu_product *x, hu_mode mode, const hu_exec *exec);
/* What such a call reads codes from, in at most HU_DOT_OPERANDS areas, whose number is returned. */
enum { HU_DOT_OPERANDS = 5 };
size_t hui_dot_areas(hu_code_area area[HU_DOT_OPERANDS], const hu_product *x);
/* hui_dot_plan_make for operands that can be read here, and HU_E_CODE. */
hu_status hui_dot_plan_read(struct hu_dot_plan *plan, const hu_product *x, hu_mode mode, const hu_exec *exec);
/* Does the same for calls of one dot product: HU_E_SHAPE for another number. */
hu_status hui_dot_plan_one(struct hu_dot_plan *plan, const hu_product *x, hu_mode mode, const hu_exec *exec);

#ifdef __cplusplus
}
#endif
#endif
