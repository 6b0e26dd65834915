import assert from 'node:assert/strict';
import {
  isOperationRentalSql,
  operationRentalCauseSql,
  paymentCauseSql,
  paymentOfCauseSql,
  reversalCausesSql,
  settlementCauseSql,
} from '../../../../adapters/postgres/ledger/cause-sql.js';
import { newId } from '../../../../adapters/ids.js';
import { causeOf } from '../../../../domain/causes.js';
import { insertWallet, openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';

describe('causes in SQL', () => {
  let database: MoneyDatabase;
  before(async () => {
    database = await openMoneyDatabase();
  });
  after(() => database.close());

  async function read(sql: string, text = ''): Promise<unknown> {
    const { rows } = await database.db.raw<{ rows: { value: unknown }[] }>(
      `select ${sql} as value from (select ?::text as t) x`,
      [text],
    );
    return rows[0]?.value;
  }

  const [operationId, rentalId] = [newId('op'), newId('rent')];

  it('are the texts that are written', async () => {
    for (const paymentId of ['pi_1', `p'i%:`]) {
      assert.equal(await read(paymentCauseSql('t'), paymentId), causeOf({ kind: 'payment', paymentId }));
    }
    assert.equal(await read(settlementCauseSql('t'), rentalId), causeOf({ kind: 'settlement', rentalId }));
    assert.equal(
      await read(operationRentalCauseSql(`'${operationId}'`, 't'), rentalId),
      causeOf({ kind: 'operation_rental', operationId, rentalId }),
    );
  });

  it('of a refund or a dispute are all that may be written of it', async () => {
    for (const reversal of ['refund', 'dispute'] as const) {
      const id = 're_1';
      // The first round has a number where it found nothing left of the payment.
      const rounds = [null, ...Array.from({ length: 20 }, (_, at) => at + 1)];
      const expected = [
        ...rounds.map((round) => causeOf({ kind: 'reversal', reversal, id, round })),
        causeOf({ kind: 'reversal_returned', reversal, id }),
      ];
      const causes = (await read(reversalCausesSql(`'${reversal}'`, 't'), id)) as string[];
      assert.deepEqual([...causes].sort(), expected.sort());
    }
  });

  it('are told from those of other kinds', async () => {
    const payment = causeOf({ kind: 'payment', paymentId: 'pi_1' });
    const ofRental = causeOf({ kind: 'operation_rental', operationId, rentalId });
    const ofUser = causeOf({ kind: 'operation_user', operationId, userId: newId('usr') });
    const alone = causeOf({ kind: 'operation', operationId });
    for (const text of [payment, ofRental, ofUser, alone, 'payments:pi_1']) {
      assert.equal(await read(paymentOfCauseSql('t'), text), text === payment ? 'pi_1' : null, text);
      assert.equal(await read(isOperationRentalSql('t'), text), text === ofRental, text);
    }
  });

  it('are found by the primary key', async () => {
    await insertWallet(database.db, 100);
    const { rows } = await database.db.transaction(async (trx) => {
      // The table of a test is too small for a plan to be worth an index.
      await trx.raw('set local enable_seqscan = off');
      return trx.raw<{ rows: Record<'QUERY PLAN', string>[] }>(
        `explain select c.seq from (values ('pi_1'), ('pi_2')) d (id)
           join ledger_causes c on c.cause = ${paymentCauseSql('d.id')}
         union all select seq from ledger_causes where cause = any (${reversalCausesSql(`'refund'`, `'re_1'`)})`,
      );
    });
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    assert.equal(plan.match(/using ledger_causes_pkey|on ledger_causes_pkey/g)?.length, 2, plan);
  });
});
