import { isFamilyId } from '../../domain/catalog/families.js';
import type { SshKeyRow } from '../../adapters/postgres/rows/tables.js';
import { HOUR } from '../../domain/durations.js';
import type { UserId } from '../../domain/ids.js';
import type { RentalRequest } from '../../domain/rentals/request.js';
import { catalogLimits } from '../../domain/catalog/limits.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import { Refusal } from '../../domain/refusal.js';
import { keysCharsOf, ownSoftwareId } from '../../domain/rentals/software.js';
import type { SealedSoftware } from '../../adapters/postgres/rentals/software.js';
import { defaultTemplateId, templates } from '../../domain/catalog/templates.js';
import { parsePublicKey } from '../accounts/public-keys.js';
import { keyIdOf, type ApiContext } from '../context.js';
import { guardFields, readGuard, telemetryField } from './idle-guard.js';
import { readSoftware, refuseNotebook, softwareFields, type SecretKeeper } from './software-fields.js';
import { givenWords, readWords } from './word-fields.js';
import {
  joi,
  regionField,
  fields,
  needed,
  orElse,
  wholeFrom,
  manyOf,
  type Read,
  idField,
} from '../http/fields.js';
import { readBody } from '../http/validation.js';

/** Under which the Idempotency-Keys of new rentals stand. */
export const rentalsEndpoint = 'POST /v1/rentals';

const MAX_CENTS = rentalLimits.maxLimitCents;

/** Public keys of the rental alone (decision 108, "API keys"). A body holds ten RSA keys of the longest kind. */
const ownKeysField = manyOf(joi.string().max(8_192))
  .min(1)
  .max(rentalLimits.maxOwnPublicKeys)
  .description('OpenSSH public keys for this machine only, in addition to sshKeyIds.');

export const rentalSchema = fields({
  familyId: needed(joi.text().maxChars(64)),
  gpuCount: needed(joi.number().valid(...catalogLimits.gpuCounts)),
  templateId: orElse(joi.string().valid(...templates.map((template) => template.id)), defaultTemplateId),
  region: regionField,
  ...givenWords,
  autoStopAfterHours: joi.number().greater(0).max(rentalLimits.autoStopMaxHours),
  sshKeyIds: manyOf(idField('key')).unique().max(100),
  maxSpendCents: wholeFrom(1, MAX_CENTS),
  maxPricePerHourCents: wholeFrom(1, MAX_CENTS),
  sshPublicKeys: ownKeysField,
  ...guardFields,
  telemetry: telemetryField,
  ...softwareFields,
});

/** A request as it was read. */
export interface ReadRequest {
  readonly body: RentalBody;
  readonly request: RentalRequest;
  /** What must be kept before its request is. */
  readonly secrets: SealedSoftware['secrets'];
  /** Why it can't be made: it names an SSH key that is not there. */
  readonly missingKey: Refusal | undefined;
}

export type RentalBody = Read<typeof rentalSchema>;

/**
 * Takes step 1 of POST /v1/rentals: validates the request's shape. The activity takes the other steps.
 * @param listOwnKeys lists the user's keys
 * @param keeper seals what is secret of it
 * @returns the validated body, the workflow's request, and what is to be kept sealed; and why it can't be made, where it
 * names a key that is gone: a retry of a request that was made gets its answer all the same
 * @throws Refusal validation_failed, invalid_count, unknown_family, weak_key
 */
export async function readRentalRequest(
  ctx: ApiContext,
  userId: UserId,
  listOwnKeys: () => Promise<readonly OwnKey[]>,
  keeper: SecretKeeper,
): Promise<ReadRequest> {
  const body = readBody(ctx, rentalSchema);
  if (!isFamilyId(body.familyId)) {
    throw new Refusal(
      'unknown_family',
      `There is no GPU family ${body.familyId}. GET /v1/catalog/families lists them.`,
      { familyId: body.familyId },
    );
  }
  const own = readSoftware(body, ctx.state.body);
  const templateId = own?.image ? ownSoftwareId : body.templateId;
  refuseNotebook(templateId, own, keeper);
  const software = own && keeper.seal(own);
  const apiKeyId = keyIdOf(ctx);
  const ownKeys = await listOwnKeys();
  const request = {
    userId,
    familyId: body.familyId,
    gpuCount: body.gpuCount,
    templateId,
    ...readWords(body),
    ...limitsOf(body),
    ...keysOf(ownKeys, body),
    ...(software && { software: software.outline }),
    ...(apiKeyId !== undefined && { apiKeyId }),
  };
  const missingKey = missingKeyOf(ownKeys, body.sshKeyIds);
  return { body, request, secrets: software?.secrets ?? null, missingKey };
}

/** @throws Refusal validation_failed */
function limitsOf(body: RentalBody) {
  const { region, autoStopAfterHours, maxSpendCents, maxPricePerHourCents } = body;
  const guard = readGuard(body);
  return {
    region: region ?? null,
    autoStopAfterMs: autoStopAfterHours === undefined ? null : autoStopMs(autoStopAfterHours),
    maxSpendCents: maxSpendCents ?? null,
    maxPricePerHourCents: maxPricePerHourCents ?? null,
    ...(guard && { idleGuard: guard }),
    ...(body.telemetry && { telemetry: true }),
  };
}

type OwnKey = Pick<SshKeyRow, 'id' | 'api_key_id' | 'public_key'>;

/**
 * The keys that open the machine. Default: all keys of the user (decision 14, "SSH keys"), but for those that an API key
 * added (decision 149, "Keys that set up").
 */
function keysOf(own: readonly OwnKey[], { sshKeyIds: asked, sshPublicKeys: given }: RentalBody) {
  const stored = own.filter(({ id, api_key_id: byKey }) => asked?.includes(id) ?? byKey === null);
  const sshPublicKeys = given && ownKeysOf(given);
  const lines = new Set([...stored.map(({ public_key: line }) => line), ...(sshPublicKeys ?? [])]);
  return {
    sshKeyIds: stored.map(({ id }) => id),
    ...(sshPublicKeys && { sshPublicKeys }),
    keysChars: keysCharsOf([...lines]),
  };
}

/** The refusal of a request that names a key which its user does not have. */
function missingKeyOf(own: readonly OwnKey[], asked: readonly string[] = []): Refusal | undefined {
  const id = asked.find((each) => !own.some((key) => key.id === each));
  if (id === undefined) return undefined;
  return new Refusal('key_not_found', `You have no key ${id}: GET /v1/ssh-keys lists yours.`, {
    sshKeyId: id,
  });
}

/** The lines of a rental's own keys, each once. @throws Refusal weak_key, validation_failed naming the key's place */
function ownKeysOf(given: readonly string[]): string[] {
  return [...new Set(given.map((text, index) => parsePublicKey(text, `sshPublicKeys[${index}]`).line))];
}

/** Fractions of an hour are allowed (decision 18, "Start of billing"); the shortest stop is one millisecond. */
export function autoStopMs(hours: number): number {
  return Math.max(1, Math.round(hours * HOUR));
}
