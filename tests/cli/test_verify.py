# SPDX-License-Identifier: MIT
"""verify: what it checks, that it notices a wrong bit, shards and merging, the device."""

import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
import support  # noqa: E402

ORACLE = os.environ["HALFULP_ORACLE"] == "1"
GOLDEN = os.environ["HALFULP_GOLDEN"]
HOSTRUN = os.environ.get("HALFULP_HOSTRUN")


def sums(text):
    return {s["kind"]: s for s in json.loads(text)["kinds"]}


class Verify(support.Case):
    def test_golden(self):
        """The golden files that are stored, and all that tests/gen makes: those of every format."""
        for folder in {GOLDEN, os.environ["HALFULP_GOLDEN_ALL"]}:
            s = sums(self.ok("verify", "--only", "golden", "--golden", folder, "--json"))["golden"]
            files = [f for f in os.listdir(folder) if f.endswith(".txt") and f not in ("digests.txt", "campaign.txt")]
            files += ["mma/probes.txt"] if folder == GOLDEN else []
            self.assertEqual((s["items"], s["skipped"], s["failures"]), (len(files), 0, 0))
            self.assertGreater(s["cases"], 100000)
            print("golden: %d files, %d cases" % (s["items"], s["cases"]))

    def copy_golden(self, name, old, new):
        with open(os.path.join(GOLDEN, name), encoding="ascii") as f:
            text = f.read()
        self.assertRegex(text, old)
        os.makedirs(os.path.dirname(self.path("golden/" + name)), exist_ok=True)
        with open(self.path("golden/" + name), "w", encoding="ascii") as f:
            f.write(re.sub(old, new, text, count=1))
        return self.path("golden")

    def test_golden_notices(self):
        """A changed bit in a file of each kind is a failure, exit code 1, and named."""
        for name, old, new in (
            ("convert_float4_e2m1fn.txt", r"(?m)^3f800000 2 =", "3f800000 3 ="),
            ("stochastic.txt", r"(?m)^(sra:3 5 3f40000000000000) 0 2c$", r"\1 1 2c"),
            ("sums.txt", r"(?m)^(exact rne float8_e5m2 float8_e5m2 - float8_e5m2 0 - - -) 0 0$", r"\1 80 0"),
            ("mma/probes.txt", r"(?m)^(D1 nv.ampere.tf32.f32 .*) 3f800000$", r"\1 3f800001"),
        ):
            folder = self.copy_golden(name, old, new)
            r = support.run("verify", "--only", "golden", "--golden", folder)
            self.assertEqual(r.returncode, 1, name)
            self.assertIn(name.encode(), r.stderr)
            self.assertIn(b"FAILED", r.stdout)
            os.unlink(os.path.join(folder, name))

    def test_golden_malformed(self):
        for name, old, new, says in (
            ("convert_float4_e2m1fn.txt", r"(?m)^3f800000 2 =.*\n", "", "the head says"),
            ("convert_float4_e2m1fn.txt", r"(?m)^3f800000 2", "3f80000 2", "not a line of a golden file"),
            ("convert_float4_e2m1fn.txt", r" e=2 ", " e=77 ", "not a line of a golden file"),
            ("sums.txt", r"(?m)^exact rne", "exactly rne", "not a line of a golden file"),
            ("stochastic.txt", r"(?m)^sra:3", "sra:33", "not a line of a golden file"),
            ("mma/probes.txt", r"(?m)^D1 nv.ampere.tf32.f32 .*\n", "", "the head says"),
            ("mma/probes.txt", r"(?m)^(D1 nv.ampere.tf32.f32) .*$", r"\1 binary32", "not a line of a golden file"),
            ("mma/probes.txt", r"(?m)^D1 nv.ampere.tf32.f32", "D1 nv.ampere.tf33.f32", "nv.ampere.tf33.f32"),
            ("mma/probes.txt", r"(?m)^(D1 nv.ampere.tf32.f32 .*)$", r"\1g", "not a line of a golden file"),
        ):
            folder = self.copy_golden(name, old, new)
            self.bad("verify", "--only", "golden", "--golden", folder, says=(name, says))
            os.unlink(os.path.join(folder, name))
        self.bad("verify", "--golden", self.path("nowhere"), says="nowhere: golden files")
        os.mkdir(self.path("empty"))
        self.bad("verify", "--golden", self.path("empty"), says="there are no golden files")

    def test_oracle_items(self):
        out = sums(
            self.ok(
                "verify",
                "-f",
                "float4_e2m1fn",
                "-f",
                "fp(3,2,0):fnuz",
                "--only",
                "world",
                "--only",
                "steps",
                "--json",
                code=0 if ORACLE else 1,
            )
        )
        kinds = out["world"], out["steps"]
        for s in kinds:
            self.assertEqual(s["items" if ORACLE else "skipped"], 2 if s["kind"] == "world" else 16)
            self.assertEqual(s["failures"], 0)
            self.assertEqual(s["cases"] > 0, ORACLE)

    def test_device_cpu_build(self):
        """Without a device the device items cannot be asked for; a missing device never passes."""
        r = support.run("verify", "--only", "device", "--device", "cuda", "-f", "float4_e2m1fn")
        self.assertIn(r.returncode, (0, 2))
        if r.returncode == 2:
            self.assertIn(b"--device cuda: ", r.stderr)

    def test_probe_without_device(self):
        """Where there are no matrix instructions, none is said to agree."""
        r = support.run("verify", "--only", "instructions", "--device", "cuda", "--samples", "128", "no.such.model")
        self.assertEqual((r.returncode, r.stdout), (2, b""))
        self.assertIn(b"halfulp: verify: ", r.stderr)

    def test_probe_processor(self):
        """The instructions of this processor agree with their models; the same seed asks the same questions."""
        here = json.loads(self.ok("verify", "--only", "instructions", "--samples", "5000", "--json"))
        self.assertIn("family" if platform.machine() in ("x86_64", "AMD64") else "processor", here["device"])
        names = {row["instruction"]: row for row in here["instructions"]}
        ids = [(row["instruction"], row["id"]) for row in here["instructions"]]
        self.assertEqual(len(set(ids)), len(ids))
        flags = pathlib.Path("/proc/cpuinfo").read_text().split() if os.path.exists("/proc/cpuinfo") else []
        for instruction, flag in (("VFMADD231PS", "fma"), ("VDPBF16PS", "avx512_bf16"), ("VPDPBUSD", "avx512_vnni"),
                                  ("VCVTPH2PS", "f16c"), ("VCVTPS2PH", "f16c"), ("VPMADDWD", "avx2"),
                                  ("VPDPWSSD", "avx512_vnni"), ("VPDPWSSD (VEX)", "avx_vnni")):
            self.assertEqual(instruction in names, flag in flags, instruction)
        if "f16c" in flags:
            modes = [name for instruction, name in ids if instruction == "VCVTPS2PH"]
            self.assertEqual(modes, ["binary16.rne", "binary16.rtz", "binary16.rtp", "binary16.rtn"])
            self.assertEqual(names["VCVTPH2PS"]["random"], 65536)
        for row in here["instructions"]:
            self.assertEqual((row["agrees"], row["differing"]), (True, 0), row)
            self.assertGreaterEqual(row["random"], 5000)
        print("%s: %s" % (here["device"], ", ".join(names)))
        r = support.run("verify", "--only", "instructions", "no.such.model")
        self.assertEqual((r.returncode, r.stdout), (2, b""))
        r = support.run("verify", "--only", "instructions", "--device", "tpu")
        self.assertEqual((r.returncode, r.stdout), (2, b""))
        self.assertIn(b"tpu", r.stderr)

    @unittest.skipUnless(HOSTRUN, "no host-run executable")
    def test_probe_host_run(self):
        """Instructions that are the models themselves agree, golden vectors too; one wrong bit does not."""

        def probe(*args, **env):
            command = [HOSTRUN, "verify", "--only", "instructions", "--device", "cuda", "--golden", os.environ["HALFULP_GOLDEN"], *args]
            return subprocess.run(command, capture_output=True, env=dict(os.environ, **env), check=False)

        r = probe("--samples", "700", HU_HOST_CAPABILITY="90")
        self.assertEqual((r.returncode, r.stderr), (0, b""))
        lines = r.stdout.decode().splitlines()
        self.assertIn("host-run", lines[0])
        agree = [line for line in lines if " agrees: golden " in line]
        self.assertEqual((len(agree), len(lines)), (28, 30))
        vectors = sum(int(line.split("golden ")[1].split()[0]) for line in agree)
        self.assertGreater(vectors, 100)
        print("%d instructions, %d golden vectors" % (len(agree), vectors))
        r = probe("--samples", "2000", "nv.ada.e4m3.f16", HU_HOST_CAPABILITY="89", HU_HOST_WRONG="1999")
        self.assertEqual((r.returncode, r.stderr), (1, b""))
        self.assertIn(b"DIFFERS", r.stdout)
        shown = [line.split() for line in r.stdout.decode().splitlines() if "device" in line and "model" in line]
        a, b, c, model = shown[0][0], shown[0][1], shown[0][2], shown[0][-1]
        said = self.ok("mma", "nv.ada.e4m3.f16", stdin="%s %s %s\n" % (a, b, c)).strip()
        self.assertEqual(said, model)
        r = probe("--samples", "2000", "nv.ada.e4m3.f16", "--json", HU_HOST_CAPABILITY="89", HU_HOST_WRONG="1999")
        row, = json.loads(r.stdout)["instructions"]
        self.assertEqual((r.returncode, row["agrees"], row["differing"]), (1, False, 1))
        r = probe(HU_HOST_CAPABILITY="70")
        self.assertEqual((r.returncode, r.stdout), (2, b""))
        r = probe("--golden", "/nonexistent", HU_HOST_CAPABILITY="90")
        self.assertEqual((r.returncode, r.stdout), (2, b""))

    @unittest.skipUnless(HOSTRUN, "no host-run executable")
    def test_why_no_device(self):
        """Whatever asks for a device says what there is instead, in words of this command."""
        reasons = {"driver": "(driver not found)", "none": "(the driver shows none)", "old": "(driver for CUDA 11.4, which is too old for"}
        for kind, reason in reasons.items():
            env = dict(os.environ, HU_HOST_DEVICE=kind)
            for command in (["quantize", "--device", "cuda", "-f", "bfloat16", "x.npy", "z.npy"],
                            ["verify", "--only", "instructions", "--device", "cuda"],
                            ["verify", "--only", "device", "--device", "cuda"]):
                r = subprocess.run([HOSTRUN, *command], capture_output=True, env=env, check=False)
                self.assertEqual((r.returncode, r.stdout), (2, b""), r)
                self.assertIn("no CUDA device " + reason, r.stderr.decode())

    @unittest.skipUnless(HOSTRUN, "no host-run executable")
    def test_device_host_run(self):
        r = subprocess.run(
            [
                HOSTRUN,
                "verify",
                "--only",
                "device",
                "--device",
                "cuda",
                "-f",
                "float4_e2m1fn",
                "-f",
                "binary16",
                "--json",
            ],
            stdout=subprocess.PIPE,
            check=False,
        )
        self.assertEqual(r.returncode, 0, r)
        s = sums(r.stdout)["device"]
        self.assertEqual((s["items"], s["failures"]), (2, 0))
        self.assertGreater(s["cases"], 100000)
        self.assertIn("host-run", json.loads(r.stdout)["device"])

    def work(self):
        kinds = ["--only", "golden", "--golden", GOLDEN]
        return kinds + (["-f", "float4_e2m1fn", "--only", "world"] if ORACLE else [])

    def test_shards_merge(self):
        whole = json.loads(self.ok("verify", *self.work(), "--json"))
        paths = []
        for i in (3, 1, 2):
            paths.append(self.path("r%d" % i))
            self.ok("verify", *self.work(), "--shard", "%d/3" % i, "--output", paths[-1])
        merged = json.loads(self.ok("verify", "--merge", "--json", *paths))
        self.assertEqual(merged["kinds"], whole["kinds"])
        self.assertTrue(merged["pass"])
        self.bad("verify", "--merge", *paths[:2], says="items are in none of the reports")
        self.bad("verify", "--merge", *paths, paths[0], says="already there")
        with open(paths[0], encoding="ascii") as f:
            good = f.read()
        for old, new, says in (
            (r"end \d+\n", "", "cut off"),
            (r"(?m)^level quick", "level full", "not those of the first"),
            (r"(?m)^item (\d+) (\S+)", r"item \1 wrong", "not an item line"),
            (r"end \d+", "end 0", "'end' line says"),
            ("halfulp-verify 2", "halfulp-verify 1", "kind 1"),
            (r"(?m)^(items \d+ )\w+", r"\g<1>0123456789abcdef", "not those of the first"),
            ("halfulp-verify", "other", "not a report"),
            (r"(?m)^item \d+", "item 99999", "beyond the number"),
            (r"\Z", "more\n", "follows the 'end' line"),
        ):
            self.write("bad", re.sub(old, new, good, count=1).encode())
            self.bad("verify", "--merge", paths[1], self.path("bad"), says=says)
        failed = re.sub(r"(?m)^(item .* done \d+) 0 ", r"\1 7 ", good, count=1)
        self.write("bad", failed.encode())
        self.assertIn("FAILED", self.ok("verify", "--merge", self.path("bad"), *paths[1:], code=1))

    @unittest.skipIf(support.SANITIZED, "a sanitizer has its own malloc")
    def test_merge_without_memory(self):
        """Memory that runs out anywhere on the way: an error line or, where it can be done without, the whole report."""
        path, log = self.path("r1"), self.path("log")
        self.ok("verify", "--only", "golden", "--golden", GOLDEN, "--shard", "1/1", "--output", path)
        whole, bad = self.starved("verify", "--merge", path, FAULT_MALLOC_LOG=log), 0
        self.assertEqual(whole.returncode, 0)
        for i in range(int(self.read(log))):
            r = self.starved("verify", "--merge", path, FAULT_MALLOC=str(i))
            self.assertIn(r.returncode, (0, 2), (i, r.stdout, r.stderr))
            self.assertIn(b"out of memory" if r.returncode else whole.stdout, r.stderr if r.returncode else r.stdout, i)
            bad += r.returncode == 2
        self.assertGreater(bad, 1)

    def test_report_on_output(self):
        out = self.ok("verify", *self.work(), "--output", "-")
        self.assertTrue(out.startswith("halfulp-verify 2\nversion "))
        self.assertRegex(out, r"\nend \d+\n$")

    def test_shards_of_other_work(self):
        """Reports of as many items, but not the same ones, do not merge."""
        lists = []
        for name in ("convert_float4_e2m1fn.txt", "convert_float6_e3m2fn.txt"):
            os.makedirs(self.path(name), exist_ok=True)
            shutil.copy(os.path.join(GOLDEN, name), self.path(name))
            shutil.copy(os.path.join(GOLDEN, "convert_float6_e2m3fn.txt"), self.path(name))
            lists.append(["verify", "--only", "golden", "--golden", self.path(name)])
        for i in (0, 1):
            self.ok(*lists[i], "--shard", "%d/2" % (i + 1), "--output", self.path("r%d" % i))
        self.bad("verify", "--merge", self.path("r0"), self.path("r1"), says="not those of the first")
        self.ok(*lists[0], "--shard", "2/2", "--output", self.path("r1"))
        self.ok("verify", "--merge", self.path("r0"), self.path("r1"))

    def test_idle_shard(self):
        """More shards than items: the idle ones end well, and the reports merge."""
        folder = self.copy_golden("convert_float4_e2m1fn.txt", "count", "count")
        work = ["verify", "--only", "golden", "--golden", folder]
        for i in (1, 2, 3):
            out = self.ok(*work, "--shard", "%d/3" % i, "--output", self.path("r%d" % i))
            self.assertEqual("no work" in out, i > 1)
        self.ok("verify", "--merge", *(self.path("r%d" % i) for i in (1, 2, 3)))
        self.bad("verify", "--merge", self.path("r2"), self.path("r3"), says="1 of 1 items are in none")

    def test_report_is_tried_first(self):
        r = support.run("verify", "--level", "exhaustive", "--golden", GOLDEN, "--output", self.path("no/r.txt"))
        self.assertEqual((r.returncode, r.stdout), (2, b""))
        self.assertIn(b"no/r.txt: cannot write", r.stderr)
        self.assertEqual(self.left(), [])

    def test_theorems(self):
        rows = json.loads(self.ok("verify", "--theorems", "--json"))
        self.assertGreater(len(rows), 20)
        states = [r["state"] for r in rows]
        for r in rows:
            self.assertRegex(r["built_from"], "^[0-9a-f]{16}$")
            self.assertEqual(r["state"] == "proved", r["proved_for"] == r["built_from"])
            self.assertEqual(r["state"] == "not recorded", r["proved_for"] == "-")
            self.assertEqual(r["queries"] > 0, r["state"] != "not recorded")
        lines = self.ok("verify", "--theorems").splitlines()
        self.assertEqual(len(lines), len(rows) + 2)
        for r, line in zip(rows, lines[1:]):
            self.assertEqual(line.split()[0], r["theorem"])
            self.assertTrue(line.endswith(r["says"]), line)
            self.assertEqual(" proved for other sources: " in line, r["state"] == "proved for other sources")
        counts = "%d theorems: %d proved for the sources of this program, %d for other sources, %d not recorded" % (
            len(rows), states.count("proved"), states.count("proved for other sources"), states.count("not recorded"))
        self.assertEqual(lines[-1], counts)
        self.assertEqual(self.ok("verify", "--only", "world", "-f", "float4_e2m1fn").splitlines()[-1], counts)

    def test_worlds_beside_golden(self):
        """Each format that conversions are made for is that of a golden file here or, in the quick check, of a world."""
        rows = [row.split()[1:3] for row in self.ok("verify", "--list", "--golden", GOLDEN).splitlines()]
        worlds = []
        for name in (name for kind, name in rows if kind == "world"):
            axes = json.loads(self.ok("info", name, "--json"))
            words = ("sign", "e", "m", "b", "zero", "subnormals", "infinities", "nan", "negative_zero", "overflow", "negative")
            worlds.append([str(int(axes[w]) if isinstance(axes[w], bool) else axes[w]) for w in words])
        self.assertGreater(len(worlds), 17)
        for path in pathlib.Path(os.environ["HALFULP_GOLDEN_ALL"]).glob("convert_*.txt"):
            card = next(line.split()[2:13] for line in path.read_text().splitlines() if line.startswith("format "))
            if ["golden", path.name] not in rows:
                self.assertIn([word.split("=")[1] for word in card], worlds, path.name)

    def test_list_and_usage(self):
        items = self.ok("verify", "--list", "--golden", GOLDEN).splitlines()
        self.assertGreater(len(items), 80)
        self.assertEqual([int(i.split()[0]) for i in items], list(range(len(items))))
        self.bad("verify", "--shard", "0/3", says="--shard")
        self.bad("verify", "--shard", "4/3", says="--shard")
        for value in ("1/3x", "1/-1", "-1/3", " 1/3", "1/3 ", "+1/3", "1//3", "1", "/", "4294967297/1", "4294967297/4294967297"):
            self.bad("verify", "--shard", value, says="--shard")
        self.bad("verify", "--level", "deep", says="--level")
        self.bad("verify", "--only", "magic", says="--only")
        self.bad("verify", "report.txt", says="--merge only")
        self.bad("verify", "--merge", says="no reports given")
        self.bad("verify", "-f", "binary32", "--only", "steps", says="no work items")


if __name__ == "__main__":
    support.main()
