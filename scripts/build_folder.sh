#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: build_folder.sh BUILD FOR [MESON-ARGUMENT...]
# Sets BUILD up for one of the Makefile's targets, by meson's options levels, cuda, gpu_archs and gpu_code. FOR is
#   run     the least: of the levels of vector instructions this processor's best alone, and kernels for this machine's GPU
#   check   all levels; kernels for this machine's GPU, or none by nvcc: their text runs on the CPU
#   more    all levels; kernels for this machine's GPU, or where there is none the quick ones (PTX alone of those that ptxas
#           takes longest over), which tests run on the CPU
#   all     all levels, kernels for all architectures, which are meson's defaults: what is installed
# A folder that was set up for less is widened, one for more stays; kernels for another GPU alone give way to this one's. An
# option that the arguments name is the caller's from then on, and no target changes it; so are all in a folder that
# someone else set up. BUILD/set-up-for holds the others and their values.
set -eu
build=$1
for=$2
shift 2
here=$(dirname "$0")
state=$build/set-up-for

arch=$("$here/gpu_arch.sh")
every=$(sed -n "/^option('gpu_archs'/s/.*value: \[\([^]]*\)\].*/\1/p" "$here/../meson_options.txt" | tr -d "' ")
levels=all
case $for in
  all) kernels="gpu_archs=$every gpu_code=all" ;;
  *) kernels="gpu_archs=${arch:-90} gpu_code=$([ -n "$arch" ] && echo all || echo quick)" ;;
esac
[ "$for" != run ] || levels=native
case $for in
  run | check) cuda=$([ -n "$arch" ] && echo auto || echo disabled) ;;
  *) cuda=auto ;;
esac

enough() { # WHAT-THE-FOLDER-HAS WHAT-THE-TARGET-WANTS, of one option
  case $1 in
    "$2" | levels=all | cuda=auto | gpu_code=all | "gpu_archs=$every") true ;;
    gpu_archs=*) [ "$for" != all ] && [ -z "$arch" ] ;; # without a GPU those for any will do
    *) false ;;
  esac
}

options= # those that change
ours=
for wanted in "levels=$levels" "cuda=$cuda" $kernels; do
  name=${wanted%%=*}
  case " $*" in *" -D$name="* | *" -D $name="*) continue ;; esac
  has=
  [ ! -f "$build/build.ninja" ] || has=$(grep "^$name=" "$state" 2> /dev/null) || continue
  if ! enough "$has" "$wanted"; then
    has=$wanted
    options="$options -D$wanted"
  fi
  ours="$ours $has"
done
[ ! -f "$build/build.ninja" ] || [ -n "$options" ] || [ $# -gt 0 ] || exit 0

mkdir -p "$build"
# shellcheck disable=SC2086 # options without blanks in them
if [ ! -f "$build/build.ninja" ]; then
  meson setup "$build" -Dwerror=true $options "$@"
else
  meson configure "$build" $options "$@" 2> /dev/null || meson setup --reconfigure "$build" $options "$@"
fi
# shellcheck disable=SC2086 # a line each
printf '%s\n' $ours > "$state"
