/**
 * The cookies of a session, where no browser keeps them. They are sent to the API's address alone, which is all that
 * this client ever asks.
 */
export class Cookies {
  readonly #values = new Map<string, string>();

  /** @param header as a request sends them: `sid=…; browser=…` */
  constructor(header = '') {
    for (const pair of header.split(';')) this.#set(pair);
  }

  /** What a request sends; undefined when there are none. */
  get header(): string | undefined {
    if (this.#values.size === 0) return undefined;
    return [...this.#values].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Takes what an answer sets. A browser shows none of it, and keeps it by itself. */
  take(headers: Headers): void {
    for (const cookie of headers.getSetCookie()) this.#set(cookie.split(';', 1)[0] ?? '');
  }

  #set(pair: string): void {
    const at = pair.indexOf('=');
    if (at < 1) return;
    const [name, value] = [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    if (value === '') this.#values.delete(name);
    else this.#values.set(name, value);
  }
}
