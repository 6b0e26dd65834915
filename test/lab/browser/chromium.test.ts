import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findChromium } from '../../../lab/browser/chromium.js';

describe('the browser of the tests', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'chromium-test-'));
    for (const [place, name, mode] of [
      ['one', 'google-chrome-stable', 0o755],
      ['two', 'chromium', 0o644],
      ['three', 'chromium-browser', 0o755],
      ['three', 'my-chromium', 0o755],
      ['four', 'chromium-headless-shell', 0o755],
    ] as const) {
      mkdirSync(join(folder, place), { recursive: true });
      writeFileSync(join(folder, place, name), '#!/bin/sh\n');
      chmodSync(join(folder, place, name), mode);
    }
  });
  after(() => rmSync(folder, { recursive: true }));

  const path = (...places: string[]) => places.map((place) => join(folder, place)).join(delimiter);

  it('is one of the usual names on the PATH that can be run', () => {
    const found = findChromium({ PATH: path('one', 'two', 'three') }, []);
    assert.equal(found, join(folder, 'three', 'chromium-browser'));
    assert.equal(findChromium({ PATH: path('two', 'one') }, []), join(folder, 'one', 'google-chrome-stable'));
  });

  it('is the shell without a window, where there is one', () => {
    assert.equal(
      findChromium({ PATH: path('one', 'three', 'four') }, []),
      join(folder, 'four', 'chromium-headless-shell'),
    );
  });

  it('is in one of the usual places, where the PATH has none', () => {
    const usual = ['two/chromium', 'three/chromium-browser'].map((file) => join(folder, file));
    assert.equal(findChromium({ PATH: '' }, usual), usual[1]);
  });

  it('is what CHROMIUM names, by its file or its name', () => {
    const mine = join(folder, 'three', 'my-chromium');
    assert.equal(findChromium({ CHROMIUM: mine, PATH: path('one') }, []), mine);
    assert.equal(findChromium({ CHROMIUM: 'my-chromium', PATH: path('three') }, []), mine);
    const usual = [join(folder, 'three', 'chromium-browser')];
    assert.throws(
      () => findChromium({ CHROMIUM: 'chromium', PATH: path('two') }, usual),
      /CHROMIUM names chromium, which is no program\. Install Chromium/,
    );
  });

  it('is missed with how to get one', () => {
    assert.throws(
      () => findChromium({ PATH: path('two') }, []),
      /There is no Chromium on this machine\. Install Chromium \("apt-get install chromium-headless-shell" on Debian/,
    );
  });
});
