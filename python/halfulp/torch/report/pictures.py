# SPDX-License-Identifier: MIT
"""Pictures of a report, as SVG."""
import html
import math
from typing import List, Sequence, Tuple

_WIDE = 640


def _svg(title: str, high: int, parts: Sequence[str]) -> str:
    return ('<figure><figcaption>{}</figcaption><svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}" '
            'font-family="sans-serif" font-size="11">{}</svg></figure>').format(html.escape(title), _WIDE, high,
                                                                            ''.join(parts))


def bars(title: str, rows: Sequence[Tuple[str, float]]) -> str:
    """A bar for each number, with its name; an infinite one is as long as the longest."""
    if not rows:
        return ''
    longest = max([n for _, n in rows if math.isfinite(n)] + [1.0])
    parts: List[str] = []
    for i, (name, n) in enumerate(rows):
        width = max(0.0, min(n, longest)) / longest * (_WIDE - 320)
        parts.append('<text x="0" y="{}">{}</text>'.format(14 * i + 11, html.escape(name[-44:])))
        parts.append('<rect x="260" y="{}" width="{:.1f}" height="10" fill="#4477aa"/>'.format(14 * i + 2, width))
        parts.append('<text x="{:.1f}" y="{}">{}</text>'.format(264 + width, 14 * i + 11,
                                                             'exact' if n == math.inf else '{:.1f}'.format(n)))
    return _svg(title, 14 * len(rows) + 4, parts)


def histogram(title: str, before: Sequence[int], after: Sequence[int], lowest: int) -> str:
    """Numbers by exponent: outlines before, filled after; the first place of each list counts zeros."""
    used = [i for i in range(1, len(before)) if before[i] or after[i]]
    if not used:
        return ''
    first, last = used[0], used[-1]
    most, step = max(max(before[1:]), max(after[1:]), 1), (_WIDE - 80) / (last - first + 2)
    parts: List[str] = []
    for place, i in enumerate([0] + list(range(first, last + 1))):
        x = 40 + place * step
        for counts, colour in ((before, '#bbbbbb'), (after, '#4477aa')):
            high = 100 * min(counts[i], most) / most
            shift, width = (0.0, step - 1) if counts is before else (step / 4, step / 2)
            parts.append('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}"/>'.format(
                x + shift, 110 - high, max(width, 0.5), high, colour))
        if i == 0 or (i - 1 + lowest) % 8 == 0:
            parts.append('<text x="{:.1f}" y="124">{}</text>'.format(x, 'zero' if i == 0 else i - 1 + lowest))
    return _svg(title, 130, parts)
