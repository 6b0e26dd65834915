import { Suspense, useRef, useState } from 'react';
import { familyName } from '../../format/machine.js';
import { lazyPart } from '../../ui/lazy-part.js';
import { loginTexts } from '../../texts/login.js';
import { shellTexts } from '../../texts/shell.js';
import { Callout } from '../../ui/badge.js';
import { Page } from '../../ui/page.js';
import { ThemeControl } from '../../app/theme-control.js';
import { useMailCode } from '../../data/sign-in.js';
import { useArrival } from './arrival.js';
import { CodeStep } from './code-step.js';
import { EmailStep } from './email-step.js';
import { PasskeySignIn } from './passkey-sign-in.js';
import { Providers } from './providers.js';

// It is no part of the first load.
const Prices = lazyPart(() => import('./prices.js'), 'Prices');

/** The one fault after which a code was mailed. */
const CONFIRM = 'oauth_confirm';

/** Signs in: by a mailed code, or by an account elsewhere. */
export function LoginPage() {
  const { fault, email: mailed, returnTo, goOn } = useArrival();
  const [email, setEmail] = useState(mailed ?? '');
  const [isCodeAsked, setCodeAsked] = useState(mailed !== undefined);
  const mail = useMailCode();
  const form = useRef<HTMLDivElement>(null);
  const wanted = /^\/app\/rent\/([^/?#]+)/.exec(returnTo)?.[1];
  const lead = wanted === undefined ? loginTexts.lead : loginTexts.leadTo(familyName(wanted));
  return (
    <main
      id="content"
      // What comes later stands below or beside, and moves nothing.
      className="grid min-h-dvh content-start justify-items-center gap-6 px-4 py-10 pt-[14dvh] pb-[calc(2.5rem+env(safe-area-inset-bottom))] lg:grid-cols-[1fr_24rem_1fr]"
    >
      <p className="text-lg font-semibold lg:col-start-2">{shellTexts.product}</p>
      <div
        ref={form}
        className="w-full max-w-sm rounded-xl border border-line bg-surface p-5 sm:p-7 lg:col-start-2"
      >
        <Page
          title={isCodeAsked ? loginTexts.codeTitle : shellTexts.pages.login}
          lead={isCodeAsked ? undefined : lead}
        >
          {fault !== undefined && isCodeAsked === (fault === CONFIRM) && <FaultNote fault={fault} />}
          {isCodeAsked ? (
            <CodeStep email={email} mail={mail} onSignedIn={goOn} onBack={() => setCodeAsked(false)} />
          ) : (
            <>
              <EmailStep email={email} onEmail={setEmail} mail={mail} onAsked={() => setCodeAsked(true)} />
              <PasskeySignIn onSignedIn={goOn} />
              <Providers returnTo={returnTo} />
            </>
          )}
        </Page>
      </div>
      <div className="w-full max-w-sm empty:hidden lg:col-start-3 lg:row-start-2 lg:self-center lg:justify-self-start lg:pl-6">
        <Suspense>
          {!isCodeAsked && (
            <Prices wanted={wanted} onWant={() => form.current?.querySelector('input')?.focus()} />
          )}
        </Suspense>
      </div>
      <div className="lg:col-start-2 lg:row-start-3">
        <ThemeControl name="login-theme" />
      </div>
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
