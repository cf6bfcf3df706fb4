/* SPDX-License-Identifier: MIT */
/* tests/ptx/opcodes_memory.cu - memory of every kind, calls, and what lanes do together, against closed forms. */
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>

static int wrong;
static void check(bool is, const char *what) {
  if (is) return;
  fprintf(stderr, "%s: not what it should be\n", what);
  wrong++;
}

/* Words of a launch of 64 threads, 16 for each. */
enum { THREADS = 64, EACH = 16 };
struct Words {
  uint32_t *device;
  uint32_t host[THREADS][EACH];
  Words() {
    cudaMalloc((void **)&device, sizeof host);
    cudaMemset(device, 0, sizeof host);
  }
  ~Words() { cudaFree(device); }
  void get() { cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost); }
};

/* ---- widths and vectors ---- */

__global__ void widths(uint32_t *z, const unsigned char *from) {
  uint32_t *own = z + EACH * threadIdx.x;
  const unsigned char *p = from + 16 * threadIdx.x;
  asm volatile(
      "{ .reg .b32 a, b, c, d; .reg .b16 e, f, g, h; .reg .b64 u, v;\n"
      "ld.global.s8 a, [%1+3]; st.global.u32 [%0], a;\n"
      "ld.global.u16 a, [%1+2]; st.global.u32 [%0+4], a;\n"
      "ld.s16 e, [%1+2]; cvt.s32.s16 a, e; st.u32 [%0+8], a;\n"
      "ld.global.v4.u8 {e, f, g, h}, [%1+4]; mov.b32 a, {h, e}; st.global.u32 [%0+12], a;\n"
      "ld.global.v2.u64 {u, v}, [%1]; xor.b64 u, u, v; st.global.v2.u32 [%0+16], {1, 2}; st.global.u64 [%0+24], u;\n"
      "ld.global.v4.u32 {a, b, c, d}, [%1]; st.global.v4.u32 [%0+32], {d, c, b, a};\n"
      "ld.global.s32 u, [%1+12]; st.global.u64 [%0+48], u;\n"
      "st.global.u8 [%0+56], 200; st.global.u16 [%0+58], 50000; }"
      :
      : "l"(own), "l"(p)
      : "memory");
}

static void check_widths(void) {
  Words w;
  unsigned char bytes[THREADS * 16], *from;
  for (int k = 0; k < THREADS * 16; k++) bytes[k] = (unsigned char)(k * 37 + 130);
  cudaMalloc((void **)&from, sizeof bytes);
  cudaMemcpy(from, bytes, sizeof bytes, cudaMemcpyHostToDevice);
  widths<<<1, THREADS>>>(w.device, from);
  w.get();
  for (int t = 0; t < THREADS; t++) {
    const unsigned char *p = bytes + 16 * t;
    const uint32_t *z = w.host[t];
    uint32_t x[4];
    for (int k = 0; k < 4; k++) x[k] = p[4 * k] | p[4 * k + 1] << 8 | p[4 * k + 2] << 16 | (uint32_t)p[4 * k + 3] << 24;
    check(z[0] == (uint32_t)(int8_t)p[3], "ld.s8");
    check(z[1] == (uint32_t)(p[2] | p[3] << 8), "ld.u16");
    check(z[2] == (uint32_t)(int16_t)(p[2] | p[3] << 8), "ld.s16");
    check(z[3] == (p[7] | (uint32_t)p[4] << 16), "ld.v4.u8");
    check(z[4] == 1 && z[5] == 2 && z[6] == (x[0] ^ x[2]) && z[7] == (x[1] ^ x[3]), "ld.v2.u64");
    check(z[8] == x[3] && z[9] == x[2] && z[10] == x[1] && z[11] == x[0], "ld.v4.u32");
    check(z[12] == x[3] && z[13] == (uint32_t)((int32_t)x[3] >> 31), "ld.s32 into 64 bits");
    check(z[14] == (200u | 50000u << 16), "st.u8, st.u16");
  }
  cudaFree(from);
}

/* ---- spaces and calls ---- */

struct Three {
  uint64_t a;
  uint32_t b;
  uint8_t c;
};
__constant__ uint16_t table[5] = {3, 1, 4, 1, 5};
__device__ uint32_t counter = 7;

__device__ __noinline__ Three of_three(Three t, const uint32_t *where) {
  Three z = {t.a + *where, t.b * 3, (uint8_t)(t.c + 1)};
  return z;
}
__device__ __noinline__ uint32_t recursive(uint32_t n) {
  return n == 0 ? 1 : n % 2 ? n + recursive(n - 1) : recursive(n / 2) + 2;
}
static uint32_t recursive_here(uint32_t n) {
  return n == 0 ? 1 : n % 2 ? n + recursive_here(n - 1) : recursive_here(n / 2) + 2;
}

__global__ void spaces(uint32_t *z, Three given) {
  extern __shared__ uint32_t given_shared[];
  __shared__ uint16_t own_shared[THREADS];
  uint32_t t = threadIdx.x, local[8], *p = z + EACH * t;
  for (uint32_t k = 0; k < 8; k++) local[(k * 3 + t) % 8] = k + t;
  own_shared[t] = (uint16_t)(t * t);
  given_shared[t] = t + 1000;
  __syncthreads();
  Three here = given;
  here.b += t;
  const uint32_t *where = t % 3 == 0 ? &local[t % 8] : t % 3 == 1 ? &given_shared[t ^ 1] : &counter;
  Three out = of_three(here, where);
  p[0] = (uint32_t)(out.a >> 32);
  p[1] = (uint32_t)out.a;
  p[2] = out.b;
  p[3] = out.c;
  p[4] = table[t % 5];
  p[5] = own_shared[63 - t];
  p[6] = recursive(t);
  p[7] = blockIdx.x + gridDim.x * 16 + blockDim.x * 256;
}

static void check_spaces(void) {
  Words w;
  Three given = {0x500000000ull, 11, 255};
  spaces<<<1, THREADS, THREADS * 4>>>(w.device, given);
  w.get();
  for (uint32_t t = 0; t < THREADS; t++) {
    const uint32_t *z = w.host[t];
    uint32_t local[8];
    for (uint32_t k = 0; k < 8; k++) local[(k * 3 + t) % 8] = k + t;
    uint64_t a = given.a + (t % 3 == 0 ? local[t % 8] : t % 3 == 1 ? (t ^ 1) + 1000 : 7);
    check(z[0] == (uint32_t)(a >> 32) && z[1] == (uint32_t)a && z[2] == (11 + t) * 3 && z[3] == 0,
          "a call with structures, generic addresses");
    check(z[4] == (const uint16_t[5]){3, 1, 4, 1, 5}[t % 5], "constant memory");
    check(z[5] == (63 - t) * (63 - t), "shared memory");
    check(z[6] == recursive_here(t), "calls within calls");
    check(z[7] == 16 + 64 * 256, "ctaid, nctaid, ntid");
  }
}

/* ---- atomics ---- */

__global__ void atomics(uint32_t *z) {
  __shared__ unsigned long long sum;
  __shared__ uint32_t ones;
  if (threadIdx.x == 0) sum = 5, ones = 0;
  __syncthreads();
  atomicAdd(&sum, 0x100000000ull + threadIdx.x);
  atomicOr(&ones, 1u << threadIdx.x % 32);
  __syncthreads();
  if (threadIdx.x == 0) z[0] = (uint32_t)sum, z[1] = (uint32_t)(sum >> 32), z[2] = ones;
  atomicMax(z + 3, threadIdx.x * 7 % 64);
  atomicMin((int *)z + 4, -(int)(threadIdx.x * 5 % 64));
  atomicAdd(z + 5, 2);
  atomicXor(z + 6, threadIdx.x);
  atomicInc(z + 7, 9);
  uint32_t old = z[8], seen;
  do {
    seen = old;
    old = atomicCAS(z + 8, seen, seen + threadIdx.x);
  } while (old != seen);
  atomicExch(z + 9, 77);
}

static void check_atomics(void) {
  Words w;
  atomics<<<1, THREADS>>>(w.device);
  w.get();
  const uint32_t *z = w.host[0];
  check(z[0] == 5 + 63 * 32 && z[1] == 64 && z[2] == 0xFFFFFFFF, "atomics in shared memory");
  check(z[3] == 63 && (int)z[4] == -63 && z[5] == 128 && z[6] == 0, "atom.max, min, add, xor");
  check(z[7] == 64 % 10 && z[8] == 63 * 32 && z[9] == 77, "atom.inc, cas, exch");
}

/* ---- variables of the device, by the host ---- */

static __device__ uint32_t counted = 5;
__global__ void count(void) { atomicAdd(&counted, 1); }

static void check_variables(void) {
  static int none;
  void *p = NULL;
  uint32_t before = 0, after = 0, cleared = 1;
  check(cudaGetSymbolAddress(&p, counted) == cudaSuccess, "the address of a variable");
  cudaMemcpy(&before, p, sizeof before, cudaMemcpyDeviceToHost);
  count<<<1, THREADS>>>();
  cudaMemcpy(&after, p, sizeof after, cudaMemcpyDeviceToHost);
  cudaMemset(p, 0, sizeof cleared);
  cudaMemcpy(&cleared, p, sizeof cleared, cudaMemcpyDeviceToHost);
  check(before == 5 && after == 5 + THREADS && cleared == 0, "a variable between kernels");
  check(cudaGetSymbolAddress(&p, none) == cudaErrorInvalidSymbol, "the address of no variable");
  (void)cudaGetLastError();
}

/* ---- lanes together ---- */

__global__ void exchanges(uint32_t *z) {
  uint32_t t = threadIdx.x, l = t % 32, *p = z + EACH * t, all = 0xFFFFFFFFu;
  p[0] = __shfl_up_sync(all, t, 3);
  p[1] = __shfl_down_sync(all, t, 3, 16);
  p[2] = __shfl_xor_sync(all, t, 5);
  p[3] = __shfl_sync(all, t, (int)l * 7, 8);
  p[4] = __ballot_sync(all, l % 3 == 0);
  p[5] = (uint32_t)__all_sync(all, l < 32) | (uint32_t)__any_sync(all, l == 40) << 1 |
         (uint32_t)__any_sync(all, l == 31) << 2;
  p[6] = __reduce_add_sync(all, t);
  p[7] = (uint32_t)__reduce_min_sync(all, (int)(10 - l));
  p[8] = __match_any_sync(all, l % 5);
  if (l % 2) { /* parts of a warp, each with its mask */
    p[9] = __reduce_xor_sync(0xAAAAAAAAu, l);
    p[10] = __activemask();
  } else {
    p[9] = __reduce_or_sync(0x55555555u, l);
  }
  uint32_t turns = 0;
  for (uint32_t k = 0; k < l; k++) turns += k; /* lanes leave the loop at different times, and meet */
  p[11] = __shfl_xor_sync(all, turns, 1);
  if (l < 8) p[12] = __reduce_max_sync(l < 4 ? 0x0Fu : 0xF0u, l);
  if (l >= 24) return;
  p[13] = __ballot_sync(0x00FFFFFFu, l % 2);
}

static void check_exchanges(void) {
  Words w;
  exchanges<<<1, THREADS>>>(w.device);
  w.get();
  for (uint32_t t = 0; t < THREADS; t++) {
    const uint32_t *z = w.host[t], l = t % 32, warp = t - l;
    check(z[0] == (l < 3 ? t : t - 3), "shfl.up");
    check(z[1] == (l % 16 + 3 < 16 ? t + 3 : t), "shfl.down in 16 lanes");
    check(z[2] == (t ^ 5), "shfl.bfly");
    check(z[3] == warp + l / 8 * 8 + l * 7 % 8, "shfl.idx in 8 lanes");
    check(z[4] == 0x49249249u && z[5] == 5, "vote");
    check(z[6] == 32 * warp + 496 && (int)z[7] == -21, "redux");
    uint32_t equal = 0;
    for (uint32_t k = 0; k < 32; k++) equal |= (uint32_t)(k % 5 == l % 5) << k;
    check(z[8] == equal, "match.any");
    check(z[9] == (l % 2 ? 0 : 30), "redux of parts");
    check(l % 2 == 0 || z[10] == 0xAAAAAAAAu, "activemask");
    check(z[11] == (l ^ 1) * ((l ^ 1) - 1) / 2, "lanes that part and meet");
    check(l >= 8 || z[12] == (l < 4 ? 3 : 7), "two masks at one instruction");
    check(l >= 24 || z[13] == 0x00AAAAAAu, "lanes that have left");
  }
}

/* ---- the matrix instruction of signed bytes ---- */

/* Elements of A, B and C that differ from place to place, the most negative byte among them. */
static __host__ __device__ int byte_of(uint32_t line, uint32_t k, uint32_t salt) {
  uint32_t x = (line * 32 + k + salt) * 2654435761u;
  return (line + k) % 7 == 0 ? -128 : (int)(int8_t)(x >> 24);
}
static __host__ __device__ uint32_t start_of(uint32_t row, uint32_t column) { return 0x7FFFFF00u + 64 * row + column; }

/* Lane 4 g + t has rows g and g + 8 of A and C, column g of B, columns 2 t and 2 t + 1 of C. */
__global__ void matrix(uint32_t *z) {
  const uint32_t l = threadIdx.x % 32, g = l / 4, t = l % 4;
  uint32_t a[4] = {0, 0, 0, 0}, b[2] = {0, 0}, d[4], *p = z + EACH * threadIdx.x;
  for (uint32_t i = 0; i < 4; i++) {
    const uint32_t low = 4 * t + i, at = 8 * i;
    a[0] |= (uint32_t)(uint8_t)byte_of(g, low, 0) << at;
    a[1] |= (uint32_t)(uint8_t)byte_of(g + 8, low, 0) << at;
    a[2] |= (uint32_t)(uint8_t)byte_of(g, low + 16, 0) << at;
    a[3] |= (uint32_t)(uint8_t)byte_of(g + 8, low + 16, 0) << at;
    b[0] |= (uint32_t)(uint8_t)byte_of(g, low, 9) << at;
    b[1] |= (uint32_t)(uint8_t)byte_of(g, low + 16, 9) << at;
    d[i] = start_of(g + i / 2 * 8, 2 * t + i % 2);
  }
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  for (uint32_t i = 0; i < 4; i++) p[i] = d[i];
}

static void check_matrix(void) {
  Words w;
  matrix<<<1, THREADS>>>(w.device);
  w.get();
  for (uint32_t t = 0; t < THREADS; t++) {
    for (uint32_t i = 0; i < 4; i++) {
      const uint32_t row = t % 32 / 4 + i / 2 * 8, column = t % 4 * 2 + i % 2;
      uint32_t sum = start_of(row, column);
      for (uint32_t k = 0; k < 32; k++) sum += (uint32_t)(byte_of(row, k, 0) * byte_of(column, k, 9));
      check(w.host[t][i] == sum, "mma of signed bytes");
    }
  }
}

int check_groups(void) {
  check_widths();
  check_spaces();
  check_atomics();
  check_variables();
  check_exchanges();
  check_matrix();
  check(cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess, "launches");
  return wrong;
}
