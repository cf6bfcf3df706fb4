/* SPDX-License-Identifier: MIT */
/* Which command lines read which file: see command.h. */
#include "tests/fuzz/command.h"

#include <stddef.h>

#define LIST                                                                                         \
  "# a list\nw world codes float4_e2m1fn\n\tt\ttriples\tarith,format\tfloat4_e2m1fn\tsra:3\t1/4\n"   \
  "p-add pairs arith add float6_e2m3fn rtz 1/1\nm mixed arith float4_e2m1fn float6_e3m2fn rne 2/3\n" \
  "q powers arith float6_e2m3fn float4_e2m1fn rne 1/4 1/1\nc\tprogram\tall\ttrue\ta word\n"          \
  "d program-fails - false\ns steps codes bfloat16 rne\n"
#define HEAD "halfulp-ledger 1\nitem\tstate\twrong\tcases\tdigest\tseconds\tsources\tversion\tlevel\tdate\tprocessor\n"
#define ENTRY(item, state, digest, date) \
  item "\t" state "\t0\t7\t" digest "\t1.25\t0123456789abcdef\t0.1.0\tavx2\t" date "\tsome CPU\n"
#define ENTRIES                                        \
  ENTRY("w", "done", "00000000000000ff", "2026-01-01") \
  ENTRY("t", "stale", "00000000000000fe", "2026-01-02") ENTRY("p-add", "open", "-", "-")
#define LEDGER HEAD ENTRIES
#define CONFIG                                                                                    \
  "[data]\nset = gratings\ncount = 8\ntest = 4\nsize = 4\n[model]\nnet = mlp(layers=1,units=4)\n" \
  "[run]\nbatch = 4\nsteps = 2\n"

#define MODEL                                                                                          \
  "{\"quantization_config\": {\"quant_method\": \"fp8\", \"weight_block_size\": [2, 3], \"bits\": 4, " \
  "\"config_groups\": "                                                                                \
  "{\"group_0\": {\"weights\": {\"num_bits\": 4, \"group_size\": 16}}}}, \"x\": NaN}"

#define STEP "[run]\nbatch = 2\nsteps = 1\n"
#define EIGHT(x) x "\t" x "\t" x "\t" x "\t" x "\t" x "\t" x "\t" x "\t"
#define CLICK(label) \
  label "\t" EIGHT("1") "9\t10\t\t12\t13\t" EIGHT("0a") EIGHT("f00d") EIGHT("68fd1e64") "\te5ba7672\n"
#define CLICKS CLICK("0") CLICK("1") CLICK("1") CLICK("0")
#define LINES "the cat sat on the mat\nthe dog sat\n a b c d e f g the cat <unk> sat on a mat\nand the dog\n"

const command_target command_targets[] = {
    {"list", .texts = {{"x.list", LIST}, {"x.src", "w 0123456789abcdef\n"}},
     .steps = {{"x.list", "campaign x.list --status --json", NULL},
               {"x.list", "campaign x.list --sources x.src --ledger out.ledger",
                "campaign x.list --status --ledger out.ledger"}}},
    {"sources",
     .texts = {{"x.list", LIST}, {"x.src", "w 0123456789abcdef\n\n  t  FFFFFFFFFFFFFFFF\nother 0000000000000000\n"}},
     .steps = {{"x.src", "campaign x.list --sources x.src --ledger out.ledger",
                "campaign x.list --status --ledger out.ledger"}}},
    {"ledger",
     .texts = {{"x.list", LIST},
               {"x.list.ledger", LEDGER},
               {"y.ledger", HEAD ENTRY("w", "done", "00000000000000ff", "2026-02-01")},
               {"z.list", LIST},
               {"z.list.ledger.1-of-2", LEDGER}},
     .steps = {{"x.list.ledger", "campaign x.list --status --json", NULL},
               {"x.list.ledger", "campaign x.list --include p*", "campaign x.list --status"},
               {"x.list.ledger", "campaign --merge x.list.ledger y.ledger --ledger out.ledger",
                "campaign --merge out.ledger --ledger out2.ledger"},
               {"z.list.ledger.1-of-2", "campaign z.list --ledger z.list.ledger", "campaign z.list --status"}}},
    {"checkpoint", .texts = {{"c.ini", CONFIG}}, .made = {"train c.ini --output run"},
     .steps = {{"run/checkpoint.safetensors", "train c.ini --output run --resume --set run.steps=3", NULL},
               {"run/checkpoint.safetensors", "train c.ini --output run", NULL},
               {"run/log.csv", "train c.ini --output run --resume --set run.steps=3", NULL},
               {"run/config.ini", "train run/config.ini --output run --resume", NULL}}},
    {"data", .arrays = 1,
     .texts =
         {{"w.ini",
           "[data]\nset = words\npath = w.txt\nwindow = 3\nvocabulary = 5\n[model]\nnet = lstm(units=2)\n" STEP},
          {"w.txt", LINES LINES LINES LINES},
          {"p.ini",
           "[data]\nset = parallel\npath = s.txt\ntarget = t.txt\nwindow = 4\n[model]\nnet = "
           "seq2seq(units=2,hidden=2)\n" STEP},
          {"s.txt", "a b c\nb c\nc\na c b\na a\nb\nc c\nb a\nc a\na b\n"},
          {"t.txt", "x y z\ny z\nz\nx z y\nx x\ny\nz z\ny x\nz x\nx y\n"},
          {"m.ini", "[data]\nset = movielens\npath = m.dat\ncandidates = 2\nnegatives = 1\n[model]\nnet = ncf\n" STEP},
          {"m.dat",
           "1::2::5::978300760\n1::3::4::978300761\n2::2::1::978300762\n2::4::3::978300763\n3::3::2::7\n3::1::2::9\n"},
          {"c.ini",
           "[data]\nset = criteo\npath = c.txt\nvocabulary = 9\n[model]\nnet = dlrm(units=2,bottom=2,top=2)\n" STEP},
          {"c.txt", CLICKS CLICKS CLICKS},
          {"n.ini", "[data]\nset = npy\npath = x.npy\nlabels = x.npy\ntest = 1\n[model]\nnet = linear\n" STEP}},
     .steps = {{"w.txt", "train w.ini --output run", NULL},
               {"s.txt", "train p.ini --output run", NULL},
               {"t.txt", "train p.ini --output run", NULL},
               {"m.dat", "train m.ini --output run", NULL},
               {"c.txt", "train c.ini --output run", NULL},
               {"x.npy", "train n.ini --output run", NULL}}},
    {"network",
     .texts = {{"a.net",
                "key n = [2, 3]\nblock f(x, c) # twice\n  return relu(conv(x, c, 3, pad=1, start=fan_in(2)))\nend\n"
                "x = image(data.height, 4, 1)\nfor c in n\n  scope a{c}\n    x = f(x, c * 2 ^ 1)\n  end\nend\n"
                "if n[1] > 1 and relu == relu\n  x = concat(x, (x))\nelse\n  x = 3\nend\n"
                "output linear(global_average(x), data.outputs, bias_start=constant(-0.5))\n"},
               {"b.net",
                "x = input(3, 1)\nh = embedding(x, 7, 4, start=normal(0.1))\n"
                "h = attention(linear(position(h), 12), 2, causal=1)\noutput linear(lstm(h, 2), 7)\n"}},
     .steps = {{"a.net", "train --model a.net --describe --sizes height=4,outputs=3", NULL},
               {"a.net", "train --model a.net --describe --sizes height=4,outputs=3 --set model.keys=n=4/5", NULL},
               {"b.net", "train --model b.net --describe --sizes outputs=7", NULL}}},
    {"results", .texts = {{"s.ini", CONFIG}},
     .made = {"sweep s.ini --key optimizer.rate --values 0.1,0.2 --seeds 1 --jobs 1 --output s"},
     .steps = {{"s/runs.ledger", "sweep s.ini --key optimizer.rate --values 0.1,0.2 --seeds 1 --jobs 1 --output s",
                NULL},
               {"s/runs.ledger",
                "sweep s.ini --key optimizer.rate --values 0.1,0.2 --seeds 1 --jobs 1 --output s --json", NULL}}},
    {"vectors",
     .texts = {{"v.txt", "38 38 40 00\n7f 00 7f 10\n\n08 88 00 00\nXX zz 7F 1f\n"},
               {"dot.txt", "3c00 3c00 3c00 3c00 3c00 3c00 3c00 3c00 00000000 40800000 00\n"},
               {"mma.txt", "3c00 3c00 3c00 3c00 3c00 3c00 3c00 3c00 00000000\n1 2 3\n"},
               {"number.txt", "1.5 0x1.8p+3\n-inf\nnan 1e-400 0.1\n"},
               {"code.txt", "3f80 0x7f80 ffff\n"}},
     .steps = {{"v.txt", "vectors --check add -f float8_e4m3fn v.txt --first 3 --explain", NULL},
               {"dot.txt", "vectors --check dot --accum nv.volta.f16.f32 dot.txt --json", NULL},
               {"mma.txt", "mma nv.volta.f16.f32 mma.txt", NULL},
               {"number.txt", "encode -f bfloat16 number.txt", NULL},
               {"code.txt", "decode -f bfloat16 code.txt", NULL},
               {"v.txt", "vectors --testfloat f16_add v.txt", NULL},
               {"v.txt", "verify -f float4_e2m1fn --only world --merge v.txt", NULL},
               {"v.txt", "vectors --check convert --fa float8_e5m2 --fd i16 v.txt --words", NULL}}},
    {"config", .unbegun = 1,
     .texts = {{"c.ini", CONFIG},
               {"d.ini",
                "; all kinds\n[data]\nset = gratings ; here\n[optimizer]\nrate = 0.5\nkahan = linear0.weight,\n"
                "  linear1.weight\n[precision]\nsystem = fp16\naccumulate = block(align,l=4)\n"}},
     .steps = {{"c.ini", "train c.ini --output out", NULL},
               {"d.ini", "train d.ini --output out", NULL},
               {"c.ini", "sweep c.ini --values 0,1 --seeds 1 --shard 1/2 --output out", NULL}}},
    {"set", .arrays = 1,
     .made = {"quantize -q -f nvfp4 --codes x.npy o.npy", "quantize -q -f s2fp8 --codes x.npy p.npy",
              "quantize -q -f mxfp4 --codes x.npy -o m.safetensors"},
     .steps = {{"o.npy", "decode -f nvfp4 o.npy out.npy", "quantize -f bfloat16 out.npy out2.npy"},
               {"o.scales.npy", "decode -f nvfp4 o.npy out.npy", NULL},
               {"o.tensor.npy", "decode -f nvfp4 o.npy out.npy", NULL},
               {"o.check.npy", "decode -f nvfp4 o.npy out.npy", NULL},
               {"p.npy", "decode -f s2fp8 p.npy out.npy", NULL},
               {"p.mu.npy", "decode -f s2fp8 p.npy out.npy", NULL},
               {"p.alpha.npy", "decode -f s2fp8 p.npy out.npy", NULL},
               {"m.safetensors", "decode m.safetensors out.safetensors",
                "compare -f bfloat16 -f nvfp4 out.safetensors"}}},
    {"gguf", .arrays = 1,
     .steps = {{"x.gguf", "decode x.gguf out.safetensors", "compare -f bfloat16 -f nvfp4 --any-rank out.safetensors"},
               {"x.gguf", "quantize -f bfloat16 --any-rank x.gguf out.gguf", "decode out.gguf out2.safetensors"},
               {"x.gguf", "quantize -f mxfp4 x.gguf out.gguf", "decode out.gguf out2.safetensors"},
               {"x.gguf", "compare -f bfloat16 -f nvfp4 x.gguf --report out.html", NULL},
               {"x.gguf", "quantize -f mxfp4 --importance x.gguf x.npy out.npy", NULL},
               {"x.gguf", "plot -f float8_e5m2 --array x.gguf -o out.svg", NULL}}},
    {"safetensors", .arrays = 1,
     .made = {"quantize -q -f mxfp4 --codes x.npy -o coded.safetensors",
              "quantize -q -f bfloat16 x.npy -o plain.safetensors"},
     .steps = {{"plain.safetensors", "quantize -f bfloat16 --any-rank plain.safetensors -o out.safetensors",
                "compare -f bfloat16 -f nvfp4 --any-rank out.safetensors"},
               {"plain.safetensors", "quantize -f nvfp4 --codes --any-rank plain.safetensors -o out.safetensors",
                "decode out.safetensors out2.safetensors"},
               {"coded.safetensors", "decode coded.safetensors out.safetensors", NULL},
               {"plain.safetensors", "compare -f bfloat16 -f s2fp8 --any-rank plain.safetensors --report out.html",
                NULL},
               {"plain.safetensors", "plot -f float8_e5m2 --array plain.safetensors -o out.svg", NULL}}},
    {"layouts", .arrays = 1,
     .texts = {{"config.json", MODEL},
               {"f/config.json", MODEL},
               {"f/model.safetensors.index.json",
                "{\"weight_map\": {\"x\": \"a.safetensors\", \"layer.weight\": \"m.safetensors\"}}"}},
     .made = {"quantize -q -f float8_e4m3fn --codes x.npy -o m.safetensors",
              "quantize -q -f bfloat16 x.npy -o f/a.safetensors"},
     .steps = {{"m.safetensors", "decode m.safetensors out.safetensors", NULL},
               {"m.safetensors", "info m.safetensors", NULL},
               {"m.safetensors", "info m.safetensors --json --layout gptq-v2", NULL},
               {"m.safetensors", "decode m.safetensors out.safetensors --layout comfy-nvfp4", NULL},
               {"m.safetensors", "quantize -f nvfp4 --any-rank m.safetensors out.safetensors", NULL},
               {"m.safetensors", "compare -f bfloat16 -f nvfp4 --layout auto m.safetensors", NULL},
               {"config.json", "info m.safetensors", NULL},
               {"f/m.safetensors", "decode f out.safetensors", NULL},
               {"f/model.safetensors.index.json", "info f --json", NULL}}},
    {"models", .steps = {{"x.pt", "decode x.pt out.safetensors", NULL},
                         {"x.onnx", "decode x.onnx out.safetensors", NULL},
                         {"x.gguf", "info x.gguf", NULL},
                         {"x.pt", "info x.pt --json", NULL},
                         {"x.onnx", "info x.onnx --json", NULL}}},
    {"npy", .arrays = 1, .made = {"encode -q -f float8_e4m3fn x.npy codes.npy"},
     .steps = {{"x.npy", "quantize -f bfloat16 x.npy out.npy", "compare out.npy out.npy"},
               {"x.npy", "quantize -f nvfp4 --codes x.npy out.npy", "decode -f nvfp4 out.npy out2.npy"},
               {"codes.npy", "decode -f float8_e4m3fn codes.npy out.npy", "encode -f float8_e4m3fn out.npy out2.npy"},
               {"y.npy", "compare x.npy y.npy", NULL},
               {"y.npy", "gemm x.npy y.npy -o out.npy --accum exact", "compare out.npy out.npy"},
               {"x.npy", "collective x.npy --reduce ring(bfloat16) -o out.npy", NULL},
               {"x.npy", "plot -f float8_e5m2 --array x.npy -o out.svg", NULL},
               {"x.npy", "compare -f bfloat16 -f mxfp4 x.npy", NULL}}},
    {0},
};
