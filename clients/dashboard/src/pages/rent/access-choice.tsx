import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { keysQuery } from '../../data/keys.js';
import { rentTexts } from '../../texts/rent.js';
import { Callout } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { Checkbox } from '../../ui/field.js';
import { ErrorNote, Skeleton } from '../../ui/states.js';
import { AddKeyDialog } from '../keys/add-key-dialog.js';

const texts = rentTexts.access;

interface AccessChoiceProps {
  /** The ids of the chosen keys; undefined for all there are. */
  readonly keys: readonly string[] | undefined;
  readonly onChange: (keys: readonly string[] | undefined) => void;
}

/** Which SSH keys open the machine; all of them unless somebody chooses. */
export function AccessChoice({ keys, onChange }: AccessChoiceProps) {
  const { data, isPending, error, refetch } = useQuery(keysQuery);
  const change = (id: string, isChosen: boolean): void => {
    const all = data?.map((key) => key.id) ?? [];
    const next = all.filter((one) => (one === id ? isChosen : (keys ?? all).includes(one)));
    onChange(next.length === all.length ? undefined : next);
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
        <fieldset className="flex min-w-0 flex-col gap-3">
          <legend className="mb-2.5 text-[13px] text-muted">{texts.hint}</legend>
          {data.map(({ id, name, fingerprint }) => (
            <Checkbox
              key={id}
              label={<span className="break-words">{name}</span>}
              hint={<span className="font-mono text-xs break-all">{fingerprint}</span>}
              checked={keys === undefined || keys.includes(id)}
              onChange={(event) => change(id, event.target.checked)}
            />
          ))}
        </fieldset>
      )}
      {isAdding && <AddKeyDialog onClose={() => setAdding(false)} />}
    </Card>
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
  const ids = data.map(({ id }) => id).filter((id) => keys === undefined || keys.includes(id));
  if (data.length === 0) return { ids, obstacle: texts.none };
  return { ids, obstacle: ids.length === 0 ? texts.noneChosen : undefined };
}
