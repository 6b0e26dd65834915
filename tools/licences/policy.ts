import type { ProductionPackage } from './production-packages.js';

export interface LicencePolicy {
  /** SPDX identifiers. */
  readonly allowed: ReadonlySet<string>;
  /** `name@version` to the reason why a person accepted this very version. */
  readonly accepted: ReadonlyMap<string, string>;
}

/** Decision 68, "Licences of packages": permissive licences only, and packages that a person has checked. */
export const licencePolicy: LicencePolicy = {
  allowed: new Set([
    '0BSD',
    'Apache-2.0',
    'BlueOak-1.0.0',
    'BSD-2-Clause',
    'BSD-3-Clause',
    'ISC',
    'MIT',
    'MIT-0',
    'Unlicense',
  ]),
  accepted: new Map([
    ['png-js@2.0.0', 'its package.json says nothing; its file LICENSE is the MIT licence'],
    ['unionfs@4.6.0', 'its package.json says nothing; its file LICENSE is the Unlicense'],
    ...['noto-sans@5.3.0', 'noto-sans-arabic@5.3.0', 'noto-sans-hebrew@5.3.0', 'unifontex@5.2.6'].map(
      (font) => [`@fontsource/${font}`, 'OFL-1.1: a font, read as a file and put into documents'] as const,
    ),
    [
      'caniuse-lite@1.0.30001826',
      'CC-BY-4.0: a table of data that the bundler of workflows reads, not shown or passed on',
    ],
  ]),
};

export interface Verdict {
  readonly refused: readonly { readonly name: string; readonly why: string }[];
  /** Packages that are accepted by hand and no longer installed. */
  readonly stale: readonly string[];
}

/** Checks packages against a policy. A licence that can't be understood is refused. */
export function judge(packages: readonly ProductionPackage[], policy: LicencePolicy): Verdict {
  const names = new Set(packages.map(fullName));
  return {
    refused: packages
      .filter((one) => !policy.accepted.has(fullName(one)) && !isAllowed(one.licence, policy))
      .map((one) => ({ name: fullName(one), why: one.licence ?? 'says nothing of its licence' })),
    stale: [...policy.accepted.keys()].filter((name) => !names.has(name)),
  };
}

export function fullName({ name, version }: ProductionPackage): string {
  return `${name}@${version}`;
}

/**
 * Tells whether an SPDX expression is allowed. It has no inner parentheses, and AND binds stronger than OR (SPDX 2.3,
 * annex D): all parts of one of the choices must be allowed.
 */
function isAllowed(licence: string | undefined, { allowed }: LicencePolicy): boolean {
  const expression = licence?.replace(/^\(([^()]*)\)$/, '$1') ?? '';
  if (/[()]/.test(expression)) return false;
  return expression
    .split(/\s+OR\s+/)
    .some((choice) => choice.split(/\s+AND\s+/).every((part) => allowed.has(part.trim())));
}
