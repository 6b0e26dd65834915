import { useId, useRef, type ReactNode } from 'react';
import { labelTexts } from '../texts/labels.js';
import { Button, IconButton } from './button.js';
import { Input } from './field.js';
import { CloseIcon, PlusIcon } from './icons.js';
import { MAX_LABELS, pairFault, type LabelPair } from './label-pairs.js';

interface LabelEditorProps {
  readonly pairs: readonly LabelPair[];
  readonly onChange: (pairs: LabelPair[]) => void;
  /** The focus leaves one of the fields. */
  readonly onLeave?: () => void;
  /** What the service said of them. */
  readonly error?: string | undefined;
  readonly hint?: ReactNode;
}

/** Labels, a line each: key and value side by side. */
export function LabelEditor({ pairs, onChange, onLeave, error, hint = labelTexts.hint }: LabelEditorProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const add = (): void => {
    onChange([...pairs, { no: Math.max(-1, ...pairs.map(({ no }) => no)) + 1, key: '', value: '' }]);
    requestAnimationFrame(() =>
      list.current?.querySelector<HTMLInputElement>('div:last-child > input')?.focus(),
    );
  };
  return (
    <fieldset className="min-w-0" aria-describedby={`${id}-hint`}>
      <legend className="text-[13px] font-medium text-soft">{labelTexts.title}</legend>
      <div ref={list} className="mt-1.5 flex flex-col gap-2 empty:hidden">
        {pairs.map((pair, index) => (
          <LabelLine
            key={pair.no}
            pair={pair}
            place={index + 1}
            fault={pairFault(pair, pairs)}
            onLeave={onLeave}
            onChange={(changed) => onChange(pairs.map((one) => (one.no === pair.no ? changed : one)))}
            onRemove={() => onChange(pairs.filter(({ no }) => no !== pair.no))}
          />
        ))}
      </div>
      <p
        id={`${id}-hint`}
        className={error === undefined ? 'mt-1.5 text-[13px] text-muted' : 'mt-1.5 text-[13px] text-bad'}
      >
        {error ?? hint}
      </p>
      {pairs.length < MAX_LABELS && (
        <Button size="small" className="mt-2" onClick={add}>
          <PlusIcon />
          {labelTexts.add}
        </Button>
      )}
    </fieldset>
  );
}

interface LabelLineProps {
  readonly pair: LabelPair;
  readonly place: number;
  readonly fault: ReturnType<typeof pairFault>;
  readonly onChange: (pair: LabelPair) => void;
  readonly onLeave: (() => void) | undefined;
  readonly onRemove: () => void;
}

function LabelLine({ pair, place, fault, onChange, onLeave, onRemove }: LabelLineProps) {
  const id = useId();
  const { key, value } = pair;
  return (
    <div className="grid grid-cols-[minmax(0,2fr)_minmax(0,3fr)_auto] items-center gap-x-2">
      <Input
        aria-label={labelTexts.key(place)}
        aria-invalid={fault === undefined ? undefined : true}
        aria-describedby={fault === undefined ? undefined : id}
        placeholder={labelTexts.keyPlaceholder}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        maxLength={63}
        value={key}
        onChange={(event) => onChange({ ...pair, key: event.target.value })}
        onBlur={onLeave}
      />
      <Input
        aria-label={labelTexts.value(place)}
        placeholder={labelTexts.valuePlaceholder}
        autoComplete="off"
        maxLength={255}
        value={value}
        onChange={(event) => onChange({ ...pair, value: event.target.value })}
        onBlur={onLeave}
      />
      <IconButton label={labelTexts.remove(place)} onClick={onRemove}>
        <CloseIcon />
      </IconButton>
      {fault !== undefined && (
        <p id={id} className="col-span-3 mt-1 text-[13px] text-bad">
          {fault === 'key' ? labelTexts.keyError : labelTexts.twiceError}
        </p>
      )}
    </div>
  );
}
