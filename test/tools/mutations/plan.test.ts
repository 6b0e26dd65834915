import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
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

  it('stand in what the database runs, and in no function that a later migration writes anew', () => {
    const defined = /^(?:create (?:or replace )?|drop )function (\w+)/gm;
    const stale = [...mutations, ...mutants].filter(({ file, from }) => {
      const [before = '', rest = ''] = file.startsWith('migrations/')
        ? readFileSync(file, 'utf8').split(from)
        : [];
      const name = [...before.matchAll(defined)].at(-1)?.[1];
      const isInside = before.lastIndexOf('$function$;') < before.lastIndexOf(`function ${name}`);
      const later = readdirSync('migrations').filter((other) => `migrations/${other}` > file);
      return (
        name &&
        isInside &&
        [rest, ...later.map((other) => readFileSync(`migrations/${other}`, 'utf8'))].some((text) =>
          [...text.matchAll(defined)].some(([, again]) => again === name),
        )
      );
    });
    assert.deepEqual(stale, []);
  });

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
