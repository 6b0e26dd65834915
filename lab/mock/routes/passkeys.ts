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
import * as declared from '../../../api/accounts/describe-passkeys.js';
import { refuseWhenNotFresh } from '../../../api/accounts/fresh-proof.js';
import {
  noSuchPasskey,
  passkeyInUse,
  presentPasskey,
  tooManyPasskeys,
} from '../../../api/accounts/passkeys.js';
import { wrongPasskey } from '../../../api/accounts/sign-in-refusals.js';
import { sessionOf, type ApiContext, type ApiRouter } from '../../../api/context.js';
import { serve } from '../../../api/http/serve.js';
import { readBody } from '../../../api/http/validation.js';
import { accountLimits } from '../../../domain/accounts/limits.js';
import type { SessionId } from '../../../domain/ids.js';
import type { Account } from '../account.js';
import { serveMock, type MockHandler } from '../serve.js';
import { note, serveDeps } from '../signed-in.js';
import type { AskedChallenge, World } from '../world.js';
import { renewSession } from './sessions.js';
import { openSession } from './auth.js';

/**
 * Passkeys (decision 178, "Sign-in by passkey"), checked as the service does. Any browser may end a sign-in that another one has
 * begun.
 */
export function passkeyRoutes(router: ApiRouter, world: World): void {
  serveMock(router, world, declared.listPasskeys, (_ctx, { passkeys }) => ({
    passkeys: passkeys.map(presentPasskey),
  }));
  serveMock(router, world, declared.beginPasskey, begin(world));
  serveMock(router, world, declared.addPasskey, add(world));
  serveMock(router, world, declared.renamePasskey, (ctx, account) => {
    const { name } = readBody(ctx, declared.renamePasskeySchema);
    return presentPasskey(Object.assign(ownOf(ctx, account), { name }));
  });
  serveMock(router, world, declared.removePasskey, (ctx, account) => {
    const own = ownOf(ctx, account);
    account.passkeys = account.passkeys.filter((row) => row !== own);
    note(world, ctx, account, 'passkey_removed', own.id);
    world.events.tell(account.user.id, 'passkey.removed', own.id, {});
    return { ok: true };
  });
  signInRoutes(router, world);
}

function begin(world: World): MockHandler<typeof declared.beginPasskey> {
  return (ctx, { user, passkeys }) => {
    refuseWhenNotFresh(ctx);
    if (passkeys.length >= accountLimits.maxPasskeys) throw tooManyPasskeys();
    const challenge = ask(world, 'registration', sessionOf(ctx).id);
    const person = { userId: user.id, email: user.email };
    return creationOptions(relyingPartyOf(world.dashboardUrl), person, passkeys, challenge);
  };
}

function add(world: World): MockHandler<typeof declared.addPasskey> {
  return async (ctx, account) => {
    const { name, credential } = readBody(ctx, declared.addPasskeySchema);
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
    return presentPasskey(row);
  };
}

function signInRoutes(router: ApiRouter, world: World): void {
  const deps = serveDeps(world);
  serve(router, deps, declared.beginPasskeySignIn, () =>
    requestOptions(relyingPartyOf(world.dashboardUrl), [], ask(world, 'sign_in', undefined)),
  );
  serve(router, deps, declared.signInByPasskey, async (ctx) => {
    const { credential } = readBody(ctx, declared.showPasskeySchema);
    const { account } = await show(world, credential, 'sign_in', undefined);
    if ((credential.response.userHandle ?? null) === null) throw wrongPasskey();
    return openSession(world, ctx, account.user.email, 'passkey');
  });
  serveMock(router, world, declared.beginPasskeyProof, (ctx, { passkeys }) => {
    if (passkeys.length === 0) throw noSuchPasskey();
    const challenge = ask(world, 'proof', sessionOf(ctx).id);
    return requestOptions(relyingPartyOf(world.dashboardUrl), passkeys, challenge);
  });
  serveMock(router, world, declared.proveByPasskey, async (ctx, account) => {
    const { credential } = readBody(ctx, declared.showPasskeySchema);
    const shown = await show(world, credential, 'proof', sessionOf(ctx).id);
    if (shown.account !== account) throw wrongPasskey();
    return { freshUntil: renewSession(world, ctx, account, { passkeyId: shown.row.id }) };
  });
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
