import type { Cli } from '../../cli.js';
import { collect, type AddCommand } from '../../command.js';
import { exitCodes } from '../../exit-codes.js';
import { Failure, usageFailure } from '../../failure.js';
import {
  compare,
  isQuestion,
  isSoundVerdict,
  unlinked,
  type Known,
  type Verified,
} from '../../proof/compare.js';
import { isHash } from '../../proof/fields.js';
import { judgeFile, type Judged } from '../../proof/judge.js';
import { keepRoots, readKept } from '../../proof/keep.js';
import { Malformed } from '../../proof/lines.js';
import { BrokenRoots, readRoots } from '../../proof/roots.js';
import { proofLines, proofJson } from '../../views/proof.js';

interface Options {
  readonly root?: readonly string[];
  readonly roots?: string;
  readonly keep?: boolean;
}

/** gpu verify */
export const addVerify: AddCommand = (program, act) => {
  program
    .command('verify')
    .argument('<files...>', 'proof files of your ledger, all of one wallet')
    .summary('whether your ledger was changed')
    .description(
      'Check proof files of your ledger: whether anybody changed an entry later. You need no sign-in and no network.',
    )
    .option('--root <hash>', 'the hash of a root that you trust; repeat it for more', collect)
    .option('--roots <file>', 'a file of roots that you trust (default: those that you kept here)')
    .option('--keep', 'keep the root of each file, and compare later files with it')
    .action(act((cli, files: string[], options: Options) => verify(cli, files, options)));
};

async function verify(cli: Cli, files: readonly string[], options: Options): Promise<number> {
  const { out, signal } = cli;
  const keptFile = keptFileOf(cli, options);
  const known = await readKnown(cli, options, keptFile);
  const judged: Judged[] = [];
  for (const file of files) judged.push(await judgeFile(file, { signal, remembersSeals: files.length > 1 }));
  const verified = compare(judged, known);
  const isSound = verified.every(({ verdict }) => isSoundVerdict(verdict));
  const keptIn = options.keep === true && isSound ? keep(verified, known, keptFile) : null;
  const gaps = unlinked(verified);
  out.result({ files: verified.map(proofJson), unlinked: gaps, keptIn }, () => [
    ...verified.flatMap((each, index) => [...(index === 0 ? [] : ['']), ...proofLines(out, each)]),
    ...gaps.flatMap(([earlier, later]) => [
      '',
      ...out.text(`${later} does not continue ${earlier}: check them with the files of the months between.`),
    ]),
    ...(keptIn === null
      ? []
      : ['', ...out.text(`Kept in ${keptIn}. Store a copy where only you can write.`)]),
  ]);
  if (!isSound) throw disproved(verified, options.keep === true);
  const questions = verified.filter(({ verdict }) => isQuestion(verdict));
  if (questions.length > 0) throw unexplainedFailure(questions, options.keep === true);
  return exitCodes.done;
}

/** Undefined where no file is named, and there is no folder for one: nothing is kept then. */
function keptFileOf(cli: Cli, { roots, keep = false }: Options): string | undefined {
  if (roots !== undefined) return roots;
  try {
    return cli.store.paths.roots;
  } catch (error) {
    if (keep || !(error instanceof Failure)) throw error;
    return undefined;
  }
}

async function readKnown(cli: Cli, options: Options, file: string | undefined): Promise<Known> {
  const hashes = (options.root ?? []).map((text) => {
    if (isHash(text.toLowerCase())) return text.toLowerCase();
    throw usageFailure('--root must be a hash: 64 digits 0-9 a-f.', 'A proof file has it: gpu verify FILE');
  });
  if (file === undefined) return { hashes, roots: [] };
  // Who names a file means one that is there, unless it is to be made.
  const isMeant = options.roots !== undefined && options.keep !== true;
  try {
    return { hashes, roots: await (isMeant ? readRoots : readKept)(file, cli.signal) };
  } catch (error) {
    if (!(error instanceof Malformed || error instanceof BrokenRoots)) throw error;
    throw new Failure(
      'disproved',
      `${file} is not a sound list of roots. ${error.message}`,
      'Compare it with your copy, or use another list: --roots FILE',
      { details: { roots: file, line: error.line } },
    );
  }
}

function keep(verified: readonly Verified[], known: Known, file: string | undefined): string | null {
  if (file === undefined) return null;
  const roots = verified.flatMap(({ verdict, proof }) =>
    proof === undefined || isQuestion(verdict) ? [] : [proof.root],
  );
  if (roots.length === 0) return null;
  keepRoots(file, known.roots, roots);
  return file;
}

function disproved(verified: readonly Verified[], wantsKept: boolean): Failure {
  const bad = verified.filter(({ verdict }) => !isSoundVerdict(verdict));
  const [first] = bad;
  const message =
    verified.length === 1 && first !== undefined
      ? `${first.file} is ${first.verdict}.`
      : `${bad.length} of ${verified.length} files do not hold: ${bad.map(({ file }) => file).join(', ')}.`;
  const next =
    'Download the file again, to rule out a damaged copy. If it stays so, keep both files and your roots, and ask the service why.';
  return new Failure('disproved', wantsKept ? `${message} No root was kept.` : message, next, {
    details: { files: bad.map(proofJson) },
  });
}

/** A question, which is no alarm: a service that has a reason can tell it. */
function unexplainedFailure(questions: readonly Verified[], wantsKept: boolean): Failure {
  const files = questions.map(({ file }) => file).join(', ');
  const [verb, tell, roots] =
    questions.length === 1 ? ['stands', 'tells', 'Its root was'] : ['stand', 'tell', 'Their roots were'];
  const isRestored = questions.every(({ verdict }) => verdict === 'restored');
  const message = isRestored
    ? `Restored: ${files} ${tell} other entries than before the service went on from a backup.`
    : `Not explained: ${files} ${verb} under a later root than one that you kept.`;
  const next = isRestored
    ? 'Compare the replaced entries with what you paid and used, and ask the service about each difference.'
    : 'Ask the service why. If you have an earlier file of that month, check both together: they must tell the same.';
  return new Failure('unexplained', wantsKept ? `${message} ${roots} not kept.` : message, next, {
    details: { files: questions.map(proofJson) },
  });
}
