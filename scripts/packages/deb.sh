#!/bin/sh
# SPDX-License-Identifier: MIT
# deb.sh FOLDER: builds the Debian packages of debian/ from a copy of the source in FOLDER/halfulp, as Debian's
# machines do (the packages lie in FOLDER then), and lets lintian judge them. DEB_BUILD_OPTIONS, DEB_CFLAGS_APPEND and
# DEB_CXXFLAGS_APPEND are Debian's own; JOBS
# says how many compilers run at once; DEB_NO_CLEAN=1 keeps what an earlier call built.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
"$here/../setup.sh" debhelper dh-python dpkg-dev fakeroot lintian meson doxygen mandoc emscripten python3-pygments pkgconf libgmp-dev libinih-dev libjansson-dev libmpfr-dev
mkdir -p "$1"
folder=$(cd "$1" && pwd)
python3 -B "$here/../source_copy.py" "$folder/halfulp"
cd "$folder/halfulp"
# Debian's own Python and tools, and no folder of this user.
if ! env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/nonexistent LC_ALL=C.UTF-8 "DEB_BUILD_OPTIONS=${DEB_BUILD_OPTIONS:-} parallel=${JOBS:-$(nproc)}" \
  ${DEB_CFLAGS_APPEND:+"DEB_CFLAGS_APPEND=$DEB_CFLAGS_APPEND"} ${DEB_CXXFLAGS_APPEND:+"DEB_CXXFLAGS_APPEND=$DEB_CXXFLAGS_APPEND"} \
  ${SOURCE_DATE_EPOCH:+"SOURCE_DATE_EPOCH=$SOURCE_DATE_EPOCH"} ${CCACHE_DISABLE:+"CCACHE_DISABLE=$CCACHE_DISABLE"} dpkg-buildpackage -b -us -uc ${DEB_NO_CLEAN:+-nc} > "$folder/log" 2>&1; then
  tail -40 "$folder/log" >&2
  exit 1
fi
cd "$folder"
ls ./*.deb
LC_ALL=C.UTF-8 lintian --info --fail-on error,warning,info --suppress-tags bad-distribution-in-changes-file ./*.changes
