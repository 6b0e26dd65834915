import assert from 'node:assert/strict';
import { otherCounts, similarFamilies } from '../../../domain/catalog/alternatives.js';

describe('the rule of alternatives', () => {
  it('takes the nearest other number of GPUs first, the larger of two', () => {
    const counts = (count: number) => otherCounts(count).map(({ kind }) => kind);
    assert.deepEqual([1, 2, 4, 8].map(counts), [
      [2, 4, 8],
      [4, 1, 8],
      [8, 2, 1],
      [4, 2, 1],
    ]);
  });

  it('takes families with at least as much memory first, the nearest first, and then smaller ones', () => {
    const ranked = similarFamilies('l40s');
    assert.deepEqual(
      ranked.map(({ kind }) => kind),
      [
        ...['rtx-6000-ada', 'rtx-a6000', 'a40', 'l40', 'a100-80gb', 'h100-80gb', 'h100-94gb'],
        ...['rtx-pro-6000', 'gh200', 'h200-141gb', 'b200', 'mi300x', 'b300', 'a100-40gb', 'rtx-5090'],
        ...['rtx-3090', 'rtx-4090', 'rtx-a5000', 'a10', 'l4', 'rtx-4000-ada', 'rtx-5080', 'rtx-a4000'],
      ],
    );
    assert.deepEqual(
      ranked.slice(0, 4).map(({ rank }) => rank),
      [0, 0, 0, 0],
    );
    assert.deepEqual(similarFamilies('abacus'), []);
  });
});
