import { fullName, judge, type LicencePolicy } from './policy.js';
import { readProductionPackages, type ProductionPackage } from './production-packages.js';

/**
 * Prints the licences of all packages that the service runs with, and those that are not allowed.
 * @param options.brief prints only the number of packages of each licence
 * @param options.bundled the packages that browsers get with the dashboard
 * @returns whether all of them are allowed
 */
export function tellLicences(
  projectDir: string,
  policy: LicencePolicy,
  log: (line: string) => void,
  options: { readonly brief: boolean; readonly bundled?: readonly ProductionPackage[] },
): boolean {
  const packages = together(readProductionPackages(projectDir), options.bundled ?? []);
  const { refused, stale } = judge(packages, policy);
  if (options.brief)
    log(`${packages.length} packages that the service or its dashboard runs with: ${countsOf(packages)}`);
  else for (const one of packages) log(lineOf(one, policy));
  for (const { name, why } of refused) log(`NOT ALLOWED: ${name}: ${why}`);
  for (const name of stale) log(`NOT THERE ANY MORE: ${name}`);
  if (refused.length > 0) {
    log('Use another package, or read the licence and add it to tools/licences/policy.ts with the reason.');
  }
  if (stale.length > 0) log('Remove from tools/licences/policy.ts what was accepted and is gone.');
  return refused.length === 0 && stale.length === 0;
}

/** One that is in both lists counts once. */
function together(
  installed: readonly ProductionPackage[],
  bundled: readonly ProductionPackage[],
): ProductionPackage[] {
  const known = new Set(installed.map(fullName));
  return [...installed, ...bundled.filter((one) => !known.has(fullName(one)))];
}

function lineOf(one: ProductionPackage, { accepted }: LicencePolicy): string {
  const reason = accepted.get(fullName(one));
  const licence = one.licence ?? '(none said)';
  return `${fullName(one)}  ${licence}${reason === undefined ? '' : `  accepted: ${reason}`}`;
}

function countsOf(packages: readonly ProductionPackage[]): string {
  const counts = new Map<string, number>();
  for (const { licence = 'none said' } of packages) counts.set(licence, (counts.get(licence) ?? 0) + 1);
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([licence, count]) => `${count} ${licence}`)
    .join(', ');
}
