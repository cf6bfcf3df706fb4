/* SPDX-License-Identifier: MIT */
/* Every step is an MPFR operation of 24 digits in binary32's range; nothing of emu/ is used but hu_stream_word, which
 * the tests of tests/array hold against Random123. */
#include "tests/hadamard/model.h"

#include <mpfr.h>

#include "tests/support/support.h"

static void narrow(void) {
  mpfr_set_emin(-148);
  mpfr_set_emax(128);
}

/* z rounded once more where it is subnormal; t: what MPFR said of the operation. */
static float settled(mpfr_t z, int t) {
  t = mpfr_check_range(z, t, MPFR_RNDN);
  mpfr_subnormalize(z, t, MPFR_RNDN);
  return mpfr_nan_p(z) ? t_float(0x7FC00000) : mpfr_get_flt(z, MPFR_RNDN);
}

static float added(float a, float b, int minus) {
  mpfr_t x, y, z;
  mpfr_inits2(24, x, y, z, (mpfr_ptr)NULL);
  mpfr_set_flt(x, a, MPFR_RNDN);
  mpfr_set_flt(y, b, MPFR_RNDN);
  float r = settled(z, minus ? mpfr_sub(z, x, y, MPFR_RNDN) : mpfr_add(z, x, y, MPFR_RNDN));
  mpfr_clears(x, y, z, (mpfr_ptr)NULL);
  return r;
}

/* a times the factor of section 2. */
static float scaled(float a, uint32_t n, int norm, int inverse) {
  mpfr_t x, c;
  int k = 0;
  mpfr_inits2(24, x, c, (mpfr_ptr)NULL);
  while (1u << k < n) k++;
  mpfr_set_ui(c, 1, MPFR_RNDN);
  if (norm == HU_HADAMARD_ROOT) {
    mpfr_set_ui(c, n, MPFR_RNDN);
    mpfr_rec_sqrt(c, c, MPFR_RNDN);
  } else if (norm == HU_HADAMARD_POWER) {
    mpfr_div_2ui(c, c, (unsigned)(inverse ? k - k / 2 : k / 2), MPFR_RNDN);
  } else if (inverse) {
    mpfr_div_ui(c, c, n, MPFR_RNDN);
  }
  mpfr_set_flt(x, a, MPFR_RNDN);
  float r = settled(x, mpfr_mul(x, x, c, MPFR_RNDN));
  mpfr_clears(x, c, (mpfr_ptr)NULL);
  return r;
}

static float inverted(float a) { return t_float(t_bits32(a) ^ 0x80000000); }

void model_block(uint32_t n, float *b, size_t stride, const int *minus, int norm, int inverse) {
  float u[128];
  narrow();
  for (uint32_t i = 0; i < n; i++) u[i] = minus[i] && !inverse ? inverted(b[i * stride]) : b[i * stride];
  for (uint32_t h = 1; h <= n / 2; h *= 2) {
    float next[128];
    for (uint32_t i = 0; i < n; i++) next[i] = i & h ? added(u[i - h], u[i], 1) : added(u[i], u[i + h], 0);
    for (uint32_t i = 0; i < n; i++) u[i] = next[i];
  }
  for (uint32_t i = 0; i < n; i++) {
    float r = scaled(u[i], n, norm, inverse);
    if (minus[i] && inverse) r = inverted(r);
    b[i * stride] = r != r ? t_float(0x7FC00000) : r;
  }
}

static int is_minus(const hu_hadamard *transform, hu_stream stream, size_t at) {
  size_t j = transform->whole ? at : at % transform->n;
  if (transform->signs == HU_HADAMARD_SIGNS_NONE) return 0;
  uint32_t word = transform->signs == HU_HADAMARD_SIGNS_MASK ? transform->mask[j / 32] : hu_stream_word(stream, j / 32);
  return word >> j % 32 & 1;
}

void model_transform(size_t rows, size_t cols, float *z, size_t ldz, const hu_hadamard *transform, hu_stream stream,
                     int inverse) {
  int minus[128];
  int down = transform->axis == HU_HADAMARD_ALONG_COLUMNS;
  size_t length = down ? rows : cols, lines = down ? cols : rows, step = down ? ldz : 1, apart = down ? 1 : ldz;
  for (size_t at = 0; at < length; at += transform->n) {
    for (uint32_t i = 0; i < transform->n; i++) minus[i] = is_minus(transform, stream, at + i);
    for (size_t line = 0; line < lines; line++) {
      model_block(transform->n, z + line * apart + at * step, step, minus, transform->norm, inverse);
    }
  }
}
