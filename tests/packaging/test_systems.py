#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The library's sources compile for macOS (by clang, x86-64 and arm64) and for Windows (by MinGW): every file of
libhalfulp, the kernels once for each level that is given, and the two files (onefile/), without a warning. For macOS
there is no C library here: headers/ declares what the library calls, and nothing is linked. For Windows the two
files become a program, which Wine runs: its digests are this machine's. The two files hold the text of every file, so
that `some` of Windows compiles only those by themselves, too, that include more than standard headers.

usage: test_systems.py apple|windows some|all ROOT ONE_FILE_FOLDER DIGESTS FILE... [--level NAME FLAGS FILE...]...
Ends with 77 where the compiler is missing."""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

STRICT = ['-std=c11', '-ffp-contract=off', '-Wall', '-Wextra', '-Werror', '-Wno-pass-failed']
HERE = pathlib.Path(__file__).resolve().parent
# Compiler's flags, and the levels of the machine.
APPLE = {
    'x86_64-apple-macos11': ('vector', 'avx2', 'avx512', 'vbmi', 'madd', 'avx_vnni', 'bf16', 'vnni',
                             'streams_avx2', 'streams_avx512'),
    'arm64-apple-macos11': ('vector', 'neon', 'fp16_neon'),
}


def run(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode:
        sys.exit(' '.join(map(str, command)) + '\n' + done.stdout[:4000])
    return done.stdout


def skip(why):
    print('skipped:', why)
    sys.exit(77)


def compile_all(jobs):
    """Runs commands side by side, as many as there are processors."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        done = [pool.submit(run, job) for job in jobs]
        for one in done:
            try:
                one.result()
            except SystemExit:
                pool.shutdown(cancel_futures=True)
                raise


def apple(root, one_file, sources, levels):
    clang = shutil.which('clang') or skip('no clang here (Debian: clang)')
    common = [clang, *STRICT, '-ffreestanding', '-nostdlibinc', '-isystem', str(HERE / 'headers'), '-I' + root, '-I' + root + '/include']
    for target, names in APPLE.items():
        jobs = [[*common, '--target=' + target, '-fsyntax-only', file] for file in sources]
        for name in (one for one in names if one in levels):
            flags, files = levels[name]
            jobs += [[*common, '--target=' + target, *flags, '-fsyntax-only', file] for file in files]
        with tempfile.TemporaryDirectory() as scratch:
            made = os.path.join(scratch, 'halfulp.o')
            compile_all(jobs + [[*common, '--target=' + target, '-O0', '-c', one_file + '/halfulp.c', '-o', made]])
            kind = pathlib.Path(made).read_bytes()[:4]
            assert kind == b'\xcf\xfa\xed\xfe', 'not an object of macOS'
        print(f'{target}: {len(jobs)} files of the library and the two files compile')


def windows(everything, root, one_file, digests, sources):
    compiler = shutil.which('x86_64-w64-mingw32-gcc') or skip('no MinGW here (Debian: gcc-mingw-w64-x86-64)')
    common = [compiler, *STRICT, '-I' + root, '-I' + root + '/include']
    alone = [file for file in sources if everything or '#include <pthread.h>' in pathlib.Path(file).read_text(encoding='utf-8')]
    assert alone, 'no file has threads'
    compile_all([*common, '-fsyntax-only', file] for file in alone)
    print(f'MinGW: {len(alone)} of {len(sources)} files of the library compile')
    with tempfile.TemporaryDirectory() as scratch:
        made, program = os.path.join(scratch, 'halfulp.o'), os.path.join(scratch, 'digests.exe')
        run([*common, '-O0', '-c', one_file + '/halfulp.c', '-o', made])
        run([*common, '-O0', '-DHU_USE_ONE_FILE', '-include', str(HERE / 'windows_alloc.h'), '-I' + one_file, root + '/tests/onefile/digests.c',
             made, '-static', '-pthread', '-o', program])
        wine = shutil.which('wine64') or shutil.which('wine') or '/usr/lib/wine/wine64'
        if not os.path.exists(wine):
            skip('compiled, not run: no Wine here (Debian: wine64)')
        # A folder of its own: nothing of this user is read or written.
        env = dict(os.environ, WINEPREFIX=os.path.join(scratch, 'wine'), WINEDEBUG='-all', WINEDLLOVERRIDES='mscoree,mshtml=', DISPLAY='')
        done = subprocess.run([wine, program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        subprocess.run([wine.replace('wine64', 'wineserver64') if '/lib/wine/' in wine else 'wineserver', '-k'], env=env,
                       stderr=subprocess.DEVNULL, check=False)
        assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
        said, wanted = done.stdout.replace('\r', ''), run([digests])
        assert said == wanted and len(wanted.splitlines()) >= 10, 'other digests under Wine:\n' + said + wanted
    print('Wine: the two files give the digests of this machine')


def main(system, extent, root, one_file, digests, *rest):
    sources, *parts = split_at(rest, '--level')
    levels = {part[0]: (part[1].split(), part[2:]) for part in parts}
    assert len(sources) > 50 and all(pathlib.Path(file).is_file() for file in sources), 'these are not the files of the library'
    if system == 'apple':
        apple(root, one_file, sources, levels)
    else:
        windows(extent == 'all', root, one_file, digests, sources)


def split_at(words, mark):
    """The runs of words between marks."""
    runs = [[]]
    for word in words:
        if word == mark:
            runs.append([])
        else:
            runs[-1].append(word)
    return runs


if __name__ == '__main__':
    main(*sys.argv[1:])
