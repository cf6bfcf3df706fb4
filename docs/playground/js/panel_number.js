/* SPDX-License-Identifier: MIT */
/* The panel of one number: its bits, its neighbours, and what each rounding mode makes of it. */
'use strict';
panels.number = (() => {
  const { make } = dom;

  /* The number that the state names: text 'code 0x..' is a code, other text a real number. {x: binary64 rounded to odd, exact, number,
   * code, error}. The code is what the mode makes of it. */
  function chosen(card) {
    const text = state.get('v'), coded = /^code\s+(?:0x)?([0-9a-f]+)$/i.exec(text.trim());
    if (coded) {
      const code = Number(BigInt.asUintN(card.width, BigInt('0x' + coded[1]))), x = engine.decode(0, code);
      return { x, exact: true, number: exact.fromDouble(x), code, given: true };
    }
    const number = exact.parse(text);
    if (!number) return { x: 0, exact: true, number: exact.fromDouble(0), code: 0, error: `\u2018${text}\u2019 is not a number` };
    const odd = exact.toOdd(number), mode = show.mode();
    return { x: odd.value, exact: odd.exact, number, code: engine.encode(0, odd.value, mode || {}).code };
  }

  /* ---- bits ---- */
  function classes(card) {
    const f = card.format, out = [];
    for (let i = card.width - 1; i >= 0; i--) out.push(!f ? 'digits' : f.sign && i === card.width - 1 ? 'sign' : i >= f.m ? 'exponent' : 'digits');
    return out;
  }
  function bitRow(card, code) {
    const kinds = classes(card), row = [];
    kinds.forEach((kind, i) => {
      const at = card.width - 1 - i, on = Math.floor(code / 2 ** at) % 2;
      if (i && kinds[i - 1] !== kind) row.push(make('span', { class: 'gap' }));
      row.push(make('button', { type: 'button', class: kind, 'data-bit': at, 'aria-pressed': String(on === 1), 'aria-label': `bit ${at}, ${kind === 'digits' ? 'significand' : kind}`,
        onclick: () => state.set('v', 'code ' + show.code(on ? code - 2 ** at : code + 2 ** at, card.width), 'bit-' + at) }, String(on)));
    });
    return make('div', { class: 'bits', role: 'group', 'aria-label': 'bits of the code' }, row);
  }

  /* ---- what the code means ---- */
  function fields(card, code, x) {
    const f = card.format;
    if (!f) return [];
    const field = Math.floor(code / 2 ** f.m) % 2 ** f.e, digits = f.m ? (code % 2 ** f.m).toString(2).padStart(f.m, '0') : '';
    const low = field === 0 && f.zero === 0, sign = f.sign ? ['sign', code >= 2 ** (card.width - 1) ? '1, negative' : '0, positive'] : null;
    if (!Number.isFinite(x)) return [sign, f.e ? ['exponent field', String(field)] : null, f.m ? ['trailing significand', `${digits} in binary`] : null];
    return [sign, f.e ? ['exponent field', `${field}, so the exponent is ${low ? f.emin : field - f.bias}`] : null,
      ['significand', `${low ? 0 : 1}${digits && '.' + digits} in binary`]];
  }
  function kindOf(card, code, x) {
    const f = card.format;
    if (Number.isNaN(x)) return 'NaN';
    if (!Number.isFinite(x)) return 'infinity';
    if (x === 0) return 'zero';
    return f && f.minNormal !== 0xffffffff && Math.abs(x) < engine.decode(0, f.minNormal) ? 'subnormal' : f ? 'normal' : 'a value';
  }
  function around(card, code) {
    const x = engine.decode(0, code);
    if (Number.isNaN(x)) return [code, code];
    if (card.kind === 'float') return [engine.next(0, code, false), engine.next(0, code, true)];
    if (card.width > 16) return [code, code];
    const list = panels.format.values(card), i = list.findIndex((p) => p.x === x);
    return [(list[i - 1] || list[i]).code, (list[i + 1] || list[i]).code];
  }
  function meaning(card, code) {
    const x = engine.decode(0, code), [down, up] = around(card, code), coded = (c) => `${show.code(c, card.width)} = ${show.value(engine.decode(0, c))}`;
    const gap = (c) => (c === code || !Number.isFinite(x) ? '' : show.value(Math.abs(engine.decode(0, c) - x)));
    return dom.card([
      ['code', show.code(code, card.width)], ['value', `${show.value(x)}` + (Number.isFinite(x) ? `  (${show.hex(x)})` : '')], ['class', kindOf(card, code, x)],
      ...fields(card, code, x),
      down === code ? null : ['next value below', `${coded(down)}, ${gap(down)} away`],
      up === code ? null : ['next value above', `${coded(up)}, ${gap(up)} away`],
    ]);
  }

  /* ---- what each mode makes of the number ---- */
  function roundings(card, number) {
    const rows = show.modes().map((m) => {
      const r = engine.encode(0, number.x, m.options), x = engine.decode(0, r.code);
      const why = card.kind === 'float' ? engine.rule(0, number.x, m.options, r.events) : '';
      return { class: m.name === state.get('r') ? 'chosen' : null, cells: [m.name, [show.code(r.code, card.width), 'code'], show.value(x, 24), [why || m.words, 'words'], [show.events(r.events), 'words']] };
    });
    return dom.table('roundings of the number', ['mode', 'code', 'value', card.kind === 'float' ? 'which rule decides' : 'mode', 'events'], rows);
  }
  function place(card, number) {
    if (card.kind !== 'float' || number.number.kind !== 'finite' || number.number.n === 0n) return null;
    const p = engine.place(0, number.x), part = Number(p.part) / 2 ** p.partBits;
    if (p.belowAll) return null;
    const low = exact.fromParts(number.number.negative, BigInt(p.steps), p.unit), high = exact.fromParts(number.number.negative, BigInt(p.steps) + 1n, p.unit);
    return make('p', { class: 'note' }, part === 0 && number.exact ? `${exact.decimal(number.number)} is a multiple of the unit 2^${p.unit}.`
      : `${exact.decimal(number.number, 24)} lies ${number.exact ? '' : 'about '}${part.toPrecision(6).replace(/\.?0+$/, '')} of a unit (2^${p.unit}) from ${exact.decimal(low, 24)} toward ${exact.decimal(high, 24)}.`);
  }

  function build(root) {
    root.append(make('div', { class: 'bar' }, dom.field('Number, or \u201ccode 0x2a\u201d', 'v', { size: 28, title: 'decimal, hexadecimal, a fraction, inf, nan; or code and hexadecimal digits' })), show.controls(), make('div', { class: 'out' }));
  }
  function render(out, source) {
    let card = engine.system(0, state.get('f'));
    if (!card.kind) return out.replaceChildren();
    if (card.kind === 'scaled') card = engine.system(0, card.element);
    const number = chosen(card), mode = show.mode();
    if (number.error || !mode) return out.replaceChildren(show.failed(number.error || `\u2018${state.get('r')}\u2019 is no rounding mode`));
    out.replaceChildren(make('h2', {}, number.given ? 'The code' : `The code by ${state.get('r')}`), bitRow(card, number.code), meaning(card, number.code),
      make('h2', {}, `${exact.decimal(number.number, 24)} in every mode`), place(card, number) || '', roundings(card, number));
    const again = source && source.startsWith('bit-') && out.querySelector(`[data-bit="${source.slice(4)}"]`);
    if (again) again.focus();
  }
  return { build, render, chosen };
})();
