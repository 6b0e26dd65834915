import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  hashOfMachineToken,
  machineTokenOf,
  openBundle,
  sealBundle,
} from '../../adapters/machine-bundles.js';

const key = randomBytes(32).toString('base64');

describe('the bundle of a machine', () => {
  const token = machineTokenOf(key, 'bundle', 'test-rent_1-1');

  it('is opened by its token, whatever is in it', () => {
    for (const text of ['', '#!/bin/sh\necho “ü”\n', 'x'.repeat(300_000)]) {
      assert.equal(openBundle(token, sealBundle(token, text)), text);
    }
  });

  it('is opened by no other token, and not once a bit of it was changed', () => {
    const sealed = sealBundle(token, 'secret');
    assert.ok(!sealed.includes('secret'));
    const other = machineTokenOf(key, 'bundle', 'test-rent_1-2');
    assert.throws(() => openBundle(other, sealed));
    // What the database has of the token is no way to its text either.
    assert.throws(() => openBundle(hashOfMachineToken(token).toString('hex'), sealed));
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Buffer.from(sealed);
      changed[index]! ^= 1;
      assert.throws(() => openBundle(token, changed), `byte ${index}`);
    }
  });

  it('is sealed in another way each time', () => {
    assert.notDeepEqual(sealBundle(token, 'secret'), sealBundle(token, 'secret'));
  });
});

describe('the token of a machine', () => {
  it('is the same each time for one attempt and purpose, and another one for any other', () => {
    const tokens = [
      machineTokenOf(key, 'bundle', 'test-rent_1-1'),
      machineTokenOf(key, 'bundle', 'test-rent_1-2'),
      machineTokenOf(key, 'report', 'test-rent_1-1'),
      machineTokenOf(randomBytes(32).toString('base64'), 'bundle', 'test-rent_1-1'),
    ];
    assert.equal(machineTokenOf(key, 'bundle', 'test-rent_1-1'), tokens[0]);
    assert.equal(new Set(tokens).size, tokens.length);
    for (const token of tokens) assert.match(token, /^[0-9a-f]{64}$/);
  });

  it('can’t be made without a key', () => {
    assert.throws(() => machineTokenOf('', 'bundle', 'test-rent_1-1'), /INSTALLATION_KEY/);
  });
});
