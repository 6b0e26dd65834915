import { formatUsd } from '../../domain/money.js';
import type { RestoreReport } from '../../domain/operations/restore.js';
import type { RestoreOutcome } from '../../workflows/contracts/restore.js';

/** The text about a restored database: what is lost, and what reconciling will do about each. */
export function reportText(report: RestoreReport): string {
  const kept = report.keptInTemporal === null ? 'none' : String(report.keptInTemporal);
  const marks = `Watermark ${report.watermark}, raised ${report.raisedAt}; in Temporal ${kept}.`;
  if (report.database === 'confirmed') return `${marks}\nThis database is up to date: nothing to reconcile.`;
  return [
    marks,
    `RESTORED: ${report.lostMinutes === 0 ? 'less than a minute of data is' : `about ${report.lostMinutes} minutes of data are`} lost. Nothing is metered, charged, stopped or emailed until you reconcile.`,
    '',
    `${String(report.goingOn).padStart(5)}  rentals keep running and are charged for the lost time`,
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
      'bills that differ from what the user saw: each is a finding',
      report.ended.filter(({ differs }) => differs !== undefined),
      ({ rentalId, differs }) =>
        `${rentalId}  shown ${differs?.toldCents} cents  by the formula ${differs?.formulaCents}  charged ${differs?.billCents}`,
    ),
    ...section(
      'rentals whose limits were changed in the lost time: lowered limits apply again, raised ones YOU DECIDE',
      report.limits ?? [],
      ({ rentalId, isLowered, here, there }) =>
        `${rentalId}  ${isLowered ? 'lowered' : 'raised'}  ends ${here ?? 'never'} here  ${there ?? 'never'} by its history`,
    ),
    ...section(
      'rentals without a run in Temporal: they continue until their machine is gone',
      report.withoutRun,
      (id) => id,
    ),
    ...section('rentals that were opened in the lost time: YOU DECIDE', report.lost, (rental) =>
      [
        rental.rentalId,
        rental.userId,
        `${rental.pricePerHourCents ?? '?'} cents/h`,
        `${rental.startedAt} to ${rental.endedAt ?? 'now'}`,
      ].join('  '),
    ),
    ...section('machines without a rental here: YOU DECIDE', report.unknownPods, (pod) =>
      [pod.providerCode, pod.podId, pod.tag, pod.status, `${pod.pricePerHourCents ?? '?'} cents/h`].join(
        '  ',
      ),
    ),
    ...section('upstreams that do not answer', report.silentUpstreams, (code) => code),
    ...section('uncredited payments: they will be credited or parked', report.missingPayments, (paid) =>
      [
        paid.paymentId,
        `${paid.amountCents} ${paid.currency}`,
        paid.userId ?? 'no user',
        paid.topupId ?? '',
      ].join('  '),
    ),
    ...section(
      'unreadable payments: reconciling stays incomplete until they can be read',
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
    `Reconciled: the service continues at watermark ${reconciled.watermark}.`,
    `Rentals that ended in the lost time: ${reconciled.endedRentals}.`,
    `Payments credited: ${reconciled.credited.length}, ${formatUsd(cents)} in total. Parked, because they belong to nobody here: ${reconciled.parked.length}.`,
    ...(reconciled.undone ?? []).map((item) => `LEFT UNDONE, as you said: ${item}`),
    `Machines waiting for your decision: ${reconciled.listedPods} (npm run ops -- restore pods).`,
    'Now check: npm run ops -- ledger verify, npm run ops -- reconcile --full',
  ].join('\n');
}

function section<T>(title: string, rows: readonly T[], lineOf: (row: T) => string): string[] {
  return [
    `${String(rows.length).padStart(5)}  ${title}`,
    ...rows.map((row) => `         ${lineOf(row).trimEnd()}`),
  ];
}
