#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh BUILD [STEP...]: the long checks of the packages, with the seconds of each; steps are wheels, deb,
# autopkgtest, reproducible, abi, recipes, or all of them. What a step makes lies in BUILD. autopkgtest installs the packages,
# in a view of the system that does not stay; it is left out where this cannot be root. .ci/run runs deb and autopkgtest.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
mkdir -p "$1"
build=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- recipes wheels abi deb autopkgtest reproducible

step() {
  case $1 in
    wheels)
      "$here/wheels.sh" "$build"
      "$here/try_wheels.sh" "$build"
      ;;
    deb)
      "$here/../setup.sh" dh-python
      DEB_BUILD_OPTIONS="noautodbgsym ${DEB_BUILD_OPTIONS:-}" "$here/deb.sh" "$build/deb"
      ;;
    autopkgtest)
      "$here/../setup.sh" autopkgtest
      "$here/autopkgtest.sh" "$build/deb"
      ;;
    recipes) "$here/packaging_lint.sh" "$build" ;;
    reproducible) "$here/reproducible.sh" "$build/reproducible" "$build/wheel-tools/bin" ;;
    abi)
      "$here/../setup.sh" abigail-tools
      python3 -B "$here/abi.py" "$build" || [ $? -eq 77 ]
      python3 -B "$root/tests/packaging/test_abi_changes.py" "$root" "$build/abi-changes"
      ;;
    *)
      echo "check.sh: no step is called '$1'" >&2
      exit 2
      ;;
  esac
}

for name in "$@"; do
  echo "== $name"
  start=$(date +%s)
  step "$name"
  echo "== $name: $(($(date +%s) - start)) s"
done
