/* SPDX-License-Identifier: MIT */
/* Formats, projections and operands that the tests of P3109 go through or draw. */
#include "tests/p3109/drawn.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka.h"

int format_at(t_parameters *parameters, int k, int i) {
  for (int p = 1; p <= k; p++)
    for (int rest = 0; rest < 4; rest++) {
      t_parameters other = {k, p, rest & 1, rest >> 1};
      hu_format half = format_of(other);
      if ((other.is_signed && p == k) || hu_format_check(half, NULL) != HU_OK) continue;
      if (i-- == 0) {
        *parameters = other;
        return 1;
      }
    }
  return 0;
}

t_parameters random_format(t_random *random, int most) {
  t_parameters parameters;
  do {
    int k = 3 + (int)t_below(random, (uint32_t)most - 2);
    parameters =
        (t_parameters){k, 1 + (int)t_below(random, (uint32_t)k), (int)t_below(random, 2), (int)t_below(random, 2)};
  } while ((parameters.is_signed && parameters.p == parameters.k) ||
           hu_format_check(format_of(parameters), NULL) != HU_OK);
  return parameters;
}

int projection_at(hu_p3109_projection *rho, int i) {
  static const uint8_t round[ROUNDS] = {HU_RNE, HU_RNA, HU_RTZ, HU_RTP, HU_RTN, HU_RTO, HU_SRA, HU_SRB, HU_SRC},
                       saturate[3] = {HU_SAT_NONE, HU_SAT_FINITE, HU_SAT_PROPAGATE};
  memset(rho, 0, sizeof *rho);
  rho->mode.round = round[i % ROUNDS];
  rho->mode.bits = rho->mode.round >= HU_SRA ? 3 : 0;
  rho->mode.saturate = saturate[i / ROUNDS % 3];
  rho->rules = (uint8_t)(i / ROUNDS / 3);
  return i < ROUNDS * 3 * RULES;
}

hu_p3109_projection random_projection(t_random *random) {
  hu_p3109_projection rho;
  (void)projection_at(&rho, (int)t_below(random, ROUNDS * 3 * RULES));
  return rho;
}

t_operands *operands_new(void) {
  t_operands *z = calloc(1, sizeof *z);
  assert_non_null(z);
  for (int i = 0; i < HU_P3109_OPERANDS_MAX; i++) real_init(&z->x[i]);
  real_init(&z->result);
  return z;
}

void operands_free(t_operands *z) {
  for (int i = 0; i < HU_P3109_OPERANDS_MAX; i++) real_clear(&z->x[i]);
  real_clear(&z->result);
  free(z);
}
