import { sleep } from '@temporalio/activity';
import { ensureProvider, recordProviderError, replaceListings } from '../adapters/postgres/catalog.js';
import { noteLostPods, recordPodList } from '../adapters/postgres/pods.js';
import { ProviderError, type Provider } from '../adapters/providers/provider.js';
import { limits } from '../domain/limits.js';
import { deliverIntents } from './deliver-intents.js';
import type { ActivityDeps } from './deps.js';
import { withHeartbeat } from './heartbeat.js';

interface WatchState {
  lists: number;
  pods: number;
  offers: number;
  lastError: string | null;
}

/** Watches one upstream: one list call every 2 seconds serves all its pods, one catalog every 30. */
export function createWatchActivities(deps: ActivityDeps) {
  return {
    /** Runs for `forMs` and returns; its workflow starts it again. A worker that dies is replaced by heartbeat. */
    async watchProvider(code: string, forMs: number): Promise<'again' | 'not configured'> {
      const provider = deps.providers.get(code);
      if (!provider) return 'not configured';
      return withHeartbeat(async (tell) => {
        await ensureProvider(deps.db, code);
        const state: WatchState = { lists: 0, pods: 0, offers: 0, lastError: null };
        const end = performance.now() + forMs;
        const pollMs = deps.settings.pollMs ?? limits.pollMs;
        let nextCatalog = 0;
        while (performance.now() < end) {
          const started = performance.now();
          if (started >= nextCatalog) {
            await guarded(deps, code, state, () => syncCatalog(deps, provider, state));
            nextCatalog = started + limits.catalogSyncMs;
          }
          await guarded(deps, code, state, () => listOnce(deps, provider, state));
          tell({ ...state });
          await sleep(Math.max(pollMs / 20, pollMs - (performance.now() - started)));
        }
        return 'again' as const;
      });
    },
  };
}

async function syncCatalog(deps: ActivityDeps, provider: Provider, state: WatchState): Promise<void> {
  const offers = await provider.listOffers();
  await replaceListings(deps.db, provider.code, offers);
  state.offers = offers.length;
}

async function listOnce(deps: ActivityDeps, provider: Provider, state: WatchState): Promise<void> {
  const pods = await provider.listPods();
  await recordPodList(deps.db, provider.code, pods);
  state.lists += 1;
  state.pods = pods.length;
  if ((await noteLostPods(deps.db, provider.code)) > 0) await deliverIntents(deps);
}

/** An upstream that fails is noted and asked again; its listings age out by themselves (decision 13). */
async function guarded(
  deps: ActivityDeps,
  code: string,
  state: WatchState,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
    state.lastError = null;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    state.lastError = `${error.kind}: ${error.message}`;
    deps.log.warn({ provider: code, err: error }, 'the upstream did not answer; asking again');
    await recordProviderError(deps.db, code, state.lastError);
  }
}
