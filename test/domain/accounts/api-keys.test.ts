import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { looksLikeApiKey, writeApiKey } from '../../../domain/accounts/api-keys.js';

/** Their checksums come from another implementation of CRC-32 (zlib's). */
const known = [
  'gpur_0000000000000000000000000000002C8GjS',
  'gpur_abcDEF0123456789abcDEF012345671vH0yk',
  'gpur_00000000000000000000000000040500azb7',
];

describe('the form of an API key', () => {
  it('is the prefix, 30 characters and a checksum', () => {
    for (const key of known) assert.equal(looksLikeApiKey(key), true, key);
    const all = Array.from({ length: 200 }, () => writeApiKey(() => randomInt(62)));
    for (const key of all) {
      assert.match(key, /^gpur_[0-9A-Za-z]{36}$/);
      assert.equal(looksLikeApiKey(key), true, key);
    }
    assert.equal(new Set(all).size, all.length);
  });

  it('is made of the digits that are drawn', () => {
    assert.equal(
      writeApiKey(() => 0),
      known[0],
    );
  });

  it('knows each mistyped character, and whatever is cut off or added', () => {
    const [, key = ''] = known;
    for (let at = 'gpur_'.length; at < key.length; at += 1) {
      const other = key[at] === 'x' ? 'y' : 'x';
      assert.equal(looksLikeApiKey(`${key.slice(0, at)}${other}${key.slice(at + 1)}`), false, String(at));
    }
    const others = [key.slice(0, -1), `${key}0`, ` ${key}`, `${key}\n`, key.replace('gpur_', 'gpus_'), ''];
    for (const other of others) assert.equal(looksLikeApiKey(other), false, other);
  });
});
