import assert from 'node:assert/strict';
import { runpodSoftware } from '../../../adapters/providers/runpod/runpod-software.js';
import { newId } from '../../../adapters/ids.js';
import { findRentalRequest } from '../../../adapters/postgres/requests/opening-requests.js';
import { insertQuote } from '../../../adapters/postgres/rentals/quotes.js';
import type { TemporalGate } from '../../../adapters/temporal/gate.js';
import type { RentalId } from '../../../domain/ids.js';
import { Refusal } from '../../../domain/refusal.js';
import type { Answer } from '../../support/http/answers.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import {
  insertApiKeyOf,
  insertKey,
  insertListing,
  insertProvider,
  insertRental,
} from '../../support/money/factories.js';
import { until } from '../../support/until.js';

const retry = { 'Idempotency-Key': 'one wish' };

/** A gate that holds back whoever comes, until it is opened. */
class Gate {
  waiting = 0;
  private isOpen = true;
  private letGo: (() => void)[] = [];

  async pass(): Promise<void> {
    if (this.isOpen) return;
    this.waiting += 1;
    await new Promise<void>((resolve) => this.letGo.push(resolve));
  }

  close(): void {
    [this.waiting, this.isOpen] = [0, false];
  }

  open(): void {
    this.isOpen = true;
    for (const letGo of this.letGo.splice(0)) letGo();
  }
}

describe('a create that is sent again', () => {
  let api: TestApi;
  let user: SignedIn;
  /** Before anything of a first request is committed, and before the workflow opens what is. */
  const committing = new Gate();
  const opening = new Gate();

  /** Opens what its committed row still allows, as the worker does. */
  async function workflow({ id }: { id: RentalId }): Promise<void> {
    await opening.pass();
    const asked = await findRentalRequest(api.db, id);
    if (!asked || asked.answerBefore < new Date()) {
      throw new Refusal('temporarily_unavailable', 'late', { outcome: 'not_done' });
    }
    const { userId, apiKeyId, quoteId } = asked;
    await api.db.transaction(async (trx) => {
      if (await trx('rentals').where({ id }).first()) return;
      await insertRental(trx, userId, { id, api_key_id: apiKeyId ?? null, max_spend_cents: 100 });
      if (quoteId) await trx('quotes').where({ id: quoteId }).update({ rental_id: id });
      if (apiKeyId) await trx('api_keys').where({ id: apiKeyId }).update({ reserved_cents: 100 });
    });
  }

  const temporal = {
    client: {
      workflow: {
        executeUpdateWithStart: (
          _update: unknown,
          { startWorkflowOperation }: { startWorkflowOperation: { options: { workflowId: RentalId } } },
        ) => workflow({ id: startWorkflowOperation.options.workflowId }),
      },
    },
    isReachable: () => committing.pass().then(() => true),
    within: <T>(_limitMs: number, call: () => Promise<T>) => call(),
    close: () => Promise.resolve(),
  } as unknown as TemporalGate;

  before(async () => {
    api = await startApi();
    await api.deps.temporal.close();
    Object.assign(api.deps, { temporal });
    const code = await insertProvider(api.db);
    const software = JSON.stringify(runpodSoftware) as never;
    await api.db('providers').where({ code }).update({ software });
  });
  after(() => api.stop());
  beforeEach(async () => {
    user = await api.signIn();
  });
  afterEach(() => {
    committing.open();
    opening.open();
  });

  const countRentals = async (): Promise<number> =>
    (await api.db('rentals').where({ user_id: user.user.id })).length;

  /** Sends a wish, and once more while the first one waits at a gate. What changes meanwhile spoils the wish. */
  async function sendTwice(
    gate: Gate,
    send: () => Promise<Answer>,
    meanwhile: () => Promise<unknown>,
  ): Promise<{ first: Answer; second: Answer }> {
    gate.close();
    const first = send();
    await until('the first one waits', () => gate.waiting === 1);
    await meanwhile();
    const second = send();
    if (gate === committing) await second;
    else await until('the second one waits with it', () => gate.waiting === 2);
    gate.open();
    return { first: await first, second: await second };
  }

  describe('when its SSH key was removed meanwhile', () => {
    let send: () => Promise<Answer>;
    let remove: () => Promise<unknown>;

    beforeEach(async () => {
      const { id } = await insertKey(api.db, user.user.id);
      const body = { familyId: 'rtx-4090', gpuCount: 1, sshKeyIds: [id] };
      send = () => user.post('/v1/rentals', { ...body, env: { TOKEN: 'secret' } }, retry);
      remove = () => user.delete(`/v1/ssh-keys/${id}`);
    });

    it('is told of the rental that its first request asked for', async () => {
      const { first, second } = await sendTwice(opening, send, remove);
      assert.deepEqual([first.status, second.status], [200, 200], second.text);
      assert.equal(first.text, second.text);
      assert.equal(await countRentals(), 1);
    });

    it('is refused for good before its first request was committed', async () => {
      const { first, second } = await sendTwice(committing, send, remove);
      assert.deepEqual([second.status, second.body.error], [404, 'key_not_found']);
      assert.deepEqual([first.status, first.body.details.outcome], [503, 'not_done'], first.text);
      assert.equal(await countRentals(), 0);
      const third = await send();
      assert.deepEqual([third.status, third.text], [404, second.text]);
    });

    it('is refused once more by a process that takes over from one which died in between', async () => {
      const { second } = await sendTwice(committing, send, remove);
      await api.db('idempotency_keys').update({ response_status: null, response_body: null });
      const again = await send();
      assert.deepEqual([again.status, again.body.error], [404, 'key_not_found']);
      assert.equal(second.body.message, again.body.message);
      assert.equal(await countRentals(), 0);
    });
  });

  it('is told of its rental when its key has a cap by now, and may take no quote of others', async () => {
    const userId = user.user.id;
    const listing = await insertListing(api.db);
    const asked = { familyId: 'rtx-4090', gpuCount: 1, templateId: 'ubuntu-24-04', region: null } as const;
    const limits = { autoStopAfterMs: null, maxSpendCents: null, maxPricePerHourCents: null, sshKeyIds: [] };
    const request = { userId, ...asked, ...limits, name: null, notes: null, labels: {} };
    const [taken, free] = [newId('quo'), newId('quo')];
    for (const id of [taken, free]) await insertQuote(api.db, { id, request, listing });
    const { row, token } = await insertApiKeyOf(api.db, userId, { scopes: ['rentals'] });
    const robot = api.withKey(token);
    const cap = () => api.db('api_keys').where({ id: row.id }).update({ spend_cap_cents: 1_000 });
    const send = (quoteId = taken, headers = retry) => robot.post('/v1/rentals', { quoteId }, headers);
    const { first, second } = await sendTwice(opening, send, cap);
    assert.deepEqual([first.status, second.status], [200, 200], second.text);
    assert.equal(first.body.id, second.body.id);
    const another = { 'Idempotency-Key': 'another wish' };
    assert.equal((await send(taken, another)).body.id, first.body.id, 'one quote, one rental');
    const refused = await send(free);
    assert.deepEqual([refused.status, refused.body.error], [409, 'idempotency_conflict']);
    const others = await send(free, { 'Idempotency-Key': 'a quote of others' });
    assert.deepEqual([others.status, others.body.error], [404, 'quote_not_found']);
    assert.equal(await countRentals(), 1);
  });
});
