#!/bin/sh
# SPDX-License-Identifier: MIT
# On a machine with an NVIDIA device: builds, probes its matrix instructions, runs the device tests, digests, the benchmark and
# `halfulp verify`, and writes the results as text. Needs python3, and to build nvcc, gcc, g++, meson and ninja; takes cmocka where
# there is one; installs nothing. Exit 77 without a device, 1 if anything differs or is missing.
#
#   BUILD        build folder (build-gpu)
#   OUT          folder for the result files (at most 8); without it BUILD-results, and what is in them also goes into one
#                file of tests/golden/hw and one of bench/results
#   PREBUILT     what `scripts/gpu_check.py pack BUILD FILE.tar.xz` made on a machine without a device (docs/device.md says of
#                which build): taken if its programs run here, else the build folder is
#   STAGES       "probe tests digests bench verify identify"; there is "sanitizer", too
#   HU_ARCH      compute capability to compile for (the device's)
#   HU_DEBS      folder of .deb packages, unpacked beside the build folder where the machine lacks them: libcmocka-dev and
#                libcmocka0; pkgconf, pkgconf-bin and libpkgconf3; meson. From: apt-get download NAME...
#   HU_PROBES    random dot products of each matrix instruction (200000)
#   HU_STRIDE    every HU_STRIDE-th input of the digests only (1: all; the golden file also has 4096 and 4099)
#   HU_WHO       who runs it, for the record: a name or a project
#   HU_LIMITS    limits in seconds other than the usual, by stage, of a test by its name: "bench=60 tests=30 cuda-device-gemm=200"
set -eu
cd "$(dirname "$0")/.."

skip() {
  echo "gpu-check: skipped: $1" >&2
  exit 77
}

nvcc --version > /dev/null 2>&1 || PATH=/usr/local/cuda/bin:$PATH
command -v nvidia-smi > /dev/null 2>&1 || skip "no nvidia-smi on the PATH"
[ -n "$(nvidia-smi --query-gpu=name --format=csv,noheader 2> /dev/null || true)" ] || skip "nvidia-smi shows no NVIDIA device"
command -v python3 > /dev/null 2>&1 || { echo "gpu-check: no python3 on the PATH" >&2; exit 1; }

# Packages without root: their files under a prefix, and pkg-config files that say so.
if [ -n "${HU_DEBS:-}" ]; then
  mkdir -p "${BUILD:-build-gpu}-debs"
  prefix=$(cd "${BUILD:-build-gpu}-debs" && pwd)
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
  export PYTHONPATH PKG_CONFIG_PATH LIBRARY_PATH LD_LIBRARY_PATH CPATH
fi
export PATH
exec python3 -B scripts/gpu_check.py run
