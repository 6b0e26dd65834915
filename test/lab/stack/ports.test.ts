import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { assertPortsFree, findFreePorts } from '../../../lab/stack/ports.js';
import { readStackSettings } from '../../../lab/stack/settings.js';

const variables = [
  'API_PORT',
  'LAB_POSTGRES_PORT',
  'LAB_TEMPORAL_PORT',
  'LAB_TEMPORAL_UI_PORT',
  'LAB_PROVIDER_PORT',
  'LAB_PROCESSOR_PORT',
  'LAB_MAIL_PORT',
  'LAB_SMTP_PORT',
];

describe('the ports of the stack', () => {
  let taken: Server;
  let takenPort: number;
  let env: Record<string, string>;

  beforeEach(async () => {
    taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    takenPort = (taken.address() as AddressInfo).port;
    const free = await findFreePorts(variables.length);
    env = Object.fromEntries(variables.map((name, index) => [name, String(free[index])]));
  });
  afterEach(async () => {
    await new Promise((resolve) => taken.close(resolve));
  });

  const check = (changes: Record<string, string>) => {
    const settings = readStackSettings({ ...env, ...changes });
    return assertPortsFree(settings, { afterCrash: false, log: () => undefined });
  };

  it('are fine when nobody listens on them', () => check({}));

  it('that are taken are named, with who may hold them and the variable to set', async () => {
    const port = String(takenPort);
    await assert.rejects(check({ API_PORT: port }), (error: Error) => {
      assert.match(error.message, new RegExp(`Port ${port} for the API is taken`));
      assert.match(error.message, /another web server/);
      assert.match(error.message, /set API_PORT/);
      return true;
    });
  });

  it('of servers that run elsewhere are not looked at', () =>
    check({
      LAB_POSTGRES_PORT: String(takenPort),
      DATABASE_URL: 'postgres://db/x',
    }));

  it('found free are all different', async () => {
    const ports = await findFreePorts(20);
    assert.equal(new Set(ports).size, 20);
  });

  it('found free are none that the system hands out by itself', async () => {
    const used = (taken.address() as AddressInfo).port;
    assert.ok(Math.max(...(await findFreePorts(200))) < Math.min(used, 32_768));
  });
});
