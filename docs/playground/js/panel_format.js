/* SPDX-License-Identifier: MIT */
/* The panel of one format: its card, its values on a line, its table of codes. */
'use strict';
window.panels = window.panels || {};
panels.format = (() => {
  const { make, draw } = dom;
  const WIDEST = 8, PAGE = 64; /* formats of more bits show a page of codes about the chosen one */
  const ZERO = ['exponent field 0 holds zero and the subnormal numbers', 'code 0 is zero, and field 0 is an ordinary binade', 'there is no zero'];
  const SUBNORMAL = ['yes', 'none', 'flushed to zero'];
  const OVERFLOW = ['infinity', 'NaN', 'the largest value'];

  function floatRows(card) {
    const f = card.format, width = card.width;
    const coded = (c, x) => `${show.code(c, width)} = ${x}`;
    return [
      ['text', f.text],
      ['bits', `${width}: ${f.sign ? 'sign 1, ' : 'no sign, '}exponent ${f.e}, trailing significand ${f.m}`],
      ['bias', String(f.bias)],
      ['exponents', `${f.emin} to ${f.emax}`],
      ['largest', coded(f.max, show.value(engine.decode(0, f.max)))],
      f.minNormal === 0xffffffff ? null : ['smallest normal', coded(f.minNormal, show.value(engine.decode(0, f.minNormal)))],
      ['smallest above 0', coded(card.min, show.value(card.minValue))],
      ['zero', ZERO[f.zero] || ''],
      ['subnormal numbers', SUBNORMAL[f.subnormal] || ''],
      ['infinity', f.infinity === 0xffffffff ? 'none' : show.code(f.infinity, width)],
      ['NaN', f.hasNan ? `${show.code(f.nanCode, width)} (${f.nans} codes are NaN)` : 'none'],
      ['negative zero', f.negzero ? 'yes' : 'no'],
      ['overflow without saturation', OVERFLOW[f.overflow] || ''],
    ];
  }
  function otherRows(card) {
    return [
      ['text', card.text], ['kind', card.kind], ['bits', String(card.width)],
      ['largest', `${show.code(card.max, card.width)} = ${show.value(card.maxValue)}`],
      ['lowest', `${show.code(card.low, card.width)} = ${show.value(card.lowValue)}`],
      card.min === 0xffffffff ? null : ['smallest above 0', `${show.code(card.min, card.width)} = ${show.value(card.minValue)}`],
      ['zero', card.hasZero ? show.code(card.zero, card.width) : 'none'],
      ['NaN', card.hasNan ? show.code(card.nan, card.width) : 'none'],
      card.exact ? null : ['values', 'powers of two with a fraction: shown rounded to binary64'],
    ];
  }
  function scaledRows(card) {
    const side = (n) => (n ? String(n) : 'all');
    const cols = card.cols || 0, bits = card.rows && cols ? card.elementBits + card.scaleBits / (card.rows * cols) : null;
    return [
      ['text', card.text], ['elements', card.element], ['scales', card.scale],
      ['block', `${side(card.rows)} \u00d7 ${side(card.cols)} elements share a scale`],
      ['second scale of the tensor', card.tensor ? 'yes, binary32' : 'no'],
      bits ? ['bits per element', String(bits)] : null,
    ];
  }

  /* All values of a narrow system, ascending: [{code, x}]. */
  function values(card) {
    const out = [];
    for (let c = 0; c < 2 ** card.width && !(card.kind === 'table' && c >= card.count); c++) {
      const x = engine.decode(0, c);
      if (Number.isFinite(x)) out.push({ code: c, x });
    }
    return out.sort((p, q) => p.x - q.x);
  }

  /* ---- lines ---- */
  const WIDTH = 960, LEFT = 14;
  function axis(y) {
    return draw('line', { class: 'axis', x1: LEFT, x2: WIDTH - LEFT, y1: y, y2: y });
  }
  /* The values from 0 up, evenly spaced; one tick a value. */
  function linear(list, card, chosen) {
    const top = list[list.length - 1].x, low = list[0].x < 0 ? list[0].x : 0, x = (v) => LEFT + (v - low) / (top - low || 1) * (WIDTH - 2 * LEFT);
    const small = card.format && card.format.minNormal !== 0xffffffff ? engine.decode(0, card.format.minNormal) : 0;
    const ticks = list.map((p) => draw('line', { class: Math.abs(p.x) < small ? 'sub' : 'tick', x1: x(p.x), x2: x(p.x), y1: 12, y2: 30 }));
    const here = chosen >= low && chosen <= top ? [draw('line', { class: 'here', x1: x(chosen), x2: x(chosen), y1: 4, y2: 38 })] : [];
    return draw('svg', { viewBox: `0 0 ${WIDTH} 58`, role: 'img', 'aria-label': `${list.length} values between ${show.short(low)} and ${show.short(top)}, evenly scaled` },
      axis(30), ticks, here,
      draw('text', { x: LEFT, y: 52 }, show.short(low)), low < 0 ? draw('text', { x: x(0), y: 52, 'text-anchor': 'middle' }, '0') : null,
      draw('text', { x: WIDTH - LEFT, y: 52, 'text-anchor': 'end' }, show.short(top)));
  }
  /* Powers of two evenly spaced. */
  function logarithmic(list, card, chosen) {
    const positive = list.filter((p) => p.x > 0);
    if (!positive.length) return null;
    const l = Math.log2(positive[0].x), h = Math.max(Math.log2(positive[positive.length - 1].x), l + 1), x = (v) => LEFT + (Math.log2(v) - l) / (h - l) * (WIDTH - 2 * LEFT);
    const small = card.format && card.format.minNormal !== 0xffffffff ? engine.decode(0, card.format.minNormal) : 0;
    const every = Math.max(1, Math.ceil((h - l) / 14)), marks = [];
    for (let e = Math.ceil(l); e <= h; e++) if (e % every === 0) marks.push(draw('text', { x: x(2 ** e), y: 52, 'text-anchor': 'middle' }, '2', draw('tspan', { dy: -4, 'font-size': 9 }, String(e).replace('-', '\u2212'))));
    const ticks = positive.map((p) => draw('line', { class: p.x < small ? 'sub' : 'tick', x1: x(p.x), x2: x(p.x), y1: 12, y2: 30 }));
    const a = Math.abs(chosen), here = a >= 2 ** l && a <= 2 ** h ? [draw('line', { class: 'here', x1: x(a), x2: x(a), y1: 4, y2: 38 })] : [];
    return draw('svg', { viewBox: `0 0 ${WIDTH} 58`, role: 'img', 'aria-label': 'the positive values, powers of two evenly spaced' }, axis(30), ticks, here, marks);
  }

  /* ---- codes ---- */
  function cell(c, card, chosen) {
    const x = engine.decode(0, c), f = card.format;
    const sub = f && f.minNormal !== 0xffffffff && x !== 0 && Math.abs(x) < engine.decode(0, f.minNormal);
    const text = card.kind === 'table' && c >= card.count ? '' : show.short(x);
    return make('button', { type: 'button', class: Number.isNaN(x) ? 'nan' : sub ? 'sub' : null, 'aria-pressed': String(c === chosen), title: show.value(x),
      onclick: () => { state.set('v', 'code ' + show.code(c, card.width)); } }, make('b', {}, show.code(c, card.width).slice(2)), text.length > 9 ? Number(x).toPrecision(3).replace(/-/g, '\u2212') : text);
  }
  function table(card, chosen) {
    const all = card.width <= WIDEST, count = all ? 2 ** card.width : PAGE;
    const first = all ? 0 : Math.max(0, Math.min(2 ** card.width - count, Math.floor(chosen / 16) * 16 - count / 2));
    const cells = [];
    for (let i = 0; i < count; i++) cells.push(cell(first + i, card, chosen));
    return [make('h2', {}, all ? 'All codes' : 'Codes about the chosen one'),
      make('p', { class: 'note' }, all ? 'Each cell is a code in hexadecimal and its value; orange values are subnormal. A click chooses the number of the next panel.'
        : 'This format has too many codes for one table. A number chosen in the next panel moves this page of 64.'),
      make('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'table of codes' }, make('div', { class: 'codes' }, cells))];
  }

  const wide = (svg) => svg && make('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'line of values' }, svg);
  function line(card, chosen) {
    if (card.width > WIDEST) return [];
    const list = values(card);
    return [make('h2', {}, 'The line of values'), wide(linear(list, card, chosen)), make('p', { class: 'note' }, 'The same, with each power of two as wide as the next:'), wide(logarithmic(list, card, chosen))];
  }

  function render(out) {
    const card = engine.system(0, state.get('f'));
    if (!card.kind) return out.replaceChildren();
    if (card.kind === 'scaled') {
      const note = make('p', { class: 'note' }, 'A number alone has no place in a scaled format: its block decides the scale. The panels Number and Operation show the element format; Data uses blocks.');
      return out.replaceChildren(dom.card(scaledRows(card)), note,
        make('button', { type: 'button', onclick: () => state.set('f', card.element) }, 'Show the element format ' + card.element));
    }
    const number = panels.number.chosen(card);
    return out.replaceChildren(dom.card(card.kind === 'float' ? floatRows(card) : otherRows(card)), ...line(card, number.x), ...table(card, number.code));
  }
  return { render, values };
})();
