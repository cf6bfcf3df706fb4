# SPDX-License-Identifier: MIT
"""`halfulp train` where a library that it needs was left out."""

import sys

sys.dont_write_bytecode = True
import support  # noqa: E402


class Absent(support.Case):
    def test_says_which_package(self):
        self.write("x.ini", b"[run]\nsteps = 1\n")
        self.bad("train", self.path("x.ini"), says=["train", "jansson", "libjansson-dev"])
        self.assertEqual(self.left(), ["x.ini"])


if __name__ == "__main__":
    support.main()
