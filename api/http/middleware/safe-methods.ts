const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Tells whether a request only reads: a safe method by RFC 9110, section 9.2.1. */
export function isReading(method: string): boolean {
  return safeMethods.has(method);
}
