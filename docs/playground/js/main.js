/* SPDX-License-Identifier: MIT */
/* Tabs, the format of the page, and what is drawn again when the state changes. */
'use strict';
window.main = (() => {
  const TABS = ['format', 'number', 'operation', 'sum', 'data'];
  const outs = {};

  function render(tab, source) {
    if (!TABS.includes(tab)) return;
    panels[tab].render(outs[tab], source);
  }
  function select(tab, focus) {
    dom.find('of-page').hidden = tab === 'sum' || tab === 'data'; /* they name formats of their own */
    for (const name of TABS) {
      const on = name === tab, button = dom.find('tab-' + name);
      button.setAttribute('aria-selected', String(on));
      button.tabIndex = on ? 0 : -1;
      dom.find('panel-' + name).hidden = !on;
      if (on && focus) button.focus();
    }
  }
  const tabNow = () => (TABS.includes(state.get('tab')) ? state.get('tab') : 'format');

  /* The controls that show a key, but for the one that the reader types in. */
  function controls() {
    for (const control of document.querySelectorAll('[data-key]')) if (control !== document.activeElement) control.value = state.get(control.dataset.key);
    const format = dom.find('format');
    if (format !== document.activeElement) format.value = state.get('f');
  }
  function formatError() {
    const card = engine.system(0, state.get('f'));
    dom.find('format-error').textContent = card.kind ? '' : show.refusal(card, state.get('f'));
  }
  function changed(key, source) {
    if (key === 'tab') select(tabNow());
    if (key === 'f') formatError();
    controls();
    render(tabNow(), source || key);
  }

  function names() {
    const all = engine.catalogue(), option = ([name, text]) => dom.make('option', { value: name, label: text.length > 60 ? text.slice(0, 60) + '\u2026' : text });
    dom.find('systems').append(...all.formats.map(option), ...all.numbers.map(option), ...all.scaled.map(option));
    dom.find('models').append(...all.models.map(option));
  }
  function tabs() {
    for (const [i, name] of TABS.entries()) {
      const button = dom.find('tab-' + name);
      button.addEventListener('click', () => state.set('tab', name));
      button.addEventListener('keydown', (e) => {
        const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: TABS.length - 1 }[e.key];
        if (to === undefined) return;
        e.preventDefault();
        state.set('tab', TABS[(to + TABS.length) % TABS.length]);
        select(tabNow(), true);
      });
    }
  }
  function link() {
    dom.find('copy-link').addEventListener('click', async () => {
      const address = location.href.split('#')[0] + state.text();
      history.replaceState(null, '', state.text());
      try {
        await navigator.clipboard.writeText(address);
        dom.find('copied').textContent = 'The link is in the clipboard.';
      } catch {
        dom.find('copied').textContent = 'The link is in the address bar.';
      }
    });
    dom.find('format').addEventListener('input', (e) => state.set('f', e.target.value));
    window.addEventListener('hashchange', () => {
      state.read();
      changed('tab');
      formatError();
    });
  }

  async function start() {
    state.read();
    tabs();
    select(tabNow());
    await engine.load();
    for (const name of TABS) {
      const root = dom.find('panel-' + name);
      if (panels[name].build) panels[name].build(root);
      else root.append(dom.make('div', { class: 'out' }));
      outs[name] = root.querySelector('.out');
    }
    dom.find('loading').remove();
    dom.find('version').textContent = engine.version();
    names();
    link();
    state.listen(changed);
    formatError();
    controls();
    render(tabNow());
    document.documentElement.dataset.ready = 'yes';
  }
  start().catch((e) => {
    dom.find('loading').textContent = `The library could not be loaded: ${e.message}.`;
    document.documentElement.dataset.ready = 'no';
  });
  return { render };
})();
