import assert from 'node:assert/strict';
import { until } from '../support/until.js';
import { signIn, topUp, type Backend, type Person } from './backends.js';
import { ContractClient } from './through-client.js';

const machine = { familyId: 'rtx-4090', gpuCount: 1 };
const secrets = ['secret-of-args', 'secret-of-env', 'secret-of-registry'] as const;
const [arg, value, password] = secrets;

interface Endpoint {
  readonly name: string;
  readonly machinePort: number;
  readonly public: boolean;
  readonly url: string | null;
  readonly auth: string;
}

/** What a quote says of software with one public port. */
const told = { graceSeconds: 120, publicPorts: ['page'], imageNeeds: [] };

/** What renters bring along, and the notebook that a template brings. */
export function describeSoftware(backend: () => Backend): void {
  let person: Person;
  before(async () => {
    person = await signIn(backend());
    await topUp(backend(), person, 2_000);
  });

  const endpointsOf = async (id: string) =>
    (await person.get(`/v1/rentals/${id}`)).body as unknown as {
      status: string;
      endpoints: Endpoint[];
      software: object | null;
    };
  const awaitStatus = (id: string, status: string) =>
    until(`it is ${status}`, async () => {
      const rental = await endpointsOf(id);
      return rental.status === status && rental;
    });

  describe('own software', () => {
    it('is quoted, runs with its ports, and is shown without anything secret', async () => {
      const quote = await person.post('/v1/quotes', {
        ...{ ...machine, image: 'ghcr.io/ada/page:1', args: [arg], env: { TOKEN: value } },
        registryAuth: { username: 'ada', password },
        ports: [
          { name: 'page', port: 8080, kind: 'http', public: true },
          { name: 'db', port: 5432, kind: 'tcp' },
        ],
      });
      assert.equal(quote.status, 200, quote.text);
      assert.deepEqual(quote.body.ownSoftware, told);
      const opened = await person.post('/v1/rentals', { quoteId: quote.body.quoteId });
      const rental = await awaitStatus(opened.body.id, 'running');
      assert.deepEqual(rental.software, {
        ...{ image: 'ghcr.io/ada/page:1', entrypoint: 'keep', envNames: ['TOKEN'], hasArgs: true },
        ...{ hasStartScript: false, hasRegistryAuth: true, diskGb: null },
      });
      const [page, db] = rental.endpoints;
      assert.match(page?.url ?? '', /^http:\/\/[\d.]+:8080\/$/);
      assert.deepEqual([page?.auth, db?.name, db?.url, db?.public], ['none', 'db', null, false]);
      const none = await person.get(`/v1/rentals/${opened.body.id}/endpoints/page/token`);
      assert.deepEqual([none.status, none.body.error], [404, 'endpoint_not_found']);
      await person.post(`/v1/rentals/${opened.body.id}/stop`);
      for (const { text } of [quote, opened]) {
        for (const secret of secrets) assert.ok(!text.includes(secret), text);
      }
    });

    it('runs a script in place of an entrypoint, and says what the image needs for that', async () => {
      const wish = { ...machine, image: 'ghcr.io/ada/page:1', entrypoint: 'replace', args: [arg] };
      const startScript = `echo ${value}`;
      const quote = await person.post('/v1/quotes', { ...wish, startScript });
      assert.deepEqual(quote.body.ownSoftware, {
        ...{ ...told, publicPorts: [], imageNeeds: ['sh', 'base64', 'mktemp', 'chmod', 'curl_or_wget'] },
      });
      const closed = { name: 'db', port: 5432, kind: 'tcp' };
      const words = await person.post('/v1/quotes', { ...wish, ports: [closed] });
      assert.deepEqual(words.body.ownSoftware, { ...told, publicPorts: [] });
      const opened = await person.post('/v1/rentals', { quoteId: quote.body.quoteId });
      const { software } = await endpointsOf(opened.body.id);
      assert.deepEqual(software, {
        ...{ image: wish.image, entrypoint: 'replace', envNames: [], hasArgs: true, hasStartScript: true },
        ...{ hasRegistryAuth: false, diskGb: null },
      });
      await person.post(`/v1/rentals/${opened.body.id}/stop`);
    });

    it('is refused where nothing takes the place of an entrypoint, or there is none', async () => {
      for (const wish of [{ image: 'a/b:1' }, { startScript: 'true' }, { image: 'a/b:1', env: { A: 'b' } }]) {
        const { status, body, text } = await person.post('/v1/quotes', {
          ...{ ...machine, ...wish, entrypoint: 'replace' },
        });
        assert.deepEqual([status, body.error], [400, 'validation_failed'], text);
        assert.equal(body.details.fields[0]?.field, 'entrypoint');
      }
    });

    it('is refused by field, without its values, where no provider can run it', async () => {
      const wish = { ...machine, image: 'a/b:1', startScript: `echo ${value}` };
      for (const path of ['/v1/quotes', '/v1/rentals']) {
        const { status, body, text } = await person.post(path, wish);
        assert.deepEqual([status, body.error], [400, 'software_unsupported'], text);
        assert.equal(body.details.misfits[0]?.field, 'startScript');
        assert.ok(!text.includes(value), text);
      }
    });
  });

  describe('a notebook', () => {
    const wish = { ...machine, templateId: 'jupyter' };
    const tokenAt = (id: string, name = 'notebook') => `/v1/rentals/${id}/endpoints/${name}/token`;
    let id: string;

    it('is a port behind a token, which is read by itself alone', async () => {
      const opened = await person.post('/v1/rentals', wish);
      assert.equal(opened.status, 200, opened.text);
      id = opened.body.id;
      const rental = await awaitStatus(id, 'running');
      assert.equal(rental.software, null);
      assert.deepEqual(
        rental.endpoints.map(({ name, machinePort, auth, ...shown }) => [
          name,
          machinePort,
          auth,
          shown.public,
          shown.url,
        ]),
        [['notebook', 8888, 'token', false, null]],
      );
      const { status, body, headers } = await person.get(tokenAt(id));
      assert.equal(status, 200);
      const { token } = body as unknown as { token: string };
      assert.match(token, /^[0-9a-f]{64}$/);
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.equal(((await person.get(tokenAt(id))).body as unknown as { token: string }).token, token);
      for (const path of [`/v1/rentals/${id}`, '/v1/rentals', '/v1/events?limit=200', '/v1/audit']) {
        assert.ok(!(await person.get(path)).text.includes(token), path);
      }
    });

    it('tells its token to sessions of its user, and to the key that opened it', async () => {
      assert.equal((await person.get(tokenAt(id, 'other'))).body.error, 'endpoint_not_found');
      const stranger = await signIn(backend());
      assert.equal((await stranger.get(tokenAt(id))).body.error, 'rental_not_found');
      const made = (await person.post('/v1/api-keys', { name: 'ci', scopes: ['read', 'rentals'] })).body;
      const { key: text } = made as unknown as { key: string };
      const key = Object.assign(new ContractClient(backend().url), { key: text });
      const refused = await key.get(tokenAt(id));
      assert.deepEqual([refused.status, refused.body.error], [403, 'session_required']);
      const own = (await key.post('/v1/rentals', wish)).body;
      assert.equal((await key.get(tokenAt(own.id))).status, 200);
      await key.post(`/v1/rentals/${own.id}/stop`);
    });

    it('has no token any more once it is stopped', async () => {
      await person.post(`/v1/rentals/${id}/stop`);
      assert.equal((await person.get(tokenAt(id))).body.error, 'endpoint_not_found');
    });

    it('may be public, and has its port and its name for itself', async () => {
      const port = { name: 'lab', port: 8888, kind: 'http', public: true };
      const { body } = await person.post('/v1/quotes', { ...wish, ports: [port] });
      assert.deepEqual(body.ownSoftware, { ...told, publicPorts: ['lab'] });
      for (const wrong of [
        { ...port, kind: 'tcp' },
        { ...port, name: 'notebook', port: 9000 },
      ]) {
        const refused = await person.post('/v1/quotes', { ...wish, ports: [wrong] });
        assert.equal(refused.body.error, 'validation_failed', refused.text);
        assert.equal(refused.body.details.fields[0]?.field, 'ports');
      }
    });
  });
}
