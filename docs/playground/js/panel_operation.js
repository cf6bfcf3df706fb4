/* SPDX-License-Identifier: MIT */
/* The panel of one operation on two or three codes. */
'use strict';
panels.operation = (() => {
  const { make } = dom;
  /* The operations whose exact result this page can compute, and how. What they are called and take says the library's list. */
  const EXACT = {
    add: (x) => exact.add(x[0], x[1]),
    sub: (x) => exact.add(x[0], exact.negate(x[1])),
    mul: (x) => exact.multiply(x[0], x[1]),
    div: (x) => exact.divide(x[0], x[1]),
    fma: (x) => exact.add(exact.multiply(x[0], x[1]), x[2]),
    sqrt: (x) => exact.sqrt(x[0]),
  };
  const known = () => engine.catalogue().operations.filter(([name]) => name in EXACT);
  const entry = (name) => known().find(([one]) => one === name);
  const formatOf = (key) => state.get(key) || state.get('f');

  /* The operands as codes of their formats, ties to even: [{code, x, note}] or {error}. Slots 1, 2, 3. */
  function operands(count) {
    const list = [];
    for (let i = 0; i < 3; i++) {
      const name = formatOf(['fa', 'fb', 'fc'][i]), card = engine.system(i + 1, name), letter = 'ABC'[i];
      if (card.kind !== 'float') {
        if (i >= count) engine.system(i + 1, 'binary32');
        else return { error: card.kind ? `${letter}: operations take floating-point formats` : `${letter}: ${show.refusal(card, name)}` };
      }
      if (i >= count) continue;
      const text = state.get('abc'[i]), number = exact.parse(text);
      if (!number) return { error: `${letter}: \u2018${text}\u2019 is not a number` };
      const odd = exact.toOdd(number), code = engine.encode(i + 1, odd.value).code, x = engine.decode(i + 1, code);
      const same = odd.exact && (Object.is(x, odd.value) || x === odd.value);
      list.push({ code, x, card, same, number: exact.fromDouble(x) });
    }
    return { list };
  }

  function build(root) {
    root.append(make('div', { class: 'bar' }, dom.choice('Operation', 'op', known().map(([name, what]) => [name, `${name}: ${what}`])), dom.field('Format of the result', 'fz', { list: 'systems', size: 20 })));
    'abc'.split('').forEach((letter) => root.append(make('div', { class: 'bar', 'data-operand': letter }, dom.field(letter.toUpperCase(), letter, { size: 24 }),
      dom.field('its format (empty: that of the page)', 'f' + letter, { list: 'systems', size: 24 }))));
    root.append(show.controls(), make('div', { class: 'out' }));
  }
  function render(out) {
    const [op, what, count] = entry(state.get('op')) || entry('fma'), result = engine.system(0, formatOf('fz')), mode = show.mode();
    for (const row of out.parentNode.querySelectorAll('[data-operand]')) row.hidden = 'abc'.indexOf(row.dataset.operand) >= count;
    if (result.kind !== 'float') return out.replaceChildren(show.failed(result.kind ? 'the result: operations take floating-point formats' : show.refusal(result, formatOf('fz'))));
    const given = operands(count);
    if (given.error || !mode) return out.replaceChildren(show.failed(given.error || `\u2018${state.get('r')}\u2019 is no rounding mode`));
    const whole = EXACT[op](given.list.map((o) => o.number)), odd = exact.toOdd(whole), codes = given.list.map((o) => o.code);
    const rows = show.modes().map((m) => {
      const r = engine.operate(op, codes, m.options), x = engine.decode(0, r.code), special = whole.kind !== 'finite' || whole.n === 0n;
      const why = special && whole.kind !== 'finite' ? (whole.kind === 'inf' ? 'the exact result is infinite' : 'the operation has no value') : engine.rule(0, odd.value, m.options, r.events);
      return { class: m.name === state.get('r') ? 'chosen' : null, cells: [m.name, show.code(r.code, result.width), show.value(x, 24), [why, 'words'], [show.events(r.events), 'words']] };
    });
    out.replaceChildren(
      dom.card([...given.list.map((o, i) => ['ABC'[i], `${show.code(o.code, o.card.width)} = ${show.value(o.x)} in ${o.card.name || o.card.text}${o.same ? '' : ', rounded into it first'}`]),
        [`exact ${op}: ${what}`, exact.decimal(whole, 60)]]),
      make('h2', {}, 'One rounding, in every mode'), dom.table('results of the operation', ['mode', 'code', 'value', 'which rule decides', 'events'], rows));
  }
  return { build, render };
})();
