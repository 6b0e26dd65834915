import { isApiError } from '@gpu-rental/client';
import { useState, type SubmitEvent } from 'react';
import { fieldError } from '../../data/errors.js';
import type { MailCode } from '../../data/sign-in.js';
import { loginTexts } from '../../texts/login.js';
import { Button } from '../../ui/button.js';
import { Field, Input } from '../../ui/field.js';
import { SignInError } from './sign-in-error.js';

interface EmailStepProps {
  readonly email: string;
  readonly onEmail: (email: string) => void;
  readonly mail: MailCode;
  /** A code is on its way, or is there. */
  readonly onAsked: () => void;
}

/** Asks for the address to which the code is mailed. */
export function EmailStep({ email, onEmail, mail, onAsked }: EmailStepProps) {
  const [isMissing, setMissing] = useState(false);
  const send = (event?: SubmitEvent): void => {
    event?.preventDefault();
    const isWhole = /^\S+@\S+$/.test(email.trim());
    setMissing(!isWhole);
    if (isWhole) mail.mutate(email.trim(), { onSuccess: onAsked });
  };
  const wrong = wrongAddress(mail.error);
  return (
    <form noValidate onSubmit={send} className="flex flex-col gap-4">
      <Field
        label={loginTexts.email}
        hint={loginTexts.emailHint}
        error={isMissing ? loginTexts.emailMissing : wrong}
      >
        {(ids) => (
          <Input
            {...ids}
            type="email"
            name="email"
            // Browsers that have passkeys suggest them here too.
            autoComplete="email webauthn"
            autoCapitalize="none"
            spellCheck={false}
            // The page is this form.
            // eslint-disable-next-line jsx-a11y/no-autofocus
            autoFocus
            value={email}
            onChange={({ target }) => onEmail(target.value)}
          />
        )}
      </Field>
      {mail.isError && wrong === undefined && (
        <SignInError title={loginTexts.notMailed} error={mail.error} onRetry={send} />
      )}
      <Button look="primary" type="submit" isBusy={mail.isPending}>
        {loginTexts.sendCode}
      </Button>
      {isApiError(mail.error, 'code_request_rate_limited') && (
        <Button look="quiet" onClick={onAsked}>
          {loginTexts.haveCode}
        </Button>
      )}
    </form>
  );
}

/** What the service says of the address itself. */
function wrongAddress(error: unknown): string | undefined {
  return isApiError(error, 'invalid_email') ? error.message : fieldError(error, 'email');
}
