# SPDX-License-Identifier: MIT
"""The site in a browser: pages at 1400 or 390 pixels, the first ones at both and dark, too, without overflow, error or
broken link; the search finds what newcomers type; blocks are copied, pages follow one another, contents follow the reader; all
by keyboard.

usage: test_site_browser.py SOURCE_ROOT BUILD_ROOT some|all     exit code 77: no Chromium, Selenium, or what makes the site
some: the first pages and of each kind of the others (headers, listings, records, commands, ...) every twentieth, and no
playground, which has a test of its own"""
import functools
import http.server
import importlib.util
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

sys.dont_write_bytecode = True
DEBIAN = '/usr/bin/python3'  # which has the packages of Debian where another Python comes first
if importlib.util.find_spec('selenium') is None and sys.executable != DEBIAN and os.path.exists(DEBIAN) and not os.environ.get('HALFULP_TRIED'):
    os.execve(DEBIAN, [DEBIAN, '-B'] + sys.argv, dict(os.environ, HALFULP_TRIED='1'))
root, build, everything = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3] == 'all'
sys.path[:0] = [str(root / 'docs' / 'site'), str(root / 'tests' / 'docs')]
import made_site   # noqa: E402
import pages       # noqa: E402
import site_needs  # noqa: E402

absent = ['Selenium (Debian: python3-selenium)'] if importlib.util.find_spec('selenium') is None else []
for names, package in ((('chromium', 'chromium-browser', 'google-chrome'), 'chromium'), (('chromedriver',), 'chromium-driver')):
    if not any(shutil.which(name) for name in names):
        absent.append('%s (Debian: %s)' % (names[0], package))
site_needs.skip_without(absent + site_needs.missing())
from selenium import webdriver                                    # noqa: E402
from selenium.webdriver.chrome.options import Options             # noqa: E402
from selenium.webdriver.chrome.service import Service             # noqa: E402
from selenium.webdriver.common.by import By                       # noqa: E402
from selenium.webdriver.common.keys import Keys                   # noqa: E402

SITE = build / 'docs-browser' / 'html'
WIDTHS, THEMES = (1400, 390), ('light', 'dark')
# What a reader sees first, and how many windows of 1400 x 1000 its text may fill: three, and what other fonts may add.
FIRST, SCREENS = ('page_readme.html', 'index.html', 'page_guide_hardware.html', 'page_guide_researcher.html', 'page_guide_simulator.html'), 3.3
# Of the pages in FIRST at 1400 pixels: the height of the text and the pictures in it; test_every_page, which opens them, fills it.
TEXTS = {}
# What a newcomer types, and the page (and place) that is to come first.
WORDS = [
    ('quantize', 'command_quantize.html'), ('stochastic', 'page_glossary.html#page_glossary__stochastic_rounding'),
    ('float8_e4m3fn', 'page_formats.html#page_formats__float8_e4m3fn'), ('mxfp4', 'page_scaled.html'),
    ('loss scale', 'page_glossary.html#page_glossary__loss_scale'), ('gemm', 'command_gemm.html'), ('accumulator', 'page_accumulators.html'),
    ('install', 'page_readme.html#page_readme__install'), ('wheel', 'page_python.html#page_python__installing'), ('torch', 'page_torch_torch.html'),
    ('vectors', 'command_vectors.html'), ('DPI', 'page_rtl.html'), ('seed', 'page_numerics.html#page_numerics__6_random_words'),
    ('NaN', 'page_numerics.html#page_numerics__4_nan_operands'),
    ('overflow', 'page_numerics.html#page_numerics__3_beyond_the_range_saturation_policies'), ('compare', 'command_compare.html'),
    ('hu_quantize', 'scalar_8h.html'), ('halfulp.quantize', 'python_halfulp.html#halfulp.quantize'), ('posit', 'page_numbers.html'),
    ('tensor core', 'page_accumulators.html'), ('--against', 'command_gemm.html#option-against'),
    ('subnormal', 'page_glossary.html#page_glossary__subnormal'),
    ('halfulp.torch.Linear', 'python_halfulp_torch.html#halfulp.torch.Linear'), ('hu_gemm', 'gemm_8h.html'),
]
# Of a loaded page: what it refers to, what can be referred to, headings without a link to themselves, the pages before and behind.
LOOK = r"""
var main = document.querySelector('main'), all = function (q) { return [].slice.call(document.querySelectorAll(q)); };
return {
  links: all('a[href]').map(function (a) { return a.getAttribute('href'); }),
  loaded: all('img[src], script[src], link[rel="stylesheet"]').map(function (e) { return e.getAttribute('src') || e.getAttribute('href'); }),
  ids: all('[id]').map(function (e) { return e.id; }),
  bare: all('main h2, main h3, main h4').filter(function (h) {
    var a = h.querySelector('a.self');
    return h.textContent.trim() && !(h.id && a && a.getAttribute('href') === '#' + h.id);
  }).map(function (h) { return h.textContent; }),
  titles: all('h1').length,
  copies: [document.querySelectorAll('.code:not(.output) > pre').length, document.querySelectorAll('.code > .copy').length],
  pictures: all('img').filter(function (i) { return i.complete && !i.naturalWidth; }).map(function (i) { return i.src; })
};"""
# The elements that stick out of the page, if it can be scrolled sideways.
OUTSIDE = r"""
var page = document.documentElement, width = arguments[0];
if (page.scrollWidth <= width) return [];
return [].slice.call(document.querySelectorAll('body *')).filter(function (e) {
  return e.getBoundingClientRect().right > width + 1 && !e.closest('.code > pre, .table, .formula, .memproto, .fieldtable');
}).slice(-3).map(function (e) { return e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 60); }).concat(['scrollWidth ' + page.scrollWidth]);"""
# The height of the text, and the pictures in it.
TEXT = "var body = document.querySelector('.body'); return [body.getBoundingClientRect().height, body.querySelectorAll('img').length];"
# Words in tables that a line ends within, though they would fit into one.
BROKEN = r"""
var found = [];
document.querySelectorAll('.table, .fieldtable').forEach(function (table) {
  var walk = document.createTreeWalker(table, NodeFilter.SHOW_TEXT), node, range = document.createRange();
  while ((node = walk.nextNode())) {
    for (var word of node.data.matchAll(/[A-Za-z0-9]{2,24}/g)) {
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      if (new Set([].map.call(range.getClientRects(), function (r) { return Math.round(r.top); })).size > 1) found.push(word[0]);
    }
  }
});
return found;"""
# Texts whose colour has less than 4.5 to 1 against what is behind it.
PALE = r"""
function rgb(s) { var m = s.match(/[\d.]+/g).map(Number); return { c: m.slice(0, 3), a: m.length > 3 ? m[3] : 1 }; }
function light(c) { return c.map(function (v) { v /= 255; return v <= .04045 ? v / 12.92 : Math.pow((v + .055) / 1.055, 2.4); })
  .reduce(function (sum, v, i) { return sum + v * [.2126, .7152, .0722][i]; }, 0); }
function behind(e) { for (; e; e = e.parentElement) { var b = rgb(getComputedStyle(e).backgroundColor); if (b.a === 1) return b.c; } return [255, 255, 255]; }
var seen = {}, bad = [];
document.querySelectorAll('body *').forEach(function (e) {
  if (![].some.call(e.childNodes, function (n) { return n.nodeType === 3 && n.data.trim(); }) || !e.getClientRects().length) return;
  var back = behind(e), text = rgb(getComputedStyle(e).color).c, key = text + '/' + back;
  if (seen[key]) return;
  seen[key] = true;
  var x = light(text), y = light(back), ratio = (Math.max(x, y) + .05) / (Math.min(x, y) + .05);
  if (ratio < 4.5) bad.push(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2));
});
return [Object.keys(seen).length, bad];"""


class Browser:
    """One Chromium for all pages."""

    def __init__(self):
        options = Options()
        options.binary_location = next(shutil.which(n) for n in ('chromium', 'chromium-browser', 'google-chrome') if shutil.which(n))
        for word in ('--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-extensions', '--hide-scrollbars'):
            options.add_argument(word)
        options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
        self.home = tempfile.TemporaryDirectory()  # where the browser may write, whoever runs the test
        environment = dict(os.environ, HOME=self.home.name, XDG_CONFIG_HOME=self.home.name, XDG_CACHE_HOME=self.home.name)
        self.driver = webdriver.Chrome(service=Service(shutil.which('chromedriver'), env=environment), options=options)
        self.run = self.driver.execute_script
        self.width = self.media = None

    def view(self, width, theme='light', motion='no-preference'):
        if width != self.width:
            self.driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
                'width': width, 'height': 900 if width > 800 else 844, 'deviceScaleFactor': 1, 'mobile': width < 800})
        if (theme, motion) != self.media:
            self.driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {'features': [
                {'name': 'prefers-color-scheme', 'value': theme}, {'name': 'prefers-reduced-motion', 'value': motion}]})
        self.width, self.media = width, (theme, motion)

    def open(self, name, base=None):
        self.driver.get((base or SITE.as_uri()) + '/' + name)

    def find(self, query):
        return self.driver.find_element(By.CSS_SELECTOR, query)

    def press(self, *keys):
        self.driver.switch_to.active_element.send_keys(*keys)

    def insert(self, text):
        """What has the focus gets a text at once, as from the clipboard: it searches once and not with each letter."""
        self.driver.execute_cdp_cmd('Input.insertText', {'text': text})

    def complaints(self):
        return [entry['message'] for entry in self.driver.get_log('browser') if entry['level'] == 'SEVERE']

    def until(self, script, *values):
        """Waits until a script's value is true, however long it takes: meson has a limit for the test. Says what does not come."""
        for turn in itertools.count():
            found = self.run('return ' + script, *values)
            if found:
                return found
            if turn == 200:
                print('waiting: %s %s' % (script, values), flush=True)
            time.sleep(.02)


def made():
    """With the playground a site of its own; else a copy of the one that test_site.py reads, to which a test adds a page."""
    if everything and shutil.which('emcc'):
        playground = SITE.parent / 'playground'
        subprocess.run([sys.executable, '-B', str(root / 'docs/playground/build.py'), str(playground)], check=True)
        done = subprocess.run([sys.executable, '-B', str(root / 'docs/site/build.py'), str(SITE.parent), '--extra', str(playground)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=dict(os.environ, HALFULP=os.environ.get('HALFULP') or str(build / 'cli' / 'halfulp')))
        assert done.returncode == 0, done.stdout
        return
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.copytree(made_site.made(root, build) / 'html', SITE)


def kind_of(name):
    """What a page is made from, which decides about its looks."""
    end = re.search(r'_source\.html$|_8hp*\.html$', name)
    return end[0] if end else re.match('struct|class|[a-z]+_|', name)[0]


def some_of(paths):
    """The first pages, and of each kind every twentieth, from the first one on."""
    kinds = {}
    for path in paths:
        kinds.setdefault(kind_of(path.name), []).append(path)
    assert len(kinds) > 6 and all(kinds.get(kind) for kind in ('page_', '_8h.html', '_source.html', 'struct', 'command_', 'man_', 'python_')), kinds
    return [path for path in paths if path.name in FIRST or path in kinds[kind_of(path.name)][::20]]


def test_every_page(browser):
    """Loads each once; the sizes and colours change under it."""
    seen, wrong, paths = {}, [], sorted(SITE.glob('*.html'))
    assert len(paths) > 200, len(paths)
    browser.view(WIDTHS[0])
    for path in paths if everything else some_of(paths):
        browser.open(path.name)
        seen[path.name] = look = browser.run(LOOK)
        # The pages share their rules, too: of the others each has one width, and its neighbours have the other one.
        widths = WIDTHS if path.name in FIRST else WIDTHS[len(seen) % 2:][:1]
        for width in sorted(widths, key=lambda w: w != browser.width):  # the fewest changes
            # Colours move nothing unless a rule of theirs is wrong, and the pages share their rules.
            for theme in sorted(THEMES, key=lambda t: t != browser.media[0]) if path.name in FIRST else THEMES[:1]:
                browser.view(width, theme)
                wrong += ['%s at %d, %s: %s' % (path.name, width, theme, out) for out in browser.run(OUTSIDE, width)]
                if path.name in FIRST and width == 1400:
                    TEXTS[path.name] = browser.run(TEXT)
            wrong += ['%s at %d: a line of a table ends within %s' % (path.name, width, word) for word in browser.run(BROKEN)]
        wrong += ['%s: %s' % (path.name, text) for text in browser.complaints()]
        wrong += ['%s: a picture that is none: %s' % (path.name, p) for p in look['pictures']]
        if path.name != 'playground.html':
            wrong += ['%s: a heading without a link to itself: %s' % (path.name, h) for h in look['bare']]
            wrong += [] if look['titles'] == 1 else ['%s: %d titles' % (path.name, look['titles'])]
            wrong += [] if look['copies'][0] == look['copies'][1] else ['%s: blocks and buttons to copy: %s' % (path.name, look['copies'])]
    links = broken_links(seen)
    wrong += links[0]
    assert not wrong, '\n'.join(wrong[:40])
    print('%d of %d pages at %s pixels: %d links' % (len(seen), len(paths), WIDTHS, links[1]))


def broken_links(seen):
    wrong, count = [], 0
    places = {name: set(look['ids']) | {''} for name, look in seen.items()}
    for name, look in seen.items():
        for target in look['loaded']:
            if re.match(r'(\w+:)?//', target) or not (SITE / urllib.parse.unquote(target)).is_file():
                wrong.append('%s: loads %s' % (name, target))
        for target in look['links']:
            if re.match(r'\w+:', target):
                continue
            count += 1
            file, _, anchor = target.partition('#')
            file = urllib.parse.unquote(file) or name
            if not (SITE / file).is_file():
                wrong.append('%s: %s: no such file' % (name, target))
            elif file in places and urllib.parse.unquote(anchor) not in places[file]:
                wrong.append('%s: %s: no such place' % (name, target))
    return wrong, count


FAULTY = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"/><title>x</title><body style="margin:0;background:#fff">
<main><h1>x</h1><h2>no link</h2><p style="width:1500px">wide</p><p style="color:#aaa">pale</p><a href="absent.html">a</a><a href="#absent">b</a>
<img src="absent.png" alt=""/><div class="table" style="width:1em;overflow-wrap:anywhere">broken</div>
<div class="code"><pre>no button</pre></div></main><script>undefinedName();</script></body></html>"""


def test_faults_are_seen(browser):
    """What the tests of every page look for, on a page that has all of it."""
    (SITE / 'faulty.html').write_text(FAULTY, encoding='utf-8')
    try:
        browser.view(390)
        browser.open('faulty.html')
        look = browser.run(LOOK)
        assert browser.run(OUTSIDE, 390) and browser.run(OUTSIDE, 1400)
        assert browser.run(BROKEN) == ['broken']
        assert look['bare'] == ['no link'] and look['copies'] == [1, 0] and len(look['pictures']) == 1, look
        assert any('undefinedName' in text for text in browser.complaints())
        assert [text.split(': ', 1)[1] for text in broken_links({'faulty.html': look})[0]] == [
            'loads absent.png', 'absent.html: no such file', '#absent: no such place']
        assert 'P. 2.32' in browser.run(PALE)[1]
    finally:
        (SITE / 'faulty.html').unlink()
    print('faults are seen')


def turned(name):
    """The pages that a page names as before and behind it."""
    tags = re.findall(r'<a [^>]*rel="(next|prev)"[^>]*>', text := (SITE / name).read_text(encoding='utf-8'))
    assert len(tags) == len(set(tags)), name
    found = {rel: re.search(r'<a (?=[^>]*rel="%s")[^>]*href="([^"]*)"' % rel, text)[1] for rel in tags}
    return found.get('prev'), found.get('next')


def test_one_behind_the_other():
    """The chain of the pages is complete, in the order of pages.txt."""
    order = [pages.label(path) + '.html' for path in pages.on_site(root)]
    name, before, walked = 'index.html', None, []
    while name:
        walked.append(name)
        assert len(walked) <= len(order) + 1, walked
        prev, behind = turned(name)
        assert prev == before, (name, prev, before)
        name, before = behind, name
    assert walked == order, (walked, order)
    print('%d pages one behind the other' % len(walked))


def test_search(browser):
    browser.view(1400)
    browser.open('index.html')
    box = browser.find('#search')
    box.click()
    browser.until('!!window.halfulpIndex')
    marks = re.compile(r'```|<!--|</?\w+>|\]\(|\*\*|&\w+;')
    for text, wanted in WORDS:
        box.send_keys(Keys.CONTROL, 'a')
        browser.insert(text)
        hits = browser.until("""document.getElementById('search').value === arguments[0] && [].slice.call(document.querySelectorAll('#found a')).map(
            function (a) { return [a.getAttribute('href'), a.querySelector('small').textContent]; })""", text)
        first = hits[0][0] if hits else None
        assert first == wanted or ('#' not in wanted and first.split('#')[0] == wanted), '%s: first is %s, not %s' % (text, first, wanted)
        for address, excerpt in hits:
            assert not marks.search(excerpt) and len(excerpt) < 170, (text, address, excerpt)
    assert len(WORDS) >= 20
    box.send_keys(Keys.CONTROL, 'a')
    browser.insert('zzzzqqq')
    browser.until("document.getElementById('found').textContent === 'Nothing found'")
    print('%d words find their page first' % len(WORDS))


def test_search_by_keyboard(browser):
    browser.view(1400)
    browser.open('page_found.html')
    browser.press('/')
    assert browser.run('return document.activeElement.id') == 'search'
    browser.press('gemm')
    browser.until("document.querySelectorAll('#found [role=option]').length > 2")
    second = browser.run("return document.querySelectorAll('#found a')[1].getAttribute('href')")
    browser.press(Keys.ARROW_DOWN)
    chosen = "document.getElementById(document.getElementById('search').getAttribute('aria-activedescendant'))"
    assert browser.run('return ' + chosen + ".querySelector('a').getAttribute('href')") == second
    browser.press(Keys.ENTER)
    browser.until('location.href.split("/").pop() === arguments[0]', second)
    browser.press(Keys.TAB)
    assert browser.run("return document.activeElement.className") == 'skip' or '#' in second
    browser.open('page_found.html?q=posit')  # an address that searches
    browser.until("document.querySelectorAll('#found a').length")
    print('the search by keyboard')


def copied_by_keyboard(browser, base, wanted, name):
    """wanted: the block's text; the first one of the page."""
    browser.open(name, base)
    browser.run("document.querySelector('.code:not(.output) .copy').focus()")
    assert float(browser.until("getComputedStyle(document.activeElement).opacity")) == 1
    browser.press(Keys.ENTER)
    browser.until("document.activeElement.textContent === 'Copied'")
    browser.run("""var t = document.body.appendChild(document.createElement('textarea')); t.id = 'pasted'; t.focus()""")
    browser.press(Keys.CONTROL, 'v')
    pasted = browser.until("document.getElementById('pasted').value")
    assert pasted == wanted, (wanted, pasted)


def test_few_screens():
    """The pages that a reader sees first: the text, without the site's own frame, in a window of 1400 x 1000."""
    heights = {name: TEXTS[name][0] for name in FIRST}
    for name in FIRST:
        assert TEXTS[name][1] > 0, '%s: no picture' % name
    long = {name: height for name, height in heights.items() if not 1000 < height <= 1000 * SCREENS}
    assert not long, long
    print('the first pages are %.1f to %.1f screens long' % (min(heights.values()) / 1000, max(heights.values()) / 1000))


def test_copy(browser):
    """From a file, and from a server, where the browser has another way."""
    browser.view(1400)
    quiet = functools.partial(type('Quiet', (http.server.SimpleHTTPRequestHandler,), {'log_message': lambda *a: None}), directory=str(SITE))
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        guide = next(b for b in pages.blocks((root / 'docs/guide-simulator.md').read_text(encoding='utf-8')) if b.comment != 'output')
        header = (root / 'include/halfulp/status.h').read_text(encoding='utf-8')
        for base in (None, 'http://127.0.0.1:%d' % server.server_port):
            copied_by_keyboard(browser, base, guide.text, 'page_guide_simulator.html')
        copied_by_keyboard(browser, None, header, 'status_8h_source.html')
    finally:
        server.shutdown()
    print('blocks are copied')


def test_contents_follow(browser):
    for name in ('page_numerics.html', 'python_halfulp_scaled.html', 'gemm_8h.html'):
        browser.view(1400, motion='reduce')
        browser.open(name)
        assert browser.run("return getComputedStyle(document.documentElement).scrollBehavior") == 'auto'
        places = browser.run("""return [].slice.call(document.querySelectorAll('.onpage a')).map(
            function (a) { return decodeURIComponent(a.hash.slice(1)); })""")
        assert len(places) > 4, (name, places)
        for place in places[::max(1, len(places) // 6)]:
            browser.run("document.getElementById(arguments[0]).scrollIntoView({ block: 'start' })", place)
            browser.until("""(function (id) {
                var marked = document.querySelectorAll('.onpage a[aria-current]');
                var atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 4;
                return marked.length === 1 && (decodeURIComponent(marked[0].hash.slice(1)) === id || atEnd);
            })(arguments[0])""", place)
        browser.run('window.scrollTo(0, document.documentElement.scrollHeight)')
        browser.until("decodeURIComponent(document.querySelector('.onpage a[aria-current]').hash.slice(1)) === arguments[0]", places[-1])
    browser.view(1400)
    assert browser.run("return getComputedStyle(document.documentElement).scrollBehavior") == 'smooth'
    print('contents follow')


def test_narrow(browser):
    """The list of pages and the contents stand behind buttons, which the keyboard reaches."""
    browser.view(390)
    browser.open('page_numerics.html')
    shown = "getComputedStyle(document.getElementById('pages')).display === '%s'"
    assert browser.run('return ' + shown % 'none')
    browser.run("document.querySelector('.menu').focus()")
    browser.press(Keys.ENTER)
    browser.until(shown % 'block')
    assert not browser.run(OUTSIDE, 390), 'the open list of pages'
    browser.press(Keys.ESCAPE)
    browser.until(shown % 'none')
    assert browser.run("return !document.querySelector('.onpage details').open")
    browser.run("document.querySelector('.onpage summary').focus()")
    browser.press(Keys.ENTER)
    browser.until("document.querySelector('.onpage details').open")
    assert not browser.run(OUTSIDE, 390), 'the open contents'
    cards = "getComputedStyle(document.querySelector('.table.cards td')).display"
    browser.open('page_accumulators.html')
    assert browser.run('return ' + cards) == 'block'
    browser.view(1400)
    assert browser.run('return ' + cards) == 'table-cell'
    print('a narrow screen')


def test_focus_and_colours(browser):
    """What has the focus shows it; texts stand out from what is behind them."""
    browser.view(1400)
    browser.open('page_numerics.html')
    browser.press(Keys.TAB)
    assert browser.run("""var e = document.activeElement, r = e.getBoundingClientRect();
        return e.className === 'skip' && r.left >= 0 && r.top >= 0""")
    for _ in range(3):
        browser.press(Keys.TAB)
        assert browser.run("return getComputedStyle(document.activeElement).outlineStyle") != 'none'
    browser.run("document.querySelector('h2 .self').focus()")
    browser.until("getComputedStyle(document.querySelector('h2 .self')).opacity === '1'")
    colours = 0
    for name in ('page_numerics.html', 'page_embedding.html', 'mode_8h.html', 'mode_8h_source.html', 'python_halfulp.html',
                 'command_gemm.html', 'man_halfulp_1.html'):
        browser.open(name)
        browser.run("document.querySelectorAll('.copy').forEach(function (c) { c.style.opacity = 1; })")
        for theme in THEMES:  # under the page; only opacities take time to change
            browser.view(1400, theme)
            count, pale = browser.run(PALE)
            assert not pale, (theme, name, pale)
            colours += count
            dark = browser.run("""return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)
                .reduce(function (x, y) { return x + y; }) < 200""")
            assert dark == (theme == 'dark'), theme
    assert colours > 60, colours
    print('the focus is seen; %d colours on their grounds' % colours)


def main():
    begin = time.time()
    made()
    print('the site is made: %.0f s' % (time.time() - begin))
    browser = Browser()
    try:
        test_every_page(browser)
        print('pages: %.0f s' % (time.time() - begin))
        test_one_behind_the_other()
        test_few_screens()
        for test in (test_faults_are_seen, test_search, test_search_by_keyboard, test_copy, test_contents_follow,
                     test_narrow, test_focus_and_colours):
            test(browser)
    finally:
        browser.driver.quit()
        browser.home.cleanup()
    print('%.0f s' % (time.time() - begin))


if __name__ == '__main__':
    main()
