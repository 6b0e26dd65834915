import { isApiError } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useId, useRef, useState, useSyncExternalStore, type ReactNode } from 'react';
import { meQuery } from '../data/account.js';
import { readableError } from '../data/errors.js';
import { passkeysQuery, useProveByPasskey } from '../data/passkeys.js';
import { isFresh, useGiveProofCode, useMailProofCode } from '../data/proof.js';
import { knowsPasskeys } from '../data/webauthn.js';
import { clockSpan } from '../format/time.js';
import { freshProofTexts as t } from '../texts/fresh-proof.js';
import { passkeyTexts } from '../texts/passkeys.js';
import { Button } from '../ui/button.js';
import { CodeInput, isWholeCode } from '../ui/code-input.js';
import { Field } from '../ui/field.js';
import { FormDialog } from '../ui/form-dialog.js';
import { ErrorNote, useCountdown } from '../ui/states.js';
import { askProof, endProof, openProof, subscribe } from './open-proof.js';

interface FreshProof {
  /**
   * Does something that may take a fresh sign-in: where the service asks for one, the dialog does, and then it is done
   * again.
   * @throws ProofCancelled when the dialog is closed; whatever the action throws otherwise
   */
  readonly run: <T>(action: () => Promise<T>) => Promise<T>;
  /** Makes sure that the sign-in is fresh, for what is no call, such as a link. @throws ProofCancelled as above */
  readonly prove: () => Promise<void>;
  /** To be rendered by the component that uses the hook. */
  readonly dialog: ReactNode;
}

/** For actions that the service refuses with `fresh_sign_in_required` once a sign-in is older than 15 minutes. */
export function useFreshProof(): FreshProof {
  const owner = useId();
  const proof = useSyncExternalStore(subscribe, openProof);
  useEffect(
    () => () => {
      // Without its dialog nobody could answer the question.
      const open = openProof();
      if (open?.owner === owner) endProof(open, 'cancelled');
    },
    [owner],
  );
  const run = useCallback(
    async <T,>(action: () => Promise<T>): Promise<T> => {
      try {
        return await action();
      } catch (error) {
        if (!isApiError(error, 'fresh_sign_in_required')) throw error;
      }
      await askProof(owner);
      return action();
    },
    [owner],
  );
  const prove = useCallback(async (): Promise<void> => {
    if (!(await isFresh())) await askProof(owner);
  }, [owner]);
  return {
    run,
    prove,
    dialog: proof?.owner === owner && (
      <ProofDialog onProved={() => endProof(proof, 'proved')} onCancel={() => endProof(proof, 'cancelled')} />
    ),
  };
}

const RESEND_AFTER_SECONDS = 30;

interface ProofDialogProps {
  readonly onProved: () => void;
  readonly onCancel: () => void;
}

/** Asks for a passkey where the user has one that this browser can ask for, and otherwise mails a code. */
function ProofDialog(props: ProofDialogProps) {
  const [wantsCode, setWantsCode] = useState(!knowsPasskeys());
  const { data: passkeys, isError } = useQuery({ ...passkeysQuery, enabled: !wantsCode });
  if (wantsCode || isError || passkeys?.length === 0) return <CodeDialog {...props} />;
  return (
    <PasskeyDialog {...props} isWaiting={passkeys === undefined} onWantCode={() => setWantsCode(true)} />
  );
}

interface PasskeyDialogProps extends ProofDialogProps {
  readonly isWaiting: boolean;
  readonly onWantCode: () => void;
}

function PasskeyDialog({ onProved, onCancel, isWaiting, onWantCode }: PasskeyDialogProps) {
  const prove = useProveByPasskey();
  return (
    <FormDialog
      onClose={onCancel}
      title={t.title}
      description={t.why}
      submit={passkeyTexts.prove}
      onSubmit={() => prove.mutate(undefined, { onSuccess: onProved })}
      isBusy={prove.isPending}
      isDisabled={isWaiting}
    >
      <p>{passkeyTexts.proveText}</p>
      {prove.isError && <ErrorNote title={passkeyTexts.notProved} error={prove.error} />}
      <Button size="small" className="self-start" onClick={onWantCode}>
        {passkeyTexts.useCode}
      </Button>
    </FormDialog>
  );
}

function CodeDialog({ onProved, onCancel }: ProofDialogProps) {
  const [code, setCode] = useState('');
  const mail = useMailProofCode();
  const { mutate: mailCode } = mail;
  const wasMailed = useRef(false);
  useEffect(() => {
    if (wasMailed.current) return;
    wasMailed.current = true;
    mailCode();
  }, [mailCode]);
  const give = useGiveProofCode();
  const giveCode = (digits: string): void => {
    if (!give.isPending) give.mutate(digits, { onSuccess: onProved });
  };
  return (
    <FormDialog
      onClose={onCancel}
      title={t.title}
      description={t.why}
      submit={t.confirm}
      onSubmit={() => giveCode(code)}
      isBusy={give.isPending}
      isDisabled={!isWholeCode(code)}
    >
      <Field label={t.code} error={wrongCode(give.error)} hint={<MailState mail={mail} />}>
        {(ids) => (
          <CodeInput
            {...ids}
            name="code"
            value={code}
            onChange={setCode}
            onComplete={giveCode}
            data-autofocus
          />
        )}
      </Field>
      <Resend mail={mail} />
      {give.isError && wrongCode(give.error) === undefined && <ErrorNote error={give.error} />}
    </FormDialog>
  );
}

type Mail = ReturnType<typeof useMailProofCode>;

function wrongCode(error: unknown): string | undefined {
  return isApiError(error, 'code_invalid') ? error.message : undefined;
}

function MailState({ mail }: { readonly mail: Mail }) {
  const { data: me } = useQuery(meQuery);
  const isTooSoon = isApiError(mail.error, 'code_request_rate_limited');
  if (isTooSoon) return <>{t.mailedBefore}</>;
  if (mail.isSuccess) return <>{t.mailed(me?.user.email ?? '')}</>;
  return mail.isError ? undefined : <>{t.mailing}</>;
}

/** Another code, once the service would mail one; a failure to mail stands here as well. */
function Resend({ mail }: { readonly mail: Mail }) {
  const isTooSoon = isApiError(mail.error, 'code_request_rate_limited');
  const wait = mail.isSuccess ? RESEND_AFTER_SECONDS : isTooSoon ? waitOf(mail.error) : 0;
  const left = useCountdown(wait, `${mail.status} ${mail.submittedAt}`);
  if (mail.isError && !isTooSoon) {
    return <ErrorNote title={t.notMailed} error={mail.error} onRetry={() => mail.mutate()} />;
  }
  return (
    <Button
      size="small"
      className="self-start tabular"
      disabled={left > 0}
      isBusy={mail.isPending}
      onClick={() => mail.mutate()}
    >
      {left > 0 ? t.resendIn(clockSpan(left)) : t.resend}
    </Button>
  );
}

function waitOf(error: unknown): number {
  return readableError(error).retryAfterSeconds ?? RESEND_AFTER_SECONDS;
}
