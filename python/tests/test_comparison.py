# SPDX-License-Identifier: MIT
"""compare and gemm_errors: figures against sums written out here and against other calls."""
import math

import numpy as np
import pytest

import halfulp

FORMATS = ['nvfp4', 'mxfp8_e4m3', 'float8_e4m3fn', 'posit8', 's2fp8', 'torch.float8_e4m3fn', 'mx.mxfp4']


def numbers(random, shape=(10, 48)):
    return (random.normal(size=shape) * 0.1).astype(np.float32)


def test_figures_of_a_tensor(random):
    x = numbers(random)
    x[0, 0] = 0
    rows = halfulp.compare(x, FORMATS)
    assert [row.format for row in rows] == FORMATS
    for row in rows:
        y = halfulp.quantize(x, row.format).astype(np.float64)
        error = [float(b) - float(a) for a, b in zip(x.ravel(), y.ravel())]
        ratio = math.fsum(float(a) ** 2 for a in x.ravel()) / math.fsum(e * e for e in error)
        assert row.sqnr_db == pytest.approx(10 * math.log10(ratio), abs=1e-9)
        assert row.max_error == max(abs(e) for e in error) > 0
        assert row.zeros == sum(b == 0 for b in y.ravel()) >= 1
        assert row.tensor == 'x'


def test_bits_include_scales(random):
    bits = {row.format: row.bits for row in halfulp.compare(
        numbers(random, (10, 40)), FORMATS + ['float6_e2m3fn', 'bfloat16', 'fp8_tensor', 'q(3.4)'])}
    assert bits['float8_e4m3fn'] == bits['posit8'] == bits['torch.float8_e4m3fn'] == bits['q(3.4)'] == 8
    assert bits['bfloat16'] == 16 and bits['float6_e2m3fn'] == 6
    assert bits['nvfp4'] == pytest.approx(4 + 3 * 8 / 40 + 32 / 400)  # three blocks per row, a second level
    assert bits['mxfp8_e4m3'] == pytest.approx(8 + 2 * 8 / 40)
    assert bits['mx.mxfp4'] == pytest.approx(4 + 2 * 8 / 40)
    assert bits['s2fp8'] == pytest.approx(8 + 64 / 400)
    assert bits['fp8_tensor'] == pytest.approx(8 + 32 / 400)


def test_overflow_and_numbers_without_error():
    large, small, exact = halfulp.compare(np.float32([1000, 2, -5000, 0]), ['float8_e4m3fn', 'bfloat16', 'binary32'])
    assert large.overflow == 2 and large.max_error == 5000 - 448
    assert small.overflow == 0 and small.zeros == 1
    assert exact.sqnr_db == math.inf and exact.max_error == 0


def test_not_finite_elements_are_left_out():
    row, = halfulp.compare(np.float32([np.nan, np.inf, 3]), ['float8_e5m2'])
    assert row.sqnr_db == math.inf and row.max_error == 0 and row.overflow == 0
    lost, = halfulp.compare(np.float32([1e-30]), ['float8_e5m2'])
    assert lost.sqnr_db == 0 and lost.zeros == 1
    empty, = halfulp.compare(np.zeros((0, 4), np.float32), ['nvfp4'])
    assert empty.bits == 0 and empty.max_error == 0


def test_several_tensors_as_a_table(random):
    model = {'a.weight': numbers(random), 'b<&>': numbers(random).astype(np.float16)}
    table = halfulp.compare(model, ['nvfp4', 'bfloat16'], 'rtz')
    assert [(row.tensor, row.format) for row in table] == [(n, f) for n in model for f in ('nvfp4', 'bfloat16')]
    assert table[3].zeros == np.count_nonzero(
        halfulp.quantize(model['b<&>'].astype(np.float32), 'bfloat16', 'rtz') == 0)
    lines = str(table).splitlines()
    assert lines[0].split() == ['tensor', 'format', 'sqnr_db', 'bits', 'zeros', 'overflow', 'max_error']
    assert len(lines) == 5 == len(table) + 1 and lines[1].split()[:2] == ['a.weight', 'nvfp4']
    assert repr(table) == str(table)
    page = table._repr_html_()
    assert page.count('<tr>') == 5 and 'b&lt;&amp;&gt;' in page and '<th>sqnr_db</th>' in page


def test_stochastic_roundings(random):
    x = numbers(random)
    with pytest.raises(ValueError, match='stream'):
        halfulp.compare(x, ['bfloat16'], 'sra:8')
    one, = halfulp.compare(x, ['bfloat16'], 'sra:8', stream=3)
    y = halfulp.quantize(x, 'bfloat16', 'sra:8', stream=3)
    assert one.max_error == np.max(np.abs(y.astype(np.float64) - x))


def test_what_compare_refuses(random):
    x = numbers(random)
    with pytest.raises(TypeError, match='give a list'):
        halfulp.compare(x, 'nvfp4')
    with pytest.raises(ValueError, match="did you mean 'nvfp4'"):
        halfulp.compare(x, ['nvfp5'])
    with pytest.raises(TypeError, match='w: .* is no float32'):
        halfulp.compare({'w': x.astype(np.float64) * 0.1}, ['nvfp4'])
    with pytest.raises(ValueError, match='nothing may stand beside it'):
        halfulp.compare(x, ['torch.float8_e4m3fn'], 'rtz')


ACCUMS = ['exact', 'fp32', 'seq(binary16)', 'nv.hopper.e4m3.f32.wgmma']


def test_accumulators_against_exact(random):
    a = halfulp.quantize(random.normal(size=(5, 300)).astype(np.float32), 'float8_e4m3fn')
    b = halfulp.quantize(random.normal(size=(300, 7)).astype(np.float32), 'float8_e4m3fn')
    rows = halfulp.gemm_errors(a, b, ACCUMS)
    assert [row.accum for row in rows] == ACCUMS
    expected = halfulp.gemm(a, b).astype(np.float64)
    for row in rows:
        watch = halfulp.Watch()
        error = np.abs(halfulp.gemm(a, b, accum=row.accum, watch=watch).astype(np.float64) - expected)
        assert row.max == error.max() and row.rms == pytest.approx(np.sqrt((error ** 2).mean()))
        assert row.swamped == watch.swamped and row.differing == np.count_nonzero(error)
        units = [e / 2.0 ** (math.frexp(z)[1] - 24) for e, z in zip(error.ravel(), expected.ravel())]
        assert row.ulps == pytest.approx(max(units))
    assert rows[0].max == 0 and rows[2].max > 0 and rows[3].max > 0 and rows[2].swamped > 0
    assert str(rows).splitlines()[0].split() == ['accum', 'max', 'rms', 'ulps', 'swamped', 'differing']


def test_another_reference(random):
    a, b = numbers(random, (4, 64)), numbers(random, (64, 4))
    same, other = halfulp.gemm_errors(a, b, ['fp32', 'exact'], against='fp32')
    assert same.differing == 0 and other.max == np.max(np.abs(
        halfulp.gemm(a, b).astype(np.float64) - halfulp.gemm(a, b, accum='fp32')))


def test_what_gemm_errors_refuses(random):
    a = numbers(random, (4, 4))
    with pytest.raises(TypeError, match='list'):
        halfulp.gemm_errors(a, a, 'fp32')
    with pytest.raises(TypeError, match='watch'):
        halfulp.gemm_errors(a, a, ['fp32'], watch=halfulp.Watch())
    with pytest.raises(ValueError, match=r'any\('):
        halfulp.gemm_errors(a, a, ['nv.hopper.e4m3.f32.wgmma'])


def test_blocks_along_the_axis_that_is_summed(random):
    """A 1 x 1 convolution's weights are a matrix: no better, and no more bits, than as that matrix."""
    w = numbers(random, (64, 32, 1, 1))
    matrix, = halfulp.compare(w.reshape(64, 32), ['nvfp4'])
    assert halfulp.compare(w, ['nvfp4'], axis=1)[0] == matrix
    assert halfulp.compare(w, ['nvfp4'], axis=(1, 2, 3))[0] == matrix
    flattering, = halfulp.compare(w, ['nvfp4'], axis=-1)
    assert flattering.sqnr_db > matrix.sqnr_db + 5 and flattering.bits > 3 * matrix.bits
    named = halfulp.compare({'w': w, 'm': w.reshape(64, 32)}, ['nvfp4', 'hifloat4'], axis={'w': 1})
    assert [row._replace(tensor='x') for row in named[:2]] == [row._replace(tensor='x') for row in named[2:]]
    assert named[0]._replace(tensor='x') == matrix
    with pytest.raises(ValueError, match="axis: there is no tensor 'v'"):
        halfulp.compare({'w': w}, ['nvfp4'], axis={'v': 1})
    with pytest.raises(ValueError, match='bias: axis: 1 is not -1 to 0'):
        halfulp.compare({'bias': w[:, 0, 0, 0]}, ['nvfp4'], axis=1)


def test_one_stream_for_all(random):
    x = numbers(random)
    rows = halfulp.compare({'a': x, 'b': x}, ['float8_e4m3fn'], 'sra:8', stream=np.random.default_rng(4))
    assert rows[0]._replace(tensor='b') == rows[1]
    again = halfulp.compare(x, ['float8_e4m3fn'], 'sra:8', stream=np.random.default_rng(4))
    assert rows[0].sqnr_db == again[0].sqnr_db != halfulp.compare(x, ['float8_e4m3fn'], 'sra:8', stream=5)[0].sqnr_db
    a = halfulp.quantize(x, 'binary16')
    first, second = halfulp.gemm_errors(a, a.T, ['seq(bfloat16,sra:8)', 'seq(bfloat16,sra:8)'], stream=np.random.default_rng(1))
    assert first == second


class Parameter:
    """As a tensor of torch that requires a gradient: nothing can be read before detach()."""
    requires_grad = True

    def __init__(self, x):
        self.detach = lambda: x

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **more):
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")


def test_parameters_that_require_a_gradient(random):
    x = numbers(random)
    assert halfulp.compare({'x': Parameter(x)}, ['nvfp4'])[0] == halfulp.compare(x, ['nvfp4'])[0]
    with pytest.raises(TypeError, match=r'^x: the tensor requires a gradient.*x.detach\(\) says so'):
        halfulp.quantize(Parameter(x), 'nvfp4')
