# SPDX-License-Identifier: MIT
"""identify: functions whose model is known come back as that model, and what misbehaves is said so."""
import math
import os
import shutil

import numpy as np
import pytest

import halfulp

if not (os.environ.get('HALFULP_COMMAND') or shutil.which('halfulp')):
    pytest.skip('the command `halfulp` is not on PATH', allow_module_level=True)


@pytest.fixture(autouse=True)
def overflows():
    with np.errstate(all='ignore'):
        yield


def chain(a, b, c):
    s = c.copy()
    for k in range(a.shape[1]):
        s = (s + a[:, k] * b[:, k]).astype(c.dtype)
    return s


def test_a_loop():
    z = halfulp.identify(chain, 'binary32', k=5, verify=1000)
    assert (z.verdict, z.model.text) == ('found', 'seq2(binary32)')
    assert z.tree == '(((((C + 0) + 1) + 2) + 3) + 4)'
    assert z.report['questions'] > 100
    assert 'seq2(binary32)' in repr(z)


def test_another_order():
    def tree(a, b, c):
        p = a * b
        q = p[:, :4] + p[:, 4:]
        return c + ((q[:, 0] + q[:, 1]) + (q[:, 2] + q[:, 3]))

    z = halfulp.identify(tree, 'binary32', k=8, verify=1000)
    assert (z.verdict, z.model) == ('order', None)
    assert z.tree == '(C + (((0 + 4) + (1 + 5)) + ((2 + 6) + (3 + 7))))'


def test_codes_come_as_integers():
    kinds = set()

    def unit(a, b, c):
        kinds.update([a.dtype, b.dtype, c.dtype])
        return halfulp.dot(a, b, c, accum='nv.ampere.bf16.f32', a_format='bfloat16', b_format='bfloat16')

    z = halfulp.identify(unit, 'bfloat16', k=16, verify=500)
    assert kinds == {np.dtype('u2'), np.dtype('f4')}
    assert z.verdict == 'found'
    assert 'nv.ampere.bf16.f32' in z.presets
    assert z.tree == '[[C 0..7] 8..15]'


def test_sums():
    z = halfulp.identify(lambda a: np.array([math.fsum(x) if np.isfinite(x).all() else sum(x) for x in a]), 'binary64', k=5, with_c=False,
                         sums=True, verify=500)
    assert (z.verdict, z.model.text) == ('found', 'exact')


def test_matrix_products():
    def product(a, b, c):
        z = np.zeros((a.shape[0], b.shape[1]), np.float32)  # other places are not looked at
        z[0, 0] = chain(a[:1], b[None, :, 0], c[:1, 0])[0]
        return z

    z = halfulp.identify(product, 'binary32', k=4, gemm=True, tile=2, verify=200)
    assert (z.verdict, z.model.text) == ('found', 'seq2(binary32)')


def test_noise():
    calls = []

    def noisy(a, b, c):
        calls.append(0)
        return (a[:, 0] * b[:, 0] + c + np.float32(len(calls) % 2)).astype(np.float32)

    assert halfulp.identify(noisy, 'binary32', k=2, verify=100).verdict == 'noisy'


def test_a_constant():
    z = halfulp.identify(lambda a, b, c: np.full(len(c), np.nan, np.float32), 'binary32', k=2, verify=100)
    assert (z.verdict, z.model) == ('constant', None)


def test_a_function_that_fails():
    def fails(a, b, c):
        raise ZeroDivisionError('not today')

    with pytest.raises(ZeroDivisionError, match='not today'):
        halfulp.identify(fails, 'binary32', k=2)


def test_wrong_answers():
    with pytest.raises(ValueError, match='shape'):
        halfulp.identify(lambda a, b, c: a, 'binary32', k=2)
    with pytest.raises(TypeError, match='float64; D in binary32 is float32'):
        halfulp.identify(lambda a, b, c: c.astype(np.float64), 'binary32', k=2)


def test_wrong_use():
    with pytest.raises(ValueError):
        halfulp.identify(chain, 'nothing', k=2)
    with pytest.raises(RuntimeError, match='--k'):
        halfulp.identify(chain, 'binary32', k=0)
    with pytest.raises(FileNotFoundError):
        halfulp.identify(chain, 'binary32', k=2, command='/nothing/halfulp')
