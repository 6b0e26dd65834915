import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '../../../adapters/ids.js';
import { verifyLedger } from '../../../adapters/postgres/ledger/verify.js';
import { makeKeyFile, type SigningKeys } from '../../../adapters/proof/signer.js';
import { sha256 } from '../../../adapters/proof/tree.js';
import { post } from '../../../money/ledger/post.js';
import { lockWalletOfUser } from '../../../money/ledger/wallets.js';
import { signNext } from '../../../ops/money/proof.js';
import { compare } from '../../../clients/cli/src/proof/compare.js';
import { judgeFile } from '../../../clients/cli/src/proof/judge.js';
import { startApi, type SignedIn, type TestApi } from '../../support/http/api.js';
import { insertRental } from '../../support/money/factories.js';
import { makeRoot, sealWhole, unsealWhole } from '../../support/money/sealed.js';

const judge = join(import.meta.dirname, '../../support/proof/judge_proof.py');
const hasPython = spawnSync('python3', ['--version']).status === 0;

interface Verdict {
  readonly verdict: 'good' | 'consistent' | 'bad';
  readonly entries: number;
  readonly balance: number;
  readonly root: string | undefined;
}

describe('the proof of a month', () => {
  let api: TestApi;
  let user: SignedIn;
  let folder: string;
  let keys: SigningKeys;
  let rootsFile: string;

  before(async () => {
    api = await startApi();
    await api.db.raw('select switch_sealing(true)');
    folder = mkdtempSync(join(tmpdir(), 'gpu-rental-proof-'));
    keys = { key: makeKeyFile(join(folder, 'key.pem')) };
    rootsFile = join(folder, 'roots');
  });
  beforeEach(async () => {
    user = await api.signIn();
  });
  after(async () => {
    await api.stop();
    rmSync(folder, { recursive: true });
  });

  const walletOf = async () => (await api.db('wallets').where({ user_id: user.user.id }).first())!;

  /** Writes top-ups (positive), charges of one rental (negative) and a note. */
  async function write(amounts: readonly number[]): Promise<void> {
    const rental = await insertRental(api.db, user.user.id);
    await api.db.transaction(async (trx) => {
      const wallet = await lockWalletOfUser(trx, user.user.id);
      for (const cents of amounts) {
        await post(trx, wallet, {
          availableCents: cents,
          cause: { kind: 'operation', operationId: newId('op') },
          ...(cents === 7 && { type: 'adjustment', note: 'for the outage, as told' }),
          ...(cents > 7 && { type: 'processor_topup', processorChargeId: 'ch_1' }),
          ...(cents < 0 && { type: 'rental_charge', rentalNo: rental.no }),
        } as never);
      }
    });
  }

  const seal = async (most = 4): Promise<void> => sealWhole(api.db, await walletOf(), most);

  /** What the night does, and the signer after it. */
  async function night(): Promise<void> {
    await makeRoot(api.db);
    while ((await signNext(api.db, keys, rootsFile)) !== undefined);
  }

  const month = (back: number): string => {
    const now = new Date();
    return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back)).toISOString().slice(0, 7);
  };
  const proof = async (of = month(1)) => {
    const answer = await user.get(`/v1/billing/proof?month=${of}`);
    return { ...answer, text: answer.body as unknown as string };
  };

  /** The verdict of `gpu verify`, and of a judge that knows docs/proof.md alone where there is Python: they must agree. */
  async function judged(text: string, ...roots: string[]): Promise<Verdict> {
    const file = join(folder, 'proof.txt');
    writeFileSync(file, text);
    const own = await judgeFile(file, { signal: new AbortController().signal, remembersSeals: false });
    const [verified] = compare([own], { hashes: roots, roots: [] });
    const verdict =
      verified!.verdict === 'good' || verified!.verdict === 'consistent' ? verified!.verdict : 'bad';
    if (hasPython) {
      const asked = [judge, file, ...roots.flatMap((root) => ['--root', root])];
      const { stdout } = spawnSync('python3', asked, { encoding: 'utf8' });
      const stranger = JSON.parse(stdout) as { verdict: string; finding: string | null };
      assert.equal(stranger.verdict, verdict, stranger.finding ?? '');
    }
    const { last: entries = 0, closingCents: balance = 0, root } = own.proof ?? {};
    return { verdict, entries, balance, root: root?.hash };
  }

  it('is good by judges that share no code, and tells each changed entry', async () => {
    await write([1_000, -1, -1, -2, 7, -1, 500, -1, -1, -1]);
    await seal();
    await night();
    const { status, text, headers } = await proof();
    assert.equal(status, 200, text);
    assert.match(headers.get('content-disposition') ?? '', new RegExp(`proof-${month(1)}\\.txt`));
    const { roots } = (await api.stranger().get('/v1/ledger/roots?after=0')).body as unknown as {
      roots: { line: string }[];
    };
    const hash = sha256(roots[0]!.line);
    const { id, available_cents: balance } = await walletOf();
    const good = await judged(text, hash);
    assert.deepEqual(good, { verdict: 'good', entries: 10, balance, root: hash });
    assert.equal((await judged(text)).verdict, 'consistent', 'nothing independent');
    assert.equal((await judged(text.replace('amounts 1000 -1', 'amounts 1001 -2'), hash)).verdict, 'bad');
    assert.ok(
      readFileSync(rootsFile, 'utf8').startsWith(roots[0]!.line),
      'the root lies outside of the database',
    );
    // Whoever owns the database changes an amount and all sums after it: the seals’ hashes tell.
    await api.db.raw('alter table ledger_seals disable trigger user');
    await api.db.raw(
      `update ledger_seals set amounts_cents[2] = amounts_cents[2] - 1, amounts_cents[3] = amounts_cents[3] + 1
        where wallet_id = ? and first_seq = 1`,
      [id],
    );
    await api.db.raw('alter table ledger_seals enable trigger user');
    assert.ok(
      (await verifyLedger(api.db, user.user.id)).some(({ detail }) => detail.includes('another hash')),
    );
    assert.equal((await judged((await proof()).text, hash)).verdict, 'bad');
  });

  it('is there for a wallet without entries, and for months before its first', async () => {
    await night();
    for (const back of [1, 14]) {
      const { text } = await proof(month(back));
      const { verdict, entries } = await judged(text);
      assert.deepEqual([verdict, entries], ['consistent', 0]);
    }
  });

  it('is not there before a root covers the month’s last entry, and says when to come again', async () => {
    await write([100]);
    await seal();
    for (const of of [month(1), month(0)]) {
      const { status, body, headers } = await proof(of);
      assert.deepEqual(
        [status, body.error, headers.get('retry-after')],
        [409, 'proof_not_ready', '3600'],
        of,
      );
    }
    await night();
    assert.equal((await proof()).status, 200);
    assert.equal((await proof(month(0))).status, 409, 'the month is not over');
    assert.equal((await proof('2026-13')).status, 400);
  });

  it('covers the same runs of numbers when they are sealed again, and is the same file', async () => {
    await write([1_000, -1, -1, 7, -1, -1]);
    await seal();
    await night();
    const { text } = await proof();
    const { id } = await walletOf();
    await unsealWhole(api.db, await walletOf());
    assert.equal((await proof()).status, 409, 'no seal is there');
    await write([-3]);
    await seal(1_000);
    assert.equal((await proof()).text, text);
    const seals = await api
      .db('ledger_seals')
      .where({ wallet_id: id })
      .orderBy('last_seq')
      .select('last_seq');
    assert.deepEqual(
      seals.map(({ last_seq: last }) => last),
      [4, 6, 7],
    );
  });

  it('is one of a tree in which others stand, and no path tells how many', async () => {
    const alone = user;
    await write([100]);
    await seal();
    for (let no = 0; no < 30; no += 1) {
      user = await api.signIn();
      await write([100 + no]);
      await seal();
    }
    await night();
    const path = (text: string): string[] => /^path (.*)$/m.exec(text)![1]!.split(' ');
    const others = path((await proof()).text);
    user = alone;
    const { text } = await proof();
    assert.equal(path(text).length, 64);
    assert.deepEqual(
      [new Set(path(text)).size, new Set(others).size],
      [64, 64],
      'what stands for nobody is chance',
    );
    assert.equal((await judged(text)).verdict, 'consistent');
  });
});
