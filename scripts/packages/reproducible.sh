#!/bin/sh
# SPDX-License-Identifier: MIT
# reproducible.sh FOLDER TOOLS: builds the Debian packages and the wheel twice, in two folders of different depth, one
# after the other, and compares all files: libraries, programs, packages, wheels. TOOLS: where pip and meson-python
# are (wheels.sh makes BUILD/wheel-tools/bin). FOLDER/one and FOLDER/another/place are kept for a look where they
# differ.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
# No compiler's cache, which would give the second build the first one's files; kernels of one level, which are
# compiled as those of others are.
export CCACHE_DISABLE=1 DEB_BUILD_OPTIONS="nocheck onelevel ${DEB_BUILD_OPTIONS:-}"
epoch=$(git -C "$here" log -1 --format=%ct 2> /dev/null || echo 1700000000)

for place in one another/place; do
  "$here/deb.sh" "$folder/$place" > "$folder/log" 2>&1 || { tail -30 "$folder/log" >&2; exit 1; }
  libraries=$(ls -d "$folder/$place"/halfulp/obj-*)
  rm -rf "$folder/$place/wheel"
  (cd "$folder" && PATH="$2:$PATH" SOURCE_DATE_EPOCH="$epoch" pip --disable-pip-version-check wheel --no-build-isolation --no-deps \
    -w "$folder/$place/wheel" --config-settings "setup-args=-Dpython_libraries=$libraries" "$folder/$place/halfulp") > "$folder/log" 2>&1 ||
    { tail -30 "$folder/log" >&2; exit 1; }
done
exec python3 -B "$here/same_files.py" "$folder/one" "$folder/another/place"
