import { type ApiKey, wordOf } from '@gpu-rental/client';
import type { ReactNode } from 'react';
import { money } from '../../format/money.js';
import { apiKeyTexts as t } from '../../texts/api-keys.js';
import { Badge, type Tone } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Money } from '../../ui/money.js';
import { SpendBar } from '../../ui/spend-bar.js';
import { Time } from '../../ui/time.js';
import type { ApiKeyState } from './state.js';

const tones: Readonly<Record<ApiKeyState, Tone>> = {
  live: 'good',
  suspended: 'warn',
  expired: 'neutral',
  revoked: 'neutral',
};

interface ApiKeyRowProps {
  readonly apiKey: ApiKey;
  readonly state: ApiKeyState;
  /** Absent where the key has ended. */
  readonly onChange?: () => void;
  readonly onRevoke?: () => void;
}

/** One key: what it may do, what it has cost, from where it was used. */
export function ApiKeyRow({ apiKey, state, onChange, onRevoke }: ApiKeyRowProps) {
  const { name, hint, scopes, ends } = apiKey;
  return (
    <li className="grid gap-x-6 gap-y-3 px-4 py-4 sm:grid-cols-2 xl:grid-cols-[minmax(0,5fr)_minmax(0,4fr)_minmax(0,4fr)_10rem]">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="min-w-0 font-medium break-words">{name}</span>
          <Badge tone={tones[state]}>{t.states[state]}</Badge>
        </p>
        <p className="mt-0.5 font-mono text-[13px] text-muted">{t.hint(hint)}</p>
        <p className="mt-1.5 flex flex-wrap gap-1">
          {scopes.map((scope) => (
            <Badge key={scope}>{wordOf(t.scopes, scope)}</Badge>
          ))}
          {ends === 'own' && <Badge>{t.ownMachines}</Badge>}
        </p>
      </div>
      <Spending apiKey={apiKey} />
      <Use apiKey={apiKey} state={state} />
      {onChange && onRevoke && (
        <div className="flex items-start gap-2 sm:justify-end">
          <Button size="small" aria-label={t.changeNamed(name)} onClick={onChange}>
            {t.change}
          </Button>
          <Button size="small" aria-label={t.revokeNamed(name)} onClick={onRevoke}>
            {t.revoke}
          </Button>
        </div>
      )}
      {state === 'suspended' && <p className="col-span-full text-[13px] text-warn">{t.suspendedText}</p>}
    </li>
  );
}

function Spending({ apiKey }: { readonly apiKey: ApiKey }) {
  const { spendCapCents: cap, spentCents: spent, reservedCents: reserved } = apiKey;
  if (cap === null) {
    return (
      <p className="text-[13px] text-muted">
        {t.spent} <Money cents={spent} className="font-medium text-ink" /> · {t.noCap}
      </p>
    );
  }
  return (
    <div className="min-w-0">
      <SpendBar
        label={t.spendBar(money(spent), money(reserved), money(cap))}
        spentCents={spent}
        reservedCents={reserved}
        limitCents={cap}
      />
      <p className="mt-1.5 flex flex-wrap justify-between gap-x-3 text-[13px] text-muted tabular">
        <span className="text-ink">{t.spentOf(money(spent), money(cap))}</span>
        <span>
          {reserved > 0 && <>{t.reserved(money(reserved))} · </>}
          {t.left(money(Math.max(0, cap - spent - reserved)))}
        </span>
      </p>
    </div>
  );
}

function Use({ apiKey, state }: { readonly apiKey: ApiKey; readonly state: ApiKeyState }) {
  const { lastUsedAt, lastUsedAddress, expiresAt, revokedAt, allowedCidrs } = apiKey;
  return (
    <dl className="grid min-w-0 grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5 text-[13px]">
      <Term name={t.lastUsed}>
        {lastUsedAt === null ? (
          t.never
        ) : (
          <>
            <Time at={lastUsedAt} />{' '}
            {lastUsedAddress !== null && <span className="break-all">{t.from(lastUsedAddress)}</span>}
          </>
        )}
      </Term>
      {state === 'revoked' && revokedAt !== null ? (
        <Term name={t.revoked}>
          <Time at={revokedAt} />
        </Term>
      ) : (
        <Term name={state === 'expired' ? t.expired : t.expires}>
          <Time at={expiresAt} isDay />
        </Term>
      )}
      <Term name={t.addresses}>
        <Addresses cidrs={allowedCidrs} />
      </Term>
    </dl>
  );
}

const MOST_ADDRESSES = 3;

function Addresses({ cidrs }: { readonly cidrs: readonly string[] | null }) {
  if (cidrs === null) return <>{t.anywhere}</>;
  const more = cidrs.length - MOST_ADDRESSES;
  return (
    <span title={cidrs.join('\n')}>
      {cidrs.slice(0, MOST_ADDRESSES).map((cidr) => (
        <span key={cidr} className="block break-all">
          {cidr.replace(/^([\d.]+)\/32$|\/128$/, '$1')}
        </span>
      ))}
      {more > 0 && t.moreAddresses(more)}
    </span>
  );
}

function Term({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}
