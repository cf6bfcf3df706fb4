/* SPDX-License-Identifier: MIT */
/* Texts of numbers to patterns of elements, and back: formats, binary64, integers. */
'use strict';
window.operands = (() => {
  const INTEGERS = { s8: [-128, 127, 8], u8: [0, 255, 8], s4: [-8, 7, 4], u4: [0, 15, 4], s32: [-2147483648, 2147483647, 32] };
  const SLOT = 4;

  const split = (text) => text.split(/[\s,;]+/).filter(Boolean);

  /* {pattern, rounded} or {error} */
  function read(text, element) {
    const number = exact.parse(text);
    if (!number) return { error: `\u2018${text}\u2019 is not a number` };
    const odd = exact.toOdd(number);
    if (INTEGERS[element]) {
      const [low, high, width] = INTEGERS[element], n = Math.min(high, Math.max(low, Math.round(odd.value) || 0));
      return { pattern: BigInt.asUintN(width, BigInt(n)), rounded: n !== odd.value };
    }
    if (element === 'binary64') return { pattern: exact.bitsOf(odd.value), rounded: !odd.exact };
    const card = engine.system(SLOT, element);
    if (card.kind !== 'float') return { error: `${element} is no floating-point format` };
    const code = engine.encode(SLOT, odd.value).code, x = engine.decode(SLOT, code);
    return { pattern: BigInt(code), rounded: !odd.exact || !(x === odd.value || (Number.isNaN(x) && Number.isNaN(odd.value))) };
  }
  /* A list of n elements; shorter lists go on with their last number. {patterns, rounded: count} or {error}. */
  function list(text, element, n) {
    const words = split(text), patterns = [];
    let rounded = 0;
    if (!words.length) return { error: 'there is no number' };
    for (let i = 0; i < n; i++) {
      const one = read(words[Math.min(i, words.length - 1)], element);
      if (one.error) return one;
      patterns.push(one.pattern);
      rounded += one.rounded ? 1 : 0;
    }
    return { patterns, rounded };
  }
  /* The number of a pattern. */
  function number(pattern, element) {
    if (INTEGERS[element]) {
      const [low, , width] = INTEGERS[element];
      return exact.fromParts(false, 0n, 0) && fromInteger(low < 0 ? BigInt.asIntN(width, pattern) : pattern);
    }
    if (element === 'binary64') return exact.fromDouble(exact.ofBits(pattern));
    engine.system(SLOT, element);
    return exact.fromDouble(engine.decode(SLOT, Number(pattern)));
  }
  const fromInteger = (n) => exact.fromParts(n < 0n, n < 0n ? -n : n, 0);
  const width = (element) => (INTEGERS[element] ? INTEGERS[element][2] : element === 'binary64' ? 64 : engine.system(SLOT, element).width);

  return { split, read, list, number, width };
})();
