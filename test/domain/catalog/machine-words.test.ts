import assert from 'node:assert/strict';
import { machineWords } from '../../../domain/catalog/machine-words.js';

describe('the words for a machine', () => {
  it('are its count and the name of its family', () => {
    assert.equal(machineWords(8, 'H100_SXM_80GB'), '8 × H100 80 GB');
    assert.equal(machineWords(1, 'RTX_4000_ADA'), '1 × RTX 4000 Ada');
  });

  it('are those of the model when its family is not known', () => {
    assert.equal(machineWords(2, 'H900_SXM_1TB'), '2 × H900 SXM 1TB');
  });
});
