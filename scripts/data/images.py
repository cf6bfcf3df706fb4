#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Folders of images as the files of `data.set = images` of `halfulp train`: docs/training/data.md, Large images.

  images.py FOLDER OUT            FOLDER/train/CLASS/FILE and FOLDER/val/CLASS/FILE, as ImageNet is unpacked
  images.py FOLDER OUT --classes 100   the first 100 classes alone
  images.py FOLDER OUT --classes names.txt   those classes, a name a line, in this order

OUT gets train-images.npy, train-labels.npy, val-images.npy, val-labels.npy, classes.txt and sha256.txt. An image is made
to bytes of red, green and blue (Pillow's convert("RGB"); files .ppm, .pgm and .npy are read without Pillow), is resized
so that its shorter side has --side pixels, and the middle of its longer side is kept. Classes are sorted by their names,
byte by byte, and so are the files of a class; label i is line i of classes.txt, from 0 on."""
import argparse
import hashlib
import pathlib
import re
import sys

import numpy

PARTS = ('train', 'val')


class Wrong(Exception):
    """A file is not what it should be."""


# ---- pixels of a file ----

def netpbm(path, data):
    """Reads P5 and P6 of up to 255."""
    head = re.match(rb'(P[56])(?:\s+#[^\n]*)*\s+(\d+)(?:\s+#[^\n]*)*\s+(\d+)(?:\s+#[^\n]*)*\s+(\d+)\s', data)
    if not head or int(head[4]) != 255 or not int(head[2]) * int(head[3]):
        raise Wrong(f'{path}: no P5 or P6 of numbers up to 255')
    channels = 3 if head[1] == b'P6' else 1
    shape = int(head[3]), int(head[2]), channels
    pixels = data[head.end():]
    if len(pixels) != shape[0] * shape[1] * channels:
        raise Wrong(f'{path}: {len(pixels)} bytes of pixels, and its sizes require {shape[0] * shape[1] * channels}')
    return numpy.frombuffer(pixels, numpy.uint8).reshape(shape)


def array(path):
    x = numpy.load(path, allow_pickle=False)
    if x.dtype != numpy.uint8 or x.ndim not in (2, 3) or (x.ndim == 3 and x.shape[2] not in (1, 3)) or not x.size:
        raise Wrong(f'{path}: {x.dtype} of shape {x.shape}, not uint8 (h, w), (h, w, 1) or (h, w, 3)')
    return x.reshape(*x.shape[:2], -1)


def decoded(path):
    try:
        from PIL import Image
    except ImportError:
        raise Wrong(f'{path}: reading it requires Pillow (Debian: python3-pil); .ppm, .pgm and .npy do not') from None
    try:
        with Image.open(path) as image:
            return numpy.asarray(image.convert('RGB'))
    except (OSError, SyntaxError, ValueError) as error:
        raise Wrong(f'{path}: {error}') from None


def pixels(path):
    """The image as (height, width, 3) bytes."""
    kind = path.suffix.lower()
    if kind in ('.ppm', '.pgm', '.pnm'):
        x = netpbm(path, path.read_bytes())
    else:
        x = array(path) if kind == '.npy' else decoded(path)
    return x if x.shape[2] == 3 else numpy.repeat(x, 3, axis=2)


# ---- sizes ----

def weights(out, size, first, count):
    """Numerators of rows first ... first + count - 1 of `out`, from `size` pixels: a triangle as wide as two pixels of
    the smaller of both sizes; and the sums of the rows, their denominators. Whole numbers."""
    i = 2 * numpy.arange(first, first + count)[:, None] + 1
    j = 2 * numpy.arange(size)[None, :] + 1
    z = numpy.maximum(0, 2 * max(size, out) - abs(j * out - i * size))
    return z.astype(numpy.float64), z.sum(axis=1)


def resized(image, side):
    """side x side pixels. All sums are of whole numbers below 2^53, so that binary64 has them exactly in any order; the
    quotient is rounded to the nearest whole number, halves up."""
    height, width = image.shape[:2]
    short = min(height, width)
    out = [(2 * n * side + short) // (2 * short) for n in (height, width)]
    (down, by_rows), (right, by_columns) = (weights(n, size, (n - side) // 2, side) for n, size in zip(out, (height, width)))
    z = numpy.empty((side, side, 3), numpy.uint8)
    for c in range(3):
        sums = (down @ image[:, :, c].astype(numpy.float64) @ right.T).astype(numpy.int64)
        all_ = by_rows[:, None] * by_columns[None, :]
        z[:, :, c] = (2 * sums + all_) // (2 * all_)
    return z


# ---- folders ----

def names_of(folder):
    return sorted((p.name for p in folder.iterdir() if not p.name.startswith('.')), key=lambda name: name.encode())


def classes_of(folder, asked):
    there = names_of(folder / 'train')
    if asked is None:
        return there
    if asked.isdigit():
        names = there[:int(asked)]
    else:
        names = pathlib.Path(asked).read_text(encoding='utf-8').split()
    missing = [name for name in names if name not in there]
    if missing:
        raise Wrong(f'{folder}/train: there is no class {missing[0]}')
    return names


def write_part(folder, out, part, classes, side):
    paths = [(folder / part / name / file, label) for label, name in enumerate(classes) for file in names_of(folder / part / name)]
    if not paths:
        raise Wrong(f'{folder}/{part}: no images')
    images = numpy.lib.format.open_memmap(out / f'{part}-images.npy', 'w+', numpy.uint8, (len(paths), side, side, 3), version=(1, 0))
    for i, (path, _) in enumerate(paths):
        images[i] = resized(pixels(path), side)
        if sys.stderr.isatty() and i % 100 == 0:
            print(f'\r{part} {i} of {len(paths)}', end='', file=sys.stderr)
    images.flush()
    numpy.save(out / f'{part}-labels.npy', numpy.array([label for _, label in paths], numpy.uint16))
    print(f'{part}: {len(paths)} images of {len(classes)} classes')


def digest(path):
    z = hashlib.sha256()
    with open(path, 'rb') as file:
        while piece := file.read(1 << 20):
            z.update(piece)
    return z.hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('out', type=pathlib.Path)
    parser.add_argument('--side', type=int, default=256, help='pixels of a side; default 256')
    parser.add_argument('--classes', help='how many, or a file with their names')
    parsed = parser.parse_args()
    if not 1 <= parsed.side <= 4096:
        parser.error('--side: not from 1 to 4096')
    try:
        classes = classes_of(parsed.folder, parsed.classes)
        if not 0 < len(classes) <= 65536:
            raise Wrong(f'{parsed.folder}/train: {len(classes)} classes, not from 1 to 65536')
        parsed.out.mkdir(parents=True, exist_ok=True)
        for part in PARTS:
            write_part(parsed.folder, parsed.out, part, classes, parsed.side)
        (parsed.out / 'classes.txt').write_text(''.join(f'{name}\n' for name in classes), encoding='utf-8')
        files = ['classes.txt', *(f'{part}-{kind}.npy' for part in PARTS for kind in ('images', 'labels'))]
        (parsed.out / 'sha256.txt').write_text(''.join(f'{digest(parsed.out / name)}  {name}\n' for name in files), encoding='utf-8')
    except (Wrong, OSError) as error:
        sys.exit(f'images.py: {error}')


if __name__ == '__main__':
    main()
