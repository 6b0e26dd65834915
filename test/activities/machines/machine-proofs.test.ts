import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../../adapters/ids.js';
import { insertAttempt } from '../../../adapters/postgres/machines/attempts.js';
import { mayStillTell } from '../../../activities/machines/machine-proofs.js';
import type { AllocationAttemptRow, RentalRow } from '../../../adapters/postgres/rows/tables.js';
import type { Provider } from '../../../adapters/providers/provider.js';
import { machineLimits } from '../../../domain/machines/limits.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { insertProvider, insertRental, insertUser } from '../../support/money/factories.js';
import { until } from '../../support/until.js';

const WELL = 'gpu-proof 1 0\nNVIDIA H100 80GB HBM3, 81559 MiB, 0, 570.133.20, Disabled\n';
const BAD = 'gpu-proof 1 0\nTesla T4, 15360 MiB, 0, 570.133.20, [N/A]\n';
const DEADLINE_MS = 600_000;

describe('a machine that tells how its GPUs are before it is ready (decision 174)', () => {
  let lone: LoneActivities;
  let listener: Server;
  let isAway = false;
  let looks = 0;
  before(async () => {
    listener = createServer(({ url }, response) => {
      looks += 1;
      if (isAway) response.destroy();
      // As through a proxy that opens nothing else.
      else response.writeHead(url === '/v1/machine/ready' ? 200 : 404).end();
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const machineUrl = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    const provider = (code: string, proof?: Provider['proof']) =>
      [code, { code, proof, terminate: () => Promise.resolve() } as unknown as Provider] as const;
    lone = await startActivities({
      settings: { machineUrl },
      providers: new Map([provider('vm', 'machine'), provider('box', 'container'), provider('none')]),
    });
    for (const code of ['vm', 'box', 'none']) await insertProvider(lone.db, code);
    Object.assign(lone.deps.prober, {
      ...{ probe: () => Promise.resolve({ answered: true }), hostKey: () => Promise.resolve('SHA256:key') },
    });
  });
  beforeEach(() => {
    isAway = false;
    looks = 0;
  });
  after(async () => {
    listener.closeAllConnections();
    listener.close();
    await lone.close();
  });

  interface Machine {
    readonly rental: RentalRow;
    readonly attempt: AllocationAttemptRow;
  }

  /** Makes a machine that its upstream has run for so long, and that answers. */
  async function run(code: string, { activeMs = 1_000, canReport = true } = {}): Promise<Machine> {
    const { db } = lone;
    const { id: userId } = await insertUser(db);
    const rental = await insertRental(db, userId, {
      ...{ provider_code: code, model: 'H100_SXM_80GB', gpu_count: 1 },
    });
    const attempt = await insertAttempt(db, {
      ...{
        rentalId: rental.id,
        deployment: 'test',
        providerCode: code,
        listingId: newId('lst'),
        offerId: 'o',
      },
      ...{ pricePerHourCents: 50, endBy: null, deadlineMs: DEADLINE_MS },
    });
    await db('rentals').where({ id: rental.id }).update({ tag: attempt.tag, pod_id: attempt.tag });
    if (canReport) {
      const token = {
        token_sha256: db.raw('sha256(?::bytea)', [Buffer.from(attempt.tag)]),
        purpose: 'report',
      };
      await db('machine_tokens').insert({ ...token, attempt_id: attempt.id } as never);
    }
    await db('pods').insert({
      ...{ provider_code: code, pod_id: attempt.tag, tag: attempt.tag, status: 'active' },
      ...{ upstream_status: 'active', host: '192.0.2.1', port: rental.no % 60_000 },
      ...{ first_seen_at: new Date(), active_at: new Date(Date.now() - activeMs) },
    });
    return { rental, attempt };
  }

  const tell = ({ attempt }: Machine, body: string, no = 1) =>
    lone.db('machine_reports').insert({ attempt_id: attempt.id, no, body });
  const awaited = ({ rental }: Machine) => lone.run('awaitPod', rental.id, DEADLINE_MS);
  const findingOf = ({ attempt }: Machine) =>
    lone.db('bad_machines').where({ attempt_id: attempt.id }).first();

  for (const [what, code, software, confirmed] of [
    ['a VM', 'vm', null, true],
    ['a VM whose renter’s own script may have told it', 'vm', { ports: [] }, false],
    ['a container', 'box', null, false],
  ] as const) {
    it(`is left where that is bad, though it answers, and is remembered: ${what}`, async () => {
      const machine = await run(code);
      await lone
        .db('rentals')
        .where({ id: machine.rental.id })
        .update({ software: software && (JSON.stringify(software) as never) });
      await tell(machine, BAD);
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const outcome = await awaited(machine);
        assert.equal(outcome.kind, 'failed');
        assert.equal(outcome.isLeft, true);
        assert.match(
          outcome.error,
          /^The machine is not what you rented\. It has another GPU than H100_SXM_80GB/,
        );
      }
      const finding = await findingOf(machine);
      assert.deepEqual([finding?.outcome, finding?.confirmed], ['not_billed', confirmed]);
    });
  }

  it('is ready where it is as rented, or tells nothing that is understood', async () => {
    for (const body of [WELL, 'gpu-proof 1 timeout\n', 'gpu-proof 1 missing\n']) {
      const machine = await run('vm');
      await tell(machine, body);
      assert.equal((await awaited(machine)).kind, 'answered', body);
      assert.equal(await findingOf(machine), undefined);
    }
  });

  it('counts by its first word alone: what comes later may be its renter’s', async () => {
    const machine = await run('vm');
    await tell(machine, 'use 1 2 3', 1);
    await tell(machine, WELL, 2);
    await tell(machine, BAD, 3);
    assert.equal((await awaited(machine)).kind, 'answered');
  });

  it('is not ready before it told, while it has time for that', async () => {
    const machine = await run('vm');
    let outcome: string | undefined;
    const waiting = awaited(machine).then(({ kind }) => (outcome = kind));
    await until('it asks whether it would be heard', () => looks > 0);
    assert.equal(outcome, undefined);
    await tell(machine, WELL);
    assert.equal(await waiting, 'answered');
  });

  it('has its time from when it first answers, however long its upstream runs it by then', async () => {
    const machine = await run('vm', { activeMs: 10 * machineLimits.proofWaitMs });
    const waiting = awaited(machine);
    await sleep(200);
    await tell(machine, BAD);
    assert.equal((await waiting).kind, 'failed');
    assert.equal((await findingOf(machine))?.outcome, 'not_billed');
  });

  it('has as long as its driver may take, and a moment to tell it', async () => {
    const asked = { proof: null, canReport: true, providerCode: 'vm' };
    const heard = { isHeard: () => Promise.resolve(true) };
    const mayTell = (readyMs: number) => mayStillTell(lone.deps, heard, asked, readyMs);
    assert.equal(await mayTell(24_999), true);
    assert.equal(await mayTell(25_000), false);
  });

  it('is ready at its deadline where it was before, and has failed where it was not', async () => {
    const machine = await run('vm');
    const began = performance.now();
    const outcome = await lone.run('awaitPod', machine.rental.id, 2_000);
    assert.equal(outcome.kind, 'answered');
    assert.ok(performance.now() - began > 1_000, 'it was waited for');
    const late = await run('vm');
    await lone
      .db('allocation_attempts')
      .where({ id: late.attempt.id })
      .update({ created_at: new Date(0) });
    assert.equal((await awaited(late)).kind, 'failed');
  });

  it('is ready at once where nobody would hear it, or it can’t tell before it runs', async () => {
    const began = performance.now();
    const machines = [await run('vm', { canReport: false }), await run('box'), await run('none')];
    for (const machine of machines) assert.equal((await awaited(machine)).kind, 'answered');
    // A look holds for some seconds.
    await sleep(machineLimits.listenerSeenMs);
    isAway = true;
    assert.equal((await awaited(await run('vm'))).kind, 'answered');
    assert.ok(performance.now() - began < machineLimits.proofWaitMs, 'nobody waited for it');
  });
});
