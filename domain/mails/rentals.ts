import type { RentalId } from '../ids.js';
import { answerToSupport, messageOf, type Message } from './message.js';

/** An operator closed the public ports of a rental, which ended it. @param reason the operator's words */
export function portsClosedMail({
  rentalId,
  name,
  ports,
  reason,
}: {
  readonly rentalId: RentalId;
  readonly name: string | null;
  readonly ports: readonly string[];
  readonly reason: string;
}): Message {
  const rental = name === null ? rentalId : `${name} (${rentalId})`;
  return messageOf('We closed public ports of yours and stopped a rental', [
    `We closed the public ports of ${rental}: ${ports.join(', ')}.`,
    reason,
    '',
    'Its provider can’t close a port while the machine runs, so we stopped the rental.',
    'The machine and everything on it are gone. You pay until it was stopped.',
    '',
    answerToSupport,
  ]);
}
