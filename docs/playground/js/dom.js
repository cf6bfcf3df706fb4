/* SPDX-License-Identifier: MIT */
/* Elements of the page from functions: dom.make('p', {class: 'note'}, 'text', element, ...). */
'use strict';
window.dom = (() => {
  const SVG = 'http://www.w3.org/2000/svg';
  function fill(node, attributes, children) {
    for (const [key, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
      else if (key === 'value' && 'value' in node) node.value = value;
      else node.setAttribute(key, value === true ? '' : value);
    }
    node.append(...children.flat(3).filter((c) => c !== null && c !== undefined));
    return node;
  }
  const make = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const draw = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
  const find = (id) => document.getElementById(id);

  /* A table: heads are texts or [text, class]; rows are {class, cells}, the first cell heads its row. */
  function table(caption, heads, rows) {
    const head = heads.map((h) => make('th', { scope: 'col', class: Array.isArray(h) ? h[1] : null }, Array.isArray(h) ? h[0] : h));
    const body = rows.map((row) => make('tr', { class: row.class }, row.cells.map((cell, i) => {
      const [content, kind] = Array.isArray(cell) ? cell : [cell, null];
      return i ? make('td', { class: kind }, content) : make('th', { scope: 'row', class: kind }, content);
    })));
    return make('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': caption },
      make('table', {}, make('thead', {}, make('tr', {}, head)), make('tbody', {}, body)));
  }
  function card(pairs) {
    return make('dl', { class: 'card' }, pairs.filter((p) => p && p[1] !== '').map(([term, text]) => [make('dt', {}, term), make('dd', { class: 'code' }, text)]));
  }
  /* A labelled control bound to a key of the state. */
  function field(label, key, attributes = {}) {
    return make('label', {}, label, make('input', { 'data-key': key, spellcheck: 'false', autocomplete: 'off', value: state.get(key), ...attributes,
      oninput: (e) => state.set(key, e.target.value) }));
  }
  function area(label, key, attributes = {}) {
    return make('label', { style: 'flex: 1 1 20rem' }, label, make('textarea', { 'data-key': key, spellcheck: 'false', value: state.get(key), ...attributes,
      oninput: (e) => state.set(key, e.target.value) }));
  }
  function choice(label, key, options) {
    return make('label', {}, label, make('select', { 'data-key': key, onchange: (e) => state.set(key, e.target.value) },
      options.map(([value, text]) => make('option', { value, selected: state.get(key) === value }, text))));
  }
  return { make, draw, find, table, card, field, area, choice };
})();
