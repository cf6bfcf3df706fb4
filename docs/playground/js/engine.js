/* SPDX-License-Identifier: MIT */
/* The library: playground.wasm, and a function for each call of shim.c and sums.c. Codes are numbers below 2^32. */
'use strict';
window.engine = (() => {
  const SATURATE = ['default', 'none', 'finite', 'propagate'];
  const EVENTS = ['overflow', 'saturated', 'underflow', 'to_zero', 'subnormal', 'inexact', 'invalid', 'nan_in', 'inf_in', 'divide_by_zero'];
  const STATUS = { '-50': 'accumulation model', '-42': 'operand' };
  const KINDS = ['slice', 'part', 'chunk', 'block', 'align', 'term', 'cut', 'round', 'mul', 'add', 'fma', 'last'];
  let wasm = null, all = null; /* the library's lists: see catalogue of shim.c */
  const named = new Map(); /* slot -> the text it has, and its card */

  async function bytes() {
    if (location.protocol !== 'file:') {
      const answer = await fetch('playground.wasm');
      if (answer.ok) return answer.arrayBuffer();
    }
    /* From a file, a page may load scripts alone. */
    await new Promise((done, failed) => {
      const script = document.createElement('script');
      script.src = 'playground-wasm.js';
      script.onload = done;
      script.onerror = () => failed(new Error('playground-wasm.js is missing'));
      document.head.append(script);
    });
    return Uint8Array.from(atob(window.playgroundWasm), (c) => c.charCodeAt(0)).buffer;
  }

  async function load() {
    const made = await WebAssembly.instantiate(await bytes(), { env: { emscripten_notify_memory_growth() {} } });
    wasm = made.instance.exports;
    wasm._initialize();
    wasm.catalogue();
    all = JSON.parse(heard());
  }

  /* ---- texts ---- */
  function say(text) {
    const room = new Uint8Array(wasm.memory.buffer, wasm.text_at(), wasm.text_room());
    const done = new TextEncoder().encodeInto(text.slice(0, 100000), room);
    room[done.written] = 0;
  }
  function heard() {
    const room = new Uint8Array(wasm.memory.buffer, wasm.text_at(), wasm.text_room());
    return new TextDecoder().decode(room.subarray(0, room.indexOf(0)));
  }

  /* ---- modes ---- */
  /* 'rtz', 'sra:8' to {round, bits}; null. */
  function mode(text) {
    const m = /^([a-z]{3}|sr)(?::(\d+))?$/.exec(text), name = m && (m[1] === 'sr' ? 'sra' : m[1]), round = all.modes.findIndex(([known]) => known === name);
    const bits = m && m[2] ? Number(m[2]) : 0;
    if (round < 0 || (round >= all.stochastic) !== (bits > 0) || bits > 32) return null;
    return { round, bits };
  }
  const eventNames = (set) => EVENTS.filter((_, i) => set >> i & 1);

  /* ---- number systems ---- */
  /* The card of a text in a slot: {kind, ...} or {kind: null, error, where}. */
  function system(slot, text) {
    const before = named.get(slot);
    if (before && before.text === text) return before.card;
    say(text);
    let card;
    if (wasm.system_set(slot) < 0) {
      card = { kind: null, ...JSON.parse(heard()) };
      named.delete(slot);
      return card;
    }
    wasm.system_card(slot);
    card = JSON.parse(heard());
    card.given = text;
    for (const key of ['maxValue', 'lowValue', 'minValue']) if (card[key]) card[key] = exact.ofBits(BigInt('0x' + card[key]));
    named.set(slot, { text, card });
    return card;
  }
  const decode = (slot, code) => wasm.decode(slot, code >>> 0);
  /* {code, events}. options: {round, bits, saturate, nan, random} */
  function encode(slot, x, o = {}) {
    const code = wasm.encode(slot, x, o.round || 0, o.bits || 0, o.saturate || 0, o.nan || 0, (o.random || 0) >>> 0) >>> 0;
    return { code, events: wasm.events_of() };
  }
  function rule(slot, x, o, events) {
    wasm.rule(slot, x, o.round || 0, o.bits || 0, o.saturate || 0, o.nan || 0, (o.random || 0) >>> 0, events);
    return heard();
  }
  function place(slot, x) {
    wasm.place(slot, x);
    return JSON.parse(heard());
  }
  const next = (slot, code, up) => wasm.next(slot, code >>> 0, up ? 1 : 0) >>> 0;
  /* Slot 0: the result; 1, 2, 3: the operands. */
  function operate(name, codes, o = {}) {
    const [a, b, c] = [0, 1, 2].map((i) => (codes[i] || 0) >>> 0);
    const code = wasm.operate(all.operations.findIndex(([known]) => known === name), a, b, c, o.round || 0, o.bits || 0, o.saturate || 0, o.nan || 0, (o.random || 0) >>> 0) >>> 0;
    return { code, events: wasm.events_of() };
  }

  /* ---- arrays ---- */
  /* numbers: Float64Array. {values, events: {name: count}} or {error}. */
  function quantize(slot, numbers, o = {}) {
    const n = numbers.length, at = wasm.room_make(16 * n + 16);
    if (!at) return { error: 'there is not enough memory for so many numbers' };
    new Float64Array(wasm.memory.buffer, at, n).set(numbers);
    const status = wasm.quantize(slot, n, at, at + 8 * n, o.round || 0, o.bits || 0, o.saturate || 0);
    const values = Float64Array.from(new Float64Array(wasm.memory.buffer, at + 8 * n, n));
    wasm.room_drop(at);
    if (status) return { error: 'status ' + status };
    return { values, events: Object.fromEntries(EVENTS.map((name, i) => [name, wasm.count_of(i)])) };
  }

  /* ---- dot products ---- */
  function model(text) {
    say(text);
    wasm.model_set();
    return JSON.parse(heard());
  }
  function element(i, text) {
    say(text);
    return wasm.element_set(i);
  }
  const words = (at, n) => new BigUint64Array(wasm.memory.buffer, at, n);
  function traced(w, i) {
    const sig = BigInt(w[i + 2]) | BigInt(w[i + 3]) << 32n;
    const kind = ['zero', 'finite', 'inf', 'nan'][w[i] & 255], negative = (w[i] >> 8 & 255) === 1, more = (w[i] >> 16 & 255) === 1;
    const number = kind === 'nan' ? exact.nan : kind === 'inf' ? { ...exact.fromDouble(Infinity), negative } : exact.fromParts(negative, kind === 'finite' ? sig : 0n, kind === 'finite' ? w[i + 1] | 0 : 0);
    return { kind, more, number };
  }
  function stepsOf(elements) {
    const n = wasm.step_total(), size = wasm.step_words(), all = new Uint32Array(wasm.memory.buffer, wasm.steps_at(), n * size), out = [];
    for (let s = 0; s < n; s++) {
      const w = all.subarray(s * size, (s + 1) * size);
      out.push({ kind: KINDS[w[0]], events: w[1], k: w[2] === 0xffffffff ? null : w[2], past: w[3], top: w[4] | 0, unit: w[5] | 0, random: w[6],
        element: elements[w[7]], x: traced(w, 10), y: traced(w, 14), c: traced(w, 18), exact: traced(w, 22), z: traced(w, 26) });
    }
    return out;
  }
  /* C + the sum of a[k] b[k] under model(...), elements set before; patterns as BigInt. */
  function sum(a, b, c, scales, o = {}) {
    words(wasm.row_at(), a.length).set(a);
    words(wasm.column_at(), b.length).set(b);
    if (c !== null) words(wasm.addend_at(), 1)[0] = c;
    const sa = scales ? scales.a : [], sb = scales ? scales.b : [];
    words(wasm.row_scales_at(), sa.length).set(sa);
    words(wasm.column_scales_at(), sb.length).set(sb);
    const status = wasm.sum(a.length, c === null ? 0 : 1, sa.length, o.round || 0, o.bits || 0, o.saturate || 0, (o.seed || 0) >>> 0);
    if (status) return { error: STATUS[status] || 'status ' + status, status };
    const steps = stepsOf(JSON.parse(heard()));
    return { pattern: words(wasm.result_at(), 1)[0], events: wasm.sum_events(), steps, dropped: wasm.steps_dropped() };
  }

  function version() {
    wasm.version();
    return heard();
  }

  return { load, mode, SATURATE, EVENTS, eventNames, system, decode, encode, rule, place, next, operate, quantize, model, element, sum, catalogue: () => all, version };
})();
