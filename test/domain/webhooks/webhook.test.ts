import assert from 'node:assert/strict';
import { webhookLimits } from '../../../domain/webhooks/limits.js';
import { readReceiverUrl } from '../../../domain/webhooks/receiver-url.js';
import {
  judgeTry,
  namedTypes,
  wantedTypes,
  type Standing,
  type Tried,
} from '../../../domain/webhooks/webhook.js';

const at = new Date('2026-11-22T10:00:00Z');
const days = (count: number) => new Date(at.getTime() - count * 86_400_000);
const none: Standing = { tries: 0, triedSince: null, failures: 0, failingSince: null };
const failing = (standing: Partial<Standing>, tried: Partial<Tried> = {}) =>
  judgeTry({ ...none, ...standing }, { line: 'events', result: 'failure', at, random: 0.5, ...tried });
const secondsTo = (instant: Date | null) => instant && (instant.getTime() - at.getTime()) / 1_000;

describe('what follows from a try of a webhook', () => {
  it('is done after a success, whatever was before', () => {
    const verdict = failing({ tries: 3, failures: 40, failingSince: days(9) }, { result: 'success' });
    assert.deepEqual([verdict.next, verdict.failures, verdict.failingSince], ['done', 0, null]);
    assert.deepEqual([verdict.lineAt, verdict.retriesAt, verdict.eventAt], [null, null, null]);
  });

  it('is another try in its line, up to the fifth, then its retry line', () => {
    const nexts = [0, 1, 2, 3, 4].map((tries) =>
      failing({ tries, triedSince: at, failures: tries, failingSince: at }),
    );
    assert.deepEqual(
      nexts.map(({ next }) => next),
      ['again', 'again', 'again', 'again', 'later'],
    );
    assert.deepEqual(
      nexts.map(({ lineAt }) => secondsTo(lineAt)),
      [5, 10, 20, 40, 80],
    );
    assert.equal(secondsTo(nexts[4]!.eventAt), 300);
  });

  it('is a pause that grows with the failures in a row, to ten minutes, with jitter', () => {
    assert.equal(secondsTo(failing({ failures: 500, failingSince: days(1) }).lineAt), 600);
    assert.equal(secondsTo(failing({}, { random: 0 }).lineAt), 4);
    assert.equal(secondsTo(failing({}, { random: 1 }).lineAt), 6);
  });

  it('never holds up the line for an event of the retry line, and its own neighbours only when nothing goes through', () => {
    const retried = { tries: 5, triedSince: at };
    const once = failing({ ...retried, failures: 1, failingSince: at }, { line: 'retries' });
    assert.deepEqual(
      [once.next, once.lineAt, once.retriesAt, secondsTo(once.eventAt)],
      ['later', null, null, 600],
    );
    const often = failing({ ...retried, failures: 4, failingSince: at }, { line: 'retries' });
    assert.deepEqual([often.lineAt, secondsTo(often.retriesAt)], [null, 80]);
    const late = failing({ tries: 99, triedSince: at, failures: 1, failingSince: at }, { line: 'retries' });
    assert.equal(secondsTo(late.eventAt), 6 * 3_600);
  });

  it('is the end of an event after three days, while others are taken', () => {
    const line = 'retries' as const;
    assert.equal(failing({ tries: 20, triedSince: days(2.99) }, { line }).next, 'later');
    assert.equal(failing({ tries: 20, triedSince: days(3) }, { line }).next, 'give_up');
  });

  it('is the end of the endpoint after three days without success, or by a 410', () => {
    const long = { failures: 30, failingSince: days(3) };
    assert.deepEqual([failing(long).next, failing(long).why], ['switch_off', 'no_success']);
    assert.equal(failing(long, { line: 'challenge' }).why, 'challenge_unanswered');
    assert.equal(failing({ ...long, failingSince: days(2.99) }).next, 'again');
    assert.equal(
      failing({ failures: 1, failingSince: days(9) }).next,
      'again',
      'a pause of ours is no failure',
    );
    assert.deepEqual(
      [failing({}, { result: 'gone' }).next, failing({}, { result: 'gone' }).why],
      ['switch_off', 'gone'],
    );
  });

  it('challenges again for three days, and never gives up sooner', () => {
    const verdict = failing(
      { tries: 70, triedSince: days(1), failures: 70, failingSince: days(1) },
      { line: 'challenge' },
    );
    assert.deepEqual([verdict.next, secondsTo(verdict.lineAt)], ['again', 600]);
  });

  it('fits into a signal: a go and its last exchange end before its workflow is told again', () => {
    assert.ok(webhookLimits.goMs + webhookLimits.exchangeMs < webhookLimits.toldAgainMs);
  });
});

describe('the types of a webhook', () => {
  it('are all but sessions, passkeys and keys unless they are named, never a ping, and always a gap', () => {
    const { only, except } = wantedTypes([]);
    assert.equal(only, null);
    assert.deepEqual([...except].sort(), [
      'api_key.changed',
      'api_key.created',
      'api_key.revoked',
      'passkey.added',
      'passkey.removed',
      'session.ended',
      'session.started',
      'webhook.ping',
    ]);
    assert.deepEqual(wantedTypes(['session.started']), {
      only: ['session.started', 'feed.resync'],
      except: ['webhook.ping'],
    });
    assert.ok(namedTypes.includes('session.started') && !namedTypes.includes('webhook.ping'));
  });
});

describe('the address of a webhook', () => {
  const rules = { allowPrivate: false, ownHosts: ['api.example.com', 'app.example.com'] };

  it('is taken in its normal form', () => {
    const read = readReceiverUrl('HTTPS://Example.COM:443/a/../hook?x=1', rules);
    assert.equal('url' in read && read.url.href, 'https://example.com/hook?x=1');
  });

  for (const [text, fault] of [
    ['example.com/hook', /must be an address/],
    ['ftp://example.com/', /must be an address/],
    ['javascript:alert(1)', /must be an address/],
    ['http://example.com/', /begin with https/],
    ['https://example.com:8443/', /port 443/],
    ['https://user:pass@example.com/', /contain a user name or password/],
    ['https://example.com/#top', /contain #/],
    ['https://api.example.com/v1', /of this service/],
    ['https://APP.example.com./', /of this service/],
    [`https://example.com/${'ä'.repeat(1_000)}`, /2048 characters/],
  ] as const) {
    it(`is not ${text.slice(0, 40)}`, () => {
      const read = readReceiverUrl(text, rules);
      assert.match('fault' in read ? read.fault : 'taken', fault);
    });
  }
});
