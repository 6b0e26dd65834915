import { plural, texts } from './texts.js';

/** Where the user is signed in. */
export const sessionTexts = texts({
  title: 'Sessions',
  lead: 'Where you are signed in. Sessions end after 30 days without use.',
  list: 'Signed in',
  unknownDevice: 'Unknown device',
  thisOne: 'This one',
  unknownAddress: 'address unknown',
  lastUsed: 'Last used',
  signedIn: 'Signed in',
  ends: 'Ends',
  from: (address: string) => `from ${address}`,
  end: 'End',
  endNamed: (device: string) => `End the session of ${device}`,
  endTitle: (device: string) => `End the session of ${device}?`,
  endText: 'Whoever uses it must sign in again. Machines keep running, and API keys still work.',
  endOthers: 'End all others',
  endOthersTitle: 'End all sessions but this one?',
  endOthersText:
    'All other browsers and terminals must sign in again. Machines keep running, and API keys still work: revoke those under API keys.',
  ended: (count: number) => `${count} ${plural(count, { one: 'session', other: 'sessions' })} ended`,
  onlyThis: 'You are not signed in anywhere else.',
});
