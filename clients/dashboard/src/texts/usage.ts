import { texts } from './texts.js';

/** How busy a machine is, and what stops it when it is not. */
export const usageTexts = texts({
  title: 'GPU use',
  none: (provider: string) => `${provider} has told nothing of this machine’s use yet.`,
  toldBy: (provider: string) => `${provider} tells it.`,
  toldByUs: 'A small script of ours on the machine tells it, because you asked.',
  latest: 'Now',
  busiest: 'Busiest GPU',
  cpu: 'CPU',
  memory: 'Memory',
  percent: (value: number | null) => (value === null ? 'not told' : `${value}%`),
  chart: (from: string, to: string, mean: string, most: string) =>
    `Use of all GPUs in percent, from ${from} to ${to}: ${mean} on average, ${most} at most.`,
  at: (when: string, value: string) => `${when} · ${value}`,
  slider: 'Moment',
  idle: 'This machine is idle',
  idleText: (when: string) =>
    `It stops at ${when}, as you asked, unless something uses its GPUs. Everything on its disk is lost then.`,
  keep: 'Keep it running for 2 hours',
  keeping: 'Keeping it running …',
  guard: (minutes: number) => `It stops once it was idle for ${minutes} minutes.`,
});
