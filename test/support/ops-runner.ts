import { runCommand } from '../../ops/program.js';

/**
 * The operators' command line as a program that runs one command after the other: starting it takes longer than any of
 * them. Each has an environment and an output of its own, and nobody to ask.
 */
export interface OpsRequest {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface OpsResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run({ args, env }: OpsRequest): Promise<OpsResult> {
  const written = { out: '', err: '' };
  Object.assign(process.env, env);
  const restore = [
    capture('stdout', (text) => (written.out += text)),
    capture('stderr', (text) => (written.err += text)),
  ];
  try {
    const code = await runCommand(args);
    return { code, ...written };
  } finally {
    for (const undo of restore) undo();
    process.exitCode = 0;
  }
}

function capture(name: 'stdout' | 'stderr', take: (text: string) => void): () => void {
  const stream = process[name];
  const original = stream.write.bind(stream);
  stream.write = (chunk: string | Uint8Array) => {
    take(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString());
    return true;
  };
  return () => {
    stream.write = original;
  };
}

process.on('message', (request: OpsRequest) => {
  void run(request).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit());
