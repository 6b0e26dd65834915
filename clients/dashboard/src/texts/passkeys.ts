import { texts } from './texts.js';

/** Passkeys: making, showing, naming and removing them. */
export const passkeyTexts = texts({
  list: 'Passkeys',
  add: 'Add a passkey',
  empty: 'No passkeys yet',
  emptyText:
    'Sign in with your fingerprint, face or screen lock instead of a code. Codes by email still work.',
  unsupported: 'This browser can’t add passkeys on this page. Codes by email always work.',
  name: 'Name',
  nameHint: 'So that you recognize it, such as MacBook.',
  addText: 'Your browser asks you to unlock this device, or to use another one.',
  goOn: 'Continue',
  added: (name: string) => `Passkey “${name}” added`,
  synced: 'Synced',
  addedOn: 'Added',
  lastUsed: 'Last used',
  never: 'never',
  rename: 'Rename',
  renameNamed: (name: string) => `Rename passkey ${name}`,
  renameTitle: 'Rename the passkey',
  save: 'Save',
  remove: 'Remove',
  removeNamed: (name: string) => `Remove passkey ${name}`,
  removeTitle: (name: string) => `Remove passkey “${name}”?`,
  removeText:
    'It can’t sign in any more. Sessions that it opened stay: end them above. Your device may still offer it until you delete it there.',
  signIn: 'Sign in with a passkey',
  notSignedIn: 'You are not signed in yet',
  prove: 'Use a passkey',
  proveText: 'Unlock your device to confirm, or have a code emailed.',
  useCode: 'Email me a code instead',
  notProved: 'That did not confirm it',
  faults: {
    cancelled: {
      text: 'The passkey was not used: this was cancelled, or this device has none for your account.',
      step: 'Try again, or use a code by email.',
    },
    known: {
      text: 'This device already has a passkey for your account.',
      step: 'You can use it to sign in.',
    },
    unsupported: {
      text: 'This browser or device can’t use passkeys on this page.',
      step: 'Use a code by email.',
    },
    failed: {
      text: 'The browser gave no passkey.',
      step: 'Try again, or use a code by email.',
    },
  },
});
