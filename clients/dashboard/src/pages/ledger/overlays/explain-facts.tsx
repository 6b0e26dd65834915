import type { ReactNode } from 'react';
import { ledgerTexts } from '../../../texts/ledger.js';
import { CopyButton } from '../../../ui/copy-button.js';

/** Facts under a heading of their own. */
export function Facts({ title, children }: { readonly title?: string; readonly children: ReactNode }) {
  return (
    <section>
      {title !== undefined && <h3 className="mb-1 font-semibold">{title}</h3>}
      <dl className="divide-y divide-line border-y border-line">{children}</dl>
    </section>
  );
}

/** A fact: what it is at the left, how much or when at the right. */
export function Fact({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div className="flex min-h-9 flex-wrap items-center justify-between gap-x-4 py-1.5">
      <dt className="text-muted">{label}</dt>
      <dd className="ml-auto text-right tabular">{children}</dd>
    </div>
  );
}

/** An id, which can be copied; without one there is nothing to say. */
export function CopiedId({ label, id }: { readonly label: string; readonly id: string | null }) {
  if (id === null) return null;
  return (
    <Fact label={label}>
      <span className="flex items-center justify-end gap-1">
        <span className="font-mono text-xs break-all">{id}</span>
        <CopyButton text={id} label={ledgerTexts.explain.copy(label)} />
      </span>
    </Fact>
  );
}

/** A sum with its numbers filled in. */
export function Formula({ text }: { readonly text: string }) {
  return (
    <div className="mt-2">
      <p className="text-[13px] text-muted">{ledgerTexts.explain.formula}</p>
      <p className="mt-1 rounded-md border border-line bg-sunken px-3 py-2 font-mono text-xs break-words whitespace-pre-wrap">
        {text}
      </p>
    </div>
  );
}
