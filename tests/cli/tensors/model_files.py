# SPDX-License-Identifier: MIT
"""Files of PyTorch and ONNX, byte by byte: pickles in archives, and messages of Protocol Buffers."""

import io
import struct
import zipfile


def text(word):
    data = word.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def number(x):
    return b"J" + struct.pack("<i", x)


def numbers(values):
    return b"(" + b"".join(map(number, values)) + b"t"


def name(module, word):
    return b"c" + module.encode() + b"\n" + word.encode() + b"\n"


ORDERED = name("collections", "OrderedDict") + b")R"


def view(kind, key, count, offset, shape, strides, dtype=None):
    """The pickle of a tensor: a view of a storage of a class; dtype: of a storage without one."""
    module = "torch.storage" if dtype else "torch"
    storage = b"(" + text("storage") + name(module, kind) + text(key) + text("cpu") + number(count) + b"tQ"
    made = name("torch._utils", "_rebuild_tensor_v3" if dtype else "_rebuild_tensor_v2") + b"(" + storage + number(offset)
    return made + numbers(shape) + numbers(strides) + b"\x89" + ORDERED + (name("torch", dtype) if dtype else b"") + b"tR"


def state(entries):
    """The pickle of a dict of pickles."""
    return b"}(" + b"".join(text(key) + value for key, value in entries) + b"u"


def archive(pickled, storages, order=b"little", compression=zipfile.ZIP_STORED, more=()):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as z:
        z.writestr("m/data.pkl", b"\x80\x02" + pickled + b".")
        z.writestr("m/byteorder", order)
        for key, data in storages.items():
            z.writestr("m/data/" + key, data)
        for member, data in more:
            z.writestr(member, data)
    return file.getvalue()


# ---- ONNX ----
def varint(x):
    x &= (1 << 64) - 1
    out = b""
    while x > 127:
        out += bytes([x & 127 | 128])
        x >>= 7
    return out + bytes([x])


def field(place, value):
    """A field of a message: an integer, or bytes."""
    if isinstance(value, int):
        return varint(place << 3) + varint(value)
    return varint(place << 3 | 2) + varint(len(value)) + value


def tensor(label, kind, shape, raw=None, *more):
    made = b"".join(field(1, side) for side in shape) + field(2, kind) + field(8, label.encode())
    return made + (b"" if raw is None else field(9, raw)) + b"".join(more)


def external(location, offset=None, length=None):
    said = {"location": location, "offset": offset, "length": length}
    entries = (field(1, key.encode()) + field(2, str(value).encode()) for key, value in said.items() if value is not None)
    return b"".join(field(13, entry) for entry in entries) + field(14, 1)


def node(op, inputs, output, **attributes):
    made = b"".join(field(1, word.encode()) for word in inputs) + field(2, output.encode()) + field(4, op.encode())
    return made + b"".join(field(5, field(1, key.encode()) + field(3, value) + field(20, 2)) for key, value in attributes.items())


def onnx(tensors, nodes=()):
    return field(1, 10) + field(7, b"".join(field(1, one) for one in nodes) + b"".join(field(5, one) for one in tensors))
