/* SPDX-License-Identifier: MIT */
/* The exact results of emu/core/arith.h, and numbers into and out of binary32 and binary64, as functions of
 * integers. */
#include "emu/core/arith.h"

/* The significand; above the exponent's 32 digits sticky, sign, two digits of kind, and from 48 on the events. */
typedef struct proof_number {
  uint64_t sig, rest;
} proof_number;

#define NUMBER(x) uint8_t kind_##x, uint8_t minus_##x, uint64_t sig_##x, int32_t exp_##x
#define GIVEN(x) \
  { sig_##x, exp_##x, kind_##x, minus_##x, 0 /* exact */ }

static inline proof_number packed(hu_num z, uint32_t raised) {
  proof_number p = {z.sig, (uint64_t)raised << 48 | (uint64_t)(z.kind & 3) << 34 | (uint64_t)(z.sign & 1) << 33 |
                               (uint64_t)(z.sticky & 1) << 32 | (uint32_t)z.exp};
  return p;
}

proof_number proof_add(NUMBER(a), NUMBER(b), uint8_t down);
proof_number proof_mul(NUMBER(a), NUMBER(b));
proof_number proof_fma(NUMBER(a), NUMBER(b), NUMBER(c), uint8_t down);
proof_number proof_div(NUMBER(a), NUMBER(b));
proof_number proof_sqrt(NUMBER(a));
proof_number proof_unpack32(uint32_t u);
proof_number proof_unpack64(uint64_t u);
uint64_t proof_pack64(NUMBER(a));

proof_number proof_add(NUMBER(a), NUMBER(b), uint8_t down) {
  hu_num a = GIVEN(a), b = GIVEN(b);
  uint32_t raised = 0;
  hu_num z = hui_exact_add(a, b, down, &raised);
  return packed(z, raised);
}

proof_number proof_mul(NUMBER(a), NUMBER(b)) {
  hu_num a = GIVEN(a), b = GIVEN(b);
  uint32_t raised = 0;
  hu_num z = hui_exact_mul(a, b, &raised);
  return packed(z, raised);
}

proof_number proof_fma(NUMBER(a), NUMBER(b), NUMBER(c), uint8_t down) {
  hu_num a = GIVEN(a), b = GIVEN(b), c = GIVEN(c);
  uint32_t raised = 0;
  hu_num z = hui_exact_fma(a, b, c, down, &raised);
  return packed(z, raised);
}

proof_number proof_div(NUMBER(a), NUMBER(b)) {
  hu_num a = GIVEN(a), b = GIVEN(b);
  uint32_t raised = 0;
  hu_num z = hui_exact_div(a, b, &raised);
  return packed(z, raised);
}

proof_number proof_sqrt(NUMBER(a)) {
  hu_num a = GIVEN(a);
  uint32_t raised = 0;
  hu_num z = hui_exact_sqrt(a, &raised);
  return packed(z, raised);
}

proof_number proof_unpack32(uint32_t u) { return packed(hui_unpack32(u), 0); }
proof_number proof_unpack64(uint64_t u) { return packed(hui_unpack64(u), 0); }

uint64_t proof_pack64(NUMBER(a)) {
  hu_num a = GIVEN(a);
  return hui_pack64(a);
}
