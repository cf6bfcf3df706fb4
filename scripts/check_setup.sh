#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the Debian/Ubuntu packages that only tests need: check_setup.sh BUILD PACKAGE...
# A test without its package says so and is left out, so nothing here stops the tests. A build folder that was set up before a
# package came is set up again, since it looks for programs but once.
set -u
build=$1
shift
setup=$(dirname "$0")/setup.sh
if ! "$setup" "$@"; then
  # One name that is not known here must not keep the others out.
  for package in "$@"; do NO_UPDATE=1 "$setup" "$package" > /dev/null 2>&1 || left_out="${left_out:-} $package"; done
  echo "halfulp: without these packages, and the tests that need them:${left_out:-}" >&2
fi
here=$(dpkg-query -W -f='${Package} ${Status}\n' "$@" 2> /dev/null | sed -n 's/ install ok installed$//p' | sort)
mkdir -p "$build"
if [ -f "$build/build.ninja" ] && [ "$here" != "$(cat "$build/check-packages" 2> /dev/null)" ]; then
  meson setup --reconfigure "$build" > "$build/reconfigure.log" 2>&1 || cat "$build/reconfigure.log" >&2
fi
printf '%s\n' "$here" > "$build/check-packages"

# Python's packages come beside the build, which does not need them; a test that does waits for them (python_env.sh).
"$(dirname "$0")/python_env.sh" "$build" > "$build/python.log" 2>&1 &
