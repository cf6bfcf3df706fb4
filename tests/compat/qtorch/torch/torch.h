// SPDX-License-Identifier: MIT
// As much of PyTorch's C++ interface as QPyTorch's source for the CPU names, so that the source itself, unchanged, can
// be compiled in a second and without PyTorch: float tensors of one axis.
#ifndef HALFULP_TESTS_COMPAT_TORCH_H
#define HALFULP_TESTS_COMPAT_TORCH_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <tuple>
#include <vector>

#define TORCH_CHECK(condition, ...) \
  if (!(condition)) std::abort()
#define PYBIND11_MODULE(name, m) static void module_of_##name(test_module &m)
#define TORCH_EXTENSION_NAME tests

struct test_module {
  template <class F>
  void def(const char *, F, const char *) {}
};

namespace at {
enum test_kind { kByte };

class Tensor {
 public:
  Tensor() {}
  explicit Tensor(std::vector<float> x) : values(std::move(x)), bytes(values.size()) {}
  bool is_contiguous() const { return true; }
  bool is_cuda() const { return false; }
  int64_t numel() const { return static_cast<int64_t>(values.size()); }
  int64_t size(int64_t) const { return numel(); }
  template <class T>
  T *data_ptr();
  Tensor expand_as(const Tensor &like) const { return Tensor(std::vector<float>(like.values.size(), values.at(0))); }
  Tensor contiguous() const { return *this; }
  // Blocks along an axis: not here.
  Tensor view(std::initializer_list<int64_t>) const { std::abort(); }
  Tensor view_as(const Tensor &) const { std::abort(); }
  Tensor transpose(int64_t, int64_t) const { std::abort(); }
  Tensor abs() const { std::abort(); }
  std::tuple<Tensor, Tensor> max(int64_t, bool) const { std::abort(); }
  std::initializer_list<int64_t> sizes() const { std::abort(); }

  std::vector<float> values;
  std::vector<uint8_t> bytes;
};
template <>
inline float *Tensor::data_ptr<float>() {
  return values.data();
}
template <>
inline uint8_t *Tensor::data_ptr<uint8_t>() {
  return bytes.data();
}

inline Tensor zeros_like(const Tensor &x) { return Tensor(std::vector<float>(x.values.size())); }
inline Tensor zeros_like(const Tensor &x, test_kind) { return zeros_like(x); }
inline Tensor rand_like(const Tensor &x) { return zeros_like(x); }
inline Tensor abs(Tensor x) {
  for (float &v : x.values) v = std::fabs(v);
  return x;
}
inline Tensor max(const Tensor &x) { return Tensor({*std::max_element(x.values.begin(), x.values.end())}); }
}  // namespace at

namespace torch {
inline at::test_kind CPU(at::test_kind kind) { return kind; }
}  // namespace torch

#endif
