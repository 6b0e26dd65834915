import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

/** Who is looked at when a test fails. */
interface Seen {
  readonly page: Page;
  readonly console: readonly string[];
  readonly complaints: readonly string[];
}

/** On the global object: the root hooks and the tests may load this file as two modules. */
const place = Symbol.for('gpu-rental.seen-pages');
const holder = globalThis as { [place]?: Set<Seen> | undefined };
const seen = (holder[place] ??= new Set());

const folder = join(dirname(fileURLToPath(import.meta.url)), ...['..', '..', '..', '.data', 'failed-tests']);

export function pageOpened(who: Seen): void {
  seen.add(who);
}

export function pageClosed(who: Seen): void {
  seen.delete(who);
}

/** Keeps a picture and the console of each open page, and says where. */
export async function keepEvidence(test: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  let no = 0;
  for (const { page, console, complaints } of seen) {
    no += 1;
    const name = `${test.replace(/[^\w]+/g, '-').slice(0, 120)}-${no}`;
    const file = join(folder, name);
    const url = page.url();
    const lines = [url, '', ...complaints.map((line) => `! ${line}`), '', ...console];
    writeFileSync(`${file}.txt`, `${lines.join('\n')}\n`);
    try {
      await page.screenshot({ path: `${file}.png`, timeout: 5_000 });
      process.stderr.write(`    a picture of ${url}: ${file}.png\n`);
    } catch {
      process.stderr.write(`    no picture could be taken of ${url}; its console: ${file}.txt\n`);
    }
  }
}
