import { defineUpdate, proxyActivities, setHandler } from '@temporalio/workflow';

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ startToCloseTimeout: '10s' });
const done = defineUpdate('done');

/** The least work of an update-with-start: one activity that does nothing. */
export async function noop(): Promise<void> {
  const working = nothing();
  setHandler(done, () => working);
  await working;
}
