# SPDX-License-Identifier: MIT
"""Builds and runs the cocotb tests: python run.py [SIMULATOR [BUG]]. Icarus Verilog 11 and later, Verilator 5.036 and later.
The unit is that of examples/rtl: copy that folder along, beside this one."""
import os
import pathlib
import sys

from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

here = pathlib.Path(__file__).resolve().parent
simulator = sys.argv[1] if len(sys.argv) > 1 else 'icarus'
bug = sys.argv[2] if len(sys.argv) > 2 else '0'
build = pathlib.Path(os.environ.get('BUILD', 'sim_build')).resolve() / f'{simulator}_{bug}'
unit = here.parent / 'rtl' / 'fp8_dot.sv'
if not unit.exists():
    sys.exit(f'{unit}: no such file; copy examples/rtl along, beside this folder')
runner = get_runner(simulator)
runner.build(sources=[unit], hdl_toplevel='fp8_dot', parameters={'BUG': bug}, build_dir=build,
             build_args=['-g2012'] if simulator == 'icarus' else [], timescale=('1ns', '1ps'))
results = runner.test(hdl_toplevel='fp8_dot', test_module='test_fp8_dot', build_dir=build, test_dir=here, results_xml=str(build / 'results.xml'))
tests, failed = get_results(results)
print(f'{tests} tests, {failed} failed')
sys.exit(failed != 0)
