# SPDX-License-Identifier: MIT
"""Writes what a library for devices is without CUDA: every function of its public headers, which answers that there is
no device.

usage: scripts/without_cuda.py OUT ANSWERS HEADER...

ANSWERS is the C file, written by hand, whose functions answer otherwise; they are left out here. A call answers
HU_E_DEVICE, a number of bytes of room for work is 0; what gives something else has to stand in ANSWERS.
"""
import re
import sys

VALUES = {'hu_status': 'HU_E_DEVICE', 'size_t': '0'}


def without_comments(text):
    return re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)


def parameter_name(text, function):
    """Of "const float *x" x. Parameters that are arrays or functions are in no header; they would be refused here."""
    found = re.fullmatch(r'[\w\s*]*[\s*](\w+)', text.strip())
    if not found:
        sys.exit(f'without_cuda: {function}: no name in the parameter "{text.strip()}"')
    return found[1]


def declarations(header):
    """(type of the result, name, parameters) of all functions; every HU_API has to be one."""
    with open(header, encoding='utf-8') as file:
        text = without_comments(file.read())
    for statement in re.findall(r'\bHU_API\b([^;]*);', text):
        statement = ' '.join(statement.replace('HU_MUST_CHECK', '').split())
        found = re.fullmatch(r'(\w+) (\w+)\(([^()]*)\)', statement)
        if not found:
            sys.exit(f'without_cuda: {header}: not understood: {statement}')
        yield found.groups()


def definition(result, name, parameters):
    if result not in VALUES:
        sys.exit(f'without_cuda: {name}: what a {result} is without a device has to be written by hand')
    names = [parameter_name(one, name) for one in parameters.split(',')] if parameters != 'void' else []
    unused = f'  {", ".join(f"(void){one}" for one in names)};\n' if names else ''
    return f'{result} {name}({parameters}) {{\n{unused}  return {VALUES[result]};\n}}\n'


def main():
    out, answers, headers = sys.argv[1], sys.argv[2], sys.argv[3:]
    with open(answers, encoding='utf-8') as file:
        by_hand = set(re.findall(r'^\w+ (\w+)\(', without_comments(file.read()), re.M))
    text = '/* Made by scripts/without_cuda.py from the public headers. */\n'
    text += ''.join(f'#include "halfulp/{header.partition("include/halfulp/")[2]}"\n' for header in headers)
    declared = [one for header in headers for one in declarations(header)]
    for left in sorted(by_hand - {name for _, name, _ in declared}):
        sys.exit(f'without_cuda: {answers}: {left} is in none of the headers')
    text += ''.join('\n' + definition(*one) for one in declared if one[1] not in by_hand)
    with open(out, 'w', encoding='utf-8') as file:
        file.write(text)


if __name__ == '__main__':
    main()
