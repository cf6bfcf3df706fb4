# SPDX-License-Identifier: MIT
"""Texts of formats (numerics.md, section 1) and the arguments of a model's text (section 11.1)."""
import re
from functools import lru_cache

from formats import AXES, Format
from lines import format_of, rounding_word
from rounding import Mode

# Section 1, the table of presets: infinities, NaN, negative zero, overflow
PRESETS = {
    'ieee': ('ieee', 'ieee', 1, 'inf'), 'finite': ('none', 'none', 1, 'max'), 'fn': ('none', 'ones', 1, 'nan'),
    'fnuz': ('none', 'negzero', 0, 'nan'), 'p3109e': ('top', 'negzero', 0, 'inf'),
    'p3109f': ('none', 'negzero', 0, 'nan'),
}
SHORT = {'nosub': ('sub', 'none'), 'flush': ('sub', 'flush'), 'negzero': ('nz', 1), 'nonegzero': ('nz', 0)}


@lru_cache(maxsize=4096)
def described(text):
    """The format of a text fp(e,m,b):..., by the grammar of section 1."""
    match = re.fullmatch(r'fp\((\d+),(\d+),(-?\d+)\)(?::(.+))?', text)
    if not match:
        raise ValueError('no format: ' + text)
    e, m, b = (int(number) for number in match.groups()[:3])
    words = match.group(4).split(',') if match.group(4) else []
    unsigned = 'unsigned' in words
    presets = [word for word in words if word in PRESETS] or ['ieee']
    axes = preset_axes(presets[0], m, unsigned)
    for word in words:
        if word in SHORT:
            axes.update([SHORT[word]])
        elif word != 'unsigned' and word not in PRESETS:
            name, _, value = word.partition('=')
            name = {'ovf': 'over'}.get(name, name)
            if value not in AXES.get(name, ()) or len(presets) > 1:
                raise ValueError('no format: ' + text)
            axes[name] = value
    if presets[0] == 'p3109f' and 'nan=none' in words and not any(word.startswith('ovf=') for word in words):
        axes['over'] = 'max'
    return Format(0 if unsigned else 1, e, m, b, **axes)


def preset_axes(preset, m, unsigned):
    """What a preset sets: the table, with what it says of unsigned formats and of m = 0."""
    inf, nan, nz, over = PRESETS[preset]
    if preset == 'ieee' and m == 0:
        nan = 'none'
    if unsigned:
        nan, nz = 'top' if nan in ('ones', 'negzero') else nan, 0
    neg = 'stop' if unsigned and preset.startswith('p3109') else 'nan'
    return dict(zero='field', sub='gradual', inf=inf, nan=nan, nz=nz, over=over, neg=neg)


def agreed(text, fmt):
    """The format that a line gives for a text. A name says nothing here; a description has to stand for it."""
    if text.startswith('fp(') and described(text).key() != fmt.key():
        raise ValueError('the line has another format for ' + text)
    return fmt


class Formats:
    """The formats that a line defines (TEXT~AXES|TEXT~AXES); a description fp(e,m,b) stands for itself."""

    def __init__(self, text=''):
        pairs = [pair.split('~') for pair in text.split('|')] if text else []
        self.named = {name: agreed(name, format_of(axes)) for name, axes in pairs}
        self.longest_first = sorted(self.named, key=len, reverse=True)

    def get(self, text):
        return self.named[text] if text in self.named else described(text)

    def at(self, text, start):
        """The end of a format of this line that stands at `start`, or None. Format texts may have commas."""
        for name in self.longest_first:
            end = start + len(name)
            if text.startswith(name, start) and (end == len(text) or text[end] == ','):
                return end
        return None

    def arguments(self, text):
        """The arguments between the brackets of a model: split at commas outside brackets and outside formats."""
        found, start = [], 0
        while start < len(text):
            key = re.compile(r'[a-z0-9]+=').match(text, start)
            end = self.at(text, key.end() if key else start)
            if end is None:
                end = end_of_argument(text, start)
            found.append(text[start:end])
            start = end + 1
        return found


def end_of_argument(text, start):
    depth = 0
    for i in range(start, len(text)):
        if text[i] == ',' and depth == 0:
            return i
        depth += {'(': 1, ')': -1}.get(text[i], 0)
    return len(text)


def call(text):
    """The name of a model and the text between its brackets, '' if it has none."""
    name, bracket, rest = text.partition('(')
    if not bracket:
        return name, ''
    if not rest.endswith(')'):
        raise ValueError('no model: ' + text)
    return name, rest[:-1]


def model_mode(word, sat):
    """The rounding of a model: ties to even and the policy `default` if the text gives none."""
    name, bits = rounding_word(word)
    return Mode(name, bits, sat)
