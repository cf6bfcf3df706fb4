# SPDX-License-Identifier: MIT
"""What a text is that a function does not take: the kind of thing that it names, who takes that, or names like it."""
from __future__ import annotations

import ctypes
import difflib
import functools
import re
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import _abi as abi
from . import _structs as s
from .mode import round_hint

# Kinds of texts: what they are called, and who takes them.
_KINDS: Dict[str, Tuple[str, str]] = {
    'format': ('a format', 'halfulp.quantize and halfulp.encode take it'),
    'scaling': ('a scaled format', 'halfulp.quantize, halfulp.scaled.encode and halfulp.round_tensor take it'),
    's2fp8': ('a shifted and squeezed format', 'halfulp.quantize, halfulp.s2fp8_encode and halfulp.round_tensor take it'),
    'hif4': ('a kind of HiFloat4', 'halfulp.quantize and halfulp.hifloat4_encode take it'),
    'number': ('a number system', 'halfulp.quantize, halfulp.number.encode and halfulp.round_tensor take it'),
    'preset': ("a preset of another program's conversion", 'halfulp.quantize and halfulp.encode take it'),
    'scaled preset': ("a preset of another program's scaled format",
                      'halfulp.scaled.encode(x, p) does it, with p = halfulp.preset({!r})'),
    'accum': ('an accumulation model', 'accum= takes it'),
    'mode': ('a rounding mode', 'mode= takes it'),
    'rounding': ('a rounding of tensors', 'halfulp.quantize and halfulp.round_tensor take it'),
}
# The kinds that are taken where one of these is asked for.
_TAKEN = {'rounding': ('format', 'scaling', 's2fp8', 'number'), 'number': ('format', 'number')}

# Names that several formats are called by (docs/numerics.md C20); cli/base/names.c has the same.
AMBIGUOUS: Dict[str, str] = {
    'e4m3': 'float8_e4m3fn (OCP, NVIDIA), float8_e4m3 (as IEEE 754 has infinities), float8_e4m3fnuz (AMD MI300), '
            'float8_e4m3b11fnuz',
    'e3m4': 'float8_e3m4 (as IEEE 754 has infinities), float8_e3m4fn',
    'fp8': 'float8_e4m3fn, float8_e5m2 (OCP, NVIDIA), float8_e4m3 (as IEEE 754 has infinities), float8_e4m3fnuz, '
           'float8_e5m2fnuz (AMD MI300)',
    'fp4': 'float4_e2m1fn (OCP, NVIDIA), float4_e1m2, float4_e3m0; for whole tensors nvfp4, mxfp4; fp4_bnb '
           '(bitsandbytes)',
    'bf8': 'float8_e5m2 (OCP), float8_e5m2fnuz (AMD MI300)',
    'fp6': 'float6_e2m3fn, float6_e3m2fn (OCP)',
    'mxfp8': 'mxfp8_e4m3, mxfp8_e5m2',
    'mxfp6': 'mxfp6_e2m3, mxfp6_e3m2',
}


# What some write in front of such a name: "fp8_e4m3", "f8e4m3".
_BITS = re.compile(r'f(?:p|loat)?[468][_-]?(?=e)')


def ambiguous(text: str) -> Optional[str]:
    """The formats that a name stands for, where there are several."""
    small = text.strip().lower()
    return AMBIGUOUS.get(small) or AMBIGUOUS.get(_BITS.sub('', small, count=1))


def _parses(call: Callable[..., int], record: Any, text: bytes, *more: Any) -> bool:
    return call(ctypes.byref(record), text, *more, None) == s.OK


def _kinds(raw: bytes) -> List[str]:
    """All kinds that a text is, from the most to the least likely meaning."""
    library, found = abi.main(), []
    conversion = s.hu_conversion()
    if library.hu_conversion_find(ctypes.byref(conversion), raw) == s.OK:
        found.append('scaled preset' if conversion.scaling else 'preset')
    buffer = (ctypes.c_float * 256)()
    checks: Sequence[Tuple[str, bool]] = (
        ('format', _parses(library.hu_format_parse, s.hu_format(), raw)),
        ('scaling', _parses(library.hu_scaling_parse, s.hu_scaling(), raw)),
        ('s2fp8', _parses(library.hu_s2fp8_parse, s.hu_s2fp8(), raw)),
        ('hif4', _parses(library.hu_hif4_parse, s.hu_hif4(), raw)),
        ('number', _parses(library.hu_number_parse, s.hu_number(), raw, ctypes.addressof(buffer))),
        ('accum', _parses(library.hu_accum_parse, s.hu_accum(), raw)),
        ('mode', library.hu_mode_round_parse(ctypes.byref(s.hu_mode()), raw) == s.OK))
    found += [kind for kind, good in checks if good]
    if not found and _is_rounding(raw):
        found.append('rounding')
    return found


def _is_rounding(raw: bytes) -> bool:
    try:
        return _parses(abi.train().hu_rounding_parse, s.hu_rounding(), raw)
    except ImportError:  # the package works without libhalfulp-train
        return False


@functools.lru_cache(maxsize=1)
def _names() -> Tuple[str, ...]:
    """All names of the catalogues: formats with their aliases, scaled formats, number systems, presets."""
    library = abi.main()
    made: List[str] = []
    for place in range(library.hu_format_count()):
        row = library.hu_format_at(place)
        made += [row.id.decode()] + row.aliases.decode().split()
    for stem in ('scaling', 'scaling_rule', 'number', 'conversion'):
        at = getattr(library, 'hu_{}_at'.format(stem))
        made += [at(place).name.decode() for place in range(getattr(library, 'hu_{}_count'.format(stem))())]
    return tuple(dict.fromkeys(made))


@functools.lru_cache(maxsize=1)
def models() -> Tuple[str, ...]:
    """The accumulation models that are one word, and the names of matrix units."""
    library, record, made = abi.main(), s.hu_accum_preset(), ['exact', 'fp32', 'fp64', 'int32']
    for place in range(library.hu_accum_preset_count()):
        if library.hu_accum_preset_at(ctypes.byref(record), place) == s.OK:
            made.append(record.name.decode())
    return tuple(made)


def _longer(text: str, names: Sequence[str]) -> List[str]:
    """Names with a part that begins as the text: "e4m3", "fp8" (as in float8_...)."""
    bits = text[2:] if text.startswith('fp') else ''
    start = 'float{}_'.format(bits) if bits.isdigit() else text
    found = [name for name in names if name.startswith(start) or '_' + start in name]
    full = [name for name in found if name.startswith('float')]  # not their aliases, where there are such
    return full or found


def near(text: str, names: Sequence[str], most: int = 4) -> str:
    """A question with names like a text, misspelt or written otherwise; "" where there are none."""
    small = text.strip().lower().replace('-', '_')
    spelt = _BITS.sub(lambda found: 'float{}_'.format(re.sub('[^468]', '', found.group())), small, count=1)
    found = [small] if small in names else [name for name in names if spelt != small and name.startswith(spelt)]
    found = found or (_longer(small, names) if len(small) > 2 else [])
    found = found[:most] or difflib.get_close_matches(small, names, n=most, cutoff=0.8)
    words = [repr(name) for name in found]
    if not words:
        return ''
    return 'did you mean {}?'.format(words[0] if len(words) == 1 else ', '.join(words[:-1]) + ' or ' + words[-1])


def _meant(kind: str, text: str) -> str:
    """What a text is, and who takes it, where it is of another kind; else ""."""
    taken = _TAKEN.get(kind, (kind,))
    found = [one for one in _kinds(text.encode()) if one not in taken]
    if not found:
        return ''
    what, who = _KINDS[found[0]]
    if kind == 'accum':
        more = '; seq({}) adds in it'.format(text) if found[0] == 'format' else ''
        return '{!r} is {}, not an accumulation model{}'.format(text, what, more)
    return '{!r} is {}: {}'.format(text, what, who.format(text))


def parse(kind: str, argument: str, text: str, call: Callable[..., int], record: Any, *more: Any) -> None:
    """abi.parse; where the text is not a name or does not follow the grammar, its error says what helps."""
    try:
        abi.parse(argument, text, call, record, *more)
    except abi.HalfulpValueError as error:
        if error.status not in ('HU_E_NAME', 'HU_E_TEXT') or not abi.is_text(text):
            raise
        raise _helped(error, kind, argument, text) from None


def _mode_meant(part: str) -> Optional[str]:
    """Which rounding modes the word in front of a part of a text stands for, unless it is one."""
    word = re.split('[,;)]', part.lstrip(','))[0]
    taken = abi.main().hu_mode_round_parse(ctypes.byref(s.hu_mode()), word.encode()) == s.OK
    return None if taken else round_hint(word)


def _element_meant(text: str) -> Optional[str]:
    """Where a number system stands for the elements of a scaled format: what to do."""
    found = re.match(r'scaled\(((?:[^;()]|\([^()]*\))+);', text)
    if not found or not _is_number(found.group(1).encode()):
        return None
    return ('{0!r} is a number system, and the elements of a scaled format are a floating-point format; divide each block by its '
            'scale, quantize into {0!r} and multiply (docs/numbers.md, N.7)'.format(found.group(1)))


def _is_number(raw: bytes) -> bool:
    library, buffer = abi.main(), (ctypes.c_float * 256)()
    return (_parses(library.hu_number_parse, s.hu_number(), raw, ctypes.addressof(buffer))
            and not _parses(library.hu_format_parse, s.hu_format(), raw))


def _helped(error: abi.HalfulpError, kind: str, argument: str, text: str) -> abi.HalfulpError:
    head = text.partition(',')[0] if kind == 'rounding' else text
    meant, several = _meant(kind, text) or _element_meant(text), ambiguous(head)
    mode = _mode_meant(error.rest if error.rest != text else text.rpartition(',')[2])
    if several and kind != 'accum':
        words = '{}: {!r} is ambiguous; one of {} ({})'.format(argument, head, several, error.status)
    elif meant:
        words = '{}: {} ({})'.format(argument, meant, error.status)
    elif mode:
        words = '{}; {}'.format(error, mode)
    else:
        asked = near(head, models() if kind == 'accum' else _names())
        words = '{}; {}'.format(error, asked) if asked else str(error)
    made = type(error)(words)
    made.status = error.status
    return made
