import { useQuery } from '@tanstack/react-query';
import { Suspense, useId, useState } from 'react';
import type { api } from '../../data/client.js';
import { keysQuery } from '../../data/keys.js';
import { ownSoftwareTexts } from '../../texts/own-software.js';
import { rentTexts } from '../../texts/rent.js';
import { Callout } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { Checkbox } from '../../ui/field.js';
import { lazyPart } from '../../ui/lazy-part.js';
import { ErrorNote, Skeleton } from '../../ui/states.js';
import { softwareFault } from './software-fault.js';

const texts = rentTexts.access;
// Loaded when it is first asked for.
const AddKeyDialog = lazyPart(() => import('../keys/overlays/add-key-dialog.js'), 'AddKeyDialog');

interface AccessChoiceProps {
  /** The ids of the chosen keys; undefined for all that people added. */
  readonly keys: readonly string[] | undefined;
  readonly onChange: (keys: readonly string[] | undefined) => void;
  /** What the service said of the choices. */
  readonly error: unknown;
}

type Listed = Awaited<ReturnType<typeof api.sshKeys.list>>;

/** The keys that open a machine where nobody chooses: those that a program added must be named. */
function usualOf(listed: Listed): readonly string[] {
  return listed.filter(({ byKey }) => !byKey).map(({ id }) => id);
}

/** Which SSH keys open the machine; all that people added unless somebody chooses. */
export function AccessChoice({ keys, onChange, error: refusal }: AccessChoiceProps) {
  const faultId = useId();
  const { data, isPending, error, refetch } = useQuery(keysQuery);
  const change = (id: string, isChosen: boolean): void => {
    const usual = usualOf(data ?? []);
    const all = data?.map((key) => key.id) ?? [];
    const next = all.filter((one) => (one === id ? isChosen : (keys ?? usual).includes(one)));
    onChange(next.join() === usual.join() ? undefined : next);
  };
  const [isAdding, setAdding] = useState(false);
  const add = (
    <Button size="small" onClick={() => setAdding(true)}>
      {texts.add}
    </Button>
  );
  return (
    <Card title={texts.title} aside={data && data.length > 0 ? add : undefined}>
      {isPending && <Skeleton className="h-10 w-full" />}
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data?.length === 0 && (
        <Callout tone="warn" title={texts.none} actions={add}>
          {texts.hint}
        </Callout>
      )}
      {data && data.length > 0 && (
        <fieldset className="flex min-w-0 flex-col gap-3" aria-describedby={faultId}>
          <legend className="mb-2.5 text-[13px] text-muted">{texts.hint}</legend>
          {data.map(({ id, name, fingerprint }) => (
            <Checkbox
              key={id}
              label={<span className="break-words">{name}</span>}
              hint={<span className="font-mono text-xs break-all">{fingerprint}</span>}
              checked={(keys ?? usualOf(data)).includes(id)}
              onChange={(event) => change(id, event.target.checked)}
            />
          ))}
          <KeysFault id={faultId} error={refusal} />
        </fieldset>
      )}
      <Suspense>{isAdding && <AddKeyDialog onClose={() => setAdding(false)} />}</Suspense>
    </Card>
  );
}

/** Says that no provider takes these keys. Always there, as what is wrong with a field. */
function KeysFault({ id, error }: { readonly id: string; readonly error: unknown }) {
  const fault = softwareFault(error, 'sshKeyIds');
  return (
    <p id={id} aria-live="polite" className="text-[13px] text-bad empty:absolute">
      {fault !== undefined && ownSoftwareTexts.tooManyKeys(fault)}
    </p>
  );
}

/** The keys that open the machine, by id. */
export interface ChosenKeys {
  /** Undefined while it is not known which there are. */
  readonly ids: readonly string[] | undefined;
  /** What hinders renting for want of a key; undefined for nothing. */
  readonly obstacle: string | undefined;
}

/**
 * The keys that are chosen, of those that there are now: a quote opens the machine to the keys of its own instant, so
 * that a key that is added later needs another quote.
 */
export function useChosenKeys(keys: readonly string[] | undefined): ChosenKeys {
  const { data } = useQuery(keysQuery);
  if (!data) return { ids: undefined, obstacle: undefined };
  const ids = keys === undefined ? usualOf(data) : data.map(({ id }) => id).filter((id) => keys.includes(id));
  if (data.length === 0) return { ids, obstacle: texts.none };
  return { ids, obstacle: ids.length === 0 ? texts.noneChosen : undefined };
}
