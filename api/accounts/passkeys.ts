import * as declared from './describe-passkeys.js';
import { serve, type Handler } from '../http/serve.js';
import {
  creationOptions,
  relyingPartyOf,
  challengeOf,
  readMade,
  type MadeAnswer,
  type MadePasskey,
} from '../../adapters/identity/passkeys.js';
import { newId } from '../../adapters/ids.js';
import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import {
  insertChallenge,
  takeChallenge,
  type ChallengeUse,
} from '../../adapters/postgres/accounts/passkey-challenges.js';
import {
  deletePasskey,
  insertPasskey,
  listPasskeys,
  renamePasskey,
} from '../../adapters/postgres/accounts/passkeys.js';
import { noteForUser } from '../../adapters/postgres/notices/user-notices.js';
import type { PasskeyRow } from '../../adapters/postgres/rows/tables.js';
import { accountLimits } from '../../domain/accounts/limits.js';
import { isId } from '../../domain/ids.js';
import { Refusal } from '../../domain/refusal.js';
import { sessionOf, type ApiContext, type ApiDeps, type ApiRouter } from '../context.js';
import { readBody } from '../http/validation.js';
import { auditEvent } from './audit-event.js';
import { refuseWhenNotFresh } from './fresh-proof.js';
import { wrongPasskey } from './sign-in-refusals.js';

/**
 * The passkeys of a user (decision 178, "Sign-in by passkey"). Whoever finds a stranger's removes it at once: that asks for no
 * fresh sign-in. No API key comes here.
 */
export function passkeyRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.listPasskeys, list(deps));
  serve(router, deps, declared.beginPasskey, begin(deps));
  serve(router, deps, declared.addPasskey, add(deps));
  serve(router, deps, declared.renamePasskey, rename(deps));
  serve(router, deps, declared.removePasskey, remove(deps));
}

function list(deps: ApiDeps): Handler<typeof declared.listPasskeys> {
  return async (ctx) => {
    const rows = await listPasskeys(deps.db, sessionOf(ctx).userId);
    return { passkeys: rows.map(presentPasskey) };
  };
}

function begin(deps: ApiDeps): Handler<typeof declared.beginPasskey> {
  const rp = relyingPartyOf(deps.settings.dashboardUrl);
  return async (ctx) => {
    refuseWhenNotFresh(ctx);
    const session = sessionOf(ctx);
    const has = await listPasskeys(deps.db, session.userId);
    if (has.length >= accountLimits.maxPasskeys) throw tooManyPasskeys();
    const challenge = await insertChallenge(deps.db, { purpose: 'registration', sessionId: session.id });
    return creationOptions(rp, session, has, challenge);
  };
}

function add(deps: ApiDeps): Handler<typeof declared.addPasskey> {
  return async (ctx) => {
    const { name, credential } = readBody(ctx, declared.addPasskeySchema);
    refuseWhenNotFresh(ctx);
    const made = await checkMade(ctx, deps, credential);
    const { userId } = sessionOf(ctx);
    const row = await deps.db.transaction(async (trx) => {
      const added = await insertPasskey(trx, { id: newId('psk'), userId, name }, made);
      if (typeof added === 'string') return added;
      const { id: passkeyId } = added;
      await insertAuditEvent(trx, auditEvent(ctx, { userId, kind: 'passkey_added', entityId: passkeyId }));
      const cause = { kind: 'passkey_added', passkeyId } as const;
      await noteForUser(trx, { userId, kind: 'passkey_added', cause, facts: { passkeyId, name } });
      return added;
    });
    if (row === 'known') throw passkeyInUse();
    if (row === 'too many') throw tooManyPasskeys();
    return presentPasskey(row);
  };
}

async function checkMade(ctx: ApiContext, deps: ApiDeps, credential: MadeAnswer): Promise<MadePasskey> {
  const use = { purpose: 'registration', sessionId: sessionOf(ctx).id } as const;
  const challenge = await takeAnswered(deps, credential, use);
  const made = await readMade(relyingPartyOf(deps.settings.dashboardUrl), challenge, credential);
  if (!made) throw wrongPasskey();
  return made;
}

/**
 * Takes the challenge that an answer claims to have signed, whatever comes of it: nothing is tried twice.
 * @throws Refusal passkey_invalid where there is none for this use
 */
export async function takeAnswered(
  { db }: Pick<ApiDeps, 'db'>,
  { response }: { readonly response: { readonly clientDataJSON: string } },
  use: ChallengeUse,
): Promise<string> {
  const challenge = challengeOf(response.clientDataJSON);
  if (challenge === undefined || !(await takeChallenge(db, challenge, use))) throw wrongPasskey();
  return challenge;
}

function rename(deps: ApiDeps): Handler<typeof declared.renamePasskey> {
  return async (ctx) => {
    const id = ctx.params['id'] ?? '';
    const { name } = readBody(ctx, declared.renamePasskeySchema);
    const row = isId('psk', id) && (await renamePasskey(deps.db, sessionOf(ctx).userId, id, name));
    if (!row) throw noSuchPasskey();
    return presentPasskey(row);
  };
}

function remove(deps: ApiDeps): Handler<typeof declared.removePasskey> {
  return async (ctx) => {
    const id = ctx.params['id'] ?? '';
    const { userId } = sessionOf(ctx);
    const removed =
      isId('psk', id) &&
      (await deps.db.transaction(async (trx) => {
        const row = await deletePasskey(trx, userId, id);
        if (row) {
          await insertAuditEvent(trx, auditEvent(ctx, { userId, kind: 'passkey_removed', entityId: id }));
        }
        return row;
      }));
    if (!removed) throw noSuchPasskey();
    return { ok: true };
  };
}

/** A passkey on read. */
export function presentPasskey(row: PasskeyRow) {
  return {
    id: row.id,
    name: row.name,
    synced: row.backed_up,
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
  };
}

/** The refusal of a passkey that is not the caller's (decision 5, "Foreign ids"). */
export function noSuchPasskey(): Refusal {
  return new Refusal('passkey_not_found', 'You have no such passkey: GET /v1/auth/passkeys lists yours.');
}

/** The refusal of a passkey beyond the number that a user may have. */
export function tooManyPasskeys(): Refusal {
  const { maxPasskeys } = accountLimits;
  return new Refusal(
    'too_many_passkeys',
    `You have ${maxPasskeys} passkeys, the most you can have. Remove one that you no longer use: DELETE /v1/auth/passkeys/:id.`,
    { maxPasskeys },
  );
}

/** The refusal of a passkey that somebody has. */
export function passkeyInUse(): Refusal {
  return new Refusal('duplicate_passkey', 'This passkey is in use already.');
}
