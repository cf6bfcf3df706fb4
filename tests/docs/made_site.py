# SPDX-License-Identifier: MIT
"""The site, made once for the tests that read it: again only where a file of the source or the command is another one."""
import fcntl
import hashlib
import os
import pathlib
import subprocess
import sys


def state(root, command):
    """A digest of the names, sizes and times of what the site is made from."""
    sys.path.insert(0, str(root / 'scripts'))
    import source_copy
    found = hashlib.sha256()
    for path in sorted(root / name for name in source_copy.names(root)) + [command]:
        about = path.stat() if path.exists() else None
        found.update(('%s %s\n' % (path, about and (about.st_size, about.st_mtime_ns))).encode())
    return found.hexdigest()


def made(root, build):
    """BUILD/docs, with what build.py said; its words are the error where it fails."""
    out = build / 'docs'
    out.mkdir(parents=True, exist_ok=True)
    with open(build / 'docs.lock', 'w', encoding='ascii') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run side by side
        command = pathlib.Path(os.environ.get('HALFULP') or build / 'cli' / 'halfulp')  # as build.py takes it
        stamp, wanted = out / 'made-from.txt', state(root, command)
        if not stamp.exists() or stamp.read_text(encoding='ascii') != wanted or not (out / 'html' / 'index.html').exists():
            stamp.unlink(missing_ok=True)
            done = subprocess.run([sys.executable, '-B', str(root / 'docs/site/build.py'), str(out)], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            assert done.returncode == 0, done.stdout
            print(done.stdout.strip())
            stamp.write_text(wanted, encoding='ascii')
    return out
