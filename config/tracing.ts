import { optional, text, trimmed, url, type ValuesOf } from './variables.js';

/**
 * Traces, by the names that OpenTelemetry gives: its libraries read them by themselves. Here they are checked, and the
 * first one switches tracing on.
 */
export const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(url('http', 'https').empty('')),
  OTEL_EXPORTER_OTLP_HEADERS: optional(trimmed.empty('')),
  OTEL_TRACES_SAMPLER: optional(
    text
      .valid('always_on', 'always_off', 'traceidratio', 'parentbased_always_on', 'parentbased_traceidratio')
      .empty(''),
  ),
  OTEL_TRACES_SAMPLER_ARG: optional(trimmed.empty('')),
  OTEL_RESOURCE_ATTRIBUTES: optional(trimmed.empty('')),
};

/** @returns endpoint null: nothing is traced */
export function tracingOf(env: ValuesOf<typeof tracingVariables>) {
  return { endpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT };
}
