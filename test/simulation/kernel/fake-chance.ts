import { createRequire, syncBuiltinESMExports } from 'node:module';
import type { Chance } from './chance.js';

const require = createRequire(import.meta.url);
type View = Uint8Array;

/** Replaces the randomness of this process by the seed's. There is no way back. */
export function installChance(chance: Chance): void {
  const fill = <T extends ArrayBufferView>(view: T): T => {
    const bytes: View = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let index = 0; index < bytes.length; index += 1) bytes[index] = chance.below(256);
    return view;
  };
  const bytesOf = (size: number): Buffer => fill(Buffer.alloc(size));
  const uuid = (): string => {
    const bytes = bytesOf(16);
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    const hex = bytes.toString('hex');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  };
  const crypto = require('node:crypto') as Record<string, unknown>;
  Object.assign(crypto, {
    randomBytes: (size: number, done?: (error: null, bytes: Buffer) => void) => {
      const bytes = bytesOf(size);
      if (done === undefined) return bytes;
      process.nextTick(done, null, bytes);
      return undefined;
    },
    randomFillSync: fill,
    randomInt: (first: number, second?: number) =>
      typeof second === 'number' ? chance.between(first, second - 1) : chance.below(first),
    randomUUID: uuid,
  });
  Object.defineProperty(globalThis.crypto, 'getRandomValues', { value: fill });
  Object.defineProperty(globalThis.crypto, 'randomUUID', { value: uuid });
  Math.random = () => chance.fraction();
  syncBuiltinESMExports();
}
