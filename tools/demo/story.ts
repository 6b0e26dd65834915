import { createApi } from './api.js';
import { watchLedger } from './ledger.js';
import { stopAll } from './rental.js';
import { playRenting } from './renting.js';
import { saveCard } from './save-card.js';
import { signIn } from './sign-in.js';
import { elapsed, step, type Stage } from './stage.js';
import { checkStatement, type Statement } from './statement.js';
import { topUp, topUpBySavedCard } from './top-up.js';

/** What the story rents of an upstream, how it calls that, and how long it watches the ledger. */
export interface Part {
  readonly wish: { readonly familyId: string; readonly gpuCount: number; readonly words: string };
  readonly watchSeconds: number;
}

/** Dear enough for the ledger to tick each second: about 1.1 cents a second. */
const b200 = { wish: { familyId: 'b200', gpuCount: 8, words: 'eight B200 GPUs' }, watchSeconds: 6 };

/** The part by the dialect of the upstream. The dearest that the lab sells as Vast does ticks each ten seconds. */
export const parts: Readonly<Record<string, Part>> = {
  shadeform: b200,
  lambda: b200,
  runpod: { wish: { familyId: 'a100-80gb', gpuCount: 8, words: 'eight A100 GPUs' }, watchSeconds: 15 },
  vast: { wish: { familyId: 'h100-80gb', gpuCount: 2, words: 'two H100 GPUs' }, watchSeconds: 25 },
};
const topUpCents = 10_000;
const secondTopUpCents = 2_500;

/**
 * Plays one rental from the sign-in to the last cent, as one user sees it from outside.
 * @throws StoryError when anything does not hold; the remaining rentals are stopped first
 */
export async function playStory(stage: Stage, { wish, watchSeconds }: Part = b200): Promise<Statement> {
  await step(stage, 'Sign in with a code that comes by mail', () => signIn(stage));
  await step(stage, 'Top up $100.00 on the hosted payment page', () => topUp(stage, topUpCents));
  await step(stage, 'Save a card for later charges', () => saveCard(stage));
  await step(stage, 'Top up $25.00 by the saved card', () => topUpBySavedCard(stage, secondTopUpCents));
  try {
    const ended = await playRenting(stage, wish, ({ pricePerHourCents }) =>
      step(stage, `Watch the ledger for ${watchSeconds} seconds`, () =>
        watchLedger(stage, watchSeconds, pricePerHourCents),
      ),
    );
    const statement = await step(stage, 'Check the final statement', () => checkStatement(stage, ended));
    stage.log(`${elapsed(stage)}  All of it held.`);
    return statement;
  } catch (error) {
    await stopAll(stage);
    throw error;
  }
}

/** Opens a stage with a new user, whose ledger holds nothing but this story. */
export function openStage(options: Pick<Stage, 'urls' | 'log' | 'signal' | 'startedAtMs'>): Stage {
  const email = `demo-${Date.now().toString(36)}@example.com`;
  return { ...options, email, api: createApi(options.urls.api) };
}
