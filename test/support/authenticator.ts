import { encode } from 'cbor2';
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

/** What of the options a browser hands to its authenticator. */
interface Creation {
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
  readonly challenge: string;
}
interface Request {
  readonly rpId: string;
  readonly challenge: string;
}

/** A passkey in the authenticator. */
export interface HeldPasskey {
  readonly id: Buffer;
  readonly userHandle: string;
  readonly key: KeyObject;
}

/** What an answer differs in from an honest one. */
export interface Odds {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly type?: string;
  /** False: nobody looked at the person. */
  readonly verified?: boolean;
  readonly present?: boolean;
  readonly counter?: number;
  readonly userHandle?: string | null;
}

const flags = { present: 0x01, verified: 0x04, eligible: 0x08, backedUp: 0x10, attested: 0x40 };
const noAaguid = Buffer.alloc(16);

/**
 * A browser and its authenticator in software (WebAuthn 6, 7), with ES256 keys and no attestation. It lies where it is
 * told to.
 */
export class Authenticator {
  /** How often it has signed; 0 for good: it counts nothing, as synced passkeys do. */
  counter: number;

  constructor(
    /** The origin of the page. */
    readonly origin: string,
    { counts = false } = {},
  ) {
    this.counter = counts ? 1 : 0;
  }

  /** Makes a passkey. @returns it, and what the page sends */
  create({ rp, user, challenge }: Creation, odds: Odds = {}) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const held: HeldPasskey = { id: randomBytes(32), userHandle: user.id, key: privateKey };
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    const cose = encode(
      new Map<number, number | Uint8Array>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, bytesOf(x)],
        [-3, bytesOf(y)],
      ]),
    );
    const length = Buffer.alloc(2);
    length.writeUInt16BE(held.id.length);
    const authData = Buffer.concat([
      this.#authData(odds.rpId ?? rp.id, flags.attested, odds),
      ...[noAaguid, length, held.id, cose],
    ]);
    const attestationObject = encode({ fmt: 'none', attStmt: {}, authData: new Uint8Array(authData) });
    const response = {
      clientDataJSON: this.#clientData('webauthn.create', challenge, odds),
      attestationObject: Buffer.from(attestationObject).toString('base64url'),
      transports: ['internal', 'hybrid'],
    };
    return { held, credential: credentialOf(held, response) };
  }

  /** Signs with a passkey. @returns what the page sends */
  get(held: HeldPasskey, { rpId, challenge }: Request, odds: Odds = {}) {
    if (this.counter > 0) this.counter += 1;
    const authData = this.#authData(odds.rpId ?? rpId, 0, odds);
    const clientDataJSON = this.#clientData('webauthn.get', challenge, odds);
    const clientHash = createHash('sha256').update(Buffer.from(clientDataJSON, 'base64url')).digest();
    const signature = sign('sha256', Buffer.concat([authData, clientHash]), held.key);
    return credentialOf(held, {
      clientDataJSON,
      authenticatorData: authData.toString('base64url'),
      signature: signature.toString('base64url'),
      userHandle: odds.userHandle === undefined ? held.userHandle : odds.userHandle,
    });
  }

  #authData(rpId: string, more: number, { verified = true, present = true, counter = this.counter }: Odds) {
    const who = (present ? flags.present : 0) | (verified ? flags.verified : 0);
    const head = Buffer.alloc(37);
    createHash('sha256').update(rpId).digest().copy(head);
    head.writeUInt8(who | flags.eligible | flags.backedUp | more, 32);
    head.writeUInt32BE(counter, 33);
    return head;
  }

  #clientData(type: string, challenge: string, odds: Odds): string {
    const data = { type, challenge, origin: this.origin, crossOrigin: false, ...pick(odds) };
    return Buffer.from(JSON.stringify(data)).toString('base64url');
  }
}

function pick({ origin, challenge, type }: Odds) {
  return {
    ...(origin !== undefined && { origin }),
    ...(challenge !== undefined && { challenge }),
    ...(type !== undefined && { type }),
  };
}

/** As PublicKeyCredential.toJSON() writes it. */
function credentialOf<R>(held: HeldPasskey, response: R) {
  const id = held.id.toString('base64url');
  return {
    ...{ id, rawId: id, type: 'public-key', authenticatorAttachment: 'platform' },
    clientExtensionResults: {},
    response,
  };
}

/** A Buffer would be encoded as the object that its toJSON() makes. */
function bytesOf(base64url: string): Uint8Array {
  return new Uint8Array(Buffer.from(base64url, 'base64url'));
}
