import type { ComponentProps } from 'react';
import { needsHttps } from '../../data/sign-in.js';
import { loginTexts } from '../../texts/login.js';
import { Callout } from '../../ui/badge.js';
import { buttonClasses } from '../../ui/button.js';
import { ErrorNote } from '../../ui/states.js';

/** Why a step of the sign-in failed; by plain http, where else it works. */
export function SignInError(props: ComponentProps<typeof ErrorNote>) {
  if (!needsHttps(props.error)) return <ErrorNote {...props} />;
  return (
    <Callout
      role="alert"
      tone="warn"
      title={loginTexts.httpsTitle}
      actions={
        <a href={`https://${location.host}/app`} className={buttonClasses('primary', 'small')}>
          {loginTexts.toHttps}
        </a>
      }
    >
      {loginTexts.https}
    </Callout>
  );
}
