import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mutations } from '../../../tools/mutations/plan.js';
import { sampleOf } from '../../../tools/mutations/sample.js';
import { mutants } from '../../simulation/mutants/plan.js';

describe('the mutations of what moves money', () => {
  for (const { file, from, to } of [...mutations, ...mutants]) {
    it(`change one line of ${file}: ${from.trim().slice(0, 60)}`, () => {
      assert.equal(readFileSync(file, 'utf8').split(from).length - 1, 1, 'the line stands there once');
      assert.notEqual(from, to);
    });
  }

  it('are made from a number on, and go on at the first after the last', () => {
    const numbers = (count?: string, from?: string) =>
      sampleOf(['a', 'b', 'c'], count, from).map(({ number, one }) => `${number}${one}`);
    assert.deepEqual(numbers(), ['1a', '2b', '3c']);
    assert.deepEqual(numbers('2', '2'), ['2b', '3c']);
    assert.deepEqual(numbers('2', '6'), ['3c', '1a']);
    assert.deepEqual(numbers('9', '2'), ['2b', '3c', '1a']);
    assert.equal(numbers('2').length, 2, 'from a number that the commit makes');
  });

  it('are found by tests that are there', () => {
    const named = new Set(mutations.flatMap(({ tests }) => tests));
    assert.deepEqual(
      [...named].filter((test) => !existsSync(test)),
      [],
    );
  });
});
