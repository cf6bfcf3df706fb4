# SPDX-License-Identifier: MIT
"""Which accumulation model a function has that sums products: `halfulp identify` with a callable as the box."""
from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from typing import Any, Callable, Dict, List, Optional

import numpy as np

from .accum import Accumulator
from .format import Format

_FLOATS = {'binary16': np.float16, 'binary32': np.float32, 'binary64': np.float64}
_BITS = {np.dtype(np.float16): np.uint16, np.dtype(np.float32): np.uint32, np.dtype(np.float64): np.uint64}
_INTEGERS = {'s8': (8, np.int8), 'u8': (8, np.uint8), 's4': (4, np.uint8), 'u4': (4, np.uint8), 's32': (32, np.int32)}


class Identified:
    """What is known of the function.

    Attributes
    ----------
    verdict : str
        "found", "order" (no model's text, but a tree of rounded additions), "nearest", "stopped", "noisy" or "constant".
    model : Accumulator or None
        The model, or the nearest one.
    tree : str
        The order of the sum: (C + 0) + 1; [C 0 1] adds three terms at once.
    presets : list of str
        Matrix units that give the same answers.
    report : dict
        All of it, as `halfulp identify --json` prints it (docs/json.md).
    """

    def __init__(self, report: Dict[str, Any]) -> None:
        self.report = report
        self.verdict: str = report['verdict']
        self.model: Optional[Accumulator] = Accumulator(report['model']) if report.get('model') else None
        self.tree: str = report.get('tree', '')
        self.presets: List[str] = report.get('presets', [])

    def __repr__(self) -> str:
        return 'Identified(%r, model=%r, tree=%r)' % (self.verdict, self.report.get('model'), self.tree)


class _Element:
    """How the function gets the patterns of an operand."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.floats = _FLOATS.get(name)
        bits = np.dtype(self.floats).itemsize * 8 if self.floats else _INTEGERS[name][0] if name in _INTEGERS else Format(name).width
        self.digits = (bits + 3) // 4
        self.codes = np.dtype('u%d' % max(1, 1 << (bits - 1).bit_length() >> 3))
        self.given = np.dtype(self.floats) if self.floats else np.dtype(_INTEGERS[name][1]) if name in _INTEGERS else self.codes

    def read(self, words: List[str]) -> np.ndarray:
        """Rows of hex text to an array of numbers, or of codes where NumPy has no such numbers."""
        rows = [[int(word[i:i + self.digits], 16) for i in range(0, len(word), self.digits)] for word in words]
        return np.array(rows, dtype=self.codes).view(self.given)

    def write(self, values: Any, count: int) -> str:
        array = np.asarray(values)
        if array.shape != (count,):
            raise ValueError('the function gives an array of shape %s, not (%d,)' % (array.shape, count))
        if array.dtype != self.given and array.dtype != self.codes:
            raise TypeError('the function gives %s; D in %s is %s' % (array.dtype, self.name, self.given))
        return ''.join('%0*x\n' % (self.digits, code) for code in np.ascontiguousarray(array).view(self.codes).tolist())


def _command(given: Optional[str]) -> str:
    path = given or os.environ.get('HALFULP_COMMAND') or shutil.which('halfulp')
    if not path:
        raise FileNotFoundError('the command `halfulp` was not found; name it by command= or HALFULP_COMMAND')
    return path


def _in_corner(f: Callable[..., Any], operands: Any, with_c: bool, tile: int) -> np.ndarray:
    """One product for each question, which is every row and every column; kernels take places differently, and this is the
    first one."""
    answers = []
    for a, b, c in zip(*operands[:3]):
        more = (np.full((tile, tile), c),) if with_c else ()
        answers.append(np.asarray(f(np.tile(a, (tile, 1)), np.tile(b[:, None], (1, tile)), *more))[0, 0])
    return np.array(answers)


def _answers(call: Callable[..., Any], elements: List[_Element], d: _Element, lines: List[bytes]) -> bytes:
    words = list(zip(*(line.decode().split() for line in lines)))
    operands = [element.read(list(column)) for element, column in zip(elements, words)]
    operands[2] = operands[2][:, 0]
    return d.write(call(*operands), len(lines)).encode()


def _converse(process: 'subprocess.Popen[bytes]', answer: Callable[[List[bytes]], bytes]) -> None:
    """Questions come until the command ends; each is answered in order."""
    assert process.stdin and process.stdout
    rest = b''
    while True:
        came = os.read(process.stdout.fileno(), 1 << 16)
        if not came:
            return
        lines = (rest + came).split(b'\n')
        rest = lines.pop()
        if lines:
            answers = answer(lines)
            try:
                process.stdin.write(answers)
                process.stdin.flush()
            except BrokenPipeError:  # it has ended, and its messages say why
                return


def identify(f: Callable[..., Any], a: str = 'binary32', b: Optional[str] = None, d: Optional[str] = None, k: int = 16, *,
             with_c: bool = True, gemm: bool = False, tile: int = 16, sums: bool = False, scale: Optional[str] = None, every: int = 0, verify: int = 20000,
             seed: int = 1, timeout: int = 60, command: Optional[str] = None) -> Identified:
    """Ask a function that computes dot products until one accumulation model is left.

    Parameters
    ----------
    f : callable
        f(A, B, C), with_c=False: f(A, B), sums=True: f(A): arrays of shape (count, k), C of shape (count,), to an array
        of shape (count,). Elements of binary16, binary32 and binary64 are floats, integers are integers, and all others
        are codes in unsigned integers. With scale also f(..., SA, SB).
    gemm : bool
        f is f(A, B), or with_c f(A, B, C), on matrices of shapes (tile, k), (k, tile) and (tile, tile), to one of
        (tile, tile). A call is one question, and its answer is element (0, 0).
    a, b, d : str
        Formats of A, of B (the same if absent), and of C and the results (binary32; binary64 where A is).
    k : int
        Products of a dot product.
    verify : int
        Drawn questions that the model has to stand in the end.
    command : str
        The program `halfulp`, where it is not on PATH.
    """
    b = b or a
    d = d or ('binary64' if a == 'binary64' else 's32' if a in _INTEGERS else 'binary32')
    elements = [_Element(name) for name in (a, b, d)] + ([_Element(scale)] * 2 if scale else [])

    def call(*operands: Any) -> Any:
        kept = [operands[0]] if sums else list(operands[:2])
        if gemm:
            return _in_corner(f, operands, with_c, tile)
        return f(*kept, *(operands[2:3] if with_c else ()), *operands[3:])

    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, 'report.json')
        arguments = [_command(command), 'identify', '--fa', a, '--fb', b, '--fd', d, '--k', str(k), '--beside', str(report),
                     '--verify', str(verify), '--seed', str(seed), '--timeout', str(timeout)]
        arguments += [] if with_c else ['--without-c']
        arguments += ['--sums'] if sums else []
        arguments += ['--scale', scale, '--share', str(every)] if scale else []
        with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                _converse(process, lambda lines: _answers(call, elements, elements[2], lines))
            except BaseException:
                process.kill()
                raise
            assert process.stdin and process.stderr
            process.stdin.close()
            said = process.stderr.read().decode(errors='replace').strip()
        if not report.exists():
            raise RuntimeError(said or 'halfulp identify ended with exit code %d' % process.returncode)
        return Identified(json.loads(report.read_text()))
