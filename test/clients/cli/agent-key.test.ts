import assert from 'node:assert/strict';
import type { ApiKey } from '@gpu-rental/client';
import { startMock, type MockServer } from '../../../lab/mock/server.js';
import { Agent } from '../mcp/support/agent.js';
import type { Ran } from './support/gpu.js';
import { mailedCode, Person } from './support/person.js';
import { gpuArgs } from './support/terminal.js';

describe('the key that gpu mcp makes for agents', () => {
  let mock: MockServer;
  let ann: Person;
  const agents: Agent[] = [];

  before(async () => {
    mock = await startMock({ port: 0, durations: { provisionMs: 50, tickMs: 50, endMs: 20 } });
  });
  beforeEach(async () => {
    ann = await Person.at(mock);
    await ann.pay(200);
  });
  afterEach(async () => {
    for (const agent of agents.splice(0)) await agent.leave();
  });
  after(() => mock.stop());

  /** Runs a line in a terminal of a computer whose only sign-ins are those that it keeps. */
  const atTerminal = (line: string, types: Readonly<Record<string, string>> = {}): Promise<Ran> =>
    ann.type(line, { env: { GPU_API_KEY: '' }, types });

  const setUp = (cap = '20'): Promise<Ran> =>
    atTerminal('mcp', {
      ...{ 'How much may': cap, 'How many days': '30', 'Your email address': ann.email },
      ...mailedCode,
    });

  const keys = async (): Promise<readonly ApiKey[]> => {
    const { body } = await ann.elsewhere.get('/v1/api-keys');
    return (body as unknown as { apiKeys: ApiKey[] }).apiKeys.filter(
      ({ name }) => name === 'agent on laptop',
    );
  };

  async function serve(args = ['mcp']): Promise<Agent> {
    const env = { PATH: process.env['PATH'] ?? '', HOME: ann.home, GPU_API_URL: mock.url };
    const agent = await Agent.spawn([...(await gpuArgs()), ...args], env);
    agents.push(agent);
    return agent;
  }

  it('is made at its first start in a terminal, with the cap and the end that it asks for', async () => {
    const { code, out, err } = await setUp();
    assert.equal(code, 0, err);
    const [made, ...more] = await keys();
    assert.equal(more.length, 0);
    assert.deepEqual(
      [made?.ends, made?.spendCapCents, made?.scopes],
      ['own', 2_000, ['read', 'rentals', 'billing']],
    );
    assert.equal(Math.round((Date.parse(made!.expiresAt) - Date.now()) / 86_400_000), 30);
    assert.match(out, /\$20\.00/);
    assert.match(out, /"mcpServers"/);
    assert.match(out, /"args": \["mcp", "--url", "http:/);
    assert.doesNotMatch(out + err, /gpur_/, 'the key is shown to nobody');

    const again = await atTerminal('mcp');
    assert.deepEqual([again.code, again.out], [0, out], again.err);
    assert.equal((await keys()).length, 1);
  });

  it('is the one by which agents are served from then on', async () => {
    await setUp('3');
    const agent = await serve();
    const { key } = (await agent.call('balance')) as { key: { leftCents: number; endsOwn: boolean } };
    assert.deepEqual([key.leftCents, key.endsOwn], [300, true]);
    const wish = { familyId: 'rtx-4090', gpuCount: 1 };
    const { quoteId } = await agent.call('quote', { ...wish, maxSpendCents: 200 });
    const { rentalId } = await agent.call('rent', { quoteId });
    const later = await serve();
    await later.call('stop', { rentalId });
  });

  it('is made anew when it holds no more, and agents are told how', async () => {
    await setUp();
    const [first] = await keys();
    await ann.elsewhere.delete(`/v1/api-keys/${first!.id}`);
    const agent = await serve();
    const refused = await agent.refused('list');
    assert.equal(refused['error'], 'key_revoked');
    assert.match(String(refused['next']), /gpu mcp in a terminal/);
    assert.equal((await setUp()).code, 0);
    assert.equal((await keys()).length, 2);
    await (await serve()).call('list');
  });

  it('is asked for again with the profile that the agent is served by', async () => {
    const typed = { 'How much may': '20', 'How many days': '30', 'Your email address': ann.email };
    await ann.type('mcp --profile work', { env: { GPU_API_KEY: '' }, types: { ...typed, ...mailedCode } });
    const [made] = await keys();
    await ann.elsewhere.delete(`/v1/api-keys/${made!.id}`);
    const refused = await (await serve(['mcp', '--profile', 'work'])).refused('list');
    assert.match(String(refused['next']), /run gpu --profile work mcp in a terminal/);
  });

  it('is missed aloud where nobody can be asked, and nothing is spent then', async () => {
    await ann.type(`login --key`, { env: { GPU_API_KEY: '' }, input: ann.apiKey! });
    const env = { GPU_API_KEY: '' };
    const { code, out, err } = await ann.type('mcp', { env, input: '' });
    assert.deepEqual([code, out], [0, '']);
    assert.match(err.replace(/\s+/g, ' '), /not by a key of its own.*run it in a terminal once: gpu mcp/);
    const given = await ann.type('mcp', { input: '' });
    assert.deepEqual([given.code, given.err], [0, ''], 'GPU_API_KEY says which key it is');
    assert.equal((await keys()).length, 0);
  });

  it('is found by the server that it prints, also by the key of a profile', async () => {
    await ann.type('--profile work login --key', { env: { GPU_API_KEY: '' }, input: ann.apiKey! });
    const types = { 'How much may': '3', 'How many days': '30', ...mailedCode };
    for (const [line, env] of [
      ['--profile work mcp --json', {}],
      ['mcp --json', { GPU_PROFILE: 'work' }],
    ] as const) {
      const { code, out, err } = await ann.type(line, { env: { ...env, GPU_API_KEY: '' }, types });
      assert.equal(code, 0, err);
      const { mcpServers } = JSON.parse(out) as { mcpServers: { gpu: { args: string[] } } };
      const { args } = mcpServers.gpu;
      assert.deepEqual(args.slice(0, 3), ['--profile', 'work', 'mcp']);
      const { key } = (await (await serve(args)).call('balance')) as { key: { leftCents: number } };
      assert.equal(key.leftCents, 300);
    }
    assert.equal((await keys()).length, 1);
  });

  it('is not used while somebody else is signed in, and gets a successor of theirs', async () => {
    const bob = await Person.at(mock);
    assert.match((await setUp()).out, new RegExp(`Account +${ann.email}`));
    await ann.type('login --key', { env: { GPU_API_KEY: '' }, input: bob.apiKey! });

    const served = await ann.type('mcp', { env: { GPU_API_KEY: '' }, input: '' });
    assert.equal(served.code, 0);
    const said = served.err.replace(/\s+/g, ' ');
    assert.match(
      said,
      new RegExp(`belongs to ${ann.email}, and you are signed in as ${bob.email}: it is not`),
    );
    assert.match(said, /run it in a terminal once: gpu mcp/);

    const { code, out, err } = await setUp();
    assert.equal(code, 0, err);
    assert.match(
      err.replace(/\s+/g, ' '),
      new RegExp(`belongs to ${ann.email}.*--profile ${ann.email} --revoke`),
    );
    assert.match(out, new RegExp(`Account +${bob.email}`));
    const { body } = await bob.elsewhere.get('/v1/api-keys');
    const { apiKeys } = body as unknown as { apiKeys: ApiKey[] };
    assert.equal(apiKeys.filter(({ name }) => name === 'agent on laptop').length, 1);
    assert.equal((await ann.type('mcp', { env: { GPU_API_KEY: '' }, input: '' })).err, '');
  });

  it('is named when its user signs out, and forgotten by its profile', async () => {
    await setUp();
    const { out } = await atTerminal('logout');
    assert.match(out.replace(/\s+/g, ' '), /gpu logout --profile agent/);
    await atTerminal('logout --profile agent');
    assert.doesNotMatch((await atTerminal('logout')).out, /--profile agent/);
  });
});
