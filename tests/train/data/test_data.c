/* SPDX-License-Identifier: MIT */
/* Data sets from files: each format right and wrong in every field, thousands of mutations, the digits, the text.
 * Argument: the folder with the shipped data. */
#define _GNU_SOURCE /* mkdtemp */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/cmocka.h"
#include "tests/support/support.h"
#include "train/data/file.h"

static const char *shipped;

enum { ROOM = 40000, CIFAR10 = 3073, CIFAR100 = 3074 };

/* A file that a test is making. */
typedef struct made {
  size_t size;
  uint8_t data[ROOM];
} made;

static void put(made *m, const void *data, size_t n) {
  assert_true(m->size + n <= ROOM);
  memcpy(m->data + m->size, data, n);
  m->size += n;
}
static void put_big32(made *m, uint32_t x) {
  const uint8_t b[4] = {(uint8_t)(x >> 24), (uint8_t)(x >> 16), (uint8_t)(x >> 8), (uint8_t)x};
  put(m, b, 4);
}
static void put_pattern(made *m, size_t n, unsigned seed) {
  for (size_t i = 0; i < n; i++) {
    uint8_t b = (uint8_t)(i * 7 + i / 256 + seed);
    put(m, &b, 1);
  }
}

static made cifar(unsigned classes, size_t records) {
  made m = {0, {0}};
  for (size_t i = 0; i < records; i++) {
    const uint8_t labels[2] = {(uint8_t)(i * 3 % (classes == 10 ? 10 : 20)), (uint8_t)(i * 37 % 100)};
    put(&m, labels, classes == 10 ? 1 : 2);
    put_pattern(&m, 3072, (unsigned)i);
  }
  return m;
}
static made idx_images(uint32_t count, uint32_t rows, uint32_t columns) {
  made m = {0, {0}};
  put_big32(&m, 0x803);
  put_big32(&m, count);
  put_big32(&m, rows);
  put_big32(&m, columns);
  put_pattern(&m, (size_t)count * rows * columns, 5);
  return m;
}
static made idx_labels(uint32_t count) {
  made m = {0, {0}};
  put_big32(&m, 0x801);
  put_big32(&m, count);
  for (uint32_t i = 0; i < count; i++) put(&m, &(uint8_t){(uint8_t)(i * 3 % 10)}, 1);
  return m;
}
/* Version 1.0 with a header of 118 bytes, as NumPy pads it. */
static made npy(const char *header, const void *data, size_t size) {
  made m = {0, {0}};
  char text[118];
  memset(text, ' ', sizeof text);
  memcpy(text, header, strlen(header));
  text[117] = '\n';
  put(&m, "\x93NUMPY\x01\x00\x76\x00", 10);
  put(&m, text, sizeof text);
  put(&m, data, size);
  return m;
}

static hu_bytes bytes(const char *name, const made *m) { return (hu_bytes){name, m->data, m->size}; }

/* What every loader does with one or two files. */
typedef enum format { OF_CIFAR10, OF_CIFAR100, OF_IDX, OF_NPY, OF_TEXT, FORMATS } format;

static hu_status read_as(format f, hu_data *z, hu_text *text, const hu_bytes *a, const hu_bytes *b, char *why) {
  switch (f) {
    case OF_CIFAR10: return hui_data_read_cifar(z, a, 1, 10, 0, why);
    case OF_CIFAR100: return hui_data_read_cifar(z, a, 1, 100, 1, why);
    case OF_IDX: return hui_data_read_idx(z, a, b, 10, 0, why);
    case OF_NPY: return hui_data_read_npy(z, a, b, 10, 16, why);
    default: return hui_text_read(text, a, why);
  }
}

/* Refused, with the file and the field named, and nothing half done. */
static void refused(format f, const made *a, const made *b, const char *name, const char *field) {
  char why[HU_DATA_WHY_MAX] = "";
  hu_data z;
  hu_text text;
  hu_bytes x = bytes("first.bin", a), y = b ? bytes("second.bin", b) : x;
  t_fill_pattern(&z, sizeof z);
  t_fill_pattern(&text, sizeof text);
  assert_int_equal(read_as(f, &z, &text, &x, &y, why), HU_E_DATA);
  if (strncmp(why, name, strlen(name)) != 0 || !strstr(why, field)) fail_msg("'%s': no %s, %s", why, name, field);
  assert_true(t_is_pattern(&z, sizeof z) && t_is_pattern(&text, sizeof text));
}

static void cifar_files(void **state) {
  (void)state;
  for (unsigned classes = 10; classes <= 100; classes += 90) {
    made m = cifar(classes, 4), n = cifar(classes, 2);
    hu_bytes files[2] = {bytes("a.bin", &m), bytes("b.bin", &n)};
    for (int coarse = 0; coarse < 2; coarse++) {
      hu_data z;
      assert_int_equal(hui_data_read_cifar(&z, files, 2, classes, coarse, NULL), HU_OK);
      assert_true(z.count == 6 && z.height == 32 && z.width == 32 && z.channels == 3 && !z.y && z.targets == 0);
      assert_int_equal(z.classes, classes == 10 ? 10 : coarse ? 20 : 100);
      size_t step = classes == 10 ? CIFAR10 : CIFAR100;
      for (size_t i = 0; i < 6; i++) {
        const uint8_t *r = i < 4 ? m.data + i * step : n.data + (i - 4) * step;
        assert_int_equal(z.labels[i], classes == 10 || coarse ? r[0] : r[1]);
        r += step - 3072;
        for (size_t p = 0; p < 1024; p++) {
          for (size_t c = 0; c < 3; c++) {
            assert_true(t_same32(z.x[(i * 1024 + p) * 3 + c], (float)r[c * 1024 + p] / 255.0f));
          }
        }
      }
      hu_data_free(&z);
      assert_null(z.x);
    }
    format f = classes == 10 ? OF_CIFAR10 : OF_CIFAR100;
    made bad = m;
    bad.size--;
    refused(f, &bad, NULL, "first.bin", "size: ");
    bad.size = 0;
    refused(f, &bad, NULL, "first.bin", "empty");
    bad = m;
    bad.data[2 * (classes == 10 ? CIFAR10 : CIFAR100)] = classes == 10 ? 10 : 20;
    refused(f, &bad, NULL, "first.bin", classes == 10 ? "label of record 2: 10, not below 10" : "coarse label");
    bad = m;
    bad.data[1] = 100;
    if (classes == 100) refused(f, &bad, NULL, "first.bin", "fine label of record 0: 100, not below 100");
    bad.data[0] = 0x1F;
    bad.data[1] = 0x8B;
    refused(f, &bad, NULL, "first.bin", "gzip");
  }
}

static void idx_files(void **state) {
  (void)state;
  made images = idx_images(7, 4, 3), labels = idx_labels(7), bad = images;
  hu_bytes a = bytes("i", &images), b = bytes("l", &labels);
  for (int by_columns = 0; by_columns < 2; by_columns++) {
    hu_data z;
    assert_int_equal(hui_data_read_idx(&z, &a, &b, 10, by_columns, NULL), HU_OK);
    assert_true(z.count == 7 && z.height == 4 && z.width == 3 && z.channels == 1 && z.classes == 10);
    for (size_t e = 0; e < 7; e++) {
      assert_int_equal(z.labels[e], e * 3 % 10);
      for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 3; j++) {
          uint8_t byte = images.data[16 + e * 12 + (by_columns ? j * 4 + i : i * 3 + j)];
          assert_true(t_same32(z.x[e * 12 + i * 3 + j], (float)byte / 255.0f));
        }
      }
    }
    hu_data_free(&z);
  }
  bad.data[3] = 1;
  refused(OF_IDX, &bad, &labels, "first.bin", "magic: not 0x00000803");
  refused(OF_IDX, &images, &images, "second.bin", "magic: not 0x00000801");
  bad = images;
  bad.size = 15;
  refused(OF_IDX, &bad, &labels, "first.bin", "header: truncated");
  bad.size = 3;
  refused(OF_IDX, &bad, &labels, "first.bin", "magic");
  bad = images;
  bad.size--;
  refused(OF_IDX, &bad, &labels, "first.bin", "size: 83 bytes of data, count and sizes require 84");
  bad = images;
  put(&bad, "x", 1);
  refused(OF_IDX, &bad, &labels, "first.bin", "size: 85");
  bad = images;
  bad.data[7] = 8;
  refused(OF_IDX, &bad, &labels, "first.bin", "size: 84 bytes of data, count and sizes require 96");
  static const char *const fields[] = {"count: 0", "rows: 0", "columns: 0"};
  for (int i = 0; i < 3; i++) {
    bad = images;
    memset(bad.data + 4 + 4 * i, 0, 4);
    refused(OF_IDX, &bad, &labels, "first.bin", fields[i]);
  }
  bad = images;
  memset(bad.data + 4, 0xFF, 12);
  refused(OF_IDX, &bad, &labels, "first.bin", "do not fit");
  bad = idx_labels(6);
  refused(OF_IDX, &images, &bad, "second.bin", "count: 6 labels for 7 images");
  bad = labels;
  bad.data[8 + 4] = 10;
  refused(OF_IDX, &images, &bad, "second.bin", "label of record 4: 10, not below 10");
  bad.size = 0;
  refused(OF_IDX, &bad, &labels, "first.bin", "empty");
}

#define HEADER(descr, order, shape) "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }"
static const float numbers[12] = {0, 1, 2, 3, -4, 5.5f, 6, 7, 8, 9, 10, 16};

static void npy_files(void **state) {
  (void)state;
  static const uint8_t marks[4] = {3, 0, 9, 1};
  made images = npy(HEADER("<f4", "False", "(3, 4)"), numbers, 48),
       labels = npy(HEADER("|u1", "False", "(3,)"), marks, 3);
  made big = npy(HEADER(">f4", "False", "(3, 2, 2)"), numbers, 48),
       wide = npy(HEADER(">u2", "False", "(2,)"), marks, 4);
  made small = npy(HEADER("|u1", "False", "(2, 1, 1, 2)"), marks, 4), bad = images;
  hu_bytes a = bytes("i", &images), b = bytes("l", &labels);
  hu_data z;
  assert_int_equal(hui_data_read_npy(&z, &a, &b, 10, 16, NULL), HU_OK);
  assert_true(z.count == 3 && z.height == 1 && z.width == 1 && z.channels == 4 && z.classes == 10);
  for (int i = 0; i < 12; i++) assert_true(t_same32(z.x[i], numbers[i] / 16));
  for (int i = 0; i < 3; i++) assert_int_equal(z.labels[i], marks[i]);
  hu_data_free(&z);
  for (size_t i = 0; i < 12; i++) {
    uint8_t *at = big.data + 128 + 4 * i, t[4] = {at[3], at[2], at[1], at[0]};
    memcpy(at, t, 4);
  }
  a = bytes("i", &big);
  assert_int_equal(hui_data_read_npy(&z, &a, NULL, 0, 1, NULL), HU_OK);
  assert_true(z.count == 3 && z.height == 2 && z.width == 2 && z.channels == 1 && z.classes == 0 && !z.labels);
  for (int i = 0; i < 12; i++) assert_true(t_same32(z.x[i], numbers[i]));
  hu_data_free(&z);
  a = bytes("i", &small);
  b = bytes("l", &wide);
  assert_int_equal(hui_data_read_npy(&z, &a, &b, 0x1000, 2, NULL), HU_OK);
  assert_true(z.count == 2 && z.height == 1 && z.width == 1 && z.channels == 2 && z.x[2] == 4.5f);
  assert_true(z.labels[0] == 0x300 && z.labels[1] == 0x901);
  hu_data_free(&z);

  refused(OF_NPY, &images, &wide, "second.bin", "shape: 2 labels for 3 images");
  refused(OF_NPY, &images, &images, "second.bin", "dtype: float32");
  bad.data[0] = 0;
  refused(OF_NPY, &bad, &labels, "first.bin", "magic");
  bad = images;
  bad.size--;
  refused(OF_NPY, &bad, &labels, "first.bin", "truncated");
  bad = images;
  memcpy(bad.data + 128 + 4 * 5, "\x00\x00\xC0\x7F", 4);
  refused(OF_NPY, &bad, &labels, "first.bin", "element 5: not finite");
  bad = labels;
  bad.data[128 + 2] = 200;
  refused(OF_NPY, &images, &bad, "second.bin", "label of record 2: 200, not below 10");
  bad = npy(HEADER("<f4", "True", "(3, 4)"), numbers, 48);
  refused(OF_NPY, &bad, &labels, "first.bin", "fortran_order");
  bad = npy(HEADER("<f8", "False", "(3, 2)"), numbers, 48);
  refused(OF_NPY, &bad, &labels, "first.bin", "dtype: float64");
  bad = npy(HEADER("<f4", "False", "(12,)"), numbers, 48);
  refused(OF_NPY, &bad, &labels, "first.bin", "shape (12,)");
  bad = npy(HEADER("<f4", "False", "(0, 4)"), numbers, 0);
  refused(OF_NPY, &bad, &labels, "first.bin", "shape (0, 4)");
  bad = npy(HEADER("|u1", "False", "(3, 1)"), marks, 3);
  refused(OF_NPY, &images, &bad, "second.bin", "shape: 2 dimensions");
}

static void texts(void **state) {
  (void)state;
  made m = {0, {0}};
  hu_text text;
  put(&m, "b\0anana\xFF", 8);
  hu_bytes a = bytes("t", &m);
  assert_int_equal(hui_text_read(&text, &a, NULL), HU_OK);
  static const uint32_t expected[8] = {2, 0, 1, 3, 1, 3, 1, 4};
  assert_true(text.count == 8 && text.kinds == 5);
  assert_memory_equal(text.tokens, expected, sizeof expected);
  assert_memory_equal(text.values, "\0abn\xFF\0\0", 7);
  hu_text_free(&text);
  assert_null(text.tokens);
  m.size = 0;
  refused(OF_TEXT, &m, NULL, "first.bin", "empty");
}

/* ---- mutations ---- */

static void mutate(made *m, t_random *random) {
  size_t at = m->size ? t_below(random, (uint32_t)m->size) : 0, head = m->size < 132 ? m->size : 132;
  static const uint8_t edges[] = {0, 1, 3, 8, 0x1F, 0x7F, 0x80, 0xFF};
  switch (t_below(random, 6)) {
    case 0: m->size = at; break;
    case 1:
      if (m->size + 40 < ROOM) put_pattern(m, 1 + t_below(random, 40), t_next32(random));
      break;
    case 2:
      if (m->size) m->data[at] = (uint8_t)t_next32(random);
      break;
    case 3:
      if (head) m->data[t_below(random, (uint32_t)head)] ^= (uint8_t)(1u << t_below(random, 8));
      break;
    case 4:
      if (head) m->data[t_below(random, (uint32_t)head)] = edges[t_below(random, 8)];
      break;
    default:
      if (head > 16) memset(m->data + 4 * (1 + t_below(random, 3)), edges[t_below(random, 8)], 4);
  }
}

/* An exact copy on the heap, so that a sanitizer sees a read beyond its end. */
static hu_bytes exact(const char *name, const made *m) {
  uint8_t *data = malloc(m->size ? m->size : 1);
  assert_non_null(data);
  memcpy(data, m->data, m->size);
  return (hu_bytes){name, data, m->size};
}

static void check_taken(format f, const hu_data *z, const hu_text *text, const hu_bytes *a) {
  if (f == OF_TEXT) {
    assert_int_equal(text->count, a->size);
    for (size_t i = 0; i < text->count; i++)
      assert_true(text->values[text->tokens[i]] == a->data[i] && text->tokens[i] < text->kinds);
    return;
  }
  size_t all = z->count * hu_data_features(z);
  assert_true(z->count > 0 && all / z->count == hu_data_features(z) && all <= a->size);
  for (size_t i = 0; i < z->count; i++) assert_true(z->labels[i] < z->classes);
  for (size_t i = 0; i < all; i++) assert_true(f == OF_NPY ? isfinite(z->x[i]) : z->x[i] >= 0 && z->x[i] <= 1);
}

static unsigned run_mutations(format f, const made *a, const made *b, t_random *random) {
  unsigned taken = 0;
  for (int round = 0; round < 3000; round++) {
    char why[HU_DATA_WHY_MAX] = "";
    made x = *a, y = *b;
    hu_data z;
    hu_text text;
    for (unsigned n = t_below(random, 4); n; n--) mutate(t_below(random, 3) ? &x : &y, random);
    hu_bytes p = exact("first.bin", &x), q = exact("second.bin", &y);
    t_fill_pattern(&z, sizeof z);
    t_fill_pattern(&text, sizeof text);
    if (read_as(f, &z, &text, &p, &q, why) == HU_OK) {
      taken++;
      check_taken(f, &z, &text, &p);
      if (f == OF_TEXT) {
        hu_text_free(&text);
      } else {
        hu_data_free(&z);
      }
      assert_string_equal(why, "");
    } else {
      assert_true(t_is_pattern(&z, sizeof z) && t_is_pattern(&text, sizeof text));
      assert_true(memchr(why, 0, sizeof why) &&
                  (strstr(why, "first.bin: ") == why || strstr(why, "second.bin: ") == why));
    }
    hui_bytes_free(&p);
    hui_bytes_free(&q);
  }
  return taken;
}

static void mutations(void **state) {
  (void)state;
  t_random random = {t_seed("data", 1)};
  static const uint8_t marks[4] = {3, 0, 9, 1};
  const made a[FORMATS] = {cifar(10, 2), cifar(100, 2), idx_images(7, 4, 3),
                           npy(HEADER("<f4", "False", "(3, 4)"), numbers, 48), cifar(10, 1)};
  const made b[FORMATS] = {a[0], a[1], idx_labels(7), npy(HEADER("|u1", "False", "(3,)"), marks, 3), a[4]};
  for (format f = 0; f < FORMATS; f++) {
    unsigned taken = run_mutations(f, &a[f], &b[f], &random);
    print_message("format %d: %u of 3000 taken\n", (int)f, taken);
    assert_true(taken > 300 && (f == OF_TEXT || taken < 2900));
  }
}

/* ---- real files ---- */

static void write_file(const char *folder, const char *name, const made *m, char *path, size_t buffer) {
  snprintf(path, buffer, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(m->data, 1, m->size, file), m->size);
  assert_int_equal(fclose(file), 0);
}

static void paths(void **state) {
  (void)state;
  char folder[] = "/tmp/halfulp-data-XXXXXX", a[100], b[100], why[HU_DATA_WHY_MAX], long_path[2000];
  made images = idx_images(7, 4, 3), labels = idx_labels(7), ten = cifar(10, 3), hundred = cifar(100, 3);
  hu_data z;
  hu_text text;
  assert_non_null(mkdtemp(folder));
  write_file(folder, "a", &images, a, sizeof a);
  write_file(folder, "b", &labels, b, sizeof b);
  assert_int_equal(hu_data_load_idx(&z, a, b, 10, 0, why), HU_OK);
  assert_int_equal(z.count, 7);
  hu_data_free(&z);
  assert_int_equal(hu_data_load_idx(&z, b, a, 10, 0, why), HU_E_DATA);
  assert_true(strstr(why, b) == why && strstr(why, "magic"));
  assert_int_equal(hu_data_load_idx(&z, a, b, 0, 0, why), HU_E_SHAPE);
  assert_int_equal(hu_text_load(&text, a, NULL), HU_OK);
  assert_int_equal(text.count, images.size);
  hu_text_free(&text);
  write_file(folder, "a", &ten, a, sizeof a);
  write_file(folder, "b", &ten, b, sizeof b);
  const char *both[2] = {a, b};
  assert_int_equal(hu_data_load_cifar10(&z, both, 2, why), HU_OK);
  assert_int_equal(z.count, 6);
  hu_data_free(&z);
  write_file(folder, "b", &hundred, b, sizeof b);
  assert_int_equal(hu_data_load_cifar10(&z, both, 2, why), HU_E_DATA);
  assert_true(strstr(why, b) == why && strstr(why, "size"));
  both[0] = b;
  assert_int_equal(hu_data_load_cifar100(&z, both, 1, 0, why), HU_OK);
  assert_true(z.count == 3 && z.classes == 100);
  hu_data_free(&z);
  assert_int_equal(hu_data_load_cifar10(&z, both, 0, why), HU_E_SHAPE);
  assert_int_equal(hu_text_load(&text, folder, why), HU_E_FILE); /* a folder is no file */
  assert_true(strstr(why, folder) == why);
  unlink(a);
  unlink(b);
  rmdir(folder);
  assert_int_equal(hu_text_load(&text, a, why), HU_E_FILE);
  assert_true(strstr(why, a) == why);
  assert_int_equal(hu_data_load_digits(&z, folder, 0, why), HU_E_FILE);
  assert_int_equal(hu_text_load(&text, NULL, why), HU_E_NULL);
  memset(long_path, 'x', sizeof long_path);
  long_path[sizeof long_path - 1] = 0;
  assert_int_equal(hu_text_load(&text, long_path, why), HU_E_FILE);
  assert_true(strlen(why) > 250 && strlen(why) < sizeof why - 1 && strstr(why, "xx: "));
}

static void digits(void **state) {
  (void)state;
  static const unsigned in_class[10] = {178, 182, 177, 183, 181, 182, 181, 179, 174, 180};
  hu_data raw, z, training, test, part;
  char why[HU_DATA_WHY_MAX] = "";
  unsigned count[10] = {0};
  double sum = 0;
  if (hu_data_load_digits(&raw, shipped, 1, why) != HU_OK) fail_msg("%s", why);
  assert_int_equal(hu_data_load_digits(&z, shipped, 0, why), HU_OK);
  assert_true(z.count == 1797 && z.height == 8 && z.width == 8 && z.channels == 1 && z.classes == 10);
  for (size_t i = 0; i < 1797 * 64; i++) {
    assert_true(t_same32(z.x[i], raw.x[i] / 16));
    sum += (double)raw.x[i];
  }
  for (size_t i = 0; i < 1797; i++) count[z.labels[i]]++;
  for (int c = 0; c < 10; c++) assert_int_equal(count[c], in_class[c]);
  assert_true(sum == 561718);
  assert_int_equal(hu_data_split(&training, &test, &z, 5, 4), HU_OK);
  assert_true(training.count == 1438 && test.count == 359 && test.height == 8 && training.classes == 10);
  for (size_t i = 0; i < 1797; i++) {
    const hu_data *data = i % 5 == 4 ? &test : &training;
    size_t at = i % 5 == 4 ? i / 5 : i - (i + 1) / 5;
    assert_memory_equal(data->x + at * 64, z.x + i * 64, 64 * sizeof(float));
    assert_int_equal(data->labels[at], z.labels[i]);
  }
  assert_int_equal(hu_data_part(&part, &z, 1790, 7), HU_OK);
  assert_memory_equal(part.x, z.x + 1790 * 64, 7 * 64 * sizeof(float));
  assert_int_equal(part.labels[6], z.labels[1796]);
  hu_data_free(&part);
  assert_int_equal(hu_data_part(&part, &z, 1790, 8), HU_E_SHAPE);
  assert_int_equal(hu_data_part(&part, &z, 0, 0), HU_E_SHAPE);
  assert_int_equal(hu_data_part(&part, &z, SIZE_MAX, 2), HU_E_SHAPE);
  assert_int_equal(hu_data_split(&part, &part, &z, 1, 0), HU_E_SHAPE);
  assert_int_equal(hu_data_split(&part, &part, &z, 5, 5), HU_E_SHAPE);
  hu_data_free(&training);
  hu_data_free(&test);
  hu_data_free(&raw);
  hu_data_free(&z);
}

static void shipped_text(void **state) {
  (void)state;
  char path[4096], why[HU_DATA_WHY_MAX];
  hu_text text;
  snprintf(path, sizeof path, "%s/xz_file_format.txt", shipped);
  if (hu_text_load(&text, path, why) != HU_OK) fail_msg("%s", why);
  assert_true(text.count == 44051 && text.kinds == 92 && text.values[0] == '\n' && text.values[1] == ' ' &&
              text.values[91] == '~');
  hu_text_free(&text);
}

/* Two epochs of 10 as one stream, in batches of 4: the third one crosses; with 7 the last one has 6 left. */
static void streams(void **state) {
  uint32_t order[20];
  hu_batches b;
  (void)state;
  for (uint64_t stream = 0; stream < 2; stream++) {
    for (uint64_t e = 0; e < 2; e++)
      hu_permutation(10, order + 10 * e, hu_stream_child(hu_stream_of_use(3, HU_USE_ORDER), 2 * stream + e));
    for (int keeps = 0; keeps < 2; keeps++) {
      size_t batch = keeps ? 7 : 4, at = 0;
      assert_int_equal(hu_batches_open_streams(&b, 10, batch, 2, keeps, (hu_batch_state){3, stream, 0}), HU_OK);
      assert_int_equal(hu_batches_of_epochs(&b, 2), keeps ? 3 : 5);
      for (size_t i = 0; i < hu_batches_of_epochs(&b, 2); i++, at += b.given) {
        const uint32_t *index = hu_batches_next(&b);
        assert_memory_equal(index, order + at, b.given * sizeof *order);
        assert_int_equal(b.given, at + batch > 20 ? 20 - at : batch);
      }
      assert_int_equal(at, 20);
      assert_int_equal(b.state.epoch, stream);
      (void)hu_batches_next(&b);
      assert_true(b.state.epoch == stream + 1 && b.state.position == 1);
      hu_batches_free(&b);
    }
  }
  assert_int_equal(hu_batches_open_streams(&b, 10, 4, 0, 0, (hu_batch_state){3, 0, 0}), HU_E_SHAPE);
  assert_int_equal(hu_batches_open_streams(&b, 10, 4, 1, 2, (hu_batch_state){3, 0, 0}), HU_E_SHAPE);
}

/* (1, 3, 5, 7) has the mean 4 and the deviation sqrt(5); (5, 5, 5, 6) a deviation below 1/2, which is 1/sqrt(4). */
static void standardised(void **state) {
  float x[8] = {1, 3, 5, 7, 5, 5, 5, 6};
  const float expected[8] = {(float)(-3 / sqrt(5)),
                             (float)(-1 / sqrt(5)),
                             (float)(1 / sqrt(5)),
                             (float)(3 / sqrt(5)),
                             -0.5f,
                             -0.5f,
                             -0.5f,
                             1.5f};
  (void)state;
  hu_standardise_n(2, 4, x);
  for (int i = 0; i < 8; i++) assert_true(x[i] == expected[i]);
}

static void normalised(void **state) {
  (void)state;
  static const float mean[3] = HU_CIFAR10_MEAN, deviation[3] = HU_CIFAR10_DEVIATION, none[3] = {1, 0, 1};
  const size_t shape[3] = {1, 2, 3};
  hu_data z;
  assert_int_equal(hui_data_make(&z, 1, shape, 0, 0), HU_OK);
  for (int i = 0; i < 6; i++) z.x[i] = (float)(40 * i) / 255.0f;
  assert_int_equal(hu_data_normalise(&z, mean, none), HU_E_SHAPE);
  assert_true(z.x[5] == 200 / 255.0f);
  assert_int_equal(hu_data_normalise(&z, mean, deviation), HU_OK);
  for (int i = 0; i < 6; i++) {
    volatile float off = (float)(40 * i) / 255.0f - mean[i % 3];
    assert_true(t_same32(z.x[i], off / deviation[i % 3]));
  }
  hu_data_free(&z);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cifar_files),  cmocka_unit_test(idx_files),    cmocka_unit_test(npy_files),
      cmocka_unit_test(texts),        cmocka_unit_test(mutations),    cmocka_unit_test(paths),
      cmocka_unit_test(digits),       cmocka_unit_test(shipped_text), cmocka_unit_test(normalised),
      cmocka_unit_test(standardised), cmocka_unit_test(streams)};
  if (argc < 2) return 2;
  shipped = argv[1];
  return cmocka_run_group_tests_name("data", tests, NULL, NULL);
}
