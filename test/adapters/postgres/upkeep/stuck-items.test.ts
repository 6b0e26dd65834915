import assert from 'node:assert/strict';
import { rememberingAnswers, type LastAnswers } from '../../../../adapters/peer-error.js';
import { noteFailure, type Stuck } from '../../../../adapters/postgres/upkeep/stuck-items.js';
import { ProcessorError } from '../../../../adapters/processor/processor.js';
import { operationLimits } from '../../../../domain/operations/limits.js';
import { ageLoops } from '../../../support/story/ageing.js';
import { openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const never: LastAnswers = { thisCallMsAgo: Infinity, anyCallMsAgo: Infinity };
/** Longer than the longest pause after an unanswered call, its jitter included. */
const SOON_MS = operationLimits.unansweredRetryMaxMs * 1.2;

describe('what failures count for (decision 95)', () => {
  let database: MoneyDatabase;
  before(async () => {
    database = await openMoneyDatabase();
  });
  after(() => database.close());

  const fail = (item: string, lastAnswers?: LastAnswers): Promise<Stuck> =>
    noteFailure(database.db, { duty: 'workflow', item, error: 'failed', lastAnswers });
  const row = (item: string) => database.db('stuck_items').where({ item }).first();
  /** Lets an item fail whenever it is due, for this long. @returns the outcome of the last failure */
  async function failFor(item: string, forMs: number, answers: (waitedMs: number) => LastAnswers) {
    let last = await fail(item, answers(Infinity));
    for (let aged = 0; aged < forMs && !last.isNewlySetAside;) {
      const waitedMs = last.nextTryMs + 1;
      await ageLoops(database.db, waitedMs);
      aged += waitedMs;
      last = await fail(item, answers(waitedMs));
    }
    return last;
  }

  it('are written down without the NUL that a peer said', async () => {
    await noteFailure(database.db, { duty: 'workflow', item: 'odd', error: 'no\0t \ud800here' });
    assert.equal((await row('odd'))?.last_error, 'not \ufffdhere');
  });

  it('a peer that answers nobody sets nothing aside, however long: each try comes within minutes', async () => {
    const last = await failFor('outage', 10 * HOUR, () => never);
    assert.equal((await row('outage'))?.set_aside_at, null);
    assert.equal(last.attempts, 1, 'the first one alone is counted');
    assert.ok(last.nextTryMs <= SOON_MS, `${last.nextTryMs} ms`);
  });

  it('waits ever longer at first, and never takes more signals in a day than a run has', async () => {
    const waits: number[] = [];
    for (let tries = 0; tries < 8; tries += 1) {
      const { nextTryMs } = await noteFailure(
        database.db,
        { duty: 'workflow', item: 'growing', error: 'failed', lastAnswers: never },
        0.5,
      );
      waits.push(nextTryMs);
      await ageLoops(database.db, nextTryMs + 1);
    }
    assert.ok(waits[0]! <= operationLimits.retryBaseMs * 1.2);
    assert.ok(
      waits.every((wait, no) => no === 0 || wait >= waits[no - 1]!),
      String(waits),
    );
    assert.equal(waits.at(-1), operationLimits.unansweredRetryMaxMs);
    assert.ok((24 * HOUR) / operationLimits.unansweredRetryMaxMs < operationLimits.looksPerDay);
  });

  it('one that alone gets no answer, while others do, is set aside as any other', async () => {
    const last = await failFor('alone', 10 * HOUR, (waitedMs) => ({
      thisCallMsAgo: waitedMs / 2,
      anyCallMsAgo: waitedMs / 2,
    }));
    assert.ok(last.isNewlySetAside);
    assert.equal(last.attempts, operationLimits.triesUntilSetAside);
  });

  it('one whose call nobody else makes is set aside after some hours, by what else the peer answers', async () => {
    const begun = await failFor('rare', operationLimits.aloneAtPeerMs - 10 * MINUTE, () => ({
      thisCallMsAgo: Infinity,
      anyCallMsAgo: 1,
    }));
    assert.equal(begun.attempts, 1);
    assert.ok(
      (await failFor('rare', 10 * HOUR, () => ({ thisCallMsAgo: Infinity, anyCallMsAgo: 1 })))
        .isNewlySetAside,
    );
  });

  it('one answer since the last failure counts one failure, and no more', async () => {
    await fail('once');
    await ageLoops(database.db, HOUR);
    assert.equal((await fail('once', { thisCallMsAgo: 30 * MINUTE, anyCallMsAgo: 1 })).attempts, 2);
    await ageLoops(database.db, HOUR);
    assert.equal((await fail('once', { thisCallMsAgo: 90 * MINUTE, anyCallMsAgo: 1 })).attempts, 2);
  });

  it('what was set aside for itself stays so while the peer is away', async () => {
    await failFor('aside', 10 * HOUR, (waitedMs) => ({ thisCallMsAgo: waitedMs / 2, anyCallMsAgo: 0 }));
    await ageLoops(database.db, 2 * HOUR);
    const { nextTryMs, attempts } = await fail('aside', never);
    assert.equal(attempts, operationLimits.triesUntilSetAside);
    assert.ok(nextTryMs > 50 * MINUTE);
  });
});

describe('what is remembered of a peer’s answers', () => {
  const failing = { error: undefined as ProcessorError | undefined };
  const ask = (): Promise<string> =>
    failing.error === undefined ? Promise.resolve('answer') : Promise.reject(failing.error);
  const peer = rememberingAnswers({ enabled: true, first: ask, second: ask, beside: ask }, ['beside']);
  beforeEach(() => {
    failing.error = undefined;
  });

  async function failed(error: ProcessorError): Promise<LastAnswers> {
    failing.error = error;
    await assert.rejects(peer.first(), error);
    return error.lastAnswers;
  }

  it('is nothing at first, then each call by itself, a no about what was asked among them', async () => {
    assert.deepEqual(await failed(new ProcessorError('unknown', 'no answer')), never);
    failing.error = undefined;
    await peer.beside();
    assert.deepEqual(await failed(new ProcessorError('unknown', 'no answer')), never, 'that asked nobody');
    failing.error = undefined;
    assert.equal(await peer.second(), 'answer');
    const after = await failed(new ProcessorError('refused', 'our key', { status: 401 }));
    assert.equal(after.thisCallMsAgo, Infinity);
    assert.ok(after.anyCallMsAgo < MINUTE);
    await failed(new ProcessorError('declined', 'no', { status: 402 }));
    assert.ok((await failed(new ProcessorError('unknown', 'no answer'))).thisCallMsAgo < MINUTE);
  });
});
