// SPDX-License-Identifier: MIT
// Part of check_t: a vector that differs, told in words.

  // A code of fp(8,23,0) as C99 writes it: what `halfulp explain` takes.
  function string hex_real(int unsigned s);
    string sign = either(s[31], "-", "");
    if (s[30:0] == 0) return {sign, "0"};
    if (s[30:23] == 8'hff) return either(s[22:0] != 0, "nan", {sign, "inf"});
    return $sformatf("%s0x1.%06xp%0d", sign, {s[22:0], 1'b0}, int'(s[30:23]) - 127);
  endfunction

  function string flags(result_t r);
    string text = "";
    if (r.overflow) text = {text, " overflow"};
    if (r.underflow) text = {text, " underflow"};
    if (r.inexact) text = {text, " inexact"};
    if (r.invalid) text = {text, " invalid"};
    return text == "" ? " none" : text;
  endfunction

  function real value_of(chandle f, int unsigned code);
    real x;
    void'(hu_dpi_decode(f, code, x));
    return x;
  endfunction

  function string rule(vector_t v, real past, bit odd, result_t want);
    if (want.overflow) return "beyond the largest finite value: overflow";
    if (past == 0.0) return "exactly there: nothing to round";
    if (v.stochastic)
      return $sformatf("away from zero for %0d of %0d values of R, the largest; R = %h",
                       $rtoi(past * real'(1 << RANDOM)), 1 << RANDOM, v.random);
    if (past < 0.5) return "less than half a step: the neighbour toward zero is nearer";
    if (past > 0.5) return "more than half a step: the neighbour away from zero is nearer";
    if (odd) return "a tie: the neighbour toward zero is odd, so the other, even one";
    return "a tie: the neighbour toward zero is even";
  endfunction

  function void explain_rounding(vector_t v, result_t want, int unsigned s);
    int unsigned low, high, ignored;
    real step, past;
    void'(hu_dpi_convert(acc, toward_zero, wide, s, 0, low, ignored));
    if (s[31]) void'(hu_dpi_next_down(acc, low, high));
    else void'(hu_dpi_next_up(acc, low, high));
    step = magnitude(value_of(acc, high & 32'((1 << (ACC - 1)) - 1)) - value_of(acc, low & 32'((1 << (ACC - 1)) - 1)));
    past = (magnitude(value_of(wide, s)) - magnitude(value_of(acc, low))) / step;
    $display("  toward zero     %h = %.10g", ACC'(low), value_of(acc, low));
    $display("  away from zero  %h = %.10g", ACC'(high), value_of(acc, high));
    if (!want.overflow) $display("  distance        %.8g ulp past the neighbour toward zero", past);
    $display("  rule            %s", rule(v, past, low[0], want));
    if (want.d[ACC-2:ACC_M] == 0)
      $display("                  below the smallest normal value: a subnormal result stays one");
  endfunction

  function void explain(vector_t v, result_t unit);
    int unsigned events, s = 32'(dot(sum[{v.a_e5m2, v.b_e5m2}], rne, v, events));
    result_t want = reference(v);
    $display("  %s x %s, %s", format_name(v.a_e5m2), format_name(v.b_e5m2),
             either(v.stochastic, $sformatf("sra:%0d with R = %h", RANDOM, v.random), "rne"));
    for (int k = 0; k < LANES; k++)
      if (v.a[8*k+:8] != 0 || v.b[8*k+:8] != 0)
        $display("  lane %0d          %h x %h = %.10g x %.10g", k, v.a[8*k+:8], v.b[8*k+:8],
                 value_of(format[{1'b0, v.a_e5m2}], 32'(v.a[8*k+:8])),
                 value_of(format[{1'b0, v.b_e5m2}], 32'(v.b[8*k+:8])));
    $display("  C               %h = %.10g", v.c, value_of(acc, 32'(v.c)));
    $display("  sum             %s = %.10g", hex_real(s), value_of(wide, s));
    if (s[30:23] != 8'hff && s[30:0] != 0) explain_rounding(v, want, s);
    $display("  wanted          %h = %.10g; flags:%s", want.d, value_of(acc, 32'(want.d)), flags(want));
    $display("  the unit has    %h = %.10g; flags:%s", unit.d, value_of(acc, 32'(unit.d)), flags(unit));
    $display("  the same        halfulp explain -f 'fp(%0d,%0d,0)' -r %s -- %s", ACC_E, ACC_M,
             either(v.stochastic, $sformatf("sra:%0d --random %h", RANDOM, v.random), "rne"), hex_real(s));
    $display("minimal: %b %b %b %h %h %h %h", v.stochastic, v.a_e5m2, v.b_e5m2, v.random, first_lane_first(v.a),
             first_lane_first(v.b), v.c);
  endfunction
