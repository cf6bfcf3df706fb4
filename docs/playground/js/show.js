/* SPDX-License-Identifier: MIT */
/* Numbers, codes and modes as the panels show them. */
'use strict';
window.show = (() => {
  /* [[name, meaning], ...] of the modes before or from the first stochastic one on. */
  const deterministic = () => engine.catalogue().modes.slice(0, engine.catalogue().stochastic);
  const stochastic = (n) => engine.catalogue().modes.slice(engine.catalogue().stochastic).map(([name]) => name + ':' + n);
  const names = () => deterministic().map(([name]) => name);
  const code = (c, width) => '0x' + (c >>> 0).toString(16).padStart(Math.ceil(width / 4), '0');
  const value = (x, most = 40) => exact.decimal(exact.fromDouble(x), most);
  /* As few digits as say which binary64 number it is. */
  const short = (x) => (Number.isNaN(x) ? 'NaN' : x === Infinity ? '\u221e' : x === -Infinity ? '\u2212\u221e' : Object.is(x, -0) ? '\u22120' : String(x).replace(/-/g, '\u2212'));
  const hex = (x) => exact.hex(exact.fromDouble(x));
  const events = (set) => engine.eventNames(set).join(', ') || 'none';
  /* The controls' mode; null with a message where its text is none. */
  function mode() {
    const m = engine.mode(state.get('r'));
    if (!m) return null;
    return { ...m, saturate: engine.SATURATE.indexOf(state.get('sat')), nan: ['max', 'zero', 'error'].indexOf(state.get('nan')), random: parseInt(state.get('x'), 16) || 0 };
  }
  /* All deterministic modes, and the chosen one where it is stochastic. */
  function modes() {
    const chosen = mode(), list = deterministic().map(([name, words]) => ({ name, words, options: { ...(chosen || {}), ...engine.mode(name) } }));
    if (chosen && chosen.bits) list.push({ name: state.get('r'), words: 'stochastic, R = 0x' + chosen.random.toString(16), options: chosen });
    return list;
  }
  function controls() {
    return dom.make('div', { class: 'bar' },
      dom.field('Rounding mode', 'r', { size: 8, list: 'modes', title: names().join(' ') + ', or ' + stochastic('N').join(' ') }),
      dom.choice('Saturation', 'sat', [['default', 'default'], ['none', 'none'], ['finite', 'finite'], ['propagate', 'propagate']]),
      dom.choice('NaN into a format without NaN', 'nan', [['max', 'max'], ['zero', 'zero'], ['error', 'error']]),
      dom.field('R, hexadecimal (stochastic)', 'x', { size: 9 }),
      dom.make('datalist', { id: 'modes' }, [...names(), ...stochastic(8)].map((m) => dom.make('option', { value: m }))));
  }
  const failed = (text) => dom.make('p', { class: 'error', role: 'alert' }, text);
  function refusal(card, name) {
    const said = { HU_E_NAME: 'no format has this name', HU_E_TEXT: 'this is not a format\u2019s text' }[card.error] || card.error;
    return `${name}: ${said}`;
  }
  return { code, value, short, hex, events, mode, modes, controls, failed, refusal };
})();
