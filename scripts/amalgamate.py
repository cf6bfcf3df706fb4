#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The library as two files, halfulp.h and halfulp.c, for programs that keep the sources of what they use with their own.

    amalgamate.py ROOT OUT SOURCE...        (also writes OUT/halfulp.d, the files read, for make and ninja)

The header is the public headers that need no other library, in the order of their includes. The C file is the sources
one after another: every header once, file-local names that another source has too, as whatever, told apart by a number, macros of
a source undefined behind it. Kernels for AVX2, AVX-512 and NEON stay out, since one file has one set of compiler flags: the
portable vector kernels compile to what the flags allow. The bits are the same.
Beside them halfulp_core.h, the inline core (halfulp/core.h with all that it includes), with or without the two."""
import os
import re
import sys

LOCAL = re.compile(r'\s*#\s*include\s+"([^"]+)"')
SYSTEM = re.compile(r'\s*#\s*include\s+<([^>]+)>')
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[A-Za-z_]\w*|0[xX][\w.]+|\d[\w.]*|\s+|.',
                   re.S)
# Public headers of parts that are libraries of their own.
APART = ('halfulp/core.h', 'halfulp/device', 'halfulp/mpi', 'halfulp/oracle', 'halfulp/train')


class Tree:
    def __init__(self, root):
        self.root = root
        self.done = set()
        self.read = []

    def find(self, name, beside=''):
        for folder in (beside, '', 'include'):
            path = os.path.join(self.root, folder, name)
            if os.path.exists(path):
                return os.path.relpath(path, self.root)
        sys.exit(f'amalgamate: no {name}')

    def parts(self, name, keep_public, own=True, beside=''):
        """A file with its local includes in their places, guarded ones once in the whole output: pairs of text and
        whether it is the source's own (else a header's, which many sources see)."""
        name = self.find(name, beside)
        self.read.append(name)
        with open(os.path.join(self.root, name), encoding='utf-8') as file:
            body = file.read()
        guarded = re.search(r'^#ifndef HALFULP_\w+_H$', body, re.M)
        if guarded:
            if name in self.done:
                return []
            self.done.add(name)
        own = own and not guarded
        parts, lines = [], []
        for line in body.split('\n'):
            match = LOCAL.match(line)
            if not match:
                lines.append(line)
            elif match[1].startswith('halfulp/') and not keep_public:
                continue  # halfulp.h has it
            elif re.fullmatch(r'emu/simd/(avx\d+|neon)\.h', match[1]):
                continue  # behind a condition that does not hold here
            else:
                parts += [('\n'.join(lines) + '\n', own)] + self.parts(match[1], keep_public, own, os.path.dirname(name))
                lines = []
        return parts + [('\n'.join(lines) + '\n', own)]


def strip_code(text):
    """Tokens without blanks and comments; directives as one token each."""
    tokens = []
    text = re.sub(r'\\\n', ' ', text)
    for part in re.split(r'(?m)^(\s*#.*)$', text):
        if part.lstrip().startswith('#'):
            tokens.append(part.strip())
        else:
            tokens += [t for t in TOKEN.findall(part) if not t.isspace() and not t.startswith(('//', '/*'))]
    return tokens


def file_names(text, types=True):
    """Names that a source declares for itself: static functions and variables; types, tags, enumerators."""
    names, depth, statement = set(), 0, []
    text = re.sub(r'(?m)^[A-Z][A-Z_0-9]*\(.*\)$', '', text)  # macros that make functions
    for token in strip_code(text):
        if token.startswith('#'):
            continue
        if depth == 0 and token in (';', '{'):
            take(statement, names)
        if token == '{':
            depth += 1
        if token == '}':
            depth -= 1
        statement.append(token)
        if depth == 0 and token == ';' or (depth == 0 and token == '}' and is_function(statement)):
            if types or 'typedef' not in statement:
                take_typedef(statement, names)
            statement = []
    return names


def is_function(statement):
    brace = statement.index('{')
    return brace > 0 and statement[brace - 1] == ')'


def without_attributes(statement):
    """A statement without __attribute__((...))."""
    out, depth, skip = [], 0, False
    for token in statement:
        if token == '__attribute__':
            skip, depth = True, 0
        elif skip:
            depth += (token == '(') - (token == ')')
            skip = depth > 0
        else:
            out.append(token)
    return out


def take(statement, names):
    """A declaration up to its { or ;"""
    statement = ['static' if t in ('HU_FN', 'HU_OUTLINE') else t for t in without_attributes(statement)]
    if '{' in statement:
        return
    words = [t for t in statement if re.match(r'[A-Za-z_]', t)]
    if 'static' in words and '(' in statement:
        before = statement[:statement.index('(')]
        if before and re.match(r'[A-Za-z_]', before[-1]):
            names.add(before[-1])
    elif 'static' in words:
        for i, token in enumerate(statement):
            following = statement[i + 1] if i + 1 < len(statement) else ';'
            if re.match(r'[A-Za-z_]', token) and following in ('=', ';', '[', ',') and token not in ('struct', 'union', 'enum'):
                names.add(token)
    if statement and statement[-2:-1] in (['struct'], ['union'], ['enum']):
        names.add(statement[-1])


def take_typedef(statement, names):
    statement = without_attributes(statement)
    words = [t for t in statement if re.match(r'[A-Za-z_]', t)]
    if 'typedef' in words:
        if statement[-2] == ')':  # a function type
            names.update(t for i, t in enumerate(statement) if statement[i + 1:i + 2] == ['('] and
                         re.match(r'[A-Za-z_]', t) and t not in ('__attribute__',) and i < statement.index('(') + 2)
        else:
            tail = [t for t in statement if re.match(r'[A-Za-z_]', t)]
            names.add(tail[-1])
    if 'static' in words and '{' in statement:  # an array or struct with values: its name stands before = or [
        for i, token in enumerate(statement[:statement.index('{')]):
            if re.match(r'[A-Za-z_]', token) and statement[i + 1] in ('=', '['):
                names.add(token)
        behind = behind_body(statement)
        if re.match(r'[A-Za-z_]', behind):  # static const struct { ... } name[] = {
            names.add(behind)
    if 'enum' in words and '{' in statement and statement.index('enum') < statement.index('{'):
        inside, start = statement[statement.index('{') + 1:], True
        for token in inside:
            if token == '}':
                break
            if start and re.match(r'[A-Za-z_]', token):
                names.add(token)
            start = token == ','


def behind_body(statement):
    """The token behind the first { ... }."""
    depth = 0
    for i, token in enumerate(statement):
        depth += (token == '{') - (token == '}')
        if depth == 0 and token == '}':
            return statement[i + 1] if i + 1 < len(statement) else ''
    return ''


def made_by_macros(text):
    """First arguments of macros in capitals at the beginning of a line: KERNEL(name, ...)"""
    return set(re.findall(r'(?m)^[A-Z][A-Z_0-9]*\((\w+)[,)]', text))


def words(text):
    """Every name in a text, comments and strings apart."""
    return {t for t in TOKEN.findall(text) if re.match(r'[A-Za-z_]', t)}


def macros(text):
    return re.findall(r'(?m)^\s*#\s*define\s+(\w+)', text)


def renamed(text, names, suffix):
    """The text with the suffix behind each of the names, members of structs apart."""
    tokens = TOKEN.findall(text)
    code = [i for i, t in enumerate(tokens) if not t.isspace() and not t.startswith(('/*', '//'))]
    struct, braces, last = [], 0, ['', '', '']  # struct: depths of braces at which bodies of structs stand
    for at, i in enumerate(code):
        token, following = tokens[i], tokens[code[at + 1]] if at + 1 < len(code) else ''
        if token == '{':
            braces += 1
            if 'struct' in last[-2:]:
                struct.append(braces)
        elif token == '}':
            if struct and struct[-1] == braces:
                struct.pop()
            braces -= 1
        elif token in names:
            member = last[-1] == '.' or last[-2:] == ['-', '>']
            declared = struct and struct[-1] == braces and (
                following in (';', ',', '[', ':') or (last[-1] == '*' and following == ')'))
            if not member and not declared:
                tokens[i] += suffix
        last = last[1:] + [token]
    return ''.join(tokens)


PROLOGUE = """/* Made from halfulp's sources by its build; changes belong there. Compile it as C11 with the flags of the program:
 * the portable vector kernels become what these allow, and the bits are the same whatever they are. Defines:
 *
 *   HALFULP_NO_THREADS   no threads: hu_exec.threads is accepted and the calling thread does the work */
#include <float.h>
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "halfulp.c requires IEEE 754 arithmetic: compile it without -ffast-math, -Ofast and -ffinite-math-only"
#endif
#if defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#error "halfulp.c requires IEEE 754 arithmetic: compile it without -funsafe-math-optimizations and what that consists of"
#endif
#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16
#error "halfulp.c requires float and double operations rounded to float and double: on 32-bit x86 -msse2 -mfpmath=sse"
#endif
/* A product and a sum are two roundings, whatever -march allows. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
#define HU_PORTABLE 1
#include "halfulp.h"

"""


def main():
    root, out, sources = sys.argv[1], sys.argv[2], sys.argv[3:]
    tree = Tree(root)
    with open(os.path.join(root, 'LICENSE'), encoding='utf-8') as file:
        licence = '/* SPDX-License-Identifier: MIT\n *\n' + ''.join(f' * {l}'.rstrip() + '\n' for l in file) + ' */\n'
    publics = sorted('halfulp/' + os.path.relpath(os.path.join(folder, name), os.path.join(root, 'include/halfulp'))
                     for folder, _, files in os.walk(os.path.join(root, 'include/halfulp')) for name in files)
    header = ''.join(text for name in publics if name.endswith('.h') and not name.startswith(APART)
                     for text, _ in tree.parts(name, True))
    names = [os.path.relpath(source, root) for source in sources]
    sources = [tree.parts(name, False) for name in names]
    owned = [''.join(text for text, own in parts if own) for parts in sources]
    local = [file_names(text) | made_by_macros(text) for text in owned]
    shared = [file_names(''.join(text for text, own in parts if not own)) for parts in sources]
    # A function or variable of a file is also told apart from parameters and variables of other files: -Wshadow.
    objects = [file_names(text, False) for text in owned]
    spoken = [words(''.join(text for text, _ in parts)) for parts in sources]
    chunks = []
    for i, parts in enumerate(sources):
        mine = {n for n in local[i] if sum(n in others for others in local + shared) > 1}
        mine |= {n for n in objects[i] if sum(n in others for others in spoken) > 1}
        text = ''.join(renamed(text, mine, f'_{i}') if own else text for text, own in parts)
        undefine = ''.join(f'#undef {m}\n' for m in dict.fromkeys(macros(owned[i])))
        chunks.append(f'/* ---- {names[i]} ---- */\n{text}\n{undefine}')
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, 'halfulp.h'), 'w', encoding='utf-8') as file:
        file.write(licence + header)
    with open(os.path.join(out, 'halfulp.c'), 'w', encoding='utf-8') as file:
        file.write(licence + PROLOGUE + '\n'.join(chunks))
    inline = Tree(root)
    with open(os.path.join(out, 'halfulp_core.h'), 'w', encoding='utf-8') as file:
        file.write(licence + ''.join(text for text, _ in inline.parts('halfulp/core.h', True)))
    with open(os.path.join(out, 'halfulp.d'), 'w', encoding='utf-8') as file:
        file.write(f'{out}/halfulp.h {out}/halfulp.c {out}/halfulp_core.h: ' +
                   ' '.join(os.path.abspath(os.path.join(root, n)) for n in dict.fromkeys(tree.read + inline.read)) + '\n')


if __name__ == '__main__':
    main()
