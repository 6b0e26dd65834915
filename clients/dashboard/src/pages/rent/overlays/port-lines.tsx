import { useId, useRef } from 'react';
import { ownSoftwareTexts as texts } from '../../../texts/own-software.js';
import { Button, IconButton } from '../../../ui/button.js';
import { Checkbox, Input, Select } from '../../../ui/field.js';
import { CloseIcon, PlusIcon } from '../../../ui/icons.js';
import { MAX_PORTS, type PortLine } from '../software-draft.js';

const kinds = ['http', 'tcp'] as const;

interface PortLinesProps {
  readonly lines: readonly PortLine[];
  /** Those that are not right, by their `no`. */
  readonly wrong: ReadonlySet<number>;
  /** @param isTyped somebody is typing: more may come soon */
  readonly onChange: (lines: PortLine[], isTyped: boolean) => void;
  /** The focus leaves one of the fields. */
  readonly onLeave: () => void;
  /** What the service said of them. */
  readonly error: string | undefined;
}

/** The ports of own software: name, number, protocol, and whether everybody can reach it. */
export function PortLines({ lines, wrong, onChange, onLeave, error }: PortLinesProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const add = (): void => {
    const no = Math.max(-1, ...lines.map((line) => line.no)) + 1;
    onChange([...lines, { no, name: '', port: '', kind: 'http', isPublic: false }], false);
    requestAnimationFrame(() => list.current?.lastElementChild?.querySelector('input')?.focus());
  };
  return (
    <fieldset className="min-w-0" aria-describedby={`${id}-hint`}>
      <legend className="text-[13px] font-medium text-soft">{texts.ports}</legend>
      <div ref={list} className="mt-1.5 flex flex-col gap-3 empty:hidden">
        {lines.map((line, index) => (
          <Line
            key={line.no}
            line={line}
            place={index + 1}
            isWrong={wrong.has(line.no)}
            onLeave={onLeave}
            onChange={(fields, isTyped) =>
              onChange(
                lines.map((one) => (one.no === line.no ? { ...one, ...fields } : one)),
                isTyped,
              )
            }
            onRemove={() =>
              onChange(
                lines.filter(({ no }) => no !== line.no),
                false,
              )
            }
          />
        ))}
      </div>
      <p
        id={`${id}-hint`}
        className={error === undefined ? 'mt-1.5 text-[13px] text-muted' : 'mt-1.5 text-[13px] text-bad'}
      >
        {error ?? texts.portsHint}
      </p>
      {lines.length < MAX_PORTS && (
        <Button size="small" className="mt-2" onClick={add}>
          <PlusIcon />
          {texts.addPort}
        </Button>
      )}
    </fieldset>
  );
}

interface LineProps {
  readonly line: PortLine;
  readonly place: number;
  readonly isWrong: boolean;
  readonly onChange: (fields: Partial<PortLine>, isTyped: boolean) => void;
  readonly onLeave: () => void;
  readonly onRemove: () => void;
}

function Line({ line, place, isWrong, onChange, onLeave, onRemove }: LineProps) {
  const id = useId();
  const marked = {
    'aria-invalid': isWrong || undefined,
    'aria-describedby': isWrong ? id : undefined,
    autoComplete: 'off',
    onBlur: onLeave,
  };
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_4.75rem_6rem_auto] items-center gap-2">
      <Input
        {...marked}
        aria-label={texts.portName(place)}
        placeholder={texts.namePlaceholder}
        autoCapitalize="off"
        spellCheck={false}
        maxLength={32}
        value={line.name}
        onChange={(event) => onChange({ name: event.target.value }, true)}
      />
      <Input
        {...marked}
        aria-label={texts.portNumber(place)}
        placeholder={texts.numberPlaceholder}
        inputMode="numeric"
        maxLength={5}
        value={line.port}
        onChange={(event) => onChange({ port: event.target.value }, true)}
      />
      <Select
        aria-label={texts.portKind(place)}
        value={line.kind}
        onChange={(event) => onChange({ kind: event.target.value === 'tcp' ? 'tcp' : 'http' }, false)}
      >
        {kinds.map((kind) => (
          <option key={kind} value={kind}>
            {kind}
          </option>
        ))}
      </Select>
      <IconButton label={texts.removePort(place)} onClick={onRemove}>
        <CloseIcon />
      </IconButton>
      <Checkbox
        className="col-span-4"
        aria-label={texts.portPublic(place)}
        label={texts.public}
        hint={line.isPublic ? <span className="text-warn">{texts.publicWarning}</span> : undefined}
        checked={line.isPublic}
        onChange={(event) => onChange({ isPublic: event.target.checked }, false)}
      />
      {isWrong && (
        <p id={id} className="col-span-4 text-[13px] text-bad">
          {texts.portError}
        </p>
      )}
    </div>
  );
}
