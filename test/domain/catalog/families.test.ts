import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { families, isFamilyId } from '../../../domain/catalog/families.js';

describe('families', () => {
  it('knows every model that an upstream’s table can sell, under the same family and with its memory', () => {
    const table = readFileSync(
      new URL('../../../adapters/providers/offers/gpu-models.ts', import.meta.url),
      'utf8',
    );
    const sold = [...table.matchAll(/model: '([A-Z0-9_]+)',\s+family: '([a-z0-9-]+)',\s+vramGb: (\d+)/g)];
    assert.ok(sold.length >= 20, 'the table was read');
    for (const [, model, family, vramGb] of sold) {
      const known = families.find((candidate) => candidate.id === family);
      assert.ok(known?.models.includes(model!), `${model} of ${family}`);
      assert.equal(known?.vramGb, Number(vramGb), `${family} has the memory of ${model}`);
    }
  });

  it('lists each family and each model once', () => {
    const ids = families.map((family) => family.id);
    const models = families.flatMap((family) => family.models);
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(new Set(models).size, models.length);
  });

  it('does not take another text for a family', () => {
    assert.equal(isFamilyId('h100-80gb'), true);
    assert.equal(isFamilyId('toString'), false);
  });
});
