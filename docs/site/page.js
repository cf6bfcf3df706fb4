/* SPDX-License-Identifier: MIT */
/* What a page does: the list of pages behind its button, contents that follow the reader, buttons that copy a block. */
(function () {
  'use strict';
  var button = document.querySelector('.menu'), pages = document.getElementById('pages');
  var onpage = document.querySelector('.onpage details'), narrow = window.matchMedia('(max-width: 75rem)');

  function open(yes) {
    button.setAttribute('aria-expanded', String(yes));
    pages.classList.toggle('open', yes);
  }

  button.addEventListener('click', function () { open(button.getAttribute('aria-expanded') !== 'true'); });
  document.addEventListener('keydown', function (e) {
    if (e.key === 'Escape' && pages.classList.contains('open')) { open(false); button.focus(); }
  });

  /* The entry of this page in sight, without moving the page itself. */
  var here = pages.querySelector('[aria-current]');
  if (here && here.offsetTop > pages.clientHeight - 60) pages.scrollTop = here.offsetTop - pages.clientHeight / 2;

  /* Beside the text the contents stand open; above it, on a narrow screen, they are folded. */
  function fold() { if (onpage) onpage.open = !narrow.matches; }
  fold();
  narrow.addEventListener('change', fold);

  var links = onpage ? Array.prototype.slice.call(onpage.querySelectorAll('a')) : [];
  var places = links.map(function (a) { return document.getElementById(decodeURIComponent(a.hash.slice(1))); });
  var marked = null, asked = false;

  /* The last heading that has reached the place where a link to it puts it; at the page's end the last one. */
  function follow() {
    var at = 0, limit = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) + 24;
    asked = false;
    places.forEach(function (place, i) { if (place && place.getBoundingClientRect().top < limit) at = i; });
    if (window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 4 && window.scrollY > 0) {
      var wanted = links.findIndex(function (a) { return a.hash === location.hash; });
      at = wanted > at ? wanted : places.length - 1;
    }
    if (links[at] === marked) return;
    if (marked) marked.removeAttribute('aria-current');
    marked = links[at];
    marked.setAttribute('aria-current', 'true');
    var box = onpage.parentNode;
    if (box.scrollHeight > box.clientHeight) box.scrollTop = marked.offsetTop - box.clientHeight / 2;
  }

  function ask() { if (!asked) { asked = true; window.requestAnimationFrame(follow); } }
  if (links.length) {
    window.addEventListener('scroll', ask, { passive: true });
    window.addEventListener('resize', ask);
    window.addEventListener('hashchange', ask);
    follow();
  }

  /* navigator.clipboard is not there for pages read from a file in every browser. */
  function copied(text) {
    if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
    var area = document.createElement('textarea');
    area.value = text;
    area.style.position = 'fixed';
    area.style.opacity = '0';
    document.body.appendChild(area);
    area.select();
    var good = document.execCommand('copy');
    area.remove();
    return good ? Promise.resolve() : Promise.reject();
  }

  document.querySelectorAll('.code:not(.output) > pre').forEach(function (pre) {
    var copy = document.createElement('button');
    copy.type = 'button';
    copy.className = 'copy';
    copy.textContent = 'Copy';
    copy.setAttribute('aria-label', 'Copy this block');
    copy.setAttribute('aria-live', 'polite');
    copy.addEventListener('click', function () {
      var text = pre.cloneNode(true);
      text.querySelectorAll('.lineno').forEach(function (number) { number.remove(); });
      copied(text.textContent + '\n').then(function () { copy.textContent = 'Copied'; }, function () { copy.textContent = 'Not copied'; }).then(function () {
        copy.focus();
        window.setTimeout(function () { copy.textContent = 'Copy'; }, 1600);
      });
    });
    pre.parentNode.appendChild(copy);
  });

  /* A box that scrolls can be reached by the keyboard. */
  function reach() {
    document.querySelectorAll('.code > pre, .table').forEach(function (box) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0; else box.removeAttribute('tabindex');
    });
  }
  reach();
  window.addEventListener('resize', reach);
})();
