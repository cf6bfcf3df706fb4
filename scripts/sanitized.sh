#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: sanitized.sh FOLDER [all]
#        sanitized.sh setup          installs the compiler, which the other call does, too
# Builds most tests with clang's address and undefined-behaviour sanitizers in FOLDER, and runs them. Without `all`, which
# `make check-exhaustive` has, kernels are those of this machine's level alone. Left out are then CUDA kernels on the processor
# (tests/ptx checks every access of theirs), training of many steps (valgrind watches one in `make check`), products at every
# level and under every model, and numbers and vectors as texts through the command, a program start each (the fuzz tests read
# the same texts). Products that vector kernels compute are compiled without sanitizers.
# Every call of hui_round asks, before it rounds, what the proofs suppose of its operands (tests/proof/callers/supposed.h).
set -euo pipefail
folder=$1
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
# Ubuntu's clang brings its sanitizers along; elsewhere a clang that is there will do.
"$here/setup.sh" clang libclang-rt-14-dev || "$here/setup.sh" clang || command -v clang > /dev/null
if [ "$folder" = setup ]; then exit; fi
tests="walk pack stream decisions format-catalogue format-check format-text format-words fault-0 gemm
  golden fuzz-format fuzz-line fuzz-list fuzz-sources fuzz-ledger fuzz-vectors
  fuzz-npy fuzz-set fuzz-safetensors fuzz-gguf fuzz-config fuzz-checkpoint fuzz-results fuzz-data cli-npy cli-arrays cli-plot
  cli-safetensors cli-wrong_safetensors cli-report cli-long_work scaled-calls s2fp8-near s2fp8-parts
  conversion-presets conversion-digests dpi number-calls hadamard-golden
  train-data train-data_made train-gradients train-model train-model_texts train-net train-precision train-rounded_products
  train-attention train-convolution train-delayed train-optimizer_kinds train-parts train-pass train-quartet train-tetrajet"
programs=$(echo cli/halfulp tests/cli/libfault.so tests/cli/clean_folder tests/fault/test-fault-0 \
  tests/walk/walk tests/array/test-{pack,stream,decisions} tests/format/test-format-{catalogue,check,text,words} \
  tests/gemm/test_gemm tests/golden/test_golden \
  tests/fuzz/replay_{format,line,command} tests/scaled/test_scaled_calls \
  tests/s2fp8/test_s2fp8_{near,parts} tests/conversion/test_conversion_{presets,digests} \
  tests/dpi/test_dpi tests/number/test_number_calls tests/hadamard/test_hadamard_golden \
  tests/train/test_train_{data,data_made,gradients,model,model_texts,net,precision,rounded_products} \
  tests/train/test_train_{attention,convolution,delayed,optimizer_kinds,parts,pass,quartet,tetrajet})
levels=native
# Fewer cases of random tests, but in the long run.
export HU_TEST_COUNT=40
if [ "${2:-}" = all ]; then
  levels=all
  unset HU_TEST_COUNT
  tests="$tests cli-check_vectors cli-scaled scaled-strips core-header hpp gemm_levels accum-gemm_models s2fp8-calls cuda-host-arrays cuda-host-errors
    cuda-host-gemm cuda-host-hadamard train-accumulate train-assignment train-crew train-depthwise train-dropout train-engine
    train-gradient train-groups train-knapsack train-loss_scale train-model_run train-optimizer train-promotion train-ramping
    train-rounding train-shards train-trainer"
  programs="$programs cli/halfulp-hostrun $(echo tests/cuda_host/test_host_{arrays,errors,gemm,hadamard} tests/core/test_{core_header,hpp} \
    tests/gemm/test_gemm_levels tests/accum/test_accum_gemm_models \
    tests/scaled/test_scaled_strips tests/s2fp8/test_s2fp8_calls tests/train/test_train_{accumulate,assignment,crew,depthwise,dropout,engine,gradient,groups,knapsack} \
    tests/train/test_train_{loss_scale,model_run,optimizer,promotion,ramping,rounding,shards,trainer})"
fi
# -g1 leaves out the record of where each variable lives, with which a compiler takes much longer over code with sanitizers;
# functions and lines stay. Code that ends the program at the first finding, as it does here, is compiled in two thirds of the time
# of code that goes on.
if [ ! -f "$folder/build.ninja" ]; then
  mkdir -p "$folder"
  # gcc's macro for the sanitizer, which tests ask (t_runs of tests/support/support.h); clang has none.
  # A list with commas: a folder's name may have a blank.
  # Every automatic variable begins with NaN, so that a value which nothing has written shows.
  suppose="'-ftrivial-auto-var-init=pattern','-fno-sanitize-recover=all','-D__SANITIZE_ADDRESS__=1','-include','$root/tests/proof/callers/supposed.h','-I$root','-I$root/include','-D_GNU_SOURCE=','-Wno-macro-redefined'"
  CC=clang CXX=clang++ meson setup "$folder" -Dwerror=true -Db_sanitize=address,undefined -Db_lundef=false -Dcuda=disabled -Dbench=disabled -Dplanted=false \
    "-Dlevels=$levels" -Doptimization=1 -Ddebug=true "-Dc_args=['-g1',$suppose]" "-Dcpp_args=['-g1','-ftrivial-auto-var-init=pattern','-fno-sanitize-recover=all']" > "$folder/setup.log" || { cat "$folder/setup.log"; exit 1; }
fi
# shellcheck disable=SC2086
ninja -C "$folder" $programs
"$here/asks.sh" "$folder"
# shellcheck disable=SC2086
UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
  meson test -C "$folder" --no-rebuild --print-errorlogs --num-processes "$(nproc)" -t 4 $tests
