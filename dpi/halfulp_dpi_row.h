/* SPDX-License-Identifier: MIT */
/* The elements of operands of halfulp_dpi.c, from buses and from arrays. A part of that file, which alone includes it:
 * a test bench compiles one file. */
#ifndef HALFULP_DPI_ROW_H
#define HALFULP_DPI_ROW_H

#include "halfulp_dpi.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <halfulp/accum.h>

typedef struct row {
  uint64_t *data; /* allocated; elements in their storage */
  size_t count;
  hu_type element;
} row;

/* The elements of one operand: from a bus, or from an array. */
typedef struct source {
  const svBitVecVal *bus;
  svOpenArrayHandle array;
} source;

static uint64_t bus_get(const svBitVecVal *bus, size_t at, unsigned width) {
  uint64_t x = 0;
  for (unsigned i = 0; i < width; i++, at++) x |= (uint64_t)(bus[at / 32] >> (at % 32) & 1) << i;
  return x;
}

static int array_get(svOpenArrayHandle array, size_t k, unsigned width, uint64_t *x) {
  const void *at = svGetArrElemPtr1(array, svLow(array, 1) + (int)k);
  if (!at) return 0;
  *x = width == 32 ? *(const unsigned int *)at : *(const unsigned long long *)at;
  return 1;
}

/* Is x such an element? A longint repeats the sign of a signed integer in all bits above it. */
static int is_element(hu_type element, uint64_t x) {
  unsigned width = hu_type_width(element);
  int is_signed = element.kind == HU_TYPE_INT4 || element.kind == HU_TYPE_INT8 || element.kind == HU_TYPE_INT32;
  if (width >= 64 || x >> width == 0) return 1;
  return is_signed && x >> (width - 1) == UINT64_MAX >> (width - 1);
}

/* Stores an element as hu_dot reads it, in 1, 2, 4 or 8 bytes. */
static void put(void *z, size_t k, size_t size, uint64_t x) {
  const uint8_t x1 = (uint8_t)x;
  const uint16_t x2 = (uint16_t)x;
  const uint32_t x4 = (uint32_t)x;
  const void *from = size == 1 ? (const void *)&x1 : size == 2 ? (const void *)&x2 : size == 4 ? (const void *)&x4 : &x;
  memcpy((uint8_t *)z + k * size, from, size);
}

static uint64_t get(const void *z, size_t size) {
  uint8_t x1;
  uint16_t x2;
  uint32_t x4;
  uint64_t x = 0;
  if (size == 1) x = (memcpy(&x1, z, 1), x1);
  if (size == 2) x = (memcpy(&x2, z, 2), x2);
  if (size == 4) x = (memcpy(&x4, z, 4), x4);
  if (size == 8) memcpy(&x, z, 8);
  return x;
}

/* Can the source hold `count` elements of this width? */
static int holds(const source *from, size_t count, unsigned width) {
  if (from->bus) return count <= HU_DPI_BUS / width;
  return from->array && count <= (size_t)svSize(from->array, 1);
}

static hu_status read_row(row *to, const source *from) {
  unsigned width = hu_type_width(to->element);
  size_t size = hu_type_size(to->element);
  if (!to->count) return HU_OK;
  if (!width || !holds(from, to->count, width)) return HU_E_SHAPE;
  to->data = (uint64_t *)calloc(to->count, size < 8 ? 8 : size);
  if (!to->data) return HU_E_MEMORY;
  for (size_t k = 0; k < to->count; k++) {
    uint64_t x = 0;
    if (from->bus)
      x = bus_get(from->bus, k * width, width);
    else if (!array_get(from->array, k, 64, &x))
      return HU_E_SHAPE;
    if (!is_element(to->element, x)) return HU_E_CODE;
    put(to->data, k, size, x);
  }
  return HU_OK;
}

/* Reads the words, of 32 bits each, if there are any. */
static hu_status read_words(uint32_t **words, size_t *count, const source *from, size_t wanted) {
  *words = NULL;
  *count = 0;
  if (!wanted || (!from->bus && !from->array)) return HU_OK;
  size_t there = from->bus ? HU_DPI_BUS / 32 : (size_t)svSize(from->array, 1);
  if (there < wanted) return HU_E_SHAPE;
  *words = (uint32_t *)malloc(wanted * sizeof **words);
  if (!*words) return HU_E_MEMORY;
  for (*count = 0; *count < wanted; ++*count) {
    uint64_t x = 0;
    if (from->bus)
      x = from->bus[*count];
    else if (!array_get(from->array, *count, 32, &x))
      return HU_E_SHAPE;
    (*words)[*count] = (uint32_t)x;
  }
  return HU_OK;
}

#endif
