import { isApiError, type ApiKey, type CreateApiKey } from '@gpu-rental/client';
import { fieldError } from '../../data/errors.js';
import { parseMoney, typedMoney } from '../../format/money.js';
import { apiKeyTexts as t } from '../../texts/api-keys.js';

/** What of a key stands in fields as text. */
export interface KeyFields {
  readonly name: string;
  readonly cap: string;
  readonly cidrs: string;
}

/** The fields of a key that there is. */
export function fieldsOf({ name, spendCapCents, allowedCidrs }: ApiKey): KeyFields {
  return {
    name,
    cap: spendCapCents === null ? '' : typedMoney(spendCapCents),
    cidrs: allowedCidrs?.join('\n') ?? '',
  };
}

/** Whole cents; null: no cap; undefined: a text that is no amount. */
export function capOf(text: string): number | null | undefined {
  if (text.trim() === '') return null;
  const cents = parseMoney(text);
  return cents === undefined || cents === 0 ? undefined : cents;
}

/** One address or range a line; null: from anywhere. */
export function cidrsOf(text: string): string[] | null {
  const lines = text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.length === 0 ? null : lines;
}

/** What of a key can be changed. */
type ApiKeyChange = Partial<Pick<CreateApiKey, 'name' | 'spendCapCents' | 'allowedCidrs'>>;

/** What differs from the key as it is; undefined: the cap is no amount. */
export function changeOf(key: ApiKey, { name, cap, cidrs }: KeyFields): ApiKeyChange | undefined {
  const spendCapCents = capOf(cap);
  if (spendCapCents === undefined) return undefined;
  const allowedCidrs = cidrsOf(cidrs);
  return {
    ...(name !== key.name && { name }),
    ...(spendCapCents !== key.spendCapCents && { spendCapCents }),
    ...(JSON.stringify(allowedCidrs) !== JSON.stringify(key.allowedCidrs) && { allowedCidrs }),
  };
}

export interface KeyFaults {
  readonly name: string | undefined;
  readonly scopes: string | undefined;
  readonly expiresAt: string | undefined;
  readonly cap: string | undefined;
  readonly cidrs: string | undefined;
}

/** What the service said of each field. */
export function faultsOf(error: unknown): KeyFaults {
  return {
    name: fieldError(error, 'name'),
    scopes: fieldError(error, 'scopes'),
    expiresAt: fieldError(error, 'expiresAt'),
    cap: fieldError(error, 'spendCapCents'),
    cidrs: fieldError(error, 'allowedCidrs') ?? faultOfLine(error),
  };
}

/** The first line that is no address, counted from 1. */
function faultOfLine(error: unknown): string | undefined {
  if (!isApiError(error, 'validation_failed')) return undefined;
  const fault = error.details?.fields.find(({ field }) => field.startsWith('allowedCidrs.'));
  if (!fault) return undefined;
  return t.cidrFault(Number(fault.field.split('.')[1]) + 1, fault.message.replace(/^\S+ /, ''));
}
