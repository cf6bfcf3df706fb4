# SPDX-License-Identifier: MIT
"""Lines for scaled.md: scaled (codes, scales and values of a matrix), scaled_pack (section 7)."""
import re
from functools import lru_cache

from exact import BINARY32, from_interchange, to_interchange
from lines import format_of, hexadecimal, list_of, mode_of, operation
from s2fp8 import count, count_text, hex_list
from scaled_layout import Layout
from scaled_tensor import decode, encode


@lru_cache(maxsize=1024)
def layout_of(text, element, scale):
    return Layout(text, format_of(element), format_of(scale))


def binary32_list(numbers):
    return ','.join('%08x' % to_interchange(x, BINARY32) for x in numbers) or '-'


def binary32_numbers(text):
    return [from_interchange(bits, BINARY32) for bits in list_of(text)]


@operation('scaled', 'layout element scale rows cols mode key counter x', 'amax')
def scaled(fields):
    """A matrix by rows; layout=rows(...) has a second level for each row (4.3), and amax a list of one a row."""
    text = fields['layout']
    inner = re.fullmatch(r'rows\((.*)\)', text)
    layout = layout_of(inner.group(1) if inner else text, fields['element'], fields['scale'])
    rows, cols = int(fields['rows']), int(fields['cols'])
    elements, mode = binary32_numbers(fields['x']), mode_of(fields['mode'])
    if len(elements) != rows * cols:
        raise ValueError('x has not rows * cols elements')
    key, counter = hexadecimal(fields['key']), hexadecimal(fields['counter'])
    given = binary32_numbers(fields['amax']) if 'amax' in fields else []
    parts = [(i * cols, 1) for i in range(rows)] if inner else [(0, rows)]
    codes, scales, tensors, values, events = [], [], [], [], []
    for number, (start, height) in enumerate(parts):
        part = elements[start:start + height * cols]
        made = encode(layout, part, height, cols, mode, key, counter + start, given[number] if given else None)
        codes += made.codes
        scales += made.scales
        tensors.append(made.t)
        events += made.events
        values += decode(layout, made.codes, made.scales, made.t, height, cols)
    return {'codes': hex_list(codes), 'scales': hex_list(scales), 'tensor': binary32_list(tensors),
            'values': binary32_list(values), 'events': count_text(count(events))}


@operation('scaled_pack', 'layout element scale rows cols codes', 'pad')
def scaled_pack(fields):
    """Section 7, packed: the bytes of all rows in their order; pad=1, or the key, fills whole blocks with codes 0."""
    layout = layout_of(fields['layout'], fields['element'], fields['scale'])
    rows, cols, codes = int(fields['rows']), int(fields['cols']), list_of(fields['codes'])
    width, height, length = layout.element.width, rows, cols
    if layout.pads or fields.get('pad') == '1':
        down, across = layout.block_sides(rows, cols)
        height, length = -(-rows // down) * down, -(-cols // across) * across
    packed = b''
    for i in range(height):
        row = codes[i * cols:(i + 1) * cols] if i < rows else []
        string = sum((code & layout.element.mask) << j * width for j, code in enumerate(row))
        packed += string.to_bytes(-(-width * length // 8), 'little')
    return {'bytes': packed.hex() or '-'}
