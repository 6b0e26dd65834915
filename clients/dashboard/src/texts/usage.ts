import { texts } from './texts.js';

/** How busy a machine is, and what stops it when it is not. */
export const usageTexts = texts({
  title: 'GPU usage',
  none: (provider: string) => `${provider} has not reported this machine’s usage yet.`,
  toldBy: (provider: string) => `Reported by ${provider}.`,
  toldByUs: 'Reported by a small script of ours on the machine, because you asked for it.',
  latest: 'Now',
  busiest: 'Busiest GPU',
  cpu: 'CPU',
  memory: 'Memory',
  percent: (value: number | null) => (value === null ? 'no data' : `${value}%`),
  chart: (from: string, to: string, mean: string, most: string) =>
    `Usage of all GPUs in percent, from ${from} to ${to}: ${mean} on average, ${most} at most.`,
  at: (when: string, value: string) => `${when} · ${value}`,
  slider: 'Moment',
  idle: 'This machine is idle',
  idleText: (when: string) =>
    `As you asked, it stops at ${when} unless it is used before that. You then lose everything on its disk.`,
  keep: 'Keep it running for 2 hours',
  keeping: 'Keeping it running…',
  guard: (minutes: number) => `It stops after ${minutes} idle minutes.`,
});
