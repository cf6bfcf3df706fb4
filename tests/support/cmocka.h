/* SPDX-License-Identifier: MIT */
/* tests/support/cmocka.h - cmocka, with the headers that it asks for in this order. */
#ifndef HALFULP_TESTS_CMOCKA_H
#define HALFULP_TESTS_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
