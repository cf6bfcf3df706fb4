/* SPDX-License-Identifier: MIT */
/* gpu/tools/bench_device.cu - times on a device: conversions and scaled tensors against cudaMemcpy of the same bytes,
 * the fp32 model against cuBLAS SGEMM without TF32, where there is a libcublas, the other models against the limits
 * that their kernels derive. Times are medians of events around single calls, after a warm-up. Prints a line with the
 * device's name, then lines in the form of bench/table.h. Exits with 77 without a device. */
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "halfulp/device.h"
#include "halfulp/scaled.h"
#include "halfulp/sum.h"

namespace {

void need(bool ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "bench_device: %s failed: %s\n", what, cudaGetErrorString(cudaGetLastError()));
  exit(2);
}

template <class T>
T *device_array(size_t n) {
  void *memory = nullptr;
  need(cudaMalloc(&memory, n * sizeof(T)) == cudaSuccess, "cudaMalloc");
  return (T *)memory;
}

/* The device: multiprocessors, compute capability and clock. */
struct chip {
  int sms, major, minor;
  double clock; /* Hz */
} gpu;

void know_gpu(void) {
  int device = 0, khz = 0;
  need(cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&gpu.sms, cudaDevAttrMultiProcessorCount, device) == cudaSuccess &&
           cudaDeviceGetAttribute(&gpu.major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
           cudaDeviceGetAttribute(&gpu.minor, cudaDevAttrComputeCapabilityMinor, device) == cudaSuccess &&
           cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, device) == cudaSuccess,
       "cudaDeviceGetAttribute");
  gpu.clock = 1e3 * khz;
}

/* Prints one figure. A name has commas, and no quotes. */
void line(const std::string &row, const char *unit, double figure) {
  printf("\"%s\",sm_%d%d,1,%s,%.4g\n", row.c_str(), gpu.major, gpu.minor, unit, figure);
}

/* Returns the median milliseconds of one call. */
double median(int runs, const std::function<void()> &call) {
  std::vector<float> times((size_t)runs);
  cudaEvent_t from, to;
  need(cudaEventCreate(&from) == cudaSuccess && cudaEventCreate(&to) == cudaSuccess, "cudaEventCreate");
  for (int i = 0; i < 3; i++) call();
  for (float &time : times) {
    cudaEventRecord(from, 0);
    call();
    cudaEventRecord(to, 0);
    need(cudaEventSynchronize(to) == cudaSuccess, "a timed call");
    cudaEventElapsedTime(&time, from, to);
  }
  cudaEventDestroy(from);
  cudaEventDestroy(to);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/* The device as the place of a call. */
hu_exec there(void) {
  hu_exec exec = {0, 0, {1, 0}, hu_cuda(NULL)};
  return exec;
}

/* Fills with values like weights: sums of four uniform numbers, some below the 8-bit formats' normal range. */
void fill(float *device, size_t n, float factor = 1) {
  std::vector<float> x(n);
  uint64_t state = 1;
  for (float &value : x) {
    int32_t sum = 0;
    state = state * 6364136223846793005u + 1442695040888963407u;
    for (int i = 0; i < 4; i++) sum += (int32_t)((state >> (16 * i)) & 0xFFFF) - 32768;
    value = (float)sum / 32768 * factor;
  }
  need(cudaMemcpy(device, x.data(), n * sizeof(float), cudaMemcpyHostToDevice) == cudaSuccess, "cudaMemcpy");
}

/* Measures conversions; e4m3fn also with standard deviation 0.02, as a layer has: a third is subnormal. */
void conversions(void) {
  const size_t n = (size_t)1 << 28;
  const hu_format formats[] = {hu_format_fn(4, 3, 0), hu_format_ieee(5, 2, 0), hu_format_ieee(5, 10, 0),
                               hu_format_ieee(8, 7, 0), hu_format_fn(4, 3, 0)};
  const char *names[] = {"e4m3fn", "e5m2", "binary16", "bfloat16", "e4m3fn, small"};
  const hu_exec exec = there();
  float *x = device_array<float>(n), *z = device_array<float>(n);
  hu_events *events = device_array<hu_events>(1);
  need(cudaMemset(events, 0, sizeof *events) == cudaSuccess, "cudaMemset");
  fill(x, n);
  double copy4 = median(20, [&]() { cudaMemcpyAsync(z, x, n * 4, cudaMemcpyDeviceToDevice, 0); });
  line("copy, binary32", "speed GB/s", 8e-6 * (double)n / copy4);
  for (int i = 0; i < 5; i++) {
    if (i == 4) fill(x, n, 0.017f);
    for (int kind = 0; kind < 4; kind++) {
      hu_mode mode = {0, 0, 0, 0, 0, 0, {0, 0}};
      const char *what[] = {"quantize rne", "quantize rne, no events", "quantize sra:32", "encode rne"};
      hu_status status = HU_OK;
      if (kind == 2) mode.round = HU_SRA, mode.bits = 32;
      double time = median(20, [&]() {
        if (kind == 3) {
          status = hu_encode_n(n, z, 1, x, 1, formats[i], mode, &exec, events);
        } else {
          status = hu_quantize_n(n, z, 1, x, 1, formats[i], mode, &exec, kind == 1 ? NULL : events);
        }
      });
      need(status == HU_OK, what[kind]);
      double bytes = kind == 3 ? 4 + hu_limits_of(formats[i]).storage / 8 : 8;
      /* A copy moves each byte twice, so the same traffic is a copy of half of it. */
      double copy =
          median(20, [&]() { cudaMemcpyAsync(z, x, (size_t)(bytes / 2 * (double)n), cudaMemcpyDeviceToDevice, 0); });
      line(std::string(what[kind]) + ", " + names[i], "speed / copy", copy / time);
    }
    hu_status status = hu_encode_n(n, z, 1, x, 1, formats[i], hu_mode(), &exec, NULL);
    double time = median(20, [&]() {
      if (status == HU_OK) status = hu_decode_n(n, x, 1, z, 1, formats[i], &exec);
    });
    need(status == HU_OK, "decode");
    double bytes = 4 + hu_limits_of(formats[i]).storage / 8;
    double copy =
        median(20, [&]() { cudaMemcpyAsync(z, x, (size_t)(bytes / 2 * (double)n), cudaMemcpyDeviceToDevice, 0); });
    line(std::string("decode, ") + names[i], "speed / copy", copy / time);
    fill(x, n);
  }
  cudaFree(x);
  cudaFree(z);
  cudaFree(events);
}

/* A scaling of tensors of side x side values. given: 1 if the caller gives an amax to the second level. */
struct scaled_case {
  const char *name;
  int given;
};

void scaled(void) {
  const size_t side = 16384, n = side * side;
  const scaled_case cases[] = {{"mxfp8_e4m3", 0},   {"mxfp4", 0},     {"mxint8", 0},        {"nvfp4", 1},
                               {"nvfp4", 0},        {"nvfp4_te", 1},  {"nvfp4_torchao", 1}, {"dsv3_1x128", 0},
                               {"dsv3_128x128", 0}, {"fp8_tensor", 0}};
  float *x = device_array<float>(n), *z = device_array<float>(n), *tensor = device_array<float>(1);
  uint8_t *codes = device_array<uint8_t>(n), *scales = device_array<uint8_t>(n / 4),
          *work = device_array<uint8_t>(4096);
  float *amax = device_array<float>(1), four = 4;
  hu_events *events = device_array<hu_events>(1);
  need(cudaMemset(events, 0, sizeof *events) == cudaSuccess, "cudaMemset");
  need(cudaMemcpy(amax, &four, sizeof four, cudaMemcpyHostToDevice) == cudaSuccess, "cudaMemcpy");
  fill(x, n);
  for (const scaled_case &each : cases) {
    const char *what[] = {"encode", "encode, events", "encode sra:32", "quantize", "decode"};
    hu_scaling scaling;
    need(hu_scaling_parse(&scaling, each.name, NULL) == HU_OK, each.name);
    hu_scaled_sizes sizes = hu_scaled_sizes_of(side, side, &scaling);
    const hu_exec place = there();
    need(hu_scaled_work_size(side, side, &scaling, &place) <= 4096, "a place to work");
    hu_scaled q = {codes, side, scales, sizes.block_cols, scaling.tensor ? tensor : NULL};
    double bytes = 4.0 + (double)(sizes.codes + sizes.scales) / (double)n;
    for (int kind = 0; kind < 5; kind++) {
      hu_mode mode = hu_mode();
      hu_exec exec = there();
      exec.where.work = work;
      hu_status status = HU_OK;
      const float *given = each.given ? amax : NULL;
      if (kind == 2) mode.round = HU_SRA, mode.bits = 32;
      if (kind == 3) bytes = 8;
      if (kind == 4) bytes = 4.0 + (double)(sizes.codes + sizes.scales) / (double)n;
      double ms = median(20, [&]() {
        if (kind < 3) {
          status =
              hu_scaled_encode(side, side, &q, x, side, &scaling, mode, given, NULL, &exec, kind == 1 ? events : NULL);
        } else if (kind == 3) {
          status = hu_scaled_quantize(side, side, z, side, x, side, &scaling, mode, given, NULL, &exec, NULL);
        } else {
          status = hu_scaled_decode(side, side, z, side, &q, &scaling, &exec);
        }
      });
      need(status == HU_OK, each.name);
      /* A copy moves each byte twice, so the same traffic is a copy of half of it. */
      size_t half = (size_t)(bytes / 2 * (double)n);
      double copy = median(20, [&]() { cudaMemcpyAsync(z, x, half, cudaMemcpyDeviceToDevice, 0); });
      line(std::string(what[kind]) + ", " + each.name + (each.given ? ", amax given" : ""), "speed / copy", copy / ms);
    }
  }
  cudaFree(x);
  cudaFree(z);
  cudaFree(tensor);
  cudaFree(codes);
  cudaFree(scales);
  cudaFree(work);
  cudaFree(amax);
  cudaFree(events);
}

/* Measures sums: a figure is the time of a copy of as many bytes as are read, over the call's. */
void sums(void) {
  const size_t n = (size_t)1 << 28, rows = (size_t)1 << 24;
  const hu_format formats[] = {hu_format_fn(4, 3, 0), hu_format_ieee(8, 7, 0), hu_format_ieee(8, 23, 0)};
  const char *names[] = {"e4m3fn", "bfloat16", "binary32"};
  float *x = device_array<float>(n), *codes = device_array<float>(n), *z = device_array<float>(rows);
  hu_sum *total = device_array<hu_sum>(1);
  hu_events *events = device_array<hu_events>(1);
  need(cudaMemset(total, 0, sizeof *total) == cudaSuccess, "cudaMemset");
  need(cudaMemset(events, 0, sizeof *events) == cudaSuccess, "cudaMemset");
  fill(x, n);
  const hu_exec exec = there();
  for (int i = 0; i < 3; i++) {
    hu_sum_range range =
        hu_sum_range_of_both(hu_sum_range_of_product(formats[i], formats[i]), hu_sum_range_of(formats[i]));
    size_t words = 1 + range.words, width = hu_limits_of(formats[i]).storage / 8;
    uint64_t *each = device_array<uint64_t>(rows * words);
    hu_status status = hu_encode_n(n, codes, 1, x, 1, formats[i], hu_mode(), &exec, NULL);
    need(status == HU_OK && cudaMemset(each, 0, rows * words * 8) == cudaSuccess, "sums to begin with");
    const hu_how how = {hu_mode(), &exec, events};
    const char *what[] = {"sum_add_all", "sum_add_dot", "sum_add_n", "sum_add_product_n", "sum_round_n"};
    for (int kind = 0; kind < 5 && status == HU_OK; kind++) {
      double bytes = (double)((kind < 2 ? n : rows) * (kind == 1 || kind == 3 ? 2 : 1) * width);
      if (kind > 1) bytes += (double)rows * 8 * (double)words; /* the sums; bytes that are written are not counted */
      double ms = median(20, [&]() {
        const void *other = (const uint8_t *)(const void *)codes + n / 2 * width;
        if (kind == 0) status = hu_sum_add_all(total, n, hu_codes(codes, 1, formats[i]), &exec);
        if (kind == 1)
          status = hu_sum_add_dot(total, n, hu_codes(codes, 1, formats[i]), hu_codes(codes, 1, formats[i]), &exec);
        if (kind == 2) status = hu_sum_add_n(rows, each, range, hu_codes(codes, 1, formats[i]), &exec);
        if (kind == 3)
          status = hu_sum_add_product_n(rows, each, range, hu_codes(codes, 1, formats[i]),
                                        hu_codes(other, 1, formats[i]), &exec);
        if (kind == 4) status = hu_sum_round_n(rows, hu_codes_out(z, 1, formats[i]), each, range, &how);
      });
      need(status == HU_OK, what[kind]);
      size_t half = (size_t)(bytes / 2) < n * 4 ? (size_t)(bytes / 2) : n * 4;
      double copy = median(20, [&]() { cudaMemcpyAsync(codes, x, half, cudaMemcpyDeviceToDevice, 0); });
      need(hu_encode_n(n, codes, 1, x, 1, formats[i], hu_mode(), &exec, NULL) == HU_OK, "encode");
      line(std::string(what[kind]) + ", " + names[i], "speed / copy", copy / ms);
    }
    cudaFree(each);
  }
  cudaFree(x);
  cudaFree(codes);
  cudaFree(z);
  cudaFree(total);
  cudaFree(events);
}

/* cuBLAS, opened at run time: a CUDA toolkit has libcublas.so, Python's packages only the name with a number. */
struct blas {
  void *handle;
  int (*sgemm)(void *, int, int, int, int, int, const float *, const float *, int, const float *, int, const float *,
               float *, int);
};
const int BLAS_PLAIN = 0, BLAS_PEDANTIC = 2; /* CUBLAS_OP_N; CUBLAS_PEDANTIC_MATH */

blas blas_open(void) {
  const char *names[] = {"libcublas.so", "libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};
  void *library = nullptr;
  blas found = {nullptr, nullptr};
  for (const char *name : names)
    if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) return found;
  auto create = (int (*)(void **))dlsym(library, "cublasCreate_v2");
  auto set_math = (int (*)(void *, int))dlsym(library, "cublasSetMathMode");
  auto sgemm = (decltype(found.sgemm))dlsym(library, "cublasSgemm_v2");
  if (!create || !set_math || !sgemm || create(&found.handle) != 0) return found;
  need(set_math(found.handle, BLAS_PEDANTIC) == 0, "cublasSetMathMode");
  found.sgemm = sgemm;
  return found;
}

void products(const blas &cublas, int n) {
  size_t elements = (size_t)n * n;
  float *a = device_array<float>(elements), *b = device_array<float>(elements), *result = device_array<float>(elements);
  hu_format eight = hu_format_fn(4, 3, 0);
  hu_mode rne = hu_mode();
  fill(a, elements);
  fill(b, elements);
  const float one = 1, zero = 0;
  const std::string size = std::to_string(n) + "^3";
  double flops = 2e-6 * n * n * n, reference = 0; /* per millisecond: GFLOP/s */
  if (cublas.sgemm) {
    reference = median(10, [&]() {
      need(cublas.sgemm(cublas.handle, BLAS_PLAIN, BLAS_PLAIN, n, n, n, &one, b, n, a, n, &zero, result, n) == 0,
           "SGEMM");
    });
    line("sgemm without TF32, " + size, "speed GFLOP/s", flops / reference);
  }
  hu_output dd = hu_matrix_floats_out(result, (size_t)n);
  hu_view aa = hu_matrix_floats(a, (size_t)n), bb = hu_matrix_floats(b, (size_t)n);
  uint8_t *codes = device_array<uint8_t>(elements); /* codes of the values: equal bytes would draw less power */
  const hu_exec exec = there();
  need(hu_encode_n(elements, codes, 1, a, 1, eight, rne, &exec, NULL) == HU_OK, "encode");
  hu_accum accum;
  const hu_how how = hu_how_of(rne, &exec, NULL);
  memset(&accum, 0, sizeof accum);
  for (int kind = 0; kind < 3; kind++) {
    const char *what[] = {"fp32, binary32 values", "fp32, e4m3fn codes", "exact, e4m3fn codes"};
    hu_status status = HU_OK;
    if (kind > 0) {
      aa = hu_matrix_codes(codes, (size_t)n, eight);
      bb = aa;
    }
    accum.kind = kind < 2 ? HU_ACCUM_FP32 : HU_ACCUM_EXACT;
    double time = median(10, [&]() { status = hu_gemm(n, n, n, &dd, &aa, &bb, NULL, &accum, &how); });
    need(status == HU_OK, what[kind]);
    const std::string row = std::string("gemm ") + what[kind] + ", " + size;
    line(row, "speed GFLOP/s", flops / time);
    if (cublas.sgemm) line(row, "speed / sgemm", reference / time);
  }
  cudaFree(codes);
  cudaFree(a);
  cudaFree(b);
  cudaFree(result);
}

/* A model on side^3. products: the most that a multiprocessor of compute capability 9.0 does in a clock, as the comment
 * of the kernel derives it; 0: no limit is derived. */
struct model_case {
  const char *model;
  hu_format operands;
  int side;
  double products;
};

void models(void) {
  const hu_format half = hu_format_ieee(5, 10, 0), brain = hu_format_ieee(8, 7, 0), e4m3 = hu_format_fn(4, 3, 0);
  const hu_format e2m1 = hu_format_finite(2, 1, 0);
  const model_case cases[] = {
      {"seq(binary32)", half, 4096, 128},
      {"seq(binary16)", half, 4096, 256},
      {"seq(bfloat16)", brain, 4096, 256},
      {"seq(fp(6,9,0))", half, 4096, 64.0 / 6},
      {"seq(fp(5,7,0))", e4m3, 4096, 64.0 / 6},
      {"seq(dlfloat16)", half, 1024, 0}, /* no subnormals, hence by_model.cu, like the next ones */
      {"exact", e4m3, 4096, 0},
      {"exact", e2m1, 4096, 128},
      {"exact", half, 512, 0},
      {"nv.ampere.f16.f32", half, 1024, 0},
      {"nv.hopper.f16.f32", half, 1024, 0},
      {"nv.hopper.bf16.f32", brain, 1024, 0},
      {"nv.hopper.e4m3.f32.wgmma", e4m3, 1024, 0},
      {"amd.cdna3.f16", half, 1024, 0},
      {"seq2(binary32)", half, 1024, 0},
      {"kahan(binary16)", half, 512, 0},
      {"pairwise(binary32)", half, 512, 0}};
  const size_t most = (size_t)4096 * 4096;
  float *x = device_array<float>(most), *result = device_array<float>(most);
  uint8_t *a = device_array<uint8_t>(2 * most), *b = device_array<uint8_t>(2 * most);
  fill(x, most);
  for (const model_case &each : cases) {
    hu_accum accum;
    need(hu_accum_parse(&accum, each.model, NULL) == HU_OK, each.model);
    size_t n = (size_t)each.side;
    const hu_exec exec = there();
    need(hu_encode_n(n * n, a, 1, x, 1, each.operands, hu_mode(), &exec, NULL) == HU_OK, "encode");
    need(hu_encode_n(n * n, b, 1, x + (most - n * n), 1, each.operands, hu_mode(), &exec, NULL) == HU_OK, "encode");
    hu_view aa = hu_matrix_codes(a, n, each.operands), bb = hu_matrix_codes(b, n, each.operands);
    hu_output dd = hu_matrix_floats_out(result, n);
    const hu_how how = hu_how_of(hu_mode(), &exec, NULL);
    hu_status status = HU_OK;
    double ms = median(5, [&]() { status = hu_gemm(n, n, n, &dd, &aa, &bb, NULL, &accum, &how); });
    need(status == HU_OK, each.model);
    double rate = 1e3 * (double)n * (double)n * (double)n / ms, limit = each.products * gpu.sms * gpu.clock;
    const std::string row = std::string("gemm ") + each.model + ", " +
                            std::to_string(hu_limits_of(each.operands).width) + "-bit operands, " +
                            std::to_string(each.side) + "^3";
    line(row, "speed GFLOP/s", 2e-9 * rate);
    if (limit > 0 && gpu.major == 9) line(row, "speed / limit", rate / limit);
  }
  cudaFree(x);
  cudaFree(result);
  cudaFree(a);
  cudaFree(b);
}

}  // namespace

int main(void) {
  char name[128];
  if (hu_device_available(name, sizeof name) != HU_OK) {
    printf("bench_device: skipped: %s\n", name);
    return 77;
  }
  setvbuf(stdout, NULL, _IOLBF, 0); /* a run that is stopped keeps its lines */
  know_gpu();
  printf("# device: %s, %d multiprocessors at %.2f GHz at most\nrow,level,threads,unit,figure\n", name, gpu.sms,
         gpu.clock * 1e-9);
  conversions();
  scaled();
  sums();
  const blas cublas = blas_open();
  if (!cublas.sgemm) fprintf(stderr, "bench_device: no libcublas here: nothing is compared with it\n");
  products(cublas, 4096);
  products(cublas, 1024);
  models();
  return 0;
}
