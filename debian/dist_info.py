#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dist_info.py FOLDER: writes what pip and importlib.metadata read about the Python package, into
FOLDER/halfulp-VERSION.dist-info."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main(folder):
    version = re.search(r'VERSION_STRING "(.*)"', (ROOT / 'include/halfulp/status.h').read_text())[1]
    project = (ROOT / 'pyproject.toml').read_text()
    field = {name: re.search(r"^%s = '(.*)'$" % name, project, re.M)[1] for name in ('name', 'description', 'requires-python')}
    needs = re.findall(r"'([^']+)'", re.search(r'^dependencies = \[(.*)\]$', project, re.M)[1])
    out = pathlib.Path(folder) / '{}-{}.dist-info'.format(field['name'], version)
    out.mkdir(parents=True, exist_ok=True)
    lines = ['Metadata-Version: 2.1', 'Name: ' + field['name'], 'Version: ' + version, 'Summary: ' + field['description'],
             'License: MIT', 'Requires-Python: ' + field['requires-python']] + ['Requires-Dist: ' + need for need in needs]
    (out / 'METADATA').write_text('\n'.join(lines) + '\n')
    (out / 'INSTALLER').write_text('debian\n')


if __name__ == '__main__':
    main(sys.argv[1])
