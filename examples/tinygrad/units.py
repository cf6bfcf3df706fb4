# SPDX-License-Identifier: MIT
"""tinygrad's device PYTHON runs tensor cores instruction by instruction, and adds their products in binary64. After
use(NAME) they are added as the matrix unit NAME of `halfulp models` adds them: D = A B + C of each instruction is one
product of matrices. Which element stands in which lane of the warp, tinygrad's own functions still say."""
import numpy as np
import halfulp
from tinygrad.runtime import ops_python


def use(unit: str) -> None:
    def instruction(inp, warp_size, threads, K, _a, _b, num_c, a_elem, b_elem, c_map):
        places = [(elem, lane, *c_map(lane, elem)) for elem in range(num_c) for lane in range(threads)]
        cols, rows = (1 + max(place[i] for place in places) for i in (2, 3))
        out = [list(lanes) for lanes in inp[2]]
        for warp in range(0, warp_size, threads):
            a = np.array([[a_elem(inp[0], k, row, warp) for k in range(K)] for row in range(rows)], np.float32)
            b = np.array([[b_elem(inp[1], col, k, warp) for col in range(cols)] for k in range(K)], np.float32)
            c = np.zeros((rows, cols), np.float32)
            for elem, lane, col, row in places: c[row, col] = out[elem][warp + lane]
            d = halfulp.gemm(a, b, c, accum=unit)
            for elem, lane, col, row in places: out[elem][warp + lane] = float(d[row, col])
        return out
    ops_python.generic_wmma_helper = instruction
