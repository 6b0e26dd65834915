import { plural, texts } from './texts.js';

/** The SSH keys. */
export const keyTexts = texts({
  title: 'SSH keys',
  lead: 'You log in to new machines with these keys. Running machines keep the keys they started with.',
  add: 'Add a key',
  list: 'Your keys',
  count: (count: number) => `${count} ${plural(count, { one: 'key', other: 'keys' })}`,
  added: 'Added',
  byKey: 'By an API key: only where named',
  fingerprint: 'Fingerprint',
  copyPublicKey: (name: string) => `Copy the public key ${name}`,
  remove: 'Remove',
  removeNamed: (name: string) => `Remove the key ${name}`,
  empty: 'No keys yet',
  emptyText:
    'Without a key, nobody can log in to a machine. Add the public key of a pair you have, or create a pair here.',
  name: 'Name',
  nameHint: 'So you recognise it, such as the computer it is on.',
  how: 'Which key?',
  paste: 'Add mine',
  generate: 'Create a pair',
  publicKey: 'Public key',
  publicKeyHint:
    'The line in your .pub file, such as ~/.ssh/id_ed25519.pub. Ed25519, ECDSA, or RSA with at least 2048 bits.',
  publicKeyExample: 'ssh-ed25519 AAAAC3… you@laptop',
  privateTitle: 'That is a private key',
  privateText:
    'We removed it from the field and sent it nowhere. Keep private keys on your computer, and paste the .pub file instead.',
  generateHere:
    'Your browser creates an Ed25519 pair. The private key never leaves this computer: you save it once, and we get only the public key.',
  generateText:
    'We create a P-256 pair. You get the private key once, to save on your computer; we keep only the public key.',
  save: 'Add the key',
  make: 'Create the pair',
  tooMany: (max: number) =>
    `You have ${max} keys, the most an account can have. Remove one that you no longer use.`,
  removeTitle: (name: string) => `Remove ${name}?`,
  removeText: 'It no longer opens new machines. Running machines keep it until they stop.',
  madeTitle: 'Save the private key now',
  madeText: 'You see it only here, only now, and we have no copy. Once you close this window, it is gone.',
  privateKey: 'Private key',
  copyPrivateKey: 'Copy the private key',
  download: 'Download the file',
  protect: 'Then, in a terminal on your computer',
  copyCommand: 'Copy the command',
  use: (file: string) => `This browser adds -i ~/.ssh/${file} to the ssh command on your rentals’ pages.`,
  addedTitle: (name: string) => `${name} is ready`,
  addedText: 'It opens the machines you rent from now on.',
  notSavedText: 'Copy or download it first. Without it this key is useless, and you can only remove it.',
});
