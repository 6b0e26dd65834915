import { money } from '../../format/money.js';
import { fullTime } from '../../format/time.js';
import { activityTexts } from '../../texts/activity.js';

const texts = activityTexts.changes;

/** Says what was changed of a rental, and which way its limits went: “limit raised to $20.00, renamed”. */
export function changesIn(data: Readonly<Record<string, unknown>>): string {
  const { changed } = data;
  const fields = Array.isArray(changed) ? changed.filter((field) => typeof field === 'string') : [];
  return fields.length === 0
    ? activityTexts.unknown
    : fields.map((field) => changeOf(field, data)).join(', ');
}

function changeOf(field: string, data: Readonly<Record<string, unknown>>): string {
  if (field === 'maxSpendCents') return spendChange(data['maxSpendCents'], data['maxSpendCentsBefore']);
  if (field === 'autoStopAt') return timeChange(data['autoStopAt'], data['autoStopAtBefore']);
  if (field === 'name' || field === 'labels' || field === 'notes') return texts[field];
  return field;
}

function spendChange(now: unknown, before: unknown): string {
  if (typeof now !== 'number' || !Number.isSafeInteger(now)) return texts.spendRemoved;
  const tell =
    typeof before !== 'number' || before === now
      ? texts.spendSet
      : now > before
        ? texts.spendRaised
        : texts.spendLowered;
  return tell(money(now));
}

/** A machine that does not run yet has no instant at which it stops. */
function timeChange(now: unknown, before: unknown): string {
  const [at, was] = [now, before].map((time) => (typeof time === 'string' ? Date.parse(time) : Number.NaN));
  if (at === undefined || Number.isNaN(at)) {
    return typeof before === 'string' ? texts.timeRemoved : texts.timeChanged;
  }
  const tell =
    was === undefined || Number.isNaN(was) || was === at
      ? texts.timeSet
      : at > was
        ? texts.timeLater
        : texts.timeEarlier;
  return tell(fullTime(new Date(at).toISOString()));
}
