/* SPDX-License-Identifier: MIT */
/* Search without a server: search-index.js is loaded at the first key; entries are [kind, title, address, text, page, code]. */
(function () {
  'use strict';
  var box = document.getElementById('search'), list = document.getElementById('found'), at = -1;
  /* What a reader most likely looks for, where words alone do not tell: a page before its sections, a name before its use. */
  var KIND = { page: 16, command: 14, section: 6, Python: 7, C: 5, header: 3, option: 0, 'man page': -4 };

  function prepare() {
    if (!window.halfulpIndex || window.halfulpIndex.ready) return;
    window.halfulpIndex.forEach(function (e) {
      e.title = e[1].toLowerCase();
      e.words = e.title.split(/[^\w]+/).filter(Boolean);
      e.parts = e.title.split(/[^a-z0-9]+/).filter(Boolean);
      e.last = e.words[e.words.length - 1];
      e.page = (e[4] || '').toLowerCase();
      e.text = e[3].toLowerCase();
      e.code = (e[5] || '').toLowerCase();
    });
    window.halfulpIndex.ready = true;
  }

  function count(text, word) {
    var n = 0, place = text.indexOf(word);
    while (place >= 0 && n < 6) { n++; place = text.indexOf(word, place + word.length); }
    return n;
  }

  /* How well an entry answers one word; 0: not at all. */
  function answers(e, w) {
    var stem = w.length > 4 ? w.replace(/(ing|s)$/, '') : w, sum = 0;
    if (e.title === w) sum = 60;
    else if (e.last === w && e.words.length < 3) sum = 42;
    else if (e.words.indexOf(w) >= 0) sum = 34 - Math.min(e.words.length, 8);
    else if (e.parts.indexOf(w) >= 0) sum = 24 - Math.min(e.parts.length, 8);
    else if (e.parts.some(function (p) { return p.indexOf(stem) === 0; })) sum = 18 - Math.min(e.parts.length, 8);
    else if (e.title.indexOf(w) >= 0) sum = 6;
    var more = count(e.text, w);
    if (!more && stem !== w) more = count(e.text, stem) / 2;
    if (more) sum += 2 + 1.5 * more + (e.text.indexOf(w) >= 0 && e.text.indexOf(w) < 120 ? 3 : 0);
    if (!sum && e.code.indexOf(w) >= 0) sum = 1.5;
    if (e.page.split(/\W+/).indexOf(w) >= 0) sum += 5;
    return sum;
  }

  function score(e, words) {
    var sum = 0;
    for (var i = 0; i < words.length; i++) {
      var one = answers(e, words[i]);
      if (!one) return 0;
      sum += one;
    }
    if (words.length > 1 && e.title.indexOf(words.join(' ')) >= 0) sum += 25;
    return sum + Math.max(0, KIND[e[0]] || 0) + Math.min(0, KIND[e[0]] || 0);
  }

  function found(text) {
    prepare();
    var words = text.toLowerCase().split(/\s+/).filter(Boolean), hits = [];
    if (!words.length || !window.halfulpIndex) return hits;
    window.halfulpIndex.forEach(function (e) {
      var s = score(e, words);
      if (s > 0) hits.push({ score: s, entry: e });
    });
    hits.sort(function (a, b) { return b.score - a.score || a.entry[1].length - b.entry[1].length || (a.entry[1] < b.entry[1] ? -1 : 1); });
    return hits.slice(0, 24);
  }

  /* A piece of the text round the first word that is in it, from the begin of a sentence or word; words marked. */
  function excerpt(e, words) {
    var text = e[3], lower = text.toLowerCase(), place = -1;
    words.forEach(function (w) { var p = lower.indexOf(w); if (p >= 0 && (place < 0 || p < place)) place = p; });
    var begin = 0;
    if (place > 90) {
      begin = text.lastIndexOf('. ', place) + 2;
      if (begin < 2 || place - begin > 90) begin = text.indexOf(' ', place - 60) + 1;
    }
    var piece = text.slice(begin, begin + 150);
    if (begin + 150 < text.length) piece = piece.slice(0, Math.max(piece.lastIndexOf(' '), 60)) + ' …';
    if (begin && text.slice(begin - 2, begin) !== '. ') piece = '… ' + piece;
    return piece;
  }

  function marked(text, words) {
    var out = document.createElement('small'), lower = text.toLowerCase(), i = 0;
    while (i < text.length) {
      var next = -1, length = 0;
      words.forEach(function (w) { var p = lower.indexOf(w, i); if (p >= 0 && (next < 0 || p < next)) { next = p; length = w.length; } });
      if (next < 0) break;
      out.appendChild(document.createTextNode(text.slice(i, next)));
      out.appendChild(document.createElement('mark')).textContent = text.slice(next, next + length);
      i = next + length;
    }
    out.appendChild(document.createTextNode(text.slice(i)));
    return out;
  }

  function item(entry, words, i) {
    var li = document.createElement('li'), a = document.createElement('a');
    li.setAttribute('role', 'option');
    li.id = 'found-' + i;
    li.setAttribute('aria-selected', 'false');
    a.href = entry[2];
    a.tabIndex = -1;
    a.appendChild(document.createElement('i')).textContent = entry[4] || entry[0];
    a.appendChild(document.createElement('b')).textContent = entry[1];
    a.appendChild(marked(excerpt(entry, words), words));
    li.appendChild(a);
    return li;
  }

  function show() {
    var words = box.value.toLowerCase().split(/\s+/).filter(Boolean), hits = found(box.value);
    list.textContent = '';
    hits.forEach(function (hit, i) { list.appendChild(item(hit.entry, words, i)); });
    if (words.length && !hits.length && window.halfulpIndex) {
      var none = list.appendChild(document.createElement('li'));
      none.className = 'none';
      none.textContent = 'Nothing found';
    }
    list.hidden = !words.length;
    box.setAttribute('aria-expanded', String(!list.hidden));
    choose(hits.length ? 0 : -1);
  }

  function choose(i) {
    var items = list.querySelectorAll('[role="option"]');
    at = i;
    items.forEach(function (li, k) { li.setAttribute('aria-selected', String(k === i)); });
    if (items[i]) {
      box.setAttribute('aria-activedescendant', items[i].id);
      items[i].scrollIntoView({ block: 'nearest' });
    } else box.removeAttribute('aria-activedescendant');
  }

  function load() {
    if (document.getElementById('search-index')) return;
    var script = document.createElement('script');
    script.id = 'search-index';
    script.src = 'search-index.js';
    script.onload = show;
    document.head.appendChild(script);
  }

  function close() { list.hidden = true; box.setAttribute('aria-expanded', 'false'); }

  box.addEventListener('focus', load);
  box.addEventListener('input', function () { load(); show(); });
  box.addEventListener('keydown', function (e) {
    var items = list.querySelectorAll('[role="option"]');
    if (e.key === 'Escape') { box.value = ''; close(); }
    if (e.key === 'Enter' && items.length && !list.hidden) {
      location.href = items[Math.max(at, 0)].firstChild.href;
      close();
      box.blur();
    }
    if (e.key !== 'ArrowDown' && e.key !== 'ArrowUp') return;
    if (items.length) choose(Math.min(Math.max(at + (e.key === 'ArrowDown' ? 1 : -1), 0), items.length - 1));
    e.preventDefault();
  });
  document.addEventListener('click', function (e) { if (!e.target.closest('.search') || e.target.closest('#found a')) close(); });
  document.addEventListener('keydown', function (e) {
    if (e.key !== '/' || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) return;
    e.preventDefault();
    box.focus();
    box.select();
  });

  var query = /[?&]q=([^&]*)/.exec(location.search);
  if (query) { box.value = decodeURIComponent(query[1].replace(/\+/g, ' ')); load(); box.focus(); }
})();
