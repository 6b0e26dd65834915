import assert from 'node:assert/strict';
import { startService, type TestService } from '../../support/service/living-service.js';
import { runOps, type OpsResult } from '../../support/ops/ops.js';

describe('ops reconcile and ops findings', () => {
  let service: TestService;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  const ops = (...args: string[]): Promise<OpsResult> => runOps(service, ...args);

  /** A difference must still exist a moment later; in production the moment is a quarter of a minute. */
  const soon = ['--look-again-ms', '100'];

  it('runs it, prints what it found with the evidence, and lets an operator acknowledge it', async () => {
    const clean = await ops('reconcile', ...soon);
    assert.deepEqual([clean.code, clean.out], [0, 'All agree.\n']);
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
      [1, 'Refused (not_found): There is no finding 99 that stands: see ops findings.'],
    );
    assert.equal(odd.code, 2);

    const known = await ops('findings', 'ack', '1', '--by', 'ada', '--reason', 'a gift');
    assert.deepEqual([known.code, known.err], [0, '']);
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
