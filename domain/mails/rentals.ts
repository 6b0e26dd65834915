import type { RentalId } from '../ids.js';
import { answerToSupport, messageOf, type Message } from './message.js';

/**
 * An operator closed the public ports of a rental, which ends it.
 * @param reason the operator's words
 * @param isBilled whether its billing had begun
 */
export function portsClosedMail({
  rentalId,
  name,
  ports,
  reason,
  isBilled,
}: {
  readonly rentalId: RentalId;
  readonly name: string | null;
  readonly ports: readonly string[];
  readonly reason: string;
  readonly isBilled: boolean;
}): Message {
  const rental = name === null ? rentalId : `${name} (${rentalId})`;
  const lost = 'The machine is being ended, and everything on it is lost.';
  return messageOf('We closed your rental’s public ports and stopped it', [
    `We are closing the public ports of ${rental}: ${ports.join(', ')}.`,
    reason,
    '',
    'Its provider can’t close a port while the machine runs, so we stopped the rental.',
    isBilled ? `${lost} You pay until it was stopped.` : lost,
    '',
    answerToSupport,
  ]);
}
