import { joi, fields, needed } from '../http/fields.js';
import { done } from './describe-sign-in.js';
import { bool, exampleId, idOf, instant, listOf, named, object, text } from '../http/openapi/json-schema.js';
import { idParameter, leadsTo, operation, type Operation } from '../http/openapi/operation.js';

export const keySchema = fields({
  name: needed(joi.text().min(1).maxChars(64)),
  // A file that is pasted whole brings a line break at its end.
  // The limit is five times the line of the longest RSA key that is accepted, and well within what a body may hold.
  publicKey: joi.string().max(8_192),
  generate: joi.boolean().valid(true),
}).xor('publicKey', 'generate');

const tag = 'SSH keys';
const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJm0d1r0vGkGx3Qh4qzW0bHc2cV8m9w6o3aJt1m2Tq5u';

const shown = {
  id: idOf('key'),
  name: text,
  fingerprint: { ...text, description: 'As `ssh-keygen -l` prints it.' },
  publicKey: { ...text, description: 'One OpenSSH line of type and key.' },
  byKey: {
    ...bool,
    description: 'An API key added it: it opens only machines whose request names it in `sshKeyIds`.',
  },
  createdAt: instant,
};
const example = {
  id: exampleId('key'),
  name: 'laptop',
  fingerprint: 'SHA256:3q2+7wEjRWeJq83vEjRWeJq83vEjRWeJq83vEjRWeJo',
  publicKey,
  byKey: false,
  createdAt: '2026-11-01T09:30:00.000Z',
};

export const listSshKeys = operation({
  method: 'get',
  path: '/v1/ssh-keys',
  scope: 'read',
  name: 'listSshKeys',
  tag,
  summary: 'Your SSH keys',
  answers: [
    {
      description: 'All of them.',
      schema: object({ sshKeys: listOf(named('SshKey', object(shown))) }),
      examples: [{ sshKeys: [example] }],
    },
  ],
});

export const addSshKey = operation({
  method: 'post',
  path: '/v1/ssh-keys',
  scope: 'setup',
  name: 'addSshKey',
  tag,
  summary: 'Adds a public key, or creates a pair',
  description:
    'RSA of 2048 to 8192 bits, ECDSA and Ed25519; at most 100 keys. With `generate`, the private key is only in this answer.',
  body: {
    schema: keySchema,
    examples: [
      { name: 'laptop', publicKey },
      { name: 'made here', generate: true },
    ],
  },
  answers: [
    {
      description: 'The key.',
      schema: named(
        'AddedSshKey',
        object({ ...shown, privateKey: { ...text, description: 'PEM, only of a generated key.' } }, [
          'privateKey',
        ]),
      ),
      examples: [example],
      links: leadsTo('/id', ['removeSshKey']),
    },
  ],
  refusals: ['weak_key', 'duplicate_key', 'too_many_keys', 'fresh_sign_in_required'],
});

export const removeSshKey = operation({
  method: 'delete',
  path: '/v1/ssh-keys/:id',
  scope: 'setup',
  name: 'removeSshKey',
  tag,
  summary: 'Removes a key',
  description: 'Running machines keep it.',
  parameters: [idParameter('key', 'a key', example.id)],
  answers: [{ description: 'Removed.', schema: done, examples: [{ ok: true }] }],
  refusals: ['key_not_found', 'key_setup'],
});

export const sshKeyOperations: readonly Operation[] = [listSshKeys, addSshKey, removeSshKey];
