# SPDX-License-Identifier: MIT
"""A command under valgrind's memory checker, in a folder of its own.

    checked.py ROOT PROGRAM [ARGUMENT...]

{root} in an argument is ROOT, the source. Ends with 1 where valgrind saw a value used that nothing had written or memory
that is not the program's, or where memory was lost; with 77 where there is no valgrind."""
import os
import shutil
import subprocess
import sys
import tempfile

root, program, arguments = sys.argv[1], os.path.abspath(sys.argv[2]), sys.argv[3:]
valgrind = shutil.which('valgrind')
if not valgrind:
    print('skipped: there is no valgrind (Debian: valgrind)')
    sys.exit(77)
with tempfile.TemporaryDirectory(prefix='halfulp-memory-') as folder:
    done = subprocess.run([valgrind, '-q', '--leak-check=full', '--errors-for-leak-kinds=definite,possible', '--error-exitcode=9',
                           program] + [a.replace('{root}', root) for a in arguments],
                          cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
print(done.stdout[-6000:])
sys.exit(0 if done.returncode == 0 else 1)
