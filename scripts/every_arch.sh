#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: every_arch.sh BUILD
# A folder that `make run` has set up for the GPU at hand alone (run.sh) is set to all architectures, as others are.
set -eu
[ -f "$1/one-gpu-arch" ] || exit 0
every=$(sed -n "/'gpu_archs'/,/)/s/.*value: \[\(.*\)\].*/\1/p" "$(dirname "$0")/../meson_options.txt" | tr -d "' ")
meson configure "$1" "-Dgpu_archs=$every"
rm "$1/one-gpu-arch"
