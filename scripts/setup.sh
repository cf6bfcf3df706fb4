#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the Debian/Ubuntu packages named as arguments that are missing. Says clearly what to do where it cannot.
# NO_UPDATE=1: with the lists of packages that are here. Several may run at once: apt waits for apt.
set -eu
missing=
for package in "$@"; do
  case "$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)" in
    *"ok installed") ;;
    *) missing="$missing $package" ;;
  esac
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
  echo "halfulp: needs these Debian packages or their like, and there is no apt-get here to install them:$missing" >&2
  exit 1
fi
as_root=
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    echo "halfulp: missing packages, and neither root nor sudo to install them; ask for: apt-get install$missing" >&2
    exit 1
  fi
  as_root=sudo
fi
echo "halfulp: installing$missing"
log=$(mktemp)
install() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=900 $missing; }
if ! { install || { [ -z "${NO_UPDATE:-}" ] && $as_root apt-get update && install; }; } > "$log" 2>&1; then
  tail -20 "$log" >&2
  echo "halfulp: apt-get could not install:$missing" >&2
  rm -f "$log"
  exit 1
fi
rm -f "$log"
