/* SPDX-License-Identifier: MIT */
/* The panel of data: numbers pasted or dropped, under several formats. */
'use strict';
panels.data = (() => {
  const { make, draw } = dom;
  const MOST = 4194304;
  let dropped = null; /* {name, numbers}: too many for the address */

  /* ---- reading ---- */
  /* NumPy's .npy of <f2 <f4 <f8 and integers: the numbers, or an Error. */
  function npy(buffer) {
    const bytes = new Uint8Array(buffer), view = new DataView(buffer);
    const size = bytes[6] === 1 ? view.getUint16(8, true) : view.getUint32(8, true), start = (bytes[6] === 1 ? 10 : 12) + size;
    const header = new TextDecoder('latin1').decode(bytes.subarray(start - size, start)), type = /'descr':\s*'([<|])([fiu])(\d)'/.exec(header);
    const kinds = { f8: ['Float64', 8], f4: ['Float32', 4], i4: ['Int32', 4], i2: ['Int16', 2], i1: ['Int8', 1], u1: ['Uint8', 1], u2: ['Uint16', 2], u4: ['Uint32', 4], f2: ['half', 2] };
    const [name, width] = (type && kinds[type[2] + type[3]]) || [];
    if (!name) throw new Error('its elements are neither binary16, binary32, binary64 nor integers up to 32 bits');
    const n = Math.floor((buffer.byteLength - start) / width), out = new Float64Array(n);
    if (name === 'half') engine.system(5, 'binary16');
    for (let i = 0; i < n; i++) out[i] = name === 'half' ? engine.decode(5, view.getUint16(start + 2 * i, true)) : view['get' + name](start + width * i, true);
    return out;
  }
  function fromText(text) {
    const words = operands.split(text), out = new Float64Array(words.length);
    for (let i = 0; i < words.length; i++) {
      const x = exact.parse(words[i]);
      if (!x) throw new Error(`number ${i + 1}, \u2018${words[i].slice(0, 20)}\u2019, is no number`);
      out[i] = exact.toOdd(x).value;
    }
    return out;
  }
  async function read(file) {
    const buffer = await file.arrayBuffer(), magic = new Uint8Array(buffer.slice(0, 6));
    return magic[0] === 0x93 && magic[1] === 0x4e ? npy(buffer) : fromText(new TextDecoder().decode(buffer));
  }
  async function open(file) {
    const numbers = await read(file);
    if (numbers.length > MOST) throw new Error(`${numbers.length} numbers are more than ${MOST}`);
    dropped = { name: file.name, numbers };
  }
  /* Sums of twelve uniform numbers, nearly Gaussian, of deviation 0.02, a few of them large: the same in every browser. */
  function sample() {
    const out = new Float64Array(4096);
    let seed = 1;
    const uniform = () => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      return seed / 4294967296;
    };
    for (let i = 0; i < out.length; i++) {
      let s = -6;
      for (let k = 0; k < 12; k++) s += uniform();
      out[i] = Math.fround(s * (i % 256 === 7 ? 0.64 : 0.02));
    }
    return out;
  }
  function numbersNow() {
    if (dropped) return { name: dropped.name, numbers: dropped.numbers };
    if (state.get('d').trim()) return { name: 'the numbers above', numbers: fromText(state.get('d')) };
    return { name: 'a sample: 4096 weights of deviation 0.02, sixteen of them of deviation 0.64', numbers: sample() };
  }

  /* ---- errors ---- */
  function judge(name, numbers) {
    const card = engine.system(6, name);
    if (!card.kind) return { name, error: show.refusal(card, name) };
    const mode = show.mode() || {}, r = engine.quantize(6, numbers, mode);
    if (r.error) return { name, error: r.error };
    let signal = 0, noise = 0, worst = 0, changed = 0;
    for (let i = 0; i < numbers.length; i++) {
      const x = numbers[i], e = r.values[i] - x;
      if (!Number.isFinite(x)) continue;
      if (!Number.isFinite(e)) { noise = Infinity; worst = Infinity; changed++; continue; }
      signal += x * x;
      noise += e * e;
      worst = Math.max(worst, Math.abs(e));
      changed += e !== 0 ? 1 : 0;
    }
    const cells = card.kind === 'scaled' ? card.elementBits + (card.rows && card.cols ? card.scaleBits / (card.rows * card.cols) : 0) : card.width;
    return { name, card, bits: cells, sqnr: noise === 0 ? Infinity : 10 * Math.log10(signal / noise), worst, changed, events: r.events };
  }
  const percent = (k, n) => (k === 0 ? '0' : `${k} (${(100 * k / n).toPrecision(3)} %)`);

  /* ---- histogram ---- */
  const WIDTH = 960, HEIGHT = 150, LEFT = 120;
  function rangeOf(one) {
    const slot = 6, card = engine.system(slot, one.card.kind === 'scaled' ? one.card.element : one.name);
    if (card.kind === 'scaled' || one.card.kind === 'scaled' || !(card.minValue > 0)) return null;
    const normal = card.format && card.format.minNormal !== 0xffffffff ? engine.decode(slot, card.format.minNormal) : card.minValue;
    return [Math.log2(card.minValue), Math.log2(normal), Math.log2(card.maxValue)];
  }
  function histogram(numbers, judged) {
    const counts = new Map();
    for (const x of numbers) {
      if (x === 0 || !Number.isFinite(x)) continue;
      const e = Math.floor(Math.log2(Math.abs(x)));
      counts.set(e, (counts.get(e) || 0) + 1);
    }
    if (!counts.size) return null;
    const ranges = judged.filter((one) => !one.error).map((one) => [one.name, rangeOf(one)]).filter((p) => p[1]);
    const low = Math.max(Math.min(...counts.keys()) - 2, Math.max(...counts.keys()) - 80), high = Math.max(...counts.keys()) + 3, most = Math.max(...counts.values());
    const step = (WIDTH - LEFT - 10) / (high - low), x = (e) => LEFT + (Math.min(Math.max(e, low), high) - low) * step;
    const bars = [...counts].filter(([e]) => e >= low).map(([e, n]) => draw('rect', { class: 'bar-fill', x: x(e) + 1, width: Math.max(1, step - 2), y: HEIGHT - n / most * (HEIGHT - 20), height: n / most * (HEIGHT - 20) }, draw('title', {}, `2^${e}: ${n}`)));
    const every = Math.ceil(48 / step), marks = [];
    for (let e = Math.ceil(low / every) * every; e < high; e += every) marks.push(draw('text', { x: x(e), y: HEIGHT + 14, 'text-anchor': 'middle' }, '2^' + String(e).replace('-', '\u2212')));
    const spans = ranges.map(([name, r], i) => {
      const y = HEIGHT + 26 + 18 * i;
      return [draw('text', { x: LEFT - 8, y: y + 10, 'text-anchor': 'end' }, name.length > 17 ? name.slice(0, 16) + '\u2026' : name), draw('rect', { class: 'span-low', x: x(r[0]), width: Math.max(0, x(r[1]) - x(r[0])), y, height: 10 }), draw('rect', { class: 'span', x: x(r[1]), width: Math.max(1, x(r[2]) - x(r[1])), y, height: 10 })];
    });
    return draw('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT + 30 + 18 * ranges.length}`, role: 'img', 'aria-label': 'numbers per power of two, and the ranges of the formats' }, bars, draw('line', { class: 'axis', x1: LEFT, x2: WIDTH - 10, y1: HEIGHT, y2: HEIGHT }), marks, spans);
  }

  function build(root) {
    const status = make('span', { role: 'status', id: 'data-status' });
    const take = (file) => open(file).then(() => { status.textContent = ''; state.set('d', ''); main.render('data'); }, (e) => { status.textContent = `${file.name}: ${e.message}`; });
    const zone = make('div', { class: 'drop', ondragover: (e) => { e.preventDefault(); zone.classList.add('over'); }, ondragleave: () => zone.classList.remove('over'),
      ondrop: (e) => { e.preventDefault(); zone.classList.remove('over'); if (e.dataTransfer.files.length) take(e.dataTransfer.files[0]); } },
    dom.area('Numbers: paste them here, or drop a .txt, .csv or .npy file', 'd'),
    make('label', {}, 'or choose a file ', make('input', { type: 'file', accept: '.npy,.txt,.csv', onchange: (e) => { if (e.target.files.length) take(e.target.files[0]); } })), ' ',
    make('button', { type: 'button', onclick: () => { dropped = null; status.textContent = ''; state.set('d', '', 'sample'); main.render('data'); } }, 'Use the sample'), ' ', status);
    root.append(zone, make('div', { class: 'bar' }, make('label', { style: 'flex: 1 1 30rem' }, 'Formats, separated by blanks', make('input', { 'data-key': 'df', value: state.get('df'), spellcheck: 'false', oninput: (e) => state.set('df', e.target.value) })), dom.field('Rounding mode', 'r', { size: 8 }),
      dom.choice('Saturation', 'sat', [['default', 'default'], ['none', 'none'], ['finite', 'finite'], ['propagate', 'propagate']])), make('div', { class: 'out' }));
  }
  function render(out, source) {
    let given;
    if (source === 'd' && state.get('d').trim()) dropped = null;
    try {
      given = numbersNow();
    } catch (e) {
      return out.replaceChildren(show.failed(e.message));
    }
    const names = state.get('df').trim().split(/\s+/).filter(Boolean), judged = names.map((name) => judge(name, given.numbers)), n = given.numbers.length;
    const rows = judged.map((one) => ({ cells: one.error ? [one.name, '', [show.failed(one.error), 'words'], '', '', '', ''] : [one.name, [one.bits.toPrecision(4).replace(/\.?0+$/, ''), 'right'],
      [one.sqnr === Infinity ? 'exact' : Number.isFinite(one.sqnr) ? one.sqnr.toFixed(2) : '\u2212\u221e', 'right'], percent(one.events.overflow, n), percent(one.events.to_zero, n), percent(one.events.subnormal, n), one.worst.toPrecision(4)] }));
    out.replaceChildren(make('h2', {}, 'Where the numbers lie'), make('p', { class: 'note' }, `${n} numbers: ${given.name}. Each bar counts one power of two; below, the ranges of the formats without scales (orange: subnormal).`), make('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'histogram' }, histogram(given.numbers, judged) || ''),
      make('h2', {}, 'What the formats make of them'), dom.table('errors per format', ['format', ['bits', 'right'], ['SQNR, dB', 'right'], 'overflows', 'not 0, becomes 0', 'becomes subnormal', 'largest error'], rows),
      make('p', { class: 'note' }, 'SQNR is 10 log10 of the sum of squares over the sum of squared errors. Blocks of scaled formats are taken along the list. halfulp compare computes the same table for whole models.'));
  }
  return { build, render, judge, read };
})();
