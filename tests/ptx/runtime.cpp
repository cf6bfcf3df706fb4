/* SPDX-License-Identifier: MIT */
/* tests/ptx/runtime.cpp - the CUDA runtime for programs that are linked with this one: memory, streams, graphs, events.
 *
 * Every call has its whole effect before it returns. What a program may do with a stream is checked: it must be one
 * that was made and not destroyed, and while one is captured no other work may be started. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#include <functional>
#include <mutex>
#include <set>

#include "tests/ptx/programs.h"

struct CUstream_st {
  bool blocking = true;
  struct CUgraph_st *graph = nullptr; /* while it is captured */
};
struct CUevent_st {
  double seconds = 0;
};
struct CUgraph_st {
  std::vector<std::function<void()>> nodes;
};
struct CUgraphExec_st {
  std::vector<std::function<void()>> nodes;
};

static std::recursive_mutex &lock() {
  static std::recursive_mutex *m = new std::recursive_mutex;
  return *m;
}
typedef std::lock_guard<std::recursive_mutex> Hold;

static thread_local cudaError_t last = cudaSuccess;
static cudaError_t said(cudaError_t e) {
  if (e != cudaSuccess) last = e;
  return e;
}

/* ---- streams ---- */

static std::set<cudaStream_t> &streams() {
  static std::set<cudaStream_t> *all = new std::set<cudaStream_t>;
  return *all;
}

static bool is_default(cudaStream_t s) { return s == nullptr || s == cudaStreamLegacy || s == cudaStreamPerThread; }

static bool any_captured() {
  for (cudaStream_t s : streams()) {
    if (s->graph) return true;
  }
  return false;
}

/* Does the work now, or writes it down where the stream is captured. */
static cudaError_t in_stream(cudaStream_t s, std::function<void()> work) {
  if (is_default(s)) {
    if (any_captured()) return said(cudaErrorStreamCaptureImplicit);
  } else if (!streams().count(s)) {
    return said(cudaErrorInvalidResourceHandle);
  } else if (s->graph) {
    s->graph->nodes.push_back(std::move(work));
    return cudaSuccess;
  }
  work();
  return cudaSuccess;
}

/* Calls that wait or allocate are not allowed while a stream is captured. */
static cudaError_t not_captured() { return any_captured() ? said(cudaErrorStreamCaptureUnsupported) : cudaSuccess; }

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags) {
  Hold h(lock());
  *s = new CUstream_st;
  (*s)->blocking = !(flags & cudaStreamNonBlocking);
  streams().insert(*s);
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t *s) { return cudaStreamCreateWithFlags(s, cudaStreamDefault); }
cudaError_t cudaStreamDestroy(cudaStream_t s) {
  Hold h(lock());
  if (!streams().erase(s)) return said(cudaErrorInvalidResourceHandle);
  delete s;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t s) {
  Hold h(lock());
  return !is_default(s) && !streams().count(s) ? said(cudaErrorInvalidResourceHandle) : not_captured();
}
cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode) {
  Hold h(lock());
  if (!streams().count(s) || s->graph) return said(cudaErrorInvalidResourceHandle);
  s->graph = new CUgraph_st;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *graph) {
  Hold h(lock());
  if (!streams().count(s) || !s->graph) return said(cudaErrorInvalidResourceHandle);
  *graph = s->graph;
  s->graph = nullptr;
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *, size_t *count) {
  *count = graph->nodes.size();
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *ready, cudaGraph_t graph, unsigned long long) {
  *ready = new CUgraphExec_st{graph->nodes};
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t s) {
  Hold h(lock());
  for (const auto &work : ready->nodes) {
    cudaError_t e = in_stream(s, work);
    if (e != cudaSuccess) return e;
  }
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t ready) {
  delete ready;
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

/* ---- events: they mark nothing but exist ---- */

cudaError_t cudaEventCreate(cudaEvent_t *e) {
  *e = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t e) {
  delete e;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
  Hold h(lock());
  return in_stream(s, [e] { e->seconds = (double)clock() / CLOCKS_PER_SEC; });
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to) {
  *ms = (float)(1000 * (to->seconds - from->seconds));
  return cudaSuccess;
}

/* ---- memory ---- */

/* As many bytes as were asked for, at a multiple of 256, filled with what no test expects. */
cudaError_t cudaMalloc(void **p, size_t n) {
  Hold h(lock());
  if (not_captured() != cudaSuccess) return last;
  *p = n <= (size_t)1 << 40 ? aligned_alloc(256, (n + 511) / 256 * 256) : nullptr;
  if (!*p) return said(cudaErrorMemoryAllocation);
  memset(*p, 0xA5, n);
  range_add(*p, n);
  return cudaSuccess;
}
cudaError_t cudaFree(void *p) {
  Hold h(lock());
  if (!p) return cudaSuccess;
  if (not_captured() != cudaSuccess) return last;
  if (!range_drop(p)) return said(cudaErrorInvalidValue);
  free(p);
  return cudaSuccess;
}

/* Page-locked memory of the host is memory of the host. */
cudaError_t cudaMallocHost(void **p, size_t n) {
  Hold h(lock());
  if (not_captured() != cudaSuccess) return last;
  *p = malloc(n ? n : 1);
  return *p ? cudaSuccess : said(cudaErrorMemoryAllocation);
}
cudaError_t cudaFreeHost(void *p) {
  free(p);
  return cudaSuccess;
}

static bool on_device(const void *p, size_t n) {
  const Range *r = range_of((uint64_t)p);
  return (uint64_t)p >= r->begin && (uint64_t)p + n <= r->end && r->begin;
}

static bool copy_is_right(void *to, const void *from, size_t n, cudaMemcpyKind kind) {
  bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  if (kind == cudaMemcpyDefault || n == 0) return true;
  return on_device(to, n) == to_device && on_device(from, n) == from_device;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, cudaMemcpyKind kind, cudaStream_t s) {
  Hold h(lock());
  if (!copy_is_right(to, from, n, kind)) return said(cudaErrorInvalidValue);
  return in_stream(s, [=] { memmove(to, from, n); });
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t n, cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, n, kind, nullptr);
}
cudaError_t cudaMemsetAsync(void *p, int byte, size_t n, cudaStream_t s) {
  Hold h(lock());
  if (n && !on_device(p, n)) return said(cudaErrorInvalidValue);
  return in_stream(s, [=] { memset(p, byte, n); });
}
cudaError_t cudaMemset(void *p, int byte, size_t n) { return cudaMemsetAsync(p, byte, n, nullptr); }

cudaError_t cudaGetSymbolAddress(void **p, const void *variable) {
  Hold h(lock());
  *p = device_variable(variable);
  return *p ? cudaSuccess : said(cudaErrorInvalidSymbol);
}

/* ---- the device ---- */

cudaError_t cudaGetDeviceCount(int *count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : said(cudaErrorInvalidDevice); }
cudaError_t cudaDeviceSynchronize(void) {
  Hold h(lock());
  return not_captured();
}

/* Few multiprocessors: kernels then take several turns over their work. HU_PTX_SMS gives another number. */
static int multiprocessors() {
  const char *text = getenv("HU_PTX_SMS");
  int n = text ? atoi(text) : 2;
  return n >= 1 ? n : 2;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int) {
  memset(p, 0, sizeof *p);
  snprintf(p->name, sizeof p->name, "PTX interpreter");
  p->major = 9;
  p->multiProcessorCount = multiprocessors();
  p->warpSize = LANES;
  p->maxThreadsPerBlock = 1024;
  p->sharedMemPerBlock = 48 * 1024;
  p->totalGlobalMem = (size_t)1 << 33;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr what, int) {
  switch (what) {
    case cudaDevAttrMultiProcessorCount: *value = multiprocessors(); return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor: *value = 9; return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; return cudaSuccess;
    case cudaDevAttrWarpSize: *value = LANES; return cudaSuccess;
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; return cudaSuccess;
    default: return said(cudaErrorInvalidValue);
  }
}
cudaError_t cudaDriverGetVersion(int *version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetLastError(void) {
  cudaError_t e = last;
  last = cudaSuccess;
  return e;
}
cudaError_t cudaPeekAtLastError(void) { return last; }
const char *cudaGetErrorString(cudaError_t e) {
  return e == cudaSuccess ? "no error" : "an error of the PTX interpreter's runtime";
}

/* ---- launches ---- */

static cudaError_t start(const void *f, dim3 grid, dim3 size, void **arguments, size_t dynamic, cudaStream_t s) {
  Hold h(lock());
  Function *kernel = kernel_of(f);
  if (!kernel) return said(cudaErrorInvalidDeviceFunction);
  const uint64_t threads = (uint64_t)size.x * size.y * size.z;
  if (!grid.x || !grid.y || !grid.z || grid.x > 0x7FFFFFFF || grid.y > 65535 || grid.z > 65535)
    return said(cudaErrorInvalidConfiguration);
  if (threads == 0 || threads > 1024 || dynamic > 48 * 1024) return said(cudaErrorInvalidConfiguration);
  std::vector<std::vector<char>> kept; /* a captured launch takes the values of now */
  for (size_t n = 0; n < kernel->formals.size(); n++) {
    const char *from = (const char *)arguments[n];
    kept.push_back(std::vector<char>(from, from + kernel->formals[n].size));
  }
  return in_stream(s, [=]() mutable {
    std::vector<void *> list;
    for (auto &value : kept) list.push_back(value.data());
    const uint32_t g[3] = {grid.x, grid.y, grid.z}, b[3] = {size.x, size.y, size.z};
    launch(*kernel, g, b, list.data(), (uint32_t)dynamic);
  });
}

cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 size, void **arguments, size_t dynamic, cudaStream_t s) {
  return start(f, grid, size, arguments, dynamic, s);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *how, const void *f, void **arguments) {
  return start(f, how->gridDim, how->blockDim, arguments, how->dynamicSmemBytes, how->stream);
}
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *f) {
  *kernel = (cudaKernel_t)f;
  return kernel_of(f) ? cudaSuccess : said(cudaErrorInvalidDeviceFunction);
}
cudaError_t __cudaLaunchKernel(cudaKernel_t f, dim3 grid, dim3 size, void **arguments, size_t dynamic, cudaStream_t s) {
  return start((const void *)f, grid, size, arguments, dynamic, s);
}

}  // extern "C"
