# SPDX-License-Identifier: MIT
"""Low-precision checkpoints of other programs as values: halfulp/checkpoint.h, docs/checkpoints.md."""
from __future__ import annotations

import ctypes as c
import math
import os
from typing import Any, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from .. import _abi as abi
from .. import _structs as s
from ..scaled import ScaledTensor
from ..scaling import Scaling

_LINE = 768
_ORDINARY = {'BOOL': np.bool_, 'U8': np.uint8, 'I8': np.int8, 'U16': np.uint16, 'I16': np.int16, 'U32': np.uint32, 'I32': np.int32,
             'U64': np.uint64, 'I64': np.int64, 'F16': np.float16, 'F32': np.float32, 'F64': np.float64, 'C64': np.complex64}


class CheckpointTensor(NamedTuple):
    """A tensor of a checkpoint.

    Attributes
    ----------
    name, file : str
        Its name in the model, and the file that has its codes.
    layout : str
        The layout of another program in which it is ("hf-fp8"; docs/checkpoints.md has the table); "plain": F8, F6 or F4
        without scales; "": an ordinary dtype.
    dtype, elements, scales : str
        The dtype in the file; the format of the codes and of the scales, "" where there are none.
    open : str
        What the file leaves open, and was read as the layout does it.
    shape : tuple of int
        Of the values.
    block : pair of int
        Rows and columns that share a scale; (0, 0) without scales.
    """
    name: str
    file: str
    layout: str
    dtype: str
    elements: str
    scales: str
    open: str
    shape: Tuple[int, ...]
    block: Tuple[int, int]


class CheckpointChange(NamedTuple):
    """What became of a tensor that was written.

    Attributes
    ----------
    name : str
        Its name in the model.
    what : str
        "copied": its bytes; "values": it left a layout; "moved": codes and scales as they were, in another layout; "rounded".
    values, changed, zeroed, to_infinity, to_nan, narrowed : int
        Its values; those that are others than before; of these, the zeros, the infinities and the NaN; those that binary32 lacked
        before they were rounded.
    largest : float
        The largest magnitude of a difference, of values that are finite before and after.
    sqnr : float
        10 log10 of the sum of their squares over that of their differences, in dB; inf where none differs.
    """
    name: str
    what: str
    values: int
    changed: int
    zeroed: int
    to_infinity: int
    to_nan: int
    narrowed: int
    largest: float
    sqnr: float


class Checkpoint(Mapping[str, np.ndarray]):
    """The tensors of a checkpoint by their names: `model['layers.0.weight']` computes the values of one. `print(model)` lists
    them. It keeps files mapped until `close()`, or the end of a `with` block."""

    def __init__(self, handle: c.c_void_p) -> None:
        self._handle: Optional[c.c_void_p] = handle
        library = abi.layouts()
        records = [library.hu_checkpoint_at(handle, i) for i in range(library.hu_checkpoint_count(handle))]
        self._places = {record.name.decode(): i for i, record in enumerate(records)}
        self._tensors = [_tensor(record) for record in records]

    def __len__(self) -> int:
        return len(self._tensors)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __getitem__(self, name: str) -> np.ndarray:
        """The values of a tensor: float32 where it is in a layout, plain F8, F6 or F4, or BF16; of other dtypes an array of
        its own. KeyError: no tensor has the name."""
        tensor, place = self._tensors[self._places[name]], self._places[name]
        if not tensor.layout and tensor.dtype in _ORDINARY:
            return self._bytes(place, _ORDINARY[tensor.dtype]).reshape(tensor.shape)
        values = np.empty(tensor.shape, np.float32)
        abi.check(abi.layouts().hu_checkpoint_read(self._open(), place, 0, values.size, values.ctypes.data), name)
        return values

    def codes(self, name: str) -> np.ndarray:
        """The codes of a tensor, uint8, one to an element, in the shape of the values: codes of the format `elements` of
        `tensor(name)`. KeyError: no tensor has the name. HalfulpValueError (HU_E_FORMAT): it has no codes."""
        tensor, place = self._tensors[self._places[name]], self._places[name]
        codes = np.empty(tensor.shape, np.uint8)
        abi.check(abi.layouts().hu_checkpoint_codes(self._open(), place, 0, codes.size, codes.ctypes.data), name)
        return codes

    def scaled(self, name: str) -> ScaledTensor:
        """A tensor as codes and scales, for `gemm` and the other calls on scaled tensors.

        Parameters
        ----------
        name : str
            Of a tensor whose elements are floats with a scale for each block: MX, NVFP4, FP8 by blocks or rows. Matrices of
            one with more than two axes lie below each other; where they have second scales of their own it is refused.

        Returns
        -------
        ScaledTensor
            Its `decode()` gives the values of `self[name]`, bit for bit.

        Raises
        ------
        KeyError
            No tensor has the name.
        HalfulpValueError
            Its layout is no scaled format (HU_E_FORMAT), or rounds otherwise than one: compressed-tensors' NVFP4 divides by
            its second scale.
        """
        one, place, library = self.tensor(name), self._places[name], abi.layouts()
        values = np.atleast_2d(self[name]).reshape(-1, one.shape[-1] if one.shape else 1)
        rows, cols = one.block
        scale = one.scales.split()[0] if one.scales else ''
        if not rows or len(one.shape) > 2 and rows > 1 and one.shape[-2] % rows:
            raise abi.error(s.E_FORMAT, name, 'it has no scales for whole blocks of a matrix')
        scales = np.empty((-(-values.shape[0] // rows), -(-values.shape[1] // cols)), np.uint32)
        abi.check(library.hu_checkpoint_scales(self._open(), place, 0, scales.size, scales.ctypes.data), name)
        second = ' ' in one.scales
        rule = 'floor' if scale == 'float8_e8m0fnu' else 'ratio'
        scaling = Scaling('scaled({};scale={};block={}x{};rule={}{})'.format(one.elements, scale, rows, cols, rule, ';tensor' if second else ''))
        kept = scales.astype(np.uint8 if scaling.scale.width <= 8 else np.uint16 if scaling.scale.width <= 16 else np.uint32)
        tensor = np.array(library.hu_checkpoint_second(self._open(), place, 0), np.float32) if second else None
        made = ScaledTensor(self.codes(name).reshape(values.shape), kept, tensor, scaling)
        if not np.array_equal(made.decode().view(np.uint32), values.view(np.uint32)):
            raise abi.error(s.E_FORMAT, name, 'the layout {} rounds its values otherwise than a scaled format'.format(one.layout))
        return made

    def tensor(self, name: str) -> CheckpointTensor:
        """What a tensor is made of. KeyError: no tensor has the name."""
        return self._tensors[self._places[name]]

    @property
    def tensors(self) -> List[CheckpointTensor]:
        """All of them, sorted by name."""
        return list(self._tensors)

    def save(self, folder: Any, layout: str, *, rule: Optional[str] = None, dtype: Optional[str] = None,
             include: Sequence[str] = (), exclude: Sequence[str] = (), file_bytes: int = 0, threads: int = 1,
             activations: Optional['Checkpoint'] = None) -> List[CheckpointChange]:
        """Write the model as a folder that another program loads: docs/checkpoints.md, section 5.

        Parameters
        ----------
        folder : str or os.PathLike
            It must not exist, or be empty. It appears when all is written; an error leaves nothing.
        layout : str
            The layout it gets: "ct-nvfp4", "hf-fp8", "mlx-affine", "bf16", ...
        rule : str, optional
            A scaled format with the elements, blocks and scales of the layout; None: as the layout's program quantizes.
        dtype : str, optional
            Of tensors that leave a layout: "BF16", which None stands for, "F16" or "F32".
        include, exclude : sequence of str
            Globs of names: the tensors that are quantized instead of those that the program would take; those that are not.
        file_bytes, threads : int
            The most bytes of tensors in a file (0: 5e9); threads of a tensor.
        activations : Checkpoint, optional
            Where scales of activations are, which are written as they are.

        Returns
        -------
        list of CheckpointChange
            One for each tensor.

        Raises
        ------
        HalfulpValueError
            No such layout, rule or name; a tensor that is no matrix of whole blocks or not finite; a folder that cannot be
            written.
        """
        order = s.hu_checkpoint_order(target=abi.raw_text('layout', layout), file_bytes=file_bytes, threads=threads)
        order.rule = None if rule is None else abi.raw_text('rule', rule)
        order.values = None if dtype is None else abi.raw_text('dtype', dtype)
        order.include, order.exclude = _globs('include', include), _globs('exclude', exclude)
        order.activations = None if activations is None else activations._open()
        changes, line = (s.hu_checkpoint_change * (len(self) + 1))(), c.create_string_buffer(_LINE)
        status = abi.layouts().hu_checkpoint_write(self._open(), abi.raw_text('folder', os.fspath(folder)), c.byref(order), changes, line)
        if status != s.OK:
            raise abi.told(status, line.value)
        return [_change(one.name, record) for one, record in zip(self._tensors, changes)]

    def close(self) -> None:
        """Let go of the files. Values can no longer be computed: HalfulpValueError."""
        if self._handle is not None:
            abi.layouts().hu_checkpoint_close(self._handle)
        self._handle = None

    def _open(self) -> c.c_void_p:
        if self._handle is None:
            raise abi.HalfulpValueError('the checkpoint is closed')
        return self._handle

    def _bytes(self, place: int, dtype: Any) -> np.ndarray:
        size = c.c_size_t()
        data = abi.layouts().hu_checkpoint_bytes(self._open(), place, c.byref(size))
        if data is None:
            raise abi.error(s.E_FILE, self._tensors[place].file, 'another program has cut it')
        raw = c.string_at(data, size.value) if size.value else b''
        return np.frombuffer(raw, np.dtype(dtype).newbyteorder('<')).astype(dtype)

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def __repr__(self) -> str:
        rows = [('tensor', 'layout', 'elements', 'scales', 'block', 'shape')]
        for one in self._tensors:
            block = '{}x{}'.format(*one.block) if one.block[0] else '-'
            rows.append((one.name, one.layout or '-', one.elements or one.dtype, one.scales or '-', block, str(list(one.shape))))
        widths = [max(len(row[i]) for row in rows) for i in range(6)]
        return '\n'.join('  '.join(word.ljust(width) for word, width in zip(row, widths)).rstrip() for row in rows)


def _tensor(record: Any) -> CheckpointTensor:
    texts = [getattr(record, name).decode(errors='replace') for name in CheckpointTensor._fields[:7]]
    return CheckpointTensor(*texts, tuple(record.shape[:record.dims]), tuple(record.block))


def _globs(name: str, globs: Sequence[str]) -> Any:
    """A list of texts that ends with NULL; None: there are none."""
    if isinstance(globs, str):
        raise abi.HalfulpTypeError(name + ': give a sequence of globs, not one text')
    texts = [abi.raw_text(name, glob) for glob in globs]
    return (c.c_char_p * (len(texts) + 1))(*texts, None) if texts else None


def _change(name: str, record: Any) -> CheckpointChange:
    sqnr = 10 * math.log10(record.squares / record.difference) if record.difference > 0 and record.squares > 0 else math.inf
    return CheckpointChange(name, ('copied', 'values', 'moved', 'rounded')[record.what], record.count, record.changed, record.zeroed,
                            record.to_infinity, record.to_nan, record.narrowed, record.largest, sqnr)


def load(path: Any, layout: Optional[str] = None) -> Checkpoint:
    """The tensors of a low-precision checkpoint, as values.

    Parameters
    ----------
    path : str or os.PathLike
        A .safetensors file, a .safetensors.index.json, or a folder with either; a .gguf, .onnx, .pt, .pth, .ckpt, .bin or .npy
        file, of which nothing is executed. config.json and hf_quant_config.json
        beside the files are read, too.
    layout : str, optional
        The layout that every tensor has whose names and dtypes allow it. None: what the files say; what they leave open
        stands in `open` of the tensors. Of .npy: the format of its codes.

    Returns
    -------
    Checkpoint
        A mapping of names to values. Values are binary32, by the formula of the layout; scales and the like do not appear.

    Raises
    ------
    HalfulpValueError
        A file cannot be read (HU_E_FILE) or is not what it says (HU_E_DATA), or the tensors of a layout do not go together,
        or a layout is known and not supported (HU_E_DATA), or no tensor can have the layout asked for (HU_E_NAME).
    """
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise abi.HalfulpTypeError('path: give the name of a file or folder, not {}'.format(type(path).__name__))
    handle, line = c.c_void_p(), c.create_string_buffer(_LINE)
    given = None if layout is None else abi.raw_text('layout', layout)
    status = abi.layouts().hu_checkpoint_open(c.byref(handle), abi.raw_text('path', os.fspath(path)), given, line)
    if status != s.OK:
        raise abi.told(status, line.value)
    return Checkpoint(handle)
