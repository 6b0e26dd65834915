import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client';
import { IdentityError, type IdentityFault } from './identity.js';

/** Describes a failed call of openid-client, without anything that the provider answered. */
export function identityErrorOf(error: unknown): IdentityError {
  if (error instanceof IdentityError) return error;
  if (error instanceof AuthorizationResponseError) return ofAuthorization(error.error);
  if (error instanceof ResponseBodyError) return ofStatus(error.status, codeIn(error.error));
  const broken = brokenConnection(error);
  if (broken !== undefined) return new IdentityError('unavailable', broken);
  if (error instanceof ClientError) return ofClient(error);
  return new IdentityError('refused', error instanceof Error ? error.name : 'unknown');
}

/** Sorts a status that is no success: the provider's own failure passes, and so does too high a rate. */
export function ofStatus(status: number, reason = `status ${status}`): IdentityError {
  return new IdentityError(status >= 500 || status === 429 ? 'unavailable' : 'refused', reason);
}

/** RFC 6749 4.1.2.1 and OpenID Connect Core 3.1.2.6. */
function ofAuthorization(code: string): IdentityError {
  const faults: ReadonlyMap<string, IdentityFault> = new Map([
    ['access_denied', 'denied'],
    ['server_error', 'unavailable'],
    ['temporarily_unavailable', 'unavailable'],
  ]);
  return new IdentityError(faults.get(code) ?? 'refused', codeIn(code));
}

function ofClient({ cause, code = 'unknown' }: ClientError): IdentityError {
  return cause instanceof Response ? ofStatus(cause.status) : new IdentityError('refused', code);
}

/**
 * Finds the cause when the body of an answer stood still or broke off, whatever the libraries made of it. A TypeError
 * is fetch's own when it carries a cause and no code of its own.
 */
function brokenConnection(error: unknown): string | undefined {
  if (error instanceof DOMException && error.name === 'TimeoutError') return 'no answer in time';
  if (!(error instanceof Error)) return undefined;
  const { cause } = error;
  if (error instanceof TypeError && !('code' in error) && cause instanceof Error) {
    return 'code' in cause && typeof cause.code === 'string' ? cause.code : 'no connection';
  }
  return brokenConnection(cause);
}

/** The provider chose the text: only text that looks like a code of the standards goes into a log. */
function codeIn(text: string): string {
  return /^[a-z_]{1,40}$/.test(text) ? text : 'unknown code';
}
