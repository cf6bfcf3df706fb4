#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: elsewhere.sh FOLDER LOCALE COMMAND [ARGUMENT...]
# Runs a command as users do who are not us: in a copy of the source in FOLDER (best with a space in its name), which git
# does not know; as an ordinary user, where this is root; under another locale (tr_TR, de_DE). The copy stays. Packages that
# the command needs are installed beforehand: an ordinary user cannot.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
locale=$2
shift 2

python3 -B "$here/scripts/source_copy.py" "$folder"

# The locale need not be installed: it is made beside the copy, where the packages allow it.
places=$folder/../locale
if [ ! -d "$places/$locale.UTF-8" ]; then
  mkdir -p "$places"
  localedef -i "$locale" -f UTF-8 "$places/$locale.UTF-8" 2> /dev/null || {
    echo "elsewhere: no locale $locale can be made here (Debian: locales)" >&2
    exit 2
  }
fi

home=$folder/../home
mkdir -p "$home"
as_user=
if [ "$(id -u)" -eq 0 ]; then
  chown -R nobody "$folder" "$home"
  as_user='setpriv --reuid=nobody --regid=nogroup --clear-groups'
fi
cd "$folder"
# Neither root's programs nor its home.
exec env PATH=/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin HOME="$home" LANG="$locale.UTF-8" LC_ALL="$locale.UTF-8" \
  LOCPATH="$places" $as_user "$@"
