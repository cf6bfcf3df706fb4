/* SPDX-License-Identifier: MIT */
/* Former names of options: this version takes them, with a note; the next one will not. */
#include "cli/base/renamed.h"

#include <stddef.h>

static const cli_renamed table[] = {
    {"quantize", "--jobs", "--threads"},   {"encode", "--jobs", "--threads"}, {"decode", "--jobs", "--threads"},
    {"encode", "--random", "--words"},     {"train", "--out", "--output"},    {"experiment", "--out", "--output"},
    {"sweep", "--out", "--output"},        {"sweep", "-j", "--jobs"},         {"sweep", "--fresh", "--overwrite"},
    {"plot", "--data", "--array"},         {"vectors", "-n", "--elements"},   {"vectors", "--to", "--fd"},
    {"check-vectors", "-n", "--elements"}, {"check-vectors", "--to", "--fd"}, {"verify", "--report", "--output"},
    {"probe-hw", "--count", "--samples"},  {"probe-hw", "-n", "--samples"},
};

const cli_renamed *cli_renamed_at(int i) { return (size_t)i < sizeof table / sizeof table[0] ? &table[i] : NULL; }
