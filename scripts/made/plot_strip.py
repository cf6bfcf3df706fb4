# SPDX-License-Identifier: MIT
"""Makes a flat picture for the head of a page of a drawing of `halfulp plot`: the values of the format, the bars of the data
flattened, and the table below as one line above.

usage: plot_strip.py DRAWING.svg OUT.svg
"""
import re
import sys

LETTERS = 1.3    # letters are larger, because the picture is shown smaller
FLAT = 0.4       # of the height of bars
LEGEND, TOP = 26, 44


def number(line, name):
    found = re.search(r' %s="([-\d.]+)"' % name, line)
    return float(found[1]) if found else None


def moved(line, place):
    """The element with its heights as `place` gives them."""
    y, height = number(line, 'y'), number(line, 'height')
    if height is not None:
        top, foot = place(y), place(y + height)
        line = re.sub(r' height="[-\d.]+"', ' height="%.2f"' % (foot - top), line)
    return re.sub(r' (y|y1|y2)="([-\d.]+)"', lambda m: ' %s="%.2f"' % (m[1], place(float(m[2]))), line)


def rows_of(lines):
    """The table: colour, short name and, where there are data, the share of each row."""
    rows = []
    for i, line in enumerate(lines):
        if line.startswith('<rect') and number(line, 'width') == number(line, 'height') == 14:
            texts = []
            for text in lines[i + 1:]:
                if not text.startswith('<text'):
                    break
                texts.append(re.sub(r'<[^>]*>', '', text))
            shares = [text for text in texts if text.endswith('%')]
            rows.append((re.search(r'fill="([^"]+)"', line)[1], texts[0].split(': ')[-1], shares[0] if shares else ''))
    return rows


def legend(rows):
    x = 70
    for colour, name, share in rows:
        text = ('%s %s' % (name, share)).strip()
        yield '<rect x="%d" y="%d" width="14" height="14" fill="%s"/>' % (x, LEGEND - 13, colour)
        yield '<text x="%d" y="%d" font-size="16" fill="#1f2733">%s</text>' % (x + 22, LEGEND, text)
        x += 44 + int(8.9 * len(text))


def strip(text):
    lines = text.split('\n')
    ticks = max(i for i, line in enumerate(lines) if line.startswith('<line') and 'stroke="#1f2733"' in line)
    foot = next(number(line, 'y1') for line in lines[ticks:] if line.startswith('<line'))  # of the band
    table = next(i for i, line in enumerate(lines) if '>values of each sign<' in line)
    band = next(number(line, 'y') for line in lines if line.startswith('<rect') and number(line, 'height') == 54)
    bars = band - 10 if any(line.startswith('<line') and number(line, 'y1') < band for line in lines) else band
    flat = FLAT * (bars - 120)

    def place(y):
        if y < bars:
            return TOP + flat - FLAT * (bars - y)
        return TOP + max(flat, 0) + y - bars

    kept = [line for line in lines[3:table] if number(line, 'y') is None or number(line, 'y') > 120 or line.startswith('<rect')]
    kept = [re.sub(r'font-size="(\d+)"', lambda m: 'font-size="%.1f"' % (LETTERS * int(m[1])), moved(line, place)) for line in kept]
    last = max([place(number(line, 'y')) for line in lines[3:table] if number(line, 'y') and number(line, 'y') > foot])
    height = int(last) + 12
    head = re.sub(r'width="(\d+)" height="\d+" viewBox="0 0 \d+ \d+"', r'width="\1" height="%d" viewBox="0 0 \1 %d"' % (height, height), lines[0])
    back = '<rect x="0" y="0" width="1120" height="%d" fill="#ffffff"/>' % height
    return '\n'.join([head, lines[1], back, *legend(rows_of(lines)), *kept, '</svg>', ''])


def main(source, out):
    with open(source, encoding='utf-8') as file:
        text = file.read()
    with open(out, 'w', encoding='utf-8') as file:
        file.write(strip(text))


main(*sys.argv[1:])
