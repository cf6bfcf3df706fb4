# SPDX-License-Identifier: MIT
"""What this machine has (halfulp/device.h, array.h)."""
from __future__ import annotations

import ctypes
from typing import List, Tuple

from . import _abi as abi


def device_available() -> Tuple[bool, str]:
    """Whether a CUDA device can be used, and its name or why not."""
    try:
        library = abi.cuda()
    except abi.HalfulpDeviceError as error:
        return False, str(error)
    buffer = ctypes.create_string_buffer(256)
    return library.hu_device_available(buffer, len(buffer)) == 0, buffer.value.decode(errors='replace')


def synchronize(cuda_stream: int = 0) -> None:
    """Waits for everything on a CUDA stream (cudaStream_t as an integer; 0: the default one).

    HalfulpValueError (HU_E_CODE): since the last call of this function a call read a code with bits above its format's
    width, on any stream of the device; on a copy on the host the same call names it. HalfulpDeviceError: no device."""
    stream = abi.whole('cuda_stream', cuda_stream, 0, (1 << 64) - 1)
    abi.check(abi.cuda().hu_device_synchronize(stream), 'synchronize')


def levels() -> List[str]:
    """Kernel levels that the library has and this processor can run; results do not depend on them."""
    library = abi.main()
    found = library.hu_levels()
    return [library.hu_level_name(1 << bit).decode() for bit in range(32) if found >> bit & 1]
