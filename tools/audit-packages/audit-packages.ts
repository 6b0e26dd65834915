import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { readAuditReport, type Advisory } from './audit-report.js';

/**
 * Exit codes of the command: nothing found; an advisory found; no answer from the registry (EX_TEMPFAIL of sysexits.h).
 */
export const auditExit = { clean: 0, found: 1, unanswered: 75 } as const;

export interface AuditOptions {
  readonly projectDir: string;
  readonly log: (line: string) => void;
  /** Arguments added to those of the audit itself. */
  readonly npmArgs?: readonly string[];
}

/**
 * Asks npm's registry for advisories about the packages that the service runs with, and prints them. Not every registry
 * answers that question: then it says so, and never that all is well.
 * @returns the exit code
 */
export async function auditPackages({ projectDir, log, npmArgs = [] }: AuditOptions): Promise<number> {
  const report = readAuditReport(await askNpm(projectDir, npmArgs));
  if (report.kind === 'unanswered') {
    log(`left out: the packages were NOT audited: ${report.reason}`);
    log('Ask again where npm reaches a registry that answers audits (npm config get registry).');
    return auditExit.unanswered;
  }
  for (const advisory of report.advisories) tell(advisory, log);
  if (report.advisories.length === 0) {
    log('nothing is known against the packages that the service runs with');
    return auditExit.clean;
  }
  log(
    `packages with known vulnerabilities: ${report.advisories.length}. What helps: npm audit fix --omit=dev --dry-run`,
  );
  return auditExit.found;
}

function tell({ name, severity, range, reasons }: Advisory, log: (line: string) => void): void {
  log(`${severity}: ${name} ${range}`);
  for (const reason of reasons) log(`  ${reason}`);
}

/** npm's exit code says no more than the report does, and is 0 for some failures. */
async function askNpm(cwd: string, npmArgs: readonly string[]): Promise<string> {
  const npm = spawn('npm', ['audit', '--omit=dev', '--json', ...npmArgs], {
    cwd,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const gone = new Promise<string>((resolve) => {
    npm.once('error', ({ message }) => resolve(JSON.stringify({ message: `npm can’t be run: ${message}` })));
  });
  return Promise.race([text(npm.stdout), gone]);
}
