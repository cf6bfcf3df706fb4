/* SPDX-License-Identifier: MIT */
/* gpu/elementwise/encode64.cu - binary64 to grid values or codes.
 *
 * Bound: an element takes some 270 instructions of emu/core/round.h, so that a multiprocessor, which starts 128 in a
 * clock, rounds 0.48. Memory moves 16 bytes in that clock, 1.8 elements of 9 bytes: issue slots are the bound. */
#include "gpu/base/core_op.cuh"
#include "gpu/elementwise/convert.cuh"

template <class To>
static hu_status hui_encode64_to(size_t n, const hu_output &z, const hu_view &x, const hu_how &how, void *stream) {
  hu_from_binary64 from;
  return hui_core_launch<To>(from, n, z.data, z.stride, x.data, x.stride, z.type.format, how.mode, how.exec, how.events,
                             stream);
}

hu_status hui_encode64_launch(size_t n, const hu_output &z, const hu_view &x, const hu_how &how, void *stream) {
  if (z.type.kind == HU_TYPE_VALUES64) return hui_encode64_to<hu_to_binary64>(n, z, x, how, stream);
  switch (hui_code_bytes(z.type.format)) {
    case 1: return hui_encode64_to<hu_to_code<uint8_t>>(n, z, x, how, stream);
    case 2: return hui_encode64_to<hu_to_code<uint16_t>>(n, z, x, how, stream);
    default: return hui_encode64_to<hu_to_code<uint32_t>>(n, z, x, how, stream);
  }
}
