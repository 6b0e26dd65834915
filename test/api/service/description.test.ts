import assert from 'node:assert/strict';
import { createRouter } from '../../../api/app.js';
import { refusalStatus } from '../../../domain/refusal.js';
import { startApi, type TestApi } from '../../support/http/api.js';
import {
  checkDescribed,
  describedOperations,
  document,
  faultOf,
  type DescribedOperation,
} from '../../support/http/described.js';
import { openApiFault } from '../../support/http/openapi-rules.js';

/** What the expressions of a link, `$response.body#/…`, find in the first example of an answer. */
function valuesIn({ content }: DescribedOperation['responses'][string]) {
  const [example] = Object.values(content?.['application/json']?.examples ?? {});
  const valueAt = (expression: string): unknown => {
    const pointer = expression.replace('$response.body#/', '').split('/');
    return pointer.reduce(
      (part: unknown, key) => (part as Record<string, unknown> | undefined)?.[key],
      example?.value,
    );
  };
  return (expressions: Readonly<Record<string, string>>): Record<string, unknown> =>
    Object.fromEntries(Object.entries(expressions).map(([name, at]) => [name, valueAt(at)]));
}

function bodyOf({ requestBody }: DescribedOperation): Record<string, unknown> {
  return requestBody?.content['application/json']?.schema ?? {};
}

describe('the description of the API', () => {
  let api: TestApi;

  before(async () => {
    api = await startApi();
  });
  after(() => api.stop());

  it('is answered at /v1/openapi.json without a session', async () => {
    const answer = await api.stranger().get('/v1/openapi.json');
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, JSON.parse(JSON.stringify(document)) as unknown);
  });

  it('is OpenAPI 3.1', () => {
    assert.equal(openApiFault(JSON.parse(JSON.stringify(document)) as object), undefined);
  });

  it('is refused by the same rules when it is broken', () => {
    const broken = JSON.parse(JSON.stringify(document)) as {
      paths: Record<string, { get: Record<string, unknown> }>;
    };
    delete broken.paths['/v1/rentals']!.get['responses'];
    assert.match(openApiFault(broken) ?? '', /responses/);
  });

  it('describes every route, and no other', () => {
    const routes = createRouter(api.deps).stack.flatMap((layer) =>
      layer.methods
        .filter((method) => method !== 'HEAD')
        .map((method) => `${method.toLowerCase()} ${String(layer.path).replaceAll(/:(\w+)/g, '{$1}')}`),
    );
    assert.ok(routes.length > 30);
    const described = [...describedOperations().keys()];
    const missing = routes.filter((route) => !described.includes(route));
    assert.deepEqual(
      missing,
      [],
      `Routes without a description: add ${missing.join(', ')} in a describe.ts of api/.`,
    );
    const gone = described.filter((route) => !routes.includes(route));
    assert.deepEqual(
      gone,
      [],
      `Descriptions without a route: remove ${gone.join(', ')} from its describe.ts in api/.`,
    );
  });

  it('names each operation once', () => {
    const names = [...describedOperations().values()].map(({ operationId }) => operationId);
    assert.deepEqual(names, [...new Set(names)]);
  });

  it('has examples that its own schemas accept, of every body and every answer', () => {
    for (const [route, { requestBody, responses }] of describedOperations()) {
      const contents = [requestBody, ...Object.values(responses)].flatMap((each) =>
        Object.entries(each?.content ?? {}),
      );
      for (const [type, { schema, examples }] of contents) {
        assert.ok(Object.keys(examples).length > 0 || type === '*/*', `${route} has no example`);
        for (const { value } of Object.values(examples)) {
          assert.equal(faultOf(schema, value), undefined, `${route}: ${JSON.stringify(value)}`);
        }
      }
    }
  });

  it('has examples of parameters that their schemas accept', () => {
    for (const [route, { parameters }] of describedOperations()) {
      for (const { name, schema, example } of parameters.filter((each) => each.example !== undefined)) {
        assert.equal(faultOf(schema, example), undefined, `${route}: ${name}`);
      }
    }
  });

  it('leads by its links to operations, with ids that its examples hold', () => {
    const byName = new Map([...describedOperations().values()].map((each) => [each.operationId, each]));
    const links = [...describedOperations()].flatMap(([route, { responses }]) =>
      Object.values(responses).flatMap((answer) =>
        Object.values(answer.links ?? {}).map((link) => ({ route, answer, ...link })),
      ),
    );
    assert.ok(links.length >= 10);
    for (const { route, answer, operationId, parameters = {}, requestBody } of links) {
      const next = byName.get(operationId);
      assert.ok(next, `${route} leads to ${operationId}`);
      const inPath = next.parameters.filter((each) => each.in === 'path').map(({ name }) => name);
      assert.deepEqual(Object.keys(parameters), inPath, `${route}: ${operationId}`);
      const found = valuesIn(answer);
      for (const id of Object.values(found(parameters))) assert.equal(typeof id, 'string', route);
      if (requestBody) assert.equal(faultOf(bodyOf(next), found(requestBody)), undefined, route);
    }
  });

  it('tells every code of a refusal somewhere', () => {
    const text = JSON.stringify([...describedOperations().values()]);
    // A path or a host that does not exist belongs to no operation.
    const elsewhere = ['method_not_allowed', 'unknown_host'];
    const untold = Object.keys(refusalStatus).filter((code) => !text.includes(`"${code}"`));
    assert.deepEqual(
      untold.filter((code) => !elsewhere.includes(code)),
      [],
    );
  });

  it('types the details of each refusal by its code', () => {
    const known = { message: 'm', requestId: 'r' };
    const right = {
      error: 'insufficient_balance',
      ...known,
      details: { requiredCents: 2, availableCents: 1 },
    };
    const any = { $ref: '#/components/schemas/ApiError' };
    assert.equal(faultOf(any, right), undefined);
    assert.equal(faultOf(any, { error: 'rental_not_found', ...known }), undefined);
    const wrong = [
      { ...right, details: { requiredCents: 2 } },
      { ...right, details: { requiredCents: '2', availableCents: 1 } },
      { ...right, details: { ...right.details, more: 1 } },
      { ...right, details: undefined },
      { ...right, error: 'rental_not_found' },
      { ...right, error: 'no_such_code' },
    ];
    for (const body of wrong) {
      assert.notEqual(faultOf(any, JSON.parse(JSON.stringify(body))), undefined, JSON.stringify(body));
    }
  });

  describe('as the tests’ check of each answer', () => {
    const seen = { method: 'GET', path: '/healthz', status: 200, contentType: 'application/json' };

    it('accepts what is described', () => {
      checkDescribed({ ...seen, text: '{"status":"ok"}' });
    });

    it('refuses another status, another body, another type and another route', () => {
      const wrong = [
        { status: 201, text: '{"status":"ok"}' },
        { text: '{"status":"ok","more":1}' },
        { text: '{}' },
        { text: 'no JSON' },
        { contentType: 'text/plain', text: 'ok' },
        { path: '/v1/nothing', text: '{"status":"ok"}' },
        { path: '/v1/rentals', status: 404, text: '{"error":"not_found","message":"m","requestId":"r"}' },
      ];
      for (const other of wrong) {
        assert.throws(() => checkDescribed({ ...seen, ...other }), /description/, JSON.stringify(other));
      }
    });
  });

  describe('as a page', () => {
    it('is made of files of this service alone, and may run nothing else', async () => {
      const client = api.stranger();
      const page = await client.get('/docs');
      assert.equal(page.status, 200);
      const policy = page.headers.get('content-security-policy') ?? '';
      assert.match(policy, /default-src 'none'; script-src 'self';/);
      const html = page.body as unknown as string;
      const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link);
      assert.ok(links.length >= 4);
      assert.ok(!/<script(?![^>]*src=)/.test(html), 'no script stands in the page');
      for (const link of links) {
        assert.match(link, /^\/docs\//);
        const file = await client.get(link);
        assert.equal(file.status, 200, link);
        assert.equal(file.headers.get('x-content-type-options'), 'nosniff');
      }
    });

    it('has no other files', async () => {
      for (const file of ['package.json', 'index.html', '..%2Fpackage.json', 'constructor']) {
        const answer = await api.stranger().get(`/docs/${file}`);
        assert.deepEqual([answer.status, answer.body.error], [404, 'not_found'], file);
      }
    });
  });
});
