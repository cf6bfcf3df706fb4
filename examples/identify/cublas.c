/* SPDX-License-Identifier: MIT */
/* Products of cuBLAS as black boxes, for `halfulp identify --gemm --library`: D = A B + C, row-major, and without C
 * where `--without-c` says so (C is +0 then). cuBLAS chooses a kernel by the shape, so what is identified is one of its
 * kernels. */
#include <cublasLt.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct kind {
  cudaDataType_t a, d; /* elements of A and B, of C and D */
  cublasComputeType_t compute;
  cudaDataType_t scale; /* alpha and beta */
  int fast;             /* 8-bit floating point: without promotion of partial sums */
} kind;

static void need(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "cublas.so: %s failed: %s\n", what, cudaGetErrorString(cudaGetLastError()));
  exit(2);
}

static size_t bytes_of(cudaDataType_t t) {
  switch (t) {
    case CUDA_R_64F: return 8;
    case CUDA_R_32F:
    case CUDA_R_32I: return 4;
    case CUDA_R_16F:
    case CUDA_R_16BF: return 2;
    default: return 1;
  }
}

static void *on_device(const void *x, size_t bytes) {
  void *p = NULL;
  need(cudaMalloc(&p, bytes) == cudaSuccess, "cudaMalloc");
  if (x) need(cudaMemcpy(p, x, bytes, cudaMemcpyHostToDevice) == cudaSuccess, "cudaMemcpy");
  return p;
}

/* A row-major matrix is its transpose by columns, so that cuBLAS computes D' = B' A' + C'. Kernels of 8-bit floating
 * point require both operands contiguous along k: B is transposed on the way. */
static void *transposed(const void *x, size_t rows, size_t columns, size_t size) {
  char *z = malloc(rows * columns * size);
  need(z != NULL, "malloc");
  for (size_t i = 0; i < rows * columns * size; i++) {
    size_t element = i / size, r = element / columns, c = element % columns;
    z[(c * rows + r) * size + i % size] = ((const char *)x)[i];
  }
  return z;
}

static cublasLtMatrixLayout_t layout(cudaDataType_t t, size_t rows, size_t columns) {
  cublasLtMatrixLayout_t z;
  need(cublasLtMatrixLayoutCreate(&z, t, rows, columns, (int64_t)rows) == CUBLAS_STATUS_SUCCESS, "a layout");
  return z;
}

static void multiply(const kind *t, size_t m, size_t n, size_t k, const void *a, const void *b, const void *c,
                     void *d) {
  static cublasLtHandle_t handle;
  static void *work;
  const size_t room = (size_t)32 << 20, size_a = bytes_of(t->a), size_d = bytes_of(t->d);
  if (!handle) {
    need(cublasLtCreate(&handle) == CUBLAS_STATUS_SUCCESS, "cublasLtCreate");
    work = on_device(NULL, room);
  }
  void *bt = transposed(b, k, n, size_a);
  void *da = on_device(a, m * k * size_a), *db = on_device(bt, k * n * size_a), *dc = on_device(c, m * n * size_d);
  cublasLtMatmulDesc_t how;
  need(cublasLtMatmulDescCreate(&how, t->compute, t->scale) == CUBLAS_STATUS_SUCCESS, "a description");
  cublasOperation_t yes = CUBLAS_OP_T;
  int8_t fast = (int8_t)t->fast;
  cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_TRANSA, &yes, sizeof yes);
  cublasLtMatmulDescSetAttribute(how, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast);
  /* First operand: B' (n x k), stored as k x n by columns; second: A' (k x m) by columns, as A lies. */
  cublasLtMatrixLayout_t lb = layout(t->a, k, n), la = layout(t->a, k, m), ld = layout(t->d, n, m);
  cublasLtMatmulPreference_t wish;
  need(cublasLtMatmulPreferenceCreate(&wish) == CUBLAS_STATUS_SUCCESS, "a preference");
  cublasLtMatmulPreferenceSetAttribute(wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room, sizeof room);
  cublasLtMatmulHeuristicResult_t first;
  int found = 0;
  need(cublasLtMatmulAlgoGetHeuristic(handle, how, lb, la, ld, ld, wish, 1, &first, &found) == CUBLAS_STATUS_SUCCESS &&
           found == 1,
       "the search for a kernel");
  const uint16_t half = 0x3C00;
  const float single = 1;
  const double full = 1;
  const int32_t whole = 1;
  const void *one = t->scale == CUDA_R_16F   ? (const void *)&half
                    : t->scale == CUDA_R_64F ? (const void *)&full
                    : t->scale == CUDA_R_32I ? (const void *)&whole
                                             : (const void *)&single;
  need(cublasLtMatmul(handle, how, one, db, lb, da, la, one, dc, ld, dc, ld, &first.algo, work, room, 0) ==
           CUBLAS_STATUS_SUCCESS,
       "cublasLtMatmul");
  need(cudaMemcpy(d, dc, m * n * size_d, cudaMemcpyDeviceToHost) == cudaSuccess, "the product");
  cublasLtMatmulPreferenceDestroy(wish);
  cublasLtMatrixLayoutDestroy(la);
  cublasLtMatrixLayoutDestroy(lb);
  cublasLtMatrixLayoutDestroy(ld);
  cublasLtMatmulDescDestroy(how);
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);
  free(bt);
}

typedef void gemm(size_t m, size_t n, size_t k, const void *a, const void *b, const void *c, void *d);

#define PRODUCT(name, ...)                                                                        \
  gemm name;                                                                                      \
  void name(size_t m, size_t n, size_t k, const void *a, const void *b, const void *c, void *d) { \
    const kind t = {__VA_ARGS__};                                                                 \
    multiply(&t, m, n, k, a, b, c, d);                                                            \
  }

/* Elements of A and B; of C and D; how sums are computed; alpha and beta. */
PRODUCT(f64, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F, CUDA_R_64F, 0)
PRODUCT(f32, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F, 0)
PRODUCT(tf32, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, 0)
PRODUCT(f16_f32, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F, 0)
PRODUCT(f16_f16, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, CUDA_R_16F, 0)
PRODUCT(bf16_f32, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F, 0)
PRODUCT(bf16_bf16, CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F, 0)
PRODUCT(s8_s32, CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, CUDA_R_32I, 0)
PRODUCT(e4m3_f32, CUDA_R_8F_E4M3, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F, 0)
PRODUCT(e4m3_f32_fast, CUDA_R_8F_E4M3, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F, 1)
