import assert from 'node:assert/strict';
import fc from 'fast-check';
import { newId } from '../../../adapters/ids.js';
import { replaceLabels } from '../../../adapters/postgres/rentals/words.js';
import { post } from '../../../money/ledger/post.js';
import { lockWalletOfUser } from '../../../money/ledger/wallets.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertRental } from '../../support/money/factories.js';

const BEGIN = Date.parse('2026-01-01T00:00:00Z');

describe('a statement and the ledger as CSV', () => {
  let api: TestApi;
  let user: SignedIn;
  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    user = await api.signIn();
  });
  after(() => api.stop());

  /** Writes top-ups (positive) and charges of one rental (negative), a minute apart. */
  async function write(amounts: readonly number[], apartMs = 60_000): Promise<void> {
    const rental = await insertRental(api.db, user.user.id);
    await api.db.transaction(async (trx) => {
      const wallet = await lockWalletOfUser(trx, user.user.id);
      for (const cents of amounts) {
        await post(trx, wallet, {
          availableCents: cents,
          cause: { kind: 'operation', operationId: newId('op') },
          ...(cents > 0
            ? { type: 'processor_topup', processorChargeId: 'ch_1' }
            : { type: 'rental_charge', rentalNo: rental.no }),
        });
      }
      await trx.raw('alter table ledger_entries disable trigger user');
      await trx('ledger_entries')
        .where({ wallet_id: wallet.id })
        .update({
          created_at: trx.raw(`to_timestamp(? / 1000.0) + (seq - 1) * ? * interval '1 millisecond'`, [
            BEGIN,
            apartMs,
          ]),
        });
      await trx.raw('alter table ledger_entries enable trigger user');
    });
  }

  const at = (minutes: number): string => new Date(BEGIN + minutes * 60_000).toISOString();

  function statement(from: string, to: string) {
    return user.get(`/v1/billing/statement?${new URLSearchParams({ from, to }).toString()}`);
  }

  it('tells opening, sums per type and rental, and closing', async () => {
    await write([1_000, -10, -20, 500, -30]);
    const { body, status } = await statement(at(1), at(4));
    assert.equal(status, 200);
    const { rentals, ...rest } = body as unknown as { rentals: Record<string, unknown>[] };
    assert.deepEqual(rest, {
      ...{ from: at(1), to: at(4), openingBalanceCents: 1_000, closingBalanceCents: 1_470 },
      totals: [
        { type: 'processor_topup', entries: 1, amountCents: 500 },
        { type: 'rental_charge', entries: 2, amountCents: -30 },
      ],
    });
    assert.deepEqual(rentals, [
      { rentalId: rentals[0]!['rentalId'], entries: 2, chargedCents: 30, refundedCents: 0, amountCents: -30 },
    ]);
  });

  it('includes entries at its beginning instant, and none at its end instant', async () => {
    await write([100, 200, 300]);
    const { body } = await statement(at(1), at(2));
    const { openingBalanceCents, closingBalanceCents } = body as unknown as Record<string, number>;
    assert.deepEqual([openingBalanceCents, closingBalanceCents], [100, 300]);
  });

  it('is empty and balanced before the first entry, after the last, and for a wallet without any', async () => {
    const empty = { totals: [], rentals: [] };
    const none = (await statement(at(0), at(1))).body;
    assert.deepEqual(none, {
      ...{ from: at(0), to: at(1), openingBalanceCents: 0, closingBalanceCents: 0, ...empty },
    });
    await write([100, 200]);
    const before = (await statement('2025-01-01', '2025-02-01')).body as unknown as Record<string, number>;
    assert.deepEqual([before['openingBalanceCents'], before['closingBalanceCents']], [0, 0]);
    const after = (await statement('2027-01-01', '2027-02-01')).body as unknown as Record<string, number>;
    assert.deepEqual([after['openingBalanceCents'], after['closingBalanceCents']], [300, 300]);
  });

  it('agrees with the chain for any ledger and any two instants, and joins with the next one', async () => {
    const amounts = fc.array(fc.oneof(fc.integer({ min: 1, max: 900 }), fc.integer({ min: -9, max: -1 })), {
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(amounts, fc.nat(40), fc.nat(40), fc.nat(40), async (wanted, a, b, c) => {
        user = await api.signIn();
        await write([1_000, ...wanted]);
        const [first, second, third] = [a, b + 50, c + 100];
        const one = (await statement(at(first), at(second))).body as unknown as Sums;
        const two = (await statement(at(second), at(third))).body as unknown as Sums;
        for (const each of [one, two]) {
          const moved = each.totals.reduce((total, { amountCents }) => total + amountCents, 0);
          assert.equal(each.openingBalanceCents + moved, each.closingBalanceCents);
        }
        assert.equal(one.closingBalanceCents, two.openingBalanceCents);
        const expected = [1_000, ...wanted].slice(0, first).reduce((total, cents) => total + cents, 0);
        assert.equal(one.openingBalanceCents, expected);
      }),
      { numRuns: 15 },
    );
  });

  it('sums by a label to the cent, rentals without it and other entries apart', async () => {
    const labels = fc.array(fc.option(fc.constantFrom('a', 'b', '')), { minLength: 1, maxLength: 4 });
    const entries = fc.array(
      fc.record({ of: fc.option(fc.nat(3)), cents: fc.integer({ min: 1, max: 9 }), isRefund: fc.boolean() }),
      { maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(labels, entries, async (teams, wanted) => {
        user = await api.signIn();
        const rentals = await Promise.all(teams.map(() => insertRental(api.db, user.user.id)));
        const expected = new Map([['other', 1_000]]);
        await api.db.transaction(async (trx) => {
          for (const [index, team] of teams.entries()) {
            if (team !== null) await replaceLabels(trx, rentals[index]!, { team, noise: 'x' });
          }
          const wallet = await lockWalletOfUser(trx, user.user.id);
          await post(trx, wallet, topup(1_000));
          for (const wish of wanted) {
            const place = wish.of === null ? null : wish.of % teams.length;
            const entry = place === null ? adjustment(wish) : ofRental(wish, rentals[place]!.no);
            await post(trx, wallet, entry);
            const group = place === null ? 'other' : groupOf(teams[place] ?? null);
            expected.set(group, (expected.get(group) ?? 0) + entry.availableCents);
          }
        });
        const path = '/v1/billing/statement?from=2020-01-01&to=2100-01-01';
        const { groups, ...rest } = (await user.get(`${path}&groupBy=label:team`)).body as unknown as Grouped;
        assert.deepEqual(rest, (await user.get(path)).body);
        const shown = groups.map(({ kind, value, amountCents }) => [
          value === null ? kind : `${kind} ${value}`,
          amountCents,
        ]);
        assert.deepEqual(new Map(shown as [string, number][]), expected);
        const sum = (all: readonly { amountCents: number }[]) =>
          all.reduce((total, { amountCents }) => total + amountCents, 0);
        assert.equal(sum(groups), sum(rest.totals));
        for (const { kind, chargedCents, refundedCents, amountCents } of groups) {
          assert.equal(kind === 'other' ? 0 : amountCents, refundedCents - chargedCents);
        }
      }),
      { numRuns: 20 },
    );
  });

  const refused: [why: string, query: string, field: string][] = [
    ['a grouping by anything but a label', 'from=2026-01-01&to=2026-01-02&groupBy=model', 'groupBy'],
    ['a grouping by no key', 'from=2026-01-01&to=2026-01-02&groupBy=label:', 'groupBy'],
    ['no beginning', 'to=2026-01-01', 'from'],
    ['no end', 'from=2026-01-01', 'to'],
    ['an end before the beginning', 'from=2026-01-02&to=2026-01-01', 'to'],
    ['an instant without an offset', 'from=2026-01-01T00:00:00&to=2026-01-02', 'from'],
    ['a day that does not exist', 'from=2026-13-01&to=2027-01-02', 'from'],
    ['a year of five digits', 'from=2026-01-01&to=%2B010000-01-01T00:00:00Z', 'to'],
    ['an offset that leads into one', 'from=2026-01-01&to=9999-12-31T23:59:59-01:00', 'to'],
    ['an offset that leads before the first year', 'from=0001-01-01T00:00:00%2B01:00&to=2026-01-02', 'from'],
    ['words', 'from=yesterday&to=2026-01-02', 'from'],
  ];
  for (const [why, query, field] of refused) {
    it(`refuses ${why}, and names the field`, async () => {
      const { status, body } = await user.get(`/v1/billing/statement?${query}`);
      assert.deepEqual([status, body.error], [400, 'validation_failed']);
      const { fields } = body.details as unknown as { fields: { field: string }[] };
      assert.deepEqual(
        fields.map((fault) => fault.field),
        [field],
      );
    });
  }

  async function csv(query = ''): Promise<string[]> {
    const { status, headers, body } = await user.get(`/v1/billing/ledger.csv${query}`);
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8');
    // Whatever leads here names the file.
    assert.equal(headers.get('content-disposition'), 'attachment');
    const text = body as unknown as string;
    assert.ok(text.endsWith('\r\n'));
    return text.slice(0, -2).split('\r\n');
  }

  it('is a CSV file of all entries, oldest first, each as the ledger shows it', async () => {
    await write([1_000, -10]);
    const [header, ...lines] = await csv();
    assert.equal(header, 'id,createdAt,type,amountCents,balanceAfterCents,rentalId,processorChargeId');
    const { entries } = (await user.get('/v1/billing/ledger')).body as unknown as {
      entries: Record<string, string | number | undefined>[];
    };
    assert.deepEqual(
      lines,
      entries.reverse().map((entry) =>
        header
          .split(',')
          .map((column) => String(entry[column] ?? ''))
          .join(','),
      ),
    );
  });

  it('is a CSV file of one day where asked for, and of nothing but its header for none', async () => {
    await write([1_000, -10, -20], 86_400_000);
    const [, ...lines] = await csv('?from=2026-01-02&to=2026-01-03');
    assert.deepEqual(
      lines.map((line) => line.split(',')[3]),
      ['-10'],
    );
    user = await api.signIn();
    assert.equal((await csv()).length, 1);
  });

  it('streams 20,000 entries in order without holding them all, and stops when the client goes', async () => {
    await write([100_000]);
    const wallet = (await api.db('wallets').where({ user_id: user.user.id }).first())!;
    await api.db.transaction(async (trx) => {
      await trx.raw(
        `with e as (
           insert into ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, rental_no, created_at)
           select :id, n, 'rental_charge', -1, 100000 - n + 1, 1, clock_ms() from generate_series(2, 20001) n)
         update wallets set available_cents = 100000 - 20000, seq = 20001 where id = :id`,
        { id: wallet.id },
      );
    });
    const lines = await csv();
    assert.equal(lines.length, 20_002);
    const balances = lines.slice(1).map((line) => Number(line.split(',')[4]));
    assert.ok(balances.every((cents, index) => index === 0 || cents === balances[index - 1]! - 1));

    const response = await fetch(`${api.url}/v1/billing/ledger.csv`, {
      headers: { cookie: `sid=${user.sid ?? ''}` },
    });
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
    assert.equal((await user.get('/v1/billing/balance')).status, 200, 'the API goes on');
  });
});

function topup(cents: number) {
  return {
    type: 'processor_topup' as const,
    availableCents: cents,
    cause: { kind: 'operation' as const, operationId: newId('op') },
  };
}

interface Wish {
  readonly cents: number;
  readonly isRefund: boolean;
}

function byHand() {
  return { cause: { kind: 'operation' as const, operationId: newId('op') } };
}

function adjustment({ cents }: Wish) {
  return { ...byHand(), type: 'adjustment' as const, availableCents: cents };
}

function ofRental({ cents, isRefund }: Wish, rentalNo: number) {
  return isRefund
    ? { ...byHand(), type: 'refund' as const, availableCents: cents, rentalNo }
    : { ...byHand(), type: 'rental_charge' as const, availableCents: -cents, rentalNo };
}

function groupOf(team: string | null): string {
  return team === null ? 'unlabelled' : `label ${team}`;
}

interface Grouped extends Sums {
  readonly groups: {
    readonly kind: string;
    readonly value: string | null;
    readonly chargedCents: number;
    readonly refundedCents: number;
    readonly amountCents: number;
  }[];
}

interface Sums {
  readonly openingBalanceCents: number;
  readonly closingBalanceCents: number;
  readonly totals: { readonly amountCents: number }[];
}
