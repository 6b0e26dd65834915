import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InMemorySpanExporter, type ReadableSpan } from '@opentelemetry/sdk-trace-node';

import { findOrigin } from '../../../adapters/tracing/origin.js';
import { startTracing } from '../../../adapters/tracing/otlp.js';
import { currentSpan, spanned } from '../../../adapters/tracing/spans.js';
import { traceWhenAsked } from '../../../adapters/tracing/start.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { Paying } from '../../support/story/paying.js';
import { Renting, rtx4090 } from '../../support/story/renting.js';
import { until } from '../../support/until.js';

describe('a trace', () => {
  let service: TestService;

  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  it('leads from a request through its activity and the statements to the upstream', async () => {
    const exporter = new InMemorySpanExporter();
    const stop = startTracing('test', exporter);
    const user = await service.signIn(1_000);
    await service.db('users').where({ id: user.user.id }).update({ email: 'somebody@traces.example' });
    const renting = new Renting(service);
    const id = await renting.open(user, { ...rtx4090 }, { name: 'a name of theirs' });
    await renting.awaitStatus(id, 'running');
    const { spans, request } = await sent(
      exporter,
      '/v1/rentals',
      ({ name }) => name === 'activity openRental',
    );
    await renting.stop(user, id);
    const own = spans.filter((span) => traceOf(span) === traceOf(request));
    const activity = own.find(({ name }) => name === 'activity openRental')!;
    assert.equal(activity.attributes['temporal.workflow.id'], id);
    assert.equal(activity.parentSpanContext?.spanId, request.spanContext().spanId);
    const below = (parent: ReadableSpan) =>
      own.filter(({ parentSpanContext }) => parentSpanContext?.spanId === parent.spanContext().spanId);
    const upstream = below(activity).find(({ name }) => name === 'POST')!;
    assert.equal(upstream.attributes['server.address'], '127.0.0.1');
    assert.equal(upstream.attributes['http.response.status_code'], 200);
    const sql = below(activity).filter(({ name }) => name === 'sql');
    assert.ok(
      sql.some(({ attributes }) => /insert into "?rentals"?/i.test(String(attributes['db.query.text']))),
    );
    assert.ok(below(request).some(({ name }) => name === 'sql'));
    const text = JSON.stringify(
      spans.map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
    );
    for (const secret of ['somebody@traces.example', 'a name of theirs', 'sid=', 'Bearer', user.user.email]) {
      assert.ok(!text.includes(secret), secret);
    }
    await stop();
  });

  it('leads from a payment through its activity to the processor', async () => {
    const exporter = new InMemorySpanExporter();
    const stop = startTracing('test', exporter);
    const user = await service.signIn();
    const { body } = await new Paying(service).checkout(user, 2_500);
    const {
      spans,
      request,
      one: call,
    } = await sent(
      exporter,
      '/v1/billing/checkout',
      ({ attributes }) => attributes['stripe.resource'] === 'checkout',
    );
    const activity = spans.find((span) => span.spanContext().spanId === call.parentSpanContext?.spanId)!;
    assert.deepEqual([traceOf(call), traceOf(activity)], [traceOf(request), traceOf(request)]);
    assert.equal(activity.name, 'activity openTopup');
    assert.equal(call.name, 'POST');
    const { attributes } = call;
    assert.deepEqual(attributes, {
      'http.request.method': 'POST',
      'server.address': '127.0.0.1',
      'stripe.resource': 'checkout',
      'http.response.status_code': 200,
    });
    const text = JSON.stringify(spans.map(({ name, attributes, status }) => ({ name, attributes, status })));
    for (const secret of ['Bearer', 'sk_test', body.sessionId, user.user.email])
      assert.ok(!text.includes(secret), secret);
    await stop();
  });

  it('costs nothing where no endpoint is set: there is none', async () => {
    const end = await traceWhenAsked({ endpoint: null }, 'test');
    assert.equal(await spanned('work', {}, () => Promise.resolve(currentSpan())), undefined);
    await end();
  });

  it('goes by OTLP to the endpoint, and a failure tells its kind alone', async () => {
    const bodies: { path: string | undefined; type: string | undefined; text: string }[] = [];
    const collector = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const text = Buffer.concat(parts).toString('latin1');
        bodies.push({ path: request.url, type: request.headers['content-type'], text });
        response.end();
      });
    });
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', () => resolve()));
    const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
    process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = endpoint;
    process.env['OTEL_RESOURCE_ATTRIBUTES'] = 'deployment.environment.name=somewhere';
    try {
      const end = startTracing('gpu-rental-test');
      await assert.rejects(
        spanned('work that fails', {}, () => Promise.reject(new TypeError('a secret in words'))),
        /a secret/,
      );
      await end();
    } finally {
      delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT'];
      delete process.env['OTEL_RESOURCE_ATTRIBUTES'];
      collector.close();
    }
    assert.deepEqual(
      bodies.map(({ path, type }) => [path, type]),
      [['/v1/traces', 'application/x-protobuf']],
    );
    assert.ok(bodies[0]!.text.includes('work that fails') && bodies[0]!.text.includes('TypeError'));
    for (const told of ['service.name', 'gpu-rental-test', 'somewhere'])
      assert.ok(bodies[0]!.text.includes(told), told);
    assert.ok(!bodies[0]!.text.includes('a secret in words'));
  });

  it('takes no origin that is not sane', () => {
    const sane = { requestId: 'r-1', traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` };
    assert.deepEqual(findOrigin([{ open: { origin: sane } }]), sane);
    assert.deepEqual(findOrigin(['x', { origin: { ...sane, traceparent: 'x' } }]), { requestId: 'r-1' });
    for (const origin of [null, 'x', {}, { requestId: 'a b' }, { requestId: 7 }]) {
      assert.equal(findOrigin([{ origin }]), undefined);
    }
  });
});

/** Waits for a request's span, which ends after those below it, and for one of these. */
function sent(
  exporter: InMemorySpanExporter,
  route: string,
  isOne: (span: ReadableSpan) => boolean,
): Promise<{ spans: ReadableSpan[]; request: ReadableSpan; one: ReadableSpan }> {
  return until('the spans were sent', () => {
    const spans = exporter.getFinishedSpans();
    const request = spans.find(({ attributes }) => attributes['http.route'] === route);
    const one = spans.find(isOne);
    return request && one && { spans, request, one };
  });
}

function traceOf(span: ReadableSpan): string {
  return span.spanContext().traceId;
}
