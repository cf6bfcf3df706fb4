// SPDX-License-Identifier: MIT
// The bench of fp8_dot against halfulp: directed, golden and random vectors, one after the other without a gap; the
// first that differs is shrunk to a minimal one and explained; corners that were met are counted.
//
//   +bug=N       the unit with seeded bug N (0, the default: without)
//   +count=N     random vectors for each pair of formats
//   +seed=N      of the random vectors
//   +golden=DIR  of the files golden_A_B[_sra].txt
//
// Exit status 0: every result and flag is right; 1: not.
module tb_fp8_dot;
  import halfulp_dpi::*;
  import fp8_dot_check::*;

  localparam int BUGS = 3;

  fp8_dot_bounds #(.LANES(LANES), .ACC_E(ACC_E), .ACC_M(ACC_M), .KEEP(KEEP)) bounds ();

  // ---- the unit, and its sisters with a bug each ----

  bit      clk = 0, rst = 1, valid = 0;
  vector_t in = '0;
  result_t unit_result [BUGS+1];
  logic    unit_valid  [BUGS+1];
  logic    [15:0] lfsr;
  int      bug = 0;

  always #1 clk = ~clk;

  lfsr16 source (.clk, .rst, .step(1'b1), .state(lfsr));

  for (genvar g = 0; g <= BUGS; g++) begin : units
    fp8_dot #(.LANES(LANES), .ACC_E(ACC_E), .ACC_M(ACC_M), .KEEP(KEEP), .RANDOM(RANDOM), .BUG(g)) unit (
        .clk, .rst, .in_valid(valid && bug == g),
        .in_a_e5m2(in.a_e5m2), .in_b_e5m2(in.b_e5m2), .in_stochastic(in.stochastic), .in_random(in.random),
        .in_a(in.a), .in_b(in.b), .in_c(in.c),
        .out_valid(unit_valid[g]), .out_d(unit_result[g].d), .out_overflow(unit_result[g].overflow),
        .out_underflow(unit_result[g].underflow), .out_inexact(unit_result[g].inexact),
        .out_invalid(unit_result[g].invalid));
  end

  // ---- vectors in, results out, in order ----

  string   group_name [GROUPS];
  int      vectors [GROUPS], wrong [GROUPS];
  group_t  group = DIRECTED;
  vector_t sent [16], first_wrong;
  result_t wanted [16], latest;
  int      head = 0, tail = 0, total_wrong = 0;
  bit      recording = 1;
  check_t  halfulp;

  always @(posedge clk)
    if (unit_valid[bug]) begin
      latest = unit_result[bug];
      if (recording && latest != wanted[tail % 16]) begin
        if (total_wrong == 0) first_wrong = sent[tail % 16];
        wrong[group]++;
        total_wrong++;
      end
      tail++;
    end

  // Inputs change at the falling edge, half a clock before the unit looks at them.
  task automatic send(vector_t v, result_t want);
    @(negedge clk);
    sent[head % 16] = v;
    wanted[head % 16] = want;
    head++;
    in = v;
    valid = 1;
    vectors[group]++;
  endtask

  task automatic drain();
    @(negedge clk);
    valid = 0;
    for (int waited = 0; tail != head; waited++) begin
      if (waited == 200) $fatal(1, "%0d vectors, %0d results, and no more in 200 clocks", head, tail);
      @(negedge clk);
    end
  endtask

  // All vectors of a group, one a clock.
  task automatic stream(longint unsigned seed, int count);
    vector_t v;
    result_t want;
    for (int i = 0; halfulp.next(group, seed, count, i, lfsr[RANDOM-1:0], v, want); i++) send(v, want);
    drain();
  endtask

  // Each block's D is the next one's C.
  task automatic rows(longint unsigned seed, int count);
    vector_t v;
    for (int i = 0; i < count; i++) begin
      latest.d = '0;
      for (int block = 0; block < 4; block++) begin
        halfulp.row_block(seed, i, block, latest.d, v);
        send(v, halfulp.reference(v));
        drain();
      end
      if (latest.d != halfulp.row(seed, i)) begin
        $display("row %0d: the unit has %h, the model %h", i, latest.d, halfulp.row(seed, i));
        if (total_wrong == 0) first_wrong = v;
        wrong[group]++;
        total_wrong++;
      end
    end
  endtask

  // A vector is smaller than another if one field is smaller and the others are the same. In the end none that is
  // smaller than v differs: every smaller value of every field was tried.
  task automatic shrink(inout vector_t v, output result_t unit);
    bit again = 1;
    int tried = 0;
    vector_t smaller;
    while (again) begin
      again = 0;
      for (int i = 0; i < FIELDS; i++)
        for (int unsigned x = 0; x <= field(v, i); x++) begin
          smaller = with_field(v, i, x);
          send(smaller, halfulp.reference(smaller));
          drain();
          tried++;
          if (latest == wanted[(head-1)%16]) continue;
          again = again || x < field(v, i);
          v = smaller;
          unit = latest;
          break;
        end
    end
    $display("minimal after %0d vectors:", tried);
  endtask

  initial begin
    string folder = "";
    int count = 20000, seed = 1;
    result_t unit;
    group_name = '{"directed", "golden", "random", "chained"};
    void'($value$plusargs("bug=%d", bug));
    if (bug < 0 || bug > BUGS) $fatal(1, "+bug=%0d: there are bugs 1 to %0d", bug, BUGS);
    void'($value$plusargs("count=%d", count));
    void'($value$plusargs("seed=%d", seed));
    void'($value$plusargs("golden=%s", folder));
    halfulp = new(folder);
    repeat (4) @(negedge clk);
    rst = 0;
    for (int g = 0; g < CHAINED; g++) begin
      group = group_t'(g);
      stream(64'(seed), count);
    end
    group = CHAINED;
    rows(64'(seed), 400);
    for (int i = 0; i < GROUPS; i++) $display("%-9s %0d vectors, %0d wrong", group_name[i], vectors[i], wrong[i]);
    halfulp.cover_report();
    if (total_wrong != 0) begin
      recording = 0;
      shrink(first_wrong, unit);
      halfulp.explain(first_wrong, unit);
      hu_dpi_exit(1);
    end
    $display("PASS");
    $finish;
  end
endmodule
