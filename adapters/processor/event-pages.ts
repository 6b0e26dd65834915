import { ProcessorError, type EventPage, type Processor } from './processor.js';

/** Reads the processor's events since an instant, page by page. @param after the place from which it goes on */
export async function* eventPages(
  processor: Processor,
  since: Date,
  after: string | null = null,
): AsyncGenerator<EventPage, void> {
  for (let place = after; ;) {
    const page = await processor.listEvents({ since, after: place });
    yield page;
    place = page.after;
    if (place === null) return;
  }
}

/** Tells whether a list can't go on from a place: the processor forgets events after 30 days, and their places. */
export function isPlaceForgotten(error: unknown): error is ProcessorError {
  return error instanceof ProcessorError && error.details.code === 'resource_missing';
}
