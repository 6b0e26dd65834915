import assert from 'node:assert/strict';
import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  makeKeyFile,
  publicHexOf,
  readKeyFile,
  signRoot,
  type RootToSign,
} from '../../../adapters/proof/signer.js';
import { noHash, sha256 } from '../../../adapters/proof/tree.js';

describe('the signer of roots', () => {
  let folder: string;
  let file: string;
  let key: KeyObject;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gpu-rental-signer-'));
    file = join(folder, 'roots');
    key = makeKeyFile(join(folder, 'key.pem'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const root = (number: number, epoch = 1, tree = sha256(String(number))): RootToSign => ({
    ...{ number, epoch, facts: `${number} ${epoch} 2026-11-0${number % 10} ${tree}`, lineBefore: null },
  });
  const lines = (): string[] => readFileSync(file, 'utf8').split('\n').slice(0, -1);

  it('signs root after root, and writes each to its file', () => {
    const [first, second] = [signRoot(root(1), { key }, file), signRoot(root(2), { key }, file)];
    assert.equal(first.line, `root 1 1 1 2026-11-01 ${sha256('1')} ${noHash} ${publicHexOf(key)}\n`);
    assert.equal(
      second.line,
      `root 1 2 1 2026-11-02 ${sha256('2')} ${sha256(first.line)} ${publicHexOf(key)}\n`,
    );
    for (const { line, signature } of [first, second])
      assert.ok(verify(null, Buffer.from(line), createPublicKey(key), Buffer.from(signature, 'hex')));
    assert.deepEqual(
      lines(),
      [first, second].flatMap(({ line, signature }) => [line.trimEnd(), `signature ${signature}`]),
    );
  });

  it('signs a root once, also when it ended before the database knew', () => {
    const first = signRoot(root(1), { key }, file);
    assert.deepEqual(signRoot(root(1), { key }, file), first);
    assert.equal(lines().length, 2);
  });

  it('gives a root again that was signed after the backup from which the database comes', () => {
    const [first] = [1, 2].map((number) => signRoot(root(number), { key }, file));
    assert.deepEqual(signRoot(root(1), { key }, file), first);
    const restored = signRoot(root(9, 9), { key }, file);
    assert.match(restored.line, /^root 1 9 9 /);
    assert.equal(lines().length, 6);
  });

  it('signs no root that does not follow: of a database that was restored, or of another one', () => {
    for (const number of [1, 2]) signRoot(root(number), { key }, file);
    const before = lines();
    for (const other of [root(4), root(1, 1, sha256('other')), root(2, 1, sha256('other'))])
      assert.throws(() => signRoot(other, { key }, file), /ends with root 2 of epoch 1/);
    // A database that was restored to root 1 steps over numbers.
    signRoot(root(1_002, 2), { key }, file);
    assert.throws(() => signRoot(root(1_003), { key }, file), /of epoch 2/);
    assert.deepEqual(lines().slice(0, 4), before);
  });

  it('goes on with another key only by the word of the key before', () => {
    signRoot(root(1), { key }, file);
    const next = makeKeyFile(join(folder, 'next.pem'));
    assert.throws(() => signRoot(root(2), { key: next }, file), /give that key as --old-key/);
    assert.throws(() => signRoot(root(2), { key: next, before: next }, file), /give that key as --old-key/);
    const second = signRoot(root(2), { key: next, before: key }, file);
    const word = Buffer.from(`key ${publicHexOf(next)}\n`);
    assert.ok(verify(null, word, createPublicKey(key), Buffer.from(second.endorsed ?? '', 'hex')));
    assert.deepEqual(signRoot(root(2), { key: next }, file), second);
    assert.equal(signRoot(root(3), { key: next }, file).endorsed, null);
  });

  it('stops at a file that does not end with a whole root', () => {
    signRoot(root(1), { key }, file);
    truncateSync(file, statSync(file).size - 5);
    assert.throws(() => signRoot(root(2), { key }, file), /does not hold whole roots/);
    writeFileSync(file, 'another file\n');
    assert.throws(() => signRoot(root(1), { key }, file), /does not hold whole roots/);
  });

  it('makes a key that its owner alone reads, and none over another', () => {
    const name = join(folder, 'key.pem');
    assert.equal(statSync(name).mode & 0o777, 0o600);
    assert.equal(publicHexOf(readKeyFile(name)), publicHexOf(key));
    assert.throws(() => makeKeyFile(name), /EEXIST/);
    writeFileSync(join(folder, 'text'), 'no key');
    assert.throws(() => readKeyFile(join(folder, 'text')));
  });
});
