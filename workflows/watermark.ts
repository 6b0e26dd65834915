import {
  condition,
  makeContinueAsNewFunc,
  setCurrentDetails,
  setHandler,
  upsertMemo,
  workflowInfo,
} from '@temporalio/workflow';
import { raisedSignal, watermarkMemo } from './contracts/watermark.js';

/** The events of an hour, at one signal a minute: another worker takes up a small history cheaply. */
const EVENTS_MAX = 300;

/**
 * Keeps the highest watermark of the database outside of it: `watermark`. A database that comes back with a lower one
 * was restored (decision 37, "Brakes and the watermark"). The memo holds the value for comparisons.
 */
export async function watermark(input: { readonly value: number }): Promise<never> {
  const state = { value: input.value };
  setHandler(raisedSignal, (value) => void (state.value = Math.max(state.value, value)));
  for (;;) {
    const shown = state.value;
    upsertMemo({ [watermarkMemo]: shown });
    setCurrentDetails(`The database's watermark was ${shown} when it was last told.`);
    if (workflowInfo().historyLength > EVENTS_MAX) {
      await makeContinueAsNewFunc<typeof watermark>({ memo: { [watermarkMemo]: shown } })({ value: shown });
    }
    await condition(() => state.value !== shown);
  }
}
