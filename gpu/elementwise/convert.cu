/* SPDX-License-Identifier: MIT */
/* gpu/elementwise/convert.cu - codes of one format to codes of another, one rounding.
 *
 * Bound: an element takes some 330 instructions of emu/core/round.h, so that a multiprocessor, which starts 128 in a
 * clock, converts 0.39. Memory moves 16 bytes in that clock, 5.3 elements of 3 bytes: issue slots are the bound. The
 * device's own conversions would round twice (docs/device.md). */
#include "gpu/base/check.h"
#include "gpu/base/core_op.cuh"
#include "gpu/base/look.h"
#include "halfulp/device.h"

template <class In>
static hu_status hui_convert_from(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                                  hu_format fx, hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  hu_mode rne = {0, 0, 0, 0, 0, 0, {0, 0}};
  hu_from_code<In> from;
  from.spec = hui_spec_of(fx, rne);
  switch (hu_limits_of(fz).storage) {
    case 8: return hui_core_launch<hu_to_code<uint8_t>>(from, n, z, incz, x, incx, fz, mode, exec, events, stream);
    case 16: return hui_core_launch<hu_to_code<uint16_t>>(from, n, z, incz, x, incx, fz, mode, exec, events, stream);
    default: return hui_core_launch<hu_to_code<uint32_t>>(from, n, z, incz, x, incx, fz, mode, exec, events, stream);
  }
}

hu_status hu_device_convert_n(size_t n, void *z, ptrdiff_t incz, hu_format fz, const void *x, ptrdiff_t incx,
                              hu_format fx, hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  hu_mode rne = {0, 0, 0, 0, 0, 0, {0, 0}};
  hu_status status = hui_check_rounding(fz, mode, 0);
  if (status == HU_OK) status = hui_check_rounding(fx, rne, 0);
  if (status != HU_OK) return status;
  uint32_t from = hu_limits_of(fx).storage, to = hu_limits_of(fz).storage;
  status = hui_check_arrays(n, z, to / 8, incz, x, from / 8, incx);
  if (status == HU_OK) status = hui_check_events(events);
  if (status != HU_OK || n == 0) return status;
  hui_look_at(hui_code_array_of(n, x, incx, fx), stream);
  switch (from) {
    case 8: return hui_convert_from<uint8_t>(n, z, incz, fz, x, incx, fx, mode, exec, events, stream);
    case 16: return hui_convert_from<uint16_t>(n, z, incz, fz, x, incx, fx, mode, exec, events, stream);
    default: return hui_convert_from<uint32_t>(n, z, incz, fz, x, incx, fx, mode, exec, events, stream);
  }
}
