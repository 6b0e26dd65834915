import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { OpsContext } from '../../ops/context.js';
import { createProgram } from '../../ops/program.js';

// Nothing runs: the commands are looked at alone.
const program = createProgram({} as OpsContext);

/** Tells what `ops` would not take of a command that a text names; undefined where it takes it. */
function faultOf(line: string, isWhole: boolean): string | undefined {
  const words = line.trim().split(/\s+/);
  let command: Command = program;
  for (;;) {
    const next = command.commands.find((each) => [each.name(), ...each.aliases()].includes(words[0] ?? ''));
    if (!next) break;
    command = next;
    words.shift();
  }
  const [first = ''] = words;
  if (command.commands.length > 0 && first !== '' && !first.startsWith('--'))
    return `${line}: ${command.name()} has no ${first}`;
  const options = [command, ...command.commands].flatMap((each) => each.options);
  const flags = words.filter((word) => word.startsWith('--')).map((word) => word.split('=')[0]);
  const unknown = flags.find((flag) => !options.some(({ long }) => long === flag));
  if (unknown !== undefined) return `${line}: ${command.name()} takes no ${unknown}`;
  const missing = command.options.find(({ mandatory, long }) => mandatory && !flags.includes(long ?? ''));
  return isWhole && missing ? `${line}: ${command.name()} needs ${missing.long}` : undefined;
}

function commandsIn(path: string): string[] {
  const text = readFileSync(path, 'utf8');
  return [...text.matchAll(/npm run ops -- ([^`'"\n]*)/g)].map(([, words = '']) => words);
}

describe('commands of operators that a text names', () => {
  it('are whole in mails: what is copied is taken', () => {
    const commands = commandsIn('domain/mails/operators.ts');
    assert.ok(commands.length > 5);
    assert.deepEqual(commands.map((line) => faultOf(line, true)).filter(Boolean), []);
  });

  it('are there, with their options, in alerts and refusals', () => {
    const commands = ['ops/prometheus/alerts.yml', 'domain/operations/watermark.ts'].flatMap(commandsIn);
    assert.ok(commands.length > 15);
    assert.deepEqual(commands.map((line) => faultOf(line, false)).filter(Boolean), []);
  });

  it('are missed when there is none, or an option is', () => {
    assert.match(faultOf('users show usr_1', true) ?? '', /users has no show/);
    assert.match(faultOf('wallet adjust --user usr_1 --amount-cents 1', true) ?? '', /needs --reason/);
    assert.match(faultOf('wallet adjust --rental rent_1', false) ?? '', /takes no --rental/);
  });
});
