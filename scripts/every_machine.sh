#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: every_machine.sh BUILD
# A folder that `make run` has set up for the machine at hand alone (run.sh) is set to all machines, as others are: to all
# levels of vector instructions and all architectures of GPUs.
set -eu
[ -f "$1/one-machine" ] || exit 0
options=-Dlevels=all
if grep -q gpu_archs "$1/one-machine"; then
  every=$(sed -n "/'gpu_archs'/,/)/s/.*value: \[\(.*\)\].*/\1/p" "$(dirname "$0")/../meson_options.txt" | tr -d "' ")
  options="$options -Dgpu_archs=$every"
fi
# shellcheck disable=SC2086 # two options
meson configure "$1" $options
rm "$1/one-machine"
