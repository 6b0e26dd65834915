import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { Refusal } from '../../../domain/refusal.js';
import { limitOfOpening, refuseRaise, type AnyPot } from '../../../domain/spending/pots.js';

/** The cap of a key and the budget of its account, with these cents left. */
function pots(left: { readonly cap: number; readonly budget: number }): AnyPot[] {
  const sums = { spentCents: 30, reservedCents: 20, holders: [] };
  return [
    { kind: 'cap', apiKeyId: newId('key'), limitCents: left.cap + 50, ...sums },
    { kind: 'budget', month: '2026-11', limitCents: left.budget + 50, ...sums },
  ];
}

function codeOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

describe('what must fit into the cap of a key and into the budget of its account', () => {
  const cases = [
    { left: { cap: 100, budget: 100 }, code: undefined },
    { left: { cap: 100, budget: 99 }, code: 'budget_reserved' },
    { left: { cap: 99, budget: 100 }, code: 'cap_reserved' },
    { left: { cap: 100, budget: 0 }, code: 'budget_reserved' },
    { left: { cap: 0, budget: 100 }, code: 'cap_reserved' },
  ];
  for (const { left, code } of cases) {
    const name = `${left.cap} left of the cap and ${left.budget} of the budget: ${code ?? 'fits'}`;

    it(`is a limit of 100 with ${name}`, () => {
      const asked = { maxSpendCents: 100, autoStopAfterMs: null };
      assert.equal(
        codeOf(() => limitOfOpening(asked, 1_000, pots(left))),
        code,
      );
    });

    it(`is a raise by 100 with ${name}`, () => {
      assert.equal(
        codeOf(() => {
          refuseRaise({ before: 40, after: 140 }, pots(left));
        }),
        code,
      );
    });
  }

  it('is what is left of the fuller one where no limit is asked for, and nothing where one is empty', () => {
    const asked = { maxSpendCents: null, autoStopAfterMs: null };
    assert.equal(limitOfOpening(asked, 1_000, pots({ cap: 70, budget: 60 })), 60);
    assert.equal(limitOfOpening(asked, 1_000, pots({ cap: 60, budget: 70 })), 60);
    assert.equal(
      codeOf(() => limitOfOpening(asked, 1_000, pots({ cap: 70, budget: 0 }))),
      'budget_reserved',
    );
    assert.equal(
      codeOf(() => limitOfOpening(asked, 1_000, pots({ cap: 0, budget: 70 }))),
      'cap_reserved',
    );
  });

  it('never is a limit that is lowered, whatever is left', () => {
    assert.equal(
      codeOf(() => {
        refuseRaise({ before: 140, after: 100 }, pots({ cap: 0, budget: 0 }));
      }),
      undefined,
    );
  });
});
