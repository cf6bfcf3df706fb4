# SPDX-License-Identifier: MIT
"""The tree's own rules: who may include whom, integers only in the core, SPDX lines, line ends.

usage: check_tree.py SOURCE_ROOT CC
"""
import pathlib
import re
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[1])
compiler = sys.argv[2]
bad = []
include = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)


def files(*patterns):
    for pattern in patterns:
        for path in sorted(root.glob(pattern)):
            if path.is_file() and 'build' not in path.relative_to(root).parts[0]:
                yield path


def allow(paths, allowed, why):
    """Every project header that `paths` include must match one of the patterns."""
    count = 0
    for path in paths:
        for name in include.findall(path.read_text()):
            project = name.startswith(('halfulp/', 'emu/', 'gpu/', 'cli/', 'train/', 'files/', 'tests/', 'bench/', 'formats/'))
            cuda = name.startswith(('cuda', 'cublas'))
            count += 1
            if (project or cuda) and not any(re.fullmatch(p, name) for p in allowed):
                bad.append(f'{path.relative_to(root)}: includes {name}: {why}')
    return count


public = r'halfulp/.*'
core = (r'emu/(core|stream|port|arith|accum|accum_num|accum_wide|accum_plan|accum_block|dot_last|scaled|scaled_sum|hadamard|number|number_log|'
        r's2fp8|s2fp8_log|s2fp8_table|s2fp8_polynomial|bits|big|function\w+)\.h')
n = 0
n += allow(files('include/halfulp/**/*.h', 'formats/*.h'), [public], 'public headers include public headers')
n += allow(files('emu/core/round.h', 'emu/core/arith.h', 'emu/core/stream.h', 'emu/core/port.h', 'emu/core/lane_constants.h', 'emu/simd/round.h',
                 'emu/core/accum.h', 'emu/core/accum_step.h', 'emu/core/accum_exact.h', 'emu/core/accum_plan.h', 'emu/core/accum_block.h', 'emu/core/scaled.h',
                 'emu/core/scaled_sum.h', 'emu/core/hadamard.h', 'emu/core/number.h', 'emu/core/number_log.h'),
           [r'halfulp/(accum|format|mode|number|scaled|scaled_gemm|hadamard)\.h', core, r'emu/(narrow|lanes)\.h'],
           'the core stands on the format and mode types')
n += allow(files('emu/*.c', 'emu/*.h'), [public, r'emu/.*'], 'emu knows nothing above it')
n += allow(files('emu/oracle/*'), [r'halfulp/(format|mode|number|status|oracle)\.h', r'emu/oracle/.*'],
           'the oracle shares nothing with the emulator')
n += allow(files('gpu/*'), [public, core, r'emu/(narrow|lanes|shared|scaled_plan)\.h', r'gpu/.*', r'cuda.*', r'cublas.*', r'bench/.*',
                           r'train/(engine|kernels\w*)\.h'],
           'the kernels of one backend never reach into the other')
n += allow(files('cli/*'), [public, r'cli/.*', r'files/.*'], 'the command uses public headers only')
n += allow(files('train/*'), [public, r'train/.*', r'files/.*', r'emu/(float_env|port)\.h'],
           'training uses public headers, and what sets the floating-point environment')
n += allow(files('files/*'), [r'files/.*'], 'file formats know nothing of the library')
n += allow(files('bench/*'), [public, r'bench/.*'], 'benchmarks use public headers only')
for path in files('emu/**/*.[ch]', 'cli/*.[ch]', 'include/halfulp/*.h', 'formats/*.[ch]'):
    for name in include.findall(path.read_text()):
        if name.startswith('cuda'):
            bad.append(f'{path.relative_to(root)}: CUDA headers belong under gpu/')

# The integer core, compiled whole, must hold no floating-point or vector instruction.
text = '\n'.join([
    '#include "emu/core/scaled_sum.h"', '#include "emu/core/scaled.h"', '#include "emu/core/s2fp8_table.h"', '#include "emu/core/hadamard.h"',
    '#include "emu/core/number.h"', '#include "emu/core/arith.h"', '#include "emu/core/round.h"', '#include "emu/core/stream.h"',
    'uint32_t t1(const hu_spec *s, uint64_t u, uint32_t r, uint32_t *e) { return hu_round(s, hu_unpack64(u), r, e); }',
    'uint32_t t2(const hu_spec *s, uint32_t u, uint32_t r, uint32_t *e) { return hu_round(s, hu_unpack32(u), r, e); }',
    'uint64_t t3(const hu_spec *s, uint32_t c) { return hu_pack64(hu_unpack(s, c)); }',
    'uint32_t t4(const hu_spec *s, uint32_t c) { return hu_pack32(hu_unpack(s, c)); }',
    'uint32_t t5(uint64_t k, uint64_t c) { return hu_stream_at(k, c); }',
    'void t6(hu_spec *s, hu_format f, hu_mode m) { *s = hu_spec_of(f, m); }',
    'hu_num t7(hu_num a, hu_num b, hu_num c, uint32_t *e) { return hu_exact_fma(a, b, c, 0, e); }',
    'hu_num t8(hu_num a, hu_num b, uint32_t *e) { return hu_exact_div(a, hu_exact_sqrt(b, e), e); }',
    'uint32_t t9(const hu_spec *s, uint32_t c, uint32_t *e) { return hu_round_to_integral_code(s, c, 0, e); }',
    'uint32_t t10(const hu_spec *s, uint32_t c) { return hu_next_code(s, c, 0) + hu_class_of(s, c); }',
    'hu_num t11(const hu_accum_plan *p, const hu_lines *in, uint64_t n, hu_num c, hu_draw *d) {',
    '  return hu_accum_sum(p, in, n, c, d);',
    '}',
    'hu_shared t12(const hu_scaler *s, uint32_t a) { return hu_shared_of(s, a, 0); }',
    'uint32_t t13(const hu_scaler *s, const hu_shared *b, uint32_t u, uint32_t r, uint32_t *e) {',
    '  return hu_scaled_value(s, b, hu_scaled_element(s, b, u, r, e));',
    '}',
    'uint32_t t14(const hu_number_spec *s, const hu_number_spec *t, uint32_t c, uint32_t r, uint32_t *e) {',
    '  return hu_number_round(s, hu_number_unpack(t, c), r, e);',
    '}',
    'uint64_t t15(const hu_number_spec *s, uint32_t c) { return hu_quantity_pack64(hu_number_unpack(s, c)); }',
    'void t16(uint32_t *u, uint32_t n) { hu_hadamard_block(u, n, hu_hadamard_factor(n, 0, 0)); }',
    'void t17(hu_s2_table *z, const hu_s2 *t, uint32_t i) { hu_s2_fill_entry(z, t, i); }',
    'uint32_t t18(const hu_s2_search *s, uint32_t u, uint32_t *e) { return hu_s2_found(s, u, e); }', ''])
words = re.compile(r'\b(float|double|long double|fma|log2|frexp|ldexp)\b')
for name in ['core.h', 'stream.h', 'arith.h', 'accum.h', 'accum_num.h', 'accum_wide.h', 'accum_plan.h',
             'accum_block.h', 'dot_last.h', 'big.h', 'function_exact.h', 'function_series.h', 'function_values.h', 'scaled.h',
             'scaled_sum.h', 'hadamard.h', 'number.h', 'number_log.h', 's2fp8.h', 's2fp8_log.h', 's2fp8_table.h']:
    path = root / 'emu' / name
    if path.exists():
        code = re.sub(r'/\*.*?\*/', '', path.read_text(), flags=re.S)
        for word in words.findall(code):
            bad.append(f'emu/{name}: the word {word} in the integer core')
with tempfile.TemporaryDirectory() as folder:
    source, assembly = pathlib.Path(folder) / 't.c', pathlib.Path(folder) / 't.s'
    source.write_text(text)
    subprocess.run([compiler, '-std=c11', '-O2', '-fno-tree-vectorize', '-ffp-contract=off', f'-I{root}',
                    f'-I{root}/include', '-S', str(source), '-o', str(assembly)], check=True)
    lines = assembly.read_text().splitlines()
    # Whole-register moves copy structs; arithmetic and conversions are what must not be there.
    arithmetic = re.compile(r'^\s+v?(add|sub|mul|div|sqrt|cvt\w*|fmadd\w*|ucomi|comi|max|min|round)[sp][sd]\b'
                            r'|^\s+f(m?add|sub|mul|div|sqrt|ld|cvt)|^\s+[su]cvtf')
    found = [line.strip() for line in lines if arithmetic.match(line)]
    if found:
        bad.append('emu/core/round.h: floating-point instructions: ' + '; '.join(found[:4]))
    if len(lines) < 200:
        bad.append('emu/core/round.h: too little code came out to have been checked')

# How long a line may be, by the end of the file's name; the first that fits.
LONGEST = [(('.c', '.h', '.cu', '.cuh', '.cpp', '.hpp'), 120), (('.sv', '.svh'), 130), (('.py',), 160)]
# Folders of one machine and words of the workshop; put together, so that this line is no finding.
elsewhere = re.compile('/(?:ho' + 'me|ro' + 'ot|wo' + 'rk|Us' + 'ers)/' + r'|\b(?:[Ss]ess' + r'ions?|assist' + r'ants?|work' + r'trees?|LL' + r'Ms?)\b')
code_files = list(files(*(f'*/**/*.{end}' for end in ('c', 'h', 'cu', 'cuh', 'cpp', 'hpp', 'py', 'sv', 'svh', 'sh')), '**/meson.build'))
for path in code_files:
    text = path.read_text()
    name = path.relative_to(root)
    lines = text.split('\n')
    if 'SPDX-License-Identifier: MIT' not in lines[1 if lines[0].startswith('#!') and len(lines) > 1 else 0]:
        bad.append(f'{name}: no SPDX line on top')
    if '\t' in text:
        bad.append(f'{name}: a tab')
    if re.search(r'[ ]+$', text, re.M):
        bad.append(f'{name}: blanks at the end of a line')
    longest = next((most for ends, most in LONGEST if path.suffix in ends), None)
    if longest and max(map(len, lines)) > longest:
        bad.append(f'{name}: a line of more than {longest} characters')
    if elsewhere.search(text):
        bad.append(f'{name}: {elsewhere.search(text)[0]}: no folder of one machine, no word about how the work was done')
    if text and not text.endswith('\n'):
        bad.append(f'{name}: no newline at the end')
if n < 100 or len(code_files) < 50:
    bad.append(f'only {n} includes in {len(code_files)} files were seen')

for line in bad:
    print(line)
print(f'{n} includes, {len(code_files)} files: {len(bad)} against the rules')
sys.exit(1 if bad else 0)
