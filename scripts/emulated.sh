#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: emulated.sh aarch64|riscv64 BUILD [SUITE...]
# The library and its cmocka suites built for another machine, in BUILD, and run here under QEMU: hours. Kernels for units
# that no record confirms (Arm's FEAT_FP16) are on, so that the emulator runs them. The libraries that the
# tests link come from Debian's archive for that machine and are unpacked in BUILD. A suite that passed is not run
# again while its program is the same file, so a run that was stopped goes on.
set -eu
machine=$1 build=$2
shift 2
case $machine in
  aarch64) debian=arm64 optimization=2 ;;
  riscv64) debian=riscv64 optimization=1 ;; # at -O2 this compiler takes minutes over the kernels
  *) echo "emulated.sh: the machine is aarch64 or riscv64, not '$machine'" >&2; exit 2 ;;
esac
here=$(cd "$(dirname "$0")" && pwd)
"$here/setup.sh" "gcc-$machine-linux-gnu" "g++-$machine-linux-gnu" "libc6-dev-$debian-cross" qemu-user-static libmpfr-dev libcmocka-dev
mkdir -p "$build"
build=$(cd "$build" && pwd) root=$build/root

# trixie: the first Debian release that has riscv64.
fetch() {
  apt=$build/apt
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/debs"
  touch "$apt/status"
  echo "deb [arch=$debian signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main" > "$apt/sources.list"
  set -- -o "APT::Architecture=$debian" -o "APT::Architectures=$debian" -o "Dir::Etc::sourcelist=$apt/sources.list" \
    -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$apt/lists" -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache"
  apt-get "$@" update > "$apt/log" 2>&1 || { cat "$apt/log" >&2; exit 1; }
  (cd "$apt/debs" && apt-get "$@" download libc6 libgcc-s1 libstdc++6 libgmp10 libgmp-dev libgmpxx4ldbl libmpfr6 libmpfr-dev \
    libcmocka0 libcmocka-dev) >> "$apt/log" 2>&1 || { cat "$apt/log" >&2; exit 1; }
  for package in "$apt"/debs/*.deb; do dpkg -x "$package" "$root.part"; done
  # Programs look for their loader in /lib, which is usr/lib in packages of today.
  [ -e "$root.part/lib" ] || ln -s usr/lib "$root.part/lib"
  mv "$root.part" "$root"
}
if [ ! -d "$root" ]; then
  echo "halfulp: fetching $machine's libraries"
  fetch
fi

library=$root/usr/lib/$machine-linux-gnu
cat > "$build/cross.ini" << END
[binaries]
c = '$machine-linux-gnu-gcc'
cpp = '$machine-linux-gnu-g++'
ar = '$machine-linux-gnu-ar'
strip = '$machine-linux-gnu-strip'
pkgconfig = 'pkg-config'
pkg-config = 'pkg-config'
exe_wrapper = ['qemu-$machine-static', '-L', '$root', '-E', 'LD_LIBRARY_PATH=$library']
[properties]
pkg_config_libdir = '$library/pkgconfig'
needs_exe_wrapper = true
[built-in options]
c_args = ['-I$root/usr/include', '-I$root/usr/include/$machine-linux-gnu']
cpp_args = ['-I$root/usr/include', '-I$root/usr/include/$machine-linux-gnu']
c_link_args = ['-L$library', '-Wl,--allow-shlib-undefined']
cpp_link_args = ['-L$library', '-Wl,--allow-shlib-undefined']
[host_machine]
system = 'linux'
cpu_family = '$machine'
cpu = '$machine'
endian = 'little'
END
[ -f "$build/build.ninja" ] || meson setup "$build" "$here/.." --cross-file "$build/cross.ini" -Dcuda=disabled -Dbench=disabled \
  -Dplanted=false -Dpython=disabled -Dtests=enabled -Doracle=enabled -Dwerror=true -Dunconfirmed_units=true -Doptimization=$optimization > "$build/setup.log" || { cat "$build/setup.log" >&2; exit 1; }
exec python3 -B "$here/emulated.py" "$build" "$@"
