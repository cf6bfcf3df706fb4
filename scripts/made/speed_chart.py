# SPDX-License-Identifier: MIT
"""Draws the README's chart of speed, docs/img/speed.svg, from a machine's file of results.

usage: speed_chart.py RESULTS.csv OUT.svg
"""
import pathlib
import sys
from xml.sax.saxutils import escape

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'bench'))
import rows as table  # noqa: E402

# label, the row; the figure of the machine's best level is drawn
ARRAYS = [
    ('float32 to FP8 codes', '8-bit codes, rne, float8_e4m3fn'),
    ('FP8 codes to float32', 'decode 8-bit codes, float8_e4m3fn'),
    ('float32 to FP8 values', 'grid values, rne, float8_e4m3fn'),
    ('float32 to bfloat16 values', 'grid values, rne, bfloat16'),
    ('the same, stochastic', 'grid values, sra:32, Philox, bfloat16'),
]
PRODUCTS = [
    ('binary32, in strict order', 'fp32, binary32 x binary32 to binary32, values nn, normal'),
    ('exact, rounded once', 'binary64, float8_e4m3fn x float8_e4m3fn to float8_e4m3fn, values nn, normal'),
    ('rounded at every step, binary16', 'seq(binary16), float8_e4m3fn x float8_e4m3fn to binary16, values nn, normal'),
    ('the same in bfloat16', 'seq(bfloat16), bfloat16 x bfloat16 to bfloat16, values nn, normal'),
    ('FP8 as an H100 computes it', 'nv.hopper.e4m3.f32.wgmma, float8_e4m3fn x float8_e4m3fn to binary32, codes nn, normal'),
]
WIDTH, LEFT, BAR, STEP = 388, 212, 14, 22  # of a panel; where its bars begin; a bar's height; from one to the next
FIGURE = 34  # the width of "0.92"
STYLE = ('text{font:13px sans-serif;fill:#1f2430}.t{font-weight:bold;font-size:15px}.s{fill:#5b6472}'
         '@media(prefers-color-scheme:dark){text{fill:#e6e8ec}.s{fill:#a5adba}}')


def ratios(rows, benchmark, wanted):
    """(label, figure) of the first line of each row, which is that of the best level."""
    for label, name in wanted:
        found = [row['best'] for row in rows if (row['benchmark'], row['row']) == (benchmark, name)]
        if not found:
            raise SystemExit(f'speed_chart.py: the file has no row "{name}" of {benchmark}')
        yield label, found[0]


def panel(left, title, notes, figures):
    """Bars whose full width is a ratio of `most`; a line stands at 1. Returns the texts and where they end."""
    figures = list(figures)
    most = max([1.0] + [ratio for _, ratio in figures])
    start = left + LEFT
    unit = (WIDTH - LEFT - FIGURE - 16) / most
    text = ['<text class="t" x="{}" y="22">{}</text>'.format(left + 8, escape(title))]
    text += ['<text class="s" x="{}" y="{}">{}</text>'.format(left + 8, 40 + 16 * i, escape(note)) for i, note in enumerate(notes)]
    y = top = 34 + 16 * len(notes)
    for label, ratio in figures:
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


def main(results, out):
    machine, rows = table.read_results(pathlib.Path(results))
    first, y = panel(0, 'Conversions of large arrays', ['time over memcpy of the same array', '(the red line): shorter is faster'],
                     ratios(rows, 'array', ARRAYS))
    second, y = panel(WIDTH, 'Matrix products', ['speed over OpenBLAS in binary32 or binary64', '(the red line): longer is faster'],
                      ratios(rows, 'gemm', PRODUCTS))
    about = (f'{machine["machine"]} (family {machine["family"]}, model {machine["model"]}), one thread, {machine["compiler"]}, '
             f'OpenBLAS {machine["openblas"]}, {machine["date"]}')
    foot = '<text class="s" x="8" y="{}">{}</text>'.format(y + 14, escape(about))
    with open(out, 'w', encoding='utf-8') as file:
        file.write('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img">'
                   '<title>Speed of halfulp beside memcpy and OpenBLAS</title><style>{2}</style>\n'.format(2 * WIDTH, y + 22, STYLE))
        file.write('\n'.join(first + second + [foot]) + '\n</svg>\n')


main(*sys.argv[1:])
