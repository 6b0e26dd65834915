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
    ...rentalSections(report),
    ...otherSections(report),
  ].join('\n');
}

function rentalSections(report: RestoreReport): string[] {
  const { more = {} } = report;
  return [
    ...section(
      'rentals that ended in the lost time: they end at that instant',
      report.ended,
      (rental) =>
        [
          rental.rentalId,
          `${rental.status} here`,
          `ended ${rental.endedAt}`,
          `by ${rental.by ?? 'operator'}`,
          ...(rental.isOpen === true ? ['its machine is being ended'] : []),
        ].join('  '),
      more.ended,
    ),
    ...section(
      'bills that differ from what the user saw: each is a finding',
      report.ended.filter(({ differs }) => differs !== undefined),
      ({ rentalId, differs }) =>
        `${rentalId}  shown ${differs?.toldCents} cents  by the formula ${differs?.formulaCents}  charged ${differs?.billCents}`,
      more.differing,
    ),
    ...section(
      'rentals whose limits were changed in the lost time: lowered limits apply again, raised ones YOU DECIDE',
      report.limits ?? [],
      ({ rentalId, isLowered, here, there }) =>
        `${rentalId}  ${isLowered ? 'lowered' : 'raised'}  ends ${here ?? 'never'} here  ${there ?? 'never'} by its history`,
      more.limits,
    ),
    ...section(
      'rentals without a run in Temporal: they continue until their machine is gone',
      report.withoutRun,
      (id) => id,
      more.withoutRun,
    ),
    ...section(
      'rentals that were opened in the lost time: YOU DECIDE',
      report.lost,
      (rental) =>
        [
          rental.rentalId,
          rental.userId,
          `${rental.pricePerHourCents ?? '?'} cents/h`,
          `${rental.startedAt} to ${rental.endedAt ?? 'now'}`,
        ].join('  '),
      more.lost,
    ),
  ];
}

function otherSections(report: RestoreReport): string[] {
  const { more = {} } = report;
  return [
    ...section(
      'machines without a rental here: YOU DECIDE',
      report.unknownPods,
      (pod) =>
        [pod.providerCode, pod.podId, pod.tag, pod.status, `${pod.pricePerHourCents ?? '?'} cents/h`].join(
          '  ',
        ),
      more.unknownPods,
    ),
    ...section('upstreams that do not answer', report.silentUpstreams, (code) => code),
    ...section(
      'uncredited payments: they will be credited or parked',
      report.missingPayments,
      (paid) =>
        [
          paid.paymentId,
          `${paid.amountCents} ${paid.currency}`,
          paid.userId ?? 'no user',
          paid.topupId ?? '',
        ].join('  '),
      more.missingPayments,
    ),
    ...section(
      'unreadable payments: reconciling stays incomplete until they can be read',
      report.unreadPayments ?? [],
      (item) => item,
    ),
  ];
}

/** The text about what reconciling did. */
export function reconciledText({ outcome, message, reconciled }: RestoreOutcome): string {
  if (reconciled === undefined) {
    const how = outcome === 'incomplete' ? 'Incomplete' : 'Refused';
    return message === undefined ? `It was ${outcome}.` : `${how}: ${message}`;
  }
  const { more = { credited: 0, creditedCents: 0, parked: 0 } } = reconciled;
  const cents = reconciled.credited.reduce((sum, { amountCents }) => sum + amountCents, more.creditedCents);
  const credited = reconciled.credited.length + more.credited;
  const parked = reconciled.parked.length + more.parked;
  return [
    '',
    `Reconciled: the service continues at watermark ${reconciled.watermark}.`,
    `Rentals that ended in the lost time: ${reconciled.endedRentals}.`,
    `Payments credited: ${credited}, ${formatUsd(cents)} in total. Parked, because they belong to nobody here: ${parked}.`,
    ...(reconciled.undone ?? []).map((item) => `LEFT UNDONE, as you said: ${item}`),
    `Machines waiting for your decision: ${reconciled.listedPods} (npm run ops -- restore pods).`,
    'Now check: npm run ops -- ledger verify, npm run ops -- reconcile --full',
  ].join('\n');
}

/** @param more how many there are that the rows do not name */
function section<T>(title: string, rows: readonly T[], lineOf: (row: T) => string, more = 0): string[] {
  return [
    `${String(rows.length + more).padStart(5)}  ${title}`,
    ...rows.map((row) => `         ${lineOf(row).trimEnd()}`),
    ...(more > 0 ? [`         … and ${more} more`] : []),
  ];
}
