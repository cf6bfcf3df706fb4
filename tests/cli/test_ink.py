# SPDX-License-Identifier: MIT
"""Colours of compare, vectors --check and explain: on a terminal only, and not where NO_COLOR is set or TERM is dumb."""

import os
import pty
import re
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
import support  # noqa: E402

RED, GREEN, BOLD, END = "\x1b[31m", "\x1b[32m", "\x1b[1m", "\x1b[0m"


class Ink(support.Case):
    def shown(self, *args, **environment):
        """What is on a terminal behind standard output."""
        host, terminal = pty.openpty()
        env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        subprocess.run([os.environ["HALFULP"], *args], stdout=terminal, check=False,
                       env={**env, "TERM": "xterm", **environment})
        os.close(terminal)
        text = b""
        try:
            while part := os.read(host, 65536):
                text += part
        except OSError:  # the other end is closed, and all was read
            pass
        os.close(host)
        return text.decode().replace("\r\n", "\n")

    def plain(self, *args):
        return support.run(*args).stdout.decode()

    def cases(self):
        line = self.write("line.txt", b"57 39 59 01\n")
        weights = os.path.join(support.DATA, "digits_weights.npy")
        low = self.path("low.npy")
        self.ok("quantize", "-f", "bfloat16", weights, low)
        return {
            ("vectors", "--check", "mul", "-f", "float8_e4m3fn", line): (RED + "59 01", GREEN + "58 01", RED + "1 differ" + END),
            ("compare", weights, weights): (GREEN + "0 of 640 elements differ" + END,),
            ("compare", weights, low): (RED,),
            ("explain", "-f", "float8_e4m3fn", "0.3"): (BOLD + "0x2a = 0x1.4p-2 = 0.3125" + END + "; events",),
            ("explain", "-f", "posit8", "0.3"): (BOLD + "0x", END + "; events"),
        }

    def test_terminal(self):
        for args, words in self.cases().items():
            shown, plain = self.shown(*args), self.plain(*args)
            self.assertNotIn("\x1b", plain)
            for word in words:
                self.assertIn(word, shown)
            self.assertEqual(re.sub(r"\x1b\[\d+m", "", shown), plain, args)
            for begin in re.split(r"\x1b\[0m", shown)[:-1]:  # every colour ends
                self.assertEqual(len(re.findall(r"\x1b\[\d+m", begin)), 1, args)
            for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
                self.assertEqual(self.shown(*args, **environment), plain)
            self.assertNotEqual(self.shown(*args, NO_COLOR=""), plain)


if __name__ == "__main__":
    unittest.main()
