import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { LEFT_OUT } from '../../lab/servers/script-run.js';
import { readStackSettings } from '../../lab/stack/settings.js';
import { findPromtool } from './promtool.js';

/** `npm run verify:alerts`: Prometheus' own program checks the alert rules and runs their unit tests. */
const { cliPlaces, projectDir } = readStackSettings();
const log = (line: string): void => console.log(line);
const promtool = await findPromtool(cliPlaces, log);
if (promtool === undefined) {
  log('left out: the alert rules were NOT checked. Put promtool (Debian: package prometheus) on the PATH.');
  process.exit(LEFT_OUT);
}
const checks = [
  ['check', 'config', 'prometheus.yml'],
  ['check', 'rules', 'alerts.yml'],
  ['test', 'rules', 'alerts.test.yml'],
];
const failed = checks.filter((args) => {
  log(`promtool ${args.join(' ')}`);
  const { status } = spawnSync(promtool, args, {
    cwd: join(projectDir, 'ops', 'prometheus'),
    stdio: 'inherit',
  });
  return status !== 0;
});
log(
  failed.length === 0
    ? 'the alert rules are as they should be'
    : `${failed.length} of ${checks.length} checks failed`,
);
process.exit(failed.length === 0 ? 0 : 1);
