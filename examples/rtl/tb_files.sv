// SPDX-License-Identifier: MIT
// fp8_dot in a simulator without DPI: vectors out of halfulp, results back.
//
//   halfulp vectors dot ... -r sra:8 --words --joined > in.txt    operands, random word, result, flags: one number
//   simulate: +in=in.txt +count=N +out=out.txt +stochastic [+a_e5m2] [+b_e5m2]
//   halfulp vectors --check dot ... -r sra:8 --words --joined out.txt
//
// Without +stochastic the lines have no random word. Results that the input lines bring along are not looked at.
module tb_files;
  parameter int LANES = 4, ACC_E = 5, ACC_M = 10, KEEP = 13, BUG = 0;
  localparam int RANDOM = 8;
  localparam int AB = 8 * LANES, ACC = 1 + ACC_E + ACC_M;
  localparam int CODE = (ACC + 3) / 4 * 4;  // whole digits
  localparam int LINE = 2 * AB + CODE + 32 + CODE + 8, MOST = 1 << 17;

  reg clk = 0, rst = 1, valid = 0, stochastic = 0, a_e5m2 = 0, b_e5m2 = 0;
  reg [LINE-1:0] lines [0:MOST-1];
  reg [LINE-1:0] now = 0;
  reg [8*256-1:0] in_name, out_name;
  integer out, count, sent = 0, done = 0, waited = 0;

  always #1 clk = ~clk;

  // A line, its words from the left: A, B, C, the random word if there is one, D, flags. Lane 0 stands on the left.
  wire [LINE-1:0] line = stochastic ? now : now << 32;
  wire [AB-1:0] a_text = line[LINE-1-:AB], b_text = line[LINE-1-AB-:AB];
  wire [CODE-1:0] c = line[LINE-1-2*AB-:CODE];
  wire [31:0] word = stochastic ? line[LINE-1-2*AB-CODE-:32] : 0;
  wire [AB-1:0] a, b;
  genvar g;
  generate
    for (g = 0; g < LANES; g = g + 1) begin : lanes
      assign a[8*g+:8] = a_text[8*(LANES-1-g)+:8];
      assign b[8*g+:8] = b_text[8*(LANES-1-g)+:8];
    end
  endgenerate

  wire out_valid, overflow, underflow, inexact, invalid;
  wire [ACC-1:0] d;
  fp8_dot #(.LANES(LANES), .ACC_E(ACC_E), .ACC_M(ACC_M), .KEEP(KEEP), .RANDOM(RANDOM), .BUG(BUG)) unit (
      .clk(clk), .rst(rst), .in_valid(valid), .in_a_e5m2(a_e5m2), .in_b_e5m2(b_e5m2), .in_stochastic(stochastic),
      .in_random(word[RANDOM-1:0]), .in_a(a), .in_b(b), .in_c(c[ACC-1:0]), .out_valid(out_valid), .out_d(d),
      .out_overflow(overflow), .out_underflow(underflow), .out_inexact(inexact), .out_invalid(invalid));

  // Results come in order, so that the operands of number `done` are those of its line.
  reg [LINE-1:0] of;
  reg [CODE-1:0] code;
  reg [7:0] flags;
  always @(posedge clk)
    if (out_valid) begin
      of = lines[done];
      code = d;
      flags = {3'b000, invalid, 1'b0, overflow, underflow, inexact};
      if (stochastic) $fdisplay(out, "%h%h%h", of[LINE-1:CODE+8], code, flags);
      else $fdisplay(out, "%h%h%h", of[LINE-33:CODE+8], code, flags);
      done = done + 1;
    end

  // The bounds of fp8_dot_bounds, but any number of lanes.
  initial begin
    if (KEEP + 2 + $clog2(LANES + 1) > 24 || ACC_E > 8 || KEEP < ACC_M || KEEP < 6 || BUG < 0 || BUG > 3)
      $fatal(1, "KEEP + 2 + clog2(LANES + 1) <= 24, ACC_E <= 8, KEEP >= ACC_M, KEEP >= 6, BUG 0 to 3");
    stochastic = $test$plusargs("stochastic") != 0;
    a_e5m2 = $test$plusargs("a_e5m2") != 0;
    b_e5m2 = $test$plusargs("b_e5m2") != 0;
    if (!$value$plusargs("in=%s", in_name) || !$value$plusargs("out=%s", out_name) ||
        !$value$plusargs("count=%d", count) || count < 1 || count > MOST)
      $fatal(1, "wants +in=FILE +out=FILE +count=N, 1 to %0d", MOST);
    else begin
      $readmemh(in_name, lines, 0, count - 1);
      out = $fopen(out_name, "w");
      repeat (4) @(negedge clk);
      rst = 0;
      for (sent = 0; sent < count; sent = sent + 1) begin
        @(negedge clk);
        now = lines[sent];
        valid = 1;
      end
      @(negedge clk);
      valid = 0;
      while (done < count) begin
        if (waited == 200) $fatal(1, "%0d vectors, %0d results, and no more in 200 clocks", count, done);
        waited = waited + 1;
        @(negedge clk);
      end
      $fclose(out);
      $display("%0d results", done);
      $finish;
    end
  end
endmodule
