import * as declared from './describe-quotes.js';
import { serve, type Handler } from '../http/serve.js';
import { findAlternatives, type Besides } from '../../adapters/postgres/catalog/alternatives.js';
import { findCheapestOffer } from '../../adapters/postgres/catalog/offers.js';
import { knownStarts } from '../../adapters/postgres/catalog/starts.js';
import { listProvidersFor, type ProviderMisfit } from '../../adapters/postgres/catalog/provider-health.js';
import type { Database } from '../../adapters/postgres/database.js';
import { readRenter } from '../../adapters/postgres/rentals/open-guards.js';
import { insertQuote } from '../../adapters/postgres/rentals/quotes.js';
import { readReadiness } from '../../adapters/postgres/rentals/readiness.js';
import type { ListingRow } from '../../adapters/postgres/rows/tables.js';
import { listSshKeys } from '../../adapters/postgres/accounts/ssh-keys.js';
import { getBalance } from '../../adapters/postgres/wallets/wallet-reads.js';
import { findPots } from '../../adapters/postgres/spending/pots.js';
import { leftOf, usualLimit, type AnyPot } from '../../domain/spending/pots.js';
import { newId } from '../../adapters/ids.js';
import type { ListingId, QuoteId } from '../../domain/ids.js';
import type { RentalRequest } from '../../domain/rentals/request.js';
import { Refusal } from '../../domain/refusal.js';
import { asksForUse } from '../../domain/rentals/idle-guard.js';
import { refuseRenter } from '../../domain/rentals/open.js';
import { afterwards, worstCaseCents, type Funds } from '../../domain/rentals/quote.js';
import { knownRecords, type RecordOf } from '../catalog/known-reliability.js';
import { presentListing } from '../catalog/routes.js';
import { callerOf, type ApiDeps, type ApiRouter } from '../context.js';
import { insertSoftwareSecrets } from '../../adapters/postgres/rentals/software.js';
import { findTelemetryTold } from '../../adapters/postgres/machines/telemetry.js';
import type { TelemetryTold } from '../../domain/machines/telemetry.js';
import { guardFields, presentQuotedGuard, sourceOf } from './idle-guard.js';
import { presentQuotedSoftware } from './describe-software.js';
import { readRentalRequest, type ReadRequest } from './request.js';
import { keeperOf } from './software-fields.js';

/** The route of quotes: POST /v1/quotes (decision 104, "Quotes and alternatives"). */
export function quoteRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.createQuote, createQuote(deps));
}

function createQuote(deps: ApiDeps): Handler<typeof declared.createQuote> {
  const { db } = deps;
  return async (ctx) => {
    const { userId } = callerOf(ctx);
    const listOwnKeys = () => listSshKeys(db, userId);
    const { request, secrets, missingKey } = await readRentalRequest(
      ctx,
      userId,
      listOwnKeys,
      keeperOf(deps),
    );
    if (missingKey) throw missingKey;
    refuseRenter(await readRenter(db, userId));
    return await quote(deps, { request, secrets }, []);
  };
}

/** A quote as its asker sees it. */
export type Quote = ReturnType<typeof presentQuote>;

/**
 * Makes a quote. It buys nothing and takes no lock: the price holds against a later one, and the machine may be gone.
 * @param tried listings that had no capacity a moment ago
 * @throws Refusal model_unavailable with alternatives
 */
export async function quote(
  { db, settings }: Pick<ApiDeps, 'db' | 'settings'>,
  { request, secrets }: Pick<ReadRequest, 'request' | 'secrets'>,
  tried: readonly ListingId[],
): Promise<Quote> {
  const { codes: providerCodes } = await listProvidersFor(db, request);
  const listing = await findCheapestOffer(db, { ...request, providerCodes }, tried, await knownStarts(db));
  if (!listing) throw await unavailable(db, request, tried);
  // One after the other: a quote takes one of the connections, not four.
  const balance = await getBalance(db, request.userId);
  const { provider_code: providerCode, family, region_code: country } = listing;
  const readySeconds = await readReadiness(db, { providerCode, family });
  const { recordOf } = await knownRecords(db);
  const beside = { listings: [listing.id, ...tried], countries: [country], atAnyPrice: false };
  const alternatives = await findAlternatives(db, { ...request, providerCodes }, beside);
  const pots = await findPots(db, request, 'unlocked');
  // The quote keeps the limit that it tells: its rental never costs more, whatever is left by then.
  const maxSpendCents = usualLimit(request, listing.price_per_hour_cents, pots);
  const limited = { ...request, maxSpendCents };
  const id = newId('quo');
  await insertSoftwareSecrets(db, secrets);
  const expiresAt = await insertQuote(db, { id, request: limited, listing });
  const facts = {
    id,
    expiresAt,
    listing,
    request: limited,
    pots,
    funds: balance,
    readySeconds,
    alternatives,
    graceMs: settings.ownSoftware.graceMs,
    telemetry: await findTelemetryTold(db, providerCode),
  };
  return presentQuote(facts, recordOf);
}

/** The refusal of a request that nothing on offer meets, with what can be had instead. */
export async function unavailable(
  db: Database,
  request: RentalRequest,
  tried: readonly ListingId[],
  message = 'No available machine matches. Try another family, region, GPU count or price.',
): Promise<Refusal> {
  const besides: Besides = { listings: tried, countries: [], atAnyPrice: true };
  const { codes, misfits } = await listProvidersFor(db, request);
  const others = [...new Set(misfits.map(({ providerCode }) => providerCode))];
  // Nothing but the wish for own software, told use or a guard is in the way.
  if (
    others.length > 0 &&
    (await findCheapestOffer(db, { ...request, software: undefined, providerCodes: others }, tried))
  ) {
    return refuseMisfits(misfits);
  }
  const alternatives = await findAlternatives(db, { ...request, providerCodes: codes }, besides);
  return refuseUnavailable(request, { alternatives, recordOf: (await knownRecords(db)).recordOf }, message);
}

/**
 * Why own software, told use or an idle guard can't be had that no worker has said it can do: a worker of the release before
 * would start a machine without it.
 */
export async function findUntold(db: Database, request: RentalRequest): Promise<Refusal | undefined> {
  const isPlain = !request.software && !asksForUse(request);
  if (isPlain || (await listProvidersFor(db, request)).codes.length > 0) return undefined;
  return unavailable(db, request, []);
}

/** The refusal of own software or told use that no upstream with such a machine has, or of a guard that none can keep. */
export function refuseMisfits(misfits: readonly ProviderMisfit[]): Refusal {
  const told = misfits.map(({ field, providerCode, message }) => `${field}: ${providerCode} ${message}`);
  const ofGuard = misfits.filter(({ field }) => field in guardFields).length;
  const ofUse = misfits.filter(({ field }) => field === 'telemetry').length;
  const why = told.join('; ');
  if (ofGuard + ofUse < misfits.length) {
    return new Refusal(
      'software_unsupported',
      `No provider with such a machine can do all of this (${why}). Change what does not fit, or ask for another machine.`,
      { misfits },
    );
  }
  const message =
    ofGuard > 0
      ? `No provider with such a machine can guard it like this (${why}). Change the guard, rent without one, or ask for another machine.`
      : `No provider with such a machine can tell how much it is used (${why}). Rent it without telemetry, or ask for another machine.`;
  return new Refusal('idle_guard_unsupported', message, { misfits });
}

/** The same refusal from the rows of its alternatives. */
export function refuseUnavailable(
  { familyId, gpuCount, region }: RentalRequest,
  { alternatives, recordOf }: { alternatives: readonly ListingRow[]; recordOf: RecordOf },
  message: string,
): Refusal {
  const offers = alternatives.map((row) => presentListing(row, recordOf));
  return new Refusal('model_unavailable', message, { familyId, gpuCount, region, alternatives: offers });
}

interface QuoteFacts {
  readonly id: QuoteId;
  readonly expiresAt: Date;
  readonly listing: ListingRow;
  readonly request: RentalRequest;
  /** What it must fit into. */
  readonly pots: readonly AnyPot[];
  readonly funds: Funds;
  readonly readySeconds: { readonly p50: number; readonly p90: number } | null;
  readonly alternatives: readonly ListingRow[];
  /** How long own software has until it is billed all the same, in milliseconds. */
  readonly graceMs: number;
  /** What is told of the use of its machines. */
  readonly telemetry: TelemetryTold | undefined;
}

/** A quote: what it costs at most, what it leaves of the wallet, and how long it takes. Amounts in cents. */
export function presentQuote(facts: QuoteFacts, recordOf: RecordOf) {
  const { id, expiresAt, listing, request, pots, funds, readySeconds, alternatives } = facts;
  const pricePerHourCents = listing.price_per_hour_cents;
  return {
    quoteId: id,
    expiresAt: expiresAt.toISOString(),
    listing: presentListing(listing, recordOf),
    pricePerHourCents,
    holdCents: pricePerHourCents,
    maxSpendCents: request.maxSpendCents,
    capLeftCents: leftOfKind('cap', pots),
    budgetLeftCents: leftOfKind('budget', pots),
    worstCaseCents: worstCaseCents(pricePerHourCents, request),
    ...afterwards(pricePerHourCents, funds),
    expectedReadySeconds: readySeconds,
    ownSoftware: presentQuotedSoftware(request.software, Math.ceil(facts.graceMs / 1_000)),
    telemetrySource: sourceOf(request, facts.telemetry),
    idleGuard: presentQuotedGuard(request.idleGuard, facts.telemetry),
    alternatives: alternatives.map((row) => presentListing(row, recordOf)),
  };
}

function leftOfKind(kind: AnyPot['kind'], pots: readonly AnyPot[]): number | null {
  const pot = pots.find((one) => one.kind === kind);
  return pot === undefined ? null : leftOf(pot);
}
