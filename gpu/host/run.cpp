/* SPDX-License-Identifier: MIT */
/* gpu/host/run.cpp - fibers, barriers, exchanges and the few runtime calls behind cuda_runtime.h. */
#include "cuda_runtime_api.h"

#include "gpu/host/order.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include <vector>

dim3 threadIdx, blockIdx, blockDim, gridDim;

extern char __start_hu_host_shared[] __attribute__((weak));
extern char __stop_hu_host_shared[] __attribute__((weak));

namespace {

const size_t STACK = 256 * 1024;
const unsigned MOST = 1024;

enum state { READY, AT_BARRIER, AT_EXCHANGE, DONE };

/* A fiber is entered through its context; from then on jumps change fibers, since swapcontext asks the kernel to set
 * the signal mask every time. The address sanitizer follows contexts but not jumps between stacks. */
#if defined(__SANITIZE_ADDRESS__)
#define JUMPS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define JUMPS 0
#endif
#endif
#ifndef JUMPS
#define JUMPS 1
#endif

struct place {
  ucontext_t context;
  jmp_buf jump;
};

struct fiber {
  place here;
  bool started;
  char *stack;
  state at;
  unsigned mask;     /* of the exchange it waits in */
  unsigned exchange; /* the number of exchanges that it has entered */
};

struct warp {
  uint64_t values[2][32]; /* two, so that a fast lane's next exchange does not overwrite what a slow one still reads */
  unsigned arrived[2];
};

struct machine {
  std::vector<fiber> fibers;
  std::vector<warp> warps;
  std::vector<unsigned> order;
  place scheduler;
  unsigned current, block;
  uint64_t seed;
  const std::function<void()> *kernel;

  ~machine() {
    for (fiber &own : fibers) free(own.stack);
  }
};

machine the;

void stop(const char *why) {
  fprintf(stderr, "host-run kernel: %s (block %u, thread %u)\n", why, blockIdx.x, the.current);
  exit(1);
}

uint64_t draw(uint64_t *state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

void shuffle(std::vector<unsigned> &order, uint64_t *state) {
  for (size_t i = order.size(); i > 1; i--) {
    size_t j = (size_t)(draw(state) % i);
    unsigned kept = order[i - 1];
    order[i - 1] = order[j];
    order[j] = kept;
  }
}

void change(place *from, place *to, bool enter) {
#if JUMPS
  if (_setjmp(from->jump)) return;
  if (!enter) _longjmp(to->jump, 1);
  setcontext(&to->context);
#else
  (void)enter;
  swapcontext(&from->context, &to->context);
#endif
}

void wait_as(state at) {
  fiber &own = the.fibers[the.current];
  own.at = at;
  change(&own.here, &the.scheduler, false);
}

/* Runs a fiber: when it is done with a block, it waits for the next one. */
void body(void) {
  for (;;) {
    (*the.kernel)();
    wait_as(DONE);
  }
}

void run(unsigned thread) {
  fiber &own = the.fibers[thread];
  bool enter = !own.started;
  the.current = thread;
  threadIdx.x = thread;
  own.started = true;
  change(&the.scheduler, &own.here, enter);
}

void create(fiber *own) {
  own->stack = (char *)malloc(STACK);
  if (!own->stack) stop("no memory for a fiber's stack");
  getcontext(&own->here.context);
  own->here.context.uc_stack.ss_sp = own->stack;
  own->here.context.uc_stack.ss_size = STACK;
  own->here.context.uc_link = nullptr;
  makecontext(&own->here.context, body, 0);
}

void prepare(unsigned block) {
  if (block == 0 || block > MOST || block % 32 != 0) stop("a block must be 32 to 1024 threads, whole warps");
  if (the.fibers.empty()) {
    the.fibers.resize(MOST);
    the.warps.resize(MOST / 32);
  }
  the.block = block;
  the.order.resize(block);
  for (unsigned i = 0; i < block; i++) {
    if (!the.fibers[i].stack) create(&the.fibers[i]);
    the.order[i] = i;
  }
}

void begin_block(void) {
  for (unsigned i = 0; i < the.block; i++) {
    the.fibers[i].at = READY;
    the.fibers[i].exchange = 0;
  }
  for (unsigned i = 0; i < the.block / 32; i++) the.warps[i].arrived[0] = the.warps[i].arrived[1] = 0;
  /* A block's shared memory is undefined at first: fill it with a pattern. */
  if (__start_hu_host_shared)
    memset(__start_hu_host_shared, 0xC7, (size_t)(__stop_hu_host_shared - __start_hu_host_shared));
}

void run_block(uint64_t *state) {
  begin_block();
  for (;;) {
    unsigned ready = 0, done = 0;
    if (the.seed) shuffle(the.order, state);
    for (unsigned i = 0; i < the.block; i++) {
      unsigned thread = the.order[i];
      if (the.fibers[thread].at == READY) {
        run(thread);
        ready++;
      }
    }
    for (unsigned i = 0; i < the.block; i++) done += the.fibers[i].at == DONE;
    if (done == the.block) return;
    if (ready) continue;
    /* No fiber can run: either all wait at the block barrier, or the kernel is wrong. */
    for (unsigned i = 0; i < the.block; i++) {
      the.current = i;
      if (the.fibers[i].at == AT_EXCHANGE) stop("lanes of an exchange never arrive");
      if (the.fibers[i].at == DONE) stop("a thread left before a barrier that others wait at");
    }
    for (unsigned i = 0; i < the.block; i++) the.fibers[i].at = READY;
  }
}

}  // namespace

void hui_host_order(uint64_t seed) { the.seed = seed; }

/* ---- streams and errors ---- */

namespace {
cudaError_t last = cudaSuccess, refusal = cudaSuccess, copy_refusal = cudaSuccess, wait_refusal = cudaSuccess;
uint64_t launches, streams;
bool expecting;
void *expected;
hu_host_calls calls;
std::vector<std::function<void()>> queue; /* in the order of the calls */
bool queued;

/* Does work of a stream at once, or when the program waits. */
void in_order(const std::function<void()> &work) {
  if (queued) {
    queue.push_back(work);
  } else {
    work();
  }
}

void finish(void) {
  for (const std::function<void()> &work : queue) work();
  queue.clear();
}

void wait(void) {
  calls.waits++;
  finish();
}

void count_copy(size_t n, cudaMemcpyKind kind) {
  bool in = kind == cudaMemcpyHostToDevice;
  uint64_t &largest = in ? calls.largest_in : calls.largest_out;
  (in ? calls.copies_in : calls.copies_out)++;
  (in ? calls.bytes_in : calls.bytes_out) += n;
  if (n > largest) largest = n;
}

/* Stops unless the stream is the one that the test expects. */
void expect_stream(cudaStream_t stream, const char *else_why) {
  if (expecting && stream != expected) stop(else_why);
}

/* Returns an error, and keeps it for cudaGetLastError. */
cudaError_t said(cudaError_t error) {
  if (error != cudaSuccess) last = error;
  return error;
}

bool lacks(const char *what) {
  const char *set = getenv("HU_HOST_DEVICE");
  return set && strcmp(set, what) == 0;
}
}  // namespace

void hui_host_expect(void *stream) {
  expecting = true;
  expected = stream;
}
void *hui_host_stream(void) {
  hui_host_expect((void *)(uintptr_t)(0x57000000 + 64 * ++streams));
  return expected;
}
uint64_t hui_host_launches(void) { return launches; }
void hui_host_queue(int on) {
  finish();
  queued = on;
}
hu_host_calls hui_host_counted(void) {
  hu_host_calls counted = calls;
  calls = {};
  return counted;
}
void hui_host_stale(int error) { last = (cudaError_t)error; }
int hui_host_left(void) { return (int)last; }
void hui_host_refuse(int error) { refusal = (cudaError_t)error; }
void hui_host_refuse_copies(int error) { copy_refusal = (cudaError_t)error; }
void hui_host_refuse_waits(int error) { wait_refusal = (cudaError_t)error; }

static void run_grid(unsigned grid, unsigned block, const std::function<void()> &kernel) {
  uint64_t state = the.seed;
  prepare(block);
  std::vector<unsigned> blocks(grid);
  for (unsigned i = 0; i < grid; i++) blocks[i] = i;
  if (the.seed) shuffle(blocks, &state);
  gridDim = dim3{grid, 1, 1};
  blockDim = dim3{block, 1, 1};
  threadIdx = dim3{0, 0, 0};
  the.kernel = &kernel;
  for (unsigned i = 0; i < grid; i++) {
    blockIdx = dim3{blocks[i], 0, 0};
    run_block(&state);
  }
}

cudaError_t hui_host_launch(unsigned grid, unsigned block, cudaStream_t stream, const std::function<void()> &kernel) {
  launches++;
  calls.launches++;
  expect_stream(stream, "a kernel on another stream than the call was given");
  if (refusal != cudaSuccess) return said(refusal);
  in_order([=]() { run_grid(grid, block, kernel); });
  return cudaSuccess;
}

void __syncthreads(void) { wait_as(AT_BARRIER); }

const uint64_t *hui_host_exchange(unsigned mask, uint64_t value) {
  unsigned self = the.current, lane = self & 31, first = self - lane;
  warp &group = the.warps[self / 32];
  fiber &own = the.fibers[self];
  unsigned slot = own.exchange++ & 1;
  if (!(mask >> lane & 1)) stop("a lane outside its own mask");
  own.mask = mask;
  group.values[slot][lane] = value;
  group.arrived[slot] |= 1u << lane;
  if ((group.arrived[slot] & mask) != mask) {
    wait_as(AT_EXCHANGE);
    return group.values[slot];
  }
  /* The last lane to arrive releases the others. */
  group.arrived[slot] &= ~mask;
  for (unsigned i = 0; i < 32; i++) {
    if (!(mask >> i & 1) || i == lane) continue;
    fiber &other = the.fibers[first + i];
    if (other.at != AT_EXCHANGE || other.mask != mask) stop("lanes name different masks");
    other.at = READY;
  }
  return group.values[slot];
}

void __syncwarp(unsigned mask) { (void)hui_host_exchange(mask, 0); }

/* ---- pairs: a b + c in binary64 rounded to odd, from there to nearest even ---- */

static double wide_of(int brain, uint32_t code) {
  uint32_t sign = code >> 15 & 1, m = brain ? 7 : 10, field = (code & 0x7FFF) >> m, part = code & ((1u << m) - 1);
  int bias = brain ? 127 : 15;
  double x = field == (brain ? 255u : 31u) ? (part ? NAN : INFINITY)
             : field                       ? ldexp((double)(part | 1u << m), (int)field - bias - (int)m)
                                           : ldexp((double)part, 1 - bias - (int)m);
  return sign ? -x : x;
}

static uint32_t narrow_of(int brain, double x) {
  int m = brain ? 7 : 10, bias = brain ? 127 : 15, exponent;
  uint32_t sign = signbit(x) ? 0x8000u : 0, infinite = (uint32_t)(2 * bias + 1) << m;
  if (x != x) return 0x7FFF;
  (void)frexp(x, &exponent);
  if (x == 0 || isinf(x)) return sign | (x == 0 ? 0 : infinite);
  if (exponent - 1 < 1 - bias) exponent = 2 - bias;
  double n = nearbyint(ldexp(fabs(x), m + 1 - exponent)); /* in units of the last place; to nearest even */
  uint32_t code = (uint32_t)(exponent - 2 + bias) * (1u << m) + (uint32_t)n;
  return sign | (code >= infinite ? infinite : code);
}

static uint32_t fma_narrow(int brain, uint32_t a, uint32_t b, uint32_t c) {
  volatile double product = wide_of(brain, a) * wide_of(brain, b), addend = wide_of(brain, c), down, up;
  int before = hui_host_turn(FE_DOWNWARD);
  down = product + addend;
  (void)hui_host_turn(FE_UPWARD);
  up = product + addend;
  hui_host_turn_back(before);
  uint64_t odd;
  double low = down, high = up;
  memcpy(&odd, &low, 8);
  return narrow_of(brain, low == high || low != low ? product + addend : odd & 1 ? low : high);
}

uint32_t hui_host_fma_pair(int brain, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t low = fma_narrow(brain, a & 0xFFFF, b & 0xFFFF, c & 0xFFFF);
  return fma_narrow(brain, a >> 16, b >> 16, c >> 16) << 16 | low;
}

/* ---- the runtime: device memory is memory ---- */

cudaError_t cudaMalloc(void **memory, size_t n) {
  calls.allocations++;
  if (copy_refusal != cudaSuccess) return said(copy_refusal);
  *memory = malloc(n ? n : 1);
  return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}
/* Waits, as a device's does. */
cudaError_t cudaFree(void *memory) {
  if (memory) wait();
  free(memory);
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void **memory, size_t n) { return cudaMalloc(memory, n); }
cudaError_t cudaFreeHost(void *memory) { return cudaFree(memory); }
cudaError_t cudaMemcpy(void *z, const void *x, size_t n, cudaMemcpyKind kind) {
  count_copy(n, kind);
  if (copy_refusal != cudaSuccess) return said(copy_refusal);
  wait();
  if (n) memcpy(z, x, n);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *z, const void *x, size_t n, cudaMemcpyKind kind, cudaStream_t stream) {
  count_copy(n, kind);
  expect_stream(stream, "a copy on another stream than the call was given");
  if (copy_refusal != cudaSuccess) return said(copy_refusal);
  if (n) in_order([=]() { memcpy(z, x, n); });
  return cudaSuccess;
}
cudaError_t cudaMemset(void *z, int value, size_t n) {
  if (copy_refusal != cudaSuccess) return said(copy_refusal);
  if (n) in_order([=]() { memset(z, value, n); });
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *z, int value, size_t n, cudaStream_t stream) {
  expect_stream(stream, "a fill on another stream than the call was given");
  return cudaMemset(z, value, n);
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  wait();
  return said(wait_refusal);
}
cudaError_t cudaDeviceSynchronize(void) {
  wait();
  return said(wait_refusal);
}
cudaError_t cudaGetLastError(void) {
  cudaError_t error = last;
  last = cudaSuccess;
  return error;
}
const char *cudaGetErrorString(cudaError_t error) { return error == cudaSuccess ? "no error" : "host-run error"; }
cudaError_t cudaGetDeviceCount(int *n) {
  *n = 0;
  if (lacks("driver") || lacks("old")) return said(cudaErrorInsufficientDriver);
  if (lacks("none")) return said(cudaErrorNoDevice);
  if (lacks("broken")) return said(cudaErrorUnknown);
  *n = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int) {
  *value = 1; /* few blocks, so that their loops run more than once */
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
  snprintf(properties->name, sizeof properties->name, "host-run of the CUDA kernels");
  const char *capability = getenv("HU_HOST_CAPABILITY"); /* units.c */
  int is = capability ? atoi(capability) : 0;
  properties->major = is / 10;
  properties->minor = is % 10;
  properties->multiProcessorCount = 1;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *value) {
  *value = lacks("old") ? 11040 : 0;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *value) {
  *value = lacks("old") ? 13000 : 0;
  return cudaSuccess;
}
