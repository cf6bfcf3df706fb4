/* SPDX-License-Identifier: MIT */
/* gpu/host/device_float.h - binary32 numbers whose plain operators do what a device's do: a NaN result is 0x7FFFFFFF,
 * while a CPU returns an operand's NaN.
 *
 * For kernels that write a + b instead of __fadd_rn(a, b): kernels_train.cpp compiles them with this class instead of
 * float. It has float's size and alignment, and is passed to functions like a float. */
#ifndef HALFULP_GPU_HOST_DEVICE_FLOAT_H
#define HALFULP_GPU_HOST_DEVICE_FLOAT_H

#include <type_traits>

#include "cuda_runtime.h"

struct hu_device_float {
  float value;
  hu_device_float() = default;
  template <class T, class = typename std::enable_if<std::is_arithmetic<T>::value>::type>
  constexpr hu_device_float(T x) : value((float)x) {}
  /* Explicit, so that other numbers beside a hu_device_float become one, unless the source has a cast. */
  template <class T, class = typename std::enable_if<std::is_arithmetic<T>::value>::type>
  constexpr explicit operator T() const {
    return (T)value;
  }

#define HU_DEVICE_OPERATOR(op)                                                      \
  friend inline hu_device_float operator op(hu_device_float a, hu_device_float b) { \
    return hu_device_float(hui_host_result(a.value op b.value));                    \
  }                                                                                 \
  inline hu_device_float &operator op##=(hu_device_float b) { return *this = *this op b; }
  HU_DEVICE_OPERATOR(+)
  HU_DEVICE_OPERATOR(-)
  HU_DEVICE_OPERATOR(*)
  HU_DEVICE_OPERATOR(/)
#undef HU_DEVICE_OPERATOR
  friend inline hu_device_float operator-(hu_device_float a) { return hu_device_float(-a.value); }

#define HU_DEVICE_COMPARISON(op) \
  friend inline int operator op(hu_device_float a, hu_device_float b) { return a.value op b.value; }
  HU_DEVICE_COMPARISON(==)
  HU_DEVICE_COMPARISON(!=)
  HU_DEVICE_COMPARISON(<)
  HU_DEVICE_COMPARISON(<=)
  HU_DEVICE_COMPARISON(>)
  HU_DEVICE_COMPARISON(>=)
#undef HU_DEVICE_COMPARISON
};
static_assert(sizeof(hu_device_float) == sizeof(float) && std::is_trivially_copyable<hu_device_float>::value,
              "tensors of floats are tensors of these");

static inline hu_device_float fabsf(hu_device_float x) { return fabsf(x.value); }
static inline hu_device_float sqrtf(hu_device_float x) { return hui_host_result(sqrtf(x.value)); }
static inline hu_device_float fmaf(hu_device_float x, hu_device_float y, hu_device_float z) {
  return __fmaf_rn(x.value, y.value, z.value);
}
static inline unsigned __float_as_uint(hu_device_float x) { return __float_as_uint(x.value); }

#endif
