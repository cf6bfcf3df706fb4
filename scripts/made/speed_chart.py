# SPDX-License-Identifier: MIT
"""Draws the README's chart of speed, docs/img/speed.svg, from the printed results of bench_array and bench_gemm.

usage: speed_chart.py ARRAY.txt GEMM.txt OUT.svg
"""
import re
import sys
from xml.sax.saxutils import escape

# label, beginning of the row: level, operation, format
ARRAYS = [
    ('float32 to FP8 codes', ('avx512', '8-bit codes, rne', 'float8_e4m3fn')),
    ('FP8 codes to float32', ('avx512', 'decode 8-bit codes', 'float8_e4m3fn')),
    ('float32 to FP8 values', ('avx512', 'grid values, rne', 'float8_e4m3fn')),
    ('float32 to bfloat16 values', ('avx512', 'grid values, rne', 'bfloat16')),
    ('the same, stochastic', ('avx512', 'grid values, sra:32, Philox', 'bfloat16')),
]
# label, the way, what follows it
PRODUCTS = [
    ('binary32, in strict order', 'fp32', 'binary32 x binary32 -> binary32 values nt'),
    ('exact, rounded once', 'binary64', 'float8_e4m3fn x float8_e4m3fn -> float8_e4m3fn values nn'),
    ('rounded at every step, binary16', 'seq(binary16)', 'float8_e4m3fn x float8_e4m3fn -> binary16 values nn'),
    ('the same in bfloat16', 'seq(bfloat16)', 'bfloat16 x bfloat16 -> bfloat16 values nn'),
    ('FP8 as an H100 computes it', 'nv.hopper.e4m3.f32.wgmma', 'float8_e4m3fn x float8_e4m3fn -> binary32 codes nn'),
]
WIDTH, LEFT, BAR, STEP = 388, 212, 14, 22  # of a panel; where its bars begin; a bar's height; from one to the next
FIGURE = 34  # the width of "0.92"
STYLE = ('text{font:13px sans-serif;fill:#1f2430}.t{font-weight:bold;font-size:15px}.s{fill:#5b6472}'
         '@media(prefers-color-scheme:dark){text{fill:#e6e8ec}.s{fill:#a5adba}}')


def rows_of(path):
    with open(path, encoding='utf-8') as file:
        return [re.sub(r'\s+', ' ', line.strip()) for line in file if line.strip()]


def machine(rows):
    return rows[0].lstrip('# ').rstrip('.')


def one(rows, start):
    found = [row for row in rows if row.startswith(start + ' ')]
    if len(found) != 1:
        raise SystemExit('speed_chart.py: {} rows begin with "{}"'.format(len(found), start))
    return found[0]


def array_ratios(rows):
    for label, (level, operation, name) in ARRAYS:
        yield label, float(re.search(r' ms (\d+\.\d+)( |$)', one(rows, '{} {} {}'.format(level, operation, name)).split('ms', 1)[1]).group(1))


def product_ratios(rows):
    for label, way, rest in PRODUCTS:
        yield label, float(one(rows, way + ' ' + rest).split(' of ')[0].split()[-1])


def panel(left, title, notes, ratios):
    """Bars whose full width is a ratio of `most`; a line stands at 1. Returns the texts and where they end."""
    ratios = list(ratios)
    most = max([1.0] + [ratio for _, ratio in ratios])
    start = left + LEFT
    unit = (WIDTH - LEFT - FIGURE - 16) / most
    text = ['<text class="t" x="{}" y="22">{}</text>'.format(left + 8, escape(title))]
    text += ['<text class="s" x="{}" y="{}">{}</text>'.format(left + 8, 40 + 16 * i, escape(note)) for i, note in enumerate(notes)]
    y = top = 34 + 16 * len(notes)
    for label, ratio in ratios:
        text.append('<text x="{}" y="{}" text-anchor="end">{}</text>'.format(start - 8, y + 12, escape(label)))
        text.append('<rect x="{}" y="{}" width="{:.1f}" height="{}" rx="2" fill="#2f6eb5"/>'.format(start, y, ratio * unit, BAR))
        place = start + ratio * unit + 6
        if place - 4 <= start + unit <= place + FIGURE:  # behind the line instead of on it
            place = start + unit + 6
        text.append('<text x="{:.1f}" y="{}">{:.2f}</text>'.format(place, y + 12, ratio))
        y += STEP
    line = start + unit
    text.append('<line x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}" stroke="#c8323c" stroke-width="1.5"/>'.format(line, top - 4, y - 4))
    return text, y


def main(arrays, products, out):
    array_rows, product_rows = rows_of(arrays), rows_of(products)
    first, y = panel(0, 'Conversions of 67 million numbers', ['time over memcpy of the same array', '(the red line): shorter is faster'],
                     array_ratios(array_rows))
    second, y = panel(WIDTH, 'Matrix products of 1024 x 1024 x 1024', ['speed over OpenBLAS in binary32 or binary64', '(the red line): longer is faster'],
                      product_ratios(product_rows))
    foot = '<text class="s" x="8" y="{}">{}</text>'.format(y + 14, escape(machine(array_rows).split('; the machine')[0]))
    with open(out, 'w', encoding='utf-8') as file:
        file.write('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img">'
                   '<title>Speed of halfulp beside memcpy and OpenBLAS</title><style>{2}</style>\n'.format(2 * WIDTH, y + 22, STYLE))
        file.write('\n'.join(first + second + [foot]) + '\n</svg>\n')


main(*sys.argv[1:])
