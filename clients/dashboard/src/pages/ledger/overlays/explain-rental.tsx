import { type components, wordOf } from '@gpu-rental/client';
import { Link } from '@tanstack/react-router';
import { familyName } from '../../../format/machine.js';
import { number } from '../../../format/number.js';
import { money } from '../../../format/money.js';
import { exactTime } from '../../../format/time.js';
import { ledgerTexts } from '../../../texts/ledger.js';
import { buttonClasses } from '../../../ui/button.js';
import { Money } from '../../../ui/money.js';
import { CopiedId, Fact, Facts, Formula } from './explain-facts.js';

type Schemas = components['schemas'];
const { explain } = ledgerTexts;

/** How a charge came about: from when to when, at which rate, and what was rounded. */
export function ChargePart({ charge }: { readonly charge: Schemas['ExplainedCharge'] }) {
  const { occasion, pricePerHourCents, runningAt, from, until, untilWas, elapsedMs } = charge;
  const { accruedCents, chargedBeforeCents, dueCents, amountCents, unpaidCents, formula } = charge;
  return (
    <div>
      <Facts title={explain.charge}>
        <Fact label={explain.occasion}>{wordOf(explain.occasions, occasion)}</Fact>
        <Fact label={explain.rate}>{explain.perHour(money(pricePerHourCents))}</Fact>
        {runningAt !== null && <Fact label={explain.runningAt}>{exactTime(runningAt)}</Fact>}
        {from !== null && <Fact label={explain.from}>{exactTime(from)}</Fact>}
        {until !== null && (
          <Fact label={explain.until}>
            {exactTime(until)}
            {untilWas !== null && (
              <span className="block text-[13px] text-muted">{wordOf(explain.untilWas, untilWas)}</span>
            )}
          </Fact>
        )}
        <Fact label={explain.elapsed}>{explain.milliseconds(number(elapsedMs))}</Fact>
        <Fact label={explain.accrued}>
          <Money cents={accruedCents} />
        </Fact>
        <Fact label={explain.before}>
          <Money cents={chargedBeforeCents} />
        </Fact>
        <Fact label={explain.due}>
          <Money cents={dueCents} />
        </Fact>
        {unpaidCents !== 0 && (
          <>
            <Fact label={explain.taken}>
              <Money cents={amountCents} />
            </Fact>
            <Fact label={explain.unpaid}>
              <Money cents={unpaidCents} />
            </Fact>
          </>
        )}
      </Facts>
      <Formula text={formula} />
    </div>
  );
}

/** How the refund of a rental came about. */
export function RefundPart({ refund }: { readonly refund: Schemas['ExplainedRentalRefund'] }) {
  const { chargedCents, finalCents, refundedCents, billedMs, formula } = refund;
  return (
    <div>
      <Facts title={explain.refund}>
        <Fact label={explain.before}>
          <Money cents={chargedCents} />
        </Fact>
        <Fact label={explain.billed}>{explain.milliseconds(number(billedMs))}</Fact>
        <Fact label={explain.finalCost}>
          <Money cents={finalCents} />
        </Fact>
        <Fact label={explain.refunded}>
          <Money cents={refundedCents} />
        </Fact>
      </Facts>
      <Formula text={formula} />
    </div>
  );
}

/** The rental that an entry belongs to. */
export function RentalPart({ rental }: { readonly rental: Schemas['ExplainedRental'] }) {
  const { id, gpuCount, family, provider, stoppedAt, error } = rental;
  return (
    <div>
      <Facts title={explain.rental}>
        <Fact label={explain.machineLabel}>
          {explain.machine(number(gpuCount), familyName(family), provider)}
        </Fact>
        {stoppedAt !== null && <Fact label={explain.stoppedAt}>{exactTime(stoppedAt)}</Fact>}
        {error !== null && <Fact label={explain.failure}>{error}</Fact>}
        <CopiedId label={explain.rentalId} id={id} />
      </Facts>
      <p className="mt-2 flex flex-wrap gap-2">
        <Link
          to="/app/rentals/$rentalId"
          params={{ rentalId: id }}
          className={buttonClasses('secondary', 'small')}
        >
          {explain.openRental}
        </Link>
        <Link to="/app/ledger" search={{ rental: id }} className={buttonClasses('secondary', 'small')}>
          {explain.itsEntries}
        </Link>
      </p>
    </div>
  );
}
