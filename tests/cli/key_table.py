# SPDX-License-Identifier: MIT
"""The table of keys in docs/train-command.md, made from `halfulp train --keys --json`.

usage: key_table.py HALFULP PAGE     writes the table into the page"""

import json
import subprocess
import sys

BEGIN, END = "<!-- keys:", "<!-- end of keys -->\n"


def cell(text):
    return text.replace("|", "\\|")


def table(keys):
    lines = ["| key | default | says | weights |", "|---|---|---|---|"]
    for k in keys:
        default = "`%s`" % cell(k["default"]) if k["default"] else "empty"
        lines.append("| `%s` | %s | %s | %s |" % (k["id"], default, cell(k["what"]), "yes" if k["weights"] else "no"))
    return "\n".join(lines) + "\n"


def split(page):
    """What stands before the table, the table, what stands behind it."""
    head, rest = page.split(BEGIN)
    comment, rest = rest.split("\n", 1)
    body, foot = rest.split(END)
    return head + BEGIN + comment + "\n", body, END + foot


def main(halfulp, path):
    keys = json.loads(subprocess.run([halfulp, "train", "--keys", "--json"], stdout=subprocess.PIPE, check=True).stdout)
    with open(path, encoding="utf-8") as f:
        head, _, foot = split(f.read())
    with open(path, "w", encoding="utf-8") as f:
        f.write(head + "\n" + table(keys) + "\n" + foot)


if __name__ == "__main__":
    main(*sys.argv[1:])
