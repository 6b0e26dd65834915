import type { FigureGroup } from '../../metrics/figures.js';
import { comparisonFigures } from './reconcile.js';
import { eventFigures } from './events.js';
import { lockFigures } from './locks.js';
import { meteringFigures } from './metering.js';
import { paymentFigures } from './payments.js';
import { proofFigures } from './proof.js';
import { provisioningFigures, rentalFigures } from './rentals.js';
import { upkeepFigures } from './upkeep.js';
import { webhookFigures } from './webhooks.js';
import { upstreamFigures } from './upstreams.js';

/**
 * All figures of the business that come from the database. A new group of figures is added here and described in
 * docs/operations/observability.md; every worker then shows it.
 * @param providers the codes of the upstreams that are enabled
 */
export function businessFigures(providers: readonly string[]): FigureGroup[] {
  return [
    rentalFigures,
    provisioningFigures,
    meteringFigures,
    lockFigures,
    upstreamFigures(providers),
    paymentFigures,
    upkeepFigures,
    proofFigures,
    eventFigures,
    comparisonFigures,
    webhookFigures,
  ];
}
