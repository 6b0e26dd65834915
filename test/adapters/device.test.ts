import assert from 'node:assert/strict';
import fc from 'fast-check';
import { deviceOf, userAgentOf } from '../../adapters/device.js';

const known: readonly [userAgent: string, device: string | null][] = [
  ['Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox on Linux'],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15',
    'Safari on macOS',
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0',
    'Microsoft Edge on Windows',
  ],
  [
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36',
    'Chrome on Android',
  ],
  ['gpu-rental-cli/0.1.0 (linux x64) node/22', 'gpu-rental-cli on Linux'],
  ['curl/8.5.0', 'curl'],
  ['python-requests/2.31.0', 'python-requests'],
  ['node', 'node'],
  ['<script>alert(1)</script>', null],
  [`a${'b'.repeat(100)}`, null],
];

/** What a header may hold, and more. */
const latin1 = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));

describe('the device of a session', () => {
  for (const [userAgent, device] of known) {
    it(`${String(device)}: ${userAgent.slice(0, 40)}`, () => assert.equal(deviceOf(userAgent), device));
  }

  it('is unknown where nothing is said', () => {
    assert.deepEqual([deviceOf(null), userAgentOf(''), userAgentOf('  ')], [null, undefined, undefined]);
  });

  it('is read from any text, of which a bounded part is kept, and holds no mark-up', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 2_000, unit: latin1 }), (text) => {
        const kept = userAgentOf(text);
        if (kept === undefined) return;
        assert.ok(kept.length >= 1 && kept.length <= 512);
        const device = deviceOf(kept);
        assert.ok(device === null || /^[\w .+/-]{1,80}$/.test(device), device ?? '');
      }),
    );
  });
});
