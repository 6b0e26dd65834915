import { plural, texts } from './texts.js';

/** The SSH keys. */
export const keyTexts = texts({
  title: 'SSH keys',
  lead: 'Machines that you rent let these keys in. Machines that run already keep those that they were started with.',
  add: 'Add a key',
  list: 'Your keys',
  count: (count: number) => `${count} ${plural(count, { one: 'key', other: 'keys' })}`,
  added: 'Added',
  fingerprint: 'Fingerprint',
  copyPublicKey: (name: string) => `Copy the public key ${name}`,
  remove: 'Remove',
  removeNamed: (name: string) => `Remove the key ${name}`,
  empty: 'No keys yet',
  emptyText:
    'A machine without a key lets nobody in. Add the public half of a key that you have, or have a pair made here.',
  name: 'Name',
  nameHint: 'For you to tell it apart: the computer that it is on.',
  how: 'Where the key comes from',
  paste: 'I have one',
  generate: 'Make a pair',
  publicKey: 'Public key',
  publicKeyHint:
    'The one line of a file that ends in .pub, as ~/.ssh/id_ed25519.pub. Ed25519, ECDSA, or RSA of at least 2048 bits.',
  publicKeyExample: 'ssh-ed25519 AAAAC3… you@laptop',
  privateTitle: 'That is a private key',
  privateText:
    'It was taken out of the field and sent nowhere. A private key never leaves your computer: paste the file that ends in .pub instead.',
  generateText:
    'The service makes a P-256 pair. You get the private half once, to save on your computer; the service keeps the public half alone.',
  save: 'Add the key',
  make: 'Make the pair',
  tooMany: (max: number) =>
    `You have ${max} keys, as many as an account may have. Remove one that you no longer use.`,
  removeTitle: (name: string) => `Remove ${name}?`,
  removeText:
    'Machines that you rent from now on do not let it in. Machines that run keep it until they end.',
  madeTitle: 'Save the private key now',
  madeText: 'It is shown this once and kept nowhere: after this window is closed, nobody can show it again.',
  privateKey: 'Private key',
  copyPrivateKey: 'Copy the private key',
  download: 'Download the file',
  protect: 'On your computer, first',
  copyCommand: 'Copy the command',
  use: (file: string) => `Then put -i ${file} into the ssh line that a rental’s page shows.`,
  notSavedText: 'Copy or download it first. Without it this key opens no machine, and can only be removed.',
});
