import type { AccountClosing, GpuRental, User } from '@gpu-rental/client';
import { withSession } from '../../asking/with-session.js';
import type { Cli } from '../../cli.js';
import type { AddCommand } from '../../command.js';
import { includeOf, removeAliases, removeInclude } from '../../ssh/config-file.js';
import { forgetMachine, pinnedMachines } from '../../ssh/pinned.js';
import { closingFacts, closingWords } from '../../views/closing.js';

interface Options {
  readonly confirm?: string;
}

/** gpu account closing */
export const addClosing: AddCommand = (account, act) => {
  account
    .command('closing')
    .description('What closing your account would do, or how far it is. Asks for a code that we email you.')
    .action(
      act(async (cli) => {
        await showClosing(cli);
        return undefined;
      }),
    );
};

/** gpu account close */
export const addClose: AddCommand = (account, act) => {
  account
    .command('close')
    .description(
      'Close your account for good. Asks for a code that we email you, shows what will happen, and asks you to type its address.',
    )
    .option('--confirm <email>', 'the address of the account, instead of being asked for it')
    .action(
      act(async (cli, options: Options) => {
        await close(cli, options);
        return undefined;
      }),
    );
};

/** Its keys have ended once an account is being closed: only a session sees how far it is. */
async function showClosing(cli: Cli): Promise<void> {
  const { out, signal } = cli;
  const closing = await withSession(cli, 'see the closing of your account', (client) =>
    client.account.closing({ signal }),
  );
  out.result(closing, () => [
    ...out.facts(closingFacts(closing)),
    '',
    ...out.text(closingWords(closing)),
    ...(closing.state === null ? out.text('Close it with: gpu account close') : []),
  ]);
}

async function close(cli: Cli, { confirm }: Options): Promise<void> {
  const { user, closing } = await withSession(cli, 'close your account', (client) =>
    closeBy(cli, client, confirm),
  );
  const forgotten = forgetAccount(cli, user);
  const { out, url } = cli;
  out.result({ ...closing, ...forgotten }, () => [
    ...out.text('Your account is being closed. To see how far it is: gpu account closing'),
    ...(forgotten.signedOut
      ? out.text(`Signed out of ${url}. This computer forgot your machines there.`)
      : []),
  ]);
}

type Account = Pick<User, 'id' | 'email'>;

async function closeBy(
  cli: Cli,
  client: GpuRental,
  confirm: string | undefined,
): Promise<{ readonly user: Account; readonly closing: AccountClosing }> {
  const { signal } = cli;
  const [{ user }, before] = await Promise.all([
    client.auth.me({ signal }),
    client.account.closing({ signal }),
  ]);
  const isNew = before.state === null;
  // Where nobody can be asked, a question refuses before anything is shown.
  if (isNew && (confirm !== undefined || cli.asking.canAsk)) tellEffects(cli, user, before);
  const email = confirm ?? (isNew ? await typedAddress(cli, user) : user.email);
  const next = 'Check with: gpu account closing';
  const closing = await cli.commit(
    () => client.account.close({ email }),
    {
      details: { userId: user.id, outcome: 'unknown' },
      message: `The service did not confirm whether the account of ${user.email} is being closed.`,
      next,
    },
    () => ({
      details: { userId: user.id },
      message: `The account of ${user.email} is being closed.`,
      next,
    }),
  );
  return { user, closing };
}

function tellEffects({ out }: Cli, { email }: Account, closing: AccountClosing): void {
  out.note(`\nIf you close the account of ${email} now:\n`);
  out.noteFacts(closingFacts(closing));
  out.note(`\n${closingWords(closing)}\n`);
}

async function typedAddress(cli: Cli, { email }: Account): Promise<string> {
  return cli.asking.line(
    {
      message: `To close it, type ${email}`,
      otherwise: `Add --confirm ${email}`,
      givenUp: 'Your account stays open.',
    },
    (text) =>
      text.toLowerCase() === email ? undefined : `Type ${email}, or press ctrl-C to keep the account.`,
  );
}

/** Forgets all sign-ins of an account at this service, and how its machines are reached: none of it is of use any more. */
function forgetAccount(cli: Cli, { email }: Account): { readonly signedOut: boolean } {
  const { store, url } = cli;
  const own = cli.orRemark(() =>
    store.signIns().filter((known) => known.url === url && known.email === email),
  );
  const places = (own ?? []).map(({ place }) => place);
  for (const place of places) cli.orRemark(() => store.forget(place, { withWebhooks: true }));
  for (const place of places) cli.orRemark(() => forgetMachines(cli, place));
  return { signedOut: places.some((place) => store.profile(place) === undefined) };
}

function forgetMachines(cli: Cli, place: string): void {
  for (const { rental } of pinnedMachines(cli, undefined, place)) forgetMachine(cli, rental.id);
  removeAliases(cli, place);
  removeInclude(cli, includeOf(cli), place);
}
