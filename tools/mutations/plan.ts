import type { Mutation } from './planted-copy.js';
import { sealMutations } from './seals.js';

const tests = 'test/money';
const overlapping = [`${tests}/overlapping.test.ts`];
const losses = [`${tests}/lost-machines.test.ts`, `${tests}/warnings-and-losses.test.ts`];
const ends = [`${tests}/verified-ends.test.ts`];
const looks = [`${tests}/careful-looks.test.ts`];
const metering = [`${tests}/metering.test.ts`];
const settlement = ['test/domain/rentals/settlement.test.ts'];
const level = [`${tests}/topups/auto-topup-level.test.ts`];
const nextMachine = ['test/activities/machines/next-machine.test.ts'];
const opening = [`${tests}/rentals/open.test.ts`];
const used = [`${tests}/reversals/owed.test.ts`];
const setOffs = ['test/activities/closing/set-off.test.ts'];
const spending = [`${tests}/spending/capped.test.ts`, `${tests}/spending/budget-alerts.test.ts`];

/**
 * Stryker changes operators of TypeScript; most code that moves money is SQL in strings, which Stryker can't change.
 */
export const mutations: readonly Mutation[] = [
  {
    file: 'money/ledger/wallets.ts',
    from: "'select w.* from wallets w where w.id = (select wallet_id from rentals where id = ?) for no key update'",
    to: "'select w.* from wallets w where w.id = (select wallet_id from rentals where id = ?)'",
    tests: overlapping,
  },
  {
    file: 'money/ledger/wallets.ts',
    from: "'select * from wallets where user_id = ? for no key update'",
    to: "'select * from wallets where user_id = ?'",
    tests: overlapping,
  },
  {
    file: 'money/ledger/wallets.ts',
    from: 'reserved_cents = reserved_cents + :cents\n',
    to: 'reserved_cents = reserved_cents - :cents\n',
    tests: overlapping,
  },
  {
    file: 'domain/rentals/settlement.ts',
    from: 'at !== null && at <= endedAt',
    to: 'at !== null && at < runningAt',
    tests: losses,
  },
  {
    file: 'money/rentals/lost.ts',
    from: 'stopAskedAt: rental.stop?.requested_at ?? null',
    to: 'stopAskedAt: null',
    tests: losses,
  },
  {
    file: 'domain/rentals/settlement.ts',
    from: 'endedAt.getTime() - runningAt.getTime() <= rentalLimits.refundWindowMs',
    to: 'endedAt < runningAt',
    tests: losses,
  },
  {
    file: 'domain/rentals/settlement.ts',
    from: '!rental.neverAnswered &&',
    to: '',
    tests: settlement,
  },
  {
    file: 'money/rentals/lost.ts',
    from: "neverAnswered: rental.ready_by === 'grace'",
    to: 'neverAnswered: false',
    tests: ['test/money/own-software.test.ts'],
  },
  {
    file: 'money/rentals/lost.ts',
    from: 'fullRefundsToday: await fullRefundsToday(trx, wallet)',
    to: 'fullRefundsToday: 0',
    tests: losses,
  },
  {
    file: 'money/rentals/lost.ts',
    from: 'moneyEndedAt: await moneyEndedAt(trx, wallet, rental)',
    to: 'moneyEndedAt: null',
    tests: losses,
  },
  {
    file: 'money/rentals/settle.ts',
    from: 'settlement, { ended_at: endedAt });',
    to: 'settlement, {});',
    tests: ['test/money/metering.test.ts'],
  },
  {
    file: 'money/rentals/lifecycle.ts',
    from: 'if (rental.pod_id === null) return;',
    to: '',
    tests: nextMachine,
  },
  {
    file: 'money/rentals/pod-adoption.ts',
    from: "await trx('answered_machines').where({ rental_no: left.no }).delete();",
    to: '',
    tests: nextMachine,
  },
  {
    file: 'money/rentals/answered-machines.ts',
    from: "{ id: rentalId, tag, status: 'provisioning' }",
    to: "{ id: rentalId, status: 'provisioning' }",
    tests: nextMachine,
  },
  {
    file: 'activities/rentals/close-ports.ts',
    from: '(await findRepeated(trx, input)) ?? ',
    to: '',
    tests: ['test/activities/operations/close-ports.test.ts'],
  },
  {
    file: 'money/rentals/settle.ts',
    from: 'await release(trx, failed);',
    to: '',
    tests: spending,
  },
  {
    file: 'money/rentals/open.ts',
    from: "const limit = await limitFor(trx, request, fundsFor(wallet, bargain.listing), 'locked');",
    to: 'const limit = request.maxSpendCents;',
    tests: spending,
  },
  {
    file: 'adapters/postgres/spending/budgets.ts',
    from: 'case when r.ended_at <= m.at then',
    to: 'case when r.ended_at is null then',
    tests: spending,
  },
  {
    file: 'adapters/postgres/spending/budget-alerts.ts',
    from: "f.percents = '{}' and not exists",
    to: 'not exists',
    tests: spending,
  },
  {
    file: 'money/rentals/quotes.ts',
    from: 'quote?.rental_id ? findRental(trx, quote.rental_id) : undefined',
    to: 'undefined',
    tests: ['test/money/rentals/open-by-quote.test.ts'],
  },
  {
    file: 'money/rentals/quotes.ts',
    from: 'if (await isBoughtFor(trx, { quoteId: quote.id, rentalId })) {',
    to: 'if (quote.rental_id !== null) {',
    tests: ['test/money/rentals/open-by-quote.test.ts'],
  },
  {
    file: 'money/rentals/quotes.ts',
    from: 'expiresAt: quote.expires_at }, quote.requestedAt)',
    to: 'expiresAt: quote.expires_at }, new Date())',
    tests: ['test/money/rentals/open-by-quote.test.ts'],
  },
  {
    file: 'money/rentals/open.ts',
    from: 'if (existing) return openedOf(existing.id, existing);',
    to: '',
    tests: opening,
  },
  {
    file: 'money/rentals/open.ts',
    from: '  await refuseWhenLate(trx, answerBefore);\n  const limit',
    to: '  const limit',
    tests: opening,
  },
  {
    file: 'money/rentals/open.ts',
    from: '  if (tried.length === 0) refuseWhenOutOfTime(untilMs);\n',
    to: '',
    tests: opening,
  },
  {
    file: 'money/rentals/open.ts',
    from: 'await moveHold(trx, wallet, bargain.listing.price_per_hour_cents);',
    to: '',
    tests: opening,
  },
  {
    file: 'money/rentals/open.ts',
    from: 'offers.find((offer) => offer.price_per_hour_cents <= availableCents) ??',
    to: 'offers.find(() => availableCents > 0) ??',
    tests: ['test/activities/rentals/opening.test.ts'],
  },
  {
    file: 'domain/catalog/starts.ts',
    from: 'cost: offer.price_per_hour_cents / chanceOf(offer),',
    to: 'cost: offer.price_per_hour_cents * chanceOf(offer),',
    tests: ['test/domain/catalog/starts.test.ts'],
  },
  {
    file: 'domain/rentals/settlement.ts',
    from: 'return earliestOf(endedAt, autoStopAt, spendLimitAt);',
    to: 'return endedAt;',
    tests: settlement,
  },
  {
    file: 'money/rentals/settle.ts',
    from: 'await moveHold(trx, wallet, -settlement.releasedCents);',
    to: '',
    tests: metering,
  },
  {
    file: 'domain/rentals/settlement.ts',
    from: 'Math.min(dueCents - fromHoldCents, availableCents)',
    to: 'dueCents - fromHoldCents',
    tests: metering,
  },
  {
    file: 'domain/rentals/settlement.ts',
    from: 'owed >= paymentLimits.minInvoiceCents ? owed : 0',
    to: 'owed',
    tests: settlement,
  },
  {
    file: 'money/metering/meter.ts',
    from: 'least((select ms from clock), m.limit_ms, s.requested_ms) as until_ms',
    to: 'least((select ms from clock), m.limit_ms) as until_ms',
    tests: metering,
  },
  {
    file: 'money/metering/meter.ts',
    from: 'least((select ms from clock), m.limit_ms, s.requested_ms) as until_ms',
    to: 'least((select ms from clock), s.requested_ms) as until_ms',
    tests: metering,
  },
  {
    file: 'money/metering/meter.ts',
    from: 'available_cents - (sum(claim) over chain - claim)',
    to: 'available_cents',
    tests: metering,
  },
  {
    file: 'money/metering/tick.ts',
    from: "'40P01', '57014', '25P04'",
    to: "'40P01'",
    tests: looks,
  },
  {
    file: 'money/metering/tick.ts',
    from: 'cardinality(:behind::bigint[]) <= :most',
    to: 'cardinality(:behind::bigint[]) >= 0',
    tests: looks,
  },
  {
    file: 'money/ledger/post.ts',
    from: 'if (posting.availableCents < 0) await recordTopupIntent(trx, wallet.id);',
    to: '',
    tests: level,
  },
  {
    file: 'money/rentals/rentals.ts',
    from: '  await recordTopupIntent(trx, rental.wallet_id);\n',
    to: '',
    tests: level,
  },
  {
    file: 'money/topups/auto-topups.ts',
    from: 'if (await isHeld(trx, wallet.userId)) {',
    to: 'if (false as boolean) {',
    tests: level,
  },
  {
    file: 'adapters/postgres/payments/auto-topup-settings.ts',
    from: '  if (saved) await recordTopupIntent(db, saved.wallet_id);\n',
    to: '',
    tests: level,
  },
  {
    file: 'adapters/postgres/payments/topup-level.ts',
    from: 'w.available_cents < a.threshold_cents',
    to: 'w.available_cents + w.reserved_cents < a.threshold_cents',
    tests: level,
  },
  {
    file: 'adapters/postgres/ledger/verify-rules.ts',
    from: 'greatest(running_ms, least(alive_ms, asked_end_ms, money_ms)) end as due_ms',
    to: 'ended_ms end as due_ms',
    tests: ends,
  },
  {
    file: 'adapters/postgres/ledger/verify-rules.ts',
    from: "when p.gone_at < r.settled_at - interval '10 seconds' then epoch_ms(p.last_alive_at) end",
    to: 'end',
    tests: ends,
  },
  {
    file: 'adapters/postgres/machines/pods.ts',
    from: "update({ last_alive_at: db.raw('greatest(last_alive_at, clock_ms())') })",
    to: "update({ last_alive_at: db.raw('last_alive_at') })",
    tests: losses,
  },
  {
    file: 'money/topups/topups.ts',
    from: 'return card && !(await isHeld(trx, userId)) ? card.pm_id : null;',
    to: 'return card ? card.pm_id : null;',
    tests: ['test/stories/payments/auto-topup.test.ts'],
    survives:
      'The statement that marks a charge as sent looks for marks again, and the payer gets the same page.',
  },
  {
    file: 'activities/payments/charge-card.ts',
    from: '|| (await isHeld(deps.db, topup.user_id, topup.pm_id))',
    to: '',
    tests: ['test/activities/topups/auto-topup.test.ts'],
  },
  {
    file: 'adapters/postgres/payments/reversal-reads.ts',
    from: "where i.payment_id = ? and i.status = 'paid' and ${isDebtSql('i')}",
    to: 'where i.payment_id is distinct from ?',
    tests: ['test/activities/payments/reversals.test.ts'],
  },
  {
    file: 'money/reversals/reversals.ts',
    from: 'credited ? await readUnusedCents(trx, wallet.id) : 0',
    to: 'credited ? wallet.availableCents : 0',
    tests: used,
  },
  {
    file: 'adapters/postgres/rentals/meter-reads.ts',
    from: 'least(epoch_ms(clock_ms()), m.limit_ms, s.requested_ms)',
    to: 'least(epoch_ms(clock_ms()), m.limit_ms)',
    tests: used,
  },
  {
    file: 'money/operations/operations.ts',
    from: 'const availableCents = await readUnusedCents(trx, wallet.id);',
    to: 'const { availableCents } = wallet;',
    tests: [`${tests}/operations/operations.test.ts`],
  },
  {
    file: 'money/reversals/reversal-returns.ts',
    from: 'if (setOffCents === 0) return paidBackCents;',
    to: 'if (setOffCents >= 0) return paidBackCents;',
    tests: setOffs,
  },
  {
    file: 'domain/accounts/balance-parts.ts',
    from: 'const ofGiven = setOff.get(debt) ?? 0;',
    to: 'const ofGiven = 0;',
    tests: setOffs,
  },
  {
    file: 'money/closing/returns.ts',
    from: "if (cents === 0 && status === 'uncollectible') continue;",
    to: 'if (cents === 0) return;',
    tests: setOffs,
  },
  {
    file: 'money/closing/returns.ts',
    from: '    await noteDecided(trx, userId);\n',
    to: '',
    tests: ['test/activities/closing/unknown-payments.test.ts'],
  },
  {
    file: 'money/operations/operations.ts',
    from: '  await noteTaken(trx, wallet);\n',
    to: '',
    tests: ['test/activities/closing/unknown-payments.test.ts'],
  },
  {
    file: 'money/rentals/lifecycle.ts',
    from: 'await acknowledgeLoss(trx, rental.no);',
    to: '',
    tests: ['test/money/lost-machines.test.ts'],
  },
  {
    file: 'money/payments/credit.ts',
    from: 'credited_cents = coalesce(t.credited_cents, :cents)',
    to: 'credited_cents = coalesce(t.credited_cents, 0) + :cents',
    tests: [`${tests}/told-payments.test.ts`],
  },
  {
    file: 'activities/invoices/invoice.ts',
    from: '(await msSince(deps.db, found.createdAt)) < paymentLimits.keyForgottenMs',
    to: 'false',
    tests: ['test/activities/invoices/cut-off-draft.test.ts'],
  },
  {
    file: 'adapters/postgres/machines/dearer-machines.ts',
    from: 'p.price_per_hour_cents > r.price_per_hour_cents',
    to: 'p.price_per_hour_cents < r.price_per_hour_cents',
    tests: ['test/activities/machines/dearer-machines.test.ts'],
  },
  ...sealMutations,
];
