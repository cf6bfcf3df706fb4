// SPDX-License-Identifier: MIT
// bench/peers/torch/torch.h - as much of PyTorch's tensors as QPyTorch's file for the CPU names, so that its loops
// over contiguous binary32 arrays run as they are, and the rest of that file compiles. Calls that those loops do not
// make end the program.
#ifndef HALFULP_BENCH_PEERS_TORCH_H
#define HALFULP_BENCH_PEERS_TORCH_H

#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <tuple>
#include <vector>

#define TORCH_CHECK(condition, ...) ((condition) ? (void)0 : std::abort())
#define PYBIND11_MODULE(name, m) static inline void peers_never_called(peers_module &m)

struct peers_module {
  template <typename F>
  void def(const char *, F, const char *) {}
};

namespace at {

enum Kind { kByte };

// An array that it owns, or that it looks at.
class Tensor {
 public:
  static Tensor over(const float *x, size_t n) {
    Tensor tensor;
    tensor.at_ = const_cast<float *>(x);  // read alone
    tensor.n_ = n;
    return tensor;
  }
  static Tensor zeros(size_t bytes, size_t n) {
    Tensor tensor;
    tensor.own_ = std::make_shared<std::vector<unsigned char>>(bytes);
    tensor.at_ = tensor.own_->data();
    tensor.n_ = n;
    return tensor;
  }
  template <typename T>
  T *data_ptr() const {
    return static_cast<T *>(at_);
  }
  int64_t numel() const { return static_cast<int64_t>(n_); }
  bool is_contiguous() const { return true; }
  bool is_cuda() const { return false; }
  // Of block floating point, which no case asks for.
  int64_t size(int) const { return none(), 0; }
  Tensor view(std::initializer_list<int64_t>) const { return none(); }
  Tensor view_as(const Tensor &) const { return none(); }
  Tensor expand_as(const Tensor &) const { return none(); }
  Tensor contiguous() const { return none(); }
  Tensor transpose(int, int) const { return none(); }
  Tensor abs() const { return none(); }
  std::tuple<Tensor, Tensor> max(int, bool) const { return std::make_tuple(none(), none()); }

 private:
  static Tensor none() {
    std::fprintf(stderr, "peers: a call of a tensor that torch/torch.h does not have\n");
    std::abort();
  }
  std::shared_ptr<std::vector<unsigned char>> own_;
  void *at_ = nullptr;
  size_t n_ = 0;
};

inline Tensor zeros_like(const Tensor &a) {
  return Tensor::zeros(static_cast<size_t>(a.numel()) * sizeof(float), static_cast<size_t>(a.numel()));
}
inline Tensor zeros_like(const Tensor &a, Kind) {
  return Tensor::zeros(static_cast<size_t>(a.numel()), static_cast<size_t>(a.numel()));
}
inline Tensor rand_like(const Tensor &a) { return zeros_like(a); }
inline Tensor abs(const Tensor &a) { return a.abs(); }
inline Tensor max(const Tensor &a) { return a.abs(); }

}  // namespace at

namespace torch {
using at::kByte;
inline at::Kind CPU(at::Kind k) { return k; }
}  // namespace torch
using at::kByte;

#endif
