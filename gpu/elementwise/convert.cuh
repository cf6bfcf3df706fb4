/* SPDX-License-Identifier: MIT */
/* gpu/elementwise/convert.cuh - HU_OP_CONVERT on a device: one entrance, and what each file of kernels starts. */
#ifndef HALFULP_GPU_CONVERT_CUH
#define HALFULP_GPU_CONVERT_CUH

#include "emu/base/operation_check.h"
#include "halfulp/device.h"

/* Checks everything as the CPU does, in the same order, and starts what the types require. */
hu_status hui_device_convert(size_t n, const hu_output &z, const hu_view &x, const hu_how &how, void *stream);

/* What it starts. Types, formats, mode and memory have been checked; n is not 0. */
hu_status hui_encode32_launch(size_t n, const hu_output &z, const hu_view &x, const hu_how &how,
                              void *stream); /* float to codes, or to values in float */
hu_status hui_encode64_launch(size_t n, const hu_output &z, const hu_view &x, const hu_how &how,
                              void *stream); /* double to codes, or to values in double */
hu_status hui_decode_launch(size_t n, const hu_output &z, const hu_view &x,
                            void *stream); /* codes to float or double */
hu_status hui_recode_launch(size_t n, const hu_output &z, const hu_view &x, const hu_how &how,
                            void *stream); /* codes to codes */
/* All types that HU_OP_CONVERT takes, whose kinds alone have been checked: by one kernel, element by element. */
hu_status hui_number_launch(size_t n, const hu_output &z, const hu_view &x, const hu_how &how, void *stream);

#endif
