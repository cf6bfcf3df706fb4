#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The playground in headless Chromium, opened as a file: the same codes, events and sums as the golden files and the command,
and a page that a reader can use.

usage: test_playground.py ROOT COMMAND GOLDEN some|all    GOLDEN: a folder of all golden texts
some: WebAssembly without optimization, which compiles in an eighth of the time, and a tenth of the conversions. The size of what is
published, which is optimized, is looked at with `all`."""
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import browser
import golden_cases

EVERYTHING = sys.argv[4] == 'all'
CONVERSIONS, OPERATIONS, SUMS = 10000 if EVERYTHING else 1000, 1000, 200
LARGEST = 600 * 1024 if EVERYTHING else 1000 * 1024  # bytes of WebAssembly; what is not optimized is larger
SLOWEST = 1000  # milliseconds until something is seen


def until(found):
    """What is found, however long it takes: meson has a limit for the test."""
    while not (what := found()):
        time.sleep(0.02)
    return what


class Page:
    def __init__(self, folder):
        self.address = (folder / 'playground.html').as_uri()
        self.driver = browser.start()

    def open(self, state='', width=1400):
        browser.size(self.driver, width, 900)
        self.driver.get('about:blank')
        self.driver.get(self.address + state)
        until(lambda: self.run('return document.documentElement.dataset.ready') is not None)
        assert self.run('return document.documentElement.dataset.ready') == 'yes', self.run('return document.body.innerText')

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        return self.driver.find_element('css selector', selector)

    def text(self, selector):
        return self.find(selector).text


def check_conversions(page, golden):
    cases = golden_cases.conversions(golden, CONVERSIONS)
    got = page.run('''return arguments[0].map(([text, bits, mode, random]) => {
        const card = engine.system(0, text);
        if (!card.kind) return [card.error, 0];
        const r = engine.encode(0, exact.ofBits(BigInt('0x' + bits)), {...engine.mode(mode), random});
        return [r.code, r.events]; });''', cases)
    wrong = [(c, g) for c, g in zip(cases, got) if g[0] != c[4] or (c[5] is not None and g[1] != c[5])]
    assert not wrong, (len(wrong), wrong[:5])
    return len(cases)


def check_operations(page, command):
    cases = golden_cases.operations(command, OPERATIONS)
    got = page.run('''return arguments[0].map(([name, format, codes, mode]) => {
        for (let i = 0; i < 4; i++) engine.system(i, format);
        return engine.operate(name, codes, engine.mode(mode)).code; });''', cases)
    wrong = [(c, g) for c, g in zip(cases, got) if g != c[4]]
    assert not wrong, (len(wrong), wrong[:5])
    assert len(cases) >= OPERATIONS
    return len(cases)


SUM = '''return arguments[0].map(([model, fa, fb, fc, fz, a, b, c, mode]) => {
    const card = engine.model(model), big = (x) => BigInt('0x' + x);
    if (card.error) return [card.error, 0];
    [fa, fb, fc, fz].forEach((f, i) => engine.element(i, f));
    const r = engine.sum(a.map(big), b.map(big), c === null ? null : big(c), null, engine.mode(mode));
    if (r.error) return [r.error, 0];
    const last = r.steps[r.steps.length - 1];
    return [r.pattern.toString(16), r.events, last.kind]; });'''


def both_nan(case, got):
    """A unit's NaN has bits of its own, which models do not describe."""
    one, exponent = {'binary32': (0x7fffffff, 0x7f800000), 'binary16': (0x7fff, 0x7c00)}.get(case[4], (0, 0))
    return case[10] is None and all(x == 'nan' or int(x, 16) & one > exponent for x in (case[9], got))


def check_sums(page, golden, units):
    width_of = functools.lru_cache(maxsize=None)(lambda f: page.run('return engine.system(0, arguments[0]).width', f))
    cases = golden_cases.sums(golden) + golden_cases.units(units, width_of)
    got = page.run(SUM, cases)
    wrong = [(c, g) for c, g in zip(cases, got) if not (g[0] == (c[9].lstrip('0') or '0') or both_nan(c, g[0])) or g[2:] != ['last']
             or (c[10] is not None and g[1] != c[10])]
    assert not wrong, (len(wrong), wrong[:5])
    assert len(cases) >= SUMS
    return len(cases)


def check_rules(page, command):
    """The sentences of `halfulp explain`, in every mode."""
    for form, texts in {'float8_e4m3fn': ['0.3', '-1.0625', '460', '1e-9', '0', '-inf', 'nan'], 'bfloat16': ['0.1', '1e39', '0x1.01p+0'],
                        'binary16': ['65520', '-0.0000001'], 'float8_e8m0fnu': ['3', '1e-60']}.items():
        for text in texts:
            said = json.loads(subprocess.run([command, 'explain', '-f', form, '-r', 'all', '--json', text], stdout=subprocess.PIPE, text=True).stdout)
            want = [[r['rule'], int(r['code'], 16)] for r in said['results']]
            got = page.run('''engine.system(0, arguments[0]);
                const odd = exact.toOdd(exact.parse(arguments[1]));
                return engine.catalogue().modes.slice(0, 8).map(([name]) => {
                  const r = engine.encode(0, odd.value, engine.mode(name));
                  return [engine.rule(0, odd.value, engine.mode(name), r.events), r.code]; });''', form, text)
            assert got == want, (form, text, got, want)


def check_use(page, folder):
    """Typing, clicking bits, tabs by keys, links, wrong texts, files."""
    from selenium.webdriver.common.keys import Keys
    page.open('#tab=number&f=bfloat16&v=0.1')
    assert '0x3dcd' in page.text('#panel-number .out') and page.find('#format').get_attribute('value') == 'bfloat16'
    page.find('[data-bit="15"]').click()
    assert 'code 0xbdcd' in page.run('return state.get("v")') and '1, negative' in page.text('#panel-number .out')
    assert page.run('return document.activeElement.dataset.bit') == '15', 'the bit keeps the focus'
    box = page.find('#panel-number [data-key="v"]')
    box.clear()
    box.send_keys('1/3')
    assert '0x3eab' in page.text('#panel-number .out'), page.text('#panel-number .out')
    until(lambda: 'v=1%2F3' in page.driver.current_url)  # written once nobody types
    link = page.driver.current_url
    assert 'f=bfloat16' in link, link
    page.find('#tab-number').click()
    page.find('#tab-number').send_keys(Keys.ARROW_RIGHT)
    assert page.find('#tab-operation').get_attribute('aria-selected') == 'true' and page.find('#panel-operation').is_displayed()
    page.open(link[link.index('#'):])
    assert '0x3eab' in page.text('#panel-number .out')
    box = page.find('#format')
    box.clear()
    box.send_keys('fp(40,2,0)')
    assert 'exponent bits' in page.text('#format-error')
    page.open('#tab=sum')
    shown = page.text('#panel-sum .out')
    assert '200711.03125' in shown and 'cut to 0' in shown, shown
    for op, operands, what in (('sqrt', 1, 'The square root of x'), ('fma', 3, 'a b + c')):
        page.open(f'#tab=operation&op={op}&a=2.25&b=2&c=1&f=binary16&fz=binary16')
        shown = page.text('#panel-operation .out')
        assert f'exact {op}: {what}' in shown and str({'sqrt': 1.5, 'fma': 5.5}[op]) in shown, shown
        assert page.run('return document.querySelectorAll("#panel-operation [data-operand]:not([hidden])").length') == operands
    page.open('#tab=data')
    numbers = folder / 'numbers.txt'
    numbers.write_text('1 2 3 1000 0x1p-30 nan', encoding='utf-8')
    page.find('#panel-data input[type=file]').send_keys(str(numbers))
    until(lambda: 'numbers.txt' in page.text('#panel-data .out'))
    assert '6 numbers: numbers.txt' in page.text('#panel-data .out')


def check_links(page, command):
    """What `halfulp explain --open` prints shows the code that `halfulp explain` gives."""
    cases = [(['-f', 'fp(4,3,0):fn', '-r', 'rtz', '--', '-0.3'], '#panel-number'),
             (['-f', 'bfloat16', '--fa', 'float8_e4m3fn', '--fb', 'float8_e4m3fn', 'fma', '3.5', '-0.1', '1000'], '#panel-operation'),
             (['dot', '--accum', 'nv.hopper.e4m3.f32.wgmma', '448,0.125,1', '448,0.25,1', '1'], '#panel-sum'),
             (['dot', '--accum', 'pairwise(bfloat16)', '-f', 'float8_e5m2', '1,2,3,4,5', '1,1,1,1,0.3'], '#panel-sum')]
    for words, panel in cases:
        ask = lambda *more: subprocess.run([command, 'explain', *more, *words], stdout=subprocess.PIPE, text=True, check=True,
                                           env=dict(os.environ, HALFULP_PLAYGROUND='page')).stdout
        said = json.loads(ask('--json'))
        code = said['code'] if 'code' in said else said['results'][0]['code']
        page.open(ask('--open').strip()[len('page'):])
        row = page.text(panel + ' tr.chosen')
        assert code in row, (words, code, row)


def check_npy(page):
    """An array of each type, as numpy writes it."""
    import struct
    arrays = (('<f4', '<4f', (1, -2.5, 0.125, 3)), ('<f8', '<4d', (1e-300, 2, 3, 4)), ('<f2', '<4e', (1, 0.5, -2, 65504)),
              ('<i2', '<4h', (1, -2, 3, 400)))
    for kind, pack, values in arrays:
        header = "{'descr': '%s', 'fortran_order': False, 'shape': (4,), }" % kind
        header += ' ' * (-(len(header) + 11) % 64) + '\n'
        data = b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode() + struct.pack(pack, *values)
        got = page.run('''const done = arguments[arguments.length - 1], file = new File([Uint8Array.from(arguments[0])], 'a.npy');
            return panels.data.read(file).then((numbers) => Array.from(numbers));''', list(data))
        assert got == list(values), (kind, got)


def check_layout(page):
    """Opened at each width; tabs and colours change under it."""
    for width in (1400, 390):
        page.open('#tab=format', width)
        for tab in ('format', 'number', 'operation', 'sum', 'data'):
            page.find('#tab-' + tab).click()
            assert page.find('#panel-' + tab).is_displayed(), tab
            for scheme in ('light', 'dark'):
                browser.scheme(page.driver, scheme)
                wide = page.run('return document.documentElement.scrollWidth')
                assert wide <= width, (tab, width, scheme, wide)
                unnamed = page.run('''return [...document.querySelectorAll('main button, main input, main select, main textarea')].filter((e) =>
                    !(e.labels && e.labels.length) && !e.textContent.trim() && !e.getAttribute('aria-label')).map((e) => e.outerHTML)''')
                assert not unnamed, unnamed


def first_paint(page):
    """Milliseconds; the browser reports it some time after the page is ready."""
    page.open()
    return until(lambda: page.run('return performance.getEntriesByName("first-contentful-paint").map((e) => e.startTime)'))[0]


def check_first_paint(page):
    """From the file; a second time where the machine was busy."""
    times = [first_paint(page)]
    if times[0] >= SLOWEST:
        times.append(first_paint(page))
    assert times[-1] < SLOWEST, 'first paint after %s ms' % times
    print('first paint after %.0f ms' % times[-1])


def main():
    root, command, golden = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    browser.need('emcc')
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        subprocess.run([sys.executable, '-B', str(root / 'docs/playground/build.py'), str(work), *([] if EVERYTHING else ['--quick'])], check=True)
        size = (work / 'playground.wasm').stat().st_size
        assert size < LARGEST, size
        page = Page(work)
        try:
            page.open()
            print(check_conversions(page, golden), 'conversions,', check_operations(page, command), 'operations,',
                  check_sums(page, golden, root / 'tests/golden'), 'sums equal')
            check_rules(page, command)
            check_links(page, command)
            check_npy(page)
            check_use(page, work)
            check_layout(page)
            check_first_paint(page)
            assert not browser.errors(page.driver), browser.errors(page.driver)
        finally:
            page.driver.quit()
    return 0


if __name__ == '__main__':
    sys.exit(main())
