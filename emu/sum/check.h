/* SPDX-License-Identifier: MIT */
/* emu/sum/check.h - checks the arguments of the calls on sums, for the CPU and the CUDA calls alike. Nothing here looks
 * at what a pointer points to. Views have gone through hui_codes_type. */
#ifndef HALFULP_EMU_SUM_CHECK_H
#define HALFULP_EMU_SUM_CHECK_H

#include "halfulp/sum.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the errors of hu_sum_add_n (one operand) and hu_sum_add_product_n (two). */
hu_status hui_sum_check_add(size_t n, const uint64_t *sums, hu_sum_range range, const hu_view *x, int operands);
/* Returns the errors of hu_sum_merge_n. */
hu_status hui_sum_check_merge(size_t n, const uint64_t *sums, hu_sum_range range, const uint64_t *x);
/* Returns the errors of hu_sum_round_n. */
hu_status hui_sum_check_round(size_t n, const hu_output *z, const uint64_t *sums, hu_sum_range range, hu_mode mode);
/* Returns the errors of hu_sum_add_all (one operand) and hu_sum_add_dot (two). */
hu_status hui_sum_check_total(const hu_sum *sum, size_t n, const hu_view *x, int operands);

#ifdef __cplusplus
}
#endif
#endif
