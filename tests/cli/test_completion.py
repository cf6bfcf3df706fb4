# SPDX-License-Identifier: MIT
"""What the shells offer for beginnings of command lines: test_completion.py BASH ZSH FISH, the made files. bash is asked
itself; zsh and fish are where they are installed."""

import json
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402

BASH, ZSH, FISH = sys.argv[1:4]
del sys.argv[1:4]

ASK = """source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _halfulp; printf '%s\\n' "${COMPREPLY[@]}" """


def offered(*words):
    done = subprocess.run(["bash", "-c", ASK, "bash", BASH, "halfulp", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.split()


class Completion(support.Case):
    def test_commands(self):
        self.assertEqual(offered("qu"), ["quantize"])
        self.assertEqual(offered("--json", "-q", "qu"), ["quantize"])
        self.assertIn("nvfp4", offered("--json", "quantize", "-f", "nv"))
        self.assertEqual(set(offered("co")), {"collective", "compare"})
        self.assertEqual(offered("help", "roun"), ["rounding"])
        self.assertTrue(set(support.commands()) <= set(offered("")), offered(""))

    def test_options(self):
        """Every option that --help lists is offered, and nothing else."""
        for command, text in support.commands().items():
            want = {word for letter, name, _, _ in support.options(text) for word in ("-" + letter, "--" + name) if word != "-"}
            self.assertEqual(set(offered(command, "-")), want, command)

    def test_values(self):
        formats = [entry["id"] for entry in json.loads(self.ok("formats", "--json"))]
        models = [entry["id"] for entry in json.loads(self.ok("models", "--json"))]
        self.assertEqual(set(offered("info", "")), set(formats))
        self.assertEqual(set(offered("gemm", "--accum", "")), set(models))
        self.assertEqual(offered("gemm", "x.npy", "--accum", "nv.volta.f16.f16"), ["nv.volta.f16.f16"])
        self.assertIn("nvfp4", offered("quantize", "-f", "nv"))
        self.assertIn("torch.float8_e4m3fn", offered("quantize", "--format", "torch.float8"))
        self.assertNotIn("nvfp4", offered("explain", "-f", "nv"))
        self.assertEqual(offered("quantize", "--device", "c"), ["cpu", "cuda"])
        self.assertEqual(offered("quantize", "-r", "rt"), ["rtz", "rtp", "rtn", "rto"])
        self.assertEqual(offered("quantize", "--seed", ""), [])

    def test_other_shells(self):
        for shell, path in (("zsh", ZSH), ("fish", FISH)):
            if shutil.which(shell):
                done = subprocess.run([shell, "-n", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                self.assertEqual((done.returncode, done.stdout), (0, ""), shell)
            else:
                print("not here:", shell)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for word in ("nv.volta.f16.f32", "float8_e4m3fn", "against", "distinguish"):
                self.assertIn(word, text, shell)
        if shutil.which("fish"):
            for line, want in (("gemm --against nv.volta.f16.f1", "nv.volta.f16.f16"), ("quantize -f nvf", "nvfp4"), ("expl", "explain")):
                done = subprocess.run(["fish", "-c", "source %s; complete -C 'halfulp %s'" % (FISH, line)], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.stderr, "")
                self.assertIn(want, done.stdout)


if __name__ == "__main__":
    support.main()
