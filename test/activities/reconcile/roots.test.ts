import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listFindings } from '../../../adapters/postgres/reconcile/findings.js';
import { makeKeyFile, type SigningKeys } from '../../../adapters/proof/signer.js';
import type { ReconcileScope } from '../../../domain/operations/reconcile.js';
import { signNext } from '../../../ops/money/proof.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { insertWallet } from '../../support/money/money.js';
import { makeRoot, sealWhole } from '../../support/money/sealed.js';
import { tamper } from '../../support/story/reconciling.js';

describe('reconcile, of the proof’s roots', () => {
  let activities: LoneActivities;
  let folder: string;
  let keys: SigningKeys;
  before(async () => {
    activities = await startActivities();
    folder = mkdtempSync(join(tmpdir(), 'gpu-rental-reconcile-roots-'));
    keys = { key: makeKeyFile(join(folder, 'key.pem')) };
    await insertWallet(activities.db, 100);
    for (let night = 0; night < 2; night += 1) {
      await makeRoot(activities.db);
      await signNext(activities.db, keys, join(folder, 'roots'));
    }
  });
  after(async () => {
    await activities.close();
    rmSync(folder, { recursive: true });
  });

  /** Compares the ledger. @returns what stands then */
  async function compare(scope: ReconcileScope): Promise<unknown[]> {
    const { runId, sources } = await activities.run('beginReconcile', scope);
    const input = { runId, source: 'ledger', scope, graceMs: 0, confirmMs: 1 } as const;
    assert.equal((await activities.run('compareSource', input)).why, null);
    await activities.run('finishReconcile', runId, sources);
    const standing = await listFindings(activities.db, ['open'], 10);
    return standing
      .filter(({ kind }) => kind === 'root_broken')
      .map(({ subject, evidence }) => [subject, evidence['detail']]);
  }

  const flipTree = 'set_byte(tree, 3, 255 - get_byte(tree, 3))';
  const rewritten: readonly (readonly [column: string, change: string, back: string, detail: string])[] = [
    [
      'signature',
      `translate(signature, '0123456789abcdef', '123456789abcdef0')`,
      `translate(signature, '123456789abcdef0', '0123456789abcdef')`,
      'is not signed by its key',
    ],
    [
      'tree',
      flipTree,
      flipTree,
      'says another thing than its row, or does not follow from the root before it',
    ],
  ];
  for (const [column, change, back, detail] of rewritten) {
    it(`finds a ${column} that was rewritten in a full run, and sees it mended by the next run of any scope`, async () => {
      const rewrite = (to: string) =>
        tamper(activities.db, 'ledger_roots', (trx) =>
          trx('ledger_roots')
            .where({ number: 1 })
            .update({ [column]: trx.raw(to) }),
        );
      assert.deepEqual(await compare('full'), []);
      await rewrite(change);
      assert.deepEqual(await compare('window'), [], 'the next full run looks at the roots');
      for (const scope of ['full', 'window'] as const)
        assert.deepEqual(await compare(scope), [['root:1', detail]], scope);
      await rewrite(back);
      assert.deepEqual(await compare('window'), []);
    });
  }

  it('finds seals whose hashes were rewritten once a root was looked at, until they are mended, by whichever later root', async () => {
    const { db } = activities;
    const rewrite = () =>
      tamper(db, 'ledger_hashes', (trx) =>
        trx('ledger_hashes').update({ hash: trx.raw('set_byte(hash, 3, 255 - get_byte(hash, 3))') }),
      );
    const night = async (): Promise<void> => {
      await makeRoot(db);
      await signNext(db, keys, join(folder, 'roots'));
    };
    await db.raw('select switch_sealing(true)');
    await sealWhole(db, (await db('wallets').first())!);
    await night();
    assert.deepEqual(await compare('full'), []);
    await rewrite();
    await night();
    const found = [['root:3', 'has another tree than the seals that it covers']];
    assert.deepEqual(await compare('full'), found);
    await night();
    await night();
    for (const scope of ['window', 'full'] as const) assert.deepEqual(await compare(scope), found, scope);
    await rewrite();
    const later = [5, 6].map((no) => [`root:${no}`, found[0]![1]]);
    assert.deepEqual(await compare('full'), later, 'those two were made of what was wrong');
  });
});
