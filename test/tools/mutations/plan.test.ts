import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mutations } from '../../../tools/mutations/plan.js';
import { mutants } from '../../simulation/mutants/plan.js';

describe('the mutations of what moves money', () => {
  for (const { file, from, to } of [...mutations, ...mutants]) {
    it(`change one line of ${file}: ${from.trim().slice(0, 60)}`, () => {
      assert.equal(readFileSync(file, 'utf8').split(from).length - 1, 1, 'the line stands there once');
      assert.notEqual(from, to);
    });
  }

  it('are found by tests that are there', () => {
    const named = new Set(mutations.flatMap(({ tests }) => tests));
    assert.deepEqual(
      [...named].filter((test) => !existsSync(test)),
      [],
    );
  });
});
