/* SPDX-License-Identifier: MIT */
/* gpu/elementwise/convert.cu - the conversions of arrays, and of their kernels those from codes of one format to codes
 * of another, one rounding.
 *
 * Bound: an element takes some 330 instructions of emu/core/round.h, so that a multiprocessor, which starts 128 in a
 * clock, converts 0.39. Memory moves 16 bytes in that clock, 5.3 elements of 3 bytes: issue slots are the bound. The
 * device's own conversions would round twice (docs/device.md). */
#include "gpu/elementwise/convert.cuh"

#include "gpu/base/check.h"
#include "gpu/base/core_op.cuh"
#include "gpu/base/look.h"

template <class In>
static hu_status hui_recode_from(size_t n, const hu_output &z, const hu_view &x, const hu_how &how, void *stream) {
  hu_mode rne = {0, 0, 0, 0, 0, 0, {0, 0}};
  hu_format format = z.type.format;
  hu_from_code<In> from;
  from.spec = hui_spec_of(x.type.format, rne);
  switch (hui_code_bytes(format)) {
    case 1:
      return hui_core_launch<hu_to_code<uint8_t>>(from, n, z.data, z.stride, x.data, x.stride, format, how.mode,
                                                  how.exec, how.events, stream);
    case 2:
      return hui_core_launch<hu_to_code<uint16_t>>(from, n, z.data, z.stride, x.data, x.stride, format, how.mode,
                                                   how.exec, how.events, stream);
    default:
      return hui_core_launch<hu_to_code<uint32_t>>(from, n, z.data, z.stride, x.data, x.stride, format, how.mode,
                                                   how.exec, how.events, stream);
  }
}

hu_status hui_recode_launch(size_t n, const hu_output &z, const hu_view &x, const hu_how &how, void *stream) {
  switch (hui_code_bytes(x.type.format)) {
    case 1: return hui_recode_from<uint8_t>(n, z, x, how, stream);
    case 2: return hui_recode_from<uint16_t>(n, z, x, how, stream);
    default: return hui_recode_from<uint32_t>(n, z, x, how, stream);
  }
}

/* ---- all conversions ---- */

hu_status hui_device_convert(size_t n, const hu_output &z, const hu_view &x, const hu_how &how, void *stream) {
  hu_status status = hui_check_conversion(&z.type, &x.type);
  if (status != HU_OK) return status;
  if (hui_number_of(&z.type) || hui_number_of(&x.type)) return hui_number_launch(n, z, x, how, stream);
  status = hui_check_formats(n, &z, &x, &how);
  if (status != HU_OK || n == 0) return status;
  size_t to = hui_carrier_bytes(&z.type), from = hui_carrier_bytes(&x.type);
  if (to && from && to != from) return hui_number_launch(n, z, x, how, stream);
  if (from) return from == 4 ? hui_encode32_launch(n, z, x, how, stream) : hui_encode64_launch(n, z, x, how, stream);
  if (to && !hui_is_plain(&z.type)) return hui_number_launch(n, z, x, how, stream);
  hui_look_at(hui_code_array_of(n, x.data, x.stride, x.type.format), stream);
  return to ? hui_decode_launch(n, z, x, stream) : hui_recode_launch(n, z, x, how, stream);
}
