import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { signWebhook, verifyWebhook, WebhookVerificationError, type WebhookFault } from '@gpu-rental/client';
import { Webhook } from 'standardwebhooks';
import { signedHeaders } from '../../../adapters/webhooks/signing.js';

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const other = `whsec_${randomBytes(32).toString('base64')}`;
const message = {
  ...{ id: 'evt_1', seq: 1, type: 'rental.running', entityId: 'rent_1' },
  ...{
    data: { runningAt: '2026-11-01T09:31:07.000Z', name: 'Zoë 🚀' },
    createdAt: '2026-11-01T09:31:07.012Z',
  },
};
const body = JSON.stringify(message);

function refused(fault: WebhookFault) {
  return (error: unknown) => error instanceof WebhookVerificationError && error.fault === fault;
}

describe('the verification of webhooks', () => {
  it('takes what the service signs, as text and as bytes, by each of two secrets', async () => {
    const headers = signedHeaders([secret, other], { id: 'evt_1', body, at: new Date() });
    assert.deepEqual(await verifyWebhook(body, headers, secret), message);
    assert.deepEqual(await verifyWebhook(Buffer.from(body), new Headers(headers), other), message);
    const single = signedHeaders([secret], { id: 'evt_1', body, at: new Date() });
    assert.deepEqual(await verifyWebhook(body, single, [other, secret]), message);
  });

  it('signs what a library that is not ours verifies, and verifies what it signs', async () => {
    const at = new Date();
    const ours = await signWebhook(body, 'evt_1', [other, secret], at);
    assert.deepEqual(new Webhook(secret).verify(body, ours), message);
    const theirs = {
      'Webhook-Id': 'evt_1',
      'Webhook-Timestamp': String(Math.floor(at.getTime() / 1_000)),
      'Webhook-Signature': new Webhook(secret).sign('evt_1', at, body),
    };
    assert.deepEqual(await verifyWebhook(body, theirs, secret), message);
  });

  it('refuses another body, id, time or secret', async () => {
    const headers = await signWebhook(body, 'evt_1', secret);
    const wrong = refused('wrong_signature');
    await assert.rejects(verifyWebhook(`${body} `, headers, secret), wrong);
    await assert.rejects(verifyWebhook(body, { ...headers, 'webhook-id': 'evt_2' }, secret), wrong);
    await assert.rejects(verifyWebhook(body, { ...headers, 'webhook-timestamp': '1' }, secret), wrong);
    await assert.rejects(verifyWebhook(body, headers, other), wrong);
    const signature = headers['webhook-signature'].replace('v1,', 'v1a,');
    await assert.rejects(
      verifyWebhook(body, { ...headers, 'webhook-signature': signature }, secret),
      refused('no_signature'),
    );
  });

  it('refuses what was signed long ago, or for a time to come', async () => {
    const now = new Date('2026-11-01T10:00:00Z');
    const at = (seconds: number) => new Date(now.getTime() + seconds * 1_000);
    const verify = async (seconds: number, toleranceSeconds = 300) =>
      verifyWebhook(body, await signWebhook(body, 'evt_1', secret, at(seconds)), secret, {
        now,
        toleranceSeconds,
      });
    await assert.rejects(verify(-301), refused('too_old'));
    await assert.rejects(verify(301), refused('too_new'));
    for (const seconds of [-300, 0, 300]) assert.deepEqual(await verify(seconds), message);
    assert.deepEqual(await verify(-301, 600), message);
    const never = { ...(await signWebhook(body, 'evt_1', secret)), 'webhook-timestamp': 'soon' };
    await assert.rejects(verifyWebhook(body, never, secret), refused('wrong_signature'));
  });

  it('refuses headers that are missing, and text that is no message', async () => {
    const headers = await signWebhook(body, 'evt_1', secret);
    for (const name of Object.keys(headers)) {
      await assert.rejects(
        verifyWebhook(body, { ...headers, [name]: undefined }, secret),
        refused('no_signature'),
      );
    }
    for (const text of ['not json', '[]', 'null', '{"type":"x"}']) {
      const signed = await signWebhook(text, 'evt_1', secret);
      await assert.rejects(verifyWebhook(text, signed, secret), refused('not_a_message'));
    }
  });

  it('looks at ten signatures at most', async () => {
    const headers = await signWebhook(body, 'evt_1', [...Array<string>(10).fill(other), secret]);
    await assert.rejects(verifyWebhook(body, headers, secret), refused('wrong_signature'));
  });

  it('says of a secret what is wrong, and never shows it', async () => {
    const headers = await signWebhook(body, 'evt_1', secret);
    for (const bad of ['whsec_§§§', 'whsec_', '']) {
      await assert.rejects(
        verifyWebhook(body, headers, bad),
        (error: Error) => error.message.includes('a secret is whsec_') && !error.message.includes('§'),
      );
    }
    await assert.rejects(verifyWebhook(body, headers, []), /a secret is required/);
  });
});
