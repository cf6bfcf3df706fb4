# SPDX-License-Identifier: MIT
"""The test of the pages' blocks can fail: pages with one thing wrong each, and a right one.

usage: test_the_test.py SOURCE_ROOT BUILD_ROOT"""
import os
import pathlib
import subprocess
import sys
import tempfile

source, build = sys.argv[1:3]
# Parts of a page, each of which can stand alone.
GOOD = ['''# A page

<!-- file: a.ini -->
```ini
[run]
seed = 7
```

```sh
test -f a.ini
echo 0.3 | halfulp encode -f float8_e4m3fn
```

<!-- output -->
```text
2a
```

<!-- not run: network -->
```sh
false
```

<!-- long run -->
```sh
exit 7
```

<!-- output -->
```text
nothing
```
''', '''
```c
#include <halfulp/halfulp.h>
int main(void) { return hu_encode(hu_float8_e4m3fn(), (hu_mode){0}, 0.3f, 0, 0) == 0x2a ? 0 : 1; }
```
''', '''
```cpp
#include <halfulp/halfulp.h>
int f() { return static_cast<int>(hu_format_count()); }
```
''', '''
```python
x = 1
```

```python
print(x + 1)
```

<!-- output -->
```text
2
```
''', '''
![A picture](img/plot-x.svg)

```sh
echo drawn > plot-x.svg
```
''']
# (what stands in the good page, what takes its place, what the test then says)
WRONG = [
    ('```text\n2a', '```\n2a', 'a block without a language'),
    ('```text\n2a', '```console\n2a', 'a block of "console"'),
    ('```text\n2a', '\n    indented\n\n```text\n2a', 'a block by indentation'),
    ('not run: network', 'not run: lazy', 'reasons are gpu, root, long, network'),
    ('not run: network', 'network', 'exit code 1'),
    ('long run', 'longer run', 'exit code 7'),
    ('not run: network', 'needs: luck', 'a block can need mpi'),
    ('test -f a.ini', 'test -f b.ini', 'exit code 1'),
    ('\n2a', '\n2b', 'the page says'),
    ('== 0x2a', '== 0x2b', 'exit code 1'),
    ('int main', 'int x = ""; int main', 'exit code 1'),
    ('static_cast<int>', 'static_cast<void *>', 'exit code 1'),
    ('seed = 7', 'seeds = 7', 'exit code 2'),
    ('print(x + 1)', 'print(x + y)', 'exit code 1'),
    ('print(x + 1)', 'print(x + 2)', 'the page says'),
    ('2\n```\n', '2\n', 'unclosed fence'),
    ('echo drawn', 'echo redrawn', 'is not what the page\'s command draws'),
    ('> plot-x.svg', '> plot-y.svg', 'no block of the page draws plot-x.svg'),
]


CUDA = '''# A page

```cuda
__global__ void f() {}
```
'''


def run(text, folder, *more, path=None):
    """What the test of a page with this text says; path: a folder before those of the PATH."""
    env = dict(os.environ, PATH=':'.join(filter(None, (path, os.environ['PATH']))))
    page = pathlib.Path(folder) / 'page.md'
    page.write_text(text)
    done = subprocess.run([sys.executable, '-B', str(pathlib.Path(__file__).with_name('test_blocks.py')), source, build, str(page), *more],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env)
    return done.returncode, done.stdout


with tempfile.TemporaryDirectory() as folder:
    (pathlib.Path(folder) / 'img').mkdir()
    (pathlib.Path(folder) / 'img' / 'plot-x.svg').write_text('drawn\n')
    code, said = run(''.join(GOOD), folder)
    assert code == 0 and '2 output compared' in said and '1 not run: network' in said and '1 for the long run' in said, said
    code, said = run(''.join(GOOD).replace('x = 1', 'import no_such_module'), folder)
    assert code == 77 and 'no_such_module' in said and '1 output compared' in said, said
    code, said = run(GOOD[0], folder, 'all')
    assert code == 1 and 'exit code 7' in said, said
    # An nvcc that does not run is none.
    nvcc = pathlib.Path(folder) / 'nvcc'
    nvcc.write_text('#!/bin/sh\nexit 127\n')
    nvcc.chmod(0o755)
    code, said = run(CUDA, folder, path=folder)
    assert code == 77 and 'no nvcc that runs' in said, said
    for old, new, wanted in WRONG:
        part = next(part for part in (reversed(GOOD) if old.startswith('2\n') else GOOD) if old in part)
        code, said = run(part.replace(old, new, 1), folder)
        assert code == 1 and wanted in said, (old, new, code, said)
print('%d wrong pages refused' % len(WRONG))
