# SPDX-License-Identifier: MIT
"""Makes results files of the figures that older versions of the benchmarks printed as text: bench/results/*.txt of the
Intel Xeon (family 6, model 106) and of the AMD EPYC (Zen 4, whose model was not noted down).

  python3 bench/old_results.py [FOLDER]

Each row says which text it comes from. There was one run, so its best and its worst are the same."""
import pathlib
import re
import sys

import rows as table

RESULTS = table.HERE / 'results'
INTEL = {'machine': 'Intel Xeon, 2.80 GHz', 'vendor': 'intel', 'family': '6', 'model': '106', 'stepping': 'not noted',
         'flags': 'fma avx2 avx512f avx512bw avx512vbmi', 'cores': '2', 'date': '2026-11-23', 'compiler': 'gcc 12.2',
         'openblas': '0.3.21', 'commit': 'not noted', 'load': 'shared with other work'}
AMD = {'machine': 'AMD EPYC, Zen 4', 'vendor': 'amd', 'family': '25', 'model': 'zen4', 'stepping': 'not noted',
       'flags': 'fma avx2 avx512f avx512bw avx512vbmi', 'cores': '2', 'date': '2026-11-22', 'compiler': 'gcc 12.2',
       'openblas': '0.3.21', 'commit': 'not noted', 'load': 'shared with other work'}
TIMES = r'([\d.]+) ms +([\d.]+) ms +([\d.]+)'


def array(line):
    m = re.match(r'(\w+) +(.+?) +(\w+) +' + TIMES, line)
    if m:
        unit = 'time / plain loop' if '8-bit codes' in m[2] else 'time / memcpy'
        yield f'{m[2]}, {m[3]}', m[1], unit, float(m[4]) / float(m[5]) if float(m[4]) > 1 else float(m[6])


def scaled(line):
    m = re.match(r'(\w+) +(.+?) +(quantize_n|encode_n|decode_n|quantize|encode|decode) +' + TIMES, line)
    if m:
        yield f'{m[3]}, {m[2]}', m[1], 'time / ' + ('memcpy' if m[3].endswith('_n') else m[3] + '_n'), float(m[4]) / float(m[5])


def s2fp8(line):
    m = re.match(r'(\w+) +(\w+) +[\d.]+ ms +quantize_n +[\d.]+ ms +([\d.]+) +memcpy +[\d.]+ ms +([\d.]+) +([\d.]+) ns', line)
    if m:
        for unit, figure in (('time / quantize_n', m[3]), ('time / memcpy', m[4]), ('ns', m[5])):
            yield m[2], m[1], unit, float(figure)


def value(line):
    m = re.match(r'(\w+) +(\w+) +(\w+) +([\d.]+) +([\d.]+)$', line)
    if m:
        yield f'{m[1]}, {m[2]} to {m[3]}', 'call', 'ns', float(m[4])
        yield f'{m[1]}, {m[2]} to {m[3]}', 'core.h', 'ns', float(m[5])


def gemm(line):
    m = re.match(r'(\S+) +(\S+) +x (\S+) +-> (\S+) +(values|codes) +(nn|nt) (\w+) +[\d.]+ +[\d.]+ +([\d.]+)', line)
    if m:
        unit = 'speed / dgemm' if m[1] == 'binary64' else 'speed / sgemm'
        yield f'{m[1]}, {m[2]} x {m[3]} to {m[4]}, {m[5]} {m[6]}, {m[7]}', 'avx512', unit, float(m[8])


def shapes(line):
    m = re.match(r'  (\w+: .+?) +(\d+) x +(\d+) over +(\d+) [nt]{2} +[\d.]+ us +sgemm +[\d.]+ us +([\d.]+)', line)
    if m:
        yield f'{m[1]}, {m[2]} x {m[3]} over {m[4]}', 'avx512', 'time / sgemm', float(m[5])


class Training:
    """Its lines stand below the network's."""

    def __init__(self):
        self.network, self.threads = '', '1'

    def __call__(self, line):
        head = re.match(r'(\w+): .*threads (\d+); shares', line)
        if head:
            self.network, self.threads = head[1], head[2]
        m = re.match(r'  (\S.*?)  +([\d.]+) us( +[\d.]+ of binary32)?', line)
        if not m or not self.network:
            return
        row, of = f'{self.network}, {m[1]}', re.search(r' us +([\d.]+) of binary32', line)
        if of:
            yield row, 'best', 'time / binary32', float(of[1]), self.threads
        elif m[1] == 'binary32':
            yield row, 'best', 'us', float(m[2]), self.threads
        share = re.search(r'products over them ([\d.]+)', line)
        if share and float(share[1]) > 0:
            yield row, 'best', 'rounding / products', float(share[1]), self.threads


def converted(parts):
    made, seen = [], set()
    for benchmark, text, read in parts:
        for line in (RESULTS / text).read_text().splitlines():
            for row, level, unit, figure, *threads in read(line):
                key = (benchmark, row, level, unit, *threads)
                if key in seen:
                    continue
                seen.add(key)
                made.append({'benchmark': benchmark, 'row': row, 'level': level, 'threads': threads[0] if threads else '1',
                             'unit': unit, 'best': figure, 'worst': figure, 'runs': 1, 'from': text})
    return made


def main():
    to = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS
    goals = table.read_goals()
    for machine, parts in ((INTEL, [('array', 'array-intel-xeon-106.txt', array), ('value', 'value-intel-xeon-106.txt', value),
                                    ('s2fp8', 's2fp8-intel-xeon-106.txt', s2fp8), ('gemm', 'gemm-intel-xeon-106.txt', gemm)]),
                           (AMD, [('scaled', 'scaled-amd-epyc-zen4.txt', scaled),
                                  ('gemm_shapes', 'train-amd-epyc-zen4.txt', shapes),
                                  ('train', 'train-amd-epyc-zen4.txt', Training())])):
        made = converted(parts)
        table.judge(made, goals, machine['flags'].split())
        table.write_results(to / f'{machine["vendor"]}-{machine["family"]}-{machine["model"]}.csv', machine, made)


if __name__ == '__main__':
    main()
