import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import {
  connect,
  constants,
  createSecureServer,
  type ClientHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { connect as connectTo, createServer as createRelay, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import proto from '@temporalio/proto';
import { Service, type Namespace } from 'protobufjs';
import { makeAuthority, type Authority, type Identity } from '../../lab/servers/certificates.js';
import { findHaproxy, methodsFile, startGate } from '../../lab/servers/haproxy.js';
import { findFreePorts } from '../../lab/stack/ports.js';
import { until } from '../support/until.js';

const roles = ['gpu-rental-api', 'gpu-rental-worker', 'gpu-rental-ops'] as const;

/** The lines of the one list that the gate reads. */
const lines = readFileSync(methodsFile, 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));
const allowed = new Set(lines);

/** Every method that a Temporal server may have, as paths. */
const paths = [
  ...servicesIn(proto as unknown as Namespace),
  // The server's own, of which the SDK knows nothing.
  '/temporal.server.api.adminservice.v1.AdminService/DeleteWorkflowExecution',
  '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
];

describe('the methods of Temporal that each certificate may call', () => {
  it('are methods that there are, of the three roles', () => {
    const known = roles.flatMap((role) => paths.map((path) => `${role}${path}`));
    assert.ok(paths.length > 120, 'the protocol was read');
    assert.deepEqual(
      lines.filter((line) => !known.includes(line)),
      [],
    );
    assert.equal(allowed.size, lines.length, 'none stands twice');
  });

  it('let nobody but the worker do its tasks, and nobody rewrite or remove what ran', () => {
    const mayCall = (role: string) => paths.filter((path) => allowed.has(role + path)).map(nameOf);
    const work = /^(Poll\w*TaskQueue|Respond|Record|ShutdownWorker)/;
    for (const role of ['gpu-rental-api', 'gpu-rental-ops']) {
      assert.deepEqual(
        mayCall(role).filter((name) => work.test(name)),
        [],
      );
    }
    const rewrites =
      /^(Reset|Delete|Update(?!WorkflowExecution$|Schedule$)|Patch|Pause|Unpause|RegisterNamespace|Deprecate|StartBatch|RequestCancel)/;
    for (const role of roles) {
      assert.deepEqual(
        mayCall(role).filter((name) => rewrites.test(name)),
        [],
      );
    }
    assert.deepEqual(
      mayCall('gpu-rental-api').filter((name) => /Terminate|Schedule|History|List|Query/.test(name)),
      [],
    );
    assert.ok(!mayCall('gpu-rental-worker').includes('TerminateWorkflowExecution'));
  });
});

describe('HAProxy before Temporal', () => {
  const folder = mkdtempSync(join(tmpdir(), 'temporal-gate-'));
  const stops: (() => unknown)[] = [];
  const asked: { path: string; authorization: unknown }[] = [];
  let outer: Authority;
  let inner: Authority;
  let port: number;
  let serverPort: number;

  before(async () => {
    const command = findHaproxy(process.env['PATH'] ?? '');
    assert.ok(command !== undefined, 'HAProxy is needed: apt-get install haproxy');
    outer = makeAuthority(join(folder, 'outer'));
    inner = makeAuthority(join(folder, 'inner'));
    serverPort = await startServer(inner, asked, stops);
    [port = 0] = await findFreePorts(1);
    const gate = await startGate({
      ...{ command, port, logFile: join(folder, 'gate.log') },
      outer: { authority: outer, identity: outer.issue('temporal-gate') },
      server: {
        ...{ address: `127.0.0.1:${serverPort}`, name: 'temporal', authority: inner },
        identity: inner.issue('gate'),
      },
    });
    stops.push(() => gate.stop());
  });
  after(async () => {
    for (const stop of stops.reverse()) await stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('hands on exactly the methods of the list, for each certificate and each method that there is', async () => {
    for (const role of [...roles, 'a-stranger']) {
      asked.length = 0;
      const session = enter(port, outer, outer.issue(role));
      const answers = await Promise.all(
        paths.map(async (path) => [path, await call(session, path)] as const),
      );
      session.close();
      assert.deepEqual(
        answers.filter(([path, status]) => status !== (allowed.has(role + path) ? '0' : '7')),
        [],
        role,
      );
      const passed = asked.map(({ path }) => path).sort();
      assert.deepEqual(passed, paths.filter((path) => allowed.has(role + path)).sort(), role);
    }
  });

  it('takes another spelling of a method for another method', async () => {
    const session = enter(port, outer, outer.issue('gpu-rental-api'));
    const path = '/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo';
    asked.length = 0;
    for (const spelled of [
      `${path}?x`,
      `/${path}`,
      `${path}/`,
      path.toLowerCase(),
      path.replace('S', '%53'),
    ]) {
      assert.equal(await call(session, spelled), '7', spelled);
    }
    assert.deepEqual(asked, []);
    session.close();
  });

  it('hands on no credentials of a caller', async () => {
    asked.length = 0;
    const session = enter(port, outer, outer.issue('gpu-rental-api'));
    const path = '/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo';
    assert.equal(await call(session, path, { authorization: 'Bearer mine' }), '0');
    assert.deepEqual(asked, [{ path, authorization: undefined }]);
    session.close();
  });

  it('lets in nobody without a certificate of its own authority', async () => {
    const path = '/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo';
    for (const identity of [undefined, inner.issue('gpu-rental-api')]) {
      await assert.rejects(call(enter(port, outer, identity), path));
    }
  });

  it('is the only way: the server takes no certificate of a process', async () => {
    const path = '/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo';
    for (const role of roles) {
      await assert.rejects(call(enter(serverPort, inner, outer.issue(role)), path), role);
    }
    const session = enter(serverPort, inner, inner.issue('gate'));
    assert.equal(await call(session, path), '0');
    session.close();
  });

  it('lets no process that takes no answers keep the others from theirs', async () => {
    const path = '/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo';
    const identity = outer.issue('gpu-rental-api');
    const relay = await startRelay(port, stops);
    const stuck = enter(relay.port, outer, identity);
    assert.equal(await call(stuck, path), '0');
    asked.length = 0;
    for (let sent = 0; sent < 30; sent += 1) call(stuck, path, { [large]: '' }).catch(() => undefined);
    await until('all of them wait for their answers', () => asked.length === 30);
    relay.stall();
    for (const answer of held) answer();
    for (let turn = 0; turn < 6; turn += 1) {
      const session = enter(port, outer, identity);
      assert.equal(await Promise.race([call(session, path), sleep(5_000, 'no answer')]), '0');
      session.close();
    }
    stuck.destroy();
  });

  it('waits longer than the server’s polls of a minute', () => {
    const text = readFileSync(join(methodsFile, '..', 'haproxy.cfg'), 'utf8');
    const limits = [...text.matchAll(/^ {2}timeout (client|server) (\d+)s$/gm)].map(([, , seconds]) =>
      Number(seconds),
    );
    assert.equal(limits.length, 2);
    assert.ok(limits.every((seconds) => seconds > 70));
  });
});

/** The header that asks for a large answer, and those that wait until the test gives them. */
const large = 'x-large';
const held: (() => void)[] = [];

/** Passes connections on, until it takes nothing of what comes back, as a process does that stands still. */
async function startRelay(to: number, stops: (() => unknown)[]): Promise<{ port: number; stall(): void }> {
  const open: Socket[] = [];
  const server = createRelay((client) => {
    const gate = connectTo(to, '127.0.0.1');
    open.push(gate, client);
    for (const socket of [gate, client]) socket.on('error', () => undefined);
    client.pipe(gate).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  stops.push(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    stall() {
      for (const socket of open) socket.unpipe();
      open[0]?.pause();
      open[1]?.pipe(open[0]!);
    },
  };
}

/** A server that asks for certificates and answers every method. */
async function startServer(
  authority: Authority,
  asked: { path: string; authorization: unknown }[],
  stops: (() => unknown)[],
): Promise<number> {
  const { certPath, keyPath } = authority.issue('temporal');
  const server = createSecureServer({
    ...{ cert: readFileSync(certPath), key: readFileSync(keyPath), ca: readFileSync(authority.certPath) },
    ...{ requestCert: true, rejectUnauthorized: true },
  });
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    asked.push({ path: String(headers[':path']), authorization: headers.authorization });
    stream.on('error', () => undefined);
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '0' });
    if (headers[large] === undefined) stream.end();
    else held.push(() => stream.end(Buffer.alloc(400_000)));
  });
  const open = new Set<{ destroy(): void }>();
  server.on('session', (session) => open.add(session));
  stops.push(() => {
    for (const session of open) session.destroy();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return (server.address() as AddressInfo).port;
}

function enter(port: number, authority: Authority, identity: Identity | undefined): ClientHttp2Session {
  const session = connect(`https://localhost:${port}`, {
    ca: readFileSync(authority.certPath),
    ...(identity && { cert: readFileSync(identity.certPath), key: readFileSync(identity.keyPath) }),
  });
  session.on('error', () => undefined);
  session.setMaxListeners(0);
  return session;
}

/** @returns the status of gRPC @throws Error when the connection was refused */
function call(
  session: ClientHttp2Session,
  path: string,
  headers: Record<string, string> = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const refused = () => reject(new Error('refused'));
    session.once('close', refused);
    session.once('error', refused);
    const stream = session.request(
      { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', ...headers },
      { endStream: true },
    );
    stream.once('error', refused);
    stream.once('close', () => {
      if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) refused();
    });
    stream.once('response', (answer) => resolve(String(answer['grpc-status'])));
    stream.resume();
  });
}

/** The paths of all methods of all services below a namespace of the protocol. */
function servicesIn(space: Namespace): string[] {
  return space.nestedArray.flatMap((one) => {
    if (one instanceof Service) {
      return one.methodsArray.map(({ name }) => `/${one.fullName.slice(1)}/${name}`);
    }
    return 'nestedArray' in one ? servicesIn(one as Namespace) : [];
  });
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
