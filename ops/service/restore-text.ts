import { formatUsd } from '../../domain/money.js';
import type { RestoreReport } from '../../domain/operations/restore.js';
import type { RestoreOutcome } from '../../workflows/contracts/restore.js';

/** The text about a restored database: what is lost, and what reconciling will do about each. */
export function reportText(report: RestoreReport): string {
  const kept = report.keptInTemporal === null ? 'none' : String(report.keptInTemporal);
  const marks = `Watermark ${report.watermark}, raised ${report.raisedAt}; in Temporal ${kept}.`;
  if (report.database === 'confirmed') return `${marks}\nThis database is not behind: nothing to reconcile.`;
  return [
    marks,
    `RESTORED: about ${report.lostMinutes} minutes are lost. Nothing is metered, charged, ended or mailed until you reconcile.`,
    '',
    `${String(report.goingOn).padStart(5)}  rentals go on and are charged for the lost time`,
    ...section('rentals that ended in the lost time: they end at that instant', report.ended, (rental) =>
      [
        rental.rentalId,
        `${rental.status} here`,
        `ended ${rental.endedAt}`,
        `by ${rental.by ?? 'operator'}`,
        ...(rental.isOpen === true ? ['its machine is being ended'] : []),
      ].join('  '),
    ),
    ...section(
      'bills that differ from the one that was shown: a finding each',
      report.ended.filter(({ differs }) => differs !== undefined),
      ({ rentalId, differs }) =>
        `${rentalId}  shown ${differs?.toldCents} cents  by the formula ${differs?.formulaCents}  charged ${differs?.billCents}`,
    ),
    ...section(
      'rentals whose limits were changed in the lost time: a lowered one holds again, a raised one is FOR YOU TO DECIDE',
      report.limits ?? [],
      ({ rentalId, isLowered, here, there }) =>
        `${rentalId}  ${isLowered ? 'lowered' : 'raised'}  ends ${here ?? 'never'} here  ${there ?? 'never'} by its history`,
    ),
    ...section(
      'rentals of which Temporal knows no run: they go on until their machine is seen gone',
      report.withoutRun,
      (id) => id,
    ),
    ...section('rentals that were opened in the lost time: FOR YOU TO DECIDE', report.lost, (rental) =>
      [
        rental.rentalId,
        rental.userId,
        `${rental.pricePerHourCents ?? '?'} cents/h`,
        `${rental.startedAt} to ${rental.endedAt ?? 'now'}`,
      ].join('  '),
    ),
    ...section('machines that no rental here owns: FOR YOU TO DECIDE', report.unknownPods, (pod) =>
      [pod.providerCode, pod.podId, pod.tag, pod.status, `${pod.pricePerHourCents ?? '?'} cents/h`].join(
        '  ',
      ),
    ),
    ...section('upstreams that do not answer', report.silentUpstreams, (code) => code),
    ...section(
      'payments that are credited to nobody here: they are credited, or parked',
      report.missingPayments,
      (paid) =>
        [
          paid.paymentId,
          `${paid.amountCents} ${paid.currency}`,
          paid.userId ?? 'no user',
          paid.topupId ?? '',
        ].join('  '),
    ),
    ...section(
      'payments that can not be read: reconciling ends incomplete while they can not be',
      report.unreadPayments ?? [],
      (item) => item,
    ),
  ].join('\n');
}

/** The text about what reconciling did. */
export function reconciledText({ outcome, message, reconciled }: RestoreOutcome): string {
  if (reconciled === undefined) {
    const how = outcome === 'incomplete' ? 'Incomplete' : 'Refused';
    return message === undefined ? `It was ${outcome}.` : `${how}: ${message}`;
  }
  const cents = reconciled.credited.reduce((sum, { amountCents }) => sum + amountCents, 0);
  return [
    '',
    `Reconciled: the service goes on at watermark ${reconciled.watermark}.`,
    `Rentals that ended in the lost time: ${reconciled.endedRentals}.`,
    `Payments credited: ${reconciled.credited.length}, ${formatUsd(cents)} in all. Parked, because nobody here can have them: ${reconciled.parked.length}.`,
    ...(reconciled.undone ?? []).map((item) => `LEFT UNDONE, as you said: ${item}`),
    `Machines that wait for your decision: ${reconciled.listedPods} (npm run ops -- restore pods).`,
    'Then prove it: npm run ops -- ledger verify, npm run ops -- reconcile --full',
  ].join('\n');
}

function section<T>(title: string, rows: readonly T[], lineOf: (row: T) => string): string[] {
  return [
    `${String(rows.length).padStart(5)}  ${title}`,
    ...rows.map((row) => `         ${lineOf(row).trimEnd()}`),
  ];
}
