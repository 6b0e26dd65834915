import {
  challengeOf,
  creationOptions,
  goesOn,
  newChallenge,
  readMade,
  readShown,
  relyingPartyOf,
  requestOptions,
  type ShownAnswer,
} from '../../../adapters/identity/passkeys.js';
import { newId } from '../../../adapters/ids.js';
import type { PasskeyRow } from '../../../adapters/postgres/rows/tables.js';
import {
  addPasskeySchema,
  renamePasskeySchema,
  showPasskeySchema,
} from '../../../api/accounts/describe-passkeys.js';
import { refuseWhenNotFresh } from '../../../api/accounts/fresh-proof.js';
import {
  noSuchPasskey,
  passkeyInUse,
  presentPasskey,
  tooManyPasskeys,
} from '../../../api/accounts/passkeys.js';
import { wrongPasskey } from '../../../api/accounts/sign-in-refusals.js';
import { sessionOf, type ApiContext, type ApiRouter } from '../../../api/context.js';
import { readBody } from '../../../api/http/validation.js';
import { accountLimits } from '../../../domain/accounts/limits.js';
import type { SessionId } from '../../../domain/ids.js';
import type { Account } from '../account.js';
import { note, signedIn } from '../signed-in.js';
import type { AskedChallenge, World } from '../world.js';
import { renewSession } from './sessions.js';
import { openSession } from './auth.js';

/**
 * Passkeys (decision 178, "Sign-in by passkey"), checked as the service does. Any browser may end a sign-in that another one has
 * begun.
 */
export function passkeyRoutes(router: ApiRouter, world: World): void {
  router.get(
    '/v1/auth/passkeys',
    signedIn(world, (ctx, { passkeys }) => {
      ctx.body = { passkeys: passkeys.map(presentPasskey) };
    }),
  );
  router.post('/v1/auth/passkeys/begin', begin(world));
  router.post('/v1/auth/passkeys', add(world));
  router.patch(
    '/v1/auth/passkeys/:id',
    signedIn(world, (ctx, account) => {
      const { name } = readBody(ctx, renamePasskeySchema);
      ctx.body = presentPasskey(Object.assign(ownOf(ctx, account), { name }));
    }),
  );
  router.delete(
    '/v1/auth/passkeys/:id',
    signedIn(world, (ctx, account) => {
      const own = ownOf(ctx, account);
      account.passkeys = account.passkeys.filter((row) => row !== own);
      note(world, ctx, account, 'passkey_removed', own.id);
      world.events.tell(account.user.id, 'passkey.removed', own.id, {});
      ctx.body = { ok: true };
    }),
  );
  signInRoutes(router, world);
}

function begin(world: World) {
  return signedIn(world, (ctx, { user, passkeys }) => {
    refuseWhenNotFresh(ctx);
    if (passkeys.length >= accountLimits.maxPasskeys) throw tooManyPasskeys();
    const challenge = ask(world, 'registration', sessionOf(ctx).id);
    const person = { userId: user.id, email: user.email };
    ctx.body = creationOptions(relyingPartyOf(world.dashboardUrl), person, passkeys, challenge);
  });
}

function add(world: World) {
  return signedIn(world, async (ctx, account) => {
    const { name, credential } = readBody(ctx, addPasskeySchema);
    refuseWhenNotFresh(ctx);
    const challenge = take(world, credential.response.clientDataJSON, 'registration', sessionOf(ctx).id);
    const made = await readMade(relyingPartyOf(world.dashboardUrl), challenge, credential);
    if (!made) throw wrongPasskey();
    if (findPasskey(world, made.credentialId.toString('base64url'))) throw passkeyInUse();
    if (account.passkeys.length >= accountLimits.maxPasskeys) throw tooManyPasskeys();
    const row: PasskeyRow = {
      ...{ id: newId('psk'), user_id: account.user.id, name },
      ...{ credential_id: made.credentialId, public_key: made.publicKey, counter: made.counter },
      ...{ transports: [...made.transports], backup_eligible: made.backupEligible, backed_up: made.backedUp },
      ...{ created_at: world.now(), last_used_at: null, suspended_at: null },
    };
    account.passkeys.push(row);
    note(world, ctx, account, 'passkey_added', row.id);
    world.events.tell(account.user.id, 'passkey.added', row.id, {});
    ctx.body = presentPasskey(row);
  });
}

function signInRoutes(router: ApiRouter, world: World): void {
  router.post('/v1/auth/passkey-sign-in/begin', (ctx) => {
    ctx.body = requestOptions(relyingPartyOf(world.dashboardUrl), [], ask(world, 'sign_in', undefined));
  });
  router.post('/v1/auth/passkey-sign-in', async (ctx) => {
    const { credential } = readBody(ctx, showPasskeySchema);
    const { account } = await show(world, credential, 'sign_in', undefined);
    if ((credential.response.userHandle ?? null) === null) throw wrongPasskey();
    ctx.body = await openSession(world, ctx, account.user.email, 'passkey');
  });
  router.post(
    '/v1/auth/passkey-proof/begin',
    signedIn(world, (ctx, { passkeys }) => {
      if (passkeys.length === 0) throw noSuchPasskey();
      const challenge = ask(world, 'proof', sessionOf(ctx).id);
      ctx.body = requestOptions(relyingPartyOf(world.dashboardUrl), passkeys, challenge);
    }),
  );
  router.post(
    '/v1/auth/passkey-proof',
    signedIn(world, async (ctx, account) => {
      const { credential } = readBody(ctx, showPasskeySchema);
      const shown = await show(world, credential, 'proof', sessionOf(ctx).id);
      if (shown.account !== account) throw wrongPasskey();
      ctx.body = { freshUntil: renewSession(world, ctx, account, { passkeyId: shown.row.id }) };
    }),
  );
}

function ask(world: World, purpose: AskedChallenge['purpose'], sessionId: SessionId | undefined): string {
  const challenge = newChallenge();
  const expiresAt = new Date(world.now().getTime() + accountLimits.passkeyChallengeMs);
  world.challenges.set(challenge, { purpose, sessionId, expiresAt });
  return challenge;
}

function take(
  world: World,
  clientDataJson: string,
  purpose: AskedChallenge['purpose'],
  sessionId: SessionId | undefined,
): string {
  const challenge = challengeOf(clientDataJson) ?? '';
  const asked = world.challenges.get(challenge);
  if (asked?.purpose !== purpose || asked.sessionId !== sessionId || asked.expiresAt <= world.now()) {
    throw wrongPasskey();
  }
  world.challenges.delete(challenge);
  return challenge;
}

async function show(
  world: World,
  credential: ShownAnswer,
  purpose: AskedChallenge['purpose'],
  sessionId: SessionId | undefined,
): Promise<Found> {
  const challenge = take(world, credential.response.clientDataJSON, purpose, sessionId);
  const found = findPasskey(world, credential.id);
  const read =
    found && (await readShown(relyingPartyOf(world.dashboardUrl), challenge, credential, found.row));
  if (!read || !goesOn(read.counter, found.row.counter)) throw wrongPasskey();
  Object.assign(found.row, { counter: read.counter, backed_up: read.backedUp, last_used_at: world.now() });
  return found;
}

interface Found {
  readonly account: Account;
  readonly row: PasskeyRow;
}

function findPasskey(world: World, credentialId: string): Found | undefined {
  for (const account of world.accounts.all()) {
    const row = account.passkeys.find((one) => one.credential_id.toString('base64url') === credentialId);
    if (row) return { account, row };
  }
  return undefined;
}

function ownOf(ctx: ApiContext, { passkeys }: Account): PasskeyRow {
  const own = passkeys.find(({ id }) => id === ctx.params['id']);
  if (!own) throw noSuchPasskey();
  return own;
}
