# SPDX-License-Identifier: MIT
"""The library as two files against the library: the same digests from every compiler found, whatever it may contract, with and without
threads; no warning by any of a list; both headers in C11 and C++17; nothing but libc asked for.

usage: test_one_file.py SOURCE_ROOT DIGESTS ONE_FILE_DIGESTS FOLDER OBJECTS [all]
  DIGESTS, ONE_FILE_DIGESTS: tests/onefile/digests.c with the library, with the two files; FOLDER: where these are; OBJECTS: their archive,
  as the build's compiler made it, with threads and the same warnings. Without `all` one more compiler takes them, without threads: clang
  where there is one, for the build's is gcc nearly always.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

source, plain, made, folder, objects = sys.argv[1:6]
every = sys.argv[6:] == ['all']
program = pathlib.Path(source) / 'tests' / 'onefile' / 'digests.c'
strict = ['-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Wconversion', '-Wsign-conversion', '-Werror']


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(' '.join(command) + '\n' + done.stdout)
    return done.stdout


def needs(path):
    """What an object, or the only one of an archive, wants from others."""
    return {line.split()[-1] for line in run('nm', '-u', path).splitlines() if line.startswith(' ')}


want = run(plain)
assert want.splitlines()[-1].endswith('refused 0') and len(want.splitlines()) >= 10, want
assert run(made) == want, 'the two files as this build compiled them differ:\n' + run(made) + want
libc = {'memchr', 'memcmp', 'bcmp', 'memcpy', 'memmove', 'memset', 'strchr', 'strcmp', 'strcspn', 'strlen', 'strncmp', 'strpbrk', 'strspn'}
THREADS = {'pthread_create', 'pthread_join'}
found = [c for c in ('gcc', 'clang') if shutil.which(c)]
# Flags of the build's own may want more names of the compiler and of libc, with underscores in front.
wanted = {name for name in needs(objects) if not name.startswith('_')} - libc
assert wanted == THREADS, f'the build wants {sorted(wanted)}'
with tempfile.TemporaryDirectory() as scratch:
    compilers = found if every else found[-1:]
    for compiler in compilers:
        threads = every and compiler == found[-1]  # each way once, with the build's own
        made_object, exe = os.path.join(scratch, compiler + '.o'), os.path.join(scratch, 'digests')
        # Without optimisation: gcc warns of more with it, for which the build compiles the file.
        run(compiler, '-std=c11', *([] if threads else ['-DHALFULP_NO_THREADS']), *strict, '-O0', '-c', os.path.join(folder, 'halfulp.c'),
            '-o', made_object)
        run(compiler, '-std=c11', *strict, '-DHU_USE_ONE_FILE', '-I' + folder, '-I' + source, str(program), made_object, '-o', exe,
            *(['-pthread'] if threads else []))
        assert run(exe) == want, f'{compiler}: other digests:\n' + run(exe) + want
        others = needs(made_object) - libc - {'_GLOBAL_OFFSET_TABLE_'}
        assert others == (THREADS if threads else set()), f'{compiler}: wants {sorted(others)}'
        print(f'{compiler}, with{"" if threads else "out"} threads: the same digests, nothing but libc')
    # The inline core: alone without any library, and beside halfulp.h in either order.
    alone = ('int main(void) { hu_format f = hu_format_like(); hu_mode m = hu_rne(); hu_core c = hu_core_of(f, m);\n'
             '  return hu_core_encode(&c, 448.0f, 0, NULL) != 0x7E || hu_core_decode(&c, 0x38) != 1.0f; }\n')
    made = ('static hu_format hu_format_like(void) { hu_format f; memset(&f, 0, sizeof f); f.sign = 1; f.e = 4; f.m = 3;\n'
            '  f.nan = HU_NAN_ONES; f.overflow = HU_OVERFLOW_NAN; f.negzero = 1; return f; }\n'
            'static hu_mode hu_rne(void) { hu_mode m; memset(&m, 0, sizeof m); return m; }\n')
    for headers in (['halfulp_core.h'], ['halfulp.h', 'halfulp_core.h'], ['halfulp_core.h', 'halfulp.h', 'halfulp_core.h']):
        for compiler, suffix, standard in (('gcc', 'c', 'c11'), ('clang', 'c', 'c11'), ('g++', 'cpp', 'c++17'), ('clang++', 'cpp', 'c++17')):
            if not shutil.which(compiler):
                continue
            user, exe = os.path.join(scratch, 'core.' + suffix), os.path.join(scratch, 'core')
            pathlib.Path(user).write_text(''.join(f'#include "{h}"\n' for h in headers) + made + alone)
            library = [os.path.join(scratch, compilers[0] + '.o'), '-pthread'] if len(headers) > 1 else []
            run(compiler, '-std=' + standard, *strict, '-O1', '-I' + folder, user, *library, '-o', exe)
            run(exe)
    refused = [(c, f, 'without -ffast-math') for c in found for f in ('-ffast-math', '-ffinite-math-only')]
    if 'gcc' in found:
        refused += [('gcc', f, 'without -funsafe-math-optimizations') for f in ('-funsafe-math-optimizations', '-freciprocal-math',
                                                                                '-fno-signed-zeros -fno-trapping-math -fassociative-math')]
        if os.uname().machine == 'x86_64':
            refused.append(('gcc', '-mfpmath=387', 'rounded to float and double'))
    for compiler, flags, said in refused:
        words = [compiler, *flags.split(), '-Wfatal-errors', '-fsyntax-only', os.path.join(folder, 'halfulp.c')]
        fast = subprocess.run(words, stderr=subprocess.PIPE, text=True)
        assert fast.returncode and said in fast.stderr, (compiler, flags, fast.stderr)
    for compiler, suffix, standard in (('gcc', 'c', 'c11'), ('g++', 'cpp', 'c++17'), ('clang++', 'cpp', 'c++17')):
        if shutil.which(compiler):
            user = os.path.join(scratch, 'user.' + suffix)
            pathlib.Path(user).write_text('#include "halfulp.h"\n#include "halfulp.h"\nint main(void) { return hu_float8_e4m3fn().m != 3; }\n')
            run(compiler, '-std=' + standard, *strict, '-I' + folder, '-c', user, '-o', user + '.o')
print(want, end='')
