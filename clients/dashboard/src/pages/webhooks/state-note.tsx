import { type Webhook, wordOf } from '@gpu-rental/client';
import { useFreshProof } from '../../app/fresh-proof.js';
import { useToasts } from '../../app/toasts.js';
import { useChangeWebhook } from '../../data/webhooks.js';
import { fullTime } from '../../format/time.js';
import { webhookTexts as t } from '../../texts/webhooks.js';
import { Callout } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { ErrorNote } from '../../ui/states.js';
import { ChallengeAnswer } from './challenge.js';

/** Why a webhook gets nothing, and how that is mended; nothing where all is well. */
export function StateNote({ hook }: { readonly hook: Webhook }) {
  const { state, failingSince } = hook;
  if (state === 'switched_off') return <OffNote hook={hook} />;
  if (state === 'pending') {
    return (
      <Callout tone="info" title={t.pendingTitle}>
        <p>{t.pendingText}</p>
        <ChallengeAnswer />
      </Callout>
    );
  }
  if (failingSince === null) return null;
  return (
    <Callout tone="warn" title={t.failingTitle}>
      {t.failingText(fullTime(failingSince))}
    </Callout>
  );
}

function OffNote({ hook }: { readonly hook: Webhook }) {
  const { run, dialog } = useFreshProof();
  const change = useChangeWebhook(hook.id, run);
  const toasts = useToasts();
  const reason = hook.switchedOffReason;
  return (
    <>
      <Callout
        tone="bad"
        title={t.offTitle}
        actions={
          <Button
            look="primary"
            size="small"
            isBusy={change.isPending}
            onClick={() =>
              change.mutate(
                { url: hook.url },
                { onSuccess: () => toasts.show({ tone: 'good', title: t.switchedOn }) },
              )
            }
          >
            {t.switchOn}
          </Button>
        }
      >
        <p>{reason === null ? t.offUnknown : wordOf(t.offReasons, reason)}</p>
        <p className="mt-1">{t.offMend}</p>
      </Callout>
      {change.isError && <ErrorNote error={change.error} />}
      {dialog}
    </>
  );
}
