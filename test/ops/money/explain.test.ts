import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import type { RentalId } from '../../../domain/ids.js';
import { getRental, insertWallet, openMoneyDatabase, type MoneyDatabase } from '../../support/money/money.js';
import { runOps, type OpsResult } from '../../support/ops/ops.js';
import { ToldLedger } from '../../support/money/told-ledger.js';

describe('ops explain and ops statement', () => {
  let database: MoneyDatabase;
  let ledger: ToldLedger;
  let rentalId: RentalId;
  before(async () => {
    database = await openMoneyDatabase();
    ledger = new ToldLedger(database.db, (await insertWallet(database.db, 0)).user_id);
    await ledger.payTopup();
    rentalId = await ledger.runMachine(105_500);
    await ledger.stopMachine(rentalId);
  });
  after(() => database.close());

  const ops = (...args: string[]): Promise<OpsResult> => runOps({ databaseUrl: database.url }, ...args);

  it('finds a prepared user’s cent, and says why it was charged', async () => {
    const { email } = (await database.db('users').where({ id: ledger.userId }).first())!;
    const list = await ops('ledger', 'list', '--user', email, '--rental', rentalId);
    const [settlement = '', tick = ''] = [...list.out.matchAll(/led_\w{26}/g)].map(([id]) => id);
    const { out, code } = await ops('explain', tick);
    assert.equal(code, 0);
    assert.match(out, new RegExp(`^entry +${tick} {2}rental_charge {2}-10 cents`, 'm'));
    assert.match(out, /^balance +2000 - 10 = 1990 cents$/m);
    assert.match(
      out,
      /^sum +floor\(360 cents\/h x 105\d{3} ms \/ 3600000 ms\/h = 10\.5\d+\) = 10; 10 - 0 charged before = 10$/m,
    );
    assert.match(
      out,
      new RegExp(
        `^machine +lab pod-${rentalId}, tag test-${rentalId}-1; running since .*; last seen alive .*; the upstream says active; ended: user$`,
        'm',
      ),
    );
    assert.match(
      out,
      /^workflow +meter:0 {2}http:\/\/127\.0\.0\.1:8233\/namespaces\/default\/workflows\/meter%3A0$/m,
    );
    assert.match(out, new RegExp(`^workflow +${rentalId} {2}http`, 'm'));
    assert.match(
      (await ops('explain', settlement)).out,
      /^sum +round\(.* = 11; 11 - 10 charged before = 1$/m,
    );
  });

  it('names the operator of an action whose reason the user is told', async () => {
    const operationId = await ledger.byHand('adjust', 5);
    const { out } = await ops('explain', await ledger.newestId());
    assert.match(
      out,
      new RegExp(`^by hand +adjust by ada \\(gpu_rental\\): the machine was slow; ${operationId}$`, 'm'),
    );
    const told = JSON.parse((await ops('explain', await ledger.newestId(), '--json')).out) as {
      evidence: { operator: string; cause: string };
      workflows: { workflowId: string; runId: null }[];
    };
    assert.deepEqual(
      [told.evidence.operator, told.evidence.cause],
      ['ada (gpu_rental)', `operation:${operationId}`],
    );
    assert.deepEqual(
      told.workflows.map(({ workflowId, runId }) => [workflowId, runId]),
      [[operationId, null]],
    );
  });

  it('says where to look when there is no such entry', async () => {
    const { code, err } = await ops('explain', 'led_00000000000000000000000000');
    assert.equal(code, 2);
    assert.match(err, /There is no ledger entry .*: see ops ledger list/);
  });

  it('prints a sheet whose charges, refund and price add up', async () => {
    const { out, code } = await ops('statement', '--rental', rentalId);
    assert.equal(code, 0);
    assert.match(out, /^tick +\S+ {2}led_\w+ {2}-10 {2}balance 1990 {2}floor\(/m);
    assert.match(out, /^settlement +\S+ {2}led_\w+ {2}-1 {2}balance 1989 {2}round\(/m);
    assert.match(out, /^charged +11 cents by 2 entries$/m);
    const row = await getRental(database.db, rentalId);
    const billedMs = row.ended_at!.getTime() - row.running_at!.getTime();
    assert.match(
      out,
      new RegExp(`^price +round\\(360 cents/h x ${billedMs} ms .*\\) = 11 cents for ${billedMs} ms$`, 'm'),
    );
    assert.match(out, /^check +net 11 \+ overage 0 \+ written off 0 = 11, which is its price$/m);
  });

  it('prints the sheets of one that failed, was lost, runs, or had too little money', async () => {
    const { out: failed } = await ops('statement', '--rental', await ledger.failToProvision());
    assert.match(failed, /^refund +.* 50 charged - 0 = 50 given back$/m);
    assert.match(failed, /^check +net 0 .* = 0, which is its price$/m);
    const lost = await ledger.runMachine(200_000);
    assert.match((await ops('statement', '--rental', lost)).out, /^check +not settled yet/m);
    await ledger.loseMachine(lost, 100_000);
    assert.match((await ops('statement', '--rental', lost)).out, /^net +20 - 10 = 10 cents$/m);
    const poor = await ledger.runMachine(30_000_000);
    await ledger.stopMachine(poor);
    const { out, code } = await ops('statement', '--rental', poor);
    assert.equal(code, 0, out);
    assert.match(out, /^overage +\d+ cents, invoice inv_\w+ \(draft\)$/m);
    assert.match(out, /which is its price$/m);
  });

  it('ends with 1 when a sheet does not add up', async () => {
    await ledger.payTopup();
    const id = await ledger.runMachine(100_000);
    await ledger.stopMachine(id);
    await database.db('rentals').where({ id }).update({ written_off_cents: 3 });
    const { code, out } = await ops('statement', '--rental', id);
    assert.equal(code, 1);
    assert.match(out, /^check .*= 13, but its price is 10: run ops ledger verify$/m);
    assert.equal((await ops('statement', '--rental', newId('rent'))).code, 2);
  });
});
