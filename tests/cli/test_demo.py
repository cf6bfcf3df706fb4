# SPDX-License-Identifier: MIT
"""The main job runs, finds the CPU and the CUDA kernels equal, and writes its report and drawings."""

import hashlib
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as tree

sys.dont_write_bytecode = True
import support  # noqa: E402


class Demo(support.Case):
    def test_main_job(self):
        r = subprocess.run(
            [os.environ["HALFULP_DEMO"], os.environ["HALFULP_BUILD"], self.path("run")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
        )
        self.assertEqual((r.returncode, r.stderr), (0, b""), r.stdout[-2000:])
        text = r.stdout.decode()
        self.assertIn("EQUAL bit for bit", text)
        self.assertIn("float8_e4m3fn\n  text ", text)
        report = json.loads(self.read("run/report.json"))
        self.assertEqual(report["differing"], 0)
        self.assertEqual(report["arrays"], 8 + 2 + 10)
        self.assertEqual(report["elements"], 5 * (1797 * 64 + 640) + 10 * 5970)
        self.assertEqual(len(report["products"]), 10)
        sums = {"exact": "40200000", "nv.ampere.f16.f32": "40000000", "amd.cdna2.f16": "3fc00000", "fp32": "3f800000"}
        self.assertEqual(report["accumulators"], {**sums, "nv.volta.f16.f32": "00000000"})
        self.assertTrue(all(0.5 < p["recognised"] < 1 for p in report["products"]))
        self.assertTrue(report["device"].startswith(("GPU ", "host-run")), report["device"])
        for name in report["drawings"]:
            tree.fromstring(self.read("run/" + name))
        print("main job: %s" % re.search("CPU against.*", text).group(0))

    def test_checksums(self):
        """data/README.md tells the truth about the files."""
        with open(os.path.join(support.DATA, "README.md"), encoding="utf-8") as f:
            readme = f.read()
        found = re.findall(r"(?m)^([0-9a-f]{64})  (\S+)$", readme)
        names = sorted(n for n in os.listdir(support.DATA) if n.endswith((".npy", ".txt")))
        self.assertEqual(sorted(name for _, name in found), names)
        for digest, name in found:
            with open(os.path.join(support.DATA, name), "rb") as f:
                self.assertEqual(hashlib.sha256(f.read()).hexdigest(), digest, name)


if __name__ == "__main__":
    support.main()
