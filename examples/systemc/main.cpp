// SPDX-License-Identifier: MIT
// fp8_mac against halfulp: every pair of E4M3 codes on corners of C, then random ones. `mac bug`: the unit with a wrong
// tie. Exit status 0: all right, 1: not.
#include <cstdio>
#include <deque>

#include <halfulp/arith.h>
#include <halfulp/formats/ieee.h>
#include <halfulp/formats/ocp.h>
#include <halfulp/mode.h>

#include "mac.h"

struct operands {
  uint32_t a, b, c;
};

SC_MODULE(bench) {
  sc_in<bool> clk, done;
  sc_in<sc_uint<16>> d;
  sc_out<bool> valid;
  sc_out<sc_uint<8>> a, b;
  sc_out<sc_uint<16>> c;
  unsigned long checked = 0, wrong = 0;

  SC_CTOR(bench) {
    SC_THREAD(drive);
    sensitive << clk.neg();
    SC_METHOD(check);
    sensitive << clk.pos();
    dont_initialize();
  }

 private:
  std::deque<operands> sent;

  void send(operands x) {
    sent.push_back(x);
    a.write(x.a);
    b.write(x.b);
    c.write(x.c);
    valid.write(true);
    wait();
  }

  void drive() {
    const uint32_t corners[] = {0, 0x8000, 0x0001, 0x03ff, 0x8400, 0x3c01, 0x7bff, 0xfc00, 0x7e00};
    const hu_stream stream = {1, 0};
    wait();
    for (uint32_t addend : corners)
      for (uint32_t pair = 0; pair < 0x10000; pair += addend == 0x3c01 ? 1 : 7) send({pair >> 8, pair & 0xff, addend});
    for (uint64_t i = 0; i < 100000; i++) {
      uint32_t word = hu_stream_word(stream, i);
      send({word >> 24, word >> 16 & 0xff, word & 0xffff});
    }
    valid.write(false);
    while (!sent.empty()) wait();
    sc_stop();
  }

  void check() {
    if (!done.read()) return;
    const hu_format e4m3 = hu_float8_e4m3fn(), half = hu_binary16();
    const hu_mode rne = {};
    const operands x = sent.front();
    sent.pop_front();
    uint32_t events, want = hu_fma(half, rne, e4m3, x.a, e4m3, x.b, half, x.c, 0, &events), is = d.read().to_uint();
    checked++;
    if (is != want && wrong++ < 5)
      std::printf("%02x x %02x + %04x is %04x, wanted %04x%s\n", x.a, x.b, x.c, is, want,
                  events & HU_EVENT_INEXACT ? " (inexact)" : "");
  }
};

int sc_main(int argc, char **) {
  sc_clock clk("clk", 2, SC_NS);
  sc_signal<bool> valid, done;
  sc_signal<sc_uint<8>> a, b;
  sc_signal<sc_uint<16>> c, d;
  fp8_mac mac("mac", argc > 1);
  bench test("bench");
  mac.clk(clk), mac.valid(valid), mac.a(a), mac.b(b), mac.c(c), mac.done(done), mac.d(d);
  test.clk(clk), test.valid(valid), test.a(a), test.b(b), test.c(c), test.done(done), test.d(d);
  sc_start();
  std::printf("%lu results, %lu wrong\n", test.checked, test.wrong);
  return test.wrong != 0;
}
