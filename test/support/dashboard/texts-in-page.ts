import type { Page } from 'playwright-core';

/** A text that a person can read or hear, and where it stands. */
export interface PageText {
  readonly text: string;
  readonly where: string;
}

/** Reads all texts that a page shows or tells a screen reader, but for code, which is data in any language. */
export function readTexts(page: Page): Promise<PageText[]> {
  // No inner function has a name: the compiler would have it named by a helper that the page lacks.
  return page.evaluate(() => {
    const found: { element: Element; text: string | null; where: string }[] = [];
    // A sentence is cut where an amount or an id stands that is not translated: it is read as one.
    const cut = [...document.body.querySelectorAll('span:not([class])')].filter(
      ({ childNodes }) =>
        childNodes.length > 1 &&
        [...childNodes].every((child) => child.nodeName === 'SPAN' && child.childNodes.length === 1),
    );
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const part = node.parentElement;
      const element = cut.find((whole) => whole === part?.parentElement) ?? part;
      if (element === null || found.at(-1)?.element === element) continue;
      found.push({ element, text: element === part ? node.textContent : element.textContent, where: '' });
    }
    for (const element of document.body.querySelectorAll('[aria-label], [title], [placeholder], [alt]')) {
      for (const name of ['aria-label', 'title', 'placeholder', 'alt'])
        found.push({ element, text: element.getAttribute(name), where: `${name} of ` });
    }
    const there = found.filter(
      ({ element, text }) =>
        text !== null &&
        text.trim() !== '' &&
        element.checkVisibility({ visibilityProperty: true }) &&
        element.closest('code, pre, kbd, script') === null,
    );
    return [
      { text: document.title, where: 'title' },
      ...there.map(({ element, text, where }) => ({
        text: (text ?? '').trim(),
        where: where + element.outerHTML.slice(0, 120),
      })),
    ];
  });
}

/** What the service has said, which is data and not a text of the dashboard. */
export class SaidByService {
  readonly #texts = new Set<string>();

  constructor(page: Page) {
    page.on('response', (response) => {
      if (!new URL(response.url()).pathname.startsWith('/v1/') || response.status() !== 200) return;
      if (response.headers()['content-type']?.startsWith('application/json') !== true) return;
      response.json().then(
        (body: unknown) => this.#take(body),
        () => undefined,
      );
    });
  }

  #take(value: unknown, name = ''): void {
    if (typeof value === 'string' && value.length > 1 && !words.has(name)) this.#texts.add(value);
    if (Array.isArray(value)) for (const each of value) this.#take(each, name);
    else if (typeof value === 'object' && value !== null) this.#takeFields(value, name === 'labels');
  }

  #takeFields(value: object, areLabels: boolean): void {
    for (const [key, inner] of Object.entries(value)) {
      if (areLabels) this.#take(key);
      this.#take(inner, key);
    }
  }

  /** Takes from a text all that is data: what the service said, and numbers, dates and names of technical things. */
  without(text: string): string {
    let rest = withoutMarked(text);
    for (const pattern of technical) rest = rest.replace(pattern, ' ');
    const said = [...this.#texts]
      .filter((each) => rest.includes(each))
      .toSorted((a, b) => b.length - a.length);
    for (const each of said) rest = rest.replaceAll(each, ' ');
    // Code inside a text of the service parts it.
    if (rest.length > 20 && [...this.#texts].some((each) => each.includes(text))) return '';
    for (const pattern of notTexts) rest = rest.replace(pattern, ' ');
    return rest;
  }
}

/** Takes away what stands in the brackets of a catalogue's text; one text may stand in another. */
function withoutMarked(text: string): string {
  const rest = text.replace(/⟦[^⟦⟧]*⟧/g, ' ');
  return rest === text ? text : withoutMarked(rest);
}

const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index));
const countries = letters
  .flatMap((first) => letters.map((second) => regions.of(first + second)))
  .filter((name) => name !== undefined);

/** Fields whose values are words of the API: a page says them in its own texts. */
const words = new Set([
  ...['status', 'phase', 'type', 'kind', 'source', 'reason', 'stopReason', 'state', 'disabledReason'],
  ...['outcome', 'by', 'code', 'fault'],
]);

const technical = [
  // Types of events.
  /\b[a-z_]+\.[a-z_]+\b(?!\S*[@/])/g,
  // Addresses and ids.
  /\b(https?:\/\/\S+|[\w.+-]+@[\w.-]+)/g,
  /\b[a-z]{2,5}_[0-9A-Za-z_]{6,}/g,
];

const notTexts = [
  // What Intl writes of dates and spans.
  /\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b/g,
  /\b(AM|PM|UTC|GMT)\b/g,
  /\b(in )?\d+ (second|minute|hour|day|week|month|year)s?( ago)?/g,
  /\b(yesterday|today|tomorrow|now|(last|next|this) (second|minute|hour|day|week|month|year))\b/g,
  // Countries, in the words of the platform.
  new RegExp(`\\b(${countries.join('|')})\\b`, 'g'),
  // Names of hardware and of standards.
  /\b[A-Z][A-Z0-9]+\b/g,
  // Numbers with their units.
  /\d[\d.,:]* ?(ms|s|min|h|d|GB|GiB|KB|MB|px|x|K|M)?\b/g,
  /[$€/]\s?(GPU|h|hr)\b/g,
];
