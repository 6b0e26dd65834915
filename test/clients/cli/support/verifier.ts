import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GpuUser, type Ran, type RunOptions } from './gpu.js';

/** What `gpu verify --json` tells of one file. */
export interface ToldFile {
  readonly verdict: string;
  readonly finding: {
    readonly message: string;
    readonly line?: number;
    readonly seal?: { readonly first: number; readonly last: number };
    readonly entry?: number;
    readonly restored?: { readonly at: string; readonly afterNumber: number | null };
  } | null;
  readonly findings: number;
  readonly month: string;
  readonly seals: number;
  readonly entries: number;
  readonly firstNumber: number;
  readonly lastNumber: number;
  readonly from: string | null;
  readonly to: string | null;
  readonly closingBalanceCents: number;
  readonly root: { readonly number: number; readonly night: string; readonly hash: string };
}

/** Somebody who has files, and neither a network nor a sign-in. */
export class Verifier extends GpuUser {
  constructor() {
    super('http://127.0.0.1:1');
  }

  /** Writes a file. @returns its path */
  write(name: string, text: string): string {
    const path = join(this.home, name);
    writeFileSync(path, text);
    return path;
  }

  verify(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    return this.run(['verify', ...args], { fetch: () => assert.fail('verify asks no network'), ...options });
  }

  /** Judges one text. */
  async judge(text: string, ...args: readonly string[]): Promise<ToldFile & { readonly code: number }> {
    const [told] = await this.judgeAll([this.write('proof.txt', text), ...args]);
    return told!;
  }

  /** Judges files by their paths. */
  async judgeAll(args: readonly string[]): Promise<(ToldFile & { readonly code: number })[]> {
    const { code, out, err } = await this.verify([...args, '--json']);
    assert.notEqual(out, '', err);
    const { files } = JSON.parse(out) as { files: ToldFile[] };
    return files.map((file) => ({ ...file, code }));
  }
}
