#!/bin/sh
# SPDX-License-Identifier: MIT
# try_wheels.sh BUILD: imports the wheels of BUILD/wheel and compares what they compute: x86_64 by this machine's
# Python with NumPy from the package index, aarch64 by Debian's Python and NumPy for that machine under QEMU.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
program=$here/../../tests/packaging/wheel_digest.py
"$here/../setup.sh" qemu-user-static

# Packages of Debian for arm64, unpacked: nothing of this system changes.
fetch() {
  apt=$build/wheel-apt root=$build/wheel-root
  rm -rf "$root.part" "$apt"
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/debs" "$root.part"
  touch "$apt/status"
  echo "deb [arch=arm64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main" > "$apt/sources.list"
  set -- -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o "Dir::State::lists=$apt/lists" -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache"
  apt-get "$@" update
  (cd "$apt/debs" && apt-get "$@" download libc6 libgcc-s1 libstdc++6 zlib1g libexpat1 libffi8 python3.11-minimal libpython3.11-minimal \
    libpython3.11-stdlib python3-numpy libblas3 liblapack3 libgfortran5 libssl3)
  for package in "$apt"/debs/*.deb; do dpkg -x "$package" "$root.part"; done
  [ -e "$root.part/lib" ] || ln -s usr/lib "$root.part/lib"
  mv "$root.part" "$root"
  rm -rf "$apt"
}

unpacked() { # MACHINE: the wheel's files, as pip lays them out
  rm -rf "$build/wheel-tried-$1"
  python3 -B -m zipfile -e "$build"/wheel/*_"$1".whl "$build/wheel-tried-$1"
  ls -d "$build/wheel-tried-$1"/*.data/purelib > /dev/null 2>&1 && mv "$build/wheel-tried-$1"/*.data/purelib/* "$build/wheel-tried-$1/" || true
  echo "$build/wheel-tried-$1"
}

[ -d "$build/wheel-root" ] || fetch > "$build/wheel-root.log" 2>&1 || { tail -20 "$build/wheel-root.log" >&2; exit 1; }
[ -x "$build/wheel-python/bin/python" ] || python3 -m venv "$build/wheel-python"
# NumPy, which the wheel asks for, as tests have it.
sed -n '/^numpy==/,/[^\\]$/p' "$here/../../tests/python/requirements.txt" > "$build/wheel-numpy.txt"
"$here/../pinned.sh" "$build/wheel-python" "$build/wheel-numpy.txt" > "$build/wheel-python.log" 2>&1 || { cat "$build/wheel-python.log" >&2; exit 1; }
"$build/wheel-python/bin/pip" --disable-pip-version-check install -q --no-index --no-deps --force-reinstall "$build"/wheel/*_x86_64.whl
"$build/wheel-python/bin/python" -B "$program" > "$build/wheel-x86_64.txt"
root=$build/wheel-root
library=$root/usr/lib/aarch64-linux-gnu
tried=$(unpacked aarch64)
qemu-aarch64-static -L "$root" -E "LD_LIBRARY_PATH=$library:$library/blas:$library/lapack" -E PYTHONHOME="$root/usr" \
  -E "PYTHONPATH=$tried:$root/usr/lib/python3/dist-packages" "$root/usr/bin/python3.11" -B "$program" > "$build/wheel-aarch64.txt"
diff "$build/wheel-x86_64.txt" "$build/wheel-aarch64.txt"
cat "$build/wheel-aarch64.txt"
