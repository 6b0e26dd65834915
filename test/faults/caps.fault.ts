import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { verifyLedger } from '../../adapters/postgres/ledger/verify.js';
import type { ApiKeyId, RentalId } from '../../domain/ids.js';
import { insertApiKeyOf } from '../support/money/factories.js';
import { takeChances, type Chances } from '../support/seeded.js';
import { startService, type TestService } from '../support/service/living-service.js';
import { tellingHistories } from '../support/service/told-histories.js';
import { startWorkerProcess, type WorkerProcess } from '../support/service/worker-process.js';
import { b200, Renting } from '../support/story/renting.js';
import { until } from '../support/until.js';

const creates = Number(process.env['FAULT_CREATES'] ?? '100');
const kills = Number(process.env['FAULT_KILLS'] ?? '5');
const capCents = 500;

/** What a key was charged, and what its machines may still be charged, by the rentals and by the ledger. */
interface Sums {
  readonly byRentals: number;
  readonly byLedger: number;
  readonly byKey: number;
  /** What was charged by now. */
  readonly charged: number;
}

/** A key may spend $5, and a hundred machines are asked for at once while workers are killed (issue: keys). */
describe(`${creates} parallel creates by a key with $5, while the worker is killed ${kills} times`, function () {
  this.timeout(900_000);
  let service: TestService;
  let renting: Renting;
  let chances: Chances;
  let worker: WorkerProcess | undefined;
  let key: { readonly id: ApiKeyId; readonly token: string };
  before(async () => {
    chances = takeChances('a capped key');
    service = await startService({
      worker: false,
      settings: { changesPerMinute: 100_000, readsPerMinute: 100_000, readsPerMinuteOfUser: 100_000 },
    });
    renting = new Renting(service);
    worker = await startWorkerProcess(service);
    await until('the catalog is read', async () => (await service.db('listings').first('id')) !== undefined);
    // A rich wallet: nothing but the cap holds the key back.
    const owner = await service.signIn(100_000_000);
    const scopes = ['read', 'rentals'] as const;
    const made = await insertApiKeyOf(service.db, owner.user.id, { scopes, spendCapCents: capCents });
    key = { id: made.row.id, token: made.token };
  });
  after(async () => {
    await worker?.kill();
    await service.stop();
  });

  it('never passes its cap, and settles to the cent', async () => {
    const watch = watchCap();
    const asking = Promise.all(Array.from({ length: creates }, (_, at) => create(at)));
    const done = { asking: false };
    const answers = asking.finally(() => (done.asking = true));
    await Promise.all([killWorkers(), stopSome(done)]);
    const codes = await answers;
    assert.ok(codes.includes('opened'), 'some were opened');
    if (creates > 20) assert.ok(codes.includes('cap_reserved'), 'and some were refused');
    await until('something was charged', async () => (await sums(key.id)).charged > 10);
    await stopAll();
    assert.deepEqual(await watch.end(), [], 'at each look the sums were within the cap');
    await tellingHistories(service.db, async () => {
      const row = (await service.db('api_keys').where({ id: key.id }).first())!;
      const { byLedger } = await sums(key.id);
      assert.deepEqual([row.reserved_cents, row.spent_cents], [0, byLedger]);
      assert.ok(row.spent_cents > 0 && row.spent_cents <= capCents, `${row.spent_cents} cents were spent`);
      assert.deepEqual(await verifyLedger(service.db), []);
    });
  });

  /** Asks for one machine until there is a final answer: some with a limit, some without; then for another limit. */
  async function create(at: number): Promise<string> {
    const asked = chances.below(3) === 0 ? {} : { maxSpendCents: 5 + chances.below(60) };
    const body = JSON.stringify({ familyId: b200.familyId, gpuCount: b200.gpuCount, ...asked });
    const raisedTo = chances.below(200);
    for (let refusals = 0; ;) {
      const answer = await call('POST', '/v1/rentals', body, `create-${at}-${refusals}`);
      if (answer?.status === 200) {
        const limit = JSON.stringify({ maxSpendCents: 1 + raisedTo });
        await call('PATCH', `/v1/rentals/${String(answer.body['id'])}`, limit, `change-${at}`);
        return 'opened';
      }
      if (answer?.status === 403) {
        refusals += 1;
        // Others may have given something back by then.
        if (refusals === 4) return String(answer.body['error']);
      }
      await sleep(200 + chances.below(800));
    }
  }

  async function call(
    method: string,
    path: string,
    body: string,
    idempotencyKey: string,
  ): Promise<{ status: number; body: Record<string, unknown> } | undefined> {
    try {
      const response = await fetch(`${service.api.url}${path}`, {
        ...{ method, body },
        headers: {
          ...{ 'Content-Type': 'application/json', Authorization: `Bearer ${key.token}` },
          'Idempotency-Key': idempotencyKey,
        },
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    } catch {
      return undefined;
    }
  }

  async function killWorkers(): Promise<void> {
    for (let kill = 0; kill < kills; kill += 1) {
      await sleep(1_500 + chances.below(4_000));
      await worker?.kill();
      worker = await startWorkerProcess(service);
    }
  }

  /** Stops machines that were billed for at least a cent, so that others fit into the cap. */
  async function stopSome(done: { asking: boolean }): Promise<void> {
    while (!done.asking) {
      await service.db.raw(
        `insert into stop_requests (rental_no, requested_by)
         select rental_no, 'user' from meters where charged_cents >= 2 and rental_no % 3 = ? on conflict do nothing`,
        [chances.below(3)],
      );
      await sleep(500);
    }
  }

  async function stopAll(): Promise<void> {
    await service.db.raw(
      `insert into stop_requests (rental_no, requested_by)
       select no, 'user' from rentals where settled_at is null on conflict do nothing`,
    );
    const ids: RentalId[] = await service.db('rentals').pluck('id');
    for (const id of ids) await renting.awaitClosed(id);
  }

  function watchCap(): { end(): Promise<readonly Sums[]> } {
    const beyond: Sums[] = [];
    let looks = 0;
    const state = { isOver: false };
    const looking = (async () => {
      while (!state.isOver) {
        const now = await sums(key.id);
        looks += 1;
        if (Math.max(now.byRentals, now.byLedger, now.byKey) > capCents) beyond.push(now);
        await sleep(50);
      }
    })();
    return {
      async end() {
        state.isOver = true;
        await looking;
        assert.ok(looks > 20, `${looks} looks`);
        return beyond;
      },
    };
  }

  /** Reads the sums in one statement, as they are at one moment. What may still be charged is the rest of each limit. */
  async function sums(id: ApiKeyId): Promise<Sums> {
    const { rows } = await service.db.raw<{ rows: Sums[] }>(
      `with own as (select * from rentals_now where api_key_id = :id),
            charged as (
              select r.no, coalesce(-sum(e.amount_cents), 0)::bigint as cents
                from own r left join ledger_entries e on e.rental_no = r.no group by r.no
            )
       select (select coalesce(sum(case when settled_at is null then max_spend_cents
                                        else charged_cents - refunded_cents + overage_cents end), 0) from own)::bigint
                as "byRentals",
              (select coalesce(sum(c.cents + case when r.settled_at is null then greatest(0, r.max_spend_cents - c.cents)
                                                  else r.overage_cents end), 0)
                 from own r join charged c on c.no = r.no)::bigint as "byLedger",
              (select spent_cents + reserved_cents from api_keys where id = :id) as "byKey",
              (select coalesce(sum(cents), 0) from charged)::bigint as charged`,
      { id },
    );
    return rows[0]!;
  }
});
