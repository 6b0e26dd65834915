// Mocha's spec reporter, which also writes "passed failed" to the file of `--reporter-option counts=<file>`. Below that
// line it lists each failure with its reason.
const { writeFileSync } = require('node:fs');
const { reporters, Runner } = require('mocha');

module.exports = class CountingReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const counts = options.reporterOptions?.counts;
    if (!counts) throw new Error('Say where the counts go: --reporter-option counts=<file>');
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures } = this.stats;
      writeFileSync(counts, `${passes} ${failures}\n${this.failures.map(tell).join('')}`);
    });
  }
};

function tell(test) {
  const { message = '', stack = '' } = test.err ?? {};
  return `failed: ${test.titlePath().join(' > ')}\n${stack.includes(message) ? stack : `${message}\n${stack}`}\n`;
}
