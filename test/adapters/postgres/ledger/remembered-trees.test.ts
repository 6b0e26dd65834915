import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../../../../adapters/postgres/database.js';
import { linesOfProof, type Proof } from '../../../../adapters/postgres/ledger/proof.js';
import { listRoots, type PublishedRoot } from '../../../../adapters/postgres/ledger/roots.js';
import type { WalletRow } from '../../../../adapters/postgres/rows/tables.js';
import { makeKeyFile } from '../../../../adapters/proof/signer.js';
import { signNext } from '../../../../ops/money/proof.js';
import { insertWallet, openMoneyDatabase, type MoneyDatabase } from '../../../support/money/money.js';
import { makeRoot, sealWhole } from '../../../support/money/sealed.js';
import { tamper } from '../../../support/story/reconciling.js';

describe('the trees of roots, as files are made of them', () => {
  let opened: MoneyDatabase;
  let db: Database;
  let folder: string;
  let wallets: WalletRow[];
  let roots: PublishedRoot[];
  /** How often the nodes of a tree were read, by which it is computed. */
  let computed = 0;

  before(async () => {
    opened = await openMoneyDatabase();
    ({ db } = opened);
    folder = mkdtempSync(join(tmpdir(), 'gpu-rental-trees-'));
    const keys = { key: makeKeyFile(join(folder, 'key.pem')) };
    await db.raw('select switch_sealing(true)');
    wallets = [await insertWallet(db, 100), await insertWallet(db, 200)];
    for (const wallet of wallets) await sealWhole(db, wallet);
    for (let night = 0; night < 6; night += 1) {
      await makeRoot(db);
      await signNext(db, keys, join(folder, 'roots'));
    }
    roots = await listRoots(db, 0, 10);
    db.on(
      'query',
      ({ sql }: { sql: string }) => (computed += sql.includes('select "nodes", "salt"') ? 1 : 0),
    );
  });
  beforeEach(() => {
    computed = 0;
  });
  after(async () => {
    await opened.close();
    rmSync(folder, { recursive: true });
  });

  /** The file of a wallet under a root, both counted from 0. */
  async function fileOf(walletNo: number, rootNo: number): Promise<string> {
    const { id: walletId } = wallets[walletNo]!;
    const { proof_id: proofId, place } = (await db('wallet_proof_ids')
      .where({ wallet_id: walletId })
      .first())!;
    const proof: Proof = { walletId, proofId, place, seals: [1], root: roots[rootNo]! };
    let text = '';
    for await (const part of linesOfProof(db, proof, '2026-10')) text += part;
    return text;
  }

  it('are computed once for all wallets, and files stay the same', async () => {
    const first = await fileOf(0, 0);
    await fileOf(1, 0);
    assert.equal(await fileOf(0, 0), first);
    assert.equal(computed, 1);
    assert.notEqual(await fileOf(0, 1), first, 'another root has a tree of its own');
    assert.equal(computed, 2);
  });

  it('are remembered while they are among the four that were asked for last', async () => {
    for (const root of [1, 2, 3, 4]) await fileOf(0, root);
    computed = 0;
    for (const root of [4, 3, 2, 1]) await fileOf(1, root);
    assert.equal(computed, 0);
    await fileOf(0, 5);
    await fileOf(0, 1);
    assert.equal(computed, 1, 'the fourth of before is the first that goes');
    await fileOf(0, 4);
    assert.equal(computed, 2);
  });

  it('are not remembered where they were changed by hand', async () => {
    const flip = () =>
      tamper(db, 'ledger_roots', (trx) =>
        trx('ledger_roots')
          .where({ number: 1 })
          .update({ nodes: trx.raw('set_byte(nodes, 3, 255 - get_byte(nodes, 3))') }),
      );
    for (const root of [2, 3, 4, 5]) await fileOf(0, root);
    const right = await fileOf(0, 0);
    for (const root of [2, 3, 4, 5]) await fileOf(0, root);
    await flip();
    assert.notEqual(await fileOf(0, 0), right);
    await flip();
    assert.equal(await fileOf(0, 0), right);
  });
});
