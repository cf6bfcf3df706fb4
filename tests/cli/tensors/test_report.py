# SPDX-License-Identifier: MIT
"""The report on a model: whole, balanced, true."""

import json
import math
import os
import re
import struct
import sys
import xml.etree.ElementTree as tree

sys.dont_write_bytecode = True
import support  # noqa: E402
from balanced import Balanced  # noqa: E402
from model_case import Base, from_bfloats  # noqa: E402
from support import floats, safetensors  # noqa: E402


class Report(Base):
    def test_report(self):
        tensors = self.tensors + [('<script>"&x', "F32", (2, 3), floats([1, 2, 3, 4, 5, 1000]))]
        self.write("m.safetensors", safetensors(tensors))
        r = json.loads(self.quantize("nvfp4", "--json", "--report", self.path("r.html")))
        page = self.read("r.html").decode("utf-8")
        parser = Balanced.read(page)
        self.assertEqual(parser.fetches, [])
        self.assertNotRegex(page, r"https?:|url\(|@import|<script>\"")
        self.assertIn("prefers-color-scheme:dark", page)
        self.assertEqual(parser.count["h1"], 1)
        for t in r["tensors"]:
            self.assertIn(t["name"], parser.cells)
        self.assertIn("%.4g" % r["tensors"][0]["errors"]["rms"], parser.cells)
        self.assertIn("%.2f" % r["tensors"][0]["errors"]["sqnr_db"], parser.cells)
        # The last row, of all tensors together, has the largest amax of all.
        largest = "%.4g" % max(t["amax"] for t in r["tensors"] if t["rounded"])
        last = page[page.rindex("<tfoot") :] if "<tfoot" in page else ""
        self.assertIn(">%s<" % largest, last)
        # Every row of that table has a cell for every heading.
        table = page[page.index('<table class="sort"') : page.index("</tfoot>")]
        rows = [len(re.findall("<t[hd][ >]", row)) for row in table.split("<tr>")[1:]]
        self.assertEqual(set(rows), {rows[0]})
        self.assertGreater(len(rows), 6)
        # Drawings: well-formed, with titles; three large ones and one a tensor.
        drawings = re.findall(r"<svg.*?</svg>", page, re.S)
        self.assertEqual(len(drawings), 3 + 6)
        ids = re.findall(r' id="([^"]+)"', page)
        self.assertEqual(len(ids), len(set(ids)))
        for d in drawings:
            root = tree.fromstring(d)
            self.assertEqual(root.get("role"), "img")
            self.assertTrue(root.find("title").text and root.find("desc").text)
            self.assertEqual(
                root.get("aria-labelledby").split(), [root.find("title").get("id"), root.find("desc").get("id")]
            )
        # Bars of the exponents: as many as there are exponents and zeros, before and after.
        bars = [bar[4] for bar in support.bars(tree.fromstring(drawings[0]))]
        before = set()
        for name, dtype, _, data in tensors:
            if name in self.rounded or name.startswith("<"):
                values = (
                    from_bfloats(data)
                    if dtype == "BF16"
                    else struct.unpack(
                        "<%d%s"
                        % (
                            len(data) // {"F32": 4, "F16": 2, "F64": 8}[dtype],
                            {"F32": "f", "F16": "e", "F64": "d"}[dtype],
                        ),
                        data,
                    )
                )
                before |= {math.frexp(v)[1] if v else None for v in values}
        self.assertEqual(bars.count("var(--before)"), len(before))
        # Bars of the blocks by their SQNR: one for each range, with the numbers that the tensors have together.
        self.assertEqual([t["name"] for t in r["tensors"] if t["rounded"] and not t["causes"]], ["empty"])
        ranges = [t["causes"]["blocks_by_sqnr"] for t in r["tensors"] if t["rounded"] and t["causes"]]
        texts = [e.text for e in tree.fromstring(drawings[2]).iter() if e.tag.endswith("text")]
        self.assertEqual([int(n) for n in texts[1::2]], [sum(counts) for counts in zip(*ranges)])
        self.assertIn("no error", texts[::2])
        self.assertEqual(self.left(), ["m.safetensors", "o.safetensors", "r.html"])

    def test_not_finite(self):
        """What became NaN everywhere is not exact; how many elements the errors are not over."""
        nan, inf = floats([math.nan] * 4), floats([math.inf] * 4)
        self.write("m.safetensors", safetensors([("n", "F32", (1, 4), nan), ("i", "F32", (1, 4), inf)]))
        text = self.quantize("float8_e4m3fn", "-s", "none", "--report", self.path("r.html"))
        self.assertRegex(text, r"(?m)^  n .* exact .* 4 left out: not finite$")
        self.assertRegex(text, r"(?m)^  i .* - .* 4 left out: not finite$")
        self.assertRegex(text, r"(?m)^  all .* - .* 8 left out: not finite$")
        page = self.read("r.html").decode()
        self.assertEqual(page.count('<td data-v="-1e9">-</td><td data-v="4">4</td>'), 1)
        self.assertEqual(page.count('<td data-v="1e9">no error</td><td data-v="4">4</td>'), 1)
        self.assertIn("<dt>SQNR</dt><dd>-</dd>", page)
        self.assertIn("<dt>left out of the errors</dt><dd>8</dd>", page)

    def test_report_without_errors(self):
        self.quantize("binary32", "--report", self.path("r.html"))
        self.assertIn("no error", self.read("r.html").decode())
        self.write("m.safetensors", safetensors([("e", "F32", (0, 3), b"")]))
        self.quantize("mxfp4", "--report", self.path("r.html"))
        Balanced.read(self.read("r.html").decode())


class Place(support.Case):
    def test_report_over_a_model(self):
        """A report replaces no file that is read, and lies in no folder that is: whatever leads there."""
        numbers = floats([0.01 * i for i in range(160)])
        self.write("m.safetensors", safetensors([("t", "F32", (4, 40), numbers)]))
        x, y = (safetensors([(n, "F32", (4, 40), numbers)]) for n in "xy")
        codes = safetensors([("l.weight", "F8_E4M3", (1, 4), b"1234"), ("l.weight_scale", "F32", (), floats([0.5]))])
        index = json.dumps({"weight_map": {"x": "x.safetensors", "y": "y.safetensors"}}).encode()
        config = json.dumps({"quantization_config": {"quant_method": "compressed-tensors"}}).encode()
        for folder in ("all", "all/below", "some", "some/below", "far", "out"):
            os.mkdir(self.path(folder))
        for name, data in (("all/x.safetensors", x), ("all/config.json", config), ("some/x.safetensors", x),
                ("some/y.safetensors", y), ("some/m.safetensors.index.json", index), ("some/one.safetensors", codes),
                ("some/config.json", config), ("far/config.json", config), ("far/blob", y)):
            self.write(name, data)
        for name, to in (("all/y.safetensors", "../far/blob"), ("all/hf_quant_config.json", "../far/config.json"),
                ("out/new.html", "../all/new.html"), ("out/link", "../all"), ("out/y", "../some/y.safetensors"),
                ("out/c", "../some/config.json")):
            os.symlink(to, self.path(name))
        before = {os.path.join(d, f): self.read(os.path.join(d, f)) for d, _, names in os.walk(self.folder.name)
            for f in names if os.path.exists(os.path.join(d, f))}
        whole = ["x.safetensors", "y.safetensors", "config.json", "hf_quant_config.json", "new.html", "below/new.html"]
        reports = {"all": ["all/" + n for n in whole] + ["out/new.html", "out/link/r.html", "far/blob", "far/config.json"],
            "out/link": ["all/config.json", "all/new.html"],
            "some/m.safetensors.index.json": ["some/y.safetensors", "some/config.json", "out/y", "out/c"],
            "some/one.safetensors": ["some/config.json", "out/c", "some/m.safetensors.index.json"]}
        for model, names in reports.items():
            m, other, z = self.path(model), self.path("m.safetensors"), self.path("z.safetensors")
            for name in names:
                r = self.path(name)
                for args in (("audit", m, other), ("audit", other, m), ("audit", "--source", m, other, other),
                        ("compare", "-f", "mxfp4", "-f", "nvfp4", m), ("quantize", "-f", "bfloat16", "--layout", "auto", m, z)):
                    with self.subTest(args=args, report=name):
                        self.bad(*args, "--report", r, says=(r + ": ", "give --report another name"))
        for name, data in before.items():
            self.assertEqual(self.read(name), data, name)
        self.assertNotIn("z.safetensors", self.left())
        self.assertEqual(sorted(os.listdir(self.path("all"))), sorted(["below", *whole[:4]]))
        self.ok("compare", "-f", "bfloat16", "-f", "float8_e5m2", self.path("all"), "--report", self.path("out/r.html"))
        self.ok("audit", self.path("some/m.safetensors.index.json"), self.path("some/m.safetensors.index.json"),
            "--report", self.path("some/r.html"))


if __name__ == "__main__":
    support.main()
