import { usd } from '../output/money.js';
import type { Out } from '../output/out.js';
import { counted } from '../output/text.js';
import { isSoundVerdict, type Verdict, type Verified } from '../proof/compare.js';
import type { Proof } from '../proof/judge.js';

const verdictWords: Readonly<Record<Verdict, string>> = {
  good: 'good. You know its root.',
  consistent: 'consistent, but nothing independent to compare with.',
  unexplained: 'unexplained. Its root is later than it should be.',
  restored: 'restored. The service replaced entries by those of a backup.',
  contradicted: 'contradicted.',
  broken: 'broken.',
  malformed: 'malformed.',
};

/** What a proof file turned out to be, for people. */
export function proofLines(out: Out, { file, verdict, finding, findings, proof }: Verified): string[] {
  const isSound = isSoundVerdict(verdict);
  const colour = verdict === 'good' ? 'green' : isSound ? 'yellow' : 'red';
  const more = findings > 1 ? ` And ${counted(findings - 1, 'more finding')}.` : '';
  return [
    ...out.text(`${file}: ${out.paint(colour, verdictWords[verdict])}`),
    ...(finding === undefined ? [] : out.text(`${finding.message}${more}`)),
    ...(proof === undefined ? [] : out.facts(isSound ? factsOf(proof) : rootFacts(proof))),
    ...(verdict === 'consistent'
      ? out.text('Whoever holds the key could have written it so. Keep its root for later: --keep')
      : []),
  ];
}

type Fact = readonly [name: string, text: string | null];

function factsOf(proof: Proof): Fact[] {
  const { head, seals, first, last, earliestMs, latestMs, closingCents } = proof;
  const entries = entriesOf(proof);
  return [
    ['Month', `${head.month}, in UTC`],
    [
      'Holds',
      entries === 0
        ? 'no entries'
        : `${counted(entries, 'entry', 'entries')} (${first} to ${last}) in ${counted(seals, 'seal')}`,
    ],
    ['From', earliestMs === undefined ? null : utcTime(earliestMs)],
    ['To', latestMs === undefined ? null : utcTime(latestMs)],
    ['Balance', `${usd(closingCents)} at the end`],
    ...rootFacts(proof),
  ];
}

function rootFacts({ root }: Proof): Fact[] {
  return [
    ['Root', `${root.number}, of the night ${root.night}`],
    ['Its hash', root.hash],
  ];
}

function entriesOf({ first, last }: Proof): number {
  return last === 0 ? 0 : last - first + 1;
}

/** Two who compare what they read may be in two time zones. */
function utcTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -'.000Z'.length).replace('T', ' ')} UTC`;
}

/** The same, for programs. */
export function proofJson({ file, verdict, finding, findings, proof }: Verified): object {
  const found = { finding: finding ?? null, findings };
  if (proof === undefined) return { file, verdict, ...found };
  const { head, seals, first, last, earliestMs, latestMs, closingCents, root } = proof;
  const { number, epoch, night, hash, key } = root;
  return {
    ...{ file, verdict, ...found, ...head, seals, entries: entriesOf(proof) },
    ...{ firstNumber: first, lastNumber: last },
    from: earliestMs === undefined ? null : isoOf(earliestMs),
    to: latestMs === undefined ? null : isoOf(latestMs),
    closingBalanceCents: closingCents,
    root: { number, epoch, night, hash, key },
  };
}

/** Broken files may hold anything: what no calendar has is left out. */
function isoOf(ms: number): string | null {
  const at = new Date(ms);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}
