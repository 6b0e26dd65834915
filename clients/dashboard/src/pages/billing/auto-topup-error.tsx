import { isApiError } from '@gpu-rental/client';
import { billingTexts } from '../../texts/billing.js';
import { Callout } from '../../ui/badge.js';
import { buttonClasses } from '../../ui/button.js';
import { ErrorNote } from '../../ui/states.js';
import { SupportLink } from '../../ui/support-link.js';

const t = billingTexts.auto;

/** Why nothing was stored. */
export function AutoTopupError({ error }: { readonly error: unknown }) {
  if (isApiError(error, 'no_saved_card')) {
    return (
      <Callout
        role="alert"
        tone="warn"
        title={t.noCardTitle}
        actions={
          <a href="/app/card" className={buttonClasses('primary', 'small')}>
            {billingTexts.card.add}
          </a>
        }
      >
        {error.message}
      </Callout>
    );
  }
  if (isApiError(error, 'billing_disabled')) {
    return (
      <Callout role="alert" tone="warn" title={billingTexts.topup.disabledTitle}>
        {billingTexts.topup.disabled} <SupportLink contact={error.support} />
      </Callout>
    );
  }
  if (isApiError(error, 'blocked') && error.details.reason === 'charges_held') {
    return (
      <Callout role="alert" tone="bad" title={t.heldTitle}>
        {t.held} <SupportLink contact={error.support} />
      </Callout>
    );
  }
  return <ErrorNote error={error} />;
}
