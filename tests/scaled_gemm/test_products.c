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
  static t_expected expected;
  static t_product product;
  size_t cases = argc > 1 ? strtoul(argv[1], NULL, 10) : 600, ways[HU_SCALED_WAYS] = {0}, unsaid = 0, scaled = 0;
  t_random random = {t_seed("scaled-gemm", argc > 2 ? strtoul(argv[2], NULL, 10) : 44)};
  for (size_t i = 0; i < cases;) {
    product.m = 1 + t_below(&random, 5);
    product.n = 1 + t_below(&random, 6);
    product.k = t_below(&random, 12) ? 1 + t_below(&random, t_below(&random, 3) ? 40 : 150) : 0;
    if (!product_draw(&product, &random)) continue;
    if (!product_model(&product, &expected)) {
      unsaid++;
      product_free(&product);
      continue;
    }
    for (int t = 0; t < 3; t++) {
      uint32_t off = t == 0 ? 0 : t == 1 ? 7 : t_below(&random, 8);
      const char *wrong = product_check(&product, &expected, threads[t_below(&random, 5)], off);
      if (!wrong) continue;
      printf("case %zu: %s (levels off %u):\n%s\n", i, wrong, off, product_text(&product));
      return 1;
    }
    ways[product.sum.way]++;
    scaled += (size_t)product.scaled;
    product_free(&product);
    i++;
  }
  printf("parts %zu, unit %zu, decoded %zu; D scaled %zu; %zu more without an answer\n", ways[0], ways[1], ways[2],
         scaled, unsaid);
  return unsaid > cases / 4 || !ways[0] || !ways[1] || !ways[2];
}
