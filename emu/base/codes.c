/* SPDX-License-Identifier: MIT */
/* The bits above the width are the same ones in every code, so codes side by side are united in words of 64 bits,
 * whatever their size, and are asked about together. Others are united one by one. */
#include "emu/base/codes.h"

#include "emu/base/exec.h"
#include "emu/base/threads.h"

enum {
  TOGETHER = 64,     /* bytes that are read in one turn: compilers make vectors of them */
  PART_MIN = 1 << 16 /* codes that make a part of their own worth while */
};

/* Joins all bytes in one word, each where it stands modulo 8. */
static uint64_t united(const uint8_t *p, size_t bytes) {
  uint64_t u[TOGETHER / 8] = {0}, word, all = 0;
  for (; bytes >= TOGETHER; bytes -= TOGETHER, p += TOGETHER) {
    for (size_t i = 0; i < TOGETHER / 8; i++) {
      memcpy(&word, p + 8 * i, sizeof word);
      u[i] |= word;
    }
  }
  for (size_t i = 0; i < TOGETHER / 8; i++) all |= u[i];
  for (; bytes >= 8; bytes -= 8, p += 8) {
    memcpy(&word, p, sizeof word);
    all |= word;
  }
  word = 0;
  memcpy(&word, p, bytes);
  return all | word;
}

/* Returns the bits above the width in every code of such a word. */
static uint64_t bits_above(const hu_code_area *x) {
  uint8_t codes[8];
  uint64_t word;
  for (size_t i = 0; i < 8; i += x->size) hui_store_code(codes + i, x->size, ~(uint32_t)0 << x->width);
  memcpy(&word, codes, sizeof word);
  return word;
}

static const uint8_t *code_at(const hu_code_area *x, size_t row, size_t column) {
  return (const uint8_t *)x->data + ((ptrdiff_t)row * x->pitch + (ptrdiff_t)column * x->step) * (ptrdiff_t)x->size;
}

/* Has one of n codes of a row bits above the width? */
static int any_above(const hu_code_area *x, size_t row, size_t column, size_t n) {
  uint32_t all = 0;
  if (x->step == 1) return (united(code_at(x, row, column), n * x->size) & bits_above(x)) != 0;
  for (size_t i = 0; i < n; i++) all |= hui_load_code(code_at(x, row, column + i), x->size);
  return all >> x->width != 0;
}

/* The same for signed integers, which may repeat their sign. */
static int any_unfit(const hu_code_area *x, size_t row, size_t column, size_t n) {
  uint32_t wrong = 0;
  for (size_t i = 0; i < n; i++) {
    wrong |= (uint32_t)!hui_code_fits(x, hui_load_code(code_at(x, row, column + i), x->size));
  }
  return wrong != 0;
}

static int any_wrong(const hu_code_area *x, size_t row, size_t column, size_t n) {
  return any_above(x, row, column, n) && (!x->is_signed || any_unfit(x, row, column, n));
}

typedef struct look {
  hu_code_area x;
  size_t part;
  uint8_t wrong[HU_THREADS_MAX];
} look;

static void look_part(void *context, size_t part) {
  look *t = context;
  const hu_code_area *x = &t->x;
  size_t i = part * t->part, all = x->rows * x->cols, past = i + hui_least(all - i, t->part);
  t->wrong[part] = 0;
  while (i < past && !t->wrong[part]) {
    size_t row = i / x->cols, column = i % x->cols, n = hui_least(x->cols - column, past - i);
    t->wrong[part] = (uint8_t)any_wrong(x, row, column, n);
    i += n;
  }
}

static size_t distance(ptrdiff_t step) { return step < 0 ? (size_t)0 - (size_t)step : (size_t)step; }

hu_code_area hui_code_area_in_order(hu_code_area x) {
  if (x.step == 0) x.cols = 1;
  if (x.pitch == 0) x.rows = 1;
  if (x.cols == 1 || (x.rows > 1 && distance(x.pitch) < distance(x.step))) {
    hu_code_area turned = x;
    turned.rows = x.cols;
    turned.cols = x.rows;
    turned.pitch = x.step;
    turned.step = x.pitch;
    x = turned;
  }
  if (x.step == -1) {
    x.data = code_at(&x, 0, x.cols - 1);
    x.step = 1;
  }
  if (x.rows > 1 && x.step == 1 && x.pitch == (ptrdiff_t)x.cols) {
    x.cols *= x.rows;
    x.rows = 1;
  }
  if (x.rows == 1) x.pitch = 0;
  return x;
}

hu_status hui_code_area_check(const hu_code_area *x, uint32_t threads) {
  look t;
  if (!hui_codes_have_room(x)) return HU_OK;
  t.x = hui_code_area_in_order(*x);
  t.part = hui_part_size(t.x.rows * t.x.cols, threads, PART_MIN);
  size_t parts = hui_parts(t.x.rows * t.x.cols, t.part);
  hui_parallel(threads, parts, look_part, &t);
  for (size_t i = 0; i < parts; i++) {
    if (t.wrong[i]) return HU_E_CODE;
  }
  return HU_OK;
}
