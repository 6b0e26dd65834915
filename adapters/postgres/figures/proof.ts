import type { FigureGroup } from '../../metrics/figures.js';

/** What a night's root waits for, in this order. */
const steps = ['begin', 'build', 'sign'] as const;

/** Whether the proof of the ledger goes on (decision 140, "Proof of the ledger"). */
export const proofFigures: FigureGroup = {
  name: 'proof',
  metrics: {
    oldest_waiting_root_seconds: {
      help: 'How long the oldest root has waited to be begun, built or signed; 0: none. Signatures count from the first one on.',
      labels: ['step'],
    },
  },
  async read(trx) {
    const { rows } = await trx.raw<{ rows: { step: (typeof steps)[number]; waitedS: number }[] }>(
      `select step, extract(epoch from now() - min(since))::float8 as "waitedS"
         from (
           select 'begin' as step, s.daily_at as since from ledger_sealing s
            where s.is_on and not exists (select 1 from ledger_roots where walk_began_at = s.daily_at)
           union all
           select case when tree is null then 'build' else 'sign' end, made_at from ledger_roots
            where tree is null or line is null and exists (select 1 from ledger_roots where line is not null)
         ) waiting
        where since is not null group by step`,
    );
    return steps.map((step) => ({
      metric: 'oldest_waiting_root_seconds',
      labels: { step },
      value: Math.max(0, rows.find((row) => row.step === step)?.waitedS ?? 0),
    }));
  },
};
