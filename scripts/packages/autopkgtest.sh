#!/bin/sh
# SPDX-License-Identifier: MIT
# autopkgtest.sh FOLDER: runs debian/tests on the packages that deb.sh left in FOLDER, installed over a view of this
# system that ends with the program (overlays of /usr, /etc and /var): nothing stays installed. It has to be root, or to
# become root by sudo without a password, and allowed to mount.
set -eu
folder=$(cd "$1" && pwd)
cannot="left out: autopkgtest installs packages, for which it has to be root and allowed to mount overlays"
if [ "${2:-}" != inside ]; then
  as_root=
  [ "$(id -u)" -eq 0 ] || as_root='sudo -n'
  if ! $as_root unshare -m true 2> /dev/null; then
    echo "$cannot"
    exit 0
  fi
  view=$(mktemp -d)
  trap 'rmdir "$view"' EXIT
  $as_root unshare -m "$0" "$folder" inside "$view"
  exit
fi
view=$3
overlay() { # PART PLACE: /PART under a layer that takes what is written, at PLACE
  mkdir "$view/$1" "$view/$1.work" && mount -t overlay overlay -o "lowerdir=/$1,upperdir=$view/$1,workdir=$view/$1.work" "$2"
}
if ! { mount -t tmpfs halfulp "$view" && mkdir "$view/trial" && overlay etc "$view/trial"; } 2> /dev/null; then
  echo "$cannot"
  exit 0
fi
umount "$view/trial"
rm -r "$view/etc" "$view/etc.work"
for part in usr etc var; do overlay "$part" "/$part"; done
rm -f /var/lib/man-db/auto-update # the index of all manuals, which no test reads, takes longer than the tests
# Status 2 and 8 say that some or all tests were skipped: red here, too.
if ! env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 autopkgtest "$folder"/*.deb "$folder/halfulp/" --no-built-binaries \
  --summary-file "$folder/autopkgtest.txt" -- null > "$folder/autopkgtest.log" 2>&1; then
  tail -40 "$folder/autopkgtest.log" >&2
  exit 1
fi
cat "$folder/autopkgtest.txt"
