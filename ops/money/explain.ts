import type { Command } from 'commander';
import { explainEntry } from '../../adapters/postgres/explain/explain-entry.js';
import type { ChargeDerivation } from '../../domain/ledger/charge-derivation.js';
import type { ExplainedRental, Explanation, PodEvidence } from '../../domain/ledger/explanation.js';
import { using, type OpsContext } from '../context.js';
import { printFacts, readable, whenSet, type Fact, type Print } from '../output.js';
import { linksAt, type WorkflowLink } from '../temporal-links.js';

/** `ops explain led_…`: the reason of an entry, down to the documents behind it. */
export function addExplainCommand(program: Command, context: OpsContext): void {
  readable(program.command('explain').argument('<entry>', 'the ledger entry (led_…)'))
    .description('Explains a ledger entry: the calculation, the machine, the documents and the workflows.')
    .addHelpText(
      'after',
      `
Examples:
  ops explain led_0000000000000000002G000000
  ops ledger list --user ann@example.com    to find the entry`,
    )
    .action((id: string, { json }: Print) =>
      using(context, async (db) => {
        const explanation = await explainEntry(db, id, context.shards());
        if (!explanation) throw new Error(`There is no ledger entry ${id}: see ops ledger list --user …`);
        const { evidence, entry } = explanation;
        const workflows = await linksAt(context.ui(), evidence.workflowIds, entry.createdAt);
        printFacts({ ...explanation, workflows }, json, factsOf(explanation, workflows));
      }),
    );
}

function factsOf(told: Explanation, workflows: readonly WorkflowLink[]): Fact[] {
  const { entry, evidence, byHand } = told;
  const { balanceBeforeCents: before, amountCents, balanceAfterCents: after } = entry;
  return [
    ['entry', `${entry.id}  ${entry.type}  ${amountCents} cents  ${entry.createdAt.toISOString()}`],
    ['why', told.why],
    ['balance', `${before} ${amountCents < 0 ? '-' : '+'} ${Math.abs(amountCents)} = ${after} cents`],
    ...priceFacts(told),
    ...documentFacts(told),
    [
      'by hand',
      byHand && `${byHand.kind} by ${evidence.operator ?? '?'}: ${byHand.reason}; ${byHand.operationId}`,
    ],
    ['machine', evidence.pod && podText(evidence.pod)],
    ['note', entry.note],
    ['cause', evidence.cause],
    ['user', `${evidence.userId}, wallet ${evidence.walletId}, entry number ${evidence.seq}`],
    ...workflows.map(({ workflowId, url }): Fact => ['workflow', `${workflowId}  ${url}`]),
  ];
}

function priceFacts({ charge, rentalRefund, rental }: Explanation): Fact[] {
  return [
    ['sum', charge?.formula ?? rentalRefund?.formula ?? null],
    ['interval', charge && intervalText(charge)],
    ['elapsed', charge && elapsedText(charge)],
    ['rental', rental && rentalText(rental)],
  ];
}

function intervalText({ from, until, untilWas }: ChargeDerivation): string | null {
  if (from === null || until === null) return null;
  return `from ${from.toISOString()} until ${until.toISOString()} (${untilWords[untilWas ?? 'clock']})`;
}

function elapsedText({ runningAt, elapsedMs }: ChargeDerivation): string | null {
  return runningAt && `${elapsedMs} ms since it ran at ${runningAt.toISOString()}`;
}

function rentalText(rental: ExplainedRental): string {
  return (
    `${rental.id} ${rental.status}: ${rental.gpuCount} x ${rental.model} at ${rental.provider}` +
    whenSet(rental.runningAt, 'running since') +
    whenSet(rental.stoppedAt, 'ended') +
    (rental.stopReason === null ? '' : ` (${rental.stopReason})`)
  );
}

const untilWords = {
  clock: 'the tick’s own clock, which is the entry’s instant',
  stop_requested: 'a stop was asked for',
  auto_stop: 'its auto-stop',
  spend_limit: 'its spend limit',
  ended: 'the end of its billing',
} as const;

function documentFacts({ payment, reversal, invoice }: Explanation): Fact[] {
  return [
    [
      'payment',
      payment &&
        words(payment.paymentId, payment.chargeId, payment.source, payment.topupId, payment.sessionId),
    ],
    ['receipt', payment?.receiptUrl ?? invoice?.receiptUrl ?? null],
    [
      'reversal',
      reversal &&
        `${reversal.kind} ${reversal.id} (${reversal.status}) of ${reversal.amountCents} cents: ${reversal.debitedCents} from the wallet, ${reversal.invoicedCents} invoiced, ${reversal.writtenOffCents} written off` +
          whenSet(reversal.takenAt, 'taken') +
          whenSet(reversal.givenBackAt, 'given back'),
    ],
    [
      'invoice',
      invoice &&
        `${invoice.id} ${invoice.status}, ${invoice.reason}, ${invoice.amountCents} cents` +
          whenSet(invoice.paidAt, 'paid') +
          (invoice.voidReason === null ? '' : `; to be void: ${invoice.voidReason}`),
    ],
  ];
}

function podText(pod: PodEvidence): string {
  return (
    `${pod.provider} ${pod.podId ?? 'no machine'}, tag ${pod.tag}` +
    whenSet(pod.runningSince, 'running since') +
    whenSet(pod.lastSeenAliveAt, 'last seen alive') +
    (pod.upstreamStatus === null ? '' : `; the upstream says ${pod.upstreamStatus}`) +
    whenSet(pod.goneAt, 'gone') +
    (pod.endedWhy === null ? '' : `; ended: ${pod.endedWhy}`)
  );
}

function words(...texts: readonly (string | null)[]): string {
  return texts.filter((text) => text !== null).join('  ');
}
