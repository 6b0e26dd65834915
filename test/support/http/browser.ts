/** A page or a redirect, as a browser receives it. */
export interface Page {
  readonly status: number;
  readonly url: string;
  /** The redirect's target, as an absolute address; null when the answer is no redirect. */
  readonly location: string | null;
  readonly headers: Headers;
  readonly text: string;
}

/** Acts as a browser in a sign-in: it keeps cookies per host and path, follows redirects and sends forms. */
export class Browser {
  private readonly cookies = new Map<string, { value: string; path: string; host: string }>();

  /** @param hosts maps public addresses to the real ones, as a proxy does */
  constructor(private readonly hosts: Readonly<Record<string, string>>) {}

  cookie(url: string, name: string): string | undefined {
    return this.cookies.get(`${new URL(url).host} ${name}`)?.value;
  }

  setCookie(url: string, name: string, value: string, path = '/'): void {
    const { host } = new URL(url);
    this.cookies.set(`${host} ${name}`, { value, path, host });
  }

  get(url: string): Promise<Page> {
    return this.send(url, {});
  }

  post(url: string, form: Record<string, string>): Promise<Page> {
    return this.send(url, { method: 'POST', body: new URLSearchParams(form) });
  }

  /** Follows redirects until a page, or until an address that begins with `until`. That address is not visited. */
  async follow(from: Page, until: string): Promise<Page> {
    let page = from;
    for (let hops = 0; hops < 20; hops += 1) {
      if (page.location === null || page.location.startsWith(until)) return page;
      page = await this.get(page.location);
    }
    throw new Error(`redirected for ever, at last to ${page.location}`);
  }

  private async send(url: string, init: RequestInit): Promise<Page> {
    const { origin, host, pathname } = new URL(url);
    const sent = [...this.cookies]
      .filter(([, cookie]) => cookie.host === host && pathname.startsWith(cookie.path))
      .map(([key, { value }]) => `${key.slice(key.indexOf(' ') + 1)}=${value}`);
    const response = await fetch(url.replace(origin, this.hosts[origin] ?? origin), {
      ...init,
      redirect: 'manual',
      headers: sent.length > 0 ? { Cookie: sent.join('; ') } : {},
    });
    for (const line of response.headers.getSetCookie()) this.keep(host, line);
    const location = response.headers.get('location');
    return {
      status: response.status,
      url,
      location: location === null ? null : new URL(location, url).href,
      headers: response.headers,
      text: await response.text(),
    };
  }

  private keep(host: string, line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    const gone = value === '' || /max-age=0\b|expires=thu, 01 jan 1970/i.test(line);
    const path = /path=([^;]*)/i.exec(line)?.[1] ?? '/';
    if (gone) this.cookies.delete(`${host} ${name}`);
    else this.cookies.set(`${host} ${name}`, { value, path, host });
  }
}
