// SPDX-License-Identifier: MIT
// fp8_mac - a multiply-add in SystemC: D = A B + C, A and B in E4M3 (OCP), C and D in binary16, rounded once, ties to
// even. Two stages, one result a clock. Contract: halfulp's hu_fma.
#ifndef MAC_H
#define MAC_H

#include <systemc.h>

SC_MODULE(fp8_mac) {
  sc_in<bool> clk, valid;
  sc_in<sc_uint<8>> a, b;
  sc_in<sc_uint<16>> c;
  sc_out<bool> done;
  sc_out<sc_uint<16>> d;

  // bug: ties go away from zero.
  fp8_mac(sc_module_name name, bool bug) : sc_module(name), bug_(bug) {
    SC_METHOD(multiply);
    sensitive << clk.pos();
    dont_initialize();
    SC_METHOD(add);
    sensitive << clk.pos();
    dont_initialize();
  }
  SC_HAS_PROCESS(fp8_mac);

 private:
  const bool bug_;
  sc_signal<bool> product_valid, product_sign, product_nan;
  sc_signal<int64> product;  // in units of 2^-24
  sc_signal<sc_uint<16>> addend;

  // The magnitude of an E4M3 code in units of 2^-9.
  static int64 magnitude(sc_uint<8> code) {
    unsigned field = code.range(6, 3).to_uint(), trailing = code.range(2, 0).to_uint();
    return field ? int64(8 + trailing) << (field - 1) : trailing;
  }

  void multiply() {
    sc_uint<8> x = a.read(), y = b.read();
    bool sign = bool(x[7]) != bool(y[7]);
    int64 exact = magnitude(x) * magnitude(y) << 6;
    product.write(sign ? -exact : exact);
    product_sign.write(sign);
    product_nan.write(x.range(6, 0) == 0x7f || y.range(6, 0) == 0x7f);
    product_valid.write(valid.read());
    addend.write(c.read());
  }

  void add() {
    sc_uint<16> x = addend.read();
    unsigned field = x.range(14, 10).to_uint(), trailing = x.range(9, 0).to_uint();
    int64 term = field ? int64(1024 + trailing) << (field - 1) : trailing;
    int64 sum = product.read() + (x[15] ? -term : term);
    bool negative = sum < 0 || (sum == 0 && product_sign.read() && x[15]);
    done.write(product_valid.read());
    if (product_nan.read() || (field == 31 && trailing))
      d.write(0x7e00);
    else if (field == 31)
      d.write(x);
    else
      d.write(rounded(sum < 0 ? -sum : sum) | (negative ? 0x8000u : 0u));
  }

  // An integer number of 2^-24, the step of binary16's subnormal numbers, as a code: below 2^11 it is the code.
  unsigned rounded(int64 sum) const {
    unsigned shift = 0;
    while (sum >> shift >= 2048) shift++;
    int64 kept = sum >> shift, rest = sum - (kept << shift), half = shift ? int64(1) << (shift - 1) : 0;
    if (shift && (rest > half || (rest == half && (bug_ || kept % 2)))) kept++;
    int64 code = (int64(shift) << 10) + kept;
    return code < 0x7c00 ? unsigned(code) : 0x7c00;
  }
};

#endif
