import type { Processor, ProcessorEvent } from './processor.js';

/** Reads the processor's events since an instant, page by page. */
export async function* eventPages(
  processor: Processor,
  since: Date,
): AsyncGenerator<readonly ProcessorEvent[], void> {
  let after: string | null = null;
  do {
    const page = await processor.listEvents({ since, after });
    yield page.events;
    after = page.after;
  } while (after !== null);
}
