import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lockNumbers } from '../../../adapters/postgres/locks.js';
import { steps } from '../../../migrations/steps.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const sourcesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));

describe('the numbers of locks', () => {
  it('are each one lock’s', () => {
    const numbers = Object.values(lockNumbers);
    assert.equal(new Set<number>(numbers).size, numbers.length);
  });

  it('stand in one place', () => {
    const folders = ['activities', 'adapters', 'api', 'money', 'ops', 'worker'];
    const others = folders
      .flatMap(sourcesIn)
      .filter((file) => /advisory_xact_lock|advisory_lock/.test(readFileSync(join(root, file), 'utf8')));
    assert.deepEqual(others.toSorted(), [
      'adapters/postgres/events/sequence.ts',
      'adapters/postgres/locks.ts',
    ]);
  });

  it('are what the schema’s triggers know', () => {
    const schema = steps.map(({ sql }) => sql).join('\n');
    const known = [...schema.matchAll(/advisory_xact_lock(?:_shared)?\((\d+),/g)].map(([, number]) =>
      Number(number),
    );
    const { catalogOfProvider, sealing, sealsOfWallet } = lockNumbers;
    assert.deepEqual([...new Set(known)].toSorted(), [catalogOfProvider, sealsOfWallet, sealing]);
  });
});
