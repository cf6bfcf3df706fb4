/* SPDX-License-Identifier: MIT */
/* The keys of a run: what is refused and what the sentence says, what a system sets, models of sums, other lengths. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/cmocka.h"
#include "tests/train/trainer/trainers.h"

/* ---- keys ---- */

static void test_keys(void **state) {
  (void)state;
  hu_trainer *trainer = hu_trainer_new();
  assert_true(hu_trainer_key_count() > 40);
  assert_null(hu_trainer_key_at(hu_trainer_key_count()).name);
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    hu_trainer_key k = hu_trainer_key_at(i);
    assert_string_equal(hu_trainer_get(trainer, k.name), k.by_default);
    set(trainer, k.name, k.by_default); /* every default can be written */
    for (size_t j = 0; j < i; j++) assert_string_not_equal(hu_trainer_key_at(j).name, k.name);
  }
  assert_null(hu_trainer_get(trainer, "run.sed"));
  hu_trainer_free(trainer);
  hu_trainer_free(NULL);
}

static void refused(const char *key, const char *value, hu_status expected, const char *part) {
  hu_trainer *trainer = hu_trainer_new();
  char before[512];
  const char *old = hu_trainer_get(trainer, key);
  snprintf(before, sizeof before, "%s", old ? old : "");
  *why = 0;
  hu_status status = hu_trainer_set(trainer, key, value, why);
  if (status != expected || !strstr(why, key) || !strstr(why, part)) {
    fail_msg("%s = %s: %s, '%s'", key, value, hu_status_text(status), why);
  }
  if (old) assert_string_equal(hu_trainer_get(trainer, key), before);
  hu_trainer_free(trainer);
}

static void test_refused(void **state) {
  (void)state;
  refused("run.name", "a\nstep=9", HU_E_TRAIN, "line end");
  refused("run.sed", "1", HU_E_NAME, "no such key");
  refused("run.batch", "0", HU_E_TRAIN, "'0' is not a whole number from 1 to 16777216");
  refused("run.batch", "1.5", HU_E_TRAIN, "not a whole number from 1");
  refused("run.batch", "many", HU_E_TRAIN, "not a whole number from 1");
  refused("run.batch", "", HU_E_TRAIN, "not a whole number");
  refused("run.device", "gpu", HU_E_TRAIN, "not one of cpu, cuda");
  refused("data.set", "digit", HU_E_TRAIN, "digits, gratings, text");
  refused("data.set", "digit", HU_E_TRAIN, "perhaps digits is meant");
  refused("data.raw", "maybe", HU_E_TRAIN, "not one of no, yes");
  refused("optimizer.kind", "adagrd", HU_E_TRAIN, "not one of sgd, adamw, adagrad, muon; perhaps adagrad is meant");
  refused("optimizer.aspect", "spectrum", HU_E_TRAIN, "not one of spectral, rms, one");
  refused("optimizer.iterations", "65", HU_E_TRAIN, "not a whole number from 0 to 64");
  refused("optimizer.accum", "fp33", HU_E_NAME, "not an accumulation model");
  refused("optimizer.stored_m", "mxfp8", HU_E_NAME, "perhaps mxfp8_e4m3 or mxfp8_e5m2 is meant");
  refused("optimizer.rate", "-1", HU_E_TRAIN, "not a number from 0 to 1000000");
  refused("optimizer.rate", "nan", HU_E_TRAIN, "not a number from 0 to 1000000");
  refused("optimizer.momentum", "1", HU_E_TRAIN, "not a number from 0 to below 1");
  refused("optimizer.beta1", "1.0", HU_E_TRAIN, "not a number from 0 to below 1");
  refused("optimizer.beta2", "2", HU_E_TRAIN, "not a number from 0 to below 1");
  refused("optimizer.state", "fp(5,2", HU_E_TEXT, "not a format: something is missing at its end");
  refused("optimizer.state", "fp(5,2,x)", HU_E_TEXT, "'x)' is wrong, from character 8 on");
  refused("optimizer.state", "binary65", HU_E_NAME, "the name 'binary65' is unknown");
  refused("optimizer.state", "fp(11,20,0)", HU_E_CARRIER, "has values that binary32 does not have");
  refused("optimizer.update", "kahann", HU_E_TEXT, "neither a rounding mode (rne rna rnz rtz");
  refused("optimizer.schedule", "drop(2,0.1)", HU_E_TRAIN, "0 < at < 1");
  refused("optimizer.schedule", "drop(0.5/0.5,0.1)", HU_E_TRAIN, "rising shares");
  refused("optimizer.schedule", "drop(0.5/,0.1)", HU_E_TRAIN, "rising shares");
  refused("optimizer.schedule", "drop(.1/.2/.3/.4/.5/.6/.7/.8/.9,0.1)", HU_E_TRAIN, "up to 8");
  refused("optimizer.warmup", "-1", HU_E_TRAIN, "optimizer.warmup");
  refused("optimizer.schedule", "drop(0.5,0.1", HU_E_TRAIN, "no closing parenthesis");
  refused("optimizer.schedule", "drop(", HU_E_TRAIN, "no closing parenthesis");
  refused("optimizer.schedule", "cosin", HU_E_TRAIN, "constant, cosine, linear");
  refused("optimizer.schedule", "constant(1)", HU_E_TRAIN, "takes nothing");
  refused("optimizer.schedule", "plateau", HU_E_TRAIN, "requires it");
  refused("optimizer.schedule", "steps(7/7,0.1)", HU_E_TRAIN, "rising numbers");
  refused("optimizer.schedule", "epochs(1.5,0.1)", HU_E_TRAIN, "epochs(at,by)");
  refused("optimizer.schedule", "linear(floor=2)", HU_E_TRAIN, "floor: not from 0 to 1");
  refused("optimizer.schedule", "linear(each=day)", HU_E_TRAIN, "one of epoch, step");
  refused("optimizer.schedule", "cosine(flor=0)", HU_E_TRAIN, "perhaps floor is meant");
  refused("optimizer.schedule", "polynomial(0)", HU_E_TRAIN, "exponent");
  refused("optimizer.schedule", "exponential(1.1)", HU_E_TRAIN, "factor");
  refused("optimizer.schedule", "inverse_root(0)", HU_E_TRAIN, "at least 1");
  refused("optimizer.schedule", "inverse_root(8,from=2)", HU_E_TRAIN, "not 0 or 1");
  refused("optimizer.schedule", "plateau(0.5,last=9)", HU_E_TRAIN, "from 1 to 8");
  refused("optimizer.schedule", "plateau(0.5,window=0)", HU_E_TRAIN, "window: 0");
  refused("loss.scale", "static", HU_E_TEXT, "static(1024)");
  refused("loss.scale", "static(x)", HU_E_TEXT, "takes a number first, not 'x'");
  refused("loss.scale", "bakoff", HU_E_NAME, "none, static(SCALE), backoff(...)");
  refused("loss.scale", "bakoff", HU_E_NAME, "perhaps backoff is meant; this key takes largest, too");
  refused("loss.scale", "none(1)", HU_E_TEXT, "none has nothing behind it");
  refused("loss.scale", "backoff(scale=3)", HU_E_NAME, "backoff has no 'scale'; it takes scale_min, scale_max");
  refused("loss.scale", "exponentail", HU_E_NAME, "gradscaler(...) and exponential(...); perhaps exponential is meant");
  refused("loss.scale", "exponential(rate=2)", HU_E_NAME, "has no 'rate'; it takes start, factor, every, scale_max");
  refused("loss.scale", "exponential(factor=0.5)", HU_E_TRAIN, "exponential: factor: below 1 or not finite");
  refused("loss.scale", "backoff(start=0)", HU_E_TRAIN, "the first scale: not a positive normal");
  refused("precision.values", "qwertyuiop", HU_E_NAME, "it takes keep, a format, a scaled format");
  refused("precision.values", "mxfp8", HU_E_NAME, "perhaps mxfp8_e4m3 or mxfp8_e5m2 is meant");
  refused("precision.values", "nvfp", HU_E_NAME, "the name 'nvfp' is unknown; perhaps nvfp4");
  refused("precision.x", "bfloat61,rne", HU_E_NAME, "the name 'bfloat61' is unknown; perhaps bfloat16 is meant");
  refused("precision.x", "posit_8", HU_E_NAME, "perhaps posit8 is meant");
  refused("optimizer.state", "binay32", HU_E_NAME, "perhaps binary32 is meant");
  refused("precision.accum", "nv.hoper.e4m3.f32.wgmma", HU_E_NAME, "perhaps nv.hopper.e4m3.f32.wgmma is meant");
  refused("precision.accum", "binary16", HU_E_NAME, "'binary16' is a format; `halfulp models` lists them");
  refused("precision.accum", "seq(exact)", HU_E_NAME, "the name 'exact' is unknown");
  assert_null(strstr(why, "perhaps exact"));
  refused("precision.x", "fp8", HU_E_NAME, "the name 'fp8' is unknown; it takes keep");
  refused("precision.x", "bf8", HU_E_NAME, "the name 'bf8' is unknown; it takes keep");
  refused("precision.x", "BFLOAT16,sra:8", HU_E_TEXT, "the name 'BFLOAT16' is unknown; perhaps bfloat16 is meant");
  refused("precision.x", "FP(5,2,0)", HU_E_TEXT, "it takes keep, a format");
  refused("precision.x", "bfloat16,sat=INF", HU_E_TEXT, "'sat=INF' is wrong, from character 10 on");
  refused("optimizer.state", "fp(5,2,0):FINITE", HU_E_TEXT, "'FINITE' is wrong");
  refused("optimizer.state", "mxfp8", HU_E_NAME, "the name 'mxfp8' is unknown; `halfulp formats`");
  refused("precision.accum", "promote(32,nv.hoper.f16.f32,fp32)", HU_E_NAME, "perhaps nv.hopper.f16.f32 is meant");
  refused("precision.values", "bfloat16,rnq", HU_E_TEXT, "'rnq' is wrong, from character 10 on");
  refused("precision.values", "bfloat16,sr,sat=none", HU_E_TEXT, "'sr,sat=none': stochastic rounding is sra:N,");
  refused("precision.accum", "seq(bfloat16,Nearest)", HU_E_TEXT, "'Nearest)': to nearest is rne with ties to even,");
  refused("optimizer.update", "stochastic", HU_E_TEXT, "neither a rounding mode nor kahan: stochastic rounding is");
  refused("precision.values", "scaled(", HU_E_TEXT, "something is missing at its end");
  refused("precision.accum", "fp33", HU_E_NAME, "not an accumulation model: the name 'fp33' is unknown");
  refused("precision.dx_accum", "block(align,l=4)", HU_E_TEXT, "')' is wrong, from character 16 on");
  refused("precision.system", "int8", HU_E_NAME, "not one of binary32, fp16, bfloat16, fp8, fp8_e5m2,");
  refused("precision.system", "fp8e5m2", HU_E_NAME, "perhaps fp8_e5m2 is meant");
  refused("precision.hadamard", "17", HU_E_TRAIN, "not one of 0, 16, 32, 64, 128");
  refused("model.net", "mpl", HU_E_NAME, "the models are linear, mlp, conv, resnet,");
  refused("model.net", "mpl", HU_E_NAME, "perhaps mlp is meant");
  refused("precision.system", "bf16", HU_E_NAME, "not one of binary32, fp16, bfloat16,");
  assert_null(strstr(why, "perhaps"));
  refused("precision.system", "fp4", HU_E_NAME, "not one of binary32, fp16,");
  assert_null(strstr(why, "perhaps"));
  refused("model.net", "mlp(layer=2)", HU_E_NAME, "mlp has no 'layer'; it takes layers, units, activation");
  refused("model.net", "mlp(layer=2)", HU_E_NAME, "perhaps layers is meant");
  refused("model.net", "mlp(layers=x)", HU_E_TEXT, "a whole number as layers, not 'x'");
  refused("model.net", "mlp(units=3,layers=0)", HU_E_TRAIN, "layers: not from 1 to 64");
  refused("model.net", "mlp(layers=2", HU_E_TEXT, "a closing parenthesis is missing");
  refused("model.net", "mlp(layers=2,layers=3)", HU_E_TEXT, "'layers' given twice");
  refused("model.net", "mlp(activation=rel)", HU_E_TEXT, "one of relu, gelu, tanh as activation, not 'rel'");
  refused("model.net", "mlp(layers)", HU_E_TEXT, "'layers' without a value; it takes layers=a whole number");
  refused("model.net", "mlp()", HU_E_TEXT, "nothing between two commas or parentheses");
  refused("model.net", "linear(nobias=1)", HU_E_TEXT, "'nobias' without a value");
  refused("model.net", "conv(channels=8/x)", HU_E_TEXT, "'/' between them");
  refused("assignment.ratio", "2", HU_E_TEXT, "a ratio from 0 to 1");
}

/* Every key that takes one of some words lists them when it refuses one; every number its range. */
static void test_refused_says_what_is_taken(void **state) {
  (void)state;
  size_t words = 0, numbers = 0;
  for (size_t i = 0; i < hu_trainer_key_count(); i++) {
    hu_trainer_key k = hu_trainer_key_at(i);
    hu_trainer *trainer = hu_trainer_new();
    *why = 0;
    hu_status status = hu_trainer_set(trainer, k.name, "?", why);
    for (const char *const *w = k.words; w && *w; w++, words++)
      if (status == HU_OK || !strstr(why, *w)) fail_msg("%s: no word of %s in '%s'", k.name, *w, why);
    if (k.low < k.high) {
      numbers++;
      if (status == HU_OK || !strstr(why, " from ") || !strstr(why, " to "))
        fail_msg("%s: no range in '%s'", k.name, why);
    }
    hu_trainer_free(trainer);
  }
  assert_true(words > 60 && numbers > 25);
}

/* A refused value changes nothing, the run's numbers neither. */
static void test_refused_unchanged(void **state) {
  (void)state;
  hu_trainer *trainer = with(PAIRS("optimizer.rate", "0.01", "optimizer.update", "kahan", "loss.scale", "largest"));
  assert_int_not_equal(hu_trainer_set(trainer, "optimizer.rate", "1e9", why), HU_OK);
  assert_int_not_equal(hu_trainer_set(trainer, "optimizer.update", "junk", why), HU_OK);
  assert_int_not_equal(hu_trainer_set(trainer, "loss.scale", "junk", why), HU_OK);
  set(trainer, "precision.system", hu_trainer_get(trainer, "precision.system"));
  begin(trainer);
  hu_trainer_report report;
  assert_int_equal(hu_trainer_step(trainer, &report), HU_OK);
  assert_true(report.rate == 0.01 && report.scale > 1);
  int kahan = 0;
  for (size_t i = 0; i < hu_trainer_tensor_count(trainer); i++) {
    kahan |= strstr(hu_trainer_tensor_at(trainer, i).name, ".kahan") != NULL;
  }
  assert_true(kahan);
  hu_trainer_free(trainer);
}

static void test_system(void **state) {
  (void)state;
  const char *const systems[] = {"binary32",   "fp16",        "bfloat16", "fp8",      "fp8_e5m2",        "s2fp8",
                                 "fp8_tensor", "fp8_delayed", "mxfp8",    "mxfp6",    "mxfp4",           "nvfp4",
                                 "dsv3",       "hfp8",        "wang2018", "tetrajet", "fp4_all_the_way", "quartet"};
  hu_trainer *trainer = hu_trainer_new();
  size_t count = sizeof systems / sizeof *systems, key = 0;
  while (strcmp(hu_trainer_key_at(key).name, "precision.system") != 0) key++;
  for (size_t i = 0; i < count; i++) {
    set(trainer, "precision.system", systems[i]);
    assert_string_equal(hu_trainer_key_at(key).words[i], systems[i]);
    assert_non_null(strstr(hu_trainer_key_at(key).what, systems[i]));
  }
  assert_null(hu_trainer_key_at(key).words[count]);
  /* E4M3 forward, E5M2 for gradients; and E5M2 alone, results too. */
  set(trainer, "precision.system", "fp8");
  assert_string_equal(hu_trainer_get(trainer, "precision.x"), "float8_e4m3fn");
  assert_string_equal(hu_trainer_get(trainer, "precision.w_back"), "float8_e4m3fn");
  assert_string_equal(hu_trainer_get(trainer, "precision.dz"), "float8_e5m2");
  assert_string_equal(hu_trainer_get(trainer, "precision.dz_w"), "float8_e5m2");
  assert_string_equal(hu_trainer_get(trainer, "precision.dw_out"), "keep");
  set(trainer, "precision.system", "fp8_e5m2");
  assert_string_equal(hu_trainer_get(trainer, "precision.x"), "fp(5,2,0)");
  assert_string_equal(hu_trainer_get(trainer, "precision.dw_out"), "fp(5,2,0)");
  set(trainer, "precision.dx_accum", "seq(binary16)");
  set(trainer, "precision.system", "s2fp8");
  assert_string_equal(hu_trainer_get(trainer, "precision.dw_out"), "s2fp8");
  set(trainer, "precision.dw_out", "keep");
  assert_string_equal(hu_trainer_get(trainer, "precision.dw_out"), "keep");
  set(trainer, "precision.system", "binary32");
  for (size_t i = 0; i < hu_trainer_key_count(); i++) { /* back at the beginning */
    hu_trainer_key k = hu_trainer_key_at(i);
    assert_string_equal(hu_trainer_get(trainer, k.name), k.by_default);
  }
  hu_trainer_free(trainer);
}

/* ---- accumulation ---- */

/* Each product has a model of its own; what has none has precision.accum. */
static void test_accum(void **state) {
  (void)state;
#define FP8 "precision.system", "fp8", "model.net", "mlp(layers=2,units=48)", "run.steps", "4"
  const char *const narrow = "chunk(8,fp(4,3,0),fp(4,3,0))";
  const char *const keys[] = {"precision.z_accum", "precision.dx_accum", "precision.dw_accum"};
  uint64_t plain = digest_after(4, PAIRS(FP8)), all = digest_after(4, PAIRS(FP8, "precision.accum", narrow)), own[3];
  for (size_t i = 0; i < 3; i++) {
    own[i] = digest_after(4, PAIRS(FP8, keys[i], narrow));
    assert_true(own[i] != plain && own[i] != all);
    for (size_t k = 0; k < i; k++) assert_true(own[i] != own[k]);
    /* The others' model is no longer this one's. */
    assert_true(own[i] == digest_after(4, PAIRS(FP8, "precision.accum", narrow, keys[(i + 1) % 3], "fp32",
                                                keys[(i + 2) % 3], "fp32")));
  }
  assert_true(all == digest_after(4, PAIRS(FP8, keys[0], narrow, keys[1], narrow, keys[2], narrow)));
  assert_true(all == digest_after(4, PAIRS(FP8, "precision.accum", narrow, keys[0], "")));
  /* The instructions that a matrix unit has for these pairs of formats; all three have its sums. */
  uint64_t unit = digest_after(4, PAIRS(FP8, keys[0], "nv.hopper.e4m3.f32.wgmma", keys[1],
                                        "nv.hopper.e5m2xe4m3.f32.wgmma", keys[2], "nv.hopper.e4m3xe5m2.f32.wgmma"));
  assert_true(unit != plain);
  assert_true(unit == digest_after(4, PAIRS(FP8, "precision.accum",
                                            "block(align,l=32,f=13,emin=-133,acc=binary32,"
                                            "out=fp(8,13,0),round=rtz,over=inf)")));
}

/* What `begin` says of a system under a model; NULL: it begins. */
static const char *begins(const char *system, const char *key, const char *model, const char *net) {
  hu_trainer *trainer = with(PAIRS("precision.system", system, key, model, "model.net", net, "run.steps", "2"));
  *why = 0;
  hu_status status = hu_trainer_begin(trainer, folder, why);
  hu_trainer_free(trainer);
  return status == HU_OK ? NULL : why;
}

/* A matrix unit is refused where an operand is not of its format: before the first step, with key, operand, format. */
static void test_units(void **state) {
  static const char *const mlp = "mlp(layers=2,units=48)", *const all = "precision.accum";
  static const char *const e4m3 = "nv.hopper.e4m3.f32.wgmma", *const half = "nv.hopper.f16.f32";
  static const struct {
    const char *system, *key, *model, *says;
  } rows[] = {
      {"binary32", "precision.accum", e4m3, "operand x of linear is binary32"},
      {"nvfp4", "precision.accum", half, "operand x of linear is binary32"},
      {"s2fp8", "precision.accum", e4m3, "operand x of linear is binary32"},
      {"fp16", "precision.accum", e4m3, "operand x of linear is binary16"},
      {"fp8", "precision.accum", e4m3, "operand dz_w of linear is float8_e5m2"},
      {"fp8", "precision.dx_accum", e4m3, "precision.dx_accum: the model takes A float8_e4m3fn, B float8_e4m3fn"},
      {"fp8", "precision.dw_accum", "nv.hopper.e5m2xe4m3.f32.wgmma", "operand x_back of linear is float8_e4m3fn"},
      {"fp16", "precision.accum", "nv.turing.s8.s32", "A s8, B s8"}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const char *said = begins(rows[i].system, rows[i].key, rows[i].model, mlp);
    if (!said || !strstr(said, rows[i].says)) fail_msg("row %zu: %s", i, said ? said : "begins");
  }
  assert_null(begins("fp16", all, half, mlp));
  assert_null(begins("bfloat16", all, "nv.ampere.bf16.f32", mlp));
  assert_null(begins("fp8_e5m2", all, "nv.hopper.e5m2.f32.wgmma", mlp));
  assert_null(begins("binary32", all, "nv.ampere.tf32.f32", mlp)); /* looks at a part of binary32 numbers */
  assert_null(begins("nvfp4", all, "any(nv.hopper.f16.f32)", mlp));
}

/* What `begin` says where an assignment makes the operands of forward products; NULL: it begins, and steps pass. */
static const char *assigned(const char *kind, const char *promote, const char *low, const char *high,
                            const char *model) {
  hu_trainer *trainer = with(PAIRS("assignment.kind", kind, "assignment.promote", promote, "assignment.low_forward",
                                   low, "assignment.high_forward", high, "precision.z_accum", model, "model.net",
                                   "mlp(layers=2,units=48)", "run.steps", "2"));
  *why = 0;
  hu_status status = hu_trainer_begin(trainer, folder, why);
  if (status == HU_OK) steps(trainer, 2);
  hu_trainer_free(trainer);
  return status == HU_OK ? NULL : why;
}

/* The operands of an assignment are asked as well: those of its first step, and those that promotion leads to. */
static void test_units_and_assignments(void **state) {
  static const char *const e4m3 = "nv.hopper.e4m3.f32.wgmma", *const half = "nv.hopper.f16.f32";
  static const char *const eight = "float8_e4m3fn", *const sixteen = "binary16", *const six = "fp(3,2,0):finite";
  static const struct {
    const char *kind, *promote, *low, *high, *model, *says;
  } rows[] = {{"high", "1", eight, sixteen, e4m3, "operand x of linear is binary16; give assignment.low_forward"},
              {"uniform", "1", six, sixteen, half, "operand x of linear is float6_e3m2fn"},
              {"uniform", "1", sixteen, eight, e4m3, "high_forward or precision.x that format"},
              {"uniform", "0.01", eight, sixteen, e4m3, "operand x of linear is binary16"}, /* after a promotion */
              {"uniform", "0.01", sixteen, eight, half, "operand x of linear is float8_e4m3fn"},
              {"demote", "1", eight, sixteen, half, "of linear is float8_e4m3fn"}};
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const char *said = assigned(rows[i].kind, rows[i].promote, rows[i].low, rows[i].high, rows[i].model);
    if (!said || !strstr(said, "precision.z_accum: the model takes") || !strstr(said, rows[i].says))
      fail_msg("row %zu: %s", i, said ? said : "begins");
  }
  const char *said = begins("binary32", "precision.hadamard", "16", "mlp(layers=2,units=48)");
  assert_null(said);
  hu_trainer *trainer = with(PAIRS(
      "assignment.kind", "high", "assignment.high_forward", sixteen, "assignment.high_backward", sixteen,
      "precision.hadamard", "16", "precision.dw_accum", half, "model.net", "mlp(layers=2,units=48)", "run.steps", "2"));
  assert_int_not_equal(hu_trainer_begin(trainer, folder, why), HU_OK);
  if (!strstr(why, "; give precision.x_back that format")) fail_msg("%s", why); /* what is transformed is no tensor */
  hu_trainer_free(trainer);
  assert_null(assigned("high", "1", eight, eight, e4m3));
  assert_null(assigned("high", "0.01", eight, eight, e4m3));
  assert_null(assigned("high", "1", six, sixteen, half)); /* low formats are never met */
  assert_null(assigned("uniform", "1", eight, sixteen, e4m3));
  assert_null(assigned("uniform", "0.01", sixteen, sixteen, half));
  assert_null(assigned("uniform", "0.01", six, sixteen, "any(nv.hopper.f16.f32)"));
}

/* ---- other lengths ---- */

/* The first `done` steps of a run of pairs, gone on with in a run of `more`: the digest, or 0 where it is refused. */
static uint64_t prolonged(const char *const *pairs, const char *const *more, size_t done) {
  char text[8192];
  static float numbers[1 << 14];
  hu_trainer *a = with(pairs), *b = with(more);
  begin(a), begin(b);
  steps(a, done);
  assert_true(hu_trainer_state(a, text, sizeof text) < sizeof text);
  for (size_t i = 0; i < hu_trainer_tensor_count(a); i++) {
    assert_int_equal(hu_trainer_read(a, i, numbers), HU_OK);
    assert_int_equal(hu_trainer_write(b, i, numbers), HU_OK);
  }
  *why = 0;
  hu_status status = hu_trainer_resume(b, text, why);
  while (status == HU_OK && !hu_trainer_done(b)) steps(b, 1);
  uint64_t digest = status == HU_OK ? hu_trainer_digest(b) : 0;
  if (status != HU_OK) assert_int_equal(hu_trainer_at(b), 0);
  hu_trainer_free(a), hu_trainer_free(b);
  return digest;
}

#define SHORT "model.net", "mlp(layers=1,units=8)", "run.batch", "256", "optimizer.momentum", "0.9"

/* 5 steps an epoch. Where the rates of what is done stay, the weights are those of a run that had the length at first.
 */
static void test_prolonged(void **state) {
  (void)state;
  const char *const *two = PAIRS(SHORT, "run.epochs", "2"), *const *four = PAIRS(SHORT, "run.epochs", "4");
  const char *const *many = PAIRS(SHORT, "run.steps", "2^4");
  uint64_t of_two = digest_after(10, two), of_four = digest_after(20, four), of_many = digest_after(16, many);
  assert_true(of_two != of_four && of_four != of_many);
  assert_true(prolonged(two, four, 10) == of_four); /* of one at its end */
  assert_true(prolonged(two, four, 3) == of_four);  /* of one that was stopped */
  assert_true(prolonged(four, two, 3) == of_two);   /* a shorter one */
  assert_true(prolonged(two, many, 10) == of_many);
  assert_true(prolonged(many, four, 7) == of_four);
  assert_true(prolonged(four, two, 11) == 0);
  assert_non_null(strstr(why, "11 steps are done, and the run has 10"));
  /* A tenth of the rate after half of the epochs. */
#define DROP SHORT, "optimizer.schedule", "drop(0.5,0.1)"
  assert_true(prolonged(PAIRS(DROP, "run.epochs", "2"), PAIRS(DROP, "run.epochs", "4"), 5) ==
              digest_after(20, PAIRS(DROP, "run.epochs", "4")));
  assert_true(prolonged(PAIRS(DROP, "run.epochs", "2"), PAIRS(DROP, "run.epochs", "4"), 6) == 0);
  assert_non_null(strstr(why, "optimizer.schedule"));
  assert_non_null(strstr(why, "10 steps there, 20 here"));
  assert_non_null(strstr(why, "from epoch 1 on"));
  assert_true(prolonged(PAIRS(DROP, "run.epochs", "4"), PAIRS(DROP, "run.epochs", "8"), 10) ==
              digest_after(40, PAIRS(DROP, "run.epochs", "8")));
  /* Another one in every epoch but the first; only as many epochs have the same ones. */
#define COSINE SHORT, "optimizer.schedule", "cosine"
  assert_true(prolonged(PAIRS(COSINE, "run.epochs", "3"), PAIRS(COSINE, "run.epochs", "4"), 5) ==
              digest_after(20, PAIRS(COSINE, "run.epochs", "4")));
  assert_true(prolonged(PAIRS(COSINE, "run.epochs", "3"), PAIRS(COSINE, "run.epochs", "4"), 15) == 0);
  assert_true(prolonged(PAIRS(COSINE, "run.steps", "12"), PAIRS(COSINE, "run.steps", "14"), 12) ==
              digest_after(14, PAIRS(COSINE, "run.steps", "14")));
  /* With rates of steps each of them is compared; those that end at a step of their own stay. */
#define LINEAR SHORT, "optimizer.schedule"
  assert_true(prolonged(PAIRS(LINEAR, "linear", "run.steps", "9"), PAIRS(LINEAR, "linear", "run.steps", "12"), 2) == 0);
  assert_non_null(strstr(why, "9 steps there, 12 here"));
  assert_true(prolonged(PAIRS(LINEAR, "linear(until=20)", "run.steps", "9"),
                        PAIRS(LINEAR, "linear(until=20)", "run.steps", "12"),
                        9) == digest_after(12, PAIRS(LINEAR, "linear(until=20)", "run.steps", "12")));
#undef LINEAR
#undef DROP
#undef COSINE
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_keys),
                                     cmocka_unit_test(test_refused),
                                     cmocka_unit_test(test_refused_unchanged),
                                     cmocka_unit_test(test_refused_says_what_is_taken),
                                     cmocka_unit_test(test_system),
                                     cmocka_unit_test(test_accum),
                                     cmocka_unit_test(test_units),
                                     cmocka_unit_test(test_units_and_assignments),
                                     cmocka_unit_test(test_prolonged)};
  folder = argc > 1 ? argv[1] : "data";
  return cmocka_run_group_tests(tests, NULL, NULL);
}
