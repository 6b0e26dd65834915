import { it as mochaIt } from 'mocha';

/** Declares a test, as mocha's own `it` does. */
type DeclareTest = (title: string, body: () => Promise<void>) => void;

/**
 * An `it` for tests that mostly wait and share nothing: the first one that mocha comes to begins them all, and each is
 * reported by itself. A file of thirty workflows takes as long as its slowest ones.
 */
export function together(): DeclareTest {
  const begin: (() => void)[] = [];
  const beginAll = (): void => {
    for (const one of begin.splice(0)) one();
  };
  return (title, body) => {
    let outcome: Promise<void> = Promise.resolve();
    begin.push(() => {
      outcome = body();
      // Its own test tells of it, maybe later.
      outcome.catch(() => undefined);
    });
    mochaIt(title, async () => {
      beginAll();
      await outcome;
    });
  };
}
