#!/bin/sh
# SPDX-License-Identifier: MIT
# packaging_lint.sh BUILD: the recipes of packaging/ before their own tools, or those that these call, as far as Debian
# and PyPI have them. BUILD/recipe-tools keeps what comes from PyPI. A tool that cannot be had is named and left out.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
build=$(cd "$1" && pwd)
tools=$build/recipe-tools
list=$root/tests/packaging/recipe_requirements.txt
if ! cmp -s "$list" "$tools/requirements.txt"; then
  rm -rf "$tools"
  { python3 -m venv "$tools" && "$root/scripts/pinned.sh" "$tools" "$list"; } > "$build/recipe-tools.log" 2>&1 &&
    cp "$list" "$tools/requirements.txt" || tail -3 "$build/recipe-tools.log" >&2
fi
"$root/scripts/setup.sh" nix-bin rubocop cmake-format > "$build/recipe-packages.log" 2>&1 || tail -3 "$build/recipe-packages.log" >&2
cd "$root/packaging"
status=0

checked() { # RECIPE PROGRAM [ARGUMENT...]
  recipe=$1 program=$2
  shift 2
  if ! command -v "$program" > /dev/null 2>&1; then
    echo "$recipe: left out, no $program here"
  elif "$program" "$@" > "$build/recipe.log" 2>&1; then
    echo "$recipe: $(basename "$program") finds nothing"
  else
    cat "$build/recipe.log"
    status=1
  fi
}

# conda-forge: rattler-build's parser, and the recipe rendered.
checked conda-forge "$tools/bin/python" "$root/tests/packaging/render_recipe.py" conda-forge/recipe.yaml
# Spack: what `spack style` calls, with its length of lines. The recipe's names come from one import of all, as Spack has it.
spack=spack/packages/halfulp/package.py
checked spack "$tools/bin/black" --quiet --diff --check --line-length 99 $spack
checked spack "$tools/bin/isort" --check --profile black --line-length 99 $spack
checked spack "$tools/bin/flake8" --max-line-length 99 --extend-ignore F403,F405 $spack
# vcpkg: a manifest as `vcpkg format-manifest` writes it, and the port's CMake.
checked vcpkg python3 -B "$root/tests/packaging/manifest_form.py" vcpkg/halfulp/vcpkg.json
checked vcpkg cmake-lint --suppress-decorations --disabled-codes C0103 --line-width 120 --tab-size 4 -- vcpkg/halfulp/portfile.cmake
# Homebrew: what `brew style` calls, with its own choices; its own rules are not to be had.
checked homebrew rubocop --config "$root/tests/packaging/rubocop.yml" --cache false --format simple homebrew/halfulp.rb
# Nix: its parser.
NIX_STORE_DIR=$build/nix NIX_STATE_DIR=$build/nix
export NIX_STORE_DIR NIX_STATE_DIR
checked nix nix-instantiate --parse nix/default.nix
exit $status
