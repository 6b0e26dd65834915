/** Thrown when a claim of the story does not hold; the message says which, and what to do. */
export class StoryError extends Error {
  override readonly name = 'StoryError';
}

/** Checks a claim of the story. @throws StoryError when it does not hold */
export function claim(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new StoryError(otherwise);
}
