#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Descriptions of the packages: every one names the version of include/halfulp/status.h and the licence, options that
recipes give to Meson are options, and each is well formed as far as a reader for it is found here (rattler-build,
cffconvert, nix-instantiate, ruby, shells).

usage: test_texts.py ROOT [TOOLS]        TOOLS: a folder with programs of tests/packaging/requirements.txt"""
import ast
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RECIPES = ('debian/rules', 'packaging/conda-forge/recipe.yaml', 'packaging/spack/packages/halfulp/package.py',
           'packaging/vcpkg/halfulp/portfile.cmake', 'packaging/homebrew/halfulp.rb', 'packaging/nix/default.nix', 'pyproject.toml',
           'scripts/packages/wheels.sh')
VERSIONS = {
    'CITATION.cff': r'^version: (\S+)$',
    'debian/changelog': r'\Ahalfulp \(([\d.]+)\)',
    'packaging/conda-forge/recipe.yaml': r'^  version: "(.*)"$',
    'packaging/vcpkg/halfulp/vcpkg.json': r'"version-semver": "(.*)"',
    'packaging/nix/default.nix': r'version = "(.*)";',
    'python/halfulp/__init__.py': r"^__version__ = '(.*)'$",
}
MESON_OWN = {'b_ndebug', 'optimization', 'c_link_args'}


def check(root, tools):
    """Complaints about the tree, and readers that were not found."""
    said, absent = [], []

    def text(name):
        return (root / name).read_text(encoding='utf-8')

    version = re.search(r'VERSION_STRING "(.*)"', text('include/halfulp/status.h'))[1]
    if not re.fullmatch(r'(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?', version):
        said.append('include/halfulp/status.h: %s is no semantic version' % version)
    for name, pattern in VERSIONS.items():
        found = re.search(pattern, text(name), re.M)
        if not found or found[1] != version:
            said.append('%s: version %s, not %s' % (name, found and found[1], version))
    options = set(re.findall(r"^option\('(\w+)'", text('meson_options.txt'), re.M)) | MESON_OWN
    for name in RECIPES:
        used = re.findall(r'-D(\w+)=', text(name))
        if not used and name != 'packaging/spack/packages/halfulp/package.py':
            said.append(name + ': no option for Meson')
        said += ['%s: Meson has no option %s' % (name, one) for one in sorted(set(used) - options)]
    for name in ('CITATION.cff', *RECIPES[1:3], 'packaging/vcpkg/halfulp/vcpkg.json', *RECIPES[4:7]):
        if not re.search(r'\bMIT\b|lib\.licenses\.mit', text(name)):
            said.append(name + ': no licence')

    package = json.loads(text('packaging/vcpkg/halfulp/vcpkg.json'))
    allowed = {'$schema', 'name', 'version-semver', 'description', 'homepage', 'license', 'supports', 'dependencies', 'features'}
    if set(package) - allowed or not re.fullmatch(r'[a-z0-9]+(-[a-z0-9]+)*', package['name']):
        said.append('packaging/vcpkg/halfulp/vcpkg.json: fields that vcpkg has not, or a wrong name')
    formed = subprocess.run([sys.executable, '-B', str(HERE / 'manifest_form.py'), str(root / 'packaging/vcpkg/halfulp/vcpkg.json')],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if formed.returncode:
        said.append(formed.stdout.strip())
    recipe = ast.parse(text(RECIPES[2]))
    if [node.name for node in recipe.body if isinstance(node, ast.ClassDef)] != ['Halfulp']:
        said.append(RECIPES[2] + ': no class Halfulp')

    def reads(program, name, *command):
        found = shutil.which(program, path=tools) or shutil.which(program)
        if not found:
            absent.append(program)
            return
        with tempfile.TemporaryDirectory() as home:
            done = subprocess.run([found, *command], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  env={'HOME': home, 'PATH': '/usr/bin:/bin', 'NIX_STATE_DIR': home, 'NIX_STORE_DIR': home, 'LC_ALL': 'C.UTF-8'})
        if done.returncode:
            said.append('%s: %s' % (name, done.stdout.strip()))

    read_by_rattler(root, tools, said, absent)
    reads('cffconvert', 'CITATION.cff', '--validate', '-i', 'CITATION.cff')
    reads('nix-instantiate', RECIPES[5], '--parse', RECIPES[5])
    reads('ruby', RECIPES[4], '-c', RECIPES[4])
    for script in ['debian/halfulp.install', *sorted(str(path.relative_to(root)) for path in (root / 'debian/tests').iterdir() if path.name != 'control'),
                   *('scripts/packages/%s.sh' % one for one in ('deb', 'wheels', 'try_wheels', 'reproducible', 'check', 'packaging_lint'))]:
        reads('sh', script, '-n', script)
        if not (root / script).stat().st_mode & 0o100:
            said.append(script + ': cannot be run')
    tests = re.findall(r'^Tests: (\S+)$', text('debian/tests/control'), re.M)
    if sorted(tests) != sorted(path.name for path in (root / 'debian/tests').iterdir() if path.name != 'control'):
        said.append('debian/tests/control: other tests than the files beside it')
    return said, absent


def read_by_rattler(root, tools, said, absent):
    """conda-forge's recipe by rattler-build's own parser, and rendered."""
    python = shutil.which('python3', path=tools) if tools else None
    if not python or subprocess.run([python, '-c', 'import rattler_build'], stderr=subprocess.DEVNULL).returncode:
        absent.append('rattler-build')
        return
    done = subprocess.run([python, str(HERE / 'render_recipe.py'), str(root / RECIPES[1])], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        said.append('%s: %s' % (RECIPES[1], done.stdout.strip().splitlines()[-1]))


def main(root, tools=None):
    root = pathlib.Path(root)
    said, absent = check(root, tools)
    print('\n'.join(said) or 'all well formed' + ('; no reader here for: ' + ', '.join(absent) if absent else ''))
    with tempfile.TemporaryDirectory() as folder:  # must be able to fail
        copy = pathlib.Path(folder) / 'copy'
        for name in {*RECIPES, *VERSIONS, 'meson_options.txt', 'include/halfulp/status.h'}:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, copy / name)
        for name in ('debian', 'scripts'):
            shutil.copytree(root / name, copy / name, dirs_exist_ok=True)
        (copy / 'include/halfulp/status.h').write_text('#define HU_VERSION_STRING "9.8.7"\n')
        manifest = copy / 'packaging/vcpkg/halfulp/vcpkg.json'
        manifest.write_text(manifest.read_text().replace('  "license"', '   "license"'))
        (copy / 'meson_options.txt').write_text("option('cuda', type: 'feature')\n")
        wrong = '\n'.join(check(copy, tools)[0])
        for what in (*(name + ': version' for name in VERSIONS), 'Meson has no option planted', 'vcpkg would write'):
            assert what in wrong, 'not noticed: ' + what
    return 1 if said else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
