# SPDX-License-Identifier: MIT
"""Checkpoints of training runs as safetensors files, those of `halfulp train` included (docs/training/command.md)."""
from __future__ import annotations

import json
import math
import os
import struct
import tempfile
from typing import Any, Dict, List, Mapping, NamedTuple, Tuple, Union

import numpy as np

from .. import _abi as abi
from .. import _host as host

_KIND = 'halfulp trainer, 1'
_KINDS = (_KIND, 'halfulp training run, 1')  # the second: a checkpoint of the command
_HEADER_MAX = 100_000_000  # bytes: the limit of the safetensors library


class State(NamedTuple):
    """Everything that the next step of a run depends on."""

    state: Dict[str, str]  # counters, loss scale, and the values of the keys that weights depend on
    tensors: Dict[str, np.ndarray]  # float32 (rows, cols): weights, momenta, running statistics


def _wrong(path: str, sentence: str) -> abi.HalfulpValueError:
    return abi.HalfulpValueError('{}: {}'.format(path, sentence))


def _header(tensors: Mapping[str, np.ndarray], more: Mapping[str, str]) -> bytes:
    rows: Dict[str, Any] = {'__metadata__': dict(more)} if more else {}
    at = 0
    for name, tensor in tensors.items():
        rows[name] = {'dtype': 'F32', 'shape': list(tensor.shape), 'data_offsets': [at, at + tensor.size * 4]}
        at += tensor.size * 4
    text = json.dumps(rows).encode()
    return text + b' ' * (-len(text) % 8)


def write(path: str, state: State) -> None:
    """Writes a checkpoint, as `write_weights` does."""
    write_weights(path, state.tensors, {'kind': _KIND, 'state': json.dumps(state.state)})


def write_weights(path: 'Union[str, os.PathLike[str]]', tensors: Mapping[str, np.ndarray],
                  more: Mapping[str, str] = {}) -> None:
    """Writes arrays of float32, or of a type that float32 holds, by name as a safetensors file, which appears under its
    name complete or not at all. OSError: it cannot be written."""
    for name in tensors:
        if not isinstance(name, str) or name == '__metadata__':
            raise abi.HalfulpValueError('tensors: {!r} cannot be the name of a tensor'.format(name))
    tensors = {name: host.float32(name, tensor) for name, tensor in tensors.items()}
    path, header = os.fspath(path), _header(tensors, more)
    folder = os.path.dirname(path) or '.'
    number, draft = tempfile.mkstemp(prefix='.halfulp-', dir=folder)
    try:
        with os.fdopen(number, 'wb') as file:
            file.write(struct.pack('<Q', len(header)) + header)
            for tensor in tensors.values():
                file.write(tensor.astype('<f4').tobytes())
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(draft, 0o666 & ~mask)
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise


def _parts(path: str, data: bytes) -> Tuple[Dict[str, Any], bytes]:
    """The header of a safetensors file, and the bytes of its tensors."""
    length = struct.unpack('<Q', data[:8])[0] if len(data) >= 8 else _HEADER_MAX + 1
    if length > _HEADER_MAX or 8 + length > len(data):
        raise _wrong(path, 'not a safetensors file')
    try:
        header = json.loads(data[8:8 + length].decode())
    except ValueError:
        raise _wrong(path, 'not a safetensors file: its header is not JSON') from None
    if not isinstance(header, dict):
        raise _wrong(path, 'not a safetensors file: its header is not an object')
    return header, data[8 + length:]


_TYPES = {'F32': '<f4', 'F16': '<f2', 'BF16': '<u2'}  # those that float32 holds exactly


def _tensor(path: str, name: str, row: Any, data: bytes) -> np.ndarray:
    """A tensor as float32."""
    try:
        kind, shape, (begin, end) = _TYPES[row['dtype']], tuple(row['shape']), row['data_offsets']
        good = all(type(n) is int and n >= 0 for n in (*shape, begin, end))
        count = math.prod(shape) if good else 0
        good = good and begin <= end <= len(data) and end - begin == np.dtype(kind).itemsize * count
    except (KeyError, TypeError, ValueError):
        good = False
    if not good:
        raise _wrong(path, 'tensor {!r} is not a whole one of {}'.format(name, ', '.join(_TYPES)))
    numbers = np.frombuffer(data, kind, count, begin)
    if row['dtype'] == 'BF16':
        numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
    return numbers.reshape(shape).astype(np.float32)


def read_weights(path: 'Union[str, os.PathLike[str]]') -> Dict[str, np.ndarray]:
    """The tensors of a safetensors file by name, as float32: those of F32, F16 or BF16.

    OSError: it cannot be read. HalfulpValueError: it is no such file, or a tensor has another type.
    """
    path = os.fspath(path)
    with open(path, 'rb') as file:
        header, data = _parts(path, file.read())
    header.pop('__metadata__', None)
    return {name: _tensor(path, name, row, data) for name, row in header.items()}


def read(path: str) -> State:
    """The state in a checkpoint of `Trainer.save` or of `halfulp train`.

    OSError: the file cannot be read. HalfulpValueError: it is no such checkpoint.
    """
    with open(path, 'rb') as file:
        header, data = _parts(path, file.read())
    more = header.pop('__metadata__', None)
    if not isinstance(more, dict) or more.get('kind') not in _KINDS:
        raise _wrong(path, 'not a checkpoint of a training run')
    try:
        state = json.loads(more['state'])
        texts = isinstance(state, dict) and all(isinstance(one, str) for one in state.values())
    except (KeyError, TypeError, ValueError):
        texts = False
    if not texts:
        raise _wrong(path, 'its state is not an object of texts')
    tensors = {name: _tensor(path, name, row, data) for name, row in header.items()}
    for name, tensor in tensors.items():
        if tensor.ndim != 2:
            raise _wrong(path, 'tensor {!r} is not a matrix'.format(name))
    return State(state, tensors)


def of_lines(text: str) -> Dict[str, str]:
    """The lines key=value of hu_trainer_state as a dict."""
    pairs: List[Tuple[str, str, str]] = [line.partition('=') for line in text.splitlines()]  # type: ignore[misc]
    return {key: value for key, _, value in pairs}


def lines_of(state: Mapping[str, str]) -> str:
    """And back."""
    return ''.join('{}={}\n'.format(key, value) for key, value in state.items())
