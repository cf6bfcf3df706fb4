# SPDX-License-Identifier: MIT
"""Files of tens of thousands of tensors, as mixtures of experts have them: time grows with their number, no faster."""

import os
import resource
import subprocess
import sys

sys.dont_write_bytecode = True
import support  # noqa: E402
from support import floats, parse_safetensors, safetensors  # noqa: E402

FEW, MANY = 2500, 40000


def seconds(*args):
    """Of the processor: less than those of the wall on a busy machine."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    r = subprocess.run(
        [support.HALFULP, *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert r.returncode == 0, r.stderr
    return after.ru_utime - before.ru_utime


class Many(support.Case):
    def model(self, n, metadata=None):
        data = floats([0.1, -0.2, 0.3, 1.5])
        names = ("model.layers.%d.mlp.experts.%d.gate_proj.weight" % (i // 100, i % 100) for i in range(n))
        return self.write("m%d.safetensors" % n, safetensors([(name, "F32", (2, 2), data) for name in names], metadata))

    def grows(self, run):
        """16 times as many take 16 times as long, more beyond the caches; with a search for each name 130 times."""
        for _ in range(3):
            few, many = min(seconds(*run(FEW)) for _ in range(3)), seconds(*run(MANY))
            ratio = many / max(few, 0.02)
            if ratio < 60:
                break
        print("%s: %.2f s, %.1f times the time for 16 times the tensors" % (" ".join(run(FEW)[:4]), many, ratio))
        self.assertLess(ratio, 60)

    def test_quantize_and_decode(self):
        for n in (FEW, MANY):
            self.model(n)
        path = lambda kind, n: self.path("%s%d.safetensors" % (kind, n))  # noqa: E731
        self.grows(lambda n: ("quantize", "-f", "mxfp4", path("m", n), path("z", n)))
        self.grows(lambda n: ("quantize", "-f", "mxfp4", "--codes", path("m", n), path("c", n)))
        self.grows(lambda n: ("decode", path("c", n), path("d", n)))
        self.assertEqual(self.read("d%d.safetensors" % MANY), self.read("z%d.safetensors" % MANY))
        # All of it has notes and is copied, and metadata of others are many, too.
        self.grows(lambda n: ("encode", "-f", "float8_e4m3fn", path("m", n), path("e", n)))
        self.grows(lambda n: ("decode", path("e", n), path("d", n)))
        self.grows(lambda n: ("quantize", "-f", "mxfp4", path("m", n), path("z", n), "--json"))
        self.grows(lambda n: ("quantize", "-f", "mxfp4", path("m", n), path("z", n), "--report", self.path("r.html")))
        self.grows(
            lambda n: (
                "quantize",
                "-f",
                "mxfp4",
                path("m", n),
                path("z", n),
                *["--include=*%d*" % i for i in range(10)],
            )
        )

    def test_metadata(self):
        for n in (FEW, MANY):
            self.write(
                "k%d.safetensors" % n,
                safetensors([("t", "F32", (1, 2), floats([1, 2]))], {"key %d" % i: "v" for i in range(n)}),
            )
        self.grows(lambda n: ("quantize", "-f", "mxfp4", self.path("k%d.safetensors" % n), self.path("z.safetensors")))
        self.assertEqual(len(parse_safetensors(self.read("z.safetensors"))[1]), MANY)


if __name__ == "__main__":
    support.main()
