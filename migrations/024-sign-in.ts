import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { grant } from './grants.js';

/**
 * Signing in, and ids that reveal nothing: a code is bound to the browser that asked (decision 84, "Shares of codes"),
 * an account elsewhere to its subject (decision 85, "Linked accounts"), and a key enciphers the ids that count.
 * Processor events that nobody can read are kept as well.
 */
export async function up(knex: Knex): Promise<void> {
  await codes(knex);
  await knex.raw(`
    -- Whose an account at an identity provider is: by issuer and subject (OpenID Connect Core 5.7), which stay, and
    -- not by an address, which may be given to somebody else.
    create table identities (
      issuer text not null check (length(issuer) between 1 and 255),
      subject text not null check (length(subject) between 1 and 255),
      user_id text not null references users on delete cascade,
      linked_at timestamptz(3) not null default clock_ms(),
      primary key (issuer, subject),
      -- Another one that the owner of the mailbox has confirmed takes its place.
      constraint identities_one_per_issuer unique (user_id, issuer)
    );

    -- Tries of codes that did not sign in, by the user whose address they named. Counters and no audit rows: strangers
    -- make as many as they like.
    create table failed_sign_ins (
      user_id text not null references users on delete cascade,
      hour timestamptz(3) not null,
      failed int not null check (failed > 0),
      primary key (user_id, hour)
    );
    create index failed_sign_ins_age on failed_sign_ins (hour);

    -- Signed by the processor, and not to be read as an event: kept for operators, answered 200. The same body that is
    -- delivered again is the same row.
    create table odd_events (
      id bigint generated always as identity primary key,
      body_hash bytea not null unique check (length(body_hash) = 32),
      -- Its beginning.
      body text not null check (length(body) <= 65536),
      reason text not null,
      deliveries int not null default 1 check (deliveries > 0),
      first_received_at timestamptz(3) not null default clock_ms(),
      last_received_at timestamptz(3) not null default clock_ms()
    );
    create index odd_events_age on odd_events (last_received_at);

    -- Made once for each installation. They guard no money: with them one could count wallets, or ask for mails.
    create table installation_keys (
      name text primary key check (name in ('ledger_ids', 'known_browsers')),
      key bytea not null check (length(key) in (16, 32)),
      created_at timestamptz(3) not null default clock_ms()
    );
  `);
  await knex('installation_keys').insert([
    { name: 'ledger_ids', key: randomBytes(16) },
    { name: 'known_browsers', key: randomBytes(32) },
  ]);
  await grant(knex, {
    identities: { api: 'select, insert, update (subject, linked_at)', worker: null, ops: 'select' },
    failed_sign_ins: { api: 'select, insert, update (failed)', worker: 'select, delete', ops: 'select' },
    odd_events: {
      api: 'select (id, body_hash, deliveries), insert, update (deliveries, last_received_at)',
      worker: 'select, delete',
      ops: 'select',
    },
    installation_keys: { api: 'select', worker: 'select', ops: 'select' },
  });
}

async function codes(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table login_codes
      -- What counts as one mailbox, whatever its tags; only counted by. Null for codes of the release before.
      add column mailbox text,
      -- Of the cookie of the browser that asked; null where none is known.
      add column browser_hash bytea check (length(browser_hash) = 32),
      -- Who asked: anybody, a browser in which this address has signed in before, or an identity provider that vouches
      -- for the address. Each has a budget of mails of its own.
      add column asked_by text not null default 'anybody'
        check (asked_by in ('anybody', 'known_browser', 'identity')),
      -- Wrong tries of other browsers than the one that asked, and of clients without cookies.
      add column other_tries int not null default 0 check (other_tries between 0 and 5),
      -- The account elsewhere that is linked when the code is typed in the browser that asked.
      add column issuer text check (length(issuer) between 1 and 255),
      add column subject text check (length(subject) between 1 and 255),
      add constraint login_codes_identity check
        ((issuer is null) = (subject is null) and (issuer is null or browser_hash is not null)),
      -- Null for a request that was answered and not mailed: the mailbox had its share.
      alter column code_hash drop not null;
    update login_codes set mailbox = email;
    create index login_codes_mailbox on login_codes (mailbox, created_at desc);
    create index login_codes_browser on login_codes (browser_hash, created_at desc) where browser_hash is not null;
  `);
}
