/* SPDX-License-Identifier: MIT */
/* Protocol Buffers' wire format: see wire.h. Source: protobuf.dev, "Encoding". Groups, which are long out of use, are
 * refused. */
#include "layouts/wire.h"

#include <string.h>

int hui_wire_varint(hui_wire *x, uint64_t *z) {
  *z = 0;
  for (unsigned shift = 0; shift < 64 && x->at < x->end; shift += 7) {
    uint8_t byte = *x->at++;
    *z |= (uint64_t)(byte & 127) << shift;
    if (!(byte & 128)) return 1;
  }
  return 0;
}

static int take_bytes(hui_wire *x, hui_field *z, size_t size) {
  if (size > (size_t)(x->end - x->at)) return 0;
  z->bytes = x->at;
  z->size = size;
  x->at += size;
  return 1;
}

static int take_number(hui_wire *x, hui_field *z, size_t size) {
  if (!take_bytes(x, z, size)) return 0;
  for (size_t i = 0; i < size; i++) z->value |= (uint64_t)z->bytes[i] << 8 * i;
  return 1;
}

int hui_wire_next(hui_wire *x, hui_field *z, int *good) {
  uint64_t tag, size;
  *z = (hui_field){0, 0, 0, NULL, 0};
  if (x->at == x->end) return 0;
  int fits = hui_wire_varint(x, &tag) && tag >> 3 && tag >> 3 <= 0x1FFFFFFF;
  z->number = (uint32_t)(tag >> 3);
  z->type = (uint8_t)(tag & 7);
  if (fits && z->type == 0) fits = hui_wire_varint(x, &z->value);
  if (fits && z->type == 1) fits = take_number(x, z, 8);
  if (fits && z->type == 5) fits = take_number(x, z, 4);
  if (fits && z->type == 2) fits = hui_wire_varint(x, &size) && size <= SIZE_MAX && take_bytes(x, z, (size_t)size);
  if (fits && (z->type == 3 || z->type == 4 || z->type > 5)) fits = 0;
  if (!fits) *good = 0;
  return fits;
}

int hui_wire_is(const hui_field *x, const char *text) {
  return x->type == 2 && x->size == strlen(text) && !memcmp(x->bytes, text, x->size);
}
