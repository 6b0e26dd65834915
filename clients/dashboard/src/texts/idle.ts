import { texts } from './texts.js';

/** Stopping a machine that nobody uses. */
export const idleTexts = texts({
  field: 'Stop when idle (minutes)',
  hint: 'Stops it once its GPUs, CPUs and network were idle for this long. We warn you 10 minutes ahead. Everything on its disk is lost. With some providers it works until the machine restarts.',
  error: 'Enter whole minutes, from 15 to 1440',
  none: 'Never',
  sessions: 'Even while somebody is logged in',
  sessionsHint:
    'Some providers can’t tell us who is logged in. Their machines can be stopped only like this.',
  sessionsFault: (provider: string) =>
    `${provider} can’t tell us who is logged in. Check this to stop it all the same, or leave the minutes empty.`,
  minutesFault: (provider: string) =>
    `${provider} can’t tell us how busy this machine is. Leave this empty, or rent another one.`,
  unsupported: 'This machine can’t be stopped like this when it is idle',
  unsupportedText: 'Look at “Stop when idle” for what to change.',
  use: 'Tell how much it is used',
  useHint:
    'Its provider doesn’t tell it. A small script of ours on the machine does, each minute, and only if you ask for it here.',
  useFault: (provider: string) =>
    `${provider} can’t tell how much this machine is used. Uncheck this, or rent another one.`,
  useUnsupported: 'Nobody can tell how much this machine is used',
  useUnsupportedText: 'Uncheck “Tell how much it is used”, or rent another one.',
  limit: 'Stops when idle',
  after: (time: string) => `After ${time}`,
});
