#!/bin/sh
# SPDX-License-Identifier: MIT
# autopkgtest.sh FOLDER: runs debian/tests on the packages that deb.sh left in FOLDER, installed over a view of this
# system that ends with the program (overlays of /usr, /etc and /var): nothing stays installed. It has to be root, and
# allowed to mount.
set -eu
folder=$(cd "$1" && pwd)
if [ "${2:-}" != inside ]; then
  if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2> /dev/null; then
    echo "left out: autopkgtest installs packages, for which it has to be root and allowed to mount"
    exit 0
  fi
  view=$(mktemp -d)
  trap 'rmdir "$view"' EXIT
  unshare -m "$0" "$folder" inside "$view"
  exit
fi
view=$3
mount -t tmpfs halfulp "$view"
for part in usr etc var; do
  mkdir "$view/$part" "$view/$part.work"
  mount -t overlay overlay -o "lowerdir=/$part,upperdir=$view/$part,workdir=$view/$part.work" "/$part"
done
# Status 2 and 8 say that some or all tests were skipped: red here, too.
if ! env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 autopkgtest "$folder"/*.deb "$folder/halfulp/" --no-built-binaries \
  --summary-file "$folder/autopkgtest.txt" -- null > "$folder/autopkgtest.log" 2>&1; then
  tail -40 "$folder/autopkgtest.log" >&2
  exit 1
fi
cat "$folder/autopkgtest.txt"
