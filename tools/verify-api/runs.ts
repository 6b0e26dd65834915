import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { forWalks } from './walks.js';

/** One run of schemathesis over the API. */
export interface Run {
  readonly name: string;
  /** The session to send; without one the run is not signed in. */
  readonly sid?: string | undefined;
  /**
   * The kinds of requests: the document's examples, the edges of its schemas, made-up ones, and walks along its links,
   * from a rental that is opened to its stop.
   */
  readonly phases: readonly ('examples' | 'coverage' | 'fuzzing' | 'stateful')[];
  /** The number of made-up requests for each endpoint, or of walks. */
  readonly examples: number;
  /** Only this operation, or all but this one. */
  readonly only?: string | readonly string[];
  readonly without?: string;
}

export interface RunEnd {
  readonly run: Run;
  readonly passed: boolean;
  readonly output: string;
}

/**
 * Operations whose requests may break a rule that JSON Schema can't express. They are then answered with a 400 although
 * they fit their schema: a cursor that no page answered, an end before its beginning, a daily cap below the amount, a
 * hard budget of nothing, a text that is not a public key, a range of addresses that begins within itself, an end of a
 * key that is over, a passkey that no device has made, a family that nobody offers, a signature that is not the
 * processor's, an address outside the dashboard, an account that is closed by an address not its own.
 */
const WITH_RULES_BEYOND_THE_SCHEMA = [
  'listListings',
  'listRentals',
  'listTopups',
  'listLedger',
  'showStatement',
  'showSpending',
  'downloadLedger',
  'putAutoTopup',
  'putBudget',
  'addSshKey',
  'beginPasskeySignIn',
  'signInByPasskey',
  'addPasskey',
  'proveByPasskey',
  'listApiKeys',
  'createApiKey',
  'changeApiKey',
  'createRental',
  'createQuote',
  'showFamilyHistory',
  'createCheckout',
  'takeProcessorEvent',
  'startOAuth',
  'listAuditEvents',
  'listSessions',
  'listEvents',
  'addWebhook',
  'changeWebhook',
  'changeRental',
  'listWebhookDeliveries',
  'showTelemetry',
  'keepRentalAlive',
  'closeAccount',
];

/** It ends when its client leaves; the project's own tests read it. */
const ENDLESS = 'streamEvents';

/** Some four times as long as the walks take on two idle cores: other commands run beside them. */
const LIMIT_MS = 600_000;

const ARGUMENTS = [
  ...['--seed', '1', '--generation-database', 'none', '--no-color'],
  // Without it, one failed case ends the tests of its endpoint.
  '--continue-on-failure',
  // The project's own tests check which methods a path has.
  ...['--exclude-checks', 'unsupported_method,allow_header_conformance'],
];

/** The settings of a run, as schemathesis reads them. */
export function configOf({ sid, examples }: Run): string {
  return [
    '[generation]',
    `max-examples = ${examples}`,
    // It would make up API keys, which stand before the session.
    'with-security-parameters = false',
    '[warnings]',
    // A pattern that the tool can't read leaves an endpoint untested.
    'fail-on = ["unsupported_regex"]',
    ...(sid === undefined ? [] : ['[auth.openapi.sid]', `api_key = ${JSON.stringify(sid)}`]),
    '[[operations]]',
    `include-operation-id = ${JSON.stringify(WITH_RULES_BEYOND_THE_SCHEMA)}`,
    'checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "401", "402", "403", "404", "409", "429"]',
    '',
  ].join('\n');
}

export interface Place {
  /** The Python of the environment that schemathesis is installed in. */
  readonly python: string;
  readonly apiUrl: string;
  /** Each run gets a separate folder below it. */
  readonly folder: string;
  /** Gives up the run when it fires. */
  readonly signal: AbortSignal;
}

/** Runs schemathesis once. @throws Error when it is given up or can't be started */
export async function playRun(run: Run, at: Place): Promise<RunEnd> {
  const cwd = join(at.folder, run.name.replaceAll(' ', '-'));
  mkdirSync(cwd, { recursive: true });
  const config = join(cwd, 'schemathesis.toml');
  // The file holds a session.
  writeFileSync(config, configOf(run), { mode: 0o600 });
  const description = run.phases.includes('stateful')
    ? [await saveForWalks(at.apiUrl, cwd), '--url', at.apiUrl]
    : [`${at.apiUrl}/v1/openapi.json`];
  const child = spawn(
    at.python,
    [
      ...['-m', 'schemathesis.cli', '--config-file', config],
      ...['run', ...description, ...ARGUMENTS],
      ...['--phases', run.phases.join()],
      ...[run.only ?? []].flat().flatMap((name) => ['--include-operation-id', name]),
      ...(run.sid === undefined ? [] : ['--exclude-operation-id', ENDLESS]),
      ...(run.without === undefined ? [] : ['--exclude-operation-id', run.without]),
    ],
    { cwd, stdio: ['ignore', 'pipe', 'pipe'], timeout: LIMIT_MS, signal: at.signal },
  );
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { run, passed: code === 0, output: chunks.join('') };
}

/** @returns the file of the description as walks need it */
async function saveForWalks(apiUrl: string, folder: string): Promise<string> {
  const answer = await fetch(`${apiUrl}/v1/openapi.json`, { signal: AbortSignal.timeout(30_000) });
  const file = join(folder, 'openapi.json');
  writeFileSync(file, JSON.stringify(forWalks((await answer.json()) as object)));
  return file;
}
