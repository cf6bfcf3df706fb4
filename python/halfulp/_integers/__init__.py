# SPDX-License-Identifier: MIT
"""Integers of any size before their one rounding: `odd` makes binary64 numbers of them, `wide` rounds what these lack."""
