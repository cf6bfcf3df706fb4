#!/bin/sh
# SPDX-License-Identifier: MIT
# All benchmarks of a build folder, with the machine they ran on. Single thread; a quiet machine, please.
set -eu
build=$1
echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores, $(date -u +%Y-%m-%d)"
echo "compiler: $(cc --version | head -1)"
"$build/bench/bench_array"
"$build/bench/bench_arith"
"$build/bench/bench_function"
"$build/bench/bench_value"
"$build/bench/bench_scaled"
"$build/bench/bench_hadamard"
"$build/bench/bench_number"
OPENBLAS_NUM_THREADS=1 "$build/bench/bench_scaled_gemm"
"$build/bench/bench_s2fp8"
"$build/bench/bench_train"
OPENBLAS_NUM_THREADS=1 "$build/bench/bench_gemm_shapes"
if [ -x "$build/bench/bench_gemm" ]; then
  OPENBLAS_NUM_THREADS=1 "$build/bench/bench_gemm"
fi
