#!/bin/sh
# SPDX-License-Identifier: MIT
# wheels.sh BUILD [MACHINE...]: wheels for x86_64 and aarch64 (or those named) in BUILD/wheel that run on every Linux
# with glibc 2.17 or newer, which auditwheel judges. One wheel serves every CPython from 3.9 on. aarch64 is compiled
# by Debian's cross compiler and tried under QEMU: a Python of Debian for that machine imports the wheel, and its
# digests must be those of this machine.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
mkdir -p "$1"
build=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- x86_64 aarch64
log=$build/wheel.log tools=$build/wheel-tools folder=$build/wheel
mkdir -p "$folder"
# Times in the archives: that of the last change, so that the same source gives the same file.
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct 2> /dev/null || echo 1700000000)}"

quiet() { "$@" >> "$log" 2>&1 || { tail -30 "$log" >&2; exit 1; }; }

: > "$log"
if ! cmp -s "$source/tests/packaging/requirements.txt" "$tools/requirements.txt"; then
  rm -rf "$tools"
  quiet python3 -m venv "$tools"
  quiet "$here/../pinned.sh" "$tools" "$source/tests/packaging/requirements.txt"
  cp "$source/tests/packaging/requirements.txt" "$tools/"
fi
PATH=$tools/bin:$PATH

libraries() { # MACHINE: what the package loads, in BUILD/wheel-MACHINE
  machine=$1 out=$build/wheel-$1 cc=${CC:-gcc} cross=
  if [ "$machine" != "$(uname -m)" ]; then
    "$here/../setup.sh" "gcc-$(echo "$machine" | tr _ -)-linux-gnu" "g++-$(echo "$machine" | tr _ -)-linux-gnu"
    cc=$machine-linux-gnu-gcc cross=$out.ini
    cat > "$cross" << END
[binaries]
c = '$cc'
cpp = '$machine-linux-gnu-g++'
ar = '$machine-linux-gnu-ar'
strip = '$machine-linux-gnu-strip'
[host_machine]
system = 'linux'
cpu_family = '$machine'
cpu = '$machine'
endian = 'little'
END
  fi
  quiet python3 -B "$here/glibc_floor.py" "$build/wheel-floor-$machine" ${cc##* }
  [ -f "$out/build.ninja" ] || quiet meson setup "$out" "$source" ${cross:+--cross-file "$cross"} -Dlevels=all -Dcuda=disabled -Dtests=disabled \
    -Dbench=disabled -Dmpi=disabled -Dplanted=false -Doracle=disabled -Dsafetensors=disabled -Dconfig=disabled -Dpython=disabled -Doptimization=2 ${MESON_ARGS:-} \
    "-Dc_link_args=['-L$build/wheel-floor-$machine', '-Wl,--as-needed', '-lfloor_pthread', '-lfloor_m']"
  quiet ninja -C "$out" -j "${JOBS:-$(nproc)}" python-libraries
}

for machine in "$@"; do
  libraries "$machine"
  rm -rf "$build/wheel-made" "$folder"/*"_$machine.whl"
  quiet pip --disable-pip-version-check wheel --no-build-isolation --no-deps -w "$build/wheel-made" \
    --config-settings "setup-args=-Dpython_libraries=$build/wheel-$machine" "$source"
  tags=manylinux2014_$machine.manylinux_2_17_$machine
  quiet wheel tags --remove --platform-tag "$tags" "$build"/wheel-made/*.whl
  made=$(ls "$build"/wheel-made/*.whl)
  python3 -B "$here/wheel_audit.py" "$made" "$machine"
  mv "$made" "$folder/"
  echo "$folder/${made##*/}"
done
rm -rf "$build/wheel-made"
