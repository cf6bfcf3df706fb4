#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""installed_targets.py BUILD: the files of a Meson build folder that get installed, which is what a package has to build."""
import json
import pathlib
import sys

build = pathlib.Path(sys.argv[1]).resolve()
plan = json.loads((build / 'meson-info/intro-install_plan.json').read_text())
made = (pathlib.Path(path).relative_to(build) for path in plan.get('targets', {}))
print(' '.join(sorted({str(path) for path in made})))
