import assert from 'node:assert/strict';
import { newId } from '../../adapters/ids.js';
import type { SignedIn } from '../support/http/api.js';
import { startService, type TestService } from '../support/service/living-service.js';
import { runOps, type OpsResult } from '../support/ops/ops.js';
import { Paying } from '../support/story/paying.js';
import { l40s, Renting, rtx4090 } from '../support/story/renting.js';
import { until } from '../support/until.js';
import { beginEarlier } from '../support/money/begin-earlier.js';

describe('ops, with a whole service behind it', () => {
  let service: TestService;
  let renting: Renting;
  let paying: Paying;
  let user: SignedIn;
  before(async () => {
    service = await startService();
    renting = new Renting(service);
    paying = new Paying(service);
  });
  after(() => service.stop());

  const ops = (...args: string[]): Promise<OpsResult> => runOps(service, ...args);
  const who = ['--by', 'ada', '--reason', 'a drill'];

  // It comes first: nothing was rented or paid, so all agrees.
  describe('ops reconcile and ops findings', () => {
    /** A difference must still exist a moment later; in production the moment is a quarter of a minute. */
    const soon = ['--look-again-ms', '100'];

    it('runs it, prints what it found with the evidence, and lets an operator acknowledge it', async () => {
      const clean = await ops('reconcile', ...soon);
      assert.deepEqual([clean.code, clean.out], [0, 'Everything agrees.\n']);
      assert.match(clean.err, /^Workflow reconcile-by-hand-op_/);

      const { user } = await service.signIn(500);
      // Nobody was charged for this money. That is found whatever its age, since a charge comes before its entry.
      const found = await ops('reconcile', '--full', ...soon);
      assert.equal(found.code, 1, found.err);
      assert.match(found.out, /^1 {2}entry_without_charge {2}top_\S+ {2}open, seen /m);
      assert.match(found.out, new RegExp(`"userId":"${user.id}"`));
      assert.match(found.out, /"entry":\{"type":"processor_topup","amountCents":500\}/);
      assert.match(found.out, /^1 open, 0 acknowledged/m);

      const [unsigned, missing, odd] = await Promise.all([
        ops('findings', 'ack', '1'),
        ops('findings', 'ack', '99', '--by', 'ada', '--reason', 'x'),
        ops('findings', '--state', 'lost'),
      ]);
      assert.equal(unsigned.code, 2, 'who and why must be told');
      assert.deepEqual(
        [missing.code, missing.out.trim()],
        [1, 'Refused (not_found): There is no open finding 99: see ops findings.'],
      );
      assert.equal(odd.code, 2);

      const known = await ops('findings', 'ack', '1', '--by', 'ada', '--reason', 'a gift');
      assert.equal(known.code, 0);
      assert.match(
        known.err,
        /^Operation op_\w+\. If the connection breaks, repeat this with --operation op_\w+\n$/,
      );
      assert.match(known.out, /^Done: findingId 1, finding entry_without_charge, subject top_/);
      const [actions, again, open] = await Promise.all([
        ops('actions'),
        ops('reconcile', ...soon),
        ops('findings', '--state', 'open'),
      ]);
      assert.match(actions.out, /acknowledge_finding by ada: a gift/);
      assert.equal(again.code, 0, 'what is known is no alarm');
      assert.match(again.out, /^1 .* acknowledged by ada/);
      assert.equal(open.out.trim(), 'No such findings.');
    });

    it('does not pass sources that it could not compare', async () => {
      await fetch(`${service.processor.url}/lab/faults`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ kind: 'status', path: '/v1/invoices', times: 1_000 }),
      });
      const { code, out } = await ops('reconcile', '--json', ...soon);
      await fetch(`${service.processor.url}/lab/faults`, { method: 'DELETE' });
      assert.equal(code, 2);
      const { report, gaps } = JSON.parse(out) as { report: object; gaps: { source: string; why: string }[] };
      assert.equal((report as { notCompared: number }).notCompared, 1);
      assert.deepEqual(
        gaps.map(({ source }) => source),
        ['invoices'],
      );
      assert.match((await ops('findings')).out, /^Not compared: invoices since \S+: unknown: /m);
    });

    it('says that nothing was started when Temporal is not there', async () => {
      const { code, err } = await runOps({ databaseUrl: service.databaseUrl }, 'reconcile');
      assert.equal(code, 2);
      assert.match(err, /Nothing was started/);
    });
  });

  describe('ops rentals, ops catalog, ops topups and ops webhooks', () => {
    before(async () => {
      user = await service.signIn(10_000);
    });

    it('list and show a rental with its tries and what happened when', async () => {
      const { id } = await renting.run(user, rtx4090);
      assert.match(
        (await ops('rentals', 'list', '--user', user.user.email, '--open')).out,
        new RegExp(`^${id}  running`),
      );
      const { out } = await ops('rentals', 'show', id);
      assert.match(out, /^attempt 1 +lab \S+: adopted, machine \S+, tag test-rent_\w+-1$/m);
      const told = [...out.matchAll(/^timeline +(\S+) {2}(.*)$/gm)].map(([, at = '', what = '']) => ({
        at,
        what,
      }));
      assert.deepEqual(
        told.map(({ at }) => at),
        told.map(({ at }) => at).sort(),
      );
      assert.ok(told.some(({ what }) => what.startsWith('running: the SSH daemon answered')));
      assert.match(out, new RegExp(`^workflow +http://127.0.0.1:8233/namespaces/\\S+/workflows/${id}$`, 'm'));
      const link = await ops('link', id);
      assert.match(
        link.out,
        new RegExp(`^${id} {2}[0-9a-f-]{36} {2}http\\S+/${id}/[0-9a-f-]{36}/history$`, 'm'),
      );

      const stop = await ops('rentals', 'stop', id, ...who, '--yes');
      assert.match(stop.out, new RegExp(`^Done: rentalId ${id}, was running`));
      const ended = await renting.awaitClosed(id);
      assert.deepEqual([ended.status, ended.stop_reason], ['stopped', 'operator']);
      assert.match((await ops('rentals', 'show', id)).out, /a stop was asked for by operator: a drill/);
      const again = await ops('rentals', 'stop', id, ...who, '--yes');
      assert.deepEqual([again.code, again.out.startsWith('Refused (already_stopped)')], [1, true]);
    });

    it('ask before they stop anything', async () => {
      const { code, err } = await ops('rentals', 'stop', newId('rent'), ...who);
      assert.deepEqual([code, err.includes('Add --yes')], [2, true]);
      assert.match(
        (await ops('rentals', 'stop', newId('rent'), ...who, '--dry-run')).out,
        /^Would do as ada/,
      );
    });

    it('end a rental by force: its machines are told at once', async () => {
      const { id } = await renting.run(user, rtx4090);
      const { out, code } = await ops('rentals', 'force-terminate', id, ...who, '--yes');
      assert.equal(code, 0, out);
      assert.match(out, /^Done: .*machines 1, told lab \S+ was told to end\n$/);
      assert.equal((await renting.awaitClosed(id)).stop_reason, 'operator');
      assert.match(
        (await ops('rentals', 'force-terminate', id, ...who, '--yes')).out,
        /^Refused \(already_stopped\)/,
      );
    });

    it('accept that the machines of an upstream which is not configured any more are gone', async () => {
      const { id } = await renting.run(user, rtx4090);
      const { db } = service;
      await db('providers').insert({ code: 'bankrupt' }).onConflict('code').ignore();
      await db('pods').where('tag', 'like', `%${id}%`).delete();
      await db('allocation_attempts').where({ rental_id: id }).update({ provider_code: 'bankrupt' });
      await db('rentals').where({ id }).update({ provider_code: 'bankrupt' });
      const told = await ops('rentals', 'force-terminate', id, ...who, '--yes');
      assert.match(
        told.out,
        /bankrupt is not configured: end test-rent_\w+-1 there by hand, then force-terminate with --accept-gone/,
      );
      const { out } = await ops('rentals', 'force-terminate', id, ...who, '--yes', '--accept-gone');
      assert.match(out, /bankrupt \S+ counts as gone/);
      assert.equal((await renting.awaitClosed(id)).status, 'stopped');
    });

    it('show the offers for a request, and sell nothing of a paused upstream', async () => {
      const offers = ['catalog', 'offers', '--family', l40s.familyId];
      assert.match((await ops(...offers, '--max-price=-5')).err, /Use whole cents, at least 1/);
      const { out } = await ops(...offers);
      assert.match(
        out,
        new RegExp(
          `^lst_\\w+ {2}${l40s.pricePerHourCents} cents/h {2}1 x L40S {2}lab .*\\nlst_\\w+ {2}${l40s.nextCents} cents/h`,
        ),
      );
      await ops('providers', 'pause', 'lab', ...who);
      try {
        assert.equal((await ops(...offers)).out, 'Nothing.\n');
        assert.match((await ops('providers')).out, /^lab: in; paused since \S+ by ada: a drill;/m);
        const refused = await user.post('/v1/rentals', { familyId: l40s.familyId, gpuCount: 1 });
        assert.deepEqual([refused.status, refused.body.error], [400, 'model_unavailable']);
      } finally {
        await ops('providers', 'resume', 'lab', ...who);
      }
      assert.notEqual((await ops(...offers)).out, 'Nothing.\n');
      assert.equal((await ops('providers', 'resume', 'lab', ...who)).code, 1);
    });

    it('charge nobody while metering is paused, and all of it afterwards', async () => {
      const { id } = await renting.run(user, rtx4090);
      await ops('pause', 'metering', ...who);
      const { db } = service;
      try {
        const before = (await renting.row(id)).charged_cents;
        await beginEarlier(db, [id], 3_600);
        const { rows } = await db.raw<{ rows: { ticks: number }[] }>('select ticks from meter_shards');
        await until('three ticks', async () => {
          const later = await db.raw<{ rows: { ticks: number }[] }>('select ticks from meter_shards');
          return later.rows[0]!.ticks >= rows[0]!.ticks + 3;
        });
        assert.equal((await renting.row(id)).charged_cents, before);
        const refused = await user.post('/v1/rentals', { familyId: rtx4090.familyId, gpuCount: 1 });
        assert.equal(refused.status, 503);
      } finally {
        await ops('resume', 'metering', ...who);
      }
      await until(
        'it is charged',
        async () => (await renting.row(id)).charged_cents >= rtx4090.pricePerHourCents,
      );
      await renting.stop(user, id);
    });

    it('say what became of a payment that a user asks about', async () => {
      const page = await paying.page(user, 1_500);
      const waiting = await ops('topups', 'show', page.sessionId);
      assert.match(waiting.out, /^verdict +It has not been paid on the page, which is open until /m);
      await paying.pay(page.url);
      const topup = await paying.awaitTopup(page.topupId, 'succeeded');
      for (const id of [page.topupId, topup.payment_id!, topup.charge_id!]) {
        const { out } = await ops('topups', 'show', id);
        assert.match(out, new RegExp(`^top-up +${page.topupId} succeeded, 1500 cents by checkout`, 'm'));
        assert.match(
          out,
          /^verdict +It was paid and credited: led_\w{26}\. For details, run ops explain\.$/m,
        );
        assert.match(out, new RegExp(`^receipt +${topup.receipt_url?.slice(0, 16) ?? ''}`, 'm'));
      }
      assert.match(
        (await ops('topups', 'list', '--user', user.user.id)).out,
        new RegExp(`^${page.topupId} {2}succeeded`),
      );
      const { code, err } = await ops('topups', 'show', 'pi_nobody');
      assert.deepEqual([code, err.includes('We know nothing under pi_nobody')], [2, true]);
    });

    it('replay an event without crediting twice', async () => {
      const page = await paying.page(user, 1_100);
      await paying.pay(page.url);
      const { payment_id: paymentId } = await paying.awaitTopup(page.topupId, 'succeeded');
      await paying.awaitHandled();
      const cents = (await paying.wallet(user)).available_cents;
      const list = await ops('webhooks', 'list', '--object', paymentId!);
      const [eventId = ''] = /evt_\w+/.exec(list.out) ?? [];
      assert.match((await ops('webhooks', 'show', eventId)).out, new RegExp(`"id": "${paymentId!}"`));
      const { out, code } = await ops('webhooks', 'replay', eventId, ...who);
      assert.equal(code, 0, out);
      assert.match(out, new RegExp(`^Done: eventId ${eventId}, .*workflowId ${page.topupId}\n$`));
      await paying.awaitHandled();
      assert.equal((await paying.wallet(user)).available_cents, cents);
      assert.equal((await ops('webhooks', 'list', '--unhandled')).out, 'Nothing.\n');
      assert.equal((await ops('webhooks', 'replay', 'evt_none', ...who)).code, 1);
    });

    it('list and show invoices', async () => {
      await ops(
        'invoice',
        'create',
        '--user',
        user.user.id,
        '--amount-cents',
        '900',
        '--description',
        'a wire',
        ...who,
        '--yes',
      );
      const [id = ''] =
        /inv_\w{26}/.exec((await ops('invoices', 'list', '--user', user.user.email)).out) ?? [];
      const { out } = await ops('invoices', 'show', id);
      assert.match(out, /^line +900 cents {2}a wire$/m);
      assert.match((await ops('wallet', 'show', user.user.id)).out, /^entry +led_\w{26}/m);
    });
  });
});
