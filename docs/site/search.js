/* SPDX-License-Identifier: MIT */
/* Search without a server: search-index.js is loaded at the first key; entries are [kind, title, address, text]. */
(function () {
  'use strict';
  var box = document.getElementById('search'), list = document.getElementById('found'), root = box.dataset.root, at = -1;

  function score(entry, words) {
    var title = entry[1].toLowerCase(), text = entry[3].toLowerCase(), sum = 0;
    for (var i = 0; i < words.length; i++) {
      var w = words[i];
      if (title === w) sum += 40;
      else if (title.indexOf(w) === 0) sum += 20;
      else if (title.indexOf(w) >= 0) sum += 12;
      else if (text.indexOf(w) >= 0) sum += 1 + Math.min(text.split(w).length - 1, 6) / 2;
      else return 0;
    }
    return sum + (entry[0] === 'page' ? 1 : 0) - title.length / 1000;
  }

  function line(entry, words) {
    var text = entry[3], place = text.toLowerCase().indexOf(words[0]);
    if (place > 60) text = '… ' + text.slice(place - 40);
    return text.slice(0, 120);
  }

  function show() {
    var words = box.value.toLowerCase().split(/\s+/).filter(Boolean), hits = [];
    list.textContent = '';
    at = -1;
    if (words.length && window.halfulpIndex) {
      window.halfulpIndex.forEach(function (entry) {
        var s = score(entry, words);
        if (s > 0) hits.push([s, entry]);
      });
      hits.sort(function (a, b) { return b[0] - a[0]; });
      hits.slice(0, 30).forEach(function (hit) {
        var item = document.createElement('li'), a = document.createElement('a'), small = document.createElement('small');
        a.href = root + hit[1][2];
        a.textContent = hit[1][1];
        small.textContent = line(hit[1], words);
        a.appendChild(small);
        item.appendChild(a);
        list.appendChild(item);
      });
      if (!hits.length) list.appendChild(document.createElement('li')).textContent = 'Nothing found';
    }
    list.hidden = !words.length;
  }

  function load() {
    if (document.getElementById('search-index')) return;
    var script = document.createElement('script');
    script.id = 'search-index';
    script.src = root + 'search-index.js';
    script.onload = show;
    document.head.appendChild(script);
  }

  box.addEventListener('focus', load);
  box.addEventListener('input', function () { load(); show(); });
  box.addEventListener('keydown', function (e) {
    var links = list.querySelectorAll('a');
    if (e.key === 'Escape') { box.value = ''; show(); }
    if (e.key === 'Enter' && links.length) location.href = links[Math.max(at, 0)].href;
    if (e.key !== 'ArrowDown' && e.key !== 'ArrowUp') return;
    at = Math.min(Math.max(at + (e.key === 'ArrowDown' ? 1 : -1), 0), links.length - 1);
    links.forEach(function (a, i) { a.classList.toggle('here', i === at); });
    e.preventDefault();
  });
  document.addEventListener('click', function (e) { if (!e.target.closest('.search')) list.hidden = true; });

  /* Tables of three columns and more become cards on a narrow screen: each cell says what its column is. */
  document.querySelectorAll('table.markdownTable').forEach(function (table) {
    var heads = Array.prototype.map.call(table.querySelectorAll('th'), function (th) { return th.textContent.trim(); });
    if (heads.length < 3) return;
    table.classList.add('cards');
    table.querySelectorAll('tr').forEach(function (row) {
      row.querySelectorAll('td').forEach(function (cell, i) { if (heads[i]) cell.dataset.head = heads[i]; });
    });
  });

  var here = location.pathname.split('/').pop() || 'index.html';
  document.querySelectorAll('nav a').forEach(function (a) {
    if (a.getAttribute('href').split('/').pop() === here) a.setAttribute('aria-current', 'page');
  });
  var query = /[?&]q=([^&]*)/.exec(location.search);
  if (query) { box.value = decodeURIComponent(query[1]); load(); }
})();
