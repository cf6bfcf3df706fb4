/* SPDX-License-Identifier: MIT */
/* Products of scaled tensors, everything about them at random, against the model.
 *
 *   test_scaled_gemm_products [CASES [SEED]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/scaled_gemm/product.h"

int main(int argc, char **argv) {
  static const uint32_t threads[] = {0, 1, 2, 3, 7};
  static t_expected e;
  static t_product p;
  size_t cases = argc > 1 ? strtoul(argv[1], NULL, 10) : 600, ways[HU_SCALED_WAYS] = {0}, unsaid = 0, scaled = 0;
  t_random r = {t_seed("scaled-gemm", argc > 2 ? strtoul(argv[2], NULL, 10) : 44)};
  for (size_t i = 0; i < cases;) {
    p.m = 1 + t_below(&r, 5);
    p.n = 1 + t_below(&r, 6);
    p.k = t_below(&r, 12) ? 1 + t_below(&r, t_below(&r, 3) ? 40 : 150) : 0;
    if (!product_draw(&p, &r)) continue;
    if (!product_model(&p, &e)) {
      unsaid++;
      product_free(&p);
      continue;
    }
    for (int t = 0; t < 3; t++) {
      uint32_t off = t == 0 ? 0 : t == 1 ? 7 : t_below(&r, 8);
      const char *wrong = product_check(&p, &e, threads[t_below(&r, 5)], off);
      if (!wrong) continue;
      printf("case %zu: %s (levels off %u):\n%s\n", i, wrong, off, product_text(&p));
      return 1;
    }
    ways[p.sum.way]++;
    scaled += (size_t)p.scaled;
    product_free(&p);
    i++;
  }
  printf("parts %zu, unit %zu, decoded %zu; D scaled %zu; %zu more without an answer\n", ways[0], ways[1], ways[2],
         scaled, unsaid);
  return unsaid > cases / 4 || !ways[0] || !ways[1] || !ways[2];
}
