#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints 90 for a GPU of compute capability 9.0; nothing where there is no GPU, or no nvcc that runs, to compile for it.
nvcc --version > /dev/null 2>&1 || exit 0
nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2> /dev/null | head -n 1 | tr -dc 0-9
