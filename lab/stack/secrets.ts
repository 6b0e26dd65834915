import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newSealingKeys, type SealingKeys } from '../../adapters/sealed-secrets.js';

/** The secrets by which the stack's parts authenticate to each other. */
export interface StackSecrets {
  readonly providerKey: string;
  readonly processorSecretKey: string;
  readonly processorPublishableKey: string;
  readonly webhookSecret: string;
  /** What seals and opens the secrets of users' webhooks. */
  readonly webhookKeys: SealingKeys;
  /** Hashes requests that hold secrets. */
  readonly installationKey: string;
  /** The password of the two operators' logins. */
  readonly operatorPassword: string;
}

/**
 * Reads the stack's secrets; a new data folder gets random ones. They stay the same over a restart: the processor still
 * delivers events that it signed before.
 */
export function readSecrets(dataDir: string): StackSecrets {
  const file = join(dataDir, 'secrets.json');
  const kept = readKept(file);
  const random = () => randomBytes(24).toString('hex');
  const secrets: StackSecrets = {
    providerKey: `lab_${random()}`,
    processorSecretKey: `sk_test_${random()}`,
    processorPublishableKey: `pk_test_${random()}`,
    webhookSecret: `whsec_${random()}`,
    webhookKeys: newSealingKeys(),
    installationKey: randomBytes(32).toString('base64'),
    operatorPassword: random(),
    ...kept,
  };
  if (kept && Object.keys(secrets).every((name) => Object.hasOwn(kept, name))) return secrets;
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(file, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600 });
  return secrets;
}

/** Reads the secrets of an earlier start; a file of an earlier release lacks newer ones. */
function readKept(file: string): Partial<StackSecrets> | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Partial<StackSecrets>;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new Error(`${file} can not be read. Repair it, or run "npm run reset".`, { cause: error });
  }
}
