/* SPDX-License-Identifier: MIT */
/* Exact numbers: fractions of big integers, from text and from binary64, to text. Nothing here rounds unless its name
 * says so. A number is {kind: 'finite' | 'inf' | 'nan', negative, n, d} with |x| = n / d, d > 0. */
'use strict';
window.exact = (() => {
  const finite = (negative, n, d) => ({ kind: 'finite', negative, n, d });
  const nan = { kind: 'nan', negative: false, n: 0n, d: 1n };
  const infinity = (negative) => ({ kind: 'inf', negative, n: 0n, d: 1n });
  const power = (e) => 1n << BigInt(e);

  /* (-1)^negative significand 2^exponent */
  function fromParts(negative, significand, exponent) {
    return exponent >= 0 ? finite(negative, significand * power(exponent), 1n) : finite(negative, significand, power(-exponent));
  }

  const view = new DataView(new ArrayBuffer(8));
  function bitsOf(x) {
    view.setFloat64(0, x);
    return view.getBigUint64(0);
  }
  function ofBits(u) {
    view.setBigUint64(0, u);
    return view.getFloat64(0);
  }

  function fromDouble(x) {
    const u = bitsOf(x), negative = u >> 63n === 1n, field = Number(u >> 52n & 2047n), digits = u & 0xfffffffffffffn;
    if (Number.isNaN(x)) return nan;
    if (field === 2047) return infinity(negative);
    return fromParts(negative, field ? digits | 1n << 52n : digits, (field || 1) - 1075);
  }

  /* Decimal, hexadecimal of C99, a fraction p/q, inf, nan. null: none of them. */
  function parse(text) {
    const t = text.trim().toLowerCase().replace(/[\u2212]/g, '-').replace(/_/g, '');
    const special = /^([+-]?)(inf|infinity|nan)$/.exec(t);
    if (special) return special[2] === 'nan' ? nan : infinity(special[1] === '-');
    const fraction = /^([+-]?\d+)\/(\d+)$/.exec(t);
    if (fraction && BigInt(fraction[2]) > 0n) {
      const n = BigInt(fraction[1]);
      return finite(t[0] === '-', n < 0n ? -n : n, BigInt(fraction[2]));
    }
    const hex = /^([+-]?)0x([0-9a-f]*)(?:\.([0-9a-f]*))?(?:p([+-]?\d{1,6}))?$/.exec(t);
    if (hex && (hex[2] || hex[3])) {
      const behind = hex[3] || '';
      return fromParts(hex[1] === '-', BigInt('0x' + (hex[2] || '') + behind), Number(hex[4] || 0) - 4 * behind.length);
    }
    const decimal = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,5}))?$/.exec(t);
    if (!decimal || !(decimal[2] || decimal[3])) return null;
    const behind = decimal[3] || '', e = Number(decimal[4] || 0) - behind.length, n = BigInt((decimal[2] || '') + behind);
    return e >= 0 ? finite(decimal[1] === '-', n * 10n ** BigInt(e), 1n) : finite(decimal[1] === '-', n, 10n ** BigInt(-e));
  }

  const length = (n) => n.toString(16).length * 4 - (Math.clz32(parseInt(n.toString(16)[0], 16)) - 28);
  /* floor(log2 |x|) of a finite x that is not 0 */
  function log2(x) {
    let e = length(x.n) - length(x.d);
    const below = e >= 0 ? x.n < x.d * power(e) : x.n * power(-e) < x.d;
    return below ? e - 1 : e;
  }

  /* Toward zero into binary64; where digits are lost, the last one becomes 1. {value, exact}: what `rule` of the engine takes. */
  function toOdd(x) {
    const sign = x.negative ? -1 : 1;
    if (x.kind === 'nan') return { value: NaN, exact: true };
    if (x.kind === 'inf') return { value: sign * Infinity, exact: true };
    if (x.n === 0n) return { value: sign * 0, exact: true };
    const e = log2(x);
    if (e > 1023) return { value: sign * Number.MAX_VALUE, exact: false };
    const unit = Math.max(e - 52, -1074);
    const n = unit >= 0 ? x.n : x.n * power(-unit), d = unit >= 0 ? x.d * power(unit) : x.d;
    let q = n / d;
    const rest = q * d !== n;
    if (rest) q |= 1n;
    const scaled = unit < -1022 ? Number(q) * 2 ** -1022 * 2 ** (unit + 1022) : Number(q) * 2 ** unit;
    return { value: sign * scaled, exact: !rest };
  }

  const negate = (x) => ({ ...x, negative: x.kind === 'nan' ? false : !x.negative });
  function add(x, y) {
    if (x.kind === 'nan' || y.kind === 'nan') return nan;
    if (x.kind === 'inf') return y.kind === 'inf' && x.negative !== y.negative ? nan : x;
    if (y.kind === 'inf') return y;
    const n = (x.negative ? -x.n : x.n) * y.d + (y.negative ? -y.n : y.n) * x.d;
    if (n === 0n) return finite(x.negative && y.negative, 0n, 1n);
    return reduce(finite(n < 0n, n < 0n ? -n : n, x.d * y.d));
  }
  function multiply(x, y) {
    const negative = x.negative !== y.negative, zero = (z) => z.kind === 'finite' && z.n === 0n;
    if (x.kind === 'nan' || y.kind === 'nan') return nan;
    if (x.kind === 'inf' || y.kind === 'inf') return zero(x) || zero(y) ? nan : infinity(negative);
    return reduce(finite(negative, x.n * y.n, x.d * y.d));
  }
  function divide(x, y) {
    const negative = x.negative !== y.negative;
    if (x.kind === 'nan' || y.kind === 'nan' || (x.kind === 'inf' && y.kind === 'inf')) return nan;
    if (x.kind === 'inf') return infinity(negative);
    if (y.kind === 'inf') return finite(negative, 0n, 1n);
    if (y.n === 0n) return x.n === 0n ? nan : infinity(negative);
    return reduce(finite(negative, x.n * y.d, x.d * y.n));
  }
  function isqrt(n) {
    if (n < 2n) return n;
    let x = 1n << BigInt((length(n) + 1) >> 1);
    for (;;) {
      const y = (x + n / x) >> 1n;
      if (y >= x) return x;
      x = y;
    }
  }
  /* The square root to 200 digits below its first, a digit of 1 behind them where it is not exact. */
  function sqrt(x) {
    if (x.kind === 'nan' || (x.negative && (x.kind === 'inf' || x.n > 0n))) return nan;
    if (x.kind === 'inf' || x.n === 0n) return x;
    const up = BigInt(2 * (200 + Math.max(0, -Math.floor(log2(x) / 2))));
    const n = (x.n << up) / x.d, root = isqrt(n), whole = root * root === n && n * x.d === x.n << up;
    return reduce(finite(false, whole ? root : root * 2n + 1n, power(Number(up / 2n) + (whole ? 0 : 1))));
  }

  function gcd(a, b) {
    while (b) [a, b] = [b, a % b];
    return a;
  }
  function reduce(x) {
    const g = x.n === 0n ? x.d : gcd(x.n, x.d);
    return finite(x.negative, x.n / g, x.d / g);
  }

  function compare(x, y) {
    const a = (x.negative ? -x.n : x.n) * y.d, b = (y.negative ? -y.n : y.n) * x.d;
    return a < b ? -1 : a > b ? 1 : 0;
  }

  function special(x) {
    return x.kind === 'nan' ? 'NaN' : x.kind === 'inf' ? (x.negative ? '\u2212\u221e' : '\u221e') : null;
  }
  const minus = (x, text) => (x.negative ? '\u2212' : '') + text;

  /* All digits where the decimal expansion ends within `most` of them, else that many and an ellipsis. */
  function decimal(x, most = 40) {
    const name = special(x);
    if (name) return name;
    if (x.n === 0n) return minus(x, '0');
    const size = log2(x) * 0.30103;
    if (size < -12 || size > 22) return scientific(x, most);
    let whole = x.n / x.d, rest = x.n % x.d, behind = '';
    while (rest && behind.length + (whole ? whole.toString().length : 0) < most) {
      rest *= 10n;
      behind += (rest / x.d).toString();
      rest %= x.d;
    }
    return minus(x, whole + (behind ? '.' + behind : '') + (rest ? '\u2026' : ''));
  }
  function scientific(x, most = 24) {
    let e = Math.floor(log2(x) * Math.LOG10E * Math.LN2);
    const scaled = (k) => (k >= 0 ? [x.n, x.d * 10n ** BigInt(k)] : [x.n * 10n ** BigInt(-k), x.d]);
    let [n, d] = scaled(e);
    while (n >= 10n * d) [n, d] = scaled(++e);
    while (n < d) [n, d] = scaled(--e);
    let digits = (n / d).toString(), rest = n % d;
    while (rest && digits.length < most) {
      rest *= 10n;
      digits += (rest / d).toString();
      rest %= d;
    }
    return minus(x, digits[0] + (digits.length > 1 ? '.' + digits.slice(1) : '') + (rest ? '\u2026' : '') + 'e' + e);
  }

  /* C99's hexadecimal, of numbers with a power of two below the line. */
  function hex(x) {
    const name = special(x);
    if (name) return name;
    if (x.n === 0n) return minus(x, '0x0p+0');
    const e = log2(x), down = length(x.d) - 1;
    if (power(down) !== x.d) return '';
    let digits = x.n, behind = length(digits) - 1;
    while (behind % 4) {
      digits <<= 1n;
      behind++;
    }
    const text = digits.toString(16).slice(1).replace(/0+$/, '');
    return minus(x, '0x1' + (text ? '.' + text : '') + 'p' + (e < 0 ? '' : '+') + e);
  }

  return { parse, fromDouble, fromParts, toOdd, add, multiply, divide, sqrt, negate, compare, decimal, hex, log2, bitsOf, ofBits, nan };
})();
