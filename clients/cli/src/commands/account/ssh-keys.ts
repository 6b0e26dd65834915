import type { SshKey } from '@gpu-rental/client';
import type { Command } from 'commander';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { byKeyOrSession } from '../../asking/with-session.js';
import type { Cli } from '../../cli.js';
import type { Act } from '../../command.js';
import { readIfThere } from '../../config/files.js';
import { usageFailure } from '../../failure.js';
import type { Column } from '../../output/table.js';
import { cut } from '../../output/text.js';
import { localDate } from '../../output/time.js';
import { findSshKey } from '../../ssh/stored-key.js';

/** gpu keys ssh */
export function addSshKeys(keys: Command, act: Act): void {
  const ssh = keys
    .command('ssh')
    .summary('the SSH keys that open new machines')
    .description('Your stored SSH keys. They open the machines that you rent from now on.')
    .action(
      act(async (cli) => {
        await list(cli);
        return undefined;
      }),
    );
  ssh
    .command('add')
    .argument('[file]', 'a public key (default: ~/.ssh/id_ed25519.pub and the like)')
    .description('Store a public key. Asks for a code that we email you.')
    .option('--name <name>', 'a name for it')
    .action(
      act(async (cli, file: string | undefined, { name }: { name?: string }) => {
        await add(cli, file, name);
        return undefined;
      }),
    );
  ssh
    .command('remove')
    .argument('<key>', 'its id, name or fingerprint')
    .description('Remove a stored key. Running machines keep it. Asks for a code that we email you.')
    .action(
      act(async (cli, given: string) => {
        await remove(cli, given);
        return undefined;
      }),
    );
}

const columns: Column<SshKey>[] = [
  { title: 'NAME', value: ({ name }) => cut(name, 24) },
  { title: 'BY', value: ({ byKey }) => (byKey ? 'an API key' : 'you'), dropAs: 3 },
  { title: 'ADDED', value: ({ createdAt }) => localDate(createdAt) },
  { title: 'FINGERPRINT', value: ({ fingerprint }) => fingerprint, dropAs: 1 },
  { title: 'ID', value: ({ id }) => id, dropAs: 2 },
];

async function list(cli: Cli): Promise<void> {
  const { out } = cli;
  const sshKeys = await cli.client().sshKeys.list({ signal: cli.signal });
  out.result({ sshKeys }, () => [
    ...(sshKeys.length === 0 ? ['No stored SSH keys.'] : out.table(columns, sshKeys)),
    '',
    ...out.text('This computer’s own key also opens machines that you rent here: gpu ssh uses it.'),
  ]);
}

async function add(cli: Cli, given: string | undefined, name: string | undefined): Promise<void> {
  const file = given ?? usualKey(cli);
  const publicKey = (readIfThere(file) ?? '').trim();
  if (!/^(ssh-|ecdsa-|sk-)\S+ \S+/.test(publicKey)) {
    throw usageFailure(
      `${file} is not a public key.`,
      'Use the file that ends in .pub. Create a pair with: ssh-keygen -t ed25519',
    );
  }
  const added = await byKeyOrSession(cli, 'store an SSH key', (client) =>
    client.sshKeys.add({ name: name ?? nameFor(cli, file), publicKey }),
  );
  cli.out.result(added, () =>
    cli.out.text(`Stored ${added.name} (${added.fingerprint}). It opens machines that you rent from now on.`),
  );
}

function usualKey({ surroundings: { home } }: Cli): string {
  const usual = ['id_ed25519', 'id_ecdsa', 'id_rsa'].map((name) => join(home, '.ssh', `${name}.pub`));
  const found = usual.find((file) => existsSync(file));
  if (found !== undefined) return found;
  throw usageFailure(
    'There is no public key in ~/.ssh.',
    'Name one, or create a pair with: ssh-keygen -t ed25519',
  );
}

function nameFor({ surroundings: { hostname } }: Cli, file: string): string {
  return `${basename(file, '.pub')} on ${hostname}`.slice(0, 64);
}

async function remove(cli: Cli, given: string): Promise<void> {
  const key = findSshKey(await cli.client().sshKeys.list({ signal: cli.signal }), given);
  await byKeyOrSession(cli, 'remove an SSH key', (client) => client.sshKeys.delete(key.id));
  cli.out.result({ removed: key.id }, () => [`Removed ${key.name}.`]);
}
