import assert from 'node:assert/strict';
import { Told } from '../users/told.js';
import type { TruePayment } from '../world/truth.js';
import { judgeClosings } from './closings.js';
import type { Evidence } from './evidence.js';

const payment = { paymentId: 'pi_1', payerId: 'usr_1', status: 'succeeded', amountReceivedCents: 500 };
const closed = {
  ...{ user_id: 'usr_1', state: 'closed', waits: [], rentals: [], topups: [], late: [], may_spend: false },
  ...{ has_lapsed: '0', lapsed: '0', given: '0', used: '200', left: '0' },
};
const returned = {
  ...{ id: '7', user_id: 'usr_1', payment_id: 'pi_1', cents: '300', refund_id: 're_1', missing: '0' },
  ...{ had: '300', gone: '0', is_disputed: false },
};
const refund = {
  ...{ id: 're_1', amountCents: 300, isLive: true, isPending: false, key: 'closing-refund:usr_1:7' },
  payment: payment as TruePayment,
};

interface Given {
  readonly row?: object;
  readonly returns?: readonly object[];
  readonly refunds?: readonly object[];
  readonly disputes?: readonly object[];
  /** Tables that have the address. */
  readonly places?: readonly string[];
  readonly customers?: readonly string[];
  /** Payments that the processor's account does not know, and what operators decided about them. */
  readonly unknown?: readonly string[];
  readonly decisions?: Told['decisions'];
  /** It is long after the last fault. */
  readonly isLate?: boolean;
}

const usual = {
  ...{ row: {}, returns: [returned], refunds: [refund], disputes: [], places: [], customers: [] },
  ...{ unknown: [], decisions: [], isLate: false },
} satisfies Given;

async function judge(given: Given): Promise<string> {
  const { row, returns, refunds, disputes, places, customers, decisions, isLate, ...more } = {
    ...usual,
    ...given,
  };
  const said = new Told();
  said.closings.push({ email: 'ann@example.com', userId: 'usr_1', sentMs: 0, answeredMs: 1 });
  said.decisions.push(...decisions);
  const whole = { ...closed, ...row };
  const answers: readonly (readonly [string, readonly object[]])[] = [
    ['from closing_refunds x', returns],
    ['cross join lateral', [whole]],
    ['can_sign_in', whole.state === 'closed' ? [{ user_id: 'usr_1', can_sign_in: false }] : []],
    ['pg_class', [{ name: 'mail_outbox' }]],
    ['mail_outbox', places.map((name) => ({ name, email: 'ann@example.com' }))],
  ];
  const unknown = new Map(more.unknown.map((id) => [id, 'for good']));
  const truth = { payments: [payment], refunds, disputes, payers: customers };
  const found = await judgeClosings({
    ...{ told: said, machines: [], nowMs: 2, calmSinceMs: 0, refused: [] },
    ...(isLate && { stoodStill: { fromMs: 0, toMs: 1 } }),
    world: { processor: { truth, returns: { notRefundable: new Set(), unknown } } },
    ask: (sql: string) => Promise.resolve(answers.find(([part]) => sql.includes(part))?.[1]),
  } as unknown as Evidence);
  return found.join('\n');
}

describe('the oracle of closings', () => {
  it('has nothing against an account whose money went back once and whose person is gone', async () => {
    assert.equal(await judge({}), '');
    assert.equal(await judge({ isLate: true }), '');
    const lapsed = { given: '250', lapsed: '50', has_lapsed: '50' };
    assert.equal(await judge({ row: lapsed }), '');
  });

  it('finds money that went back twice, or of which no row tells', async () => {
    const again = { ...refund, id: 're_2', key: 'closing-refund:usr_1:7:1' };
    assert.match(await judge({ refunds: [refund, again] }), /re_2 .* has 0 rows of closings/);
    assert.match(await judge({ refunds: [refund, again] }), /usr_1:7 went back 2 times/);
    assert.match(await judge({ returns: [] }), /re_1 .* has 0 rows of closings/);
    assert.match(await judge({ refunds: [] }), /re_1 never was/);
    assert.match(await judge({ refunds: [{ ...refund, amountCents: 301 }] }), /is another one in its row/);
  });

  it('finds money that was asked for and was not there, or was denied', async () => {
    assert.match(await judge({ returns: [{ ...returned, had: '299' }] }), /the wallet had 299/);
    assert.match(await judge({ returns: [{ ...returned, gone: '201' }] }), /300 of 500 cents, of which 201/);
    assert.match(await judge({ returns: [{ ...returned, is_disputed: true }] }), /had denied it/);
    assert.match(await judge({ returns: [{ ...returned, missing: '1' }] }), /1 of 300 cents were not/);
  });

  it('finds money that is left, or lapsed though it was paid in', async () => {
    assert.match(await judge({ row: { left: '1' } }), /1 cents are left/);
    assert.match(await judge({ row: { lapsed: '1', has_lapsed: '1' } }), /only 0 were given/);
    assert.match(await judge({ row: { given: '250' } }), /only 0 lapsed/);
    assert.match(await judge({ row: { lapsed: '1', given: '1' } }), /its row says 0/);
  });

  it('finds what goes on or begins as an account closes', async () => {
    assert.match(await judge({ row: { late: ['rent_1'] } }), /rent_1 began after/);
    assert.match(await judge({ row: { rentals: ['rent_1'] } }), /rent_1 is not closed/);
    assert.match(await judge({ row: { may_spend: true } }), /still spends its money/);
  });

  it('finds a wait for what is not so, and a closing that stands still', async () => {
    const waiting = (wait: string) => ({
      row: { state: 'returning', waits: [wait], left: '200' },
      isLate: true,
    });
    assert.match(await judge(waiting('disputes')), /waits for disputes, and there is none/);
    assert.match(await judge(waiting('processor')), /waits for processor/);
    assert.match(await judge(waiting('refused_refunds')), /waits for refused_refunds/);
    const whole = { ...refund, amountCents: 500 };
    assert.equal(await judge({ ...waiting('refused_refunds'), refunds: [whole] }), '');
    const open = { payment, isOpen: true, withdrawn: true, reinstated: false };
    assert.equal(await judge({ ...waiting('disputes'), disputes: [open] }), '');
    assert.match(await judge({ row: { state: 'erasing' }, isLate: true }), /stands still/);
  });

  it('finds what operators were told falsely of payments of another account', async () => {
    const of = (amountCents: number, cents: number) => ({
      ...{ row: { state: 'returning', waits: ['refused_refunds'] }, isLate: true, refunds: [] },
      ...{ unknown: ['pi_1'], returns: [] },
      decisions: [{ userId: 'usr_1', amountCents, shares: [{ paymentId: 'pi_1', cents }] }],
    });
    const left = { state: 'returning', waits: ['refused_refunds'], left: '300' };
    assert.equal(await judge({ ...of(300, 300), row: left, decisions: [] }), '');
    assert.match(await judge(of(300, 300)), /waits for refused_refunds/);
    assert.match(await judge(of(300, 200)), /100 cents were told that a card takes/);
    assert.match(await judge(of(300, 400)), /100 cents more than was told/);
    assert.match(await judge(of(600, 600)), /600 of 500 cents of pi_1/);
    assert.match(await judge({ ...of(300, 300), unknown: [] }), /pi_1 is known/);
  });

  it('finds what is left of a person', async () => {
    assert.match(
      await judge({ places: ['mail_outbox'] }),
      /ann@example.com is erased, and stands in mail_outbox/,
    );
    assert.match(await judge({ customers: ['usr_1'] }), /still a customer/);
  });
});
