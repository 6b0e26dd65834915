import { wordOf, type Rental, type RentalPhase } from '@gpu-rental/client';
import { rentalTexts } from '../../texts/rentals.js';

export const phases = [
  'queued',
  'buying',
  'booting',
  'installing',
  'checking',
  'ready',
] as const satisfies RentalPhase[];

/** What a phase is called. */
export function phaseName(phase: RentalPhase): string {
  return phases.includes(phase) ? rentalTexts.phases[phase] : wordOf({}, phase);
}

export type PhaseState = 'done' | 'now' | 'ahead';

/** The state of each phase while a machine is in one of them. */
export function phaseSteps(
  current: RentalPhase,
): { readonly phase: RentalPhase; readonly state: PhaseState }[] {
  const place = phases.indexOf(current);
  return phases.map((phase, index) => ({
    phase,
    state: index < place || current === 'ready' ? 'done' : index === place ? 'now' : 'ahead',
  }));
}

/** Until when a machine that is not ready costs nothing. */
export function freeText({ software }: Pick<Rental, 'software'>): string {
  return software ? rentalTexts.phases.freeOwn : rentalTexts.phases.free;
}
