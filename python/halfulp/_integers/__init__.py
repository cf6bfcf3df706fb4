# SPDX-License-Identifier: MIT
"""Integers of any size on their way to one rounding: `odd` makes binary64 numbers of them, `wide` rounds what these
lack."""
