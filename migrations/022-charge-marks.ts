import type { Knex } from 'knex';
import { grant } from './grants.js';

/**
 * Adds the marks on users and cards: no charge while the owner is away, since a payment of theirs was denied (decision
 * 79, "Charge marks").
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table charge_marks (
      -- The dispute's, or the early fraud warning's, at the processor.
      id text primary key,
      kind text not null check (kind in ('dispute', 'early_fraud_warning')),
      charge_id text not null,
      -- Whose payment it was, and which card paid it; a card is known by its fingerprint, whoever saves it.
      user_id text references users on delete restrict,
      fingerprint text,
      marked_at timestamptz(3) not null default clock_ms(),
      -- By an operator; who and why stands in operator_actions.
      lifted_at timestamptz(3),
      constraint charge_marks_of_somebody check (user_id is not null or fingerprint is not null)
    );
    create index charge_marks_of_user on charge_marks (user_id) where lifted_at is null;
    create index charge_marks_of_card on charge_marks (fingerprint) where lifted_at is null;

    -- What 0.1 saved has none: it is asked for before the card is charged next.
    alter table saved_cards add fingerprint text;
    create index saved_cards_fingerprint on saved_cards (fingerprint) where removed_at is null;

    -- What auto-topup may charge in a day, as the installation's setting was when the account was made; null: no cap.
    alter table users add auto_topup_daily_cap_cents int check (auto_topup_daily_cap_cents > 0);

    alter table auto_topups drop constraint auto_topups_disabled_why_check,
      add constraint auto_topups_disabled_why_check
        check (disabled_why in ('charge_failed', 'card_removed', 'card_expired', 'charges_held'));
    alter table audit_events drop constraint audit_events_kind_check,
      add constraint audit_events_kind_check
        check (kind in ('signed_in', 'signed_out', 'ssh_key_added', 'ssh_key_removed', 'rental_created',
          'rental_stopped', 'checkout_begun', 'card_saved', 'card_removed', 'auto_topup_changed',
          'changed_by_operator', 'charges_held'));
  `);
  await grant(knex, {
    charge_marks: { api: 'select', worker: 'select, insert', ops: 'select, update (lifted_at)' },
  });
}
