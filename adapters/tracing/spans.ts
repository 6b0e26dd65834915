export type Attributes = Readonly<Record<string, string | number>>;

/** Adds what a piece of work learns to its span. */
export type Note = (attributes: Attributes) => void;

export interface SpanOptions {
  readonly kind?: 'server' | 'client';
  /** Ids, names and numbers: never a secret, a person's data or a statement's parameters. */
  readonly attributes?: Attributes;
  /** The span that it belongs to, by its traceparent; default: the one that this work runs in. */
  readonly parent?: string | undefined;
  /** True: no span of its own where it runs in none. */
  readonly onlyWithin?: boolean;
}

/** What makes spans; OpenTelemetry is behind it (otlp.ts), loaded only where traces are sent somewhere. */
export interface Tracing {
  within<T>(name: string, options: SpanOptions, work: (note: Note) => Promise<T>): Promise<T>;
  current(): { readonly traceparent: string; readonly traceId: string } | undefined;
}

const installed: { tracing: Tracing | undefined } = { tracing: undefined };

/** Sets what makes this process's spans; undefined: nothing does. */
export function installTracing(tracing: Tracing | undefined): void {
  installed.tracing = tracing;
}

/** Does a piece of work within a span. Without tracing it is the work alone. */
export function spanned<T>(name: string, options: SpanOptions, work: (note: Note) => Promise<T>): Promise<T> {
  return installed.tracing === undefined ? work(ignore) : installed.tracing.within(name, options, work);
}

/** The span that this work runs in; undefined without one. */
export function currentSpan() {
  return installed.tracing?.current();
}

const ignore: Note = () => undefined;
