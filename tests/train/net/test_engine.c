/* SPDX-License-Identifier: MIT */
/* Small networks of every kind on the processor: the digests of the golden file; large batches, of which threads take
 * parts, with one thread and with several; convolutions with patches and without.
 *
 *   test_engine GOLDEN [quick|all]     or, to write the golden file:  test_engine > GOLDEN
 *
 * quick: of large batches one number of threads beside one thread, the one and the other by turns, and of the
 * convolutions the first part. Large batches of four slow networks are left out: of image-windows and windows-windows,
 * since groups-windows rounds by windows, too; and of groups-formats and windows-formats, since image-mx has as many
 * roundings, across-formats the same sums, and groups and windows the same networks. */
#include <stdio.h>
#include <string.h>

#include "halfulp/formats/ieee.h"
#include "tests/support/support.h"
#include "tests/train/net/small_nets.h"
#include "train/engine/engine.h"

/* Large enough that kernels, products and roundings are divided. */
enum { TIMES = 160 };

static int threads_agree(size_t i, int quick) {
  static const uint32_t threads[] = {2, 5};
  uint64_t one, digest;
  const char *name = small_net_name(i);
  static const char *const slow[] = {"image-windows", "groups-formats", "windows-formats", "windows-windows"};
  for (size_t k = 0; quick && k < sizeof slow / sizeof *slow; k++) {
    if (strcmp(name, slow[k]) == 0) return 1;
  }
  hu_status status = small_net_run(i, NULL, 1, TIMES, &one);
  int good = status == HU_OK;
  for (size_t k = 0; k < sizeof threads / sizeof *threads && good; k++) {
    if (quick && k != i % 2) continue;
    status = small_net_run(i, NULL, threads[k], TIMES, &digest);
    good = status == HU_OK && digest == one;
    if (!good) printf("FAIL: %s: %u threads: %s\n", name, threads[k], hu_status_name(status));
  }
  return good;
}

/* ---- convolutions with patches and without ---- */

typedef struct image {
  size_t height, width, channels, outputs, batch;
  hu_net_windows windows;
} image;

/* Those that a number's own, statistics of the patches, blocks and random words make; over and under the ranges. */
static const char *const roundings[] = {"keep",
                                        "keep",
                                        "float8_e5m2",
                                        "fp(4,3,4):finite,over=inf",
                                        "s2fp8",
                                        "s2fp8(float8_e4m3fn;target=5),rtz",
                                        "float8_e4m3fn,rtp,sat=finite",
                                        "fp(3,1,2):finite,nan=keep",
                                        "posit(8,1)",
                                        "mxfp8_e4m3",
                                        "float8_e5m2,sra:8",
                                        "bfloat16"};

static hu_rounding any_rounding(t_random *random) {
  hu_rounding z;
  const char *text = roundings[t_below(random, sizeof roundings / sizeof *roundings)];
  if (hu_rounding_parse(&z, text, NULL) == HU_OK) return z;
  printf("FAIL: %s is no rounding\n", text);
  return hu_rounding_keep();
}

static hu_product_rounding any_product(t_random *random) {
  hu_product_rounding rounding = hu_product_rounding_plain();
  rounding.x = any_rounding(random);
  rounding.x_back = t_below(random, 3) ? rounding.x : any_rounding(random);
  rounding.w = rounding.w_back = any_rounding(random);
  rounding.dz = any_rounding(random);
  rounding.dz_w = t_below(random, 2) ? rounding.dz : any_rounding(random);
  rounding.z_out = any_rounding(random);
  rounding.dx_out = any_rounding(random);
  rounding.dw_out = any_rounding(random);
  rounding.by_window = (uint8_t)t_below(random, 2);
  return rounding;
}

static uint64_t mixed(uint64_t digest, const void *data, size_t n) {
  for (size_t i = 0; i < n; i++) digest = (digest ^ ((const uint8_t *)data)[i]) * 0x100000001B3u;
  return digest;
}

/* Numbers as images have them after a ReLU, large and small ones among them, now and then a NaN or an infinity. */
static void draw_numbers(t_random *random, float *x, size_t n) {
  int special = t_below(random, 6) == 0;
  for (size_t i = 0; i < n; i++) {
    x[i] = (float)t_between(random, -99, 99) / 64;
    if (t_below(random, 3) == 0) x[i] = 0;
    if (t_below(random, 20) == 0) x[i] *= t_float((uint32_t)t_between(random, 127 - 20, 127 + 20) << 23);
    if (special && t_below(random, 400) == 0) x[i] = t_float(0x7F800000 + t_below(random, 3));
  }
}

/* Two convolutions, so that both kinds of gradients are wanted; the digest of values and gradients after a step, of
 * parameters, of the image between and of what was counted. */
static hu_status convolve(const image *c, const hu_product_rounding *rounding, const hu_engine *engine,
                          uint32_t threads, uint64_t seed, uint64_t *digest) {
  static float numbers[1 << 19];
  t_random random = {seed};
  hu_net *net = hu_net_new_on(engine, c->batch, threads);
  int x = hu_net_image(net, c->height, c->width, 2);
  int h = hu_net_conv(net, x, c->channels, 1, 1, 0, 0);
  int z = hu_net_conv_windows(net, h, c->outputs, &c->windows, 1, 1);
  hu_net_squared_error(net, z, 1);
  hu_status status = hu_net_status(net, NULL);
  if (status == HU_OK) status = hu_net_round_product(net, z, rounding);
  if (status == HU_OK) status = hu_net_initialize(net, 1);
  draw_numbers(&random, numbers, c->batch << 13); /* as many as the result has at most */
  if (status == HU_OK) status = hu_net_feed(net, x, numbers);
  if (status == HU_OK) status = hu_net_targets(net, numbers);
  if (status == HU_OK) status = hu_net_forward(net, 1, NULL);
  if (status == HU_OK) status = hu_net_backward(net, 1);
  *digest = 0;
  for (int i = 0; i < 2 + hu_net_parameters(net) && status == HU_OK; i++) {
    hu_net_tensor tensor = i < 2 ? hu_net_value(net, i ? z : h) : hu_net_parameter(net, i - 2);
    *digest = mixed(*digest, tensor.numbers, tensor.rows * tensor.cols * sizeof *tensor.numbers);
    *digest = mixed(*digest, tensor.gradients, tensor.rows * tensor.cols * sizeof *tensor.gradients);
  }
  hu_rounding_counts counts[2];
  if (status == HU_OK && hu_net_product_counts(net, z, counts)) *digest = mixed(*digest, counts, sizeof counts);
  hu_net_free(net);
  return status;
}

static image any_image(t_random *random) {
  image c = {1 + t_below(random, 12), 1 + t_below(random, 12),     1 + t_below(random, 20),
             1 + t_below(random, 36), t_below(random, 8) ? 6 : 48, /* many: threads take parts */
             {{0}, {0}, {1, 1}, {0}}};
  hu_net_windows *windows = &c.windows;
  const int square = t_below(random, 3) == 0;
  for (size_t way = 0; way < 2; way++) {
    windows->kernel[way] = way && square ? windows->kernel[0] : 1 + t_below(random, 4);
    windows->stride[way] = way && square ? windows->stride[0] : 1 + t_below(random, 3);
    for (size_t end = 2 * way; end < 2 * way + 2; end++)
      windows->pad[end] = end && square ? windows->pad[0] : t_below(random, (uint32_t)windows->kernel[way]);
  }
  while (c.height + windows->pad[0] + windows->pad[1] < windows->kernel[0]) c.height++;
  while (c.width + windows->pad[2] + windows->pad[3] < windows->kernel[1]) c.width++;
  return c;
}

enum { CONVOLUTIONS = 480, QUICK_CONVOLUTIONS = 120 };
static int convolutions_agree(int count) {
  t_random random = {t_seed("train-convolutions", 71)};
  hu_engine with_patches = *hui_engine_cpu();
  int good = 1;
  with_patches.convolve = NULL;
  for (int i = 0; i < count && good; i++) {
    image c = any_image(&random);
    hu_product_rounding rounding = i % 8 ? any_product(&random) : hu_product_rounding_plain();
    uint64_t one = 0, other = 0, seed = t_next64(&random);
    hu_status status = convolve(&c, &rounding, &with_patches, 1, seed, &one);
    if (status == HU_OK) status = convolve(&c, &rounding, NULL, i % 2 && c.batch == 6 ? 1 : 3, seed, &other);
    good = status == HU_OK && one == other;
    if (!good) {
      printf(
          "FAIL: %d: %zu x %zu x %zu, %zu outputs, kernel %zu x %zu, stride %zu, %zu, pad %zu, %zu, %zu, %zu, x %d, "
          "x_back %d, dx_out %d, by window %d: %s\n",
          i, c.height, c.width, c.channels, c.outputs, c.windows.kernel[0], c.windows.kernel[1], c.windows.stride[0],
          c.windows.stride[1], c.windows.pad[0], c.windows.pad[1], c.windows.pad[2], c.windows.pad[3], rounding.x.kind,
          rounding.x_back.kind, rounding.dx_out.kind, rounding.by_window, hu_status_name(status));
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
  int quick = argc > 2 && strcmp(argv[2], "quick") == 0, convolutions = quick ? QUICK_CONVOLUTIONS : CONVOLUTIONS;
  for (size_t i = 0; i < small_net_count(); i++) good &= threads_agree(i, quick);
  good &= convolutions_agree(convolutions);
  printf("%zu networks, %d convolutions, %s\n", small_net_count(), convolutions,
         good ? "all as they should be" : "some differ");
  return !good;
}
