import assert from 'node:assert/strict';
import { Agent, type Told } from '../../../clients/mcp/support/agent.js';
import { makeSshDir } from '../../../clients/mcp/support/ssh-dir.js';
import { machine, machinesOf, Owner, type LeakedKey } from './owner.js';

interface Tool {
  readonly name: string;
  readonly takes: readonly string[];
  readonly needs: readonly string[];
  readonly isReading: boolean;
}

const CAP_CENTS = 500;

/** What an agent with a leaked key does to others, by each tool that there is: a new one is tried as well. */
describe('a leaked key of an agent, by every tool', () => {
  const sshDir = makeSshDir();
  let owner: Owner;
  let agent: Agent | undefined;
  before(async () => {
    owner = await Owner.start();
  });
  afterEach(async () => {
    await agent?.leave();
    agent = undefined;
  });
  after(async () => {
    sshDir.remove();
    await owner.stop();
  });

  /** Serves an agent by a key, without the caution that its user may switch off. */
  async function serve({ token }: LeakedKey): Promise<Agent> {
    const apiUrl = owner.service.api.url;
    agent = await Agent.start({ apiUrl, apiKey: token, sshDir: sshDir.path, allowUncapped: true });
    return agent;
  }

  async function toolsOf({ client }: Agent): Promise<Tool[]> {
    const { tools } = await client.listTools();
    return tools.map(({ name, inputSchema: { properties = {}, required = [] }, annotations }) => ({
      ...{ name, takes: Object.keys(properties), needs: required },
      isReading: annotations?.readOnlyHint === true,
    }));
  }

  /** What an attacker gives for an argument: what is the owner's, wherever a thing is named. */
  function given(argument: string): unknown {
    const values: Readonly<Record<string, unknown>> = {
      ...{ rentalId: owner.ids['rent'], quoteId: owner.ids['quo'], ledgerEntryId: owner.ids['led'] },
      ...{
        extensionId: 'ext_guessed',
        mine: false,
        after: 0,
        ...machine,
        region: 'us',
        maxPricePerHourCents: 100,
        limit: 100,
      },
      ...{ minVramGb: 1, minVcpus: 1, minMemoryGb: 1, minDiskGb: 1, status: 'running', waitSeconds: 0 },
      ...{ autoStopAfterHours: 1, maxSpendCents: 1, templateId: 'ubuntu-24-04', name: 'theirs now' },
      ...{ stopWhenIdleMinutes: 15, idleIgnores: ['sessions'], telemetry: true, minutes: 60 },
      ...{ image: 'ghcr.io/a/b:1', entrypoint: 'replace', args: ['-v'], env: { A: 'b' }, ports: [] },
    };
    assert.ok(Object.hasOwn(values, argument), `say in this test what an attacker gives for ${argument}`);
    return values[argument];
  }

  /** Calls each tool with all that it takes, and with no more than it needs. */
  async function tryEach(
    by: Agent,
    check: (tool: Tool, asked: object, answer: Told & { isError: boolean }) => void,
  ) {
    for (const tool of await toolsOf(by)) {
      for (const names of [
        tool.needs,
        tool.takes,
        [...tool.needs, ...tool.takes.filter((name) => name.endsWith('Id'))],
      ]) {
        const asked = Object.fromEntries(names.map((name) => [name, given(name)]));
        const { isError, told } = await by.ask(tool.name, asked);
        check(tool, asked, { ...told, isError });
      }
    }
  }

  const namesOther = (asked: object): boolean =>
    ['rentalId', 'quoteId', 'ledgerEntryId'].some((name) => Object.hasOwn(asked, name));

  it('changes, ends and reads nothing of anybody else', async () => {
    const key = await owner.leak(CAP_CENTS);
    const by = await serve(key);
    await owner.unharmed(key, () =>
      tryEach(by, ({ name }, asked, { isError, ...told }) => {
        const text = JSON.stringify(told);
        if (namesOther(asked)) assert.ok(isError, `${name} ${JSON.stringify(asked)}: ${text}`);
        owner.assertTellsNothing(text.replaceAll(owner.ids['rent']!, ''), name);
      }),
    );
    assert.deepEqual(await machinesOf(key.client), []);
  });

  it('ends, limits and renames nothing of anybody else, also where it has no cap and so sees all', async () => {
    const key = await owner.leak(null);
    const by = await serve(key);
    await owner.unharmed(key, async () => {
      await tryEach(by, ({ name, isReading }, asked, { isError, ...told }) => {
        if (!isReading && Object.hasOwn(asked, 'rentalId'))
          assert.ok(isError, `${name}: ${JSON.stringify(told)}`);
      });
      for (const { id: rentalId } of owner.machines) {
        const { extensionId } = await by.call('quote_extension', { rentalId, maxSpendCents: 301 });
        assert.equal((await by.refused('extend', { extensionId }))['error'], 'key_ends_own');
        assert.equal((await by.refused('stop', { rentalId }))['error'], 'key_ends_own');
      }
    });
  });

  it('spends nothing beyond its cap, also by calls that come at once', async () => {
    const key = await owner.leak(CAP_CENTS);
    const by = await serve(key);
    await owner.unharmed(key, async () => {
      const quotes = await Promise.all(
        [100, 200, 300, 400, 500].map((maxSpendCents) => by.call('quote', { ...machine, maxSpendCents })),
      );
      const rented = await Promise.all(quotes.map(({ quoteId }) => by.ask('rent', { quoteId })));
      const { told } = rented.find(({ isError }) => !isError)!;
      assert.ok(rented.some(({ isError }) => isError));
      const { rentalId } = told;
      const extensions = await Promise.all(
        [400, 500, 600].map((maxSpendCents) => by.call('quote_extension', { rentalId, maxSpendCents })),
      );
      await Promise.all(extensions.map(({ extensionId }) => by.ask('extend', { extensionId })));
      await by.call('stop', { rentalId });
    });
  });
});
