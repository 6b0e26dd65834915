const ofSeal = 'wallet_id = :wallet and last_seq = :last';
const ofKept = `wallet_id = :wallet and seq between :first and :last`;
/**
 * Changes of rows that a proof covers, as only whoever owns the database can make them: of a wallet's seal `:first` to
 * `:last`, and of the root `:root`. Each with the table whose triggers must be off.
 */
export const changesOfCovered: Readonly<Record<string, readonly [table: string, statement: string]>> = {
  'a seal’s balance': [
    'ledger_seals',
    `update ledger_seals set opening_cents = opening_cents + 1 where ${ofSeal}`,
  ],
  'a seal’s instant': ['ledger_seals', `update ledger_seals set first_ms = first_ms + 1 where ${ofSeal}`],
  'a gap': [
    'ledger_seals',
    `update ledger_seals set gaps_ms[cardinality(gaps_ms)] = gaps_ms[cardinality(gaps_ms)] + 1 where ${ofSeal} and gaps_ms is not null`,
  ],
  'an amount': [
    'ledger_seals',
    `update ledger_seals set amounts_cents[1] = amounts_cents[1] + 1 where ${ofSeal} and amounts_cents is not null`,
  ],
  'a wide amount': [
    'ledger_seals',
    `update ledger_seals set wide_amounts_cents[1] = wide_amounts_cents[1] + 1 where ${ofSeal} and wide_amounts_cents is not null`,
  ],
  'a place': [
    'ledger_seals',
    `update ledger_seals set places[1] = 1 - sign(places[1])::int where ${ofSeal} and cardinality(rental_nos) > 0`,
  ],
  'a rental': [
    'ledger_seals',
    `update ledger_seals set rental_nos[1] = (select max(no) from rentals where no <> rental_nos[1])
      where ${ofSeal} and cardinality(rental_nos) > 0`,
  ],
  'a seal that goes': ['ledger_seals', `delete from ledger_seals where ${ofSeal}`],
  'a type': [
    'ledger_entries',
    `update ledger_entries set type = 'auto_topup' where ${ofKept} and type = 'processor_topup'`,
  ],
  'a charge': [
    'ledger_entries',
    `update ledger_entries set processor_charge_id = 'ch_x' where ${ofKept} and processor_charge_id is not null`,
  ],
  'a note': ['ledger_entries', `update ledger_entries set note = '' where ${ofKept} and note is not null`],
  'a refund’s rental': [
    'ledger_entries',
    `update ledger_entries set rental_no = null where ${ofKept} and type = 'refund'`,
  ],
  'a row that goes': [
    'ledger_entries',
    `delete from ledger_entries where ${ofKept} and type <> 'rental_charge'`,
  ],
  'a cause': ['ledger_causes', `update ledger_causes set cause = cause || 'x' where ${ofKept}`],
  'a salt': ['ledger_note_salts', `update ledger_note_salts set salt = sha256(salt) where ${ofKept}`],
  'a hash': ['ledger_hashes', `update ledger_hashes set hash = sha256(hash) where ${ofSeal}`],
  'an epoch': ['ledger_hashes', `update ledger_hashes set epoch = epoch + 1 where ${ofSeal}`],
  'a wallet’s name': [
    'wallet_proof_ids',
    `update wallet_proof_ids set proof_id = md5(proof_id) where wallet_id = :wallet`,
  ],
  'a root’s night': [
    'ledger_roots',
    `update ledger_roots set line = replace(line, ' 2026-', ' 2027-') where number = :root`,
  ],
  'a root’s signature': [
    'ledger_roots',
    `update ledger_roots set signature = reverse(signature) where number = :root`,
  ],
};
