import type { FigureGroup } from '../../metrics/figures.js';
import { reconcileFigures } from '../reconcile/findings.js';

/** The agreement of our books, the processor and the upstreams, with the error bar of what could not be compared. */
export const comparisonFigures: FigureGroup = {
  name: 'reconcile',
  metrics: {
    reconcile_findings: {
      help: 'Differences between our books, the processor and the upstreams that stand.',
      labels: ['kind', 'state'],
    },
    reconcile_uncompared_seconds: {
      help: 'The error bar: how long ago the newest moment is up to which all of this source was compared.',
      labels: ['source'],
    },
    reconcile_source_failing: { help: '1 while this source can’t be compared.', labels: ['source'] },
    reconcile_last_run_age_seconds: { help: 'Since a comparison last ended; infinite before the first.' },
  },
  async read(trx) {
    const { findings, sources, lastRunSeconds } = await reconcileFigures(trx);
    return [
      ...findings.flatMap(({ kind, open, acknowledged }) => [
        { metric: 'reconcile_findings', labels: { kind, state: 'open' }, value: open },
        { metric: 'reconcile_findings', labels: { kind, state: 'acknowledged' }, value: acknowledged },
      ]),
      ...sources.flatMap(({ source, uncomparedSeconds, failing }) => [
        { metric: 'reconcile_uncompared_seconds', labels: { source }, value: uncomparedSeconds },
        { metric: 'reconcile_source_failing', labels: { source }, value: failing ? 1 : 0 },
      ]),
      { metric: 'reconcile_last_run_age_seconds', value: lastRunSeconds ?? Infinity },
    ];
  },
};
