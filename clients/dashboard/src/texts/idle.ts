import { texts } from './texts.js';

/** Stopping a machine that nobody uses. */
export const idleTexts = texts({
  field: 'Stop when idle (minutes)',
  hint: 'Stops it once its GPUs, CPUs and network have been idle for this long. We warn you 10 minutes ahead. You lose everything on its disk. With some providers this works only until the machine restarts.',
  error: 'Enter whole minutes, from 15 to 1440',
  none: 'Never',
  sessions: 'Even while somebody is logged in',
  sessionsHint:
    'Some providers can’t tell us who is logged in. Their machines stop when idle only with this checked.',
  sessionsFault: (provider: string) =>
    `${provider} can’t tell us who is logged in. Check this to stop it anyway, or leave the minutes empty.`,
  minutesFault: (provider: string) =>
    `${provider} can’t tell us how busy this machine is. Leave this empty, or rent another one.`,
  unsupported: 'This machine can’t stop when idle like this',
  unsupportedText: 'See “Stop when idle” for what to change.',
  use: 'Report usage',
  useHint:
    'Its provider doesn’t. A small script of ours on the machine reports it once a minute, only if you ask for it here.',
  useFault: (provider: string) =>
    `${provider} can’t report this machine’s usage. Uncheck this, or rent another one.`,
  useUnsupported: 'This machine can’t report its usage',
  useUnsupportedText: 'Uncheck “Report usage”, or rent another one.',
  limit: 'Stops when idle',
  after: (time: string) => `After ${time}`,
});
