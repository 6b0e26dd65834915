import assert from 'node:assert/strict';
import { byCursor } from '../../../clients/typescript/src/pages.js';

describe('a list in pages', () => {
  const numbers = byCursor(
    ({ cursor = '0' }) => {
      const from = Number(cursor);
      return Promise.resolve({ numbers: [from, from + 1], nextCursor: from < 4 ? `${from + 2}` : null });
    },
    (page) => page.numbers,
  );

  it('is read item by item over all pages', async () => {
    assert.deepEqual(await numbers.toArray(), [0, 1, 2, 3, 4, 5]);
  });

  it('is read page by page, by the cursor that the page before names', async () => {
    const first = await numbers.page(undefined);
    assert.deepEqual(first, await numbers.firstPage());
    assert.deepEqual(await numbers.page(first.nextCursor ?? undefined), { numbers: [2, 3], nextCursor: '4' });
  });
});
