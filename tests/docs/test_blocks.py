# SPDX-License-Identifier: MIT
"""The blocks of one page, compiled and run against an installed copy: test_blocks.py SOURCE_ROOT BUILD_ROOT PAGE [all]

A fenced block's language says what becomes of it (CONTRIBUTING.md has the same list for writers):

    c, cpp        a whole translation unit: compiled as C11, C++17 with the warnings on, run where it has a main
    cuda          the same by nvcc, not run
    python        all of the page in order are one script
    sh            all of the page in order are one script of `sh -e` in an empty folder that has data/ and examples/
    systemverilog linted by verilator
    ini           a configuration of `halfulp train`: two steps of it
    text          output, formulas, grammars: nothing

A comment in the line before a fence: `<!-- file: NAME -->` puts the block into the folder of the sh blocks under that name,
`<!-- not run: REASON -->` leaves it out; reasons: gpu, root, long, network. `<!-- needs: mpi -->` leaves it out where there is no
mpirun or no halfulp-mpi. `<!-- long run -->`: with `all` alone, which `make check-exhaustive` has; other tests cover what such a
block does. Before a text block `<!-- output -->`: what the block before it prints, to the letter; a line of three points stands
for any lines. A picture img/plot-NAME.svg is what an sh block draws into plot-NAME.svg, byte for byte. Any other language, a
block without one, and a block by indentation fail. Exit code 77, after all else was done, where a tool or a Python module is
missing."""
import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
source, build, page = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
sys.path[:0] = [str(source / 'docs' / 'site'), str(source / 'tests' / 'examples')]
import pages   # noqa: E402
import shell   # noqa: E402
import staged  # noqa: E402

REASONS = ('gpu', 'root', 'long', 'network', 'cluster')
# Programs that a block says it needs.
NEEDS = {'mpi': ('mpirun', 'mpicc', 'halfulp-mpi')}
# Open MPI refuses root and more processes than cores unless asked; other launchers do not read these.
MPI = {'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1', 'OMPI_MCA_rmaps_base_oversubscribe': '1',
       'OMPI_MCA_plm': 'isolated', 'OMPI_MCA_btl_vader_single_copy_mechanism': 'none'}
# Commands of sh blocks that a machine may lack.
TOOLS = ('verilator', 'iverilog', 'cmake', 'nvcc', 'doxygen')
# Benches of Verilator are one file of C++ without optimisation, which is compiled soonest. A cache of compiled files, if there is one,
# has Verilator's own files from the test of examples/dpi (hardware.py).
VERILATED = {'MAKEFLAGS': ' -- VM_PARALLEL_BUILDS=0 OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0'}
if shutil.which('ccache'):
    VERILATED['OBJCACHE'] = 'ccache'
# peft imports transformer_engine where it is there, and tests have a package of that name whose import fails.
WITHOUT = 'import sys; sys.modules["transformer_engine"] = None\n'
LANGUAGES = ('c', 'cpp', 'cuda', 'python', 'sh', 'systemverilog', 'ini', 'text')
# What a unit that includes a header links; libhalfulp comes with each of them.
LIBRARIES = [('halfulp-train-cuda', r'halfulp/train/device\.h'), ('halfulp-train', r'halfulp/train[/.]'),
             ('halfulp-cuda', r'halfulp/device'), ('halfulp-oracle', r'halfulp/oracle\.h'), ('halfulp', '')]


class Failed(Exception):
    pass


class Page:
    def __init__(self, folder):
        self.folder = folder
        self.copy = staged.Staged(build)
        # The package as it stands in the source, with the installed libraries.
        self.env = self.copy.environment(PYTHONPATH=str(source / 'python'), HALFULP_LIBRARY=str(self.copy.libdir), MPLBACKEND='Agg',
                                         PYTHONDONTWRITEBYTECODE='1', **MPI, **VERILATED)
        self.seen = collections.Counter()
        self.absent = []
        self.left = set()  # lines of blocks for the long run
        self.printed = {}
        shutil.copytree(source / 'examples', folder / 'examples', ignore=shutil.ignore_patterns('build*', '*.run', '*.sweep'))
        (folder / 'data').symlink_to(source / 'data')

    def call(self, what, command, text=None, **more):
        done = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder,
                              env=self.env, **more)
        if done.returncode:
            said = done.stdout[-4000:] + done.stderr[-4000:]
            raise Failed('%s: exit code %d\n%s\n%s' % (what, done.returncode, text or ' '.join(command), said))
        return done.stdout

    def flags(self, text):
        module = next(name for name, pattern in LIBRARIES if re.search(r'#include [<"]' + pattern, text) or not pattern)
        return self.call('pkg-config', ['pkg-config', '--cflags', '--libs', module]).split()

    def compile(self, block, suffix, *compiler):
        name = self.folder / ('block%d%s' % (block.line, suffix))
        name.write_text(block.text)
        whole = re.search(r'\bmain\s*\(', block.text)
        target = ['-o', str(name) + '.run'] if whole else ['-c', '-o', str(name) + '.o']
        self.call('line %d' % block.line, [*compiler, str(name), *target, *self.flags(block.text)])
        if whole:
            self.printed[block.line] = self.call('line %d' % block.line, [str(name) + '.run'])

    def c(self, block):
        self.compile(block, '.c', 'cc', '-std=c11', '-Wall', '-Wextra', '-Werror')

    def cpp(self, block):
        self.compile(block, '.cpp', 'c++', '-std=c++17', '-Wall', '-Wextra', '-Werror')

    def lacks(self, what, tool):
        """Whether the tool is missing; the page's test then exits with 77 once all else was done."""
        if shell.here(tool, path=self.env['PATH']):
            return False
        self.absent.append('%s: no %s%s' % (what, tool, ' that runs' if tool == 'nvcc' else ''))
        return True

    def cuda(self, block):
        if self.lacks('line %d' % block.line, 'nvcc'):
            return
        name = self.folder / ('block%d.cu' % block.line)
        name.write_text(block.text)
        words = [w for w in self.flags(block.text) if w != '-pthread' and not w.startswith('-Wl,')]
        self.call('line %d' % block.line, ['nvcc', '-std=c++17', '-c', str(name), '-o', str(name) + '.o', *words])

    def systemverilog(self, block):
        if self.lacks('line %d' % block.line, 'verilator'):
            return
        name = self.folder / ('block%d.sv' % block.line)
        name.write_text(block.text)
        packages = [str(p) for p in sorted(self.copy.prefix.rglob('*.sv'))]
        self.call('line %d' % block.line, ['verilator', '--lint-only', '--timing', '-Wno-MULTITOP', '-Wno-DECLFILENAME', *packages, str(name)])

    def ini(self, block):
        name = self.folder / ('block%d.ini' % block.line)
        name.write_text(block.text)
        self.call('line %d' % block.line, ['halfulp', 'train', str(name), '--data', 'data', '--set', 'run.steps=2', '--output',
                                           str(name) + '.out'])

    def sh(self, blocks):
        text = ''.join("printf '\\n@@%d\\n'\n%s" % (b.line, b.text) for b in blocks)
        tools = sorted(set(re.findall(r'(?m)(?:^|[;&|] *)(%s)\b' % '|'.join(TOOLS), text)))
        ready = not any([self.lacks('sh blocks', tool) for tool in tools])
        if re.search(r'\bpython3?\b', text):
            ready = self.name_python(self.interpreter('sh blocks', self.of_scripts(text))) and ready
        if ready:
            self.shown(self.call('sh blocks', ['sh', '-e'], text))

    def name_python(self, python):
        """So that a script finds it as python and python3."""
        names = self.folder.parent / (self.folder.name + '.bin')
        names.mkdir()
        for name in ('python', 'python3'):
            (names / name).write_text('#!/bin/sh\nexec "%s" "$@"\n' % python)
            (names / name).chmod(0o755)
        self.env['PATH'] = str(names) + ':' + self.env['PATH']
        return python

    def of_scripts(self, text):
        """What the Python files that a script calls import."""
        files = [self.folder / name for name in re.findall(r'[\w./-]+\.py\b', text)]
        return sorted({m for f in files if f.is_file() for m in re.findall(r'(?m)^(?:import|from) +(\w+)', f.read_text())})

    def python(self, blocks):
        text = WITHOUT if any('import peft' in b.text for b in blocks) else ''
        text += ''.join("print('\\n@@%d', flush=True)\n%s" % (b.line, b.text) for b in blocks)
        name = self.folder / 'page.py'
        name.write_text(text)
        python = self.interpreter('python blocks', sorted(set(re.findall(r'(?m)^(?:import|from) +(\w+)', text))))
        if python:
            self.shown(self.call('python blocks', [str(python), '-B', str(name)]))

    def interpreter(self, what, modules):
        """The first Python that has these modules: the one that runs this, or that of scripts/python_env.sh."""
        look = 'import importlib.util, sys; print(*[m for m in sys.argv[1:] if not importlib.util.find_spec(m)])'
        make = source / 'scripts' / 'python_env.sh'
        for python in (pathlib.Path(sys.executable), build / 'venv' / 'bin' / 'python'):
            if python != pathlib.Path(sys.executable) and make.exists():
                made = subprocess.run([str(make), str(build)])
                if made.returncode not in (0, 77):
                    raise Failed('%s: %s failed' % (what, make))
            if python.exists():
                missing = self.call(what, [str(python), '-c', look, *modules]).split()
                if not missing:
                    return python
        self.absent.append('%s: no Python here has %s' % (what, ', '.join(missing)))
        return None

    def shown(self, printed):
        """What the blocks of a script printed, by their lines."""
        parts = re.split(r'(?m)^@@(\d+)\n', printed)
        for line, text in zip(parts[1::2], parts[2::2]):
            self.printed[int(line)] = text

    def run(self, blocks):
        """Blocks of languages that make one script come first: others may read what they leave."""
        scripts = collections.defaultdict(list)
        single, before, expected = [], None, []
        for block in blocks:
            self.look_at(block, scripts, single)
            if block.comment == 'output':
                expected.append((before, block))
            before = block
        for language in ('sh', 'python'):
            if scripts[language]:
                getattr(self, language)(scripts[language])
        for block in single:
            getattr(self, block.language)(block)
        for before, block in expected:
            if not self.absent or before and before.line in self.printed:
                self.compare(before, block)

    def pictures(self, text):
        """A picture img/plot-NAME.svg is what a command of the page draws into plot-NAME.svg."""
        for picture in sorted(set(re.findall(r'!\[[^\]]*\]\(([\w./-]*img/plot-[\w-]+\.svg)\)', text))):
            shown, drawn = (source / page).parent / picture, self.folder / pathlib.Path(picture).name
            if not drawn.is_file():
                raise Failed('%s: no block of the page draws %s' % (picture, drawn.name))
            if shown.read_bytes() != drawn.read_bytes():
                raise Failed('%s is not what the page\'s command draws into %s' % (picture, drawn.name))
            self.seen['pictures drawn'] += 1

    def compare(self, before, block):
        if before and before.line in self.left and block.language == 'text':
            return
        if block.language != 'text' or not before or before.line not in self.printed:
            raise Failed('line %d: output of what? No block before it was run' % block.line)
        lines = [r'(?:.*\n)*?' if line == '...' else re.escape(line.rstrip()) + r'[ ]*\n' for line in block.text.rstrip('\n').split('\n')]
        printed = re.sub(r'[ ]+\n', '\n', self.printed[before.line].strip('\n') + '\n')
        if not re.fullmatch(''.join(lines), printed):
            raise Failed('line %d: the page says\n%s\nand it is\n%s' % (block.line, block.text, printed))
        self.seen['output compared'] += 1

    def look_at(self, block, scripts, single):
        reason = re.fullmatch(r'not run: (\w+)', block.comment)
        file = re.fullmatch(r'file: ([\w./-]+)', block.comment)
        needs = re.fullmatch(r'needs: (\w+)', block.comment)
        if block.language not in LANGUAGES:
            raise Failed('line %d: %s' % (block.line, 'a block of "%s"' % block.language if block.language else 'a block without a language'))
        if block.comment.startswith('not run') and (not reason or reason[1] not in REASONS):
            raise Failed('line %d: "%s": reasons are %s' % (block.line, block.comment, ', '.join(REASONS)))
        if block.comment.startswith('needs') and (not needs or needs[1] not in NEEDS):
            raise Failed('line %d: "%s": a block can need %s' % (block.line, block.comment, ', '.join(NEEDS)))
        if file:
            (self.folder / file[1]).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / file[1]).write_text(block.text)
        if reason:
            self.seen['not run: ' + reason[1]] += 1
            return
        if block.comment == 'long run' and sys.argv[4:] != ['all']:
            self.seen['for the long run'] += 1
            self.left.add(block.line)
            return
        if needs and any([self.lacks('line %d' % block.line, program) for program in NEEDS[needs[1]]]):
            return
        self.seen[block.language] += 1
        if block.language in ('sh', 'python'):
            scripts[block.language].append(block)
        elif block.language != 'text':
            single.append(block)


def main():
    text = (source / page).read_text(encoding='utf-8')
    indented = list(pages.indented_blocks(text))
    if indented:
        raise Failed('line %d: a block by indentation; fence it and name its language' % indented[0])
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / 'page').mkdir()
        one = Page(pathlib.Path(folder) / 'page')
        one.run(pages.blocks(text))
        if not one.absent:
            one.pictures(text)
        print('%s: %s' % (page, ', '.join('%d %s' % (n, what) for what, n in sorted(one.seen.items())) or 'no blocks'))
        for line in one.absent:
            print('%s: %s' % (page, line))
        sys.exit(77 if one.absent else 0)


if __name__ == '__main__':
    try:
        main()
    except Failed as e:
        sys.exit('%s: %s' % (page, e))
