# SPDX-License-Identifier: MIT
"""Blocks of a convolution's weights: a row for each output channel, kernel rows, kernel columns and channels in it, with
`halfulp quantize --rows out` (docs/files.md section 1)."""
import pytest

torch = pytest.importorskip('torch')

import halfulp.torch as ht  # noqa: E402


@pytest.mark.parametrize('text', ['nvfp4', 'mxfp8_e4m3', 'mxfp4'])
@pytest.mark.parametrize('shape', [(8, 12, 3, 3), (5, 7, 1, 5), (4, 33, 1, 1)])
def test_rows_of_weights(text, shape):
    generator = torch.Generator().manual_seed(3)
    w, x = torch.randn(shape, generator=generator), torch.randn((2, shape[1], 7, 7), generator=generator)
    out, channels, high, wide = shape
    rows = ht.quantize(w.permute(0, 2, 3, 1).reshape(out, -1), text)
    rounded = rows.reshape(out, high, wide, channels).permute(0, 3, 1, 2)
    assert torch.equal(ht.conv2d(x, w, recipe=ht.Recipe(w=text)), ht.conv2d(x, rounded, recipe=ht.Recipe()))
