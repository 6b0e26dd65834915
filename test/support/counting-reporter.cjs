// Mocha's spec reporter, which also writes "passed failed" to the file of `--reporter-option counts=<file>`.
const { writeFileSync } = require('node:fs');
const { reporters, Runner } = require('mocha');

module.exports = class CountingReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const file = options.reporterOptions?.counts;
    if (!file) throw new Error('Say where the counts go: --reporter-option counts=<file>');
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      writeFileSync(file, `${this.stats.passes} ${this.stats.failures}\n`);
    });
  }
};
