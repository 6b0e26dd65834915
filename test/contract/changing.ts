import assert from 'node:assert/strict';
import type { components } from '@gpu-rental/client';
import { until } from '../support/until.js';
import { signIn, topUp, type Backend, type Person } from './backends.js';

type AuditEventPage = components['schemas']['AuditEventPage'];
type IdleGuard = components['schemas']['IdleGuard'];

const machine = {
  ...{ familyId: 'b200', gpuCount: 8, templateId: 'pytorch', name: 'training' },
  ...{ labels: { team: 'research' }, notes: 'first\n\tsecond' },
};

/** The changes of a rental that runs, and of one that is over. */
export function describeChanging(backend: () => Backend): void {
  describe('a changed rental', () => {
    let person: Person;
    let id: string;

    before(async () => {
      person = await signIn(backend());
      await topUp(backend(), person, 10_000);
      id = (await person.post('/v1/rentals', machine)).body.id;
      await until('it runs', async () => (await person.get(`/v1/rentals/${id}`)).body.status === 'running');
    });

    it('is changed in what is sent, and nothing else, once per Idempotency-Key', async () => {
      const retried = { 'Idempotency-Key': 'change' };
      const hours = { autoStopAfterHours: 2, labels: { team: 'research', stage: 'test' } };
      const { status, body } = await person.patch(`/v1/rentals/${id}`, hours, retried);
      assert.equal(status, 200, JSON.stringify(body));
      const { autoStopAt, runningAt, name, labels } = body as unknown as Record<string, string>;
      assert.equal(Date.parse(autoStopAt!) - Date.parse(runningAt!), 7_200_000);
      assert.deepEqual([name, labels], ['training', { stage: 'test', team: 'research' }]);
      const renamed = await person.patch(`/v1/rentals/${id}`, { name: 'renamed', autoStopAt: null });
      const shown = renamed.body as unknown as Record<string, unknown>;
      assert.deepEqual([shown['name'], shown['autoStopAt'], shown['maxSpendCents']], ['renamed', null, null]);
      const again = await person.patch(`/v1/rentals/${id}`, hours, retried);
      assert.deepEqual([again.status, again.body], [200, body]);
      assert.equal(again.headers.get('Idempotent-Replayed'), 'true');
    });

    it('has notes of 500 characters and any lines, which a request that sends none leaves alone', async () => {
      const notes = `${'\u{1F600}'.repeat(498)}\n<`;
      const change = (body: object, headers = {}) => person.patch(`/v1/rentals/${id}`, body, headers);
      const shown = (answer: { body: unknown }) => (answer.body as { notes: unknown }).notes;
      const wrong = [`${notes}x`, 'a\u0000', '\u001b[31m', '\ud800', 7];
      for (const each of wrong) {
        const { status, body } = await change({ notes: each });
        assert.deepEqual([status, body.error], [400, 'validation_failed'], JSON.stringify(each));
        assert.deepEqual(
          body.details.fields.map(({ field }) => field),
          ['notes'],
        );
      }
      assert.equal(shown(await person.get(`/v1/rentals/${id}`)), 'first\n\tsecond', 'of the create');
      assert.equal(shown(await change({ notes })), notes);
      assert.equal(shown(await change({ name: 'training' }, { 'Idempotency-Key': 'no notes' })), notes);
      for (const none of [null, '']) {
        assert.equal(shown(await change({ notes: 'x' })), 'x');
        assert.equal(shown(await change({ notes: none })), null);
      }
      const { status } = await change({ notes: 'x', name: 'training' }, { 'Idempotency-Key': 'no notes' });
      assert.equal(status, 409, 'notes that are sent count');
    });

    it('is kept alive for as long as before under another idle guard, which has seen nothing yet', async () => {
      const guardAfter = async (change: object): Promise<IdleGuard | null> => {
        const { status, body } = await person.patch(`/v1/rentals/${id}`, change);
        assert.equal(status, 200, JSON.stringify(body));
        return (body as unknown as { idleGuard: IdleGuard | null }).idleGuard;
      };
      const fresh = { ignores: ['sessions'], idleSince: null, stopsAt: null };
      const guarded = await guardAfter({ stopWhenIdleMinutes: 30, idleIgnores: ['sessions'] });
      assert.deepEqual(guarded, { ...fresh, minutes: 30, keepAliveUntil: null });
      const until = new Date(Date.now() + 3_600_000).toISOString();
      assert.equal((await person.post(`/v1/rentals/${id}/keep-alive`, { until })).status, 200);
      const changed = await guardAfter({ stopWhenIdleMinutes: 45, idleIgnores: ['sessions'] });
      assert.deepEqual(changed, { ...fresh, minutes: 45, keepAliveUntil: until });
      assert.equal(await guardAfter({ stopWhenIdleMinutes: null }), null);
      const anew = await guardAfter({ stopWhenIdleMinutes: 45, idleIgnores: ['sessions'] });
      assert.deepEqual(anew, { ...fresh, minutes: 45, keepAliveUntil: null }, 'it went with its guard');
    });

    it('ends at once at what was used when its spend limit is lowered below it', async () => {
      const used = await until('it was charged', async () => {
        const { body } = await person.get(`/v1/rentals/${id}`);
        return body.totalChargedCents >= 1 && body.totalChargedCents;
      });
      const { status, body } = await person.patch(`/v1/rentals/${id}`, { maxSpendCents: 1 });
      assert.equal(status, 200, JSON.stringify(body));
      const shown = body as unknown as Record<string, unknown>;
      assert.deepEqual([shown['status'], shown['stopReason']], ['stopping', 'spend_limit']);
      assert.ok(Number(shown['maxSpendCents']) >= used);
      const audit = (await person.get('/v1/audit?kind=rental_changed')).body as unknown as AuditEventPage;
      const { rentalId, changed, maxSpendCentsBefore } = audit.events[0]?.details ?? {};
      assert.deepEqual([rentalId, changed, maxSpendCentsBefore], [id, ['maxSpendCents'], null]);
      assert.equal(shown['totalChargedCents'], shown['maxSpendCents']);
      const refused = await person.patch(`/v1/rentals/${id}`, { maxSpendCents: 500 });
      assert.equal(refused.status, 409, JSON.stringify(refused.body));
      await until(
        'it is stopped',
        async () => (await person.get(`/v1/rentals/${id}`)).body.status === 'stopped',
      );
      const late = await person.patch(`/v1/rentals/${id}`, { labels: {} });
      assert.deepEqual([late.status, late.body.error], [409, 'already_stopped']);
      const over = await person.patch(`/v1/rentals/${id}`, { name: 'over', notes: 'after' });
      const { name, notes } = over.body as unknown as Record<string, unknown>;
      assert.deepEqual([name, notes], ['over', 'after']);
    });
  });
}
