/* SPDX-License-Identifier: MIT */
/* The texts of one_lane.h that stand for the hooks in the theorems. Sums, products and quotients of floats are the
 * solver's there; test_hooks.c has the core's in their place, and these here are not called. */
#include <string.h>

#define PROOF_DEVICE 0
#include "one_lane.h"
#define HU_HOLD(v) (v)

#define PLAIN_FLOAT(name) \
  uint32_t name(uint32_t a, uint32_t b) { return a ^ b; }
PLAIN_FLOAT(float_add_rne)
PLAIN_FLOAT(float_add_rtn)
PLAIN_FLOAT(float_add_rtp)
PLAIN_FLOAT(float_add_rtz)
PLAIN_FLOAT(float_sub_rne)
PLAIN_FLOAT(float_sub_rtn)
PLAIN_FLOAT(float_mul_rne)
PLAIN_FLOAT(any_product)
PLAIN_FLOAT(any_quotient)

#define HOOKS_HERE hooks_plain
#define HOOKS_LEVEL "plain"
#include "hooks_level.h"
