import { plural, texts } from './texts.js';

/** Stopping one machine. */
export const stopTexts = texts({
  title: (name: string) => `Stop ${name}?`,
  data: 'All data on the machine is lost.',
  cost: (amount: string) => `It has cost ${amount}.`,
  costRule: 'Billing stops at this second, rounded to the cent.',
  nothing: 'It is not ready yet, so it costs nothing.',
  hold: (amount: string) => `You get back the ${amount} still held right away.`,
  confirm: 'Stop it now',
  stopped: (name: string) => `${name} is stopping`,
  stoppedText: (charged: string, back: string) => `It cost ${charged}. You got ${back} back.`,
});

/** Stopping several machines at once. */
export const stopManyTexts = texts({
  title: (count: number) => plural(count, { one: 'Stop 1 machine?', other: `Stop ${count} machines?` }),
  data: 'All data on them is lost, and billing stops at once.',
  soFar: (amount: string) => `${amount} so far`,
  sum: (amount: string, rate: string) => `Together they have cost ${amount}, and cost ${rate} an hour.`,
  confirm: (count: number) => plural(count, { one: 'Stop 1 machine', other: `Stop all ${count}` }),
  machines: 'Machines',
  waiting: 'Waiting …',
  stopping: 'Stopping …',
  stopped: 'Stopped.',
  stoppedText: (charged: string, back: string) => `Stopped. It cost ${charged}; you got ${back} back.`,
  already: 'It had already stopped.',
  failed: (message: string) => `Not stopped: ${message}`,
  unknown: (message: string) => `It may not have stopped: ${message}`,
  done: (count: number) =>
    plural(count, { one: '1 machine was stopped.', other: `${count} machines were stopped.` }),
  left: (count: number) =>
    plural(count, {
      one: '1 machine may still run and cost money.',
      other: `${count} machines may still run and cost money.`,
    }),
  again: (count: number) => plural(count, { one: 'Try 1 again', other: `Try ${count} again` }),
});
