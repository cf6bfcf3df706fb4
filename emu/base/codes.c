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
  uint64_t bits[TOGETHER / 8] = {0}, word, all = 0;
  for (; bytes >= TOGETHER; bytes -= TOGETHER, p += TOGETHER) {
    for (size_t i = 0; i < TOGETHER / 8; i++) {
      memcpy(&word, p + 8 * i, sizeof word);
      bits[i] |= word;
    }
  }
  for (size_t i = 0; i < TOGETHER / 8; i++) all |= bits[i];
  for (; bytes >= 8; bytes -= 8, p += 8) {
    memcpy(&word, p, sizeof word);
    all |= word;
  }
  word = 0;
  memcpy(&word, p, bytes);
  return all | word;
}

/* Returns the bits above the width in every code of such a word. */
static uint64_t bits_above(const hu_code_area *area) {
  uint8_t codes[8];
  uint64_t word;
  for (size_t i = 0; i < 8; i += area->size) hui_store_code(codes + i, area->size, ~(uint32_t)0 << area->width);
  memcpy(&word, codes, sizeof word);
  return word;
}

static const uint8_t *code_at(const hu_code_area *area, size_t row, size_t column) {
  return (const uint8_t *)area->data +
         ((ptrdiff_t)row * area->pitch + (ptrdiff_t)column * area->step) * (ptrdiff_t)area->size;
}

/* Has one of n codes of a row bits above the width? */
static int any_above(const hu_code_area *area, size_t row, size_t column, size_t n) {
  uint32_t all = 0;
  if (area->step == 1) return (united(code_at(area, row, column), n * area->size) & bits_above(area)) != 0;
  for (size_t i = 0; i < n; i++) all |= hui_load_code(code_at(area, row, column + i), area->size);
  return all >> area->width != 0;
}

/* The same for signed integers, which may repeat their sign. */
static int any_unfit(const hu_code_area *area, size_t row, size_t column, size_t n) {
  uint32_t wrong = 0;
  for (size_t i = 0; i < n; i++) {
    wrong |= (uint32_t)!hui_code_fits(area, hui_load_code(code_at(area, row, column + i), area->size));
  }
  return wrong != 0;
}

static int any_wrong(const hu_code_area *area, size_t row, size_t column, size_t n) {
  return any_above(area, row, column, n) && (!area->is_signed || any_unfit(area, row, column, n));
}

typedef struct look {
  hu_code_area x;
  size_t part;
  uint8_t wrong[HU_THREADS_MAX];
} look;

static void look_part(void *context, size_t part) {
  look *seen = context;
  const hu_code_area *area = &seen->x;
  size_t i = part * seen->part, all = area->rows * area->cols, past = i + hui_least(all - i, seen->part);
  seen->wrong[part] = 0;
  while (i < past && !seen->wrong[part]) {
    size_t row = i / area->cols, column = i % area->cols, n = hui_least(area->cols - column, past - i);
    seen->wrong[part] = (uint8_t)any_wrong(area, row, column, n);
    i += n;
  }
}

static size_t distance(ptrdiff_t step) { return step < 0 ? (size_t)0 - (size_t)step : (size_t)step; }

hu_code_area hui_code_area_in_order(hu_code_area area) {
  if (area.step == 0) area.cols = 1;
  if (area.pitch == 0) area.rows = 1;
  if (area.cols == 1 || (area.rows > 1 && distance(area.pitch) < distance(area.step))) {
    hu_code_area turned = area;
    turned.rows = area.cols;
    turned.cols = area.rows;
    turned.pitch = area.step;
    turned.step = area.pitch;
    area = turned;
  }
  if (area.step == -1) {
    area.data = code_at(&area, 0, area.cols - 1);
    area.step = 1;
  }
  if (area.rows > 1 && area.step == 1 && area.pitch == (ptrdiff_t)area.cols) {
    area.cols *= area.rows;
    area.rows = 1;
  }
  if (area.rows == 1) area.pitch = 0;
  return area;
}

hu_status hui_code_area_check(const hu_code_area *area, uint32_t threads) {
  look seen;
  if (!hui_codes_have_room(area)) return HU_OK;
  seen.x = hui_code_area_in_order(*area);
  seen.part = hui_part_size(seen.x.rows * seen.x.cols, threads, PART_MIN);
  size_t parts = hui_parts(seen.x.rows * seen.x.cols, seen.part);
  hui_parallel(threads, parts, look_part, &seen);
  for (size_t i = 0; i < parts; i++) {
    if (seen.wrong[i]) return HU_E_CODE;
  }
  return HU_OK;
}
