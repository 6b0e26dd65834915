/** Reads the page at a cursor; undefined: the first one. `next` is undefined behind the last page. */
type ReadPage<Page, Cursor> = (
  cursor: Cursor | undefined,
) => Promise<{ page: Page; next: Cursor | undefined }>;

/**
 * A list that comes in pages, each read when it is needed: `for await (const item of list)`. Each loop begins anew.
 */
export class Paged<Item, Page, Cursor = string> implements AsyncIterable<Item> {
  readonly #read: ReadPage<Page, Cursor>;
  readonly #itemsOf: (page: Page) => readonly Item[];

  constructor(read: ReadPage<Page, Cursor>, itemsOf: (page: Page) => readonly Item[]) {
    this.#read = read;
    this.#itemsOf = itemsOf;
  }

  /** The pages as the API answers them. */
  async *pages(): AsyncGenerator<Page, void, undefined> {
    let cursor: Cursor | undefined;
    do {
      const { page, next } = await this.#read(cursor);
      yield page;
      if (next !== undefined && next === cursor) throw new Error('a page names itself as the next one');
      cursor = next;
    } while (cursor !== undefined);
  }

  /** The first page. */
  firstPage(): Promise<Page> {
    return this.page(undefined);
  }

  /** One page: the one that the page before it names as its next, for whoever reads on by hand. */
  async page(cursor: Cursor | undefined): Promise<Page> {
    return (await this.#read(cursor)).page;
  }

  /** All items, or the first ones up to a number. */
  async toArray(max = Infinity): Promise<Item[]> {
    const items: Item[] = [];
    if (max <= 0) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= max) break;
    }
    return items;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages()) yield* this.#itemsOf(page);
  }
}

/** A list by cursors of the API: `nextCursor` is null on the last page. */
export function byCursor<Item, Page extends { readonly nextCursor: string | null }>(
  read: (cursor: { cursor?: string }) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Paged<Item, Page> {
  return new Paged(async (cursor) => {
    const page = await read(cursor === undefined ? {} : { cursor });
    return { page, next: page.nextCursor ?? undefined };
  }, itemsOf);
}
