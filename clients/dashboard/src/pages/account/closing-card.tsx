import { closingWaitWords, wordOf, type AccountClosing } from '@gpu-rental/client';
import type { ReactNode } from 'react';
import { money } from '../../format/money.js';
import { accountTexts } from '../../texts/account.js';
import { Card } from '../../ui/card.js';
import { Time } from '../../ui/time.js';
import { Returns } from './returns.js';

const t = accountTexts.closing;

/** How far the closing of the account is, and what it waits for. */
export function ClosingCard({ closing }: { readonly closing: AccountClosing }) {
  const { state, requestedAt, machines, returns, lapsesCents } = closing;
  // Machines have a line of their own.
  const waitsFor = closing.waitsFor.filter((wait) => wait !== 'rentals' || machines === 0);
  return (
    <Card title={t.title}>
      <div className="flex flex-col gap-4">
        <p className="max-w-prose">{t.text}</p>
        <dl className="grid gap-x-6 gap-y-2 sm:grid-cols-[auto_minmax(0,1fr)]">
          <Fact name={t.now}>
            <span role="status">{state !== null && wordOf(t.states, state)}</span>
          </Fact>
          {waitsFor.length > 0 && (
            <Fact name={t.waits}>{waitsFor.map((wait) => wordOf(closingWaitWords, wait)).join(', ')}</Fact>
          )}
          {requestedAt !== null && (
            <Fact name={t.since}>
              <Time at={requestedAt} />
            </Fact>
          )}
          {machines > 0 && <Fact name={t.machines}>{machines}</Fact>}
          {returns.length > 0 && (
            <Fact name={t.returns}>
              <Returns returns={returns} areUnderWay />
            </Fact>
          )}
          {lapsesCents > 0 && <Fact name={t.lapses}>{money(lapsesCents)}</Fact>}
        </dl>
      </div>
    </Card>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="-mt-2 sm:mt-0">{children}</dd>
    </>
  );
}
