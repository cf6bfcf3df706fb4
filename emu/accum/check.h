/* SPDX-License-Identifier: MIT */
/* emu/accum/check.h - checks the arguments of hu_dot_n; the CPU and the CUDA calls share it. */
#ifndef HALFULP_EMU_ACCUM_CHECK_H
#define HALFULP_EMU_ACCUM_CHECK_H

#include "emu/base/codes.h"
#include "halfulp/accum.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hu_dot_plan; /* emu/core/dot.h */

/* hu_dot_n's errors but HU_E_CODE; HU_OK: *plan is made. Nothing here looks at what a pointer points to. */
hu_status hui_dot_plan_make(struct hu_dot_plan *plan, size_t count, size_t n, void *z, ptrdiff_t incz, hu_element ez,
                            const hu_dot_operands *x, const hu_accum *accum, hu_mode mode, const hu_exec *exec);
/* What such a call reads codes from, in at most HU_DOT_AREAS areas, whose number is returned. */
enum { HU_DOT_AREAS = 5 };
size_t hui_dot_areas(hu_code_area area[HU_DOT_AREAS], size_t count, size_t n, const hu_dot_operands *x,
                     const hu_accum *accum);
/* hui_dot_plan_make for operands that can be read here, and HU_E_CODE. */
hu_status hui_dot_plan_read(struct hu_dot_plan *plan, size_t count, size_t n, void *z, ptrdiff_t incz, hu_element ez,
                            const hu_dot_operands *x, const hu_accum *accum, hu_mode mode, const hu_exec *exec);

#ifdef __cplusplus
}
#endif
#endif
