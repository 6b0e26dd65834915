import assert from 'node:assert/strict';
import type { Spending, Statement } from '@gpu-rental/client';
import { firstBrokenLink } from '../../domain/ledger/ledger.js';
import type { Telemetry } from '../../api/rentals/describe-telemetry.js';
import { finalCents } from '../../domain/metering/metering.js';
import { rentalPhases } from '../../domain/rentals/progress.js';
import { until } from '../support/until.js';
import { signIn, topUp, type Backend, type Person } from './backends.js';

/** The dearest machine, at more than a cent a second: the ledger ticks while a test looks. */
const machine = {
  ...{ familyId: 'b200', gpuCount: 8, templateId: 'pytorch', name: 'training' },
  labels: { team: 'research' },
};
const priceCents = 3_992;

interface Rental {
  readonly status: string;
  readonly runningAt: string;
  readonly stoppedAt: string;
  readonly totalChargedCents: number;
  readonly writtenOffCents: number;
  readonly phase: string | null;
  readonly phaseSince: string | null;
  readonly attempt: number | null;
  readonly expectedReadyAt: string | null;
}

/** The life of a rental, from its creation to the last cent. Each step continues the one before. */
export function describeRenting(backend: () => Backend): void {
  describe('a rental', () => {
    let person: Person;
    let id: string;
    const key = { 'Idempotency-Key': 'rent' };

    before(async () => {
      person = await signIn(backend());
      await topUp(backend(), person, 10_000);
    });

    const show = async () => (await person.get(`/v1/rentals/${id}`)).body as unknown as Rental;
    const awaitStatus = (status: string) =>
      until(`the rental is ${status}`, async () => {
        const rental = await show();
        return rental.status === status && rental;
      });

    it('is refused in the same bytes once more, whatever has changed since', async () => {
      const ssh = (await person.post('/v1/ssh-keys', { name: 'gone', generate: true })).body;
      const asked = { familyId: 'b200', gpuCount: 4, sshKeyIds: [ssh.id] };
      const wish = { 'Idempotency-Key': 'refused' };
      const first = await person.post('/v1/rentals', asked, wish);
      assert.equal(first.body.error, 'model_unavailable');
      await person.delete(`/v1/ssh-keys/${ssh.id}`);
      const again = await person.post('/v1/rentals', asked, wish);
      assert.deepEqual([again.status, again.text], [first.status, first.text]);
      assert.equal(again.headers.get('Idempotent-Replayed'), 'true');
      assert.equal((await person.post('/v1/rentals', asked)).body.error, 'key_not_found');
    });

    it('is created with an hour of it on hold, once per Idempotency-Key', async () => {
      const { status, body, text } = await person.post('/v1/rentals', machine, key);
      assert.equal(status, 200, JSON.stringify(body));
      id = body.id;
      assert.deepEqual([body.status, body.host, body.port], ['provisioning', null, null]);
      assert.deepEqual([body.pricePerHourCents, body.warnings], [priceCents, ['no_ssh_key']]);
      const again = await person.post('/v1/rentals', machine, key);
      assert.deepEqual([again.status, again.text], [200, text], 'byte for byte');
      assert.equal(again.headers.get('Idempotent-Replayed'), 'true');
      const other = await person.post('/v1/rentals', { ...machine, name: 'other' }, key);
      assert.deepEqual([other.status, other.body.error], [409, 'idempotency_conflict']);
      const { rentals } = (await person.get('/v1/rentals')).body;
      assert.deepEqual(
        rentals.map((rental) => [rental.id, rental.name]),
        [[id, 'training']],
      );
      const made = async (asker: Person, name: string) =>
        (await asker.get(`/v1/rentals?idempotencyKey=${name}`)).body.rentals.map((rental) => rental.id);
      assert.deepEqual([await made(person, 'rent'), await made(person, 'other')], [[id], []]);
      assert.deepEqual(await made(await signIn(backend()), 'rent'), []);
      const phase = rentals[0]?.phase ?? '';
      assert.ok((rentalPhases as readonly string[]).includes(phase), phase);
    });

    it('runs, is reachable, and holds what it has not used of its first hour', async () => {
      await awaitStatus('running');
      const { body } = await person.get(`/v1/rentals/${id}`);
      assert.ok(typeof body.host === 'string' && typeof body.port === 'number');
      assert.match(body.hostKeyFingerprint ?? '', /^SHA256:/);
      assert.deepEqual([body.phase, body.phaseSince, body.expectedReadyAt], ['ready', body.runningAt, null]);
      const { body: balance } = await person.get('/v1/billing/balance');
      assert.equal(balance.availableCents + balance.reservedCents, balance.totalCents);
      assert.deepEqual([balance.availableCents, balance.burnPerHourCents], [10_000 - priceCents, priceCents]);
      assert.equal((await person.get('/v1/rentals?status=running')).body.rentals[0]?.id, id);
    });

    it('is metered, and its meter, charges and ledger agree', async () => {
      const { body: ledger } = await until('two ticks have charged', async () => {
        const answer = await person.get(`/v1/billing/ledger?rentalId=${id}&type=rental_charge`);
        return answer.body.entries.length >= 2 && answer;
      });
      assert.equal(ledger.entries[0]?.balanceAfterCents, ledger.balanceCents);
      const { body: meter } = await person.get(`/v1/rentals/${id}/meter`);
      assert.deepEqual([meter.rentalId, meter.pricePerHourCents], [id, priceCents]);
      assert.equal(meter.chargedCents + meter.holdCents, priceCents);
      assert.ok(meter.secondsBilled >= 1 && meter.chargedCents >= 2);
      const { body } = await person.get(`/v1/rentals/${id}/charges?interval=day`);
      const charges = body as unknown as { charges: { chargedCents: number }[]; totalChargedCents: number };
      const charged = charges.charges.reduce((sum, bucket) => sum + bucket.chargedCents, 0);
      // A tick may come between the reads of the sums and of the total.
      assert.ok(Math.abs(charged - charges.totalChargedCents) <= 2);
    });

    it('tells how much its machine was used, or that nobody does', async () => {
      const { status, body } = await person.get(`/v1/rentals/${id}/telemetry?points=10`);
      assert.equal(status, 200);
      const { rentalId, points } = body as unknown as Telemetry;
      assert.ok(rentalId === id && points.length >= 1 && points.length <= 10);
    });

    it('is stopped, settled half up, and gives back what it held', async () => {
      const { status, body } = await person.post(`/v1/rentals/${id}/stop`);
      assert.equal(status, 200);
      const { runningAt, stoppedAt, totalChargedCents, writtenOffCents, ...over } =
        await awaitStatus('stopped');
      assert.deepEqual(
        [over.phase, over.phaseSince, over.attempt, over.expectedReadyAt],
        [null, null, null, null],
      );
      const elapsedMs = Date.parse(stoppedAt) - Date.parse(runningAt);
      assert.equal(totalChargedCents, finalCents(priceCents, elapsedMs, null));
      assert.equal(writtenOffCents, 0);
      assert.deepEqual(
        [body.finalChargedCents, body.refundedCents],
        [totalChargedCents, priceCents - totalChargedCents],
      );
      const { body: balance } = await person.get('/v1/billing/balance');
      const left = 10_000 - totalChargedCents;
      assert.deepEqual([balance.availableCents, balance.reservedCents, balance.totalCents], [left, 0, left]);
      assert.deepEqual([balance.burnPerHourCents, balance.runwaySeconds], [0, null]);
    });

    it('is stopped once', async () => {
      const { status, body } = await person.post(`/v1/rentals/${id}/stop`);
      assert.deepEqual([status, body.error], [409, 'already_stopped']);
    });

    it('leaves a ledger that adds up from the first entry on', async () => {
      const { body } = await person.get('/v1/billing/ledger?pageSize=200');
      assert.equal(firstBrokenLink(body.entries, true), undefined);
      assert.equal(body.entries[0]?.balanceAfterCents, body.balanceCents);
      const of = await person.get('/v1/billing/statement?from=2020-01-01&to=2100-01-01');
      const { rentals } = of.body as unknown as { rentals: { rentalId: string; chargedCents: number }[] };
      assert.deepEqual(
        rentals.map((rental) => [rental.rentalId, rental.chargedCents]),
        [[id, 10_000 - body.balanceCents]],
      );
    });

    it('is what its days were spent on, as the statement says', async () => {
      const [from = '', to = ''] = [-1, 1].map((days) =>
        new Date(Date.now() + days * 86_400_000).toISOString(),
      );
      const span = `from=${from}&to=${to}`;
      const { status, body } = await person.get(`/v1/billing/spending?${span}`);
      assert.equal(status, 200, JSON.stringify(body));
      const { days, ...told } = body as unknown as Spending;
      const of = (await person.get(`/v1/billing/statement?${span}`)).body as unknown as Statement;
      const sum = (each: (day: Spending['days'][number]) => number): number =>
        days.reduce((total, day) => total + each(day), 0);
      assert.deepEqual(
        [told.openingBalanceCents, told.closingBalanceCents, sum(({ entries }) => entries)],
        [
          ...[of.openingBalanceCents, of.closingBalanceCents],
          of.totals.reduce((total, { entries }) => total + entries, 0),
        ],
      );
      const [ofRental] = of.rentals;
      assert.deepEqual(
        [sum(({ chargedCents }) => chargedCents), sum(({ refundedCents }) => refundedCents)],
        [ofRental?.chargedCents, ofRental?.refundedCents],
      );
      const { name, familyId: family, gpuCount } = machine;
      for (const ofDay of days.flatMap(({ rentals }) => rentals)) {
        assert.deepEqual({ ...ofDay, rentalId: id, name, family, gpuCount }, ofDay);
      }
    });

    it('is found by its label, and its statement sums by it', async () => {
      const { rentals } = (await person.get('/v1/rentals?label=team:research')).body;
      assert.deepEqual(
        rentals.map((rental) => rental.id),
        [id],
      );
      assert.deepEqual((await person.get('/v1/rentals?label=team:sales')).body.rentals, []);
      const range = 'from=2020-01-01&to=2100-01-01';
      const { body } = await person.get(`/v1/billing/statement?${range}&groupBy=label:team`);
      const { groups, totals } = body as unknown as Record<'groups' | 'totals', Record<string, unknown>[]>;
      const summed = groups.map(({ kind, key, value, amountCents }) => [kind, key, value, amountCents]);
      const of = (type: string) => totals.find((total) => total['type'] === type)?.['amountCents'];
      assert.deepEqual(summed, [
        ['label', 'team', 'research', of('rental_charge')],
        ['other', 'team', null, of('processor_topup')],
      ]);
    });

    it('explains each of its entries, with a sum that gives the entry', async () => {
      const { entries } = (await person.get(`/v1/billing/ledger?rentalId=${id}&pageSize=200`)).body;
      for (const entry of entries) {
        const { status, body } = await person.get(`/v1/billing/ledger/${entry.id}/explain`);
        assert.equal(status, 200, JSON.stringify(body));
        const { charge, rental } = body as unknown as {
          charge: { dueCents: number; chargedBeforeCents: number };
          rental: { family: string };
        };
        assert.equal(charge.dueCents, -entry.amountCents, JSON.stringify(body));
        assert.equal(rental.family, machine.familyId);
      }
      const nobodys = await person.get('/v1/billing/ledger/led_00000000000000000000000000/explain');
      assert.deepEqual([nobodys.status, nobodys.body.error], [404, 'not_found']);
    });

    it('gives its whole hold back without an entry when it is stopped before it runs', async () => {
      const early = (await person.post('/v1/rentals', machine)).body.id;
      const before = (await person.get('/v1/billing/ledger')).body.balanceCents;
      const stop = await person.post(`/v1/rentals/${early}/stop`);
      // The machine may have come up in between, for a few milliseconds.
      assert.equal(stop.status, 200);
      const { body: balance } = await person.get('/v1/billing/balance');
      assert.equal(balance.reservedCents, 0);
      assert.ok(before - balance.totalCents <= 1);
    });
  });
}
