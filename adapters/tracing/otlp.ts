import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace-node';
import { installTracing, type Note, type SpanOptions, type Tracing } from './spans.js';

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT } as const;

/**
 * Begins to send spans by OTLP over HTTP. The libraries read the rest of their settings by themselves: headers, sampler
 * and resource (docs/operations/observability.md).
 * @param service the name of this program among the spans
 * @param exporter where they go; default: OTEL_EXPORTER_OTLP_ENDPOINT
 * @returns ends it, and sends what is left; it never throws
 */
export function startTracing(
  service: string,
  exporter: SpanExporter = new OTLPTraceExporter(),
): () => Promise<void> {
  const resource = resourceFromAttributes({ 'service.name': service }).merge(
    detectResources({ detectors: [envDetector] }),
  );
  const provider = new NodeTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(exporter)] });
  provider.register();
  const tracer = provider.getTracer(service);
  const tracing: Tracing = {
    async within<T>(name: string, options: SpanOptions, work: (note: Note) => Promise<T>): Promise<T> {
      const { kind, attributes = {}, parent, onlyWithin = false } = options;
      const above = parent === undefined ? context.active() : contextOf(parent);
      if (onlyWithin && trace.getSpan(above) === undefined) return work(() => undefined);
      const begun = { kind: kind === undefined ? SpanKind.INTERNAL : kinds[kind], attributes };
      return tracer.startActiveSpan(name, begun, above, async (span) => {
        try {
          return await work((more) => void span.setAttributes(more));
        } catch (error) {
          // Its kind alone: messages hold what a row or an answer held.
          span.setStatus({
            code: SpanStatusCode.ERROR,
            message: error instanceof Error ? error.name : 'error',
          });
          throw error;
        } finally {
          span.end();
        }
      });
    },
    current() {
      const span = trace.getActiveSpan();
      if (span === undefined) return undefined;
      const carrier: { traceparent?: string } = {};
      propagation.inject(context.active(), carrier);
      const { traceparent } = carrier;
      return traceparent === undefined ? undefined : { traceparent, traceId: span.spanContext().traceId };
    },
  };
  installTracing(tracing);
  return async () => {
    installTracing(undefined);
    await provider.shutdown().catch(() => undefined);
    trace.disable();
    context.disable();
    propagation.disable();
  };
}

function contextOf(traceparent: string): Context {
  return propagation.extract(ROOT_CONTEXT, { traceparent });
}
