# SPDX-License-Identifier: MIT
"""What was computed how: the products of a `precision`, one row for all that are alike."""
import html
import json
import math
import threading
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ... import _pictures as pictures
from .._calls import EVENTS
from ..products import guard
from . import measure as measuring


class _Sum:
    """Squares of numbers and of errors, and exponents, of all calls of a row."""

    def __init__(self) -> None:
        self.signal = self.noise = 0.0
        self.before: List[int] = []
        self.after: List[int] = []

    def add(self, one: measuring.Measured) -> None:
        self.signal, self.noise = self.signal + one.signal, self.noise + one.noise
        self.before = [i + j for i, j in zip(self.before or [0] * len(one.before), one.before)]
        self.after = [i + j for i, j in zip(self.after or [0] * len(one.after), one.after)]

    @property
    def decibels(self) -> Optional[float]:
        """None: nothing was measured, or only zeros; infinity: no error."""
        if not self.signal:
            return None
        return math.inf if not self.noise else 10 * math.log10(self.signal / self.noise)


_NAMES = {'forward': ('x', 'w', 'out'), 'dX': ('g', 'w', 'dx'), 'dW': ('x', 'g', 'dw')}


def _names(operator: str, part: str) -> Sequence[str]:
    """Of both operands and the result."""
    return ('x',) if operator == 'rounding' else _NAMES.get(part, ())


def _lettered(row: Dict[str, Any]) -> Sequence[Tuple[str, str]]:
    """The fields of a row's operands and result, with their letters."""
    return list(zip(('a', 'b', 'out'), _names(row['operator'], row['part'])))


class _Row:
    def __init__(self) -> None:
        self.calls, self.work = 0, 0
        self.events: Dict[str, Dict[str, int]] = {}
        self.sums: Dict[str, _Sum] = {}

    def count(self, names: Sequence[str], table: List[List[int]]) -> None:
        for name, row in zip(names, table):
            for event, n in zip(EVENTS, row):
                if n:
                    found = self.events.setdefault(name, {})
                    found[event] = found.get(event, 0) + int(n)

    def measure(self, names: Sequence[str], made: Sequence[measuring.Measured]) -> None:
        for name, one in zip(names, made):
            self.sums.setdefault(name, _Sum()).add(one)


# Of a row: module, its type, why it is torch's; then what its products have in common.
_Key = Tuple[str, str, Optional[str], str, Tuple[guard.Shape, ...], str, Optional[str]]


class Rows:
    """What has run so far."""

    def __init__(self, count: bool, measure: bool) -> None:
        self.counting, self.measuring = count, measure
        self.made: Dict[_Key, _Row] = {}
        self.lock = threading.Lock()

    def add(self, module: str, kind: str, why: Optional[str], products: Sequence[guard.Product], operator: Any,
            args: Sequence[Any], result: Any) -> None:
        own = bool(products) and products[0].text is not None
        measured = self._measured(operator, args, result) if self.measuring and own else []
        with self.lock:
            for i, one in enumerate(products):
                key = (module, kind, why, one.operator, one.shapes, one.part, one.text)
                row = self.made.get(key)
                if row is None:
                    row = self.made[key] = _Row()
                row.calls += 1
                row.work += one.work or 0
                if not own:
                    continue
                names = _names(one.operator, one.part)
                if self.counting:
                    row.count(names, result[-1].reshape(-1, len(EVENTS))[3 * i:3 * i + 3].tolist())
                if measured:
                    row.measure(names, measured[i])

    def _measured(self, operator: Any, args: Sequence[Any], result: Any) -> List[Sequence[Any]]:
        name = operator._schema.name.rpartition('::')[2]
        if name == 'quantize':
            return [(measuring.of_rounding(args, result),)]
        return list(measuring.of_products(name, operator, args, result))

    def report(self) -> 'Report':
        with self.lock:
            return Report([_plain(key, row) for key, row in self.made.items()],
                          {name: one for name, one in self._exponents().items()})

    def _exponents(self) -> Dict[str, Tuple[List[int], List[int]]]:
        """Of operands, by their letter."""
        made: Dict[str, Tuple[List[int], List[int]]] = {}
        for row in self.made.values():
            for name, one in row.sums.items():
                if name in ('x', 'w', 'g'):
                    before, after = made.get(name, ([0] * len(one.before), [0] * len(one.after)))
                    made[name] = ([i + j for i, j in zip(before, one.before)], [i + j for i, j in zip(after, one.after)])
        return made


def _plain(key: _Key, row: _Row) -> Dict[str, Any]:
    module, kind, why, operator, shapes, part, text = key
    made: Dict[str, Any] = {'module': module, 'type': kind, 'operator': operator, 'part': part,
                            'shapes': [list(shape) for shape in shapes], 'calls': row.calls,
                            'multiply_adds': row.work, 'in': 'torch' if text is None else 'halfulp',
                            'why': why, 'a': None, 'b': None, 'sum': None, 'out': None}
    if operator == 'rounding':
        made['a'] = text
    elif text is not None:
        parts = text.split('|')
        made.update(zip(('a', 'b', 'sum', 'out'), parts[:2] + [' after '.join(parts[2::2])] + parts[3:4]))
    for place, name in _lettered(made):
        made['sqnr_' + place] = row.sums[name].decibels if name in row.sums else None
        made['events_' + place] = row.events.get(name, {})
    return made


def _place(row: Dict[str, Any]) -> str:
    return row['module'] or ('(model)' if row['type'] else '(no module)')


_LONG = 32  # characters of a cell that has several lines
_COLUMNS = ('module', 'operator', 'part', 'shapes', 'calls', 'share', 'formats', 'sum', 'SQNR dB', 'events')


class Report:
    """The products of a part of a program.

    rows : list of dict
        One for all products that are alike, with "module" (its name), "type", "operator", "part" ("forward", "dX", "dW";
        "backward" of torch's own), "shapes", "calls", "multiply_adds" (of all calls), "in" ("halfulp" or "torch"), "why"
        (of torch's own: the reason), "a", "b", "out" (roundings of the operands and of the result), "sum", and, where
        they were asked for, "sqnr_a", ... in dB and "events_a", ... as counts. pandas.DataFrame takes them.
    """

    def __init__(self, rows: List[Dict[str, Any]], exponents: Dict[str, Tuple[List[int], List[int]]]) -> None:
        self.rows, self._exponents = rows, exponents

    def work(self, where: str) -> int:
        """Multiply-adds of floating-point numbers in "halfulp" or in "torch"."""
        return sum(row['multiply_adds'] for row in self.rows if row['in'] == where and row['why'] != 'integers')

    @property
    def share(self) -> float:
        """Of the multiply-adds of floating-point numbers that were computed under a recipe: 0 to 1, NaN of none."""
        low, high = self.work('halfulp'), self.work('torch')
        return low / (low + high) if low + high else math.nan

    @property
    def left(self) -> List[Dict[str, Any]]:
        """The rows of what torch computed."""
        return [row for row in self.rows if row['in'] == 'torch']

    def headline(self) -> str:
        low, high = self.work('halfulp'), self.work('torch')
        if not low + high:
            return 'no products'
        text = '{:.1f} % of {:,} multiply-adds under a recipe'.format(100 * self.share, low + high)
        if high:
            reasons: Dict[str, int] = {}
            for row in self.left:
                reasons[row['why']] = reasons.get(row['why'], 0) + row['multiply_adds']
            text += '; in torch: ' + ', '.join('{:.1f} % ({})'.format(100 * n / (low + high), why)
                                               for why, n in reasons.items() if why != 'integers')
        return text

    def _cells(self, row: Dict[str, Any]) -> List[str]:
        total = self.work('halfulp') + self.work('torch')
        formats = row['why'] if row['in'] == 'torch' else ' '.join(str(row[k]) for k in ('a', 'b', 'out') if row[k])
        ratios = [row.get('sqnr_' + k) for k in ('a', 'b', 'out')]
        events = ', '.join('{}.{} {}'.format(k, event, n) for k in ('a', 'b', 'out')
                           for event, n in (row.get('events_' + k) or {}).items() if event != 'inexact')
        return [_place(row), row['operator'], row['part'],
                ' '.join('x'.join(map(str, shape)) for shape in row['shapes']), str(row['calls']),
                '{:.1f} %'.format(100 * row['multiply_adds'] / total if total else 0), formats or '', row['sum'] or '',
                ' '.join('-' if r is None else '{:.1f}'.format(r) for r in ratios) if any(
                    r is not None for r in ratios) else '', events]

    def text(self, rows: int = 60) -> str:
        """A table of the `rows` with most multiply-adds, in the order in which they ran first."""
        shown = sorted(sorted(range(len(self.rows)), key=lambda i: -self.rows[i]['multiply_adds'])[:rows])
        table = [list(_COLUMNS)] + [self._cells(self.rows[i]) for i in shown]
        kept = [i for i in range(len(_COLUMNS)) if any(line[i] for line in table[1:])]
        widths = [max(len(line[i]) for line in table) for i in kept]
        lines = ['  '.join(line[i].ljust(n) for i, n in zip(kept, widths)).rstrip() for line in table]
        more = ['and {} more rows'.format(len(self.rows) - len(shown))] if len(shown) < len(self.rows) else []
        return '\n'.join([self.headline()] + (lines if self.rows else []) + more)

    __str__ = text

    def __repr__(self) -> str:
        return 'Report({} rows; {})'.format(len(self.rows), self.headline())

    def json(self) -> str:
        """{"share", "multiply_adds": {"halfulp", "torch"}, "rows"}; infinite ratios as null."""
        def finite(thing: Any) -> Any:
            if isinstance(thing, dict):
                return {key: finite(value) for key, value in thing.items()}
            return None if isinstance(thing, float) and not math.isfinite(thing) else thing
        return json.dumps({'share': finite(self.share), 'rows': [finite(row) for row in self.rows],
                           'multiply_adds': {where: self.work(where) for where in ('halfulp', 'torch')}})

    def html(self, path: Optional[str] = None) -> str:
        """A page of one file, like the report of `halfulp quantize --report`: the table, which a click on a column's head
        sorts; and, where `measure` was set, exponents of the operands before and after they were rounded, and the
        signal-to-noise ratios of operands and results, the lowest first. Written to a file where one is named."""
        page = pictures.page('Products', '<h1>Products</h1>\n<p class="soft">{}</p>\n{}{}'.format(
            html.escape(self.headline()), self._pictures(), self._html_table()))
        if path is not None:
            with open(path, 'w', encoding='utf-8') as file:
                file.write(page)
        return page

    def _pictures(self) -> str:
        made = ''
        for name, (before, after) in self._exponents.items():
            drawn = pictures.exponents('exponents-' + name, (before[1:], before[0]), (after[1:], after[0]),
                                       measuring.LOWEST)
            made += '<h2>Exponents of {} before and after</h2>\n{}'.format(name, drawn)
        for title, places in (('operands', ('a', 'b')), ('results', ('out',))):
            rows = [(' '.join((_place(row), row['part'], name)), row['sqnr_' + place]) for row in self.rows
                    for place, name in _lettered(row) if place in places and row.get('sqnr_' + place) is not None]
            if rows:
                made += '<h2>SQNR of {}</h2>\n{}'.format(title, pictures.ratios(title, title, rows, 'no error'))
        return made

    def _html_table(self) -> str:
        def cell(text: str, key: object) -> str:
            return '<td{} data-v="{}">{}</td>'.format(' class="long"' if len(text) > _LONG else '', html.escape(str(key)),
                                                      html.escape(text))

        body = ''
        for row in self.rows:
            cells = self._cells(row)
            keys: List[object] = list(cells)
            keys[4:6] = row['calls'], row['multiply_adds']
            body += '<tr>{}</tr>\n'.format(''.join(map(cell, cells, keys)))
        head = ''.join('<th scope="col">{}</th>'.format(column) for column in _COLUMNS)
        return '<h2 id="products">Products</h2>\n<div class="wide"><table class="sort" aria-labelledby="products"><thead>' \
               '<tr>{}</tr></thead>\n<tbody>\n{}</tbody></table></div>\n'.format(head, body)

    def _repr_html_(self) -> str:
        """The page in a frame, whose styles touch nothing else of a notebook."""
        return '<iframe title="Products" style="width:100%;height:640px;border:0" srcdoc="{}"></iframe>'.format(
            html.escape(self.html()))
