// SPDX-License-Identifier: MIT
// What fp8_dot has to do, asked of halfulp; which corners were met; a vector told in words.
`ifndef LANES
`define LANES 4
`endif
`ifndef ACC_E
`define ACC_E 5
`endif
`ifndef ACC_M
`define ACC_M 10
`endif
`ifndef KEEP
`define KEEP 13
`endif

// The unit's contract with its last rounding left to the call, which so reports its events and takes the unit's own
// random digits: fp(8,23,0) has to hold every sum of the unit. Lanes: what Verilator 5.006 compiles.
module fp8_dot_bounds #(
    parameter int LANES, ACC_E, ACC_M, KEEP
);
  if (KEEP + 2 + $clog2(LANES + 1) > 24 || ACC_E > 8)
    $fatal(1, "a sum has to fit 24 digits and 8 exponent bits: KEEP + 2 + clog2(LANES + 1) <= 24, ACC_E <= 8");
  if (KEEP < ACC_M || KEEP < 6) $fatal(1, "KEEP has to be at least ACC_M, and 6");
  if (LANES < 1 || LANES > 8) $fatal(1, "LANES has to be 1 to 8");
endmodule

package fp8_dot_check;
  import halfulp_dpi::*;

  localparam int LANES = `LANES, ACC_E = `ACC_E, ACC_M = `ACC_M, KEEP = `KEEP;
  localparam int RANDOM = 8;
  localparam int AB = 8 * LANES;
  localparam int ACC = 1 + ACC_E + ACC_M;

  typedef struct packed {
    logic              stochastic, a_e5m2, b_e5m2;
    logic [RANDOM-1:0] random;
    logic [ACC-1:0]    c;
    logic [AB-1:0]     a, b;
  } vector_t;
  typedef struct packed {
    logic [ACC-1:0] d;
    logic           overflow, underflow, inexact, invalid;
  } result_t;

  typedef enum int { DIRECTED, GOLDEN, RANDOMS, CHAINED, GROUPS } group_t;

  // A choice of texts: those of ?: are padded to one width.
  function automatic string either(bit first, string a, string b);
    /* verilator no_inline_task */
    if (first) return a;
    return b;
  endfunction

  // Lane 0 on the left, as vector files have it.
  function automatic logic [AB-1:0] first_lane_first(logic [AB-1:0] x);
    /* verilator no_inline_task */
    for (int k = 0; k < LANES; k++) first_lane_first[8*k+:8] = x[8*(LANES-1-k)+:8];
  endfunction

  // ---- random numbers, the same in every simulator ----

  function automatic longint unsigned scramble(longint unsigned x);
    /* verilator no_inline_task */
    longint unsigned z = x + 64'h9e37_79b9_7f4a_7c15;
    z = (z ^ (z >> 30)) * 64'hbf58_476d_1ce4_e5b9;
    z = (z ^ (z >> 27)) * 64'h94d0_49bb_1331_11eb;
    return z ^ (z >> 31);
  endfunction

  // Number k of vector i.
  function automatic int unsigned draw(longint unsigned seed, int i, int k);
    /* verilator no_inline_task */
    return 32'(scramble(scramble(seed * 64'd1000003 + 64'(i)) + 64'(k)) >> 32);
  endfunction

  // Fields of a vector, each an unsigned number: how it rounds, the formats, the random digits, C, then A and B by
  // lanes.
  localparam int FIELDS = 5 + 2 * LANES;

  function automatic int unsigned field(vector_t v, int i);
    case (i)
      0: return 32'(v.stochastic);
      1: return 32'(v.a_e5m2);
      2: return 32'(v.b_e5m2);
      3: return 32'(v.random);
      4: return 32'(v.c);
      default: return (i - 5) % 2 == 0 ? 32'(v.a[8*((i-5)/2)+:8]) : 32'(v.b[8*((i-5)/2)+:8]);
    endcase
  endfunction

  function automatic vector_t with_field(vector_t v, int i, int unsigned x);
    case (i)
      0: v.stochastic = x[0];
      1: v.a_e5m2 = x[0];
      2: v.b_e5m2 = x[0];
      3: v.random = x[RANDOM-1:0];
      4: v.c = ACC'(x);
      default: if ((i - 5) % 2 == 0) v.a[8*((i-5)/2)+:8] = x[7:0];
               else v.b[8*((i-5)/2)+:8] = x[7:0];
    endcase
    return v;
  endfunction

  class check_t;
  // The unit's contract with its last rounding left out (fp8_dot_bounds), and with it.
  chandle format [3], acc, wide, rne, sra, toward_zero, to_odd;
  chandle model [4], chain [4], sum [4], exact [4];

  function string format_name(bit e5m2);
    return either(e5m2, "float8_e5m2", "float8_e4m3fn");
  endfunction

  function new(string golden_folder);
    string narrow = $sformatf("fp(%0d,%0d,0)", ACC_E, ACC_M), digits = $sformatf("l=%0d,f=%0d,emin=-28", LANES, KEEP);
    string open = {"block(align,", digits, ",acc=", narrow, ",out=fp(8,23,0))"};
    string closed = {"block(align,", digits, ",out=", narrow, ")"};
    for (int i = 0; i < 4; i++) begin
      string a = format_name(i[1]), b = format_name(i[0]);
      model[i] = hu_model(open, a, b, narrow);
      sum[i] = hu_model(open, a, b, "fp(8,23,0)", narrow);
      chain[i] = hu_model(closed, a, b, narrow);
      exact[i] = hu_model("exact", a, b, "fp(8,23,0)", narrow);
    end
    format[0] = hu_format(format_name(0));
    format[1] = hu_format(format_name(1));
    acc = hu_format(narrow);
    format[2] = acc;
    wide = hu_format("fp(8,23,0)");
    rne = hu_mode("rne", "", "", "before");
    sra = hu_mode($sformatf("sra:%0d", RANDOM), "", "", "before");
    toward_zero = hu_mode("rtz");
    to_odd = hu_mode("rto");
    folder = golden_folder;
    find_corners();
    cover_start();
    $display("contract: %s", closed);
  endfunction

  function longint unsigned dot(chandle with_model, chandle mode, vector_t v, output int unsigned events);
    longint unsigned d;
    void'(hu_check(hu_dpi_dot(with_model, mode, LANES, hu_bus_t'(v.a), hu_bus_t'(v.b), 64'(v.c), '0, '0, '0,
                              32'(v.random), d, events), "dot"));
    return d;
  endfunction

  function bit is_signalling(chandle f, int unsigned code);
    int x = 0;
    void'(hu_check(hu_dpi_is_signalling(f, code, x), "is_signalling"));
    return x != 0;
  endfunction

  function bit has_signalling(vector_t v);
    bit found = is_signalling(acc, 32'(v.c));
    for (int k = 0; k < LANES; k++) begin
      found |= is_signalling(format[int'(v.a_e5m2)], 32'(v.a[8*k+:8]));
      found |= is_signalling(format[int'(v.b_e5m2)], 32'(v.b[8*k+:8]));
    end
    return found;
  endfunction

  function result_t reference(vector_t v);
    int unsigned events;
    result_t r;
    r.d = ACC'(dot(model[{v.a_e5m2, v.b_e5m2}], v.stochastic ? sra : rne, v, events));
    r.overflow = (events & HU_EVENT_OVERFLOW) != 0;
    r.underflow = (events & HU_EVENT_UNDERFLOW) != 0;
    r.inexact = (events & HU_EVENT_INEXACT) != 0;
    r.invalid = (events & HU_EVENT_INVALID) != 0 || has_signalling(v);
    return r;
  endfunction

    `include "stimulus.svh"
    `include "coverage.svh"
    `include "explain.svh"
  endclass
endpackage
