/* SPDX-License-Identifier: MIT */
/* tests/ptx/programs.h - the kernels of the program that runs. */
#ifndef HALFULP_TESTS_PTX_PROGRAMS_H
#define HALFULP_TESTS_PTX_PROGRAMS_H

#include "tests/ptx/warp.h"

/* The kernel that the program's own function of this address stands for, NULL if there is none. */
Function *kernel_of(const void *host);

/* Where the device has the variable that the program's own one of this address stands for, NULL if there is none. */
void *device_variable(const void *host);

std::string demangled(const std::string &name);

#endif
