# SPDX-License-Identifier: MIT
"""manifest_form.py VCPKG_JSON: fails unless the manifest has the form that `vcpkg format-manifest` gives it: keys in its order,
dependencies by name, two blanks of indentation."""
import json
import pathlib
import sys

ORDER = ['$schema', 'name', 'version', 'version-semver', 'version-date', 'version-string', 'port-version', 'maintainers', 'description',
         'homepage', 'documentation', 'license', 'supports', 'dependencies', 'default-features', 'features', 'host']


def name_of(dependency):
    return dependency if isinstance(dependency, str) else dependency['name']


def formed(thing):
    """The same with keys and dependencies in order; names of features as they are by name."""
    made = {key: thing[key] for key in sorted(thing, key=ORDER.index)}
    if 'dependencies' in made:
        made['dependencies'] = [one if isinstance(one, str) else formed(one) for one in sorted(made['dependencies'], key=name_of)]
    if 'features' in made:
        made['features'] = {name: formed(made['features'][name]) for name in sorted(made['features'])}
    return made


def main(path):
    text = pathlib.Path(path).read_text(encoding='utf-8')
    wanted = json.dumps(formed(json.loads(text)), indent=2) + '\n'
    if text != wanted:
        sys.exit('%s: vcpkg would write\n%s' % (path, wanted))


if __name__ == '__main__':
    main(sys.argv[1])
