/* SPDX-License-Identifier: MIT */
/* layouts/wire.h - the wire format of Protocol Buffers: fields of a message, one after the other. */
#ifndef HALFULP_LAYOUTS_WIRE_H
#define HALFULP_LAYOUTS_WIRE_H

#include <stddef.h>
#include <stdint.h>

typedef struct hui_wire {
  const uint8_t *at, *end;
} hui_wire;

typedef struct hui_field {
  uint32_t number;
  uint8_t type; /* 0: value is a varint; 1, 5: 8 and 4 bytes, value has them; 2: bytes */
  uint64_t value;
  const uint8_t *bytes;
  size_t size;
} hui_field;

/* Takes the next field: 1; 0: the end, and *good is 0 if it is no whole message. */
int hui_wire_next(hui_wire *x, hui_field *z, int *good);
/* Takes a varint: 1, or 0: it is cut off or longer than 64 bits. */
int hui_wire_varint(hui_wire *x, uint64_t *z);
/* Returns 1 if a field of bytes is this text. */
int hui_wire_is(const hui_field *x, const char *text);

#endif
