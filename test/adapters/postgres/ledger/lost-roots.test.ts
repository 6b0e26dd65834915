import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { listRoots } from '../../../../adapters/postgres/ledger/roots.js';
import { verifyRoots } from '../../../../adapters/postgres/ledger/verify-roots.js';
import { makeKeyFile } from '../../../../adapters/proof/signer.js';
import { signNext } from '../../../../ops/money/proof.js';
import { ProvenHistory } from '../../../support/proof/proven-history.js';
import { tamper } from '../../../support/story/reconciling.js';

const DAY = 86_400_000;
const BEGUN = Date.UTC(2026, 0, 1);

describe('roots that a restore lost', () => {
  let history: ProvenHistory;
  let day = 0;
  /** The roots' lines in the signer's file when they were lost. */
  let lost: string[];

  before(async () => {
    history = await ProvenHistory.start();
    await history.open(1);
    await nights(2);
    // What is signed after a backup is lost, once with another key, and once with a restore before it.
    await history.backUp(at());
    await nights(1);
    history.changeKey();
    await nights(1);
    await history.restore(at());
    await history.backUp(at());
    await nights(2);
    await history.restore(at());
    lost = linesOfFile().slice(2);
  });
  after(() => history.close());

  const at = (): number => BEGUN + day * DAY;

  async function nights(count: number): Promise<void> {
    for (let night = 0; night < count; night += 1) {
      day += 1;
      await history.at(at());
      await history.beginRoot();
      await history.sign();
    }
  }

  const linesOfFile = (): string[] => readFileSync(history.rootsFile, 'utf8').match(/^root .*\n/gm) ?? [];
  const published = async (): Promise<string[]> =>
    (await listRoots(history.db, 0, 100)).map(({ line }) => line);
  const faults = async (): Promise<string[]> =>
    (await verifyRoots(history.db)).map(({ root, detail }) => `${root}: ${detail}`);

  it('are read back with the first one after it, in whichever order they went', async () => {
    assert.deepEqual([lost.length, (await published()).length], [4, 2]);
    await nights(1);
    const lines = await published();
    assert.deepEqual(lines, linesOfFile());
    for (const [index, line] of lines.entries()) {
      const before = lines[index - 1];
      const hash = before === undefined ? '0'.repeat(64) : createHash('sha256').update(before).digest('hex');
      assert.equal(line.split(' ')[6], hash, line);
    }
    assert.deepEqual(
      (await listRoots(history.db, 0, 100)).flatMap(({ line, signedAt }) => (signedAt ? [] : [line])),
      lost,
    );
    assert.deepEqual(await faults(), []);
    await nights(1);
    assert.deepEqual([(await history.db('lost_roots')).length, await faults()], [4, []]);
  });

  it('are not signed over by a signer whose file is missing, or older than the database', async () => {
    day += 1;
    await history.at(at());
    await history.beginRoot();
    const key = makeKeyFile(`${history.rootsFile}.key`);
    const older = `${history.rootsFile}.older`;
    for (const text of [
      '',
      readFileSync(history.rootsFile, 'utf8')
        .split(/^(?=root )/m)
        .slice(0, -1)
        .join(''),
    ]) {
      writeFileSync(older, text);
      await assert.rejects(signNext(history.db, { key }, older), /older holds no root \d+ as the database/);
      assert.equal(readFileSync(older, 'utf8'), text);
    }
    await history.sign();
    assert.deepEqual([await published(), await faults()], [linesOfFile(), []]);
  });

  it('are listed in pages', async () => {
    const numbers = (await listRoots(history.db, 0, 100)).map(({ number }) => number);
    const pages: number[] = [];
    for (let page = [0]; page.length > 0; pages.push(...page))
      page = (await listRoots(history.db, pages.at(-1) ?? 0, 3)).map(({ number }) => number);
    assert.deepEqual(pages, numbers);
  });

  it('are found where anybody changed one afterwards, or took one out', async () => {
    const rows = await history.db('lost_roots').orderBy('number');
    const ofNewKey = rows.find(({ endorsed }) => endorsed !== null)!.number;
    const changes = {
      'a line': `update lost_roots set line = replace(line, ' 2026-', ' 2031-') where number = ${ofNewKey}`,
      'a signature': `update lost_roots set signature = reverse(signature) where number = ${ofNewKey}`,
      'an endorsement': `update lost_roots set endorsed = reverse(endorsed) where number = ${ofNewKey}`,
      'the newest one': `delete from lost_roots where number = ${rows.at(-1)!.number}`,
      'one before it': `delete from lost_roots where number = ${rows.at(-2)!.number}`,
    };
    for (const [what, change] of Object.entries(changes)) {
      await tamper(history.db, 'lost_roots', (trx) => trx.raw(change));
      assert.notDeepEqual(await faults(), [], what);
      await tamper(history.db, 'lost_roots', async (trx) => {
        await trx('lost_roots').del();
        await trx('lost_roots').insert(rows);
      });
    }
    assert.deepEqual(await faults(), []);
  });

  it('stay as they are for whoever writes by the rules', async () => {
    for (const change of [
      `delete from lost_roots`,
      `update lost_roots set line = line`,
      `insert into lost_roots (number, line, signature) values (7, 'root 1 8 1', '')`,
    ])
      await assert.rejects(history.db.raw(change), { code: '23514' }, change);
  });
});
