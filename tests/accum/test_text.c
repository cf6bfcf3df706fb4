/* SPDX-License-Identifier: MIT */
/* Texts of accumulation models: round trips, the wrong part of wrong texts, records that say nothing; the presets'
 * list. */
#include <stdio.h>
#include <string.h>

#include "emu/accum/text.h"
#include "halfulp/formats/ieee.h"
#include "tests/accum/draws.h"
#include "tests/support/cmocka.h"

/* text, canonical text */
static const char *const good[][2] = {
    {"exact", "exact"},
    {"fp64", "fp64"},
    {"int32", "int32"},
    {"int32(sat,16)", "int32(sat,16)"},
    {"seq(binary32)", "seq(binary32)"},
    {"seq(fp(8,23,0),rne)", "seq(binary32)"},
    {"seq(fp(6,9,0):finite,sr:8)", "seq(fp_6_9_0_finite,sra:8)"},
    {"seq(fp(6,9,0):finite,nosub,rtz,sat=none)", "seq(fp(6,9,0):finite,nosub,rtz,sat=none)"},
    {"seq2(binary16,binary16)", "seq2(binary16)"},
    {"seq2(binary16,binary32,rtp)", "seq2(binary16,binary32,rtp)"},
    {"seq2(binary16,rtp)", "seq2(binary16,rtp)"},
    {"seq2(binary16,sat=finite)", "seq2(binary16,sat=finite)"},
    {"chunk(64,fp(6,9,0),fp(6,9,0))", "chunk(64,fp16_169_wang2018,fp16_169_wang2018)"},
    {"pairwise(bfloat16)", "pairwise(bfloat16)"},
    {"strided(bfloat16,raz)", "strided(bfloat16,raz)"},
    {"kahan(bfloat16,src:32)", "kahan(bfloat16,src:32)"},
    {"neumaier(binary16)", "neumaier(binary16)"},
    {"splitk(4,promote(64,seq2(binary16,binary32),binary32))",
     "splitk(4,promote(64,seq2(binary16,binary32),binary32))"},
    {"promote(128,nv.hopper.e4m3.f32.wgmma,binary32,scaled)",
     "promote(128,takes(float8_e4m3fn,float8_e4m3fn,binary32,block(align,l=32,f=13,emin=-133,acc=binary32,"
     "out=fp(8,13,0),round=rtz,over=inf,zero=plus)),binary32,scaled)"},
    {"any(nv.hopper.e4m3.f32.wgmma)",
     "block(align,l=32,f=13,emin=-133,acc=binary32,out=fp(8,13,0),round=rtz,over=inf,zero=plus)"},
    {"splitk(2,any(takes(binary16,any,any,fp32)))", "splitk(2,fp32)"},
    {"any(exact)", "exact"},
    {"any(promote(128,nv.hopper.e4m3.f32.wgmma,binary32))",
     "promote(128,block(align,l=32,f=13,emin=-133,acc=binary32,out=fp(8,13,0),round=rtz,over=inf,zero=plus),binary32)"},
    {"any(splitk(2,takes(binary16,any,any,fp32)))", "splitk(2,fp32)"},
    {"takes(any,any,any,seq(bfloat16))", "seq(bfloat16)"},
    {"takes(float8_e5m2,fp(4,3,0):fn,any,seq(bfloat16))", "takes(float8_e5m2,float8_e4m3fn,any,seq(bfloat16))"},
    {"nv.turing.s8xu8.s32.sat", "takes(s8,u8,s32,int32(sat,16))"},
    {"fma.f64", "takes(binary64,binary64,binary64,fp64)"},
    {"nv.volta.f16.f16", "takes(binary16,binary16,binary16,block(align,l=4,f=23,emin=-19,out=binary16,zero=plus))"},
    {"block(align,over=inf,round=rtz,emin=-131,f=23,l=4)", "block(align,l=4,f=23,emin=-131,round=rtz,over=inf)"},
    {"block(align,l=8,zeros=both,f=24,emin=-126,sticky=or,cut=floor)",
     "block(align,l=8,f=24,emin=-126,cut=floor,sticky=or,zeros=both)"},
    {"block(groups,l=16,g=2,f=24,emin=-126,window=14,past=limit,wide=3,to=fixed,via=fp(8,22,0),ftz=tiny)",
     "block(groups,l=16,f=24,emin=-126,g=2,ftz=tiny,window=14,to=fixed,wide=3,past=limit,via=fp(8,22,0))"},
    {"block(tree,l=12,g=3,products=exact)", "block(tree,l=12,g=3,products=exact)"},
    {"block(late,l=16,f=24,f2=31,lanes=2,far=25)", "block(late,l=16,f=24,f2=31,lanes=2,far=25)"},
    {"block(tree,l=2,products=exact,daz=none)", "block(tree,l=2,products=exact)"},
    {"block(chain,ftz=tiny,l=16,nan=kept,in=10,c=last)", "block(chain,l=16,in=10,c=last,ftz=tiny,nan=kept)"},
    {"block(exact,l=8,zero=ieee,round=rtn)", "block(exact,l=8,round=rtn,zero=ieee)"},
    {"block(exact,l=8,c=last,every=32,scale=float8_e8m0fnu,scaling=sum)",
     "block(exact,l=8,every=32,c=last,scaling=sum,scale=float8_e8m0fnu)"},
    {"block(align,l=4,f=25,emin=-4096,every=32,c=last,scaling=sum,scale=float8_e8m0fnu)",
     "block(align,l=4,f=25,emin=-4096,every=32,c=last,scaling=sum,scale=float8_e8m0fnu)"},
    {"amd.cdna1.f32", "takes(binary32,binary32,binary32,seq(binary32))"},
    {"arm.bfdot", "takes(bfloat16,bfloat16,binary32,block(tree,l=2,daz=sign,ftz=before,round=rto,over=inf))"},
};

static void good_texts(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    hu_accum x, back;
    char text[HU_ACCUM_TEXT_MAX];
    if (hu_accum_parse(&x, good[i][0], NULL) != HU_OK) fail_msg("%s is refused", good[i][0]);
    assert_int_equal(hu_accum_text(text, sizeof text, &x), strlen(good[i][1]));
    assert_string_equal(text, good[i][1]);
    assert_int_equal(hu_accum_parse(&back, text, NULL), HU_OK);
    assert_memory_equal(&x, &back, sizeof x);
    assert_int_equal(hu_accum_check(&x), HU_OK);
  }
}

typedef struct bad_text {
  const char *text;
  hu_status status;
  size_t where;
} bad_text;

static const bad_text bad[] = {
    {"", HU_E_TEXT, 0},
    {"seq", HU_E_TEXT, 3},
    {"seq(", HU_E_TEXT, 4},
    {"seq(binary33)", HU_E_NAME, 4},
    {"seq(fp(5,x,0))", HU_E_TEXT, 9},
    {"seq(binary32,rnx)", HU_E_TEXT, 13},
    {"seq(binary32,sat=some)", HU_E_TEXT, 17},
    {"seq(binary32,rne,rne)", HU_E_TEXT, 17},
    {"seq(binary32", HU_E_TEXT, 12},
    {"seq(binary32))", HU_E_TEXT, 13},
    {"exact(1)", HU_E_TEXT, 5},
    {"fp32,", HU_E_TEXT, 4},
    {"Exact", HU_E_TEXT, 0},
    {"exact ", HU_E_TEXT, 5},
    {"nv.volta", HU_E_NAME, 0},
    {"int32(wrap,4)", HU_E_TEXT, 6},
    {"int32(sat,0)", HU_E_TEXT, 10},
    {"chunk(0,binary16,binary16)", HU_E_TEXT, 6},
    {"chunk(08,binary16,binary16)", HU_E_TEXT, 6},
    {"chunk(2147483648,binary16,binary16)", HU_E_TEXT, 6},
    {"chunk(8,binary16)", HU_E_TEXT, 16},
    {"promote(128,exact,binary32)", HU_E_TEXT, 12},
    {"promote(128,fp32)", HU_E_TEXT, 16},
    {"promote(128,fp32,binary32,scale)", HU_E_TEXT, 26},
    {"promote(8,promote(4,fp32,binary32),binary32)", HU_E_NAME, 10},
    {"splitk(2,splitk(2,fp32))", HU_E_NAME, 9},
    {"splitk(2,fma.f64)", HU_E_TEXT, 9},
    {"block(aligned,l=4)", HU_E_TEXT, 6},
    {"block(align,l=4,f=23)", HU_E_TEXT, 20},
    {"block(align,l=4,l=4,f=23,emin=0)", HU_E_TEXT, 16},
    {"block(align,l=0,f=23,emin=0)", HU_E_TEXT, 14},
    {"block(align,l=4,f=41,emin=0)", HU_E_TEXT, 18},
    {"block(align,l=4,f=23,emin=-4097)", HU_E_TEXT, 26},
    {"block(align,l=4,f=23,emin=0,f2=3)", HU_E_TEXT, 28},
    {"block(align,l=4,f=23,emin=0,cut=up)", HU_E_TEXT, 32},
    {"block(align,l=4,f=23,emin=0,order=down)", HU_E_TEXT, 34},
    {"block(align,l=4,f=23,emin=0,every=4)", HU_E_TEXT, 34},
    {"block(align,l=4,f=23,emin=0,every=4,scale=ue4m3)", HU_E_TEXT, 42},
    {"block(align,l=4,f=23,emin=0,out=hfp8_fwd_143,over=inf)", HU_E_TEXT, 50},
    {"block(late,l=8,f=24,f2=20)", HU_E_TEXT, 23},
    {"block(groups,l=64,f=35,emin=0,g=24,every=24,scale=ue4m3)", HU_E_TEXT, 32},
    {"block(tree,l=3)", HU_E_TEXT, 13},
    {"block(tree,l=4,products=exact)", HU_E_TEXT, 24},
    {"block(chain,l=4,order=mod4)", HU_E_TEXT, 22},
    {"block(chain,l=4,last=rtz)", HU_E_TEXT, 21},
    {"block(tree,l=4,c=last)", HU_E_TEXT, 15},
    {"block(chain,l=4,nan=kept)", HU_E_TEXT, 20},
    {"block(exact,l=4,zero=plus)", HU_E_TEXT, 21},
    {"block(align,l=4,f=23,emin=0,zero=ieee)", HU_E_TEXT, 33},
    {"block(align,l=4,f=23,emin=0,cut=rne,sticky=or)", HU_E_TEXT, 43},
    {"block(align,l=4,f=23,emin=0,zeros=sticky)", HU_E_TEXT, 34},
    {"block(late,l=4,f=23,f2=23,sticky=or)", HU_E_TEXT, 26},
    {"block(align,l=4,f=23,emin=0,to=fixed)", HU_E_TEXT, 31},
    {"block(align,l=4,f=23,emin=0,past=wrap,past=limit)", HU_E_TEXT, 38},
    {"block(align,l=4,f=23,emin=0,past=limit)", HU_E_TEXT, 33},
    {"block(align,l=4,f=23,emin=0,window=4)", HU_E_TEXT, 28},
    {"block(tree,l=12,g=2,products=exact)", HU_E_TEXT, 13},
    {"block(tree,l=8,g=2)", HU_E_TEXT, 17},
    {"block(chain,l=8,via=binary16)", HU_E_TEXT, 16},
    {"block(exact,l=4,every=8,scale=float8_e8m0fnu)", HU_E_TEXT, 30},
    {"block(exact,l=4,every=8,scale=float8_e8m0fnu,scaling=sum)", HU_E_TEXT, 53},
    {"block(exact,l=4,every=6,c=last,scale=float8_e8m0fnu,scaling=sum)", HU_E_TEXT, 22},
    {"block(exact,l=4,c=last,scaling=sum)", HU_E_TEXT, 31},
    {"block(align,l=4,f=23,emin=0,order=mod4,every=8,c=last,scale=float8_e8m0fnu,scaling=sum)", HU_E_TEXT, 83},
    {"any", HU_E_TEXT, 3},
    {"splitk(2,any(splitk(2,fp32)))", HU_E_NAME, 13},
    {"any(any(fp32))", HU_E_TEXT, 4},
    {"takes(binary16,binary16,seq(bfloat16))", HU_E_TEXT, 27},
    {"takes(binary16,s9,any,fp32)", HU_E_NAME, 15},
    {"takes(binary16,binary16,any,amd.cdna1.f32)", HU_E_TEXT, 28},
    {"takes(binary16,binary16,any,any(fp32))", HU_E_NAME, 28},
    {"promote(4,takes(any,binary16,any,int32),binary32)", HU_E_TEXT, 33},
};

static void bad_texts(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    hu_accum x, before;
    size_t where = 999;
    memset(&x, 0xA5, sizeof x);
    before = x;
    hu_status status = hu_accum_parse(&x, bad[i].text, &where);
    if (status != bad[i].status || where != bad[i].where)
      fail_msg("%s: %s at %zu, not %s at %zu", bad[i].text, hu_status_name(status), where,
               hu_status_name(bad[i].status), bad[i].where);
    assert_memory_equal(&x, &before, sizeof x);
  }
}

/* The meaning of a valid record: its text parses to it. */
static int is_its_text(const hu_accum *x) {
  char text[HU_ACCUM_TEXT_MAX];
  hu_accum back;
  return hui_accum_write(text, sizeof text, x) < sizeof text && hu_accum_parse(&back, text, NULL) == HU_OK &&
         memcmp(&back, x, sizeof back) == 0;
}

/* A block of this rule, without scales, in which the key has a value other than 0. */
static hu_accum block_with(uint8_t rule, uint32_t key, int value) {
  hu_accum accum = {.kind = HU_ACCUM_BLOCK, .sum = hu_binary32(), .product = hu_binary32()};
  accum.block.rule = rule;
  for (uint32_t other = 0; other < HU_BLOCK_KEY_COUNT; other++)
    if (hu_block_key_at(other)->required >> rule & 1)
      hu_block_key_set(&accum.block, other, hu_block_key_at(other)->low);
  hu_block_key_set(&accum.block, key, value);
  return accum;
}

/* Every key that is a number or a word, under every rule: a record that has it says so in its text, which is refused
 * there under a rule that does not take it. */
static void keys_of_blocks(void **state) {
  unsigned taken = 0, refused = 0;
  (void)state;
  for (uint32_t at = 0; at < HU_BLOCK_KEY_COUNT * HU_BLOCK_RULES; at++) {
    const uint32_t key = at / HU_BLOCK_RULES, rule = at % HU_BLOCK_RULES;
    const hu_block_key *row = hu_block_key_at(key);
    int value = row->words[0] ? 1 : row->low > 0 ? row->low : 3;
    char text[HU_ACCUM_TEXT_MAX], part[32], number[8];
    hu_accum accum = block_with((uint8_t)rule, key, value), read;
    if (!row->words[0] && !row->high) continue; /* a format, a mode, a policy */
    assert_int_equal(hu_block_key_get(&accum.block, key), value);
    (void)hui_accum_write(text, sizeof text, &accum);
    snprintf(number, sizeof number, "%d", value);
    snprintf(part, sizeof part, ",%s=%s", row->name, row->words[0] ? row->words[value] : number);
    const char *found = strstr(text, part);
    if (!found) fail_msg("%s lacks %s", text, part);
    size_t where = 0;
    hu_status status = hu_accum_parse(&read, text, &where);
    int takes = row->rules >> rule & 1;
    if (!takes && (status != HU_E_TEXT || where != (size_t)(found - text) + 1)) fail_msg("%s: %zu", text, where);
    if (takes && status != HU_OK && where == (size_t)(found - text) + 1) fail_msg("%s: refused", text);
    taken += (unsigned)takes;
    refused += (unsigned)!takes;
  }
  assert_true(taken > 40 && refused > 40);
}

static void values_of_keys(void **state) {
  hu_block block = {0}, nothing = {0};
  (void)state;
  hu_block_key_set(&block, HU_BLOCK_KEY_EMIN, -4096);
  assert_true(block.emin == -4096 && hu_block_key_get(&block, HU_BLOCK_KEY_EMIN) == -4096);
  block.emin = 0;
  hu_block_key_set(&block, HU_BLOCK_KEY_AS, 1);
  hu_block_key_set(&block, HU_BLOCK_KEY_COUNT, 1);
  assert_memory_equal(&block, &nothing, sizeof block);
  assert_int_equal(hu_block_key_get(&block, HU_BLOCK_KEY_AS), 0);
  assert_int_equal(hu_block_key_get(&block, HU_BLOCK_KEY_COUNT), 0);
  assert_null(hu_block_key_at(HU_BLOCK_KEY_COUNT));
}

/* The kind and the rounding are often changed; the other changes are of any byte of the record. */
static void change_somewhere(hu_accum *x, t_random *random) {
  uint8_t *bytes = (uint8_t *)x;
  size_t at = t_below(random, sizeof *x);
  switch (t_below(random, 4)) {
    case 0: x->mode.round = (uint8_t)t_below(random, HU_ROUND_COUNT + 1); break;
    case 1: x->kind = t_below(random, HU_ACCUM_COUNT + 1); break;
    case 2: bytes[at] = (uint8_t)t_below(random, 4); break;
    default: bytes[at] = (uint8_t)(bytes[at] ^ (1u << t_below(random, 8))); break;
  }
}

/* hu_accum_check, which makes no text, against that meaning, over records with up to four changed fields. */
static void check_is_text(void **state) {
  static t_dot x;
  t_random random = {t_seed("accum check", 7)};
  unsigned long valid = 0, invalid = 0;
  (void)state;
  for (unsigned i = 0; i < 50000; i++) {
    draw_model(&x, &random, i % HU_ACCUM_COUNT, (uint8_t)(i / HU_ACCUM_COUNT % HU_BLOCK_RULES));
    for (unsigned change = t_below(&random, 5); change--;) change_somewhere(&x.accum, &random);
    int is_valid = is_its_text(&x.accum);
    if ((hu_accum_check(&x.accum) == HU_OK) != is_valid) {
      char text[HU_ACCUM_TEXT_MAX];
      (void)hui_accum_write(text, sizeof text, &x.accum);
      fail_msg("%s: %s, checked otherwise", text, is_valid ? "valid" : "not valid");
    }
    valid += is_valid;
    invalid += !is_valid;
  }
  assert_true(valid > 5000 && invalid > 5000);
  print_message("%lu valid records, %lu not\n", valid, invalid);
}

/* Records of every kind with every parameter, and their neighbours: a changed byte gives an invalid record or another
 * text. */
static void random_records(void **state) {
  static t_dot x;
  t_random random = {t_seed("accum text", 5)};
  unsigned long texts = 0, refused = 0, changed = 0;
  (void)state;
  for (unsigned i = 0; i < 20000; i++) {
    char text[HU_ACCUM_TEXT_MAX], other[HU_ACCUM_TEXT_MAX];
    hu_accum back;
    draw_model(&x, &random, i % HU_ACCUM_COUNT, (uint8_t)(i / HU_ACCUM_COUNT % HU_BLOCK_RULES));
    if (t_below(&random, 3) == 0) {
      x.accum.a = x.a;
      if (t_below(&random, 4)) x.accum.b = x.b;
      if (t_below(&random, 4)) x.accum.c = x.c;
    }
    size_t n = hu_accum_text(text, sizeof text, &x.accum);
    assert_true(n > 0 && n < sizeof text);
    assert_int_equal(hu_accum_parse(&back, text, NULL), HU_OK);
    assert_memory_equal(&back, &x.accum, sizeof back);
    texts++;
    size_t at = t_below(&random, sizeof back);
    ((uint8_t *)&back)[at] = (uint8_t)(((uint8_t *)&back)[at] ^ (1u << t_below(&random, 8)));
    if (hu_accum_check(&back) == HU_OK) {
      (void)hu_accum_text(other, sizeof other, &back);
      assert_string_not_equal(text, other);
      changed++;
    } else {
      assert_int_equal(hu_accum_text(other, sizeof other, &back), 0);
      refused++;
    }
  }
  assert_true(refused > 1000 && changed > 1000);
  print_message("%lu texts there and back, %lu changed records refused, %lu with another text\n", texts, refused,
                changed);
}

/* Cut, lengthened and altered texts never crash the reader, and what it accepts it writes back. */
static void mangled_texts(void **state) {
  t_random random = {t_seed("accum mangled", 6)};
  static const char letters[] = "(),=:-_.0123456789abcdefghijklmnopqrstuvwxyz ";
  unsigned long accepted = 0;
  (void)state;
  for (unsigned i = 0; i < 100000; i++) {
    char text[256], again[HU_ACCUM_TEXT_MAX];
    hu_accum x, back;
    size_t n = (size_t)snprintf(text, sizeof text - 4, "%s",
                                good[t_below(&random, sizeof good / sizeof good[0])][t_below(&random, 2)]);
    for (unsigned edit = t_below(&random, 3); edit--;)
      text[t_below(&random, (uint32_t)n)] = letters[t_below(&random, sizeof letters - 1)];
    if (t_below(&random, 8) == 0) text[t_below(&random, (uint32_t)n)] = 0;
    size_t where = 0;
    if (hu_accum_parse(&x, text, &where) != HU_OK) {
      assert_true(where <= strlen(text));
      continue;
    }
    accepted++;
    assert_true(hu_accum_text(again, sizeof again, &x) > 0);
    assert_int_equal(hu_accum_parse(&back, again, NULL), HU_OK);
    assert_memory_equal(&x, &back, sizeof x);
  }
  assert_true(accepted > 1000);
  print_message("%lu of 100000 mangled texts are models\n", accepted);
}

static void presets(void **state) {
  static const char *const expected[] = {"nv.volta.f16.f32",
                                         "nv.ampere.tf32.f32",
                                         "nv.ada.e4m3.f32",
                                         "nv.hopper.e4m3.f32.wgmma",
                                         "nv.hopper.e4m3.f32.mma",
                                         "nv.blackwell.mxfp8.e4m3",
                                         "nv.blackwell.nvfp4.b16.ue4m3",
                                         "nv.blackwell.e2m3xe2m1.f32",
                                         "amd.cdna3.fp8xbf8",
                                         "intel.tdpbf16ps",
                                         "arm.bfmmla"};
  hu_accum_preset preset, other;
  size_t n = hu_accum_preset_count();
  (void)state;
  for (size_t i = 0; i < n; i++) {
    assert_int_equal(hu_accum_preset_at(&preset, i), HU_OK);
    assert_int_equal(hu_accum_preset_find(&other, preset.name), HU_OK);
    assert_string_equal(preset.name, other.name);
    assert_memory_equal(&preset.accum, &other.accum, sizeof preset.accum); /* names are unique */
    assert_true(other.unit == preset.unit && other.k == preset.k && memcmp(&preset.a, &other.a, sizeof preset.a) == 0 &&
                memcmp(&preset.b, &other.b, sizeof preset.b) == 0);
    assert_int_equal(hu_accum_check(&preset.accum), HU_OK);
    assert_true(strlen(preset.unit) > 4 && strlen(preset.source) > 4);
    assert_true(strstr("HW SIM DOC TABLE OPEN", preset.confidence) != NULL);
    assert_true(hu_type_size(preset.a) && hu_type_size(preset.b) && hu_type_size(preset.c) && preset.k > 0);
    if (preset.accum.kind == HU_ACCUM_BLOCK) assert_int_equal(preset.k % preset.accum.block.length, 0);
    assert_true(memcmp(&preset.accum.a, &preset.a, sizeof preset.a) == 0 &&
                memcmp(&preset.accum.b, &preset.b, sizeof preset.b) == 0);
    assert_int_equal(preset.accum.c.kind, preset.c.kind);
  }
  assert_int_equal(hu_accum_preset_at(&preset, n), HU_E_NAME);
  assert_int_equal(hu_accum_preset_find(&preset, "nv.volta.f16"), HU_E_NAME);
  assert_int_equal(hu_accum_preset_find(NULL, "nv.volta.f16"), HU_E_NULL);
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
    assert_int_equal(hu_accum_preset_find(&preset, expected[i]), HU_OK);
  print_message("%zu presets\n", n);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(good_texts),     cmocka_unit_test(bad_texts),
                                     cmocka_unit_test(keys_of_blocks), cmocka_unit_test(values_of_keys),
                                     cmocka_unit_test(check_is_text),  cmocka_unit_test(random_records),
                                     cmocka_unit_test(mangled_texts),  cmocka_unit_test(presets)};
  return cmocka_run_group_tests_name("accum_text", tests, NULL, NULL);
}
