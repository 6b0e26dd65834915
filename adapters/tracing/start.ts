/**
 * Begins to trace where an endpoint is set; elsewhere not even the libraries are loaded.
 * @param service the name of this program among the spans
 * @returns ends it, and sends what is left
 */
export async function traceWhenAsked(
  { endpoint }: { readonly endpoint: string | null },
  service: string,
): Promise<() => Promise<void>> {
  if (endpoint === null) return () => Promise.resolve();
  const { startTracing } = await import('./otlp.js');
  return startTracing(service);
}
