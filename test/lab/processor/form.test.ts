import assert from 'node:assert/strict';
import { canonicalForm, decodeForm, FormError } from '../../../lab/processor/http/form.js';

/** Decodes a form. Decoded objects have no prototype, which a comparison as JSON ignores. */
function decoded(text: string): unknown {
  return JSON.parse(JSON.stringify(decodeForm(text)));
}

describe('the form decoder', () => {
  it('nests keys by their brackets, encoded or not', () => {
    assert.deepEqual(decoded('a=1&b[c]=2&b%5Bd%5D%5Be%5D=x+y'), { a: '1', b: { c: '2', d: { e: 'x y' } } });
  });

  it('keeps lists by their index, also when it is left out', () => {
    assert.deepEqual(decoded('e[0]=a&e[1]=b&f[]=c&f[]=d&l[0][q]=1'), {
      e: { 0: 'a', 1: 'b' },
      f: { 0: 'c', 1: 'd' },
      l: { 0: { q: '1' } },
    });
  });

  it('takes hostile names for ordinary ones', () => {
    const form = decodeForm('__proto__[polluted]=yes&constructor[prototype][polluted]=yes');
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
    assert.deepEqual(Object.keys(form), ['__proto__', 'constructor']);
  });

  it('refuses malformed, contradicting, too deep and too many keys', () => {
    const deep = `a${'[b]'.repeat(10)}=1`;
    const many = Array.from({ length: 1001 }, (_, position) => `a${position}=1`).join('&');
    for (const text of ['a[b=1', '[a]=1', 'a]b=1', 'a=1&a[b]=1', 'a[b]=1&a=1', deep, many]) {
      assert.throws(() => decodeForm(text), FormError, text.slice(0, 20));
    }
  });

  it('writes equal forms equally whatever their order', () => {
    assert.equal(
      canonicalForm(decodeForm('a=1&b[c]=2&b[d]=3')),
      canonicalForm(decodeForm('b[d]=3&b[c]=2&a=1')),
    );
    assert.notEqual(canonicalForm(decodeForm('a=1')), canonicalForm(decodeForm('a=2')));
  });
});
