import assert from 'node:assert/strict';
import { Webhook } from 'standardwebhooks';
import {
  createSecretOpener,
  newSealingKeys,
  newWebhookSecret,
  publicKeyOf,
  sealSecret,
} from '../../adapters/sealed-secrets.js';
import { signedHeaders } from '../../adapters/webhooks/signing.js';

describe('sealed secrets of webhooks', () => {
  const keys = newSealingKeys();
  const open = createSecretOpener([keys.privateKey]);

  it('are opened by the private key alone, and differ each time', () => {
    const secret = newWebhookSecret();
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    const sealed = sealSecret(keys.publicKey, secret, 'wh_1');
    assert.notDeepEqual(sealSecret(keys.publicKey, secret, 'wh_1'), sealed);
    assert.equal(sealed.includes(Buffer.from(secret)), false);
    assert.equal(open(sealed, 'wh_1'), secret);
    assert.throws(() => createSecretOpener([newSealingKeys().privateKey])(sealed, 'wh_1'), /no key/);
    assert.throws(() => createSecretOpener([])(sealed, 'wh_1'), /no key/);
  });

  it('are opened for their own endpoint, and as they were sealed', () => {
    const sealed = sealSecret(keys.publicKey, 'whsec_x', 'wh_1');
    assert.throws(() => open(sealed, 'wh_2'));
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      assert.throws(() => open(changed, 'wh_1'), `byte ${at}`);
    }
  });

  it('stay open to an older key while a new one seals', () => {
    const next = newSealingKeys();
    const both = createSecretOpener([next.privateKey, keys.privateKey]);
    assert.equal(both(sealSecret(keys.publicKey, 'whsec_old', 'wh_1'), 'wh_1'), 'whsec_old');
    assert.equal(both(sealSecret(next.publicKey, 'whsec_new', 'wh_1'), 'wh_1'), 'whsec_new');
  });

  it('are sealed by a key that the private one tells', () => {
    assert.equal(publicKeyOf(keys.privateKey), keys.publicKey);
    assert.equal(Buffer.from(keys.publicKey, 'base64').length, 32);
    assert.equal(Buffer.from(keys.privateKey, 'base64').length, 32);
  });
});

describe('signatures of webhooks', () => {
  const body = '{"type":"rental.running"}';

  it('are what the library of Standard Webhooks accepts, by each secret that is valid', () => {
    // The library refuses what is five minutes old, and the file may be loaded long before its tests run.
    const at = new Date();
    const [newer, older] = [newWebhookSecret(), newWebhookSecret()];
    const headers = signedHeaders([newer, older], { id: 'evt_1', at, body });
    assert.equal(headers['webhook-timestamp'], String(Math.floor(at.getTime() / 1_000)));
    for (const secret of [newer, older]) {
      assert.deepEqual(new Webhook(secret).verify(body, headers), { type: 'rental.running' });
    }
    assert.throws(() => new Webhook(newWebhookSecret()).verify(body, headers), /No matching signature/);
    assert.throws(() => new Webhook(newer).verify(`${body} `, headers), /No matching signature/);
    assert.throws(() => new Webhook(newer).verify(body, { ...headers, 'webhook-id': 'evt_2' }));
  });
});
