import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { zipOf } from '../../adapters/zip.js';
import { filesIn } from '../support/http/archive.js';

describe('a ZIP archive', () => {
  let opened: string[];
  const file = (name: string) => ({
    name,
    open: () => {
      opened.push(name);
      return Readable.from([`what ${name} holds`]);
    },
  });
  beforeEach(() => {
    opened = [];
  });

  it('holds its files in their order', async () => {
    const bytes = await buffer(zipOf([file('a.txt'), file('b.txt')]));
    const files = filesIn(new Uint8Array(bytes).buffer);
    assert.deepEqual(files, { 'a.txt': 'what a.txt holds', 'b.txt': 'what b.txt holds' });
    assert.deepEqual(opened, ['a.txt', 'b.txt']);
  });

  it('opens nothing before somebody reads, and never where nobody does', async () => {
    const archive = zipOf([file('a.txt')]);
    await setImmediate();
    archive.destroy();
    await once(archive, 'close');
    assert.deepEqual(opened, []);
  });
});
