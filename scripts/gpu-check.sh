#!/bin/sh
# SPDX-License-Identifier: MIT
# On a machine with an NVIDIA device: builds, runs the device tests, golden files, its matrix instructions, digests and the
# benchmark, and writes the results as text. Needs nvcc, gcc, g++, python3, meson and ninja, and takes cmocka where there is
# one; installs nothing. Exit 77 without a device, 1 if anything differs or is missing.
#
#   BUILD        build folder (build-gpu)
#   OUT          folder for the result files; without it tests/golden/hw and bench/results
#   HU_DEBS      folder of .deb packages, unpacked beside the build folder where the machine lacks them: libcmocka-dev and
#                libcmocka0; pkgconf, pkgconf-bin and libpkgconf3; meson. From: apt-get download NAME...
#   HU_PROBES    random dot products of each matrix instruction (200000)
#   HU_STRIDE    every HU_STRIDE-th input of the digests only (1: all; the golden file also has 4096 and 4099)
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build-gpu}
hw=${OUT:-tests/golden/hw}
bench=${OUT:-bench/results}
stride=${HU_STRIDE:-1}

fail() {
  echo "gpu-check: $1; install it, or put its .deb packages into a folder and name that in HU_DEBS" >&2
  exit 1
}

skip() {
  echo "gpu-check: skipped: $1" >&2
  exit 77
}

command -v nvcc > /dev/null 2>&1 || PATH=$PATH:/usr/local/cuda/bin
command -v nvcc > /dev/null 2>&1 || skip "no nvcc on the PATH"
chip=
if command -v nvidia-smi > /dev/null 2>&1; then
  chip=$(nvidia-smi --query-gpu=name --format=csv,noheader 2> /dev/null | head -n 1) || chip=
fi
[ -n "$chip" ] || skip "nvidia-smi shows no NVIDIA device"
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)

# Packages without root: their files under a prefix, and pkg-config files that say so.
if [ -n "${HU_DEBS:-}" ]; then
  mkdir -p "$build-debs"
  prefix=$(cd "$build-debs" && pwd)
  for deb in "$HU_DEBS"/*.deb; do dpkg -x "$deb" "$prefix"; done
  find "$prefix" -name '*.pc' -exec sed -i "s|^prefix=/usr|prefix=$prefix/usr|; s|=/usr|=$prefix/usr|; s|-\([LI]\)/usr|-\1$prefix/usr|g" {} +
  for dir in "$prefix"/usr/lib "$prefix"/usr/lib/*-linux-gnu; do
    [ -d "$dir" ] || continue
    PKG_CONFIG_PATH=${PKG_CONFIG_PATH:+$PKG_CONFIG_PATH:}$dir/pkgconfig
    LIBRARY_PATH=${LIBRARY_PATH:+$LIBRARY_PATH:}$dir
    LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$dir
    CPATH=${CPATH:+$CPATH:}$prefix/usr/include:$prefix/usr/include/$(basename "$dir")
  done
  PATH=$PATH:$prefix/usr/bin
  PYTHONPATH=${PYTHONPATH:+$PYTHONPATH:}$prefix/usr/lib/python3/dist-packages
  export PATH PYTHONPATH PKG_CONFIG_PATH LIBRARY_PATH LD_LIBRARY_PATH CPATH
fi

for tool in cc c++ python3 meson ninja; do
  command -v "$tool" > /dev/null 2>&1 || fail "no $tool on the PATH"
done
lite=true
if command -v pkg-config > /dev/null 2>&1 && pkg-config --exists cmocka; then lite=false; fi
# What runs on the device, and no more: device time is dear.
test -f "$build/build.ninja" || meson setup "$build" -Dcuda=enabled -Dtests=enabled -Dlite_tests=$lite -Dbench=disabled -Doracle=disabled
targets="cli/halfulp gpu/hu-digest"
for name in arrays arith pairs gemm errors golden models mma scaled s2fp8 scaled_gemm hadamard number train; do targets="$targets tests/cuda_host/test_device_$name"; done
ninja -C "$build" -t query gpu/bench_device > /dev/null 2>&1 && targets="$targets gpu/bench_device"
ninja -C "$build" $targets

mkdir -p "$hw" "$bench"
name=$(echo "$chip" | tr ' /' '--' | tr -cd 'A-Za-z0-9-')-$(date -u +%Y-%m-%d)
result=$hw/$name.txt
times=$bench/$name-times.txt
failed=0
{
  echo "# halfulp on a device: tests/golden/hw/README.md"
  echo "chip: $chip"
  echo "driver: $driver"
  echo "nvcc: $(nvcc --version | tail -n 1)"
  echo "compiler: $(cc --version | head -n 1)"
  echo "halfulp: $(sed -n 's/.*VERSION_STRING "\(.*\)"/\1/p' include/halfulp/version.h), $(git rev-parse HEAD 2> /dev/null || echo 'no commit')"
  echo "date: $(date -u +%Y-%m-%dT%H:%MZ)"
} > "$result"

echo "== tests on the device"
meson test -C "$build" --no-rebuild --suite gpu --print-errorlogs || failed=1
{
  echo "## tests"
  grep -hE '^\[ +(OK|FAILED) +\]|: on |calls, |elements|products|answers|sums in|refusals|tensors|presets|shapes|layouts|skipped|lines$|hashes:|served|^[a-z0-9-]+ [0-9a-f]{16}$' "$build/meson-logs/testlog.txt" || true
} >> "$result"
# A test that found no device is no pass here.
if grep -q 'exit status 77' "$build/meson-logs/testlog.txt"; then failed=1; fi

echo "== the command on the device"
echo "## halfulp verify" >> "$result"
"$build/cli/halfulp" verify --only device --device cuda -j "$(nproc)" >> "$result" || failed=1

echo "== matrix instructions against their models"
echo "## halfulp probe-hw" >> "$result"
"$build/cli/halfulp" probe-hw --golden tests/golden -n "${HU_PROBES:-200000}" >> "$result" || failed=1

echo "== digests"
digests=$build/digests.txt
if ! "$build/gpu/hu-digest" --device cuda --stride "$stride" > "$digests"; then failed=1; fi
# And device against CPU here, on every 1009th input, whether or not there is a golden file.
python3 tests/cuda_host/compare_digests.py "$build/gpu/hu-digest" --stride 1009 || failed=1
{
  echo "## digests"
  cat "$digests"
} >> "$result"
golden=tests/golden/digests.txt
if [ -f "$golden" ] && { [ "$stride" = 1 ] || [ "$stride" = 4096 ] || [ "$stride" = 4099 ]; }; then
  python3 scripts/same_digests.py "$golden" "$digests" >> "$result" || failed=1
  tail -n 1 "$result"
else
  echo "nothing golden to compare with: $golden has strides 1, 4096 and 4099" >> "$result"
fi

if [ -x "$build/gpu/bench_device" ]; then
  echo "== benchmark"
  sed -n '2,7p' "$result" > "$times"
  "$build/gpu/bench_device" >> "$times" || failed=1
  cat "$times"
else
  echo "benchmark: left out (no cuBLAS)"
fi

if [ "$failed" = 0 ]; then echo "result: passed" >> "$result"; else echo "result: failed" >> "$result"; fi
echo "gpu-check: $(tail -n 1 "$result"), see $result"
exit "$failed"
