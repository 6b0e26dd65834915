import {
  holdsSecrets,
  noSoftware,
  softwareLimits,
  type Software,
  type SoftwarePort,
} from '../../domain/rentals/software.js';
import { entrypointChoices } from '../../domain/rentals/start-command.js';
import { isNotebook, notebookFault, notebookVariables } from '../../domain/rentals/notebook.js';
import { sealSoftware, type SealedSoftware } from '../../adapters/postgres/rentals/software.js';
import { Refusal } from '../../domain/refusal.js';
import type { ApiDeps } from '../context.js';
import { fields, joi, manyOf, needed, orElse, readAs, wholeFrom, wordOf, type Read } from '../http/fields.js';
import { fieldRefusal } from '../http/validation.js';

const limits = softwareLimits;
const SSH_PORT = 22;

/** A text whose refusals never repeat it. */
const secretText = (maxChars: number) =>
  readAs<string>(joi.string().allow('').max(maxChars), (text, helpers) =>
    text.includes('\0') ? helpers.message({ custom: '{{#label}} may not hold the character NUL' }) : text,
  ).meta({ jsonSchema: { pattern: '^[^\\u0000]*$' } });

/** After an "@" only a digest: answers tell the name, and whoever writes credentials before it must not read them back. */
const imageField = joi
  .string()
  .max(limits.imageMaxChars)
  .pattern(
    /^[a-zA-Z0-9][\w.\-/:]*(@sha256:[0-9a-f]{64})?$/,
    'the name of an image, such as ghcr.io/you/server:1 or ghcr.io/you/server@sha256:…; send credentials as registryAuth',
  )
  .description('An image of your own, such as ghcr.io/you/server:1. It runs instead of a template.');

const envName = /^[A-Za-z_]\w{0,127}$/;
/** Upstreams put the keys of SSH there. */
const RESERVED = 'PUBLIC_KEY';

type Env = Readonly<Record<string, string>>;

/** The names stand in no message: whoever confuses name and value must not read it back. */
const envField = readAs<Env>(joi.object().unknown(true), (env, helpers) => {
  const fault = envFault(env as unknown as Readonly<Record<string, unknown>>);
  return fault === undefined ? (env as unknown as Env) : helpers.message({ custom: `{{#label}} ${fault}` });
}).meta({
  jsonSchema: {
    type: 'object',
    description: `At most ${limits.envPairs} environment variables. No answer shows their values. Not ${RESERVED}: use sshPublicKeys.`,
    maxProperties: limits.envPairs,
    propertyNames: { pattern: `^(?!${RESERVED}$)[A-Za-z_][A-Za-z0-9_]{0,127}$` },
    additionalProperties: { type: 'string', maxLength: limits.envValueMaxChars, pattern: '^[^\\u0000]*$' },
  },
});

function envFault(env: Readonly<Record<string, unknown>>): string | undefined {
  const pairs = Object.entries(env);
  if (pairs.length > limits.envPairs) return `may be at most ${limits.envPairs} pairs`;
  if (pairs.some(([name]) => !envName.test(name))) {
    return 'may have names of letters, digits and "_" alone, which begin with no digit';
  }
  if (pairs.some(([name]) => name === RESERVED)) {
    return `may not set ${RESERVED}: give your keys as sshPublicKeys`;
  }
  const fits = (value: unknown) =>
    typeof value === 'string' && value.length <= limits.envValueMaxChars && !value.includes('\0');
  if (pairs.every(([, value]) => fits(value))) return undefined;
  return `may have texts of at most ${limits.envValueMaxChars} characters as values, without NUL`;
}

const portField = fields({
  name: needed(
    joi
      .string()
      .pattern(/^[a-z][a-z0-9-]*$/, 'letters a-z, digits and "-", beginning with a letter')
      .max(limits.portNameMaxChars),
  ),
  port: needed(wholeFrom(1, 65_535).invalid(SSH_PORT)),
  kind: needed(wordOf(['http', 'tcp'])),
  public: orElse(
    joi
      .boolean()
      .description('Whether everybody on the internet can reach it. Otherwise `gpu ports` leads to it.'),
    false,
  ),
});

/** As it was sent: it may be no port at all. */
type AskedPort = Partial<SoftwarePort> | null | undefined;

const isSame = (one: unknown, other: unknown): boolean => one !== undefined && one === other;

const portsField = manyOf(portField)
  .max(limits.ports)
  .unique(
    (one: AskedPort, other: AskedPort) => isSame(one?.name, other?.name) || isSame(one?.port, other?.port),
  )
  .messages({ 'array.unique': '{{#label}} has a name or a port that another one has' });

/** The fields of own software (decision 153, "Own software"). Those that are secret no answer ever shows. */
export const softwareFields = {
  image: imageField,
  entrypoint: wordOf(entrypointChoices).description(
    'With `replace` your startScript, or your args where there is none, runs in place of the image’s entrypoint, at each start. A script gets args as its arguments, and needs programs in the image: see imageNeeds in the quote. Default: keep.',
  ),
  registryAuth: fields({
    username: needed(secretText(limits.credentialMaxChars)),
    password: needed(secretText(limits.credentialMaxChars)),
  }).description('Signs in to the image’s registry. No answer shows it.'),
  args: manyOf(secretText(limits.argMaxChars))
    .max(limits.args)
    .description('The arguments of what runs in the image. No answer shows them.'),
  env: envField,
  startScript: readAs<string>(joi.string().max(limits.scriptMaxBytes, 'utf8'), (text, helpers) =>
    text.includes('\0') ? helpers.message({ custom: '{{#label}} may not hold the character NUL' }) : text,
  ).meta({
    jsonSchema: {
      pattern: '^[^\\u0000]+$',
      maxLength: limits.scriptMaxBytes,
      description:
        'A script that the machine runs once when it is up, or, with entrypoint `replace`, what the image runs. No answer shows it.',
    },
  }),
  ports: portsField,
  diskGb: wholeFrom(1, limits.diskMaxGb),
};

type SoftwareBody = {
  readonly [K in keyof typeof softwareFields]?: Read<(typeof softwareFields)[K]>;
};

/**
 * Reads the own software of a request; undefined for a request without any.
 * @param sent the body as it was sent, in which what was left out is absent
 * @throws Refusal validation_failed naming the field that needs an image, or that an image rules out
 */
export function readSoftware(body: SoftwareBody, sent: unknown): Software | undefined {
  const asked = Object.entries(body).filter(([name]) => name in noSoftware);
  const software: Software = { ...noSoftware, ...Object.fromEntries(asked) };
  refuseWithoutImage(software);
  refuseEntrypoint(software);
  if (software.image !== null && Object.hasOwn(sent as object, 'templateId')) {
    throw fieldRefusal('templateId', 'templateId can’t be combined with an image, which runs instead of one');
  }
  const { image, ports, diskGb } = software;
  const isAny = image !== null || ports.length > 0 || diskGb !== null || holdsSecrets(software);
  return isAny ? software : undefined;
}

function refuseWithoutImage({ image, args, registryAuth }: Software): void {
  if (image !== null) return;
  if (args.length > 0) throw fieldRefusal('args', 'args needs an image: they are its own');
  if (registryAuth !== null) {
    throw fieldRefusal('registryAuth', 'registryAuth needs an image: it signs in to the image’s registry');
  }
}

function refuseEntrypoint({ entrypoint, image, startScript, args }: Software): void {
  if (entrypoint === 'keep') return;
  if (image === null) throw fieldRefusal('entrypoint', 'entrypoint needs an image, whose own it is');
  if (startScript === null && args.length === 0) {
    throw fieldRefusal(
      'entrypoint',
      'entrypoint "replace" needs a start script or arguments, which run in its place',
    );
  }
}

/** What a service does with the secrets of machines. */
export interface SecretKeeper {
  /** Whether it has a key to make the tokens of notebooks with. */
  readonly makesTokens: boolean;
  /** Seals what a request asks for. @throws Refusal software_unsupported where there is no key for it */
  seal(software: Software): SealedSoftware;
}

/** The keeper that has the public key alone. */
export function keeperOf({ settings }: Pick<ApiDeps, 'settings'>): SecretKeeper {
  const { publicKey } = settings.webhooks;
  const makesTokens = settings.ownSoftware.installationKey !== '';
  return {
    makesTokens,
    seal(software) {
      const keepsSecrets = publicKey !== '' && makesTokens;
      if (!keepsSecrets && holdsSecrets(software)) throw keepsNone('your software');
      return sealSoftware(publicKey, software);
    },
  };
}

/** @throws Refusal for a notebook where nobody can make its token, or with a port or a variable in its way */
export function refuseNotebook(
  templateId: string,
  own: Software | undefined,
  { makesTokens }: SecretKeeper,
): void {
  if (!isNotebook(templateId)) return;
  if (!makesTokens) throw keepsNone('notebooks');
  const variable = notebookVariables.find((name) => Object.hasOwn(own?.env ?? {}, name));
  if (variable !== undefined) {
    throw fieldRefusal('env', `env may not set ${variable}: the notebook’s token is the machine’s own`);
  }
  const fault = notebookFault(own?.ports ?? []);
  if (fault !== undefined) throw fieldRefusal('ports', fault);
}

function keepsNone(what: string): Refusal {
  return new Refusal('software_unsupported', `This service keeps no secrets of ${what}.`, { misfits: [] });
}
