# SPDX-License-Identifier: MIT
"""The installed man pages: groff finds nothing wrong with them, they are complete, and their examples work.

usage: test_man.py SOURCE_ROOT BUILD_ROOT     exit code 77: no groff"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
source, build = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
sys.path.insert(0, str(source / 'tests' / 'examples'))
import staged  # noqa: E402

if not shutil.which('groff'):
    print('no groff (Debian: groff): the man pages were not looked at')
    sys.exit(77)
copy = staged.Staged(build)


def page(section, name):
    found = list((copy.prefix / 'share' / 'man' / ('man%d' % section)).glob(name + '.*'))
    assert len(found) == 1, (name, found)
    return found[0].read_text(encoding='ascii')


def complaints(text):
    done = subprocess.run(['groff', '-man', '-Tascii', '-ww', '-z'], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.stderr


def plain(text):
    """Without escapes."""
    for old, new in (('\\-', '-'), ('\\&', ''), ('\\(dq', '"'), ('\\(ha', '^'), ('\\(ti', '~'), ('\\e', '\\')):
        text = text.replace(old, new)
    return text


def commands():
    return [one['id'] for one in json.loads(run('halfulp', 'help', '--json'))]


def example(text):
    return plain(text.split('.SH EXAMPLES\n.nf\n')[1].split('\n.fi')[0]) + '\n'


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=copy.environment(), **more)
    assert done.returncode == 0, (command, done.stdout)
    return done.stdout


def test_well_formed():
    names = [(1, 'halfulp'), (3, 'halfulp'), (5, 'halfulp-train.ini')] + [(1, 'halfulp-' + c) for c in commands()]
    for section, name in names:
        assert complaints(page(section, name)) == '', complaints(page(section, name))
        for part in ('NAME', 'DESCRIPTION', 'EXAMPLES', 'SEE ALSO'):
            assert '\n.SH %s\n' % part in page(section, name), (name, part)
    assert complaints(page(3, 'halfulp').replace('.TP', '.TPX', 1)) and complaints(page(1, 'halfulp').replace('\n.BR', '\n.BRX', 1))
    print('%d man pages without a complaint of groff' % len(names))


def test_every_call_is_listed():
    text = plain(page(3, 'halfulp'))
    calls = set()
    for path in (source / 'include' / 'halfulp').glob('**/*.h'):
        body = re.sub(r'/\*.*?\*/', '', path.read_text(encoding='utf-8'), flags=re.S)
        calls.update(re.findall(r'HU_API [^;(]*?\b(hu_\w+)\(', body))
    for path in (source / 'formats').glob('*.h'):
        if path.name != 'make.h':
            calls.update(re.findall(r'static inline hu_format (hu_\w+)\(', path.read_text(encoding='utf-8')))
    missing = [name for name in sorted(calls) if not re.search(r'\b%s\(' % name, text)]
    assert len(calls) > 300 and not missing, missing
    for name in re.findall(r'(?m)^  (HU_E_\w+) =', (source / 'include/halfulp/status.h').read_text()):
        assert '\n.B %s\n' % name in text, name
    print('%d calls in halfulp(3)' % len(calls))


def test_commands():
    """Each has its page, with all that its --help says; no page is left over."""
    installed = {p.name.split('.')[0] for p in (copy.prefix / 'share' / 'man' / 'man1').glob('halfulp-*')}
    assert installed == {'halfulp-' + c for c in commands()}, installed
    for command in commands():
        text = re.sub(r'\s+', ' ', re.sub(r'(?m)^\.(PP|TP|TQ|nf|fi|B|BR|SH.*)\b *|"', '', plain(page(1, 'halfulp-' + command))))
        said = run('halfulp', command, '--help')
        for line in said.split('\n'):
            for part in re.split(r'  +', line.replace('Usage:', '').strip()):
                if part not in ('Options:', 'Examples:'):
                    assert re.sub(r'[\s"]+', ' ', part).strip().replace('`', '') in text, (command, part)
    print('%d pages of commands say what --help says' % len(commands()))


def test_every_key_is_listed():
    text = plain(page(5, 'halfulp-train.ini'))
    keys = json.loads(run('halfulp', 'train', '--keys', '--json'))
    for key in keys:
        section, name = key['id'].split('.', 1)
        part = text.split('.SH "[%s]"\n' % section)[1].split('\n.SH')[0]
        assert re.search(r'(?m)^\.BR %s "' % re.escape(name), part), key['id']
    print('%d keys in halfulp-train.ini(5)' % len(keys))


def test_examples():
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / 'a.c').write_text(example(page(3, 'halfulp')))
        words = run('pkg-config', '--cflags', '--libs', 'halfulp').split()
        run('cc', '-std=c11', '-Wall', '-Wextra', '-Werror', 'a.c', '-o', 'a.out', *words, cwd=folder)
        assert run('./a.out', cwd=folder) == '2a 0.3125\n'
        (pathlib.Path(folder) / 'a.ini').write_text(example(page(5, 'halfulp-train.ini')))
        run('halfulp', 'train', 'a.ini', '--data', str(source / 'data'), '--set', 'run.steps=2', cwd=folder)


if __name__ == '__main__':
    test_well_formed()
    test_every_call_is_listed()
    test_examples()
    test_commands()
    test_every_key_is_listed()
