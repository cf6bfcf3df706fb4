# SPDX-License-Identifier: MIT
"""Cases for the playground from a folder of golden files and from `halfulp vectors`: what the page must answer, as plain lists."""
import struct
import subprocess


def words(path):
    for line in path.read_text(encoding='utf-8').splitlines():
        if line.strip() and not line.startswith('#'):
            yield line.split()


def every_line(folder, pattern):
    for path in sorted(folder.glob(pattern)):
        yield from words(path)


def text_of(fields):
    """The text of a declared format from its axes."""
    axes = dict(f.split('=') for f in fields)
    text = 'fp(%s,%s,%s):' % (axes['e'], axes['m'], axes['b'])
    if axes['sign'] == '0':
        text += 'unsigned,'
    text += 'zero=%(zero)s,sub=%(sub)s,inf=%(inf)s,nan=%(nan)s,ovf=%(ovf)s' % axes
    if axes['sign'] == '1':
        text += ',negzero' if axes['negzero'] == '1' else ',nonegzero'
    else:
        text += ',neg=' + axes['neg']
    return text, axes


def binary64(digits):
    """A golden operand as a pattern of binary64."""
    if len(digits) == 16:
        return digits
    return struct.pack('>d', struct.unpack('>f', bytes.fromhex(digits))[0]).hex()


def magnitude(axes, below, where, mode):
    """The magnitude code of a result, None where this reader leaves the line out (README.md of the golden files)."""
    m, top, inf = int(axes['m']), int(axes['max'], 16), axes['infcode']
    beyond = int(inf, 16) if inf != '-' else top
    if where == 'n':
        return int(axes['nancode'], 16) if axes['nancode'] != '-' else top
    if where == 'i' or where == 'o':
        return beyond if mode == 'rne' or where == 'i' else None
    if where in 'uf':
        return 0 if where == 'u' or mode == 'rne' else None
    low = top if below == 'max' else int(below, 16)
    if where == '=':
        code, up = low, False
    else:
        up = {'rtz': False, 'raz': True, 'rne': where == '>' or (where == 'h' and low % 2 == 1), 'rna': where in 'h>'}[mode]
        if where in '<>h' and axes['zero'] == 'code' and low == 0:
            return None
        code = low
    if up and code == top:
        return beyond
    if up:
        code = 1 << m if code == 0 and axes['sub'] == 'none' and axes['zero'] == 'field' else code + 1
    if axes['sub'] == 'flush' and axes['zero'] == 'field' and code < 1 << m:
        code = 0
    return code


def conversions(golden, count):
    """[format, pattern of binary64, mode, R, code, events or None], `count` of them, spread over all files."""
    every = []
    for path in sorted(golden.glob('convert_*.txt')):
        text = axes = None
        for line in words(path):
            if line[0] == 'format':
                text, axes = text_of(line[2:])
                continue
            operand, below, where = line[0], line[1], line[2]
            negative = int(operand[0], 16) >= 8
            if negative and (axes['sign'] == '0' or where == 'n'):
                continue
            for mode in ('rne', 'rtz', 'raz', 'rna'):
                code = magnitude(axes, below, where, mode)
                if code is None:
                    continue
                width = int(axes['sign']) + int(axes['e']) + int(axes['m'])
                if negative and (code or axes['negzero'] == '1'):
                    code |= 1 << width - 1
                every.append([text, binary64(operand), mode, 0, code, None])
    text = None
    for line in every_line(golden, 'stochastic*.txt'):
        if line[0] == 'format':
            text, _ = text_of(line[2:])
        else:
            every.append([text, line[2], line[0], int(line[1], 16), int(line[3], 16), int(line[4], 16)])
    step = max(1, len(every) // count)
    chosen = every[::step]
    assert len(chosen) >= count, len(chosen)
    return chosen


def operations(command, count):
    """[operation, format, [codes], mode, code] from `halfulp vectors`."""
    out = []
    forms = [('add', 'float8_e4m3fn', 'rne'), ('sub', 'float8_e5m2', 'rtz'), ('mul', 'bfloat16', 'rna'), ('div', 'binary16', 'rtp'),
             ('fma', 'float8_e5m2fnuz', 'rtn'), ('sqrt', 'binary16', 'raz'), ('fma', 'binary32', 'rto'), ('mul', 'float4_e2m1fn', 'rnz'),
             ('add', 'binary8p4se', 'rne'), ('div', 'float6_e3m2fn', 'rne')]
    each = -(-count // len(forms))
    for name, form, mode in forms:
        said = subprocess.run([command, 'vectors', name, '-f', form, '-r', mode], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        for line in said[::max(1, len(said) // each)][:each]:
            *codes, code, _flags = (int(w, 16) for w in line.split())
            out.append([name, form, codes, mode, code])
    return out


def split(digits, width):
    return [] if digits == '-' else [digits[i:i + width] for i in range(0, len(digits), width)]


def sums(golden):
    """[model, element A, B, C, result, [a], [b], c or None, mode, pattern, events]: all sums."""
    out, formats = [], {}
    for line in every_line(golden, 'sums*.txt'):
        if line[0] == 'format':
            formats[line[1]], _ = text_of(line[2:])
            continue
        model, mode, fa, fb, fc, fz, n, a, b, c, code, events = line
        row, column = (x.split(',') if x != '-' else [] for x in (a, b))
        out.append([model, formats[fa], formats[fb], formats[fc if fc != '-' else fz], formats[fz], row, column, None if c == '-' else c, mode,
                    code, int(events, 16)])
    return out


BITS = {'s8': 8, 'u8': 8, 's4': 4, 'u4': 4, 's32': 32, 'binary64': 64}


def units(golden, width_of):
    """The probes of matrix units without scales, likewise."""
    out = []
    for _, model, fa, fb, fd, a, b, c, sa, _sb, d in words(golden / 'mma/probes.txt'):
        if sa != '-':
            continue
        digits = [-(-(BITS.get(f) or width_of(f)) // 4) for f in (fa, fb)]
        out.append([model, fa, fb, fd, fd, split(a, digits[0]), split(b, digits[1]), None if c == '-' else c, 'rne', d, None])
    return out
