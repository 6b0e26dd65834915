import { accountLimits } from '../../domain/accounts/limits.js';
import { MINUTE } from '../../domain/durations.js';
import { fields, joi, manyOf, needed, nullable, wordOf } from '../http/fields.js';
import {
  bool,
  count,
  exampleId,
  idOf,
  instant,
  listOf,
  named,
  object,
  oneOf,
  orNull,
  text,
  whole,
  yes,
} from '../http/openapi/json-schema.js';
import { jsonSchemaOf } from '../http/openapi/joi-schema.js';
import { idParameter, leadsTo, operation, type Operation } from '../http/openapi/operation.js';
import { done, exampleUser, expiresAt, signedIn } from './describe-sign-in.js';

const tag = 'Sign-in';

/** Bytes as WebAuthn writes them in JSON; all of a credential fit a body. @param maxChars for the most bytes there may be */
const bytes = (maxChars: number) =>
  joi
    .string()
    .max(maxChars)
    .pattern(/^[A-Za-z0-9_-]+$/, 'base64url');

const credentialId = bytes(1_364);

/** What all credentials have, as `PublicKeyCredential.toJSON()` writes it. Browsers add more, which is not read. */
const ofCredential = {
  id: needed(credentialId),
  rawId: needed(credentialId),
  type: needed(wordOf(['public-key'])),
  authenticatorAttachment: nullable(joi.string().max(64)),
  clientExtensionResults: joi.object().unknown(true),
};
const clientDataJSON = needed(bytes(2_048));

const madeCredential = fields({
  ...ofCredential,
  response: needed(
    fields({
      clientDataJSON,
      attestationObject: needed(bytes(8_192)),
      transports: manyOf(joi.string().pattern(/^[a-z-]{1,32}$/, 'a transport')).max(10),
    }).unknown(true),
  ),
}).unknown(true);

const shownCredential = fields({
  ...ofCredential,
  response: needed(
    fields({
      clientDataJSON,
      authenticatorData: needed(bytes(4_096)),
      signature: needed(bytes(6_144)),
      userHandle: nullable(bytes(128)),
    }).unknown(true),
  ),
}).unknown(true);

const name = needed(joi.text().min(1).maxChars(64));

export const addPasskeySchema = fields({ name, credential: needed(madeCredential) });
export const renamePasskeySchema = fields({ name });
export const showPasskeySchema = fields({ credential: needed(shownCredential) });

/** What both a sign-in and a proof take. */
const showPasskey = named('ShowPasskey', jsonSchemaOf(showPasskeySchema));

const passkey = named(
  'Passkey',
  object({
    id: idOf('psk'),
    name: text,
    synced: { ...bool, description: 'Your devices share it; if not, it is in one of them only.' },
    createdAt: instant,
    lastUsedAt: orNull(instant, 'Null: never.'),
  }),
);
const example = {
  id: exampleId('psk'),
  name: 'MacBook',
  synced: true,
  createdAt: '2026-11-01T09:30:00.000Z',
  lastUsedAt: null,
};

const asked = {
  challenge: { ...text, description: 'Works once.' },
  timeout: { ...count, description: 'Milliseconds.' },
};
const type = oneOf(['public-key']);
const known = listOf(named('KnownPasskey', object({ type, id: text, transports: listOf(text) })));
const userVerification = oneOf(['required']);

const creation = named(
  'PasskeyCreation',
  object({
    rp: object({ id: text, name: text }),
    user: object({ id: text, name: text, displayName: text }),
    ...asked,
    pubKeyCredParams: listOf(object({ type, alg: whole })),
    excludeCredentials: known,
    authenticatorSelection: object({
      residentKey: oneOf(['required']),
      requireResidentKey: yes,
      userVerification,
    }),
    attestation: oneOf(['none']),
  }),
);
const request = named(
  'PasskeyRequest',
  object({ rpId: text, ...asked, allowCredentials: known, userVerification }),
);

const exampleAsked = { challenge: 'q83vEjRWeJq83vEjRWeJq83vEjRWeJq83vEjRWeJo0c', timeout: 5 * MINUTE };
const exampleCreation = {
  rp: { id: 'gpu.example.com', name: 'GPU rental' },
  user: { id: 'dXNyXzAx', name: exampleUser.email, displayName: exampleUser.email },
  ...exampleAsked,
  pubKeyCredParams: [{ type: 'public-key' as const, alg: -7 }],
  excludeCredentials: [],
  authenticatorSelection: {
    residentKey: 'required' as const,
    requireResidentKey: true as const,
    userVerification: 'required' as const,
  },
  attestation: 'none' as const,
};
const exampleRequest = {
  rpId: 'gpu.example.com',
  ...exampleAsked,
  allowCredentials: [],
  userVerification: 'required' as const,
};
const exampleBytes = 'AAECAwQFBgcICQoLDA0ODw';
const exampleCredential = { id: exampleBytes, rawId: exampleBytes, type: 'public-key' };
const exampleShown = {
  credential: {
    ...exampleCredential,
    response: { clientDataJSON: 'e30', authenticatorData: exampleBytes, signature: exampleBytes },
  },
};
const takes = (parse: string) => ({
  ...{
    description: `What \`PublicKeyCredential.${parse}\` takes. Answer within ${accountLimits.passkeyChallengeMs / MINUTE} minutes.`,
  },
});

export const listPasskeys = operation({
  method: 'get',
  path: '/v1/auth/passkeys',
  name: 'listPasskeys',
  tag,
  summary: 'Your passkeys',
  answers: [
    {
      description: 'All of them, oldest first.',
      schema: object({ passkeys: listOf(passkey) }),
      examples: [{ passkeys: [example] }],
    },
  ],
});

export const beginPasskey = operation({
  method: 'post',
  path: '/v1/auth/passkeys/begin',
  name: 'beginPasskey',
  tag,
  summary: 'Begins to add a passkey',
  description: 'Hand the answer to the browser, and what it makes of it to POST /v1/auth/passkeys.',
  answers: [
    {
      ...takes('parseCreationOptionsFromJSON()'),
      schema: creation,
      examples: [exampleCreation],
    },
  ],
  refusals: ['too_many_passkeys', 'fresh_sign_in_required'],
});

export const addPasskey = operation({
  method: 'post',
  path: '/v1/auth/passkeys',
  name: 'addPasskey',
  tag,
  summary: 'Adds a passkey',
  description: `At most ${accountLimits.maxPasskeys}. We email you that it was added. Emailed codes go on working.`,
  body: {
    schema: addPasskeySchema,
    examples: [
      {
        name: example.name,
        credential: {
          ...exampleCredential,
          response: { clientDataJSON: 'e30', attestationObject: exampleBytes, transports: ['internal'] },
        },
      },
    ],
  },
  answers: [
    {
      description: 'The passkey.',
      schema: passkey,
      examples: [example],
      links: leadsTo('/id', ['renamePasskey', 'removePasskey']),
    },
  ],
  refusals: ['passkey_invalid', 'duplicate_passkey', 'too_many_passkeys', 'fresh_sign_in_required'],
});

export const renamePasskey = operation({
  method: 'patch',
  path: '/v1/auth/passkeys/:id',
  name: 'renamePasskey',
  tag,
  summary: 'Renames a passkey',
  parameters: [idParameter('psk', 'a passkey', example.id)],
  body: { schema: renamePasskeySchema, examples: [{ name: 'Work laptop' }] },
  answers: [{ description: 'The passkey.', schema: passkey, examples: [example] }],
  refusals: ['passkey_not_found'],
});

export const removePasskey = operation({
  method: 'delete',
  path: '/v1/auth/passkeys/:id',
  name: 'removePasskey',
  tag,
  summary: 'Removes a passkey',
  description:
    'It can’t sign in any more. Sessions that it opened go on: GET /v1/auth/sessions lists them. The device may still offer it until you delete it there.',
  parameters: [idParameter('psk', 'a passkey', example.id)],
  answers: [{ description: 'Removed.', schema: done, examples: [{ ok: true }] }],
  refusals: ['passkey_not_found'],
});

export const beginPasskeySignIn = operation({
  method: 'post',
  path: '/v1/auth/passkey-sign-in/begin',
  name: 'beginPasskeySignIn',
  tag,
  summary: 'Begins a sign-in with a passkey',
  description: `Keep the cookie \`browser\` and send it with the answer. At most ${accountLimits.passkeySignInsPerClientPerHour} an hour from one address.`,
  isPublic: true,
  answers: [
    {
      ...takes('parseRequestOptionsFromJSON()'),
      schema: request,
      examples: [exampleRequest],
      headers: { 'Set-Cookie': text },
    },
  ],
});

export const signInByPasskey = operation({
  method: 'post',
  path: '/v1/auth/passkey-sign-in',
  name: 'signInByPasskey',
  tag,
  summary: 'Signs in with a passkey',
  description:
    'Whatever is wrong with it, and for a passkey that nobody has, the refusal is the same. The sign-in counts as fresh.',
  isPublic: true,
  body: { schema: showPasskey, examples: [exampleShown] },
  answers: [
    {
      description: 'Signed in: the cookie `sid` is the session.',
      schema: signedIn,
      examples: [{ user: exampleUser, created: false, expiresAt }],
      headers: { 'Set-Cookie': text },
    },
  ],
  refusals: ['passkey_invalid'],
});

export const beginPasskeyProof = operation({
  method: 'post',
  path: '/v1/auth/passkey-proof/begin',
  name: 'beginPasskeyProof',
  tag,
  summary: 'Begins to confirm who you are with a passkey',
  answers: [{ ...takes('parseRequestOptionsFromJSON()'), schema: request, examples: [exampleRequest] }],
  refusals: ['passkey_not_found'],
});

export const proveByPasskey = operation({
  method: 'post',
  path: '/v1/auth/passkey-proof',
  name: 'proveByPasskey',
  tag,
  summary: 'Confirms who you are with a passkey',
  description: `As POST /v1/auth/refresh-proof with a code: the sign-in counts as fresh for ${accountLimits.freshProofMs / MINUTE} minutes, and the session gets a new \`sid\`.`,
  body: { schema: showPasskey, examples: [exampleShown] },
  answers: [
    {
      description: 'The session is fresh.',
      schema: named('PasskeyProof', object({ freshUntil: instant })),
      examples: [{ freshUntil: '2026-11-01T09:45:00.000Z' }],
      headers: { 'Set-Cookie': text },
    },
  ],
  refusals: ['passkey_invalid'],
});

export const passkeyOperations: readonly Operation[] = [
  listPasskeys,
  beginPasskey,
  addPasskey,
  renamePasskey,
  removePasskey,
  beginPasskeySignIn,
  signInByPasskey,
  beginPasskeyProof,
  proveByPasskey,
];
