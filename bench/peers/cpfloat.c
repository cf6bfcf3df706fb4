/* SPDX-License-Identifier: MIT */
/* bench/peers - CPFloat as a library of headers: cpfloatf() on arrays of binary32 numbers, without OpenMP. */
#include "cpfloat_binary32.h"

#include "peer.h"

enum { HALF, BFLOAT, E5M2 };

static const struct {
  unsigned precision;
  int emin, emax;
} formats[] = {{11, -14, 15}, {8, -126, 127}, {3, -14, 15}};

#define CASE(name, format, round, number) \
  { name, PEER_QUANTIZE, format, round, 0, number }
const peer_case peer_cases[] = {CASE("cpfloatf, binary16, ties to even", "binary16", "rne", HALF),
                                CASE("cpfloatf, bfloat16, ties to even", "bfloat16", "rne", BFLOAT),
                                CASE("cpfloatf, float8_e5m2, ties to even", "float8_e5m2", "rne", E5M2),
                                CASE("cpfloatf, float8_e5m2, ties away", "float8_e5m2", "rna", E5M2),
                                CASE("cpfloatf, float8_e5m2, toward zero", "float8_e5m2", "rtz", E5M2),
                                CASE("cpfloatf, float8_e5m2, toward positive", "float8_e5m2", "rtp", E5M2),
                                CASE("cpfloatf, float8_e5m2, toward negative", "float8_e5m2", "rtn", E5M2),
                                CASE("cpfloatf, float8_e5m2, to odd", "float8_e5m2", "rto", E5M2),
                                CASE("cpfloatf, float8_e5m2, stochastic", "float8_e5m2", "sra:23", E5M2),
                                {0}};

static cpfloat_rounding_t rounding_of(const char *text) {
  static const struct {
    const char *text;
    cpfloat_rounding_t round;
  } all[] = {{"rne", CPFLOAT_RND_NE}, {"rna", CPFLOAT_RND_NA}, {"rtz", CPFLOAT_RND_TZ},   {"rtp", CPFLOAT_RND_TP},
             {"rtn", CPFLOAT_RND_TN}, {"rto", CPFLOAT_RND_OD}, {"sra:23", CPFLOAT_RND_SP}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (!strcmp(all[i].text, text)) return all[i].round;
  }
  return CPFLOAT_NO_RND;
}

void peer_run(const peer_case *asked, size_t n, void *z, const void *x, const void *y, const void *third) {
  (void)y, (void)third;
  optstruct *options = init_optstruct();
  options->precision = formats[asked->number].precision;
  options->emin = formats[asked->number].emin;
  options->emax = formats[asked->number].emax;
  options->explim = CPFLOAT_EXPRANGE_TARG;
  options->infinity = CPFLOAT_INF_USE;
  options->saturation = CPFLOAT_SAT_NO;
  options->subnormal = CPFLOAT_SUBN_USE;
  options->round = rounding_of(asked->round);
  options->flip = CPFLOAT_SOFTERR_NO;
  cpfloatf(z, x, n, options);
  free_optstruct(options);
}
