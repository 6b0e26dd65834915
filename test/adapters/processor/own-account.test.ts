import assert from 'node:assert/strict';
import { onlyOwnAccount } from '../../../adapters/processor/own-account.js';
import { anotherAccount, ProcessorError, type Processor } from '../../../adapters/processor/processor.js';
import { ScriptedProcessor } from '../../support/activities/scripted-processor.js';
import { startWorkbench, type Workbench } from '../../lab/processor/workbench.js';

const refused = { kind: 'refused', details: { code: anotherAccount }, isOfPeer: true };

describe('the processor’s account', () => {
  let bench: Workbench;
  let known: string;
  before(async () => {
    bench = await startWorkbench();
    const input = { userId: 'usr_ours', email: 'ours@example.com' };
    known = (await bench.processor.createCustomer(input)).customerId;
  });
  after(() => bench.stop());
  let told: ProcessorError[];
  let asked: string[];
  beforeEach(() => {
    told = [];
    asked = [];
  });
  const guard = (processor: Processor, customers: readonly string[]): Processor =>
    onlyOwnAccount(processor, {
      listCustomers: (limit) => Promise.resolve(customers.slice(0, limit)),
      onAnother: (error) => told.push(error),
      refusedMs: 0,
    });
  /** The lab's account, as a key for it sees it. */
  const seen = (): Processor => ({
    ...bench.processor,
    knowsCustomer: (id) => {
      asked.push(id);
      return bench.processor.knowsCustomer(id);
    },
  });

  it('is asked nothing by a key that knows none of our customers, whatever is called', async () => {
    const own = guard(seen(), ['cus_a', 'cus_b']);
    const { requests: before } = await bench.state();
    const { enabled, ...calls } = own;
    assert.equal(enabled, true);
    for (const [name, call] of Object.entries(calls))
      await assert.rejects((call as () => Promise<unknown>)(), refused, name);
    assert.deepEqual([...new Set(asked)], ['cus_a', 'cus_b']);
    assert.deepEqual(
      (await bench.state()).requests,
      before,
      'that it does not know them is all that it said',
    );
    assert.match(told[0]?.message ?? '', /STRIPE_SECRET_KEY is of another account.* cus_a, cus_b\./);
  });

  it('is ours where it knows one of them, also one that was deleted there: it is asked about them once', async () => {
    const input = { userId: 'usr_left', email: 'left@example.com' };
    const { customerId: deleted } = await bench.processor.createCustomer(input);
    await bench.processor.deleteCustomer(deleted);
    for (const one of [known, deleted]) {
      const own = guard(seen(), ['cus_of_a_trial', one]);
      const read = () =>
        assert.rejects(own.getCard('pm_none'), { details: { code: 'resource_missing', status: 404 } });
      await read();
      await read();
      assert.deepEqual(asked.splice(0), ['cus_of_a_trial', one]);
      assert.deepEqual(told, []);
    }
  });

  it('may be any while nobody has paid, and is asked about the first customer then', async () => {
    const customers: string[] = [];
    const scripted = new ScriptedProcessor(true);
    scripted.answers = {
      knowsCustomer: () => Promise.resolve(false),
      detachCard: () => Promise.resolve(),
    };
    const own = guard(scripted.port, customers);
    await own.detachCard('pm_1');
    customers.push('cus_of_another_process');
    await assert.rejects(own.detachCard('pm_1'), refused);
  });

  it('is asked about by each call until one is answered: a check that hangs holds up no other', async () => {
    const scripted = new ScriptedProcessor(true);
    let answer: (isKnown: boolean) => void = () => undefined;
    const hung = new Promise<boolean>((resolve) => (answer = resolve));
    scripted.answers = {
      knowsCustomer: () => hung,
      detachCard: () => Promise.resolve(),
    };
    const own = guard(scripted.port, ['cus_1']);
    const late = own.detachCard('pm_1');
    scripted.answers.knowsCustomer = () => Promise.resolve(true);
    await own.detachCard('pm_2');
    answer(true);
    await late;
  });

  it('is not judged by a check that got no answer', async () => {
    const scripted = new ScriptedProcessor(true);
    const silent = new ProcessorError('unknown', 'no answer');
    scripted.answers = {
      knowsCustomer: () => Promise.reject(silent),
      detachCard: () => Promise.resolve(),
    };
    const own = guard(scripted.port, ['cus_1']);
    await assert.rejects(own.detachCard('pm_1'), silent);
    scripted.answers.knowsCustomer = () => Promise.resolve(true);
    await own.detachCard('pm_1');
    assert.deepEqual(told, []);
  });
});
