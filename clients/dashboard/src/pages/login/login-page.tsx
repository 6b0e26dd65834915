import { useState } from 'react';
import { loginTexts } from '../../texts/login.js';
import { shellTexts } from '../../texts/shell.js';
import { Callout } from '../../ui/badge.js';
import { Page } from '../../ui/page.js';
import { ThemeControl } from '../../app/theme-control.js';
import { useMailCode } from '../../data/sign-in.js';
import { useArrival } from './arrival.js';
import { CodeStep } from './code-step.js';
import { EmailStep } from './email-step.js';
import { Providers } from './providers.js';

/** The one fault after which a code was mailed. */
const CONFIRM = 'oauth_confirm';

/** Signs in: by a mailed code, or by an account elsewhere. */
export function LoginPage() {
  const { fault, email: mailed, returnTo, goOn } = useArrival();
  const [email, setEmail] = useState(mailed ?? '');
  const [isCodeAsked, setCodeAsked] = useState(mailed !== undefined);
  const mail = useMailCode();
  return (
    <main
      id="content"
      className="flex min-h-dvh flex-col items-center justify-center gap-6 px-4 py-10 pb-[calc(2.5rem+env(safe-area-inset-bottom))]"
    >
      <p className="text-lg font-semibold">{shellTexts.product}</p>
      <div className="w-full max-w-sm rounded-xl border border-line bg-surface p-5 sm:p-7">
        <Page
          title={isCodeAsked ? loginTexts.codeTitle : shellTexts.pages.login}
          lead={isCodeAsked ? undefined : loginTexts.lead}
        >
          {fault !== undefined && isCodeAsked === (fault === CONFIRM) && <FaultNote fault={fault} />}
          {isCodeAsked ? (
            <CodeStep email={email} mail={mail} onSignedIn={goOn} onBack={() => setCodeAsked(false)} />
          ) : (
            <>
              <EmailStep email={email} onEmail={setEmail} mail={mail} onAsked={() => setCodeAsked(true)} />
              <Providers returnTo={returnTo} />
            </>
          )}
        </Page>
      </div>
      <ThemeControl name="login-theme" />
    </main>
  );
}

const { faults } = loginTexts;

/** Why a sign-in elsewhere did not do; what a newer service names is told in general words. */
function FaultNote({ fault }: { readonly fault: string }) {
  const { title, text } = Object.entries(faults).find(([name]) => name === fault)?.[1] ?? faults.other;
  return (
    <Callout role="status" tone={fault === CONFIRM ? 'info' : 'warn'} title={title}>
      {text}
    </Callout>
  );
}
