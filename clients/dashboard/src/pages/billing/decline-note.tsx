import type { Topup } from '@gpu-rental/client';
import { billingTexts } from '../../texts/billing.js';
import { declineOf } from '../../texts/declines.js';
import { errorTexts } from '../../texts/errors.js';
import { Callout } from '../../ui/badge.js';
import { Button, buttonClasses } from '../../ui/button.js';
import { SupportLink } from '../../ui/support-link.js';

const t = billingTexts.topup;

type DeclineNoteProps = {
  readonly onRetry: () => void;
} & (
  | { readonly code: string; readonly requestId: string; readonly topup?: undefined }
  | { readonly topup: Topup; readonly code?: undefined; readonly requestId?: undefined }
);

/** A charge that failed: what the bank’s word means, and what helps. */
export function DeclineNote({ code, requestId, topup, onRetry }: DeclineNoteProps) {
  const { text, helps, asksSupport } = whyOf(code, topup);
  return (
    <Callout
      role="alert"
      tone="bad"
      title={t.failedTitle}
      actions={
        <>
          {helps === 'card' && (
            <a href="/app/card" className={buttonClasses('primary')}>
              {t.anotherCard}
            </a>
          )}
          <Button onClick={onRetry}>{t.tryAgain}</Button>
        </>
      }
    >
      <p>
        {text} {asksSupport === true && <SupportLink />}
      </p>
      {requestId !== undefined && (
        <p className="mt-1 font-mono text-xs break-all text-soft">{errorTexts.requestId(requestId)}</p>
      )}
    </Callout>
  );
}

/** The bank's word where it is known; else what the service says. */
function whyOf(code: string | undefined, topup: Topup | undefined): ReturnType<typeof declineOf> {
  const known = code ?? topup?.declineCode ?? undefined;
  if (known !== undefined) return declineOf(known);
  return { text: topup?.error ?? declineOf(undefined).text, helps: 'again' };
}
