import assert from 'node:assert/strict';
import { newId } from '../../adapters/ids.js';
import type { SignedIn } from '../support/http/api.js';
import { startService, type TestService } from '../support/service/living-service.js';
import { getWallet } from '../support/money/money.js';
import { runOps, type OpsResult } from '../support/ops/ops.js';
import { until } from '../support/until.js';

describe('ops wallet, ops invoice and ops actions', () => {
  let service: TestService;
  let user: SignedIn;
  before(async () => {
    service = await startService();
    user = await service.signIn(1_000);
  });
  after(() => service.stop());

  const ops = (...args: string[]): Promise<OpsResult> => runOps(service, ...args);

  const who = ['--by', 'ada', '--reason', 'the machine was slow'];
  const available = async (): Promise<number> => (await getWallet(service.db, user.user.id)).available_cents;

  it('refund, tell the operation’s id first, and are repeated by it without doing it twice', async () => {
    const refund = ['wallet', 'refund', '--user', user.user.id, '--amount-cents', '250', ...who, '--yes'];
    const first = await ops(...refund);
    assert.equal(first.code, 0, first.err);
    assert.match(first.out, /^Done: amountCents 250, availableCents 1250\n$/);
    const [operationId = ''] = /op_\w{26}/.exec(first.err) ?? [];
    const again = await ops(...refund, '--operation', operationId, '--json');
    assert.equal(again.code, 0, again.err);
    assert.equal((JSON.parse(again.out) as { operationId: string }).operationId, operationId);
    assert.equal(await available(), 1_250);
    for (const list of [['actions', 'list'], ['actions']]) {
      const { out } = await ops(...list);
      assert.match(out, new RegExp(`${operationId} refund by ada: the machine was slow`));
    }
    const [{ id = '' } = {}] = JSON.parse((await ops('actions', 'list', '--limit', '1', '--json')).out) as {
      id?: string;
    }[];
    assert.equal(id, operationId);
  });

  it('exit with 1 and say why when it is refused', async () => {
    const { code, out } = await ops(
      ...['wallet', 'adjust', '--user', user.user.id, '--amount-cents=-999999', ...who, '--yes'],
    );
    assert.equal(code, 1);
    assert.match(out, /^Refused \(insufficient_balance\): Only 1250 cents are available/);
  });

  it('do not take the outcome of another request for their own, even while that one runs', async () => {
    const [operationId, cents] = [newId('op'), await available()];
    await service.stopWorker();
    const refund = (amountCents: string) =>
      ops(
        ...['wallet', 'refund', '--user', user.user.id, '--amount-cents', amountCents, ...who, '--yes'],
        ...['--operation', operationId],
      );
    try {
      const first = refund('7');
      await until('it has begun', () =>
        service.temporal.workflow
          .getHandle(operationId)
          .describe()
          .then(
            () => true,
            () => false,
          ),
      );
      const second = refund('9');
      await service.startWorker();
      assert.match((await first).out, /^Done: amountCents 7,/);
      const { code, out } = await second;
      assert.equal(code, 1);
      assert.match(out, /^Refused \(idempotency_conflict\)/);
    } finally {
      await service.stopWorker();
      await service.startWorker();
    }
    assert.equal(await available(), cents + 7);
  });

  describe('above what one operator may move alone', () => {
    const asBob = (...args: string[]): Promise<OpsResult> => runOps({ ...service, operator: 'bob' }, ...args);
    const much = ['--amount-cents', '60000', '--reason', 'an outage', '--yes'];

    async function ask(): Promise<string> {
      const { code, out, err } = await ops('wallet', 'refund', '--user', user.user.id, ...much);
      assert.equal(code, 3, err);
      const [id = ''] = /op_\w{26}/.exec(out) ?? [];
      assert.match(
        out,
        /^Waiting for approval: .* Another operator approves it with:\n {2}npm run ops -- orders approve op_/,
      );
      return id;
    }

    it('wait for another operator, who approves it and sees it done', async () => {
      const cents = await available();
      const id = await ask();
      assert.equal(await available(), cents);
      assert.match(
        (await asBob('orders')).out,
        new RegExp(`^${id} {2}requested {2}refund {2}60000 cents .* by ada`),
      );
      const own = await ops('orders', 'approve', id, '--yes');
      assert.equal(own.code, 1);
      assert.match(own.out, /^Refused \(forbidden\): op_\w+ is your own order/);
      assert.equal((await asBob('orders', 'approve', id)).code, 2, 'nobody has consented');
      const { code, out, err } = await asBob('orders', 'approve', id, '--yes');
      assert.equal(code, 0, err);
      assert.match(out, /^Done: amountCents 60000,/);
      assert.match((await asBob('orders', 'approve', id, '--yes')).out, /^Done: amountCents 60000,/);
      assert.equal(await available(), cents + 60_000);
      assert.match((await ops('actions')).out, new RegExp(`${id} refund by ada, approved by bob: an outage`));
      assert.match(
        (await ops('orders', 'show', id)).out,
        /^asked by +operator_ada at .*\napproved +by operator_bob/m,
      );
    });

    it('are done no more once they are rejected', async () => {
      const cents = await available();
      const id = await ask();
      const silent = await asBob('orders', 'reject', id, '--reason', 'too much');
      assert.deepEqual([silent.code, silent.err.includes('Add --yes')], [2, true], 'nobody has consented');
      assert.equal((await asBob('orders', 'reject', id, '--reason', 'too much', '--yes')).code, 0);
      const again = await ops('wallet', 'refund', '--user', user.user.id, ...much, '--operation', id);
      assert.deepEqual(
        [again.code, again.out],
        [1, 'Refused (rejected): operator_bob rejected it: too much\n'],
      );
      assert.equal((await asBob('orders', 'approve', id, '--yes')).code, 1);
      assert.equal(await available(), cents);
    });

    it('are refused at once when they can’t be done at all', async () => {
      const args = ['--user', user.user.id, '--amount-cents=-9000000', '--reason', 'x', '--yes'];
      const { code, out } = await ops('wallet', 'adjust', ...args);
      assert.equal(code, 1);
      assert.match(out, /^Refused \(insufficient_balance\)/);
    });
  });

  it('take the operator’s name from the login alone', async () => {
    const refund = ['wallet', 'refund', '--user', user.user.id, '--amount-cents', '1', '--reason', 'x'];
    const { code, err } = await ops(...refund, '--yes', '--by', 'bob');
    assert.equal(code, 2);
    assert.match(err, /You are logged in as ada: leave out --by, or log in as bob/);
    assert.match((await ops(...refund, '--dry-run')).out, /^Would do as ada: /);
  });

  it('do nothing on a dry run, nor without a word of consent', async () => {
    const invoice = [
      'invoice',
      'create',
      '--user',
      user.user.id,
      '--amount-cents',
      '900',
      '--description',
      'x',
    ];
    const dry = await ops(...invoice, ...who, '--dry-run');
    assert.deepEqual([dry.code, dry.out.startsWith('Would do as ada: {"kind":"issue_invoice"')], [0, true]);
    const silent = await ops(...invoice, ...who);
    assert.equal(silent.code, 2);
    assert.match(silent.err, /Add --yes/);
    assert.deepEqual(await service.db('invoices').where({ user_id: user.user.id }), []);
  });

  it('name what is wrong with their arguments', async () => {
    const { code, err } = await ops('invoice', 'void', newId('top'), ...who);
    assert.equal(code, 2);
    assert.equal((await ops('wallet', 'refund', '--help')).code, 0);
    assert.match(err, /Use an id such as inv_01J…/);
    assert.match((await ops('wallet', 'refund', '--user', user.user.id)).err, /required option '--reason/);
    assert.match((await ops('actions', 'list', '--limit', '-1')).err, /Use a number from 1 to 1000/);
  });

  it('issue an invoice to whom an e-mail address names, and answer when it can be paid', async () => {
    const args = [
      '--user',
      user.user.email,
      '--amount-cents',
      '900',
      '--description',
      'A wire',
      '--reason',
      'x',
    ];
    const { code, out, err } = await ops('invoice', 'create', ...args, '--yes');
    assert.equal(code, 0, err);
    assert.match(out, /^Done: invoiceId inv_\w+, amountCents 900\nIt is open, and we emailed its user: http/);
    const [invoice] = await service.db('invoices').where({ user_id: user.user.id });
    assert.equal(invoice?.status, 'open');
  });

  // This test comes last, because it takes the processor away.
  it('say what an invoice waits for when the processor does not make its mirror', async () => {
    await service.processor.close();
    const args = [
      '--user',
      user.user.email,
      '--amount-cents',
      '900',
      '--description',
      'A wire',
      '--reason',
      'x',
    ];
    const { code, out } = await ops('invoice', 'create', ...args, '--yes');
    assert.equal(code, 0);
    assert.match(out, /^Done: .*\nIt is still draft: the payment processor has not created it yet\./);
  }).timeout(60_000);
});
