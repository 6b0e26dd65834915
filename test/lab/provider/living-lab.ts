import { spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import ssh2 from 'ssh2';
import { createLambdaProvider } from '../../../adapters/providers/lambda/lambda.js';
import { createRunpodProvider } from '../../../adapters/providers/runpod/runpod.js';
import { createShadeformProvider } from '../../../adapters/providers/shadeform/shadeform.js';
import { createVastProvider } from '../../../adapters/providers/vast/vast.js';
import type { Dialect } from '../../../adapters/providers/offers/gpu-models.js';
import type { AllocationRequest, Pod, Provider } from '../../../adapters/providers/provider.js';
import type { FaultsBody } from '../../../lab/provider/fault-bodies.js';
import { proxyPath } from '../../../lab/provider/proxy.js';
import { startLabProvider, type LabProvider } from '../../../lab/provider/start.js';
import type { LabState } from '../../../lab/provider/state.js';

export const API_KEY = 'test-key';

/** A lab provider on a free port with a folder of its own, and the adapters that speak to it. */
export interface LivingLab {
  readonly dataDir: string;
  readonly provider: Provider;
  /** The same lab in the other dialects. */
  readonly runpod: Provider;
  readonly vast: Provider;
  readonly lambda: Provider;
  url(): string;
  /** The folder of the pods' homes. */
  homesDir(): string;
  /** Makes a raw call; default: with the key. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  faults(body: FaultsBody): Promise<void>;
  clearFaults(): Promise<void>;
  state(): Promise<Pick<LabState, 'pods' | 'sshKeys' | 'registries'>>;
  /** Lets a machine show this use: the body of POST /lab/pods/:id/use. */
  show(podId: string, use: object): Promise<void>;
  crash(podId: string, mode?: string): Promise<void>;
  /** The same for the machine of a tag, whatever its upstream calls it. */
  crashTagged(tag: string, mode?: string): Promise<void>;
  /** The adapter of a dialect. */
  of(dialect: Dialect): Provider;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

export async function startLivingLab(options: { bootMs?: number } = {}): Promise<LivingLab> {
  const dataDir = mkdtempSync(join(tmpdir(), 'lab-provider-test-'));
  const start = (port: number): Promise<LabProvider> =>
    startLabProvider({ port, dataDir, apiKey: API_KEY, bootMs: options.bootMs ?? 20, deleteMs: 20 });
  let lab = await start(0);
  const call: LivingLab['call'] = async (method, path, body, headers) => {
    const response = await fetch(lab.url + path, {
      method,
      headers: { 'x-api-key': API_KEY, authorization: `Bearer ${API_KEY}`, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return {
      status: response.status,
      headers: response.headers,
      // A 204 has no body.
      body: JSON.parse((await response.text()) || '{}') as Answer['body'],
    };
  };
  const adapterOptions = { url: lab.url, apiKey: API_KEY, deployment: 'test', timeoutMs: 5_000 };
  const crash: LivingLab['crash'] = async (podId, mode = 'error') => {
    await call('POST', `/lab/pods/${podId}/crash`, { mode });
  };
  const state: LivingLab['state'] = async () => (await call('GET', '/lab/state')).body as unknown as LabState;
  const adapters = {
    shadeform: createShadeformProvider({ code: 'lab', ...adapterOptions }),
    runpod: createRunpodProvider({
      code: 'lab-runpod',
      proxyUrl: `${lab.url}${proxyPath}`,
      ...adapterOptions,
    }),
    vast: createVastProvider({ code: 'lab-vast', ...adapterOptions, url: `${lab.url}/vast` }),
    lambda: createLambdaProvider({ code: 'lab-lambda', ...adapterOptions, url: `${lab.url}/lambda` }),
  };
  return {
    dataDir,
    ...adapters,
    provider: adapters.shadeform,
    of: (dialect) => adapters[dialect],
    url: () => lab.url,
    homesDir: () => lab.homesDir,
    call,
    async faults(body) {
      const { status } = await call('POST', '/lab/faults', body);
      if (status !== 200) throw new Error(`the lab refused ${JSON.stringify(body)}`);
    },
    async clearFaults() {
      await call('DELETE', '/lab/faults');
    },
    state,
    async show(podId, use) {
      const { status } = await call('POST', `/lab/pods/${podId}/use`, use);
      if (status !== 200) throw new Error(`the lab refused ${JSON.stringify(use)}`);
    },
    crash,
    async crashTagged(tag, mode) {
      const pod = (await state()).pods.find(({ name }) => name === tag);
      if (pod === undefined) throw new Error(`the lab has no machine of ${tag}`);
      await crash(pod.id, mode);
    },
    async restart() {
      const { port } = lab;
      await lab.close();
      lab = await start(port);
    },
    async stop() {
      await lab.close();
      rmSync(lab.homesDir, { recursive: true, force: true });
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

let tags = 0;

/** A request for the lab's single cheap RTX 4090, with a tag of its own. */
export function requestOf(change: Partial<AllocationRequest> = {}): AllocationRequest {
  tags += 1;
  return {
    tag: `test-rent-${process.pid}-${tags}`,
    offerId: 'vast/RTX4090/texas-usa-1',
    gpuCount: 1,
    templateId: 'ubuntu-24-04',
    maxPricePerHourCents: 40,
    publicKeys: [],
    endBy: null,
    ...change,
  };
}

/** A request for RunPod's single RTX 4090, with a tag of its own. */
export function runpodRequestOf(change: Partial<AllocationRequest> = {}): AllocationRequest {
  const offerId = 'SECURE/NVIDIA GeForce RTX 4090/1/EU-RO-1';
  return requestOf({ offerId, maxPricePerHourCents: 69, ...change });
}

/** A request for Vast's single RTX 4090, with a tag of its own. */
export function vastRequestOf(change: Partial<AllocationRequest> = {}): AllocationRequest {
  return requestOf({ offerId: '7000001', ...change });
}

/** A request for Lambda's single H100, with a tag of its own. */
export function lambdaRequestOf(change: Partial<AllocationRequest> = {}): AllocationRequest {
  return requestOf({ offerId: 'gpu_1x_h100_sxm5/us-south-1', maxPricePerHourCents: 329, ...change });
}

/** Waits until a condition holds. @throws after ten seconds: only a failing test waits so long */
export async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const endMs = performance.now() + 10_000;
  while (performance.now() < endMs) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(10);
  }
  throw new Error(`still waiting for ${what}`);
}

/** Waits until the pod with this tag is up. */
export function untilActive(provider: Provider, tag: string): Promise<Pod & { host: string; port: number }> {
  return until(`the pod ${tag}`, async () => {
    const pod = await provider.find(tag);
    if (pod?.status !== 'active' || pod.host === null || pod.port === null) return undefined;
    return { ...pod, host: pod.host, port: pod.port };
  });
}

/** A key pair of a renter. */
export interface RenterKey {
  readonly pem: string;
  readonly line: string;
}

export function newRenterKey(kind: 'ecdsa' | 'rsa' = 'ecdsa'): RenterKey {
  const pem =
    kind === 'ecdsa'
      ? generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey.export({
          type: 'sec1',
          format: 'pem',
        })
      : generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
          type: 'pkcs1',
          format: 'pem',
        });
  const parsed = ssh2.utils.parseKey(pem);
  if (parsed instanceof Error) throw parsed;
  return {
    pem: pem.toString(),
    line: `${parsed.type} ${parsed.getPublicSSH().toString('base64')} me@example.org`,
  };
}

export interface LoginResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** True where the OpenSSH client is installed. Logins then use it. */
export const hasOpenSsh = spawnSync('ssh', ['-V']).error === undefined;

export interface Login {
  readonly port: number;
  readonly user: string;
  readonly key: RenterKey;
  /** null: a shell. */
  readonly command: string | null;
  readonly input?: string;
  readonly tty?: boolean;
}

/** Logs in with the OpenSSH client, as people do, or with ssh2's where there is none. */
export function login(options: Login): Promise<LoginResult> {
  return hasOpenSsh ? loginWithOpenSsh(options) : loginWithLibrary(options);
}

async function loginWithOpenSsh(options: Login): Promise<LoginResult> {
  const folder = mkdtempSync(join(tmpdir(), 'renter-'));
  const identity = join(folder, 'key');
  writeFileSync(identity, options.key.pem, { mode: 0o600 });
  const settings = ['BatchMode=yes', 'IdentitiesOnly=yes', 'StrictHostKeyChecking=no', 'LogLevel=ERROR'];
  settings.push(`UserKnownHostsFile=${join(folder, 'known_hosts')}`, 'ConnectTimeout=5');
  const args = [
    '-F',
    'none',
    '-i',
    identity,
    '-p',
    String(options.port),
    ...settings.flatMap((text) => ['-o', text]),
  ];
  if (options.tty === true) args.push('-tt');
  args.push(`${options.user}@127.0.0.1`, ...(options.command === null ? [] : [options.command]));
  try {
    return await new Promise((resolve, reject) => {
      const child = spawn('ssh', args);
      const texts = { stdout: '', stderr: '' };
      child.stdout.on('data', (chunk: Buffer) => (texts.stdout += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (texts.stderr += chunk.toString()));
      child.on('error', reject);
      child.on('close', (code) => resolve({ code, ...texts }));
      child.stdin.end(options.input ?? '');
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Logs in with ssh2. A refused login has the exit code 255, as with the OpenSSH client. */
export function loginWithLibrary(options: Login): Promise<LoginResult> {
  return new Promise((resolve) => {
    const client = new ssh2.Client();
    const texts = { stdout: '', stderr: '' };
    const serve = (error: Error | undefined, channel: ssh2.ClientChannel): void => {
      if (error) throw error;
      let code: number | null = null;
      channel.on('data', (chunk: Buffer) => (texts.stdout += chunk.toString()));
      channel.stderr.on('data', (chunk: Buffer) => (texts.stderr += chunk.toString()));
      channel.on('exit', (status: number | null) => (code = status));
      channel.on('close', () => {
        client.end();
        resolve({ code, ...texts });
      });
      channel.end(options.input ?? '');
    };
    client.on('error', (error) => resolve({ code: 255, stdout: '', stderr: error.message }));
    client.on('ready', () => {
      const pty = options.tty === true;
      if (options.command === null) client.shell(pty ? {} : false, serve);
      else client.exec(options.command, { pty }, serve);
    });
    client.connect({
      host: '127.0.0.1',
      port: options.port,
      username: options.user,
      privateKey: options.key.pem,
    });
  });
}
