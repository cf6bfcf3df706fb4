/* SPDX-License-Identifier: MIT */
/* What the page shows, in the part of the address behind #: keys with their values where they are not the default. */
'use strict';
window.state = (() => {
  const DEFAULTS = {
    tab: 'format', f: 'float8_e4m3fn', v: '0.3', r: 'rne', sat: 'default', nan: 'max', x: '0',
    op: 'fma', fa: '', fb: '', fc: '', a: '3.5', b: '-0.1', c: '1000', fz: 'bfloat16',
    ma: '448 0.125 1 1 1 1 1 1', mb: '448 0.25 1 1 1 1 1 1', mc: '1', m: 'exact\nseq(bfloat16)\nnv.hopper.e4m3.f32.wgmma', shown: '2', fe: 'float8_e4m3fn', fd: 'binary32', sa: '1', sb: '1',
    d: '', df: 'bfloat16 float8_e4m3fn float8_e5m2 mxfp8_e4m3 mxfp4 nvfp4',
  };
  const LONGEST = 4000; /* of a value in the address */
  let now = { ...DEFAULTS }, listeners = [], waiting = null;

  function read() {
    const given = new URLSearchParams(location.hash.slice(1));
    now = { ...DEFAULTS };
    for (const [key, value] of given) if (key in DEFAULTS) now[key] = value;
  }
  function text() {
    const p = new URLSearchParams();
    for (const key of Object.keys(DEFAULTS)) if (now[key] !== DEFAULTS[key] && now[key].length <= LONGEST) p.set(key, now[key]);
    return '#' + p.toString();
  }
  const get = (key) => now[key];
  function set(key, value, source) {
    if (now[key] === value) return;
    now[key] = value;
    clearTimeout(waiting);
    waiting = setTimeout(() => history.replaceState(null, '', text()), 150);
    for (const f of listeners) f(key, source);
  }
  const listen = (f) => listeners.push(f);
  return { read, text, get, set, listen };
})();
