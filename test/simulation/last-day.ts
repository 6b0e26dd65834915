import { copyDatabase, restoreDatabase } from './database.js';
import type { Kernel } from './kernel/kernel.js';
import type { Statements } from './kernel/statements.js';
import type { Signer } from './nights.js';
import type { Service } from './service.js';
import type { Guest } from './users/guest.js';
import type { Operator } from './users/operators.js';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** What happens on the last evening, in minutes before midnight. */
const evening = { begins: 36, copied: 26, lost: 16, restored: 12, reconciled: 11, goesOn: 9, leaves: 3 };
/** How long after midnight a root may take to be signed, and everything to be mended: loops rest for three hours at most. */
const NIGHT_MS = 4 * 60 * MINUTE_MS;
const CALM_MS = 60 * MINUTE_MS;

export interface LastDay {
  readonly lost: { readonly fromMs: number; readonly toMs: number };
  readonly goesOnMs: number;
  readonly stoodStill: { readonly fromMs: number; readonly toMs: number };
}

/**
 * Lets the service stand still for most of a day, as quiet hours cost as much as busy ones. In the evening a guest comes,
 * the database is restored from a copy, an operator reconciles it, and the guest goes on until the night.
 * @returns the time that was lost, and when the guest went on after it; milliseconds since 1970
 */
export async function passLastDay({
  kernel,
  statements,
  service,
  signer,
  operator,
  guest,
  failed,
}: {
  readonly kernel: Kernel;
  readonly statements: Statements;
  readonly service: Service;
  readonly signer: Signer;
  readonly operator: Operator;
  readonly guest: Guest;
  readonly failed: (error: unknown) => void;
}): Promise<LastDay> {
  const midnightMs = Math.ceil(kernel.nowMs / DAY_MS) * DAY_MS;
  const at = (what: keyof typeof evening): number => midnightMs - evening[what] * MINUTE_MS;
  const until = (what: keyof typeof evening): Promise<void> => kernel.run(at(what));
  const stoodStill = { fromMs: kernel.nowMs, toMs: at('begins') };
  await service.stop();
  await until('begins');
  service.start();
  void guest.arrive().catch(failed);
  await until('copied');
  await statements.ask(copyDatabase);
  void guest.actInLostTime().catch(failed);
  await until('lost');
  await service.stop();
  await until('restored');
  // A transaction that stands open would hold up the restore for ever.
  await kernel.run(kernel.nowMs + MINUTE_MS, () => !signer.isLooking);
  await statements.ask(restoreDatabase);
  service.start();
  await until('reconciled');
  void operator.reconcile().then((isRestored) => isRestored || failed('nobody saw the restore'), failed);
  await until('goesOn');
  void guest.goOn().catch(failed);
  await until('leaves');
  void guest.leave().catch(failed);
  const { length } = signer.nights;
  await kernel.run(midnightMs + NIGHT_MS, () => signer.nights.length > length);
  await kernel.run(Math.max(kernel.nowMs, midnightMs + CALM_MS));
  if (!guest.hasGoneOn) failed('the guest could not go on after the restore');
  return { lost: { fromMs: at('copied'), toMs: at('lost') }, goesOnMs: at('goesOn'), stoodStill };
}
