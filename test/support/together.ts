import { it as mochaIt } from 'mocha';

/** Declares a test, like mocha's own `it`. */
type DeclareTest = (title: string, body: () => Promise<void>) => void;

/**
 * An `it` for tests that mostly wait and share nothing. The first one that mocha reaches begins them all, and each is
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
      // The failure is reported by its own test, maybe later.
      outcome.catch(() => undefined);
    });
    mochaIt(title, async () => {
      beginAll();
      await outcome;
    });
  };
}
