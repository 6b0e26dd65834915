/**
 * Makes the tests of a `describe` steps of one story: once one has failed, each after it fails at once and names it, since
 * it would go on from there. Mocha's own `bail` ends a whole parallel run, other files too.
 */
export function isOneStory(): void {
  let failed: string | undefined;
  beforeEach(function () {
    const why = failed;
    if (why === undefined || !this.currentTest) return;
    this.currentTest.fn = () => {
      throw new Error(`the step before has failed: ${why}`);
    };
  });
  afterEach(function () {
    if (this.currentTest?.state === 'failed') failed ??= this.currentTest.title;
  });
}
