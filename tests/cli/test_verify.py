# SPDX-License-Identifier: MIT
"""verify: what it checks, that it notices a wrong bit, shards and merging, the device."""

import json
import os
import pathlib
import platform
import re
import shutil
import signal
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
            files = [f for f in os.listdir(folder) if f.endswith(".txt") and f != "digests.txt"]
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
        for name in ("sums.txt", "mma/probes.txt"):
            folder = self.copy_golden(name, "count", "count")
            os.unlink(os.path.join(folder, name))
            os.mkfifo(os.path.join(folder, name))  # no one waits for a writer
            r = support.run("verify", "--only", "golden", "--golden", folder)
            self.assertEqual((r.returncode, r.stderr.count(b"/golden/%s: is no ordinary file" % name.encode())), (2, 1), r.stderr)
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

    def test_parts(self):
        """Each has a ledger of its own; together they say what one command says, on one machine or put together from several."""
        whole = json.loads(self.ok("verify", *self.work(), "--json"))
        for i in (3, 1, 2):
            self.ok("verify", *self.work(), "--shard", "%d/3" % i, "--ledger", self.path("l"))
        parts = [self.path("l.%d-of-3" % i) for i in (1, 2, 3)]
        merged = json.loads(self.ok("verify", *self.work(), "--merge", "--json", *parts))
        self.assertEqual((merged["kinds"], merged["pass"]), (whole["kinds"], True))
        self.bad("verify", *self.work(), "--merge", *parts[:2], says="items are in none of the ledgers, or of another version, --level or golden file")
        self.bad("verify", *self.work(), "--merge", "--level", "full", *parts, says="or of another version, --level or golden file")
        self.assertEqual(json.loads(self.ok("verify", *self.work(), "--merge", "--json", *parts, parts[0])), merged)
        good = self.read(parts[0]).decode()
        for old, new, says in (
            ("halfulp-ledger 1", "halfulp-ledger 0", "another version"),
            ("halfulp-ledger 1", "halfulp-verify 2", "a report of an older halfulp verify"),
            (r"\tdone\t", "\tDone\t", "the state is not one of"),
            (r"(\tdone\t\d+\t\d+\t)\w{15}", r"\g<1>1234", "the digest has 16"),
        ):
            self.write("bad", re.sub(old, new, good, count=1).encode())
            self.bad("verify", *self.work(), "--merge", self.path("bad"), *parts[1:], says=says)
        self.write("bad", re.sub(r"(?m)^(.*\tdone\t)0\t", r"\g<1>7\t", good, count=1).encode())
        self.assertIn("FAILED", self.ok("verify", *self.work(), "--merge", self.path("bad"), *parts[1:], code=1))
        self.write("bad", re.sub(r"(\tdone\t\d+\t\d+\t)\w{4}", r"\g<1>1234", good, count=1).encode())
        self.bad("verify", *self.work(), "--merge", parts[0], self.path("bad"), says="but with the same sources")
        self.assertEqual(json.loads(self.ok("verify", *self.work(), "--ledger", self.path("l"), "--json")), whole)
        self.assertEqual(self.left(), ["bad", "l"])

    def test_continues(self):
        """What the ledger has is not checked again; of another level it is."""
        golden = self.copy_golden("convert_float4_e2m1fn.txt", r"(?m)^3f800000 2 =", "3f800000 3 =")
        work = ["verify", "--only", "golden", "--golden", golden, "--ledger", self.path("l")]
        for code, text in ((1, "FAILED"), (1, "FAILED")):
            self.assertIn(text, self.ok(*work, code=code))
        self.assertIn("FAILED", self.ok(*work, "--status", code=1))
        self.copy_golden("convert_float4_e2m1fn.txt", "count", "count")
        self.assertIn("1 of 1 items are left", self.ok(*work, "--level", "full", "--status"))
        self.assertIn("all checks passed", self.ok(*work, "--overwrite"))
        self.assertIn("all checks passed", self.ok(*work, "--level", "full"))
        self.assertIn("1 of 1 items are left", self.ok(*work, "--status"))

    def test_changed_golden_files(self):
        """An entry is of what its file held: another text is checked again, and said."""
        golden = self.copy_golden("convert_float4_e2m1fn.txt", "count", "count")
        self.copy_golden("convert_float8_e5m2.txt", "count", "count")
        work = ["verify", "--only", "golden", "--golden", golden, "--ledger", self.path("l")]
        self.ok(*work)
        before = self.read("l")
        self.copy_golden("convert_float4_e2m1fn.txt", r"(?m)^3f800000 2 =", "3f800000 3 =")
        self.assertIn("1 of 2 items are left", self.ok(*work, "--status"))
        self.bad(*work[:-2], "--merge", self.path("l"), says="1 of 2 items are in none of the ledgers, or of another version, --level or golden file")
        self.assertEqual(self.read("l"), before)
        r = support.run(*work)
        self.assertEqual(r.returncode, 1)
        self.assertIn("l: 1 result is of other sources, and made again: golden/convert_float4_e2m1fn.txt", r.stderr.decode())
        self.assertEqual(support.run(*work).stderr, b"")

    def test_merge_keeps_what_fits(self):
        """A ledger of another level does not replace the results that it is put together with."""
        golden = self.copy_golden("convert_float4_e2m1fn.txt", "count", "count")
        work = ["verify", "--only", "golden", "--golden", golden]
        self.ok(*work, "--ledger", self.path("quick"))
        self.ok(*work, "--level", "full", "--ledger", self.path("full"))
        self.ok(*work, "--merge", "--ledger", self.path("quick"), self.path("full"))
        self.ok(*work, "--merge", self.path("full"), self.path("quick"), self.path("full"))
        self.assertIn("all checks passed", self.ok(*work, "--ledger", self.path("quick"), "--status"))

    def test_stopped(self):
        """Without a ledger nothing is kept, and no command continues."""
        work = ["verify", "--level", "full", "-f", "bfloat16", "--only", "steps"]
        for more, says in (((), "without --ledger no result is kept"), (("--ledger", self.path("l")), "the same command continues")):
            for jobs in ((), ("--jobs", "2")):
                job = subprocess.Popen([support.HALFULP, *work, *more, *jobs], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.wait_until(lambda: self.caught(job.pid, signal.SIGINT), "it is at work", job)
                job.send_signal(signal.SIGINT)
                said = job.communicate()[1].decode()
                self.assertEqual((job.returncode, said), (-signal.SIGINT, "halfulp: stopped with 0 of 8 items done, 8 left; %s\n" % says))

    def caught(self, pid, number):
        """Does a process handle a signal?"""
        with open("/proc/%d/status" % pid) as f:
            mask = next(line.split()[1] for line in f if line.startswith("SigCgt:"))
        return int(mask, 16) >> (number - 1) & 1

    def test_jobs(self):
        """Items in several processes: the same report."""
        whole = self.ok("verify", *self.work())
        for more in (("--jobs", "2"), ("--jobs", "0", "--ledger", self.path("l"))):
            self.assertEqual(self.ok("verify", *self.work(), *more), whole)
        self.assertIn("all checks passed", self.ok("verify", *self.work(), "--include", "golden/s*"))

    @unittest.skipIf(support.SANITIZED, "a sanitizer has its own malloc")
    def test_merge_without_memory(self):
        """Memory that runs out anywhere on the way: an error line or, where it can be done without, the whole report."""
        work, log = ["verify", "--only", "golden", "--golden", GOLDEN], self.path("log")
        self.ok(*work, "--ledger", self.path("l"))
        whole, bad = self.starved(*work, "--merge", self.path("l"), FAULT_MALLOC_LOG=log), 0
        self.assertEqual(whole.returncode, 0)
        for i in range(int(self.read(log))):
            r = self.starved(*work, "--merge", self.path("l"), FAULT_MALLOC=str(i))
            self.assertIn(r.returncode, (0, 2), (i, r.stdout, r.stderr))
            self.assertIn(b"memory" if r.returncode else whole.stdout, r.stderr if r.returncode else r.stdout, i)
            bad += r.returncode == 2
        self.assertGreater(bad, 1)

    def test_idle_part(self):
        """More parts than items: the idle ones end well."""
        folder = self.copy_golden("convert_float4_e2m1fn.txt", "count", "count")
        work = ["verify", "--only", "golden", "--golden", folder, "--ledger", self.path("l")]
        for i in (1, 2, 3):
            self.assertEqual("this part has no items" in self.ok(*work, "--shard", "%d/3" % i), i > 1)
        self.assertIn("all checks passed", self.ok(*work))

    def test_ledger_is_tried_first(self):
        r = support.run("verify", "--level", "exhaustive", "--golden", GOLDEN, "--ledger", self.path("no/l"))
        self.assertEqual((r.returncode, r.stdout), (2, b""))
        self.assertIn(b"no/l: No such file", r.stderr)
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
        self.bad("verify", "--merge", says="no ledgers given")
        self.bad("verify", "--status", says="--status requires --ledger")
        self.bad("verify", "-f", "binary32", "--only", "steps", says="no work items")


if __name__ == "__main__":
    support.main()
