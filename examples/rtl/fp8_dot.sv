// SPDX-License-Identifier: MIT
// fp8_dot - LANES products of 8-bit floating point, added to a narrow accumulator: D = C + A . B, four stages, one
// result a clock.
//
// Contract, as a model of halfulp (docs/accumulators.md), which the test benches check bit for bit:
//
//   block(align,l=LANES,f=KEEP,emin=-28,out=ACC)        ACC = fp(ACC_E,ACC_M,0)
//
// Products and C are cut toward zero to KEEP digits below the largest exponent among them and added exactly; the sum is
// rounded once into ACC, to nearest even or, where in_stochastic is set, by RANDOM random digits (sra:RANDOM): they are
// added to the first digits discarded. A and B are E4M3 (no infinities, NaN 7F and FF) or E5M2 (as IEEE 754), each by
// its own bit. Subnormal operands and results are numbers like the others. Flags: overflow, inexact; underflow with
// tininess before rounding; invalid where a NaN comes out and none went in, or a signalling one did (of E5M2 and ACC:
// the first trailing digit is 0).
//
// BUG = 1: the sticky bit is not there. 2: ties go away from zero. 3: subnormal results become zero.
module fp8_dot #(
    parameter int LANES = 4,
    parameter int ACC_E = 5,
    parameter int ACC_M = 10,
    parameter int KEEP = 13,
    parameter int RANDOM = 8,
    parameter int BUG = 0
) (
    input  logic                   clk,
    input  logic                   rst,
    input  logic                   in_valid,
    input  logic                   in_a_e5m2,
    input  logic                   in_b_e5m2,
    input  logic                   in_stochastic,
    input  logic [RANDOM-1:0]      in_random,
    input  logic [8*LANES-1:0]     in_a,           // lane k in bits 8k +: 8
    input  logic [8*LANES-1:0]     in_b,
    input  logic [ACC_E+ACC_M:0]   in_c,
    output logic                   out_valid,
    output logic [ACC_E+ACC_M:0]   out_d,
    output logic                   out_overflow,
    output logic                   out_underflow,
    output logic                   out_inexact,
    output logic                   out_invalid
);
  localparam int BIAS = (1 << (ACC_E - 1)) - 1;
  localparam int EMIN = -28;                         // of a product of the smallest E5M2 numbers
  localparam int TERM = KEEP + 2;                    // bits of an aligned product
  localparam int SUM = TERM + $clog2(LANES + 1);     // bits of the sum's magnitude
  localparam int BELOW = KEEP - EMIN + 1 - BIAS - ACC_M;  // most digits of the sum below the last place of ACC
  localparam int LEAST = BELOW > RANDOM ? BELOW : RANDOM;
  localparam int FRACTION = LEAST > SUM ? LEAST : SUM;
  localparam int WIDE = ACC_M + SUM + FRACTION;
  localparam int CODE = ACC_E + ACC_M + 2;           // a bit more than sign, exponent and trailing significand
  localparam int EXP = 10;                           // bits of an exponent
  localparam logic signed [EXP-1:0] EMIN_ALL = EXP'(EMIN);
  localparam logic signed [EXP-1:0] EMIN_ACC = EXP'(1 - BIAS);
  localparam logic signed [EXP-1:0] BIAS_ACC = EXP'(BIAS);
  localparam logic signed [EXP-1:0] DIGITS_ACC = EXP'(ACC_M);
  localparam logic signed [EXP-1:0] DIGITS = EXP'(KEEP);

  // ---- stage 1: operands taken apart, products ----

  // {NaN, infinity, sign, exponent, significand of 4 bits}: value = significand 2^(exponent - 3)
  function automatic [EXP+6:0] take_apart(input logic [7:0] code, input logic e5m2);
    logic nan, inf;
    logic [4:0] field;
    logic [3:0] significand;
    logic signed [EXP-1:0] exponent;
    begin
      nan = e5m2 ? code[6:2] == 5'h1f && code[1:0] != 0 : code[6:0] == 7'h7f;
      inf = e5m2 && code[6:0] == 7'h7c;
      field = e5m2 ? code[6:2] : {1'b0, code[6:3]};
      significand = e5m2 ? {field != 0, code[1:0], 1'b0} : {field != 0, code[2:0]};
      exponent = EXP'(field) - (e5m2 ? 10'sd15 : 10'sd7);
      if (field == 0) exponent = exponent + 10'sd1;
      take_apart = {nan, inf, code[7], exponent, significand};
    end
  endfunction

  logic                       s1_valid, s1_stochastic, s1_nan, s1_given, s1_plus, s1_minus, s1_c_sign;
  logic [RANDOM-1:0]          s1_random;
  logic [LANES-1:0]           s1_sign;
  logic [8*LANES-1:0]         s1_product;
  logic [EXP*LANES-1:0]       s1_exponent;
  logic [ACC_M:0]             s1_c;
  logic signed [EXP-1:0]      s1_c_exponent;

  always_ff @(posedge clk) begin : multiply
    logic a_nan, a_inf, a_sign, b_nan, b_inf, b_sign, nan, given, signalling, plus, minus;
    logic [3:0] a, b;
    logic signed [EXP-1:0] a_exponent, b_exponent;
    logic c_top;
    c_top = &in_c[ACC_M+:ACC_E];
    given = c_top && in_c[ACC_M-1:0] != 0;
    nan = given;
    signalling = given && !in_c[ACC_M-1];
    plus = c_top && in_c[ACC_M-1:0] == 0 && !in_c[ACC_E+ACC_M];
    minus = c_top && in_c[ACC_M-1:0] == 0 && in_c[ACC_E+ACC_M];
    for (int i = 0; i < LANES; i++) begin
      {a_nan, a_inf, a_sign, a_exponent, a} = take_apart(in_a[8*i+:8], in_a_e5m2);
      {b_nan, b_inf, b_sign, b_exponent, b} = take_apart(in_b[8*i+:8], in_b_e5m2);
      given = given || a_nan || b_nan;
      signalling = signalling || (a_nan && in_a_e5m2 && !in_a[8*i+1]) || (b_nan && in_b_e5m2 && !in_b[8*i+1]);
      nan = nan || a_nan || b_nan || (a_inf && b == 0) || (b_inf && a == 0);
      plus = plus || ((a_inf || b_inf) && a_sign == b_sign);
      minus = minus || ((a_inf || b_inf) && a_sign != b_sign);
      s1_sign[i] <= a_sign ^ b_sign;
      s1_product[8*i+:8] <= 8'(a) * 8'(b);
      s1_exponent[EXP*i+:EXP] <= a_exponent + b_exponent;
    end
    s1_valid <= in_valid && !rst;
    s1_stochastic <= in_stochastic;
    s1_random <= in_random;
    s1_nan <= nan || (plus && minus);
    s1_given <= given && !signalling;
    s1_plus <= plus;
    s1_minus <= minus;
    s1_c_sign <= in_c[ACC_E+ACC_M];
    s1_c <= {in_c[ACC_M+:ACC_E] != 0, in_c[ACC_M-1:0]};
    s1_c_exponent <= in_c[ACC_M+:ACC_E] == 0 ? EMIN_ACC : EXP'(in_c[ACC_M+:ACC_E]) - BIAS_ACC;
  end

  // ---- stage 2: the largest exponent, terms cut onto its grid ----

  logic                       s2_valid, s2_stochastic, s2_nan, s2_given, s2_plus, s2_minus;
  logic [RANDOM-1:0]          s2_random;
  logic signed [EXP-1:0]      s2_top;
  logic [LANES:0]             s2_sign;
  logic [TERM*(LANES+1)-1:0]  s2_term;

  always_ff @(posedge clk) begin : align
    logic signed [EXP-1:0] top, e;
    top = EMIN_ALL;
    for (int i = 0; i < LANES; i++) begin
      e = s1_exponent[EXP*i+:EXP];
      if (s1_product[8*i+:8] != 0 && e > top) top = e;
    end
    if (s1_c != 0 && s1_c_exponent > top) top = s1_c_exponent;
    for (int i = 0; i < LANES; i++) begin
      e = s1_exponent[EXP*i+:EXP];
      s2_term[TERM*i+:TERM] <= s1_product[8*i+:8] == 0 ? '0 : (TERM'(s1_product[8*i+:8]) << (KEEP - 6)) >> (top - e);
    end
    s2_term[TERM*LANES+:TERM] <= s1_c == 0 ? '0 : (TERM'(s1_c) << (KEEP - ACC_M)) >> (top - s1_c_exponent);
    s2_sign <= {s1_c_sign, s1_sign};
    s2_top <= top;
    s2_valid <= s1_valid && !rst;
    s2_stochastic <= s1_stochastic;
    s2_random <= s1_random;
    s2_nan <= s1_nan;
    s2_given <= s1_given;
    s2_plus <= s1_plus;
    s2_minus <= s1_minus;
  end

  // ---- stage 3: the sum, as sign and magnitude ----

  logic                       s3_valid, s3_stochastic, s3_nan, s3_given, s3_plus, s3_minus, s3_sign;
  logic [RANDOM-1:0]          s3_random;
  logic signed [EXP-1:0]      s3_top;
  logic [SUM-1:0]             s3_sum;

  always_ff @(posedge clk) begin : add
    logic signed [SUM:0] sum;
    sum = 0;
    for (int i = 0; i <= LANES; i++)
      if (s2_sign[i]) sum = sum - $signed((SUM+1)'(s2_term[TERM*i+:TERM]));
      else sum = sum + $signed((SUM+1)'(s2_term[TERM*i+:TERM]));
    s3_sign <= sum < 0;
    s3_sum <= SUM'(sum < 0 ? -sum : sum);
    s3_top <= s2_top;
    s3_valid <= s2_valid && !rst;
    s3_stochastic <= s2_stochastic;
    s3_random <= s2_random;
    s3_nan <= s2_nan;
    s3_given <= s2_given;
    s3_plus <= s2_plus;
    s3_minus <= s2_minus;
  end

  // ---- stage 4: one rounding into ACC ----

  always_ff @(posedge clk) begin : round
    logic signed [EXP-1:0] lead, exponent, down;
    logic [WIDE-1:0] wide;
    logic [ACC_M+1:0] kept;
    logic [FRACTION-1:0] fraction;
    logic [RANDOM:0] drawn;
    logic [CODE-1:0] code;
    logic tiny, up, over, infinite;
    lead = 0;
    for (int i = 0; i < SUM; i++) if (s3_sum[i]) lead = EXP'(i);
    exponent = s3_top - DIGITS + lead;
    tiny = exponent < EMIN_ACC;
    if (tiny) exponent = EMIN_ACC;
    down = exponent - DIGITS_ACC - s3_top + DIGITS;  // digits of the sum below ACC's last place
    wide = WIDE'(s3_sum) << FRACTION;
    wide = down >= 0 ? wide >> down : wide << -down;
    kept = wide[FRACTION+:ACC_M+2];
    fraction = wide[FRACTION-1:0];
    drawn = {1'b0, fraction[FRACTION-1-:RANDOM]} + {1'b0, s3_random};
    if (s3_stochastic) up = drawn[RANDOM];
    else if (BUG == 2) up = fraction[FRACTION-1];
    else up = fraction[FRACTION-1] && (kept[0] || (BUG != 1 && fraction[FRACTION-2:0] != 0));
    kept = kept + (ACC_M+2)'(up);
    exponent = s3_sum == 0 ? 0 : exponent - EMIN_ACC;
    code = (CODE'(exponent) << ACC_M) + CODE'(kept);
    if (BUG == 3 && code[CODE-1:ACC_M] == 0) code = 0;
    over = code[CODE-1:ACC_M] >= (ACC_E+2)'((1 << ACC_E) - 1);
    infinite = s3_plus || s3_minus;
    if (s3_nan) out_d <= {1'b0, {ACC_E{1'b1}}, 1'b1, {(ACC_M-1){1'b0}}};
    else if (infinite) out_d <= {s3_minus, {ACC_E{1'b1}}, {ACC_M{1'b0}}};
    else if (over) out_d <= {s3_sign, {ACC_E{1'b1}}, {ACC_M{1'b0}}};
    else out_d <= {s3_sign, code[ACC_E+ACC_M-1:0]};
    out_valid <= s3_valid && !rst;
    out_invalid <= s3_nan && !s3_given;
    out_overflow <= !s3_nan && !infinite && over;
    out_inexact <= !s3_nan && !infinite && (fraction != 0 || over);
    out_underflow <= !s3_nan && !infinite && fraction != 0 && tiny;
  end
endmodule
