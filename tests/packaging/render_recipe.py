# SPDX-License-Identifier: MIT
"""render_recipe.py RECIPE: reads a recipe by rattler-build's parser and renders it; fails unless that gives one package."""
import sys

import rattler_build as rattler

recipe = rattler.Stage0Recipe.from_file(sys.argv[1])
variants = rattler.VariantConfig({'c_stdlib': ['sysroot'], 'c_stdlib_version': ['2.17']})
rendered = recipe.render(variants, rattler.RenderConfig())
assert len(rendered) == 1, rendered
