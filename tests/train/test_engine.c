/* SPDX-License-Identifier: MIT */
/* Small networks of every kind on the processor: the digests of the golden file; large batches, of which threads take
 * parts, with one thread and with several; convolutions with patches and without.
 *
 *   test_engine GOLDEN     or, to write the golden file:  test_engine > GOLDEN */
#include <stdio.h>

#include "halfulp/formats/ieee.h"
#include "tests/support/support.h"
#include "tests/train/small_nets.h"

/* Large enough that kernels, products and roundings are divided. */
enum { TIMES = 160 };

static int threads_agree(size_t i) {
  static const uint32_t threads[] = {2, 5};
  uint64_t one, digest;
  hu_status s = small_net_run(i, NULL, 1, TIMES, &one);
  int good = s == HU_OK;
  for (size_t k = 0; k < sizeof threads / sizeof *threads && good; k++) {
    s = small_net_run(i, NULL, threads[k], TIMES, &digest);
    good = s == HU_OK && digest == one;
    if (!good) printf("FAIL: %s: %u threads: %s\n", small_net_name(i), threads[k], hu_status_name(s));
  }
  return good;
}

/* ---- convolutions with patches and without ---- */

typedef struct image {
  size_t height, width, channels, outputs, kernel, stride, pad;
} image;

/* Two convolutions, so that both kinds of gradients are wanted; the digest of the gradients after a step, of
 * parameters and of the image between. Operands that are rounded, into the format that they have, make the processor
 * take patches: x, x_back, dx_out. */
static hu_status convolve(const image *c, int patches, uint32_t threads, uint64_t *digest) {
  t_random r = {23};
  hu_net *net = hu_net_new(6, threads);
  int x = hu_net_image(net, c->height, c->width, 2);
  int h = hu_net_conv(net, x, c->channels, 1, 1, 0, 0);
  int z = hu_net_conv(net, h, c->outputs, c->kernel, c->stride, c->pad, 1);
  hu_net_squared_error(net, z, 1);
  hu_product_rounding p = hu_product_rounding_plain();
  hu_rounding same = hu_rounding_format(hu_binary32(), t_mode(HU_RNE));
  if (patches & 1) p.x = same;
  if (patches & 2) p.x_back = same;
  if (patches & 4) p.dx_out = same;
  hu_status s = hu_net_status(net, NULL);
  if (s == HU_OK) s = hu_net_round_product(net, z, &p);
  if (s == HU_OK) s = hu_net_initialize(net, 1);
  static float numbers[1 << 17];
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) numbers[i] = (float)t_between(&r, -99, 99) / 64;
  if (s == HU_OK) s = hu_net_feed(net, x, numbers);
  if (s == HU_OK) s = hu_net_targets(net, numbers);
  if (s == HU_OK) s = hu_net_forward(net, 1, NULL);
  if (s == HU_OK) s = hu_net_backward(net, 1);
  *digest = 0;
  for (int i = 0; i < 2 + hu_net_parameters(net) && s == HU_OK; i++) {
    hu_net_tensor t = i < 2 ? hu_net_value(net, i ? z : h) : hu_net_parameter(net, i - 2);
    for (size_t k = 0; k < t.rows * t.cols; k++) {
      *digest = (*digest ^ t_bits32(t.numbers[k])) * 0x100000001B3u;
      *digest = (*digest ^ t_bits32(t.gradients[k])) * 0x100000001B3u;
    }
  }
  hu_net_free(net);
  return s;
}

static image any_image(t_random *r) {
  image c = {1 + t_below(r, 12), 1 + t_below(r, 12), 1 + t_below(r, 20), 1 + t_below(r, 36), 1 + t_below(r, 4), 0, 0};
  c.stride = 1 + t_below(r, 3);
  c.pad = t_below(r, (uint32_t)c.kernel);
  while (c.height + 2 * c.pad < c.kernel) c.height++;
  while (c.width + 2 * c.pad < c.kernel) c.width++;
  return c;
}

static int convolutions_agree(void) {
  t_random r = {t_seed("train-convolutions", 71)};
  int good = 1;
  for (int i = 0; i < 60 && good; i++) {
    image c = any_image(&r);
    uint64_t one = 0, other = 0;
    for (int patches = 0; patches < 8 && good; patches++) {
      hu_status s = convolve(&c, patches, patches == 0 ? 3 : 1, patches ? &other : &one);
      good = s == HU_OK && (!patches || one == other);
      if (!good) {
        printf("FAIL: %zu x %zu x %zu, %zu outputs, kernel %zu, stride %zu, pad %zu, patches %d: %s\n", c.height,
               c.width, c.channels, c.outputs, c.kernel, c.stride, c.pad, patches, hu_status_name(s));
      }
    }
  }
  return good;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    printf("# Digests of small networks' steps: network, digest.\n");
    return !small_nets_are_golden(NULL, 1, NULL);
  }
  int good = small_nets_are_golden(NULL, 1, argv[1]) & small_nets_are_golden(NULL, 3, argv[1]);
  for (size_t i = 0; i < small_net_count(); i++) good &= threads_agree(i);
  good &= convolutions_agree();
  printf("%zu networks, 60 convolutions, %s\n", small_net_count(), good ? "all as they should be" : "some differ");
  return !good;
}
