import { isApiError } from '@gpu-rental/client';
import { useState, type SubmitEvent } from 'react';
import { readableError } from '../../data/errors.js';
import { useGiveCode, type MailCode } from '../../data/sign-in.js';
import { clockSpan } from '../../format/time.js';
import { tellTabs } from '../../live/channel.js';
import { loginTexts } from '../../texts/login.js';
import { Button } from '../../ui/button.js';
import { CodeInput, isWholeCode } from '../../ui/code-input.js';
import { Field } from '../../ui/field.js';
import { useCountdown } from '../../ui/states.js';
import { SignInError } from './sign-in-error.js';

interface CodeStepProps {
  readonly email: string;
  readonly mail: MailCode;
  readonly onSignedIn: () => void;
  readonly onBack: () => void;
}

/** Asks for the mailed code, and signs in once it is whole. */
export function CodeStep({ email, mail, onSignedIn, onBack }: CodeStepProps) {
  const [code, setCode] = useState('');
  const give = useGiveCode();
  const signIn = (digits: string): void => {
    if (give.isPending) return;
    give.mutate(
      { email: email.trim(), code: digits },
      {
        onSuccess: ({ user }) => {
          tellTabs(user.id, 'signed-in');
          onSignedIn();
        },
      },
    );
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (isWholeCode(code)) signIn(code);
  };
  const wrong = isApiError(give.error, 'code_invalid') ? give.error.message : undefined;
  return (
    <form noValidate onSubmit={submit} className="flex flex-col gap-4">
      <p className="break-words text-muted">
        {mail.isSuccess ? loginTexts.codeSent(email) : loginTexts.codeFor(email)}
      </p>
      <Field label={loginTexts.code} hint={loginTexts.codeHint} error={wrong}>
        {(ids) => (
          <CodeInput
            {...ids}
            name="code"
            // The page is this form.
            // eslint-disable-next-line jsx-a11y/no-autofocus
            autoFocus
            value={code}
            onChange={setCode}
            onComplete={signIn}
          />
        )}
      </Field>
      {give.isError && wrong === undefined && (
        <SignInError title={loginTexts.notSignedIn} error={give.error} onRetry={() => signIn(code)} />
      )}
      <Button look="primary" type="submit" isBusy={give.isPending} disabled={!isWholeCode(code)}>
        {loginTexts.signIn}
      </Button>
      <Resend email={email} mail={mail} onBack={onBack} />
    </form>
  );
}

/** The service mails no second code before. */
const RESEND_AFTER_SECONDS = 30;

type ResendProps = Pick<CodeStepProps, 'email' | 'mail' | 'onBack'>;

function Resend({ email, mail, onBack }: ResendProps) {
  const [isResent, setResent] = useState(false);
  const isTooSoon = isApiError(mail.error, 'code_request_rate_limited');
  const left = useCountdown(waitOf(mail), `${mail.status} ${mail.submittedAt}`);
  return (
    <div className="flex flex-col gap-3">
      {mail.isError && !isTooSoon && <SignInError title={loginTexts.notMailed} error={mail.error} />}
      <p role="status" className="text-[13px] text-good empty:hidden">
        {isResent && mail.isSuccess && loginTexts.resent}
      </p>
      <div className="flex flex-wrap items-center justify-between gap-2 border-t border-line pt-3">
        <Button
          look="quiet"
          size="small"
          className="-ml-2.5 tabular"
          disabled={left > 0}
          isBusy={mail.isPending}
          onClick={() => mail.mutate(email.trim(), { onSuccess: () => setResent(true) })}
        >
          {left > 0 ? loginTexts.resendIn(clockSpan(left)) : loginTexts.resend}
        </Button>
        <Button look="quiet" size="small" className="-mr-2.5" onClick={onBack}>
          {loginTexts.otherEmail}
        </Button>
      </div>
    </div>
  );
}

function waitOf(mail: MailCode): number {
  if (mail.isSuccess) return RESEND_AFTER_SECONDS;
  return mail.isError ? (readableError(mail.error).retryAfterSeconds ?? 0) : 0;
}
