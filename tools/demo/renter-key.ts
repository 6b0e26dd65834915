import { generateKeyPairSync } from 'node:crypto';
import ssh2 from 'ssh2';
import { tell, type Stage } from './stage.js';

/** A key pair that opens the machines of one user. */
export interface RenterKey {
  /** SEC1 PEM, which both OpenSSH and ssh2 read. */
  readonly privatePem: string;
  /** One line, as in authorized_keys. */
  readonly publicLine: string;
}

/** Makes a fresh key pair (ECDSA P-256) and uploads its public half. */
export async function addKey(stage: Stage): Promise<RenterKey> {
  const key = makeKey();
  const { id, fingerprint } = (await stage.api.post('/v1/ssh-keys', {
    name: 'demo',
    publicKey: key.publicLine,
  })) as { id: string; fingerprint: string };
  tell(stage, `${id}, ${fingerprint}`);
  return key;
}

function makeKey(): RenterKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const privatePem = privateKey.export({ type: 'sec1', format: 'pem' }).toString();
  const parsed = ssh2.utils.parseKey(privatePem);
  if (parsed instanceof Error) throw parsed;
  return {
    privatePem,
    publicLine: `${parsed.type} ${parsed.getPublicSSH().toString('base64')} demo`,
  };
}
