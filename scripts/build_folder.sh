#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: build_folder.sh BUILD FOR [MESON-ARGUMENT...]
# Sets BUILD up for one of the Makefile's targets. FOR is
#   run     the least: of the levels of vector instructions this processor's best alone, and kernels for this machine's GPU
#   check   all levels; kernels for this machine's GPU, or where there is none the quick ones (PTX alone of those that ptxas
#           takes longest over), which tests run on the CPU
#   all     all levels, kernels for all architectures, which are meson's defaults: what is installed
# A folder that is set up for less is widened, one for more stays. BUILD/set-up-for says which it is. There is none, and the
# folder stays, where someone else set it up, or the arguments name levels or kernels.
set -eu
build=$1
for=$2
shift 2
here=$(dirname "$0")

options() { # FOR
  case $1 in
    all) echo "-Dlevels=all -Dgpu_archs=$(sed -n "/^option('gpu_archs'/s/.*value: \[\([^]]*\)\].*/\1/p" "$here/../meson_options.txt" | tr -d "' ") -Dgpu_code=all" ;;
    *)
      arch=$("$here/gpu_arch.sh")
      echo "-Dlevels=$([ "$1" = run ] && echo native || echo all) -Dgpu_archs=${arch:-90} -Dgpu_code=$([ -n "$arch" ] && echo all || echo quick)"
      ;;
  esac
}

rank() { case $1 in run) echo 1 ;; check) echo 2 ;; *) echo 3 ;; esac; }

configure() { meson configure "$build" "$@" 2> /dev/null || meson setup --reconfigure "$build" "$@"; }

state=$build/set-up-for
named=
case "$*" in *gpu_archs* | *gpu_code* | *levels*) named=yes ;; esac
mkdir -p "$build"
# shellcheck disable=SC2046 # options without blanks in them
if [ ! -f "$build/build.ninja" ]; then
  meson setup "$build" -Dwerror=true $([ -n "$named" ] || options "$for") "$@"
  [ -n "$named" ] || echo "$for" > "$state"
elif [ -z "$named" ] && [ -f "$state" ] && [ "$(rank "$(cat "$state")")" -lt "$(rank "$for")" ]; then
  configure $(options "$for") "$@"
  echo "$for" > "$state"
elif [ $# -gt 0 ]; then
  configure "$@"
fi
[ -z "$named" ] || rm -f "$state"
