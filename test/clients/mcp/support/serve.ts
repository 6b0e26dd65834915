import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GpuRental, type Rental } from '@gpu-rental/client';
import { runMcp } from '../../../../clients/cli/src/mcp/run-mcp.js';

/** The server for agents as a process of its own, told by its environment whom it asks and by which keys. */
const { API_URL = '', API_KEY, SESSION, SSH_DIR = '', ALLOW_UNCAPPED } = process.env;
const identity = join(SSH_DIR, 'id');

await runMcp({
  client: new GpuRental({
    baseUrl: API_URL,
    ...(API_KEY !== undefined && { apiKey: API_KEY }),
    ...(SESSION !== undefined && { session: { cookie: SESSION } }),
  }),
  allowUncapped: ALLOW_UNCAPPED === 'yes',
  version: '0.0.0-test',
  ownKeyBy: 'gpu mcp in a terminal',
  now: () => Date.now(),
  publicKey: () => Promise.resolve(readFileSync(`${identity}.pub`, 'utf8').trim()),
  sshCommand: ({ host, port, username }: Rental) =>
    Promise.resolve([
      ...['ssh', '-F', 'none', '-i', identity, '-p', String(port)],
      ...['-o', 'BatchMode=yes', '-o', 'IdentitiesOnly=yes', '-o', 'IdentityAgent=none'],
      ...[
        '-o',
        'StrictHostKeyChecking=accept-new',
        '-o',
        `UserKnownHostsFile=${join(SSH_DIR, 'known_hosts')}`,
      ],
      `${username ?? ''}@${host ?? ''}`,
    ]),
  stdin: process.stdin,
  stdout: process.stdout,
});
