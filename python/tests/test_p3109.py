# SPDX-License-Identifier: MIT
"""halfulp.p3109: the draft's operations on arrays."""
import numpy as np
import pytest

import halfulp
from halfulp import p3109

F = 'binary8p3se'


def codes(values, format=F):
    return halfulp.encode(np.asarray(values, np.float32), format)


def test_list():
    assert len(p3109.operations()) == 72
    assert p3109.operations()['FMA'] == ('FMA', 'arithmetic', 3, 'number')
    assert all(one.gives in ('number', 'neighbour', 'truth', 'class') for one in p3109.operations().values())


def test_semantics_of_the_draft():
    nan = 0x80
    assert p3109.compute('Divide', codes([1, 6, 0]), codes([0, 2, 0]), of=F).tolist() == [nan, codes(3), nan]
    assert p3109.compute('Recip', codes([0, 2]), of=F).tolist() == [nan, codes(0.5)]
    assert p3109.compute('NextGreaterThan', codes([np.inf, 1]), of=F).tolist() == [nan, codes(1.25)]
    assert p3109.compute('CompareLess', codes([1, 2, 3]), codes(2), of=F).tolist() == [True, False, False]
    classes = p3109.compute('Class', codes([0, -1, np.inf]), of=F)
    assert [p3109.CLASSES[c] for c in classes] == ['zero', 'negative normal', 'positive infinity']


def test_every_operation_against_the_values(random):
    """Exact results of small integers are the codes of the values; shapes broadcast, formats may differ."""
    x, y = random.integers(-6, 7, (5, 7)), random.integers(-3, 4, 7)
    for name, there in (('Add', x + y), ('Subtract', x - y), ('Multiply', x * y), ('Minimum', np.minimum(x, y))):
        here = p3109.compute(name, codes(x), codes(y, 'binary8p4sf'), of=(F, 'binary8p4sf'), to='binary16p8se')
        assert here.shape == (5, 7) and here.dtype == np.uint16
        assert (halfulp.decode(here, 'binary16p8se') == there).all(), name


def test_projection_and_streams(random):
    big = codes(np.full(4, 49152.0))
    plain, finite = (p3109.compute('Multiply', big, big, of=F, mode=halfulp.Mode('rne', saturate=s)) for s in ('none', 'finite'))
    assert np.isinf(halfulp.decode(plain, F)).all() and (halfulp.decode(finite, F) == 49152).all()
    a, b = random.integers(0, 256, 5000).astype(np.uint8), random.integers(0, 256, 5000).astype(np.uint8)
    many = p3109.compute('Add', a, b, of=F, mode='srb:8', stream=halfulp.Stream(5, 9), threads=3)
    ones = [p3109.compute('Add', a[i], b[i], of=F, mode='srb:8', stream=halfulp.Stream(5, 9 + i)) for i in range(0, 5000, 97)]
    assert (many[::97] == ones).all()
    f = 'binary8p3sf'
    top = codes([np.float32(1e30)], f)
    assert halfulp.decode(p3109.compute('Add', top, top, of=f, rules='v4.0'), f)[0] == halfulp.decode(top, f)[0]
    for rules in ({}, {'rules': 'july-2026'}):  # D1 where nothing is said
        assert np.isnan(halfulp.decode(p3109.compute('Add', top, top, of=f, **rules), f))[0]


def test_rules_of_d1():
    e, u = 'binary8p4se', 'binary8p4ue'
    for x, v4, d1 in ((0.5, 0x80, 0x7f), (1.5, 0x80, 0xff), (-0.5, 0x80, 0xff), (-1.5, 0x80, 0x7f), (1, 0, 0)):
        assert [p3109.compute('TanPi', codes([x], e), of=e, rules=r)[0] for r in ('v4.0', 'd1')] == [v4, d1], x
    for y, v4, d1 in ((-1, 0x4d, 0xcd), (1, 0x4d, 0x4d), (0, 0x4d, 0x4d)):
        some = codes([y], e), codes([-np.inf], e)
        assert [p3109.compute('ArcTan2', *some, of=e, rules=r)[0] for r in ('v4.0', 'd1')] == [v4, d1], y
    most, two = codes([53248], u), codes([2], u)
    assert [p3109.compute('Multiply', most, two, of=u, mode='rto', rules=r)[0] for r in p3109.RULES] == [0xfe, 0xfd, 0xfd]
    half = codes([65504], 'binary16')
    assert [p3109.compute('Add', half, half, of='binary16', mode='rto', rules=r)[0] for r in ('v4.0', 'd1')] == [0x7bff, 0x7c00]


@pytest.mark.parametrize('call,says', [
    (lambda: p3109.compute('Cbrt', codes([1]), of=F), 'no operation'),
    (lambda: p3109.compute('Add', codes([1]), of=F), '2 operands'),
    (lambda: p3109.compute('Add', codes([1]), codes([1])), 'format'),
    (lambda: p3109.compute('Add', codes([1]), codes([1]), of=F, rules='v5'), 'rules'),
    (lambda: p3109.compute('Add', codes([1]), codes([1]), of=F, mode='sra:4'), 'stream'),
    (lambda: p3109.compute('Add', codes([1, 2]), codes([1, 2, 3]), of=F), 'do not go together'),
])
def test_misuse(call, says):
    with pytest.raises((halfulp.HalfulpValueError, halfulp.HalfulpTypeError), match=says):
        call()
