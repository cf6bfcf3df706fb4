/* SPDX-License-Identifier: MIT */
/* Search without a server: search-index.js is loaded at the first key; entries are [kind, title, address, text, page, code, words]. */
(function () {
  'use strict';
  var box = document.getElementById('search'), list = document.getElementById('found'), at = -1;
  /* What a reader most likely looks for, where words alone do not tell: a page before its sections, a name before its use. */
  var KIND = { page: 14, command: 14, section: 6, Python: 7, C: 5, header: 3, option: 1, 'man page': -6 };

  function stem(word) { return word.length > 4 ? word.replace(/(?:ing|ed|es|s|e)$/, '') : word; }

  function prepare() {
    if (!window.halfulpIndex || window.halfulpIndex.ready) return;
    window.halfulpIndex.forEach(function (e) {
      var title = e[1].toLowerCase(), short = (e[4] || '').toLowerCase();
      e.title = title;
      e.short = e[0] === 'page' ? short : '';
      e.place = e[0] === 'page' ? '' : short;
      e.words = (title + ' ' + e.short).split(/[^\w]+/).filter(Boolean);
      e.parts = (title + ' ' + e.short).split(/[^a-z0-9]+/).filter(Boolean);
      e.last = title.split(/[^\w]+/).filter(Boolean).pop();
      e.text = e[3].toLowerCase();
      e.index = e[6] ? e[6].split('|') : [];
      e.code = (e[5] || '').toLowerCase();
    });
    window.halfulpIndex.ready = true;
  }

  /* How often a word begins in a text, at most five times. */
  function count(text, word) {
    var n = 0, place = text.indexOf(word);
    while (place >= 0 && n < 5) {
      if (!place || !/[a-z0-9_]/.test(text[place - 1])) n++;
      place = text.indexOf(word, place + word.length);
    }
    return n;
  }

  function inTitle(e, w) {
    var s = stem(w), many = Math.min(e.words.length, 8);
    if (e.title === w || e.short === w) return 60;
    if (e.last === w && e.words.length < 3) return e[0] === 'command' ? 60 : 42;
    if (e.words.indexOf(w) >= 0) return 34 - many;
    if (e.words.some(function (p) { return stem(p) === s; })) return 32 - many;
    if (e.parts.indexOf(w) >= 0) return 22 - Math.min(e.parts.length, 8);
    if (e.parts.some(function (p) { return p.indexOf(s) === 0; })) return 17 - Math.min(e.parts.length, 8);
    return w.length > 2 && e.title.indexOf(w) >= 0 ? 6 : 0;
  }

  /* How well an entry answers one word; 0: not at all. */
  function answers(e, w) {
    var title = inTitle(e, w), more = count(e.text, w), sum = title;
    if (!more) more = count(e.text, stem(w)) / 2;
    if (more) sum += 2 + 1.5 * more + (count(e.text.slice(0, 120), w) ? 3 : 0);
    if (!title && count(e.code, w)) sum += 1.5;
    if (!sum) return 0;
    if (e.place.split(/\W+/).some(function (p) { return stem(p) === stem(w); })) sum += 5;
    if (e.place === 'glossary' && title > 20) sum += 4; // a word's own meaning
    return sum + (title ? KIND[e[0]] || 0 : Math.min(KIND[e[0]] || 0, 3));
  }

  function score(e, words) {
    var sum = 0;
    for (var i = 0; i < words.length; i++) {
      var w = words[i].replace(/^-+(?=\w)/, ''), one = answers(e, w);
      if (!one && e.index.indexOf(words.join(' ')) < 0) return 0;
      sum += one + (w !== words[i] && e[0] === 'option' ? 30 : 0);
    }
    if (e.index.indexOf(words.join(' ')) >= 0) sum += 60; // words.txt says that this answers it
    return sum + (words.length > 1 && (e.title + ' ' + e.short).indexOf(words.join(' ')) >= 0 ? 25 : 0);
  }

  /* The best entries, of one page not more than four, of one option of several commands not more than three. */
  function found(text) {
    prepare();
    var words = text.toLowerCase().split(/\s+/).filter(Boolean), hits = [], shown = {};
    if (!words.length || !window.halfulpIndex) return hits;
    window.halfulpIndex.forEach(function (e, i) {
      var s = score(e, words);
      if (s > 0) hits.push({ score: s, entry: e, at: i });
    });
    hits.sort(function (a, b) { return b.score - a.score || a.at - b.at; });
    return hits.filter(function (hit) {
      var option = hit.entry[0] === 'option', key = option ? hit.entry[1].replace(/.* /, '') : hit.entry[2].split('#')[0];
      shown[key] = (shown[key] || 0) + 1;
      return shown[key] <= (option ? 3 : 4);
    }).slice(0, 20);
  }

  /* A piece of the text round the first word that is in it, from the begin of a sentence or word; words marked. */
  function excerpt(e, words) {
    var text = e[3], lower = text.toLowerCase(), place = -1;
    words.forEach(function (w) { var p = lower.indexOf(w); if (p >= 0 && (place < 0 || p < place)) place = p; });
    if (e[0] !== 'section' && e[0] !== 'page' && e.title.indexOf(words[0]) >= 0) place = -1; // what the name says at first
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
