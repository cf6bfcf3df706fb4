# SPDX-License-Identifier: MIT
"""Lines for s2fp8.md: s2fp8 (sections 3 to 5), s2fp8_stored (section 3, stored form), s2fp8_gemm (section 8)."""
from exact import BINARY32, from_interchange, to_interchange
from formats import BINARY32_FORMAT
from lines import format_of, hex_text, hexadecimal, list_of, mode_of, operation
from rounding import EVENTS, TIES_TO_EVEN
from runs import Run
from s2fp8_tensor import Kind, alpha_beta, decode, encode, from_stored, statistics
from sums import Sequence
from texts import agreed
from words import high_bits, stream_word


def kind_of(text, element):
    """The target and the treatment of infinities from a text such as s2fp8(float8_e4m3fn;target=5;special=element)."""
    options = text[text.index('(') + 1:-1].split(';')[1:] if '(' in text else []
    choices = dict(option.split('=') for option in options)
    if choices.keys() - {'target', 'special'} or choices.get('special', 'nan') not in ('nan', 'element'):
        raise ValueError('no kind: ' + text)
    target = int(choices['target']) if 'target' in choices else None
    agreed(text[text.index('(') + 1:-1].split(';')[0] if '(' in text else 'fp(5,2,0)', element)
    return Kind(element, target, choices.get('special', 'nan'))


def count_text(counts):
    """nan_in:3,inexact:9 in the order of section 5, or -."""
    return ','.join('%s:%d' % (name, counts[name]) for name in EVENTS if counts.get(name)) or '-'


def count(sets):
    """How many elements have each event."""
    counts = {}
    for events in sets:
        for name in events:
            counts[name] = counts.get(name, 0) + 1
    return counts


def hex_list(codes):
    return ','.join(hex_text(code) for code in codes) or '-'


@operation('s2fp8', 'kind format mode key counter x', 'mu m')
def s2fp8(fields):
    """Sections 3 to 5. mu and m are given statistics; without them they are those of the tensor."""
    kind = kind_of(fields['kind'], format_of(fields['format']))
    mode, elements = mode_of(fields['mode']), [from_interchange(bits, BINARY32) for bits in list_of(fields['x'])]
    if 'mu' in fields:
        mu, most = int(fields['mu']), int(fields['m'])
    else:
        mu, most = statistics(elements, kind.target)
    key, counter = hexadecimal(fields['key']), hexadecimal(fields['counter'])
    codes, sets = [], []
    for i, x in enumerate(elements):
        r = high_bits(stream_word(key, counter, i), mode.bits)
        code, events = encode(x, kind, mu, most, mode, r)
        codes.append(code)
        sets.append(events)
    alpha, beta = alpha_beta(mu, most, kind.target)
    values = [to_interchange(decode(code, kind, mu, most), BINARY32) for code in codes]
    return {'codes': hex_list(codes), 'mu': str(mu), 'm': str(most), 'alpha': '%08x' % alpha, 'beta': '%08x' % beta,
            'values': ','.join('%08x' % bits for bits in values) or '-', 'events': count_text(count(sets))}


@operation('s2fp8_stored', 'alpha beta target')
def s2fp8_stored(fields):
    """The statistics that a stored pair of binary32 numbers stands for, or `refused` for both."""
    alpha, beta = (from_interchange(hexadecimal(fields[name]), BINARY32) for name in ('alpha', 'beta'))
    pair = from_stored(alpha, beta, int(fields['target']))
    return {'mu': str(pair[0]), 'm': str(pair[1])} if pair else {'mu': 'refused', 'm': 'refused'}


def binary32_codes(fields, x):
    """The values of an operand of a product, as binary32 patterns, from its codes and its statistics."""
    kind = kind_of(fields['kind_' + x], format_of(fields['format_' + x]))
    mu, most = int(fields['mu_' + x]), int(fields['m_' + x])
    return [to_interchange(decode(code, kind, mu, most), BINARY32) for code in list_of(fields[x])]


@operation('s2fp8_gemm', 'm k n kind_a format_a mu_a m_a a kind_b format_b mu_b m_b b', 'c')
def s2fp8_gemm(fields):
    """Z = A B + C row-major: the model fp32 of the values of A and B; C and Z are binary32 patterns."""
    m, k, n = (int(fields[name]) for name in 'mkn')
    a, b = binary32_codes(fields, 'a'), binary32_codes(fields, 'b')
    c = list_of(fields['c']) if 'c' in fields else [0] * (m * n)
    if (len(a), len(b), len(c)) != (m * k, k * n, m * n):
        raise ValueError('the lists do not fit m, k and n')
    z = []
    for i in range(m):
        for j in range(n):
            run = Run(BINARY32_FORMAT, BINARY32_FORMAT, a[i * k:(i + 1) * k], b[j::n],
                      from_interchange(c[i * n + j], BINARY32))
            z.append(to_interchange(Sequence(BINARY32_FORMAT, TIES_TO_EVEN).sum(run, 0, k, run.c), BINARY32))
    return {'z': ','.join('%08x' % bits for bits in z) or '-'}
