/* SPDX-License-Identifier: MIT */
/* Images that stay on the disk: what is kept and refused, boxes and pixels against docs/training/data.md computed in
 * another way, runs. Argument: none is looked at. */
#define _GNU_SOURCE /* mkdtemp */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/npy.h"
#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "tests/train/trainer/trainers.h"
#include "train/data/images.h"
#include "train/trainer/trainer.h"

enum { N = 12, H = 9, W = 11 };
static char files[64];
static uint8_t pixels[N * H * W * 3];

static const char *path_of(const char *name) {
  static char path[2][128];
  static int i;
  i = !i;
  snprintf(path[i], sizeof path[i], "%s/%s", files, name);
  return path[i];
}

/* A .npy file of unsigned numbers, whose last `less` bytes are missing. */
static void write_npy(const char *name, uint32_t dims, const size_t *shape, uint8_t size, const void *data,
                      size_t less) {
  char header[NPY_HEADER_ROOM];
  npy_info info = {.kind = 'u', .size = size, .dims = dims, .count = 1};
  for (uint32_t i = 0; i < dims; i++) info.count *= info.shape[i] = shape[i];
  FILE *out = fopen(path_of(name), "wb");
  assert_non_null(out);
  size_t n = npy_header(header, &info);
  assert_true(fwrite(header, 1, n, out) == n);
  n = info.count * size - less;
  assert_true(fwrite(data, 1, n, out) == n);
  fclose(out);
}

static const size_t shape[4] = {N, H, W, 3};
static const uint16_t labels[N] = {3, 0, 1, 2, 9, 1, 0, 3, 2, 2, 1, 0};

static void write_set(const char *part, size_t count) {
  char name[32];
  const size_t some[4] = {count, H, W, 3};
  snprintf(name, sizeof name, "%s-images.npy", part);
  write_npy(name, 4, some, 1, pixels, 0);
  snprintf(name, sizeof name, "%s-labels.npy", part);
  write_npy(name, 1, some, 2, labels, 0);
}

static int make_files(void **state) {
  (void)state;
  t_random random = {3};
  for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)t_below(&random, 256);
  strcpy(files, "/tmp/halfulp-images-XXXXXX");
  if (!mkdtemp(files)) return 1;
  write_set("train", N);
  write_set("val", 7);
  return 0;
}

static int remove_files(void **state) {
  static const char *const names[] = {"train-images.npy", "train-labels.npy", "val-images.npy", "val-labels.npy",
                                      "x.npy"};
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(path_of(names[i]));
  return rmdir(files);
}

/* ---- what is kept, and what is refused ---- */

static void test_kept(void **state) {
  (void)state;
  hu_image_file images;
  hu_data data;
  char where[2][128];
  strcpy(where[0], path_of("train-images.npy"));
  strcpy(where[1], path_of("train-labels.npy"));
  if (hui_images_open(&images, &data, where[0], where[1], 3, 8, why) != HU_OK) fail_msg("%s", why);
  const uint32_t kept[] = {1, 2, 3, 5, 6, 8, 9, 10, 11}, theirs[] = {0, 1, 2, 1, 0, 2, 2, 1, 0};
  assert_true(data.count == 9 && data.height == 8 && data.width == 8 && data.channels == 3 && data.classes == 3 &&
              !data.x);
  assert_memory_equal(data.labels, theirs, sizeof theirs);
  assert_memory_equal(images.record, kept, sizeof kept);
  /* The middle: rows from 0 on, columns from 1 on; image 6 of those kept is image 9. */
  const uint32_t index[2] = {6, 0};
  static float z[2 * 8 * 8 * 3];
  assert_int_equal(hui_images_gather(&images, 2, index, z, 8, 0.08f, HU_IMAGE_BYTES, NULL), HU_OK);
  for (size_t k = 0; k < 2 * 8 * 8 * 3; k++) {
    size_t i = k / 192, row = k / 24 % 8, column = k / 3 % 8;
    assert_true(z[k] == (float)pixels[((i ? 1 : 9) * (size_t)(H * W) + row * W + column + 1) * 3 + k % 3]);
  }
  assert_int_equal(hui_images_gather(&images, 1, index, z, 8, 0.08f, HU_IMAGE_SCALED, NULL), HU_OK);
  const uint8_t *first = &pixels[(9 * H * W + 1) * 3];
  assert_true(z[0] == ((float)first[0] / 255.0f - 0.485f) / 0.229f &&
              z[1] == ((float)first[1] / 255.0f - 0.456f) / 0.224f &&
              z[2] == ((float)first[2] / 255.0f - 0.406f) / 0.225f);
  assert_int_equal(hui_images_gather(&images, 1, index, z, 8, 0.08f, HU_IMAGE_MEANS, NULL), HU_OK);
  assert_true(z[0] == (float)first[0] - 123.68f && z[1] == (float)first[1] - 116.78f &&
              z[2] == (float)first[2] - 103.94f);
  /* A file that got shorter since is an error, and no other pixels. */
  assert_int_equal(truncate(where[0], 1000), 0);
  assert_int_equal(hui_images_gather(&images, 1, index, z, 8, 0.08f, HU_IMAGE_BYTES, NULL), HU_E_FILE);
  hui_images_close(&images);
  hui_images_close(&images);
  hu_data_free(&data);
  write_set("train", N);
}

static void refused(const char *images_name, const char *labels_name, uint32_t classes, size_t side, const char *says) {
  hu_image_file images;
  hu_data data;
  char where[2][128], expected[256];
  strcpy(where[0], path_of(images_name));
  strcpy(where[1], path_of(labels_name));
  *why = 0;
  assert_int_not_equal(hui_images_open(&images, &data, where[0], where[1], classes, side, why), HU_OK);
  snprintf(expected, sizeof expected, "%s/%s", files, says);
  if (strncmp(why, expected, strlen(expected)) != 0) fail_msg("'%s', not '%s'", why, expected);
  assert_true(!images.file && !images.record && !images.bytes && !data.labels);
}

static void test_refused(void **state) {
  (void)state;
  const size_t one[4] = {N, H, W, 1}, three[3] = {N, H, W}, flat[1] = {N - 1}, none[4] = {0, H, W, 3};
  const uint32_t high[N] = {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
  const char *good[2] = {"train-images.npy", "train-labels.npy"};
  refused("none.npy", good[1], 3, 8, "none.npy: No such file");
  refused(good[0], "none.npy", 3, 8, "none.npy: No such file");
  refused(good[0], good[1], 3, 10, "train-images.npy: shape (12, 9, 11, 3): sides not from data.size, 10, to 4096");
  refused(good[1], good[1], 3, 8, "train-labels.npy: dtype: uint16, not uint8");
  refused(good[0], "train-images.npy", 3, 8, "train-images.npy: shape: 4 dimensions, not 1");
  write_npy("x.npy", 4, one, 1, pixels, 0);
  refused("x.npy", good[1], 3, 8, "x.npy: shape (12, 9, 11, 1): not (n, h, w, 3)");
  write_npy("x.npy", 3, three, 1, pixels, 0);
  refused("x.npy", good[1], 3, 8, "x.npy: shape (12, 9, 11): not (n, h, w, 3)");
  write_npy("x.npy", 4, none, 1, pixels, 0);
  refused("x.npy", good[1], 3, 8, "x.npy: shape (0, 9, 11, 3): not (n, h, w, 3)");
  write_npy("x.npy", 4, shape, 1, pixels, 1);
  refused("x.npy", good[1], 3, 8, "x.npy: truncated: 3563 bytes of data, the shape needs 3564");
  write_npy("x.npy", 1, flat, 2, labels, 0);
  refused(good[0], "x.npy", 3, 8, "x.npy: shape: 11 labels for 12 images");
  write_npy("x.npy", 1, shape, 4, high, 0);
  refused(good[0], "x.npy", 9, 8, "x.npy: labels: none below data.classes, 9");
  FILE *out = fopen(path_of("x.npy"), "wb");
  fputs("no array", out);
  fclose(out);
  refused("x.npy", good[1], 3, 8, "x.npy: not an .npy file");
}

/* ---- boxes ---- */

static double u(hu_stream words, uint64_t i) { return floor(hu_stream_word(words, i) / 256.0) / 16777216.0; }

/* Logarithms and powers of the C library, of which the nearest binary32 is nearly always that of the exact one. */
static void test_boxes(void **state) {
  (void)state;
  const size_t sizes[3][2] = {{256, 256}, {9, 40}, {300, 11}};
  size_t whole = 0, mirrored = 0, all = 0, narrow = 0;
  double share = 0;
  for (uint64_t k = 0; k < 3000; k++) {
    const size_t height = sizes[k % 3][0], width = sizes[k % 3][1];
    const hu_stream words = hu_stream_child(hu_stream_of_use(7, HU_USE_AUGMENT), k);
    const float area = 0.08f, most = (float)log((double)(4.0f / 3.0f));
    hu_image_box box = hui_image_draw(height, width, area, words), expected = {0, 0, height, width, 0};
    for (uint64_t i = 0; i < 10; i++) {
      float v = area + (float)((1 - area) * (float)u(words, 2 * i));
      float r = (float)exp((double)((float)(2 * most * (float)u(words, 2 * i + 1)) - most));
      double w = floor(sqrt((double)(height * width) * (double)v * (double)r) + 0.5),
             h = floor(sqrt((double)(height * width) * (double)v / (double)r) + 0.5);
      if (w >= 1 && h >= 1 && w <= (double)width && h <= (double)height) {
        expected.width = (size_t)w;
        expected.height = (size_t)h;
        break;
      }
    }
    hu_stream rest = {.key = words.key, .counter = words.counter + 20};
    expected.top = hu_stream_below(&rest, (uint32_t)(height - expected.height + 1));
    expected.left = hu_stream_below(&rest, (uint32_t)(width - expected.width + 1));
    expected.mirrored = (int)hu_stream_below(&rest, 2);
    assert_true(box.top == expected.top && box.left == expected.left && box.height == expected.height &&
                box.width == expected.width && box.mirrored == expected.mirrored);
    assert_true(box.top + box.height <= height && box.left + box.width <= width);
    whole += box.height == height && box.width == width;
    mirrored += (size_t)box.mirrored;
    if (k % 3) continue;
    all++;
    share += (double)(box.height * box.width) / 65536;
    narrow += box.height * 4 > box.width * 5;
  }
  print_message("mean share %.3f, %zu whole, %zu mirrored, %zu of %zu narrow\n", share / (double)all, whole, mirrored,
                narrow, all);
  assert_true(mirrored > 1400 && mirrored < 1600 && share / (double)all > 0.4 && share / (double)all < 0.56 &&
              narrow > 80);
  hu_image_box middle = hui_image_middle(256, 341, 224);
  assert_true(middle.top == 16 && middle.left == 58 && middle.height == 224 && middle.width == 224 && !middle.mirrored);
}

/* ---- pixels ---- */

/* By positions in binary64, from the centre of a new pixel. */
static double interpolated(const uint8_t *x, size_t width, hu_image_box box, size_t side, size_t i, size_t j,
                           size_t c) {
  size_t k = box.mirrored ? side - 1 - j : j;
  double row = fmax(0, ((double)i + 0.5) * (double)box.height / (double)side - 0.5),
         column = fmax(0, ((double)k + 0.5) * (double)box.width / (double)side - 0.5);
  size_t r[2] = {(size_t)row, (size_t)fmin((double)box.height - 1, floor(row) + 1)},
         q[2] = {(size_t)column, (size_t)fmin((double)box.width - 1, floor(column) + 1)};
  double part[2] = {row - floor(row), column - floor(column)}, z = 0;
  for (int n = 0; n < 4; n++)
    z += (n & 2 ? part[0] : 1 - part[0]) * (n & 1 ? part[1] : 1 - part[1]) *
         x[((box.top + r[n >> 1]) * width + box.left + q[n & 1]) * 3 + c];
  return z;
}

static void test_pixels(void **state) {
  (void)state;
  static float z[32 * 32 * 3];
  const hu_image_box boxes[] = {{0, 0, H, W, 0}, {2, 3, 5, 4, 0}, {8, 10, 1, 1, 1}, {0, 1, 9, 2, 1}, {1, 0, 8, 8, 1}};
  for (size_t b = 0; b < sizeof boxes / sizeof *boxes; b++) {
    for (size_t side = 4; side <= 32; side += 7) {
      hui_image_put(z, side, pixels, W, boxes[b], HU_IMAGE_BYTES);
      for (size_t k = 0; k < side * side * 3; k++) {
        double expected = interpolated(pixels, W, boxes[b], side, k / 3 / side, k / 3 % side, k % 3);
        if (!(fabs((double)z[k] - expected) < 2e-5))
          fail_msg("box %zu, side %zu, %zu: %g, not %g", b, side, k, (double)z[k], expected);
      }
    }
  }
  /* Two pixels side by side, 0 and 80, as four: between centres, a quarter and three of them. */
  const uint8_t two[2 * 2 * 3] = {0, 0, 255, 80, 0, 255, 0, 0, 255, 80, 0, 255};
  const float row[4][3] = {{0, 0, 255}, {20, 0, 255}, {60, 0, 255}, {80, 0, 255}};
  hui_image_put(z, 4, two, 2, (hu_image_box){0, 0, 2, 2, 0}, HU_IMAGE_BYTES);
  for (size_t i = 0; i < 4; i++) assert_memory_equal(z + i * 12, row, sizeof row);
  hui_image_put(z, 4, two, 2, (hu_image_box){0, 0, 2, 2, 1}, HU_IMAGE_BYTES);
  for (size_t j = 0; j < 4; j++) assert_memory_equal(z + j * 3, row[3 - j], sizeof row[0]);
}

/* ---- runs ---- */

#define IMAGES                                                                                                  \
  "data.set", "images", "data.size", "8", "data.classes", "4", "run.batch", "4", "run.steps", "6", "model.net", \
      "conv(channels=4)"

static void test_runs(void **state) {
  (void)state;
  folder = files;
  uint64_t plain = digest_after(6, PAIRS(IMAGES)), varied = digest_after(6, PAIRS(IMAGES, "data.augment", "yes"));
  assert_true(plain != varied && varied == digest_after(6, PAIRS(IMAGES, "data.augment", "yes", "run.threads", "3")));
  assert_true(varied != digest_after(6, PAIRS(IMAGES, "data.augment", "yes", "data.area", "0.5")));
  assert_true(plain != digest_after(6, PAIRS(IMAGES, "data.normalise", "means")));
  hu_trainer *trainer = with(PAIRS(IMAGES, "data.normalise", "image", "data.augment", "yes"));
  begin(trainer);
  assert_true(trainer->source.training.count == N - 1 && trainer->source.test.count == 6);
  assert_true(hu_trainer_file_count(trainer) == 2); /* the labels */
  steps(trainer, 1);
  for (size_t i = 0; i < 4; i++) { /* each image by itself */
    double sum = 0;
    for (size_t k = 0; k < 192; k++) sum += (double)trainer->buffers.x[i * 192 + k];
    assert_true(fabs(sum) < 1e-3);
  }
  hu_trainer_seen seen, again;
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &seen), HU_OK);
  assert_int_equal(hu_trainer_evaluate(trainer, HU_ON_TEST, &again), HU_OK);
  assert_true(seen.loss == again.loss && seen.loss > 0 && seen.accuracy >= 0);
  hu_trainer_free(trainer);
  trainer = with(PAIRS(IMAGES, "data.path", "none"));
  assert_int_equal(hu_trainer_begin(trainer, folder, why), HU_E_FILE);
  assert_non_null(strstr(why, "/none/train-images.npy: No such file"));
  hu_trainer_free(trainer);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kept), cmocka_unit_test(test_refused),
                                     cmocka_unit_test(test_boxes), cmocka_unit_test(test_pixels),
                                     cmocka_unit_test(test_runs)};
  return cmocka_run_group_tests(tests, make_files, remove_files);
}
