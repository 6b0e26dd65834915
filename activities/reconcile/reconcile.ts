import { Context, sleep } from '@temporalio/activity';
import { comparePods, listProvidersInUse } from '../../adapters/postgres/reconcile/pods.js';
import { rateLimitedForMs } from '../../adapters/postgres/catalog/provider-health.js';
import { removeDocuments } from '../../adapters/postgres/reconcile/documents.js';
import {
  beginRun,
  compareFrom,
  finishRun,
  recordGap,
  recordComparison,
} from '../../adapters/postgres/reconcile/runs.js';
import { ProcessorError } from '../../adapters/processor/processor.js';
import { ProviderError } from '../../adapters/providers/provider.js';
import type {
  Comparison,
  Finding,
  ReconcileReport,
  ReconcileScope,
  ReconcileSource,
} from '../../domain/operations/reconcile.js';
import { operationLimits } from '../../domain/operations/limits.js';
import type { ActivityDeps } from '../deps.js';
import { SEVERAL_CALLS_MS, withHeartbeat } from '../heartbeat.js';
import { gatherLedger } from './reconcile-ledger.js';
import {
  gatherCharges,
  gatherInvoices,
  gatherReversals,
  type Gathered,
  type Look,
} from './reconcile-processor.js';
import { eachPart } from '../each-item.js';
import { FailedItems } from './failed-items.js';

export interface CompareInput {
  readonly runId: number;
  readonly source: ReconcileSource;
  readonly scope: ReconcileScope;
  readonly graceMs: number;
  readonly confirmMs: number;
}

/**
 * Compares the three truths, source by source (decision 62, "Comparison of the books"). It reads, and writes findings;
 * it moves nothing.
 */
export function createReconcileActivities(deps: ActivityDeps) {
  const { db } = deps;
  return {
    /** Opens a run and names what is to be compared. */
    async beginReconcile(scope: ReconcileScope): Promise<{ runId: number; sources: ReconcileSource[] }> {
      return { runId: await beginRun(db, scope), sources: await listSources(deps) };
    },

    /**
     * Compares one source. A source that can't be asked is an answer too: it is recorded, and shown until it can be
     * asked.
     */
    async compareSource(input: CompareInput): Promise<Comparison> {
      return withHeartbeat((tell) => compare(deps, input, tell), { stalledAfterMs: SEVERAL_CALLS_MS });
    },

    /** Notes a source whose comparison failed. */
    async noteUncompared(source: ReconcileSource, why: string): Promise<void> {
      await recordGap(db, source, why);
    },

    /**
     * Closes a run and tells operators what is new. The documents go last, and by themselves: what is left of them keeps
     * no comparison from anything.
     */
    async finishReconcile(runId: number, sources: ReconcileSource[]): Promise<ReconcileReport> {
      const report = await finishRun(db, runId, sources, deps.settings.operatorEmail ?? null);
      if (report.fresh > 0) {
        deps.log.error({ ...report }, 'reconcile found differences: npm run ops -- findings');
      }
      await withHeartbeat(
        (tell) => eachPart(deps, 'documents of reconcile', () => removeDocuments(db, runId, tell)),
        { stalledAfterMs: SEVERAL_CALLS_MS },
      );
      return report;
    },
  };
}

async function listSources(deps: ActivityDeps): Promise<ReconcileSource[]> {
  const codes = new Set([...deps.providers.keys(), ...(await listProvidersInUse(deps.db))]);
  return [
    ...(deps.processor.enabled ? (['charges', 'reversals', 'invoices'] as const) : []),
    'ledger',
    ...[...codes].sort().map((code): ReconcileSource => `pods:${code}`),
  ];
}

async function compare(
  deps: ActivityDeps,
  input: CompareInput,
  tell: (detail: unknown) => void,
): Promise<Comparison> {
  const { runId, source, scope, graceMs } = input;
  const { from, now: until } = await compareFrom(deps.db, source, scope);
  try {
    const unread = new FailedItems(deps.log);
    const gathered = await gather(deps, source, scope, { runId, from, graceMs, tell, unread });
    if (unread.lost && Context.current().info.attempt < operationLimits.reconcileTries) throw unread.lost;
    const findings = await confirmed(gathered.compare, input.confirmMs, tell);
    const why = [gathered.why, unreadText(unread.told)].filter((one) => one !== null).join('; ') || null;
    await recordComparison(deps.db, {
      runId,
      source,
      scope,
      findings,
      until,
      why,
    });
    return { found: findings.length, why };
  } catch (error) {
    if (!(error instanceof ProcessorError || error instanceof ProviderError)) throw error;
    // One answer that was lost is no gap yet: Temporal asks again (workflows/activity-proxies.ts).
    if (error.kind === 'unknown' && Context.current().info.attempt < operationLimits.reconcileTries)
      throw error;
    deps.log.warn({ source, err: error }, 'reconcile could not compare this; it is shown as not compared');
    const why = `${error.kind}: ${error.message}`;
    await recordGap(deps.db, source, why);
    // The upstream's own words stay in the row (decision 89, "Words kept from Temporal").
    return { found: 0, why: error instanceof ProviderError ? error.briefly : why };
  }
}

/** How many are named; the log names all. */
const NAMED = 5;

function unreadText(told: readonly string[]): string | null {
  if (told.length === 0) return null;
  const more = told.length > NAMED ? ` and ${told.length - NAMED} more` : '';
  return `not read: ${told.slice(0, NAMED).join(', ')}${more}; the rest was compared`;
}

function gather(
  deps: ActivityDeps,
  source: ReconcileSource,
  scope: ReconcileScope,
  look: Look,
): Promise<Gathered> {
  switch (source) {
    case 'charges':
      return gatherCharges(deps, look);
    case 'reversals':
      return gatherReversals(deps, look);
    case 'invoices':
      return gatherInvoices(deps, look);
    case 'ledger':
      return gatherLedger(deps, look, scope);
    default:
      return gatherPods(deps, source.slice('pods:'.length), look);
  }
}

/**
 * Gathers an upstream's pods. Each look reads the upstream's list anew: a pod that vanished or appeared a moment ago is
 * not news yet.
 */
async function gatherPods(deps: ActivityDeps, code: string, { graceMs, tell }: Look): Promise<Gathered> {
  const provider = deps.providers.get(code);
  if (!provider) {
    throw new ProviderError('refused', 'it has machines of ours and is not configured: set its key');
  }
  const waitMs = await rateLimitedForMs(deps.db, code);
  if (waitMs > 0) {
    throw new ProviderError('rate_limited', `it asked to be left alone for ${Math.ceil(waitMs / 1000)} s`);
  }
  return {
    compare: async () =>
      comparePods(deps.db, code, await provider.listPods(() => tell({ listing: code })), graceMs),
    why: null,
  };
}

/** Returns the findings that a second look confirms: whatever was under way at the first look is over by then. */
async function confirmed(
  look: () => Promise<Finding[]>,
  confirmMs: number,
  tell: (detail: unknown) => void,
): Promise<Finding[]> {
  const first = await look();
  if (first.length === 0) return [];
  tell({ found: first.length, lookingAgainInMs: confirmMs });
  await sleep(confirmMs);
  const seen = new Set(first.map(identity));
  return (await look()).filter((finding) => seen.has(identity(finding)));
}

function identity({ kind, subject }: Finding): string {
  return `${kind} ${subject}`;
}
