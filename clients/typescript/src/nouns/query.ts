import type { paths } from '../schema.js';

/** The query of a path's GET, without the cursor, which lists move on by themselves. */
export type QueryOf<Path extends keyof paths> = paths[Path] extends {
  get: { parameters: { query?: infer Query } };
}
  ? Omit<NonNullable<Query>, 'cursor'>
  : never;
