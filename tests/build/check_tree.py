# SPDX-License-Identifier: MIT
"""The tree's own rules: who may include whom, how many files a folder has, integers only in the core, SPDX lines, line ends.

usage: check_tree.py SOURCE_ROOT CC
"""
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from folders import UPWARD, rules  # noqa: E402

root = pathlib.Path(sys.argv[1])
compiler = sys.argv[2]
bad = []
include = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)


def files(*patterns):
    for pattern in patterns:
        for path in sorted(root.glob(pattern)):
            if path.is_file() and 'build' not in path.relative_to(root).parts[0]:
                yield path


def may(name, allowed):
    if name.startswith(('cuda', 'cublas')):
        return 'cuda' in allowed
    return name in allowed or name.rpartition('/')[0] + '/*' in allowed


tops = ('halfulp/', 'emu/', 'gpu/', 'cli/', 'train/', 'mpi/', 'files/', 'layouts/', 'tests/', 'bench/', 'formats/', 'cuda', 'cublas')
table, seen, n = rules(), dict.fromkeys(rules(), 0), 0
for path in files('include/halfulp/**/*.h', 'formats/*.[ch]', 'files/*.[ch]', 'layouts/**/*.[ch]', 'bench/*.[ch]', 'emu/**/*.[ch]', 'train/**/*.[ch]',
                  'cli/**/*.[ch]', 'mpi/*.[ch]', 'gpu/**/*.[ch]', 'gpu/**/*.cu', 'gpu/**/*.cuh', 'gpu/**/*.cpp'):
    name = path.relative_to(root).as_posix()
    folder = name.rpartition('/')[0]
    if folder.startswith('include/halfulp/core'):
        continue  # the same files as emu/core
    if folder not in table:
        bad.append(f'{name}: {folder} has no line in the table of who may include whom')
        continue
    seen[folder] += 1
    for used in include.findall(path.read_text()):
        beside = folder.removeprefix('include/') if '/' not in used else ''
        used = f'{beside}/{used}' if beside and (path.parent / used).exists() else used
        n += 1
        if used.startswith(tops) and not may(used, table[folder] + UPWARD.get(name, [])):
            bad.append(f'{name}: includes {used}: not to the left of it in the order of the folders')
for folder, count in seen.items():
    if count == 0 and not (folder == 'include/halfulp/formats'):
        bad.append(f'{folder}: the table has a line for it, and no file was seen there')
for name, used in UPWARD.items():
    for one in used:
        if not (root / name).exists() or one not in include.findall((root / name).read_text()):
            bad.append(f'{name}: no longer includes {one}: take it out of UPWARD')

# A folder that can be seen at a glance, and that says what it is.
MOST = 32
folders = [folder for top in ('emu', 'gpu', 'train', 'cli', 'mpi', 'python/halfulp')
           for folder in sorted([root / top, *(root / top).rglob('*')]) if folder.is_dir() and folder.name != '__pycache__']
for folder in folders:
    name = folder.relative_to(root).as_posix()
    sources = [path for path in folder.iterdir() if path.suffix in ('.c', '.h', '.cu', '.cuh', '.py')]
    if len(sources) > MOST:
        bad.append(f'{name}: {len(sources)} source files, more than {MOST}: move a subject to a folder of its own')
    if name.startswith('python/'):
        continue
    lists = folder / 'meson.build'
    if not lists.exists() or not re.match(r'# SPDX.*\n# [A-Za-z].*[a-z]', lists.read_text()):
        bad.append(f'{name}: its meson.build does not begin with the sentence that says what the folder is')
for folder in {path.parent for path in files('tests/**/*')}:
    held = [path for path in folder.iterdir() if path.is_file()]
    if len(held) > MOST + 1 and 'golden' not in folder.parts:  # and a list of tests
        bad.append(f'{folder.relative_to(root)}: {len(held)} files, more than {MOST + 1}: move a subject to a folder of its own')
if len(folders) < 50:
    bad.append(f'only {len(folders)} folders were seen')

# The product is built without tests/, and its tests alone know that folder: the top list enters it, no other list names it.
lists = [root / 'meson.build'] + [path for path in files('*/**/meson.build') if path.relative_to(root).parts[0] != 'tests']
for path in lists:
    text = re.sub(r'#.*', '', path.read_text())
    if path.parent == root:
        text = re.sub(r"(?:subdir|get_option)\('tests'\)", '', text)
    for name in re.findall(r"'((?:\.\./)*tests(?:/[^']*)?)'", text):
        bad.append(f'{path.relative_to(root)}: names {name}: no target and no data of the product come from tests/')
if len(lists) < 50:
    bad.append(f'only {len(lists)} meson.build beside those of tests/ were seen')

# The integer core, compiled whole, must hold no floating-point or vector instruction.
core = list(files('emu/core/*.h'))
text = '\n'.join([f'#include "emu/core/{path.name}"' for path in core] + [
    'uint32_t t1(const hu_spec *s, uint64_t u, uint32_t r, uint32_t *e) { return hui_round(s, hui_unpack64(u), r, e); }',
    'uint32_t t2(const hu_spec *s, uint32_t u, uint32_t r, uint32_t *e) { return hui_round(s, hui_unpack32(u), r, e); }',
    'uint64_t t3(const hu_spec *s, uint32_t c) { return hui_pack64(hui_unpack(s, c)); }',
    'uint32_t t4(const hu_spec *s, uint32_t c) { return hui_pack32(hui_unpack(s, c)); }',
    'uint32_t t5(uint64_t k, uint64_t c) { return hui_stream_at(k, c); }',
    'void t6(hu_spec *s, hu_format f, hu_mode m) { *s = hui_spec_of(f, m); }',
    'hu_num t7(hu_num a, hu_num b, hu_num c, uint32_t *e) { return hui_exact_fma(a, b, c, 0, e); }',
    'hu_num t8(hu_num a, hu_num b, uint32_t *e) { return hui_exact_div(a, hui_exact_sqrt(b, e), e); }',
    'uint32_t t9(const hu_spec *s, uint32_t c, uint32_t *e) { return hui_round_to_integral_code(s, c, 0, e); }',
    'uint32_t t10(const hu_spec *s, uint32_t c) { return hui_next_code(s, c, 0) + hui_class_of(s, c); }',
    'hu_num t11(const hu_accum_plan *p, const hu_lines *in, uint64_t n, hu_num c, hu_draw *d) {',
    '  return hui_accum_sum(p, in, n, c, d);',
    '}',
    'hu_shared t12(const hu_scaler *s, uint32_t a) { return hui_shared_of(s, a, 0); }',
    'uint32_t t13(const hu_scaler *s, const hu_shared *b, uint32_t u, uint32_t r, uint32_t *e) {',
    '  return hui_scaled_value(s, b, hui_scaled_element(s, b, u, r, e));',
    '}',
    'uint32_t t14(const hu_number_spec *s, const hu_number_spec *t, uint32_t c, uint32_t r, uint32_t *e) {',
    '  return hui_number_round(s, hui_number_unpack(t, c), r, e);',
    '}',
    'uint64_t t15(const hu_number_spec *s, uint32_t c) { return hui_quantity_pack64(hui_number_unpack(s, c)); }',
    'void t16(uint32_t *u, uint32_t n) { hui_hadamard_block(u, n, hui_hadamard_factor(n, 0, 0)); }',
    'void t17(hu_s2_table *z, const hu_s2 *t, uint32_t i) { hui_s2_fill_entry(z, t, i); }',
    'uint32_t t18(const hu_s2_search *s, uint32_t u, uint32_t *e) { return hui_s2_found(s, u, e); }', ''])
words = re.compile(r'\b(float|double|long double|fma|log2|frexp|ldexp)\b')
for path in core:
    code = re.sub(r'/\*.*?\*/', '', path.read_text(), flags=re.S)
    for word in words.findall(code) if path.name != 'bits.h' else []:  # which takes patterns out of floats and puts them in
        bad.append(f'emu/core/{path.name}: the word {word} in the integer core')
if len(core) < 20 or list(files('emu/core/*.c')):
    bad.append('emu/core: headers alone, and they are to be seen')
with tempfile.TemporaryDirectory() as folder:
    source, assembly = pathlib.Path(folder) / 't.c', pathlib.Path(folder) / 't.s'
    source.write_text(text)
    subprocess.run([compiler, '-std=c11', '-O1', '-fno-tree-vectorize', '-ffp-contract=off', f'-I{root}',
                    f'-I{root}/include', '-S', str(source), '-o', str(assembly)], check=True)
    lines = assembly.read_text().splitlines()
    # Whole-register moves copy structs; arithmetic and conversions are what must not be there.
    arithmetic = re.compile(r'^\s+v?(add|sub|mul|div|sqrt|cvt\w*|fmadd\w*|ucomi|comi|max|min|round)[sp][sd]\b'
                            r'|^\s+f(m?add|sub|mul|div|sqrt|ld|cvt)|^\s+[su]cvtf')
    found = [line.strip() for line in lines if arithmetic.match(line)]
    if found:
        bad.append('emu/core: floating-point instructions: ' + '; '.join(found[:4]))
    if len(lines) < 200:
        bad.append('emu/core: too little code came out to have been checked')

# How long a line may be, by the end of the file's name; the first that fits.
LONGEST = [(('.c', '.h', '.cu', '.cuh', '.cpp', '.hpp'), 120), (('.sv', '.svh'), 130), (('.py', '.build'), 160)]
# Folders of one machine and words of the workshop; put together, so that this line is no finding.
elsewhere = re.compile('/(?:ho' + 'me|ro' + 'ot|wo' + 'rk|Us' + 'ers)/' + r'|\b(?:[Ss]ess' + r'ions?|assist' + r'ants?|work' + r'trees?|LL' + r'Ms?)\b')
code_files = [root / 'meson.build', *files(*(f'*/**/*.{end}' for end in ('c', 'h', 'cu', 'cuh', 'cpp', 'hpp', 'py', 'sv', 'svh', 'sh')), '*/**/meson.build')]
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
