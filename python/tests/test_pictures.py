# SPDX-License-Identifier: MIT
"""halfulp.plot and the plot methods: the drawings of the command, byte for byte, and its errors."""
import os
import shutil
import subprocess
import threading
import xml.etree.ElementTree as tree

import numpy as np
import pytest

import halfulp

COMMAND = os.environ.get('HALFULP_COMMAND') or shutil.which('halfulp')


@pytest.fixture
def drawn(tmp_path):
    """What the command draws with these words; x is saved as the file that --array names."""
    if COMMAND is None:
        pytest.skip('the command is not there')

    def call(*words, x=None):
        words = [*words] if x is None else [*words, '--array', str(tmp_path / 'x.npy')]
        if x is not None:
            np.save(tmp_path / 'x.npy', x)
        subprocess.run([COMMAND, 'plot', *words, '-o', str(tmp_path / 'p.svg')], check=True)
        return (tmp_path / 'p.svg').read_text(encoding='utf-8').replace(str(tmp_path / 'x.npy'), 'x')
    return call


@pytest.mark.parametrize('thing, name', [(halfulp.Format('float8_e5m2'), 'float8_e5m2'), (halfulp.Number('posit8'), 'posit8'),
                                         (halfulp.Format(e=4, m=3, b=4, finite=True), 'fp(4,3,4):finite'),
                                         (halfulp.Scaling('mxfp4'), 'mxfp4'), (halfulp.Scaling(halfulp.Scaling('nvfp4').text), 'nvfp4'),
                                         (halfulp.Scaling('bfp(5,8,7)'), halfulp.Scaling('bfp(5,8,7)').text)])
def test_methods(drawn, thing, name):
    picture = thing.plot()
    assert picture.svg == picture._repr_svg_() == halfulp.plot(None, thing).svg == drawn('-f', name)


@pytest.mark.parametrize('kind', ['float32', 'float16', 'float64', 'int16'])
def test_data(drawn, random, kind):
    x = (64 * random.normal(size=(3, 4, 40))).astype(kind)
    for formats, words in ((['bfloat16'], ()), (['float8_e4m3fn', np.float16, 'nf4'], ()), (['float8_e4m3fn'], ('-r', 'rtz', '-s', 'none'))):
        flags = [word for f in formats for word in ('-f', f if isinstance(f, str) else 'binary16')]
        made = halfulp.plot(x, formats, 'rtz' if words else 'rne', saturate='none' if words else 'default')
        assert made.svg == drawn(*flags, *words, x=x), formats


def test_blocks(drawn, random):
    """Blocks lie along the last axis, whatever the layout in memory; random words are those of the stream."""
    x = random.normal(size=(6, 5, 40)).astype(np.float32)
    for view in (x, x[::2, :, ::-1], np.asfortranarray(x), x[0].T, x[0, :, ::-1]):
        for name in ('mxfp4', 'nvfp4', 'dsv3_128x128'):
            assert halfulp.plot(view, name).svg == drawn('-f', name, x=view), name
        made = halfulp.plot(view, ['mxfp8_e4m3', 'bfloat16'], 'sra:4', stream=halfulp.Stream(7, 9))
        assert made.svg == drawn('-f', 'mxfp8_e4m3', '-f', 'bfloat16', '-r', 'sra:4', '--seed', '7', '--counter', '9', x=view)


def test_a_mode_behind_a_format(random):
    x = random.normal(size=(4, 40)).astype(np.float32)
    for formats, plain in (('float8_e4m3fn,rtz', 'float8_e4m3fn'), (['mxfp4,rtz', 'bfloat16,rtz'], ['mxfp4', 'bfloat16'])):
        assert halfulp.plot(x, formats).svg == halfulp.plot(x, plain, 'rtz').svg
    made = halfulp.plot(x, 'float8_e4m3fn,sra:8,sat=none', stream=3)
    assert made.svg == halfulp.plot(x, 'float8_e4m3fn', 'sra:8', saturate='none', stream=3).svg
    for formats, mode in (('bfloat16,rtz', 'rtz'), (['bfloat16,rtz', 'mxfp4'], None), (['bfloat16,rtz', 'mxfp4,rtp'], None)):
        with pytest.raises(halfulp.HalfulpValueError, match='formats: a drawing has one mode'):
            halfulp.plot(x, formats, mode)


def test_zeros():
    """No number of theirs chooses a block."""
    svg = halfulp.plot(np.zeros(8), 'mxfp4').svg
    assert 'under its scale 0.25: that of the largest magnitude 1; the data: 1 block, scale 5.87747e-39<' in svg
    svg = halfulp.plot(np.ones(64), 'mxfp4').svg
    assert 'under its scale 0.25: that of the largest magnitude; the data: 2 blocks, scales 0.25 to 0.25<' in svg


def test_name_and_file(tmp_path, random):
    picture = halfulp.plot(random.normal(size=8), 'bfloat16', name='a<b')
    assert 'magnitudes of a&lt;b, rounded by rne' in picture.svg
    picture.save(tmp_path / 'p.svg')
    with pytest.raises(ValueError, match='name a file that ends in .svg'):
        picture.save(tmp_path / 'p.png')
    assert not (tmp_path / 'p.png').exists()
    root = tree.parse(tmp_path / 'p.svg').getroot()
    assert repr(picture) == 'Picture({} x {})'.format(root.get('width'), root.get('height'))


@pytest.mark.parametrize('formats, options, words', [
    ('s2fp8', {}, "'s2fp8': a tensor's shift and squeeze"), ('hifloat4', {}, 'three levels'), ('cuda.half.rz', {}, "another program's"),
    (halfulp.preset('cuda.half.rz'), {}, "another program's"), ('nosuch', {}, "'nosuch' (HU_E_NAME)"), ([], {}, '1 to 6 formats'), (['nf4'] * 7, {}, 'not 7'),
    ('bfloat16', {'mode': 'sra:8'}, 'stream: sra:8 draws'), ('bfloat16', {'threads': 2}, "no argument 'threads'"),
    ('bfloat16', {'name': 3}, 'name: give a text'),
    ('mxfp4', {'x': np.float64([0.1])}, 'would be rounded twice'), ('bfloat16', {'x': 'text'}, 'x: ')])
def test_errors(formats, options, words):
    with pytest.raises((halfulp.HalfulpValueError, halfulp.HalfulpTypeError)) as caught:
        halfulp.plot(**dict({'x': [1.0, 2.0], 'formats': formats}, **options))
    assert words in str(caught.value)


def test_threads(random):
    """Each thread has the drawing, or the error, that it asked for; nothing goes to standard error."""
    x = random.normal(size=1000).astype(np.float32)
    names = ['mxfp4', 's2fp8', 'bfloat16', 'hifloat4'] * 2
    expected = {name: halfulp.plot(x, name).svg for name in ('mxfp4', 'bfloat16')}
    together, wrong = threading.Barrier(len(names)), []

    def call(name):
        for _ in range(40):
            together.wait()
            try:
                right = halfulp.plot(x, name).svg == expected.get(name)
            except halfulp.HalfulpValueError as error:
                right = "'{}'".format(name) in str(error) and name not in expected
            wrong.extend([] if right else [name])
    threads = [threading.Thread(target=call, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_silent(capfd, random):
    with pytest.raises(halfulp.HalfulpValueError):
        halfulp.plot(random.normal(size=4), 's2fp8')
    assert capfd.readouterr() == ('', '')
