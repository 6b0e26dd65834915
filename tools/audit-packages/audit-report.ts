/** The content of `npm audit --json`. */
export type AuditReport =
  | { readonly kind: 'answered'; readonly advisories: readonly Advisory[] }
  | { readonly kind: 'unanswered'; readonly reason: string };

/** A package with a known vulnerability, its own or one of its dependencies'. */
export interface Advisory {
  readonly name: string;
  readonly severity: string;
  /** The affected versions. */
  readonly range: string;
  /** The vulnerabilities, or the packages through which they come. */
  readonly reasons: readonly string[];
}

/**
 * Reads the report of npm 7 or newer (auditReportVersion 2). Any other text means that nothing was audited: it is never
 * taken for "nothing found".
 */
export function readAuditReport(output: string): AuditReport {
  const report = parsed(output);
  if (!isRecord(report)) return unanswered('npm printed no report');
  const { auditReportVersion: version, vulnerabilities } = report;
  if (version !== 2 || !isRecord(vulnerabilities)) {
    return unanswered(typeof report['message'] === 'string' ? report['message'] : 'npm printed no report');
  }
  return { kind: 'answered', advisories: Object.entries(vulnerabilities).map(advisoryOf) };
}

function advisoryOf([name, found]: [string, unknown]): Advisory {
  const { severity, range, via } = isRecord(found) ? found : {};
  const causes = Array.isArray(via) ? (via as unknown[]) : [];
  return {
    name,
    severity: typeof severity === 'string' ? severity : 'unknown',
    range: typeof range === 'string' ? range : '*',
    reasons: causes.map(reasonOf),
  };
}

function reasonOf(cause: unknown): string {
  if (typeof cause === 'string') return `through ${cause}`;
  if (!isRecord(cause)) return 'npm says no more';
  return [cause['title'], cause['url']].filter((text) => typeof text === 'string').join(' ');
}

function unanswered(reason: string): AuditReport {
  return { kind: 'unanswered', reason };
}

function parsed(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
