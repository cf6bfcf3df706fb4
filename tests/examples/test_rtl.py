# SPDX-License-Identifier: MIT
"""examples/rtl against an installed copy: the right unit passes, every corner is met; each seeded bug is found, its minimal
vector is minimal, and `halfulp explain` agrees with what is told about it; the flow by files, in two shapes; what docs/rtl.md shows. What
was built with other parameters is made anew; parameters out of bounds, and units without results, fail at once.

usage: test_rtl.py SOURCE_ROOT BUILD_ROOT quick|all      quick: one bug and one shape
"""
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import hardware

LANES = 4
MODEL = 'block(align,l=4,f=13,emin=-28,acc=fp(5,10,0),out=fp(8,23,0))'
FEW = 'LINES=500'  # enough to tell the wrong units of a test from the right one
DOT = ['dot', '--accum', MODEL, '--elements', LANES, '--tiny', 'before', '--fa', 'float8_e4m3fn', '--fb', 'float8_e4m3fn', '--fd', 'fp(5,10,0)']


def last_line(text, start):
    lines = [line for line in text.splitlines() if line.startswith(start)]
    assert lines, 'no line begins with ' + start
    return lines[-1]


def judge(tools, folder, unit, lines):
    """How many of these joined lines come back wrong from a unit in a simulator without DPI."""
    into, out = folder + '/given.txt', folder + '/results.txt'
    with open(into, 'w', encoding='ascii') as f:
        f.writelines(line + '000000\n' for line in lines)  # a result and flags that are not looked at
    tools.run(unit, '+in=' + into, '+out=' + out, '+count=%d' % len(lines))
    done = subprocess.run([str(c) for c in ('halfulp', 'vectors', '--check', *DOT, '--joined', '--first', 0, out)], env=tools.env,
                          stdout=subprocess.PIPE, check=False, text=True)
    cases, differ = done.stdout.split(' cases, ')
    assert int(cases) == len(lines)
    return int(differ.split()[0])


def smaller(a, b, c):
    """Every vector with one field smaller than here."""
    for i in range(LANES):
        for x in range(a[i]):
            yield a[:i] + [x] + a[i + 1:], b, c
        for x in range(b[i]):
            yield a, b[:i] + [x] + b[i + 1:], c
    for x in range(c):
        yield a, b, x


def text(a, b, c):
    return bytes(a).hex() + bytes(b).hex() + '%04x' % c


def check_explanation(tools, said):
    """The command that is named gives the result that was wanted."""
    command = last_line(said, '  the same').split(None, 2)[2]
    explained = tools.run(*shlex.split(command))
    wanted = last_line(said, '  wanted').split()[1]
    assert '0x' + wanted + ' = ' in explained, explained
    assert last_line(said, '  toward zero').split()[2] in explained and last_line(said, '  rule'), explained
    return explained.splitlines()[-2].split(None, 1)[1]


def check_page(page, start, said):
    """The block of docs/rtl.md that begins so is what was printed; a line of three points stands for any lines."""
    block = re.search(r'```text\n(%s.*?\n)```' % re.escape(start), page, re.S)[1]
    pattern = ''.join(r'(?:.*\n)*?' if line == '...' else re.escape(line) + r'\n' for line in block.splitlines())
    assert re.search('(?m)^' + pattern, said), 'docs/rtl.md says\n%s\nand it is\n%s' % (block, said)


def fails(tools, says, *command, **more):
    """The command fails, with these words."""
    done = subprocess.run([str(c) for c in command], env=tools.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True, **more)
    assert done.returncode != 0 and re.search(says, done.stdout), (command, done.returncode, done.stdout[-2000:])


def check_parameters(tools, folder):
    """`out` has a bench: other parameters make it anew, and some are refused."""
    fails(tools, 'bugs 1 to 3', 'out/bench', '+bug=4', cwd=folder)
    for shape, says in (('KEEP=20', '24 digits'), ('LANES=8 KEEP=19', '24 digits'), ('ACC_E=9', '24 digits'), ('KEEP=9', 'at least ACC_M'),
                        ('ACC_M=4 KEEP=5', 'and 6'), ('LANES=16', '1 to 8')):
        fails(tools, says, 'make', *shape.split(), cwd=folder)
    assert 'KEEP=14' in tools.run('make', '-n', 'KEEP=14', cwd=folder)
    tools.run('make', 'files', 'BUILD=stale', FEW, cwd=folder)
    fails(tools, r'cases, [1-9]\d* differ', 'make', 'files', 'BUILD=stale', FEW, 'BUG=2', cwd=folder)
    fails(tools, 'KEEP >= ACC_M', 'make', 'files', 'BUILD=stale', FEW, 'KEEP=9', cwd=folder)
    tools.run('make', 'files', 'BUILD=stale', FEW, 'KEEP=19', cwd=folder)
    golden = folder + '/stale/golden_e4m3_e4m3.txt'
    tools.run('make', 'stale/golden_e4m3_e4m3.txt', 'BUILD=stale', 'ACC_M=9', cwd=folder)
    narrow = pathlib.Path(golden).read_text(encoding='ascii')
    tools.run('make', 'stale/golden_e4m3_e4m3.txt', 'BUILD=stale', cwd=folder)
    assert pathlib.Path(golden).read_text(encoding='ascii') != narrow, 'vectors of another accumulator'
    fails(tools, 'Error', 'make', 'stale/golden_e4m3_e4m3.txt', 'BUILD=stale', 'ACC_E=99', cwd=folder)
    assert not pathlib.Path(golden).exists(), 'half a file was left'
    unit = pathlib.Path(folder) / 'fp8_dot.sv'
    right = unit.read_text(encoding='ascii')
    unit.write_text(right.replace('out_valid <= s3_valid', 'out_valid <= 0 && s3_valid'), encoding='ascii')
    fails(tools, '500 vectors, 0 results', 'make', 'files', 'BUILD=silent', FEW, cwd=folder)
    unit.write_text(right, encoding='ascii')


def check_bug(tools, folder, bug, page):
    said = tools.run('out/bench', '+count=1000', '+bug=%d' % bug, code=1, cwd=folder)
    if bug == 1:
        check_page(page, 'minimal after', said)
    *bits, a, b, c = last_line(said, 'minimal:').split()[1:]
    assert bits == ['0', '0', '0', '00'], bits
    a, b, c = list(bytes.fromhex(a)), list(bytes.fromhex(b)), int(c, 16)
    tools.run('make', 'out%d/files' % bug, 'BUILD=out%d' % bug, 'BUG=%d' % bug, cwd=folder)
    unit = folder + '/out%d/files' % bug
    assert judge(tools, folder, unit, [text(a, b, c)]) == 1, 'the minimal vector is right in the other simulator'
    others = [text(*v) for v in smaller(a, b, c)]
    assert judge(tools, folder, unit, others) == 0, 'a smaller vector differs as well'
    rule = check_explanation(tools, said)
    print('bug %d: %s; minimal: %s\n  %d smaller ones are right; %s' % (bug, last_line(said, 'random '), text(a, b, c), len(others), rule))
    print('\n'.join('  ' + line for line in said.splitlines() if line.startswith('  lane') or line.startswith('  C   ')))


def main():
    tools = hardware.Tools(sys.argv[2], 'verilator', 'iverilog', 'g++', 'make')
    with tempfile.TemporaryDirectory() as name:
        folder = tools.spare(name, 'rtl', sys.argv[1])
        page = (pathlib.Path(sys.argv[1]) / 'docs' / 'rtl.md').read_text(encoding='utf-8')
        said = tools.run('make', cwd=folder)
        check_page(page, 'contract:', said)
        assert 'PASS' in said.splitlines() and 'HOLE' not in said, said
        for group, least in (('directed', 90000), ('golden', 120000), ('random', 8000), ('chained', 1600)):
            words = last_line(said, group).split()
            assert int(words[1]) >= least and words[3] == '0', words
            print(' '.join(words))
        print(last_line(said, 'coverage:'))
        for bug in (1, 2, 3) if sys.argv[3] == 'all' else (1,):
            check_bug(tools, folder, bug, page)
        shapes = [['BUILD=files8', 'LANES=8', 'ACC_E=6', 'ACC_M=9', 'KEEP=12'], ['BUILD=files4']]
        for shape in shapes if sys.argv[3] == 'all' else shapes[:1]:
            said = tools.run('make', 'files', *shape, cwd=folder)
            judged = [line for line in said.splitlines() if line.endswith(' differ')]
            assert judged == ['5000 cases, 0 differ'] * 2, judged
            print('by files,', *shape[1:], judged)
        check_parameters(tools, folder)


main()
