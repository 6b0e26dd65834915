import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startService, type TestService } from '../support/service/living-service.js';

const projectDir = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** A block of commands, with its answer in the text, if there is one. */
interface Step {
  readonly title: string;
  readonly commands: string;
  readonly shown: { readonly language: string; readonly text: string } | undefined;
}

const steps = stepsOf(readFileSync(join(projectDir, 'docs/api/README.md'), 'utf8'));

describe('the tutorial of docs/api', () => {
  let service: TestService;
  let outputs: string[];

  before(async () => {
    service = await startService({ bootMs: 300 });
    outputs = await run(steps.map(({ commands }) => commands));
  });
  after(() => service.stop());

  it('has commands for each of its chapters', () => {
    assert.ok(steps.length >= 15);
    assert.ok(steps.filter(({ shown }) => shown).length >= 12);
  });

  for (const [index, { title, commands, shown }] of steps.entries()) {
    it(`${title}: ${commands.split('\n')[0]!.slice(0, 60)}`, () => {
      const output = outputs[index];
      assert.ok(output !== undefined, 'a command before it failed');
      if (shown?.language === 'json') assertSameShape(JSON.parse(output), JSON.parse(shown.text), 'answer');
      else if (shown) assert.ok(output.includes(shown.text.trim()), output);
    });
  }

  /** Runs the blocks one after the other in one shell. @returns the output of each block until the first failure */
  async function run(blocks: readonly string[]): Promise<string[]> {
    const mark = 'the-block-has-ended';
    // A failed comparison or program ends the script.
    const script = ['set -eu -o pipefail', ...blocks.map((block) => `${block}\necho; echo ${mark}`)];
    const shell = spawn('bash', ['-c', script.join('\n')], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        API: service.api.url,
        MAIL: service.inbox.url,
        PROCESSOR: service.processor.url,
      },
      timeout: 400_000,
    });
    const texts = { stdout: '', stderr: '' };
    shell.stdout.setEncoding('utf8').on('data', (chunk: string) => (texts.stdout += chunk));
    shell.stderr.setEncoding('utf8').on('data', (chunk: string) => (texts.stderr += chunk));
    await once(shell, 'close');
    const ended = texts.stdout.split(`\n${mark}\n`);
    const rest = ended.pop() ?? '';
    assert.equal(shell.exitCode, 0, `after ${ended.length} blocks:\n${rest}\n${texts.stderr}`);
    return ended;
  }
});

/** Every block of commands of a page. The next block is its answer, unless that is one of commands. */
function stepsOf(page: string): Step[] {
  const marks = page.matchAll(/^#+ (?:\d+\. )?(?<title>.*)$|^```(?<language>\w+)\n(?<text>[\s\S]*?)^```$/gm);
  let title = '';
  const blocks: { title: string; language: string; text: string }[] = [];
  for (const { groups = {} } of marks) {
    title = groups['title'] ?? title;
    if (groups['language'] !== undefined) {
      blocks.push({ title, language: groups['language'], text: groups['text'] ?? '' });
    }
  }
  return blocks.flatMap((block, index) => {
    if (block.language !== 'bash') return [];
    const next = blocks[index + 1];
    return { title: block.title, commands: block.text, shown: next?.language === 'bash' ? undefined : next };
  });
}

/** Asserts the same fields of the same kinds at every depth, and the same code for a refusal. */
function assertSameShape(actual: unknown, shown: unknown, path: string): void {
  assert.equal(kindOf(actual), kindOf(shown), `${path} is shown as ${JSON.stringify(shown)}`);
  if (Array.isArray(actual) && Array.isArray(shown)) {
    assert.ok(actual.length > 0 && shown.length > 0, `${path} shows something`);
    assertSameShape(actual[0], shown[0], `${path}[0]`);
    return;
  }
  if (typeof actual !== 'object' || actual === null) return;
  const [fields, shownFields] = [actual as Record<string, unknown>, shown as Record<string, unknown>];
  assert.deepEqual(Object.keys(fields).toSorted(), Object.keys(shownFields).toSorted(), path);
  assert.equal(fields['error'], shownFields['error']);
  for (const [name, value] of Object.entries(fields)) {
    assertSameShape(value, shownFields[name], `${path}.${name}`);
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
