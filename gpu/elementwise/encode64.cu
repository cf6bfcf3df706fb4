/* SPDX-License-Identifier: MIT */
/* gpu/elementwise/encode64.cu - binary64 to grid values or codes.
 *
 * Bound: an element takes some 270 instructions of emu/core/round.h, so that a multiprocessor, which starts 128 in a
 * clock, rounds 0.48. Memory moves 16 bytes in that clock, 1.8 elements of 9 bytes: issue slots are the bound. */
#include "gpu/base/check.h"
#include "gpu/base/core_op.cuh"
#include "halfulp/device.h"

hu_status hu_device_quantize64_n(size_t n, double *z, ptrdiff_t incz, const double *x, ptrdiff_t incx, hu_format format,
                                 hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  hu_from_binary64 from;
  hu_status status = hui_check_rounding(format, mode, 0);
  if (status == HU_OK) status = hui_check_arrays(n, z, sizeof *z, incz, x, sizeof *x, incx);
  if (status == HU_OK) status = hui_check_events(events);
  if (status != HU_OK || n == 0) return status;
  return hui_core_launch<hu_to_binary64>(from, n, z, incz, x, incx, format, mode, exec, events, stream);
}

hu_status hu_device_encode64_n(size_t n, void *z, ptrdiff_t incz, const double *x, ptrdiff_t incx, hu_format format,
                               hu_mode mode, const hu_exec *exec, hu_events *events, void *stream) {
  hu_from_binary64 from;
  hu_status status = hui_check_rounding(format, mode, 0);
  if (status != HU_OK) return status;
  uint32_t storage = hu_limits_of(format).storage;
  status = hui_check_arrays(n, z, storage / 8, incz, x, sizeof *x, incx);
  if (status == HU_OK) status = hui_check_events(events);
  if (status != HU_OK || n == 0) return status;
  switch (storage) {
    case 8: return hui_core_launch<hu_to_code<uint8_t>>(from, n, z, incz, x, incx, format, mode, exec, events, stream);
    case 16:
      return hui_core_launch<hu_to_code<uint16_t>>(from, n, z, incz, x, incx, format, mode, exec, events, stream);
    default:
      return hui_core_launch<hu_to_code<uint32_t>>(from, n, z, incz, x, incx, format, mode, exec, events, stream);
  }
}
