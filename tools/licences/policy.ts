import type { ProductionPackage } from './production-packages.js';

export interface LicencePolicy {
  /** SPDX identifiers. */
  readonly allowed: ReadonlySet<string>;
  /** `name@version` to the reason: what somebody has read and accepted, of this very version. */
  readonly accepted: ReadonlyMap<string, string>;
}

/**
 * Decision 68, "Licences of packages": permissive licences alone, and what was looked at by
 * hand.
 */
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
    ['unionfs@4.6.0', 'its package.json says nothing; its file LICENSE is the Unlicense'],
    [
      'caniuse-lite@1.0.30001826',
      'CC-BY-4.0: a table of data that the bundler of workflows reads, not shown or passed on',
    ],
  ]),
};

export interface Verdict {
  readonly refused: readonly { readonly name: string; readonly why: string }[];
  /** What is accepted by hand and not there any more. */
  readonly stale: readonly string[];
}

/** Holds packages against a policy. What can't be understood is refused. */
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
 * An SPDX expression without inner parentheses, in which AND binds stronger than OR (SPDX 2.3, annex D): one of the
 * choices must be allowed in all of its parts.
 */
function isAllowed(licence: string | undefined, { allowed }: LicencePolicy): boolean {
  const expression = licence?.replace(/^\(([^()]*)\)$/, '$1') ?? '';
  if (/[()]/.test(expression)) return false;
  return expression
    .split(/\s+OR\s+/)
    .some((choice) => choice.split(/\s+AND\s+/).every((part) => allowed.has(part.trim())));
}
