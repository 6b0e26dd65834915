import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { pages } from '../../../lab/dashboard/pages.js';
import { reducePng } from '../../../tools/dashboard-pictures/reduce-png.js';

const folder = fileURLToPath(new URL('../../../docs/dashboard', import.meta.url));

describe('the pictures of the dashboard', () => {
  const sizes = { desk: [1_280, 800], phone: [390, 844] } as const;
  const names = pages.flatMap(({ name }) => Object.keys(sizes).map((size) => `${name}-${size}.png`));

  it('are two of each page, small ones, and no others: npm run dashboard:pictures', () => {
    const files = readdirSync(folder).filter((file) => file.endsWith('.png'));
    assert.deepEqual(files.toSorted(), names.toSorted());
    for (const file of files) assert.ok(statSync(join(folder, file)).size < 80 * 1_024, file);
  });

  it('have the size that their names say', () => {
    for (const file of names) {
      const size = file.endsWith('-desk.png') ? sizes.desk : sizes.phone;
      const png = readFileSync(join(folder, file));
      assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], size, file);
    }
  });

  it('are shown in docs/dashboard, each of them', () => {
    const text = readFileSync(join(folder, 'README.md'), 'utf8');
    assert.deepEqual(
      names.filter((name) => !text.includes(`](${name})`)),
      [],
    );
  });

  it('keep each pixel while there are few colours, and a near one beyond them, in less than half the bytes', async () => {
    const [width, height] = [200, 100];
    const draw = (pixel: (at: number) => readonly [number, number, number]): Buffer =>
      Buffer.from(Array.from({ length: width * height }, (_, at) => [...pixel(at)]).flat());
    const few = draw((at) => [at % 7, (at * 3) % 11, 200]);
    const many = draw((at) => [at & 255, (at >> 8) * 3, 7]);
    const reduce = async (raw: Buffer) => {
      const png = await sharp(raw, { raw: { width, height, channels: 3 } })
        .png()
        .toBuffer();
      const reduced = await reducePng(png);
      // The kind of its colours: a palette.
      assert.equal(reduced[25], 3);
      return {
        share: reduced.length / png.length,
        pixels: await sharp(reduced).removeAlpha().raw().toBuffer(),
      };
    };
    assert.deepEqual((await reduce(few)).pixels, few);
    const { share, pixels } = await reduce(many);
    assert.ok(share < 0.5, `${share}`);
    assert.ok(many.every((value, at) => Math.abs(value - pixels[at]!) < 32));
    assert.notDeepEqual(pixels, many);
  });
});
