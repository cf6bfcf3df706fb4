#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""examples/identify: an instruction of this processor, or of one that QEMU plays, and the model that is found for it.

usage: test_instruction.py HALFULP COMPILER EXAMPLES PROGRAM
Exit code 77: this processor, or this machine, has no such instruction.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

# For each program: the formats and K, its arguments, and the texts of which one has to be found; presets that equal it.
BOXES = {
    'f16c': [(['--fa', 'binary16', '--k', '8'], [], ('seq(binary32)',), [])],
    # Where tiny results and those that are subnormal after rounding part is seen in two products, by luck in eight.
    'vdpbf16ps': [(['--fa', 'bfloat16', '--k', '2'], [], ('block(chain,l=2,order=down,daz=sign,ftz=tiny)',), ['intel.vdpbf16ps']),
                  (['--fa', 'bfloat16', '--k', '8'], [], ('block(chain,l=2,order=down,daz=sign,ftz=tiny)',
                                                          'block(chain,l=2,order=down,daz=sign,ftz=after)'), ['intel.vdpbf16ps'])],
    'vnni': [(['--fa', 'u8', '--fb', 's8', '--k', '16'], [], ('int32',), ['nv.turing.u8xs8.s32']),
             (['--fa', 'u8', '--fb', 's8', '--k', '16'], ['--saturate'], ('int32(sat,4)',), [])],
    'amx': [(['--fa', 'bfloat16', '--k', '64'], [], None, ['intel.tdpbf16ps']),
            (['--fa', 's8', '--k', '128'], ['--s8'], ('int32',), ['nv.turing.s8.s32'])],
    'bfdot': [(['--fa', 'bfloat16', '--k', '8'], [], None, ['arm.bfdot'])],
}
COMPILE = {'bfdot': ['aarch64-linux-gnu-gcc', '-march=armv8.6-a+bf16', '-static']}
RUN = {'bfdot': ['qemu-aarch64-static', '-cpu', 'max']}


def leave_out(why):
    print(f'skipped: {why}')
    sys.exit(77)


def main(halfulp, compiler, examples, program):
    compile_with = COMPILE.get(program, compiler.split())
    run_with = RUN.get(program, [])
    for tool in compile_with[:1] + run_with[:1]:
        if not shutil.which(tool):
            leave_out(f'{program}: there is no {tool}')
    with tempfile.TemporaryDirectory() as folder:
        box = run_with + [str(pathlib.Path(folder, program))]
        subprocess.run(compile_with + ['-O2', '-Wall', '-Wextra', '-Werror', str(pathlib.Path(examples, program + '.c')),
                                       '-o', box[-1]], check=True)
        if not run_with and subprocess.run(box + ['--has'], check=False).returncode:
            leave_out(f'this processor does not have the instruction of {program}.c')
        for formats, arguments, texts, presets in BOXES[program]:
            command = [halfulp, 'identify', '--json', '--verify', '20000', *formats, '--', *box, *arguments]
            done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
            assert done.returncode == 0, done.returncode
            z = json.loads(done.stdout)
            print(program, *arguments, z['model'], z['presets'], z['verified'])
            assert z['verdict'] == 'found', z
            assert texts is None or z['model'] in texts, z['model']
            assert set(presets) <= set(z['presets']), z['presets']


if __name__ == '__main__':
    main(*sys.argv[1:])
