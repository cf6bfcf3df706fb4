# SPDX-License-Identifier: MIT
"""Commands that read lines: a program that waits for each answer, and lines however they arrive."""

import os
import select
import subprocess
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402

MMA = ("mma", "fp32", "--fa", "binary16", "--fb", "binary16", "--fd", "binary32")
ROOM = 1 << 16  # LINES_ROOM of cli/base/io.c


def product(terms):
    """A line of `terms` products 1 * 1 + 0, and the sum of them, an integer below 2^24."""
    return "%s %s 00000000\n" % ("3c00" * terms, "3c00" * terms)


class Lines(support.Case):
    def start(self, *args):
        process = subprocess.Popen([support.HALFULP, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def answer(self, process, line):
        process.stdin.write(line.encode())
        process.stdin.flush()
        self.assertTrue(select.select([process.stdout], [], [], 60)[0], "no answer to %r" % line)
        return process.stdout.readline().decode()

    def test_each_answer_before_the_next_line(self):
        for args, asked in (
            (MMA, {product(1): "3f800000\n", product(3): "40400000\n", product(2): "40000000\n"}),
            (("encode", "-f", "float8_e4m3fn"), {"1.5\n": "3c\n", "448\n": "7e\n"}),
            (("decode", "-f", "float8_e4m3fn"), {"3c\n": None, "7e\n": None}),
        ):
            process = self.start(*args)
            for line, answer in asked.items():
                got = self.answer(process, line)
                self.assertEqual(got, answer if answer else self.ok(*args, stdin=line))
            process.stdin.close()
            self.assertEqual((process.stdout.read(), process.wait()), (b"", 0))

    def test_questions_from_a_named_pipe(self):
        path = self.path("questions")
        os.mkfifo(path)
        process = self.start(*MMA, path)
        process.stdin.close()
        with open(path, "wb", buffering=0) as process.stdin:
            self.assertEqual(self.answer(process, product(2)), "40000000\n")
            self.assertEqual(self.answer(process, product(1)), "3f800000\n")
        self.assertEqual((process.stdout.read(), process.wait()), (b"", 0))

    def test_however_they_arrive(self):
        """In pieces, longer than what is read at a time, and a last line without its end."""
        terms = [1, 2, ROOM // 8 - 2, 3, ROOM // 8, ROOM // 4, 1, 5]
        whole = "".join(product(n) for n in terms)
        expected = "".join(support.floats([n], ">f").hex() + "\n" for n in terms)
        self.write("lines.txt", whole.encode())
        self.assertEqual(self.ok(*MMA, self.path("lines.txt")), expected)
        for text in (whole, whole[:-1], whole.replace("\n", " \t\r\n")):
            self.assertEqual(self.ok(*MMA, stdin=text), expected)
        few = "".join(product(n) for n in terms if n < 9)
        process = self.start(*MMA)
        for i in range(0, len(few), 7):
            process.stdin.write(few[i : i + 7].encode())
            process.stdin.flush()
        process.stdin.close()
        self.assertEqual(process.stdout.read().decode(), self.ok(*MMA, stdin=few))
        self.assertEqual(self.ok(*MMA, stdin=""), "")

    def test_lines_around_what_is_read_at_a_time(self):
        """The end of a line in the last byte of a piece, in the one behind it, and around them."""
        for k in range(ROOM - 3, ROOM + 3):
            text = "1\n" * 2 + "1" + " " * (k - 6) + "\n2\n"
            self.assertEqual(self.ok("encode", "-f", "float8_e4m3fn", stdin=text), "38\n38\n38\n40\n")

    def test_wrong(self):
        encode = ("encode", "-f", "float8_e4m3fn")
        self.assertEqual(self.bad(*encode, stdin="1\n2\n3\0\n", says="standard input:3: holds a zero byte"), "38\n40\n")
        self.assertEqual(self.bad(*encode, stdin="1\n\n3", says="standard input:2: empty line"), "38\n")
        self.bad(*MMA, self.folder.name, says=(self.folder.name, "cannot read: "))


if __name__ == "__main__":
    support.main()
