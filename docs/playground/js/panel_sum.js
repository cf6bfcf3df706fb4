/* SPDX-License-Identifier: MIT */
/* The panel of a dot product: one row and one column under several accumulation models, and every step of one. */
'use strict';
panels.sum = (() => {
  const { make } = dom;
  const LONGEST = 512, DIGITS = 110; /* terms; digits of a picture */

  /* ---- the sum under one model ---- */
  /* {name, card, elements, result, number} or {name, error} */
  function compute(name) {
    const card = engine.model(name);
    if (card.error) return { name, error: `${card.error}, from \u2018${name.slice(card.where, card.where + 20)}\u2019 on` };
    const a = card.a || state.get('fe'), b = card.b || state.get('fe'), c = card.integers ? 's32' : card.c || state.get('fd');
    for (const [i, element] of [a, b, c, c].entries()) if (!engine.element(i, element)) return { name, error: `${element} is no format` };
    const n = Math.max(operands.split(state.get('ma')).length, operands.split(state.get('mb')).length);
    if (!n || n > LONGEST) return { name, error: `the row has ${n} numbers; 1 to ${LONGEST} are possible` };
    const wide = card.k ? Math.ceil(n / card.k) * card.k : n;
    const read = (key, element) => operands.list(state.get(key) + (wide > n ? ' 0' : ''), element, wide);
    const row = read('ma', a), column = read('mb', b), addend = state.get('mc').trim() === '' ? null : operands.read(state.get('mc'), c);
    const wrong = [row, column, addend].find((x) => x && x.error);
    if (wrong) return { name, error: wrong.error };
    const scales = scalesOf(card, wide);
    if (scales && scales.error) return { name, error: scales.error };
    const mode = show.mode() || {};
    const result = engine.sum(row.patterns, column.patterns, addend ? addend.pattern : null, scales, mode);
    if (result.error) return { name, error: `the model does not take these operands (${result.error})` };
    return { name, card, elements: { a, b, c }, n: wide, padded: wide - n, rounded: row.rounded + column.rounded + (addend && addend.rounded ? 1 : 0), result, number: operands.number(result.pattern, c) };
  }
  function scalesOf(card, n) {
    if (!card.scaled) return null;
    const format = card.scaleFormat || 'binary32', count = Math.ceil(n / (card.every || n));
    if (!engine.element(4, format)) return { error: `${format} is no format` };
    const a = operands.list(state.get('sa'), format, count), b = operands.list(state.get('sb'), format, count);
    return a.error ? a : b.error ? b : { a: a.patterns, b: b.patterns };
  }

  /* ---- steps in words ---- */
  const short = (x) => (x.more ? 'about ' : '') + exact.decimal(x.number, 18);
  const product = (s) => (s.k === null ? '' : s.past - s.k > 1 ? `products ${s.k} to ${s.past - 1}` : `product ${s.k}`);
  const lost = (s) => exact.compare(s.exact.number, s.z.number) !== 0 || s.exact.more;
  function rounded(s) {
    const special = s.exact.kind === 'nan' || s.exact.kind === 'inf' || s.z.kind === 'inf' || s.z.kind === 'nan';
    const to = s.element ? ` in ${s.element}` : '';
    const random = s.random ? ` (R = 0x${s.random.toString(16)})` : '';
    return !special && !lost(s) ? [`= ${short(s.z)}${to}`] : [`= ${short(s.exact)}, `, make('span', { class: 'lost' }, `rounded to ${short(s.z)}`), to + random];
  }
  function words(s) {
    switch (s.kind) {
      case 'slice': return `Slice: ${product(s)}, from 0`;
      case 'part': return `Part: ${product(s)}, from 0`;
      case 'chunk': return `Chunk: ${product(s)}, from 0`;
      case 'block': return `Block: ${product(s)}`;
      case 'align': return `Terms are aligned to 2^${s.top}; the last digit kept is 2^${s.unit}`;
      case 'term': {
        const name = s.k === null ? 'C' : product(s), factors = s.x.kind === 'zero' && s.y.kind === 'zero' ? '' : `${short(s.x)} \u00d7 ${short(s.y)} = `;
        return [`${name}: ${factors}${short(s.exact)}`, lost(s) ? [', ', make('span', { class: 'lost' }, `cut to ${short(s.z)}`)] : ''];
      }
      case 'cut': return ['The sum ', short(s.exact), ' is ', make('span', { class: 'lost' }, `cut to ${short(s.z)}`), `, a multiple of 2^${s.unit}`];
      case 'round': return ['Sum of the terms ', rounded(s)];
      case 'mul': return [`${product(s) || 'Product'}: ${short(s.x)} \u00d7 ${short(s.y)} `, rounded(s)];
      case 'add': return [`${short(s.x)} + ${short(s.y)} `, rounded(s)];
      case 'fma': return [`${product(s) || 'Product'}: ${short(s.x)} \u00d7 ${short(s.y)} + ${short(s.c)} `, rounded(s)];
      default: return ['The result: ', short(s.exact), lost(s) ? [', ', make('span', { class: 'lost' }, `rounded to ${short(s.z)}`)] : '', ` in ${s.element}`];
    }
  }

  /* ---- aligned terms, digit under digit ---- */
  function digitsOf(x, top, unit) {
    /* |x| in binary from 2^top down to 2^unit and on to its last digit: [kept, cut] */
    if (x.kind !== 'finite') return ['0'.repeat(top - unit + 1), ''];
    let low = unit;
    const last = x.number.d.toString(2).length - 1;
    if (-last < low) low = Math.max(-last, unit - 24);
    const scaled = low >= 0 ? x.number.n / (1n << BigInt(low)) / x.number.d : (x.number.n << BigInt(-low)) / x.number.d;
    const all = scaled.toString(2).padStart(top - low + 1, '0');
    return [all.slice(0, all.length - (unit - low)), all.slice(all.length - (unit - low)).replace(/0+$/, '')];
  }
  function picture(steps) {
    const lines = [];
    let top = null, unit = null;
    const flush = [];
    for (const s of steps) {
      if (s.kind === 'align') {
        const named = steps.filter((t) => t.kind === 'term' || t.kind === 'round').map((t) => (t.exact.kind === 'finite' ? exact.log2(t.exact.number) : s.top));
        top = Math.max(s.top + 1, ...named);
        unit = s.unit;
        if (top - unit > DIGITS) return null;
        flush.push(make('span', { class: 'dim' }, `${''.padStart(12)} 2^${top}${'\u00b7'.repeat(Math.max(0, top - unit - 5))}2^${unit}\n`));
      } else if (top !== null && (s.kind === 'term' || s.kind === 'round')) {
        const [kept, cut] = digitsOf(s.exact, top, unit), name = s.kind === 'round' ? 'sum' : s.k === null ? 'C' : s.past - s.k > 1 ? `${s.k}..${s.past - 1}` : `product ${s.k}`;
        const lead = kept.search(/1/), zeros = lead < 0 ? kept : kept.slice(0, lead), rest = lead < 0 ? '' : kept.slice(lead);
        flush.push(`${name.padStart(11)} ${s.exact.number.negative ? '\u2212' : '+'}`, make('span', { class: 'dim' }, zeros), rest, cut ? make('span', { class: 'cut' }, cut) : '', '\n');
      }
    }
    if (flush.length) lines.push(make('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'terms of the block, digit under digit' }, make('div', { class: 'terms' }, flush)));
    return lines;
  }
  /* Without the products that only fill the row up: {steps, left: how many} */
  function withoutFilling(steps, given) {
    const kept = steps.filter((s) => !(s.kind === 'term' && s.k !== null && s.k >= given && s.past - s.k === 1 && s.exact.kind === 'zero'));
    return { steps: kept, left: steps.length - kept.length };
  }
  /* Steps cut into blocks, each with its picture where its terms are aligned. */
  function stepList(one) {
    const out = [], shownMost = 400, groups = [], { steps, left } = withoutFilling(one.result.steps, one.n - one.padded);
    for (const s of steps.slice(0, shownMost)) {
      if (!groups.length || ['slice', 'part', 'chunk', 'block'].includes(s.kind)) groups.push([]);
      groups[groups.length - 1].push(s);
    }
    for (const g of groups) {
      const drawn = g.some((s) => s.kind === 'align') ? picture(g) : null;
      if (drawn) out.push(...drawn);
      out.push(make('ol', { style: 'padding-left: 1.8rem' }, g.map((s) => make('li', { class: 'step' }, make('code', {}, words(s))))));
    }
    const more = steps.length - shownMost + one.result.dropped;
    if (left) out.push(make('p', { class: 'note' }, `${left} zeros that fill the row up are not shown.`));
    if (more > 0) out.push(make('p', { class: 'note' }, `${more} more steps are not shown.`));
    return out;
  }

  /* ---- the table of models ---- */
  function ulps(one, reference) {
    if (!reference || reference.kind !== 'finite' || one.number.kind !== 'finite') return '';
    const error = exact.add(one.number, exact.negate(reference));
    if (error.n === 0n) return '0';
    const width = engine.system(4, one.elements.c), m = width.format ? width.format.m : 52, emin = width.format ? width.format.emin : -1022;
    if (one.elements.c === 's32') return exact.decimal(error, 12);
    const unit = Math.max(reference.n === 0n ? emin : exact.log2(reference), emin) - m;
    return exact.decimal(exact.divide(error, exact.fromParts(false, 1n, unit)), 8);
  }
  function counts(one) {
    const cut = one.result.steps.filter((s) => s.kind === 'term' && lost(s)).length, roundings = one.result.steps.filter((s) => ['round', 'mul', 'add', 'fma'].includes(s.kind) && lost(s)).length;
    return `${roundings} roundings and ${cut} cuts lost digits`;
  }
  /* The exact sum of the operands of one computation. */
  function reference(one) {
    const first = one.result.steps.filter((s) => s.kind === 'last')[0];
    return one.name.trim() === 'exact' && !first.exact.more ? first.exact.number : null;
  }

  function build(root) {
    root.append(make('div', { class: 'bar' }, dom.area('Row of A', 'ma', { style: 'min-height: 3.4rem' }), dom.area('Column of B', 'mb', { style: 'min-height: 3.4rem' })),
      make('div', { class: 'bar' }, dom.field('C (empty: absent)', 'mc', { size: 12 }), dom.field('Format of A and B', 'fe', { list: 'systems', size: 18 }), dom.field('Format of C and the result', 'fd', { list: 'systems', size: 18 })),
      make('p', { class: 'note' }, 'Models of hardware have formats of their own and take those. A row shorter than the instruction is filled up with zeros.'),
      make('div', { class: 'bar', 'data-scales': 'yes' }, dom.field('Scales of A', 'sa', { size: 20 }), dom.field('Scales of B', 'sb', { size: 20 })),
      make('div', { class: 'bar' }, dom.area('Accumulation models, one a line', 'm', { style: 'min-height: 5.6rem' }), make('label', {}, 'Add a named unit', make('input', { list: 'models', size: 34, id: 'add-model', spellcheck: 'false',
        onchange: (e) => {
          if (e.target.value) state.set('m', (state.get('m').trim() + '\n' + e.target.value).trim(), 'add');
          e.target.value = '';
        } }))), make('div', { class: 'out' }));
  }
  function render(out) {
    const names = state.get('m').split('\n').map((s) => s.trim()).filter(Boolean);
    const all = names.map(compute), good = all.filter((one) => !one.error);
    const exactOne = good.find((one) => reference(one)), scaled = good.some((one) => one.card.scaled);
    out.parentNode.querySelector('[data-scales]').hidden = !scaled;
    let shown = Number(state.get('shown'));
    if (!(shown >= 0 && shown < all.length) || all[shown].error) shown = all.findIndex((one) => !one.error);
    const rows = all.map((one, i) => ({ class: i === shown ? 'chosen' : null, cells: one.error ? [one.name, ['', null], [show.failed(one.error), 'words'], '', ''] : [
      make('button', { type: 'button', 'aria-pressed': String(i === shown), 'data-model': i, onclick: () => state.set('shown', String(i), 'model-' + i) }, one.name), '0x' + one.result.pattern.toString(16).padStart(Math.ceil(operands.width(one.elements.c) / 4), '0'),
      `${exact.decimal(one.number, 24)} (${one.elements.c})`, exactOne ? ulps(one, reference(exactOne)) : '', [counts(one), 'words']] }));
    out.replaceChildren(make('h2', {}, 'Results'), dom.table('results per model', ['model', 'code', 'result', 'error in ulps against exact', 'inside the sum'], rows), ...details(all[shown]));
  }
  function details(one) {
    if (!one || one.error) return [];
    const notes = [];
    if (one.rounded) notes.push(one.rounded === 1 ? 'One operand was rounded into its format first.' : `${one.rounded} operands were rounded into their formats first.`);
    if (one.padded) notes.push(`The row is filled up with ${one.padded} zeros to the ${one.n} products of the instruction.`);
    return [make('h2', {}, `Every step of ${one.name}`), make('p', { class: 'note' }, `A ${one.elements.a}, B ${one.elements.b}, C and the result ${one.elements.c}. ${notes.join(' ')} ${one.card.unit}`),
      make('p', { class: 'code', style: 'overflow-wrap: anywhere' }, one.card.text), ...stepList(one)];
  }
  return { build, render, compute };
})();
