import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, connect } from 'node:net';
import { createSecureServer, type ServerHttp2Stream } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { NativeConnection } from '@temporalio/worker';
import { connectTemporal } from '../../../adapters/temporal/client.js';
import { withTemporal } from '../../../adapters/temporal/command.js';
import { createTemporalGate, findRefusal } from '../../../adapters/temporal/gate.js';
import { connectionTo, connectOrSay } from '../../../adapters/temporal/place.js';
import { readTemporal } from '../../../config.js';
import { makeAuthority, type Authority, type Identity } from '../../../lab/servers/certificates.js';
import { readStackSettings } from '../../../lab/stack/settings.js';
import { findTemporalFault } from '../../../lab/servers/temporal.js';
import { getTemporal } from '../../support/servers/servers.js';

describe('Temporal behind TLS with client certificates', () => {
  const folder = mkdtempSync(join(tmpdir(), 'temporal-tls-'));
  const closes: (() => unknown)[] = [];
  let authority: Authority;
  let client: Identity;
  let address: string;
  let env: NodeJS.ProcessEnv;

  before(async () => {
    authority = makeAuthority(folder);
    client = authority.issue('worker');
    const temporal = await getTemporal();
    address = await startFront(authority, temporal.address, closes);
    env = {
      TEMPORAL_ADDRESS: address,
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority.certPath,
      TEMPORAL_TLS_CLIENT_CERT_PATH: client.certPath,
      TEMPORAL_TLS_CLIENT_KEY_PATH: client.keyPath,
    };
  });
  after(() => {
    for (const close of closes) close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('lets in the worker, its activities, the API, a command and the local stack by the same variables', async () => {
    const place = readTemporal(env);
    const native = await connectOrSay(place, () => NativeConnection.connect(connectionTo(place)));
    await native.close();
    const activities = await connectTemporal(place);
    await activities.connection.workflowService.describeNamespace({ namespace: 'default' });
    await activities.connection.close();
    const gate = createTemporalGate(place);
    assert.equal(await findRefusal(gate, place, 5_000), undefined);
    await gate.close();
    await withTemporal(place, ({ connection }) =>
      connection.workflowService.describeNamespace({ namespace: 'default' }),
    );
    const { temporal } = readStackSettings(env);
    assert.ok(temporal);
    assert.equal(await findTemporalFault(temporal), undefined);
  });

  it('is entered by a profile of a file, and by the texts of certificates', async () => {
    const { TEMPORAL_TLS_CLIENT_CERT_PATH: cert, TEMPORAL_TLS_CLIENT_KEY_PATH: key } = env;
    const byText = {
      ...env,
      ...{ TEMPORAL_TLS_CLIENT_CERT_PATH: '', TEMPORAL_TLS_CLIENT_KEY_PATH: '' },
      TEMPORAL_TLS_CLIENT_CERT_DATA: readFileSync(String(cert), 'utf8'),
      TEMPORAL_TLS_CLIENT_KEY_DATA: readFileSync(String(key), 'utf8'),
    };
    assert.equal(await findTemporalFault(readTemporal(byText)), undefined);
    const file = join(folder, 'temporal.toml');
    const lines = [
      '[profile.prod]',
      `address = "${address}"`,
      'namespace = "default"',
      '[profile.prod.tls]',
      `server_ca_cert_path = "${authority.certPath}"`,
      `client_cert_path = "${String(cert)}"`,
      `client_key_path = "${String(key)}"`,
    ];
    writeFileSync(file, lines.join('\n'));
    const byFile = readTemporal({ TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'prod' });
    assert.equal(await findTemporalFault(byFile), undefined);
  });

  it('says what to look at when a side does not accept the other', async () => {
    const without = { ...env, TEMPORAL_TLS_CLIENT_CERT_PATH: '', TEMPORAL_TLS_CLIENT_KEY_PATH: '' };
    assert.match(await told(without), /over TLS \(.*TEMPORAL_TLS_CLIENT_CERT_PATH/);
    const stranger = makeAuthority(join(folder, 'stranger'));
    const unknown = stranger.issue('worker');
    const { certPath, keyPath } = unknown;
    const shown = { TEMPORAL_TLS_CLIENT_CERT_PATH: certPath, TEMPORAL_TLS_CLIENT_KEY_PATH: keyPath };
    assert.match(await told({ ...env, ...shown }), /over TLS \(.*TEMPORAL_TLS_CLIENT_CERT_PATH/);
    const trusted = { TEMPORAL_TLS_SERVER_CA_CERT_PATH: stranger.certPath };
    assert.match(await told({ ...env, ...trusted }), /over TLS \(.*TEMPORAL_TLS_SERVER_CA_CERT_PATH/);
    const named = { TEMPORAL_TLS_SERVER_NAME: 'elsewhere.example.com' };
    assert.match(await told({ ...env, ...named }), /ERR_TLS_CERT_ALTNAME_INVALID/);
  });

  it('says it when no TLS was set, when nobody is there, and when the namespace is another', async () => {
    assert.match(await told({ TEMPORAL_ADDRESS: address }), /set TEMPORAL_TLS=true/);
    assert.match(await told({ TEMPORAL_ADDRESS: await freeAddress() }), /can't be reached \(ECONNREFUSED\)/);
    const place = readTemporal({ ...env, TEMPORAL_NAMESPACE: 'no-such' });
    assert.match((await findTemporalFault(place)) ?? '', /answers, and refuses.*no-such/);
  });

  it('calls a server that is late late, and looks for no fault in what it was shown', async () => {
    const { certPath, keyPath } = authority.issue('late');
    const late = createSecureServer({ cert: readFileSync(certPath), key: readFileSync(keyPath) });
    late.on('session', (session) => closes.push(() => session.destroy()));
    closes.push(() => late.close());
    const place = readTemporal({ ...env, TEMPORAL_ADDRESS: await listen(late) });
    const gate = createTemporalGate(place);
    const why = await findRefusal(gate, place, 500);
    await gate.close();
    assert.match(why ?? '', /takes calls, and answers none in time: .*overloaded/s);
  });

  it('shows an API key over TLS, and says it when the key is refused', async () => {
    const { certPath, keyPath } = authority.issue('cloud');
    const keys: unknown[] = [];
    const cloud = createSecureServer({ cert: readFileSync(certPath), key: readFileSync(keyPath) });
    cloud.on('stream', (stream: ServerHttp2Stream, headers) => {
      keys.push(headers.authorization);
      stream.respond(
        {
          ':status': 200,
          ...{ 'content-type': 'application/grpc', 'grpc-status': '16', 'grpc-message': 'bad key' },
        },
        { endStream: true },
      );
    });
    closes.push(() => cloud.close());
    const place = readTemporal({
      TEMPORAL_ADDRESS: await listen(cloud),
      TEMPORAL_API_KEY: 'a-key',
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority.certPath,
    });
    assert.match((await findTemporalFault(place)) ?? '', /refuses this process: .*Check TEMPORAL_API_KEY/s);
    assert.equal(keys[0], 'Bearer a-key');
  });
});

/** What the worker says as it starts. */
async function told(env: NodeJS.ProcessEnv): Promise<string> {
  const place = readTemporal(env);
  const fault = await connectOrSay(place, () => NativeConnection.connect(connectionTo(place))).then(
    () => new Error('it was let in'),
    (error: unknown) => error as Error,
  );
  return fault.message;
}

/** TLS with client certificates before the dev server, which has none. */
async function startFront(authority: Authority, address: string, closes: (() => unknown)[]): Promise<string> {
  const { certPath, keyPath } = authority.issue('temporal');
  const [host = '', port] = address.split(':');
  const server = createTlsServer(
    {
      ...{ cert: readFileSync(certPath), key: readFileSync(keyPath), ca: readFileSync(authority.certPath) },
      ...{ requestCert: true, rejectUnauthorized: true, ALPNProtocols: ['h2'] },
    },
    (socket) => {
      const behind = connect(Number(port), host);
      socket.pipe(behind).pipe(socket);
      closes.push(() => {
        socket.destroy();
        behind.destroy();
      });
      socket.on('error', () => behind.destroy());
      behind.on('error', () => socket.destroy());
    },
  );
  closes.push(() => server.close());
  return listen(server);
}

async function freeAddress(): Promise<string> {
  const server = createServer();
  const address = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return address;
}

function listen(server: ReturnType<typeof createServer>): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve(`127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });
}
