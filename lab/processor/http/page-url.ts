/**
 * Addresses of the simulator's own pages are stored without host and port, because these may change between two starts.
 * They are completed when an object is written.
 */
const marker = 'lab:';
const pageKeys = new Set(['url', 'receipt_url', 'hosted_invoice_url', 'invoice_pdf']);

/** Makes the stored form of one of the simulator's own pages, for example `/c/pay/cs_test_1`. */
export function pageUrl(path: string): string {
  return `${marker}${path}`;
}

/** Returns the path of a stored page on this simulator, for links between its pages. */
export function pagePath(url: string): string {
  return url.startsWith(marker) ? url.slice(marker.length) : url;
}

/**
 * Writes an object as JSON with complete page addresses.
 * @param baseUrl the simulator's address, without a final slash
 * @param indent spaces per level
 */
export function writeJson(object: unknown, baseUrl: string, indent = 2): string {
  return JSON.stringify(
    object,
    (key, value: unknown) =>
      pageKeys.has(key) && typeof value === 'string' && value.startsWith(marker)
        ? baseUrl + value.slice(marker.length)
        : value,
    indent,
  );
}
