import assert from 'node:assert/strict';
import type { Wanted } from './campaign.js';
import { shrink, type Tried } from './shrink.js';

const wanted: Wanted = { seed: 1, days: 0.4, users: 3, acts: 16, isDisturbed: true };

/** A run that breaks a rule when two of its parts meet, and another rule while there are two users. */
async function meeting({ users, acts, without = [] }: Wanted): Promise<Tried> {
  const met = Array.from({ length: Math.floor(acts) }, (_, no) => `user1.${no + 1}`);
  const isThere = (part: string): boolean => met.includes(part) && !without.includes(part);
  const both = isThere('user1.2') && isThere('user1.5');
  await Promise.resolve();
  return {
    met,
    violations: [
      ...(both ? [`rental rent_0${Math.floor(acts)}23456789 costs ${acts} cents too much`] : []),
      ...(users > 1 ? ['wallet 2 is blocked'] : []),
    ],
  };
}

describe('the shrinking of a run that breaks a rule', () => {
  it('leaves out everything without which the same rule is broken', async () => {
    const said: string[] = [];
    const { shortest, violation } = await shrink(wanted, (line) => said.push(line), meeting);
    assert.equal(shortest.users, 1);
    assert.equal(shortest.isDisturbed, false);
    assert.ok(shortest.acts >= 5 && shortest.acts < 8);
    assert.match(violation ?? '', /costs .* too much/);
    const { met } = await meeting(shortest);
    const left = met.filter((part) => !(shortest.without ?? []).includes(part));
    assert.deepEqual(left, ['user1.2', 'user1.5']);
    assert.ok(said.at(-1)?.includes('--without'));
  });

  it('says of a run that breaks no rule that nothing is broken', async () => {
    const clean = (): Promise<Tried> => Promise.resolve({ violations: [], met: ['user1.1'] });
    const { shortest, violation } = await shrink(wanted, () => undefined, clean);
    assert.deepEqual(shortest, wanted);
    assert.equal(violation, undefined);
  });
});
