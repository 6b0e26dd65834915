import { useEffect, useState, type ReactNode } from 'react';
import { ownSoftwareTexts as texts } from '../../../texts/own-software.js';
import { Checkbox, Field, Input, Textarea } from '../../../ui/field.js';
import { useAfterPause } from '../../../ui/use-typed.js';
import {
  isFaulty,
  readDraft,
  type DraftFaults,
  type HeldSoftware,
  type OwnSoftware,
  type SoftwareDraft,
} from '../software-draft.js';
import { softwareFault } from '../software-fault.js';
import { PortLines } from './port-lines.js';

interface OwnSoftwareFieldsProps {
  /** What was typed before. */
  readonly draft: SoftwareDraft;
  /** Is told after a pause in typing, and on leaving a field. */
  readonly onChange: (held: HeldSoftware) => void;
  /** What the service said of the choices. */
  readonly error: unknown;
  /** Is told whether something typed is not right. */
  readonly onFault: (isWrong: boolean) => void;
}

/** An image or a script of one's own, and what it needs. Nothing of it is kept by the browser: it may hold secrets. */
export function OwnSoftwareFields({ draft: before, onChange, error, onFault }: OwnSoftwareFieldsProps) {
  const [draft, setDraft] = useState(before);
  const [tell, tellNow] = useAfterPause((next: SoftwareDraft) =>
    onChange({ draft: next, asked: readDraft(next).asked }),
  );
  const { faults } = readDraft(draft);
  const isWrong = isFaulty(faults);
  useEffect(() => onFault(isWrong), [onFault, isWrong]);
  const change = (fields: Partial<SoftwareDraft>): void => {
    const next = { ...draft, ...fields };
    setDraft(next);
    tell(next);
  };
  const typed = (name: TextName) => ({
    ...off,
    onBlur: tellNow,
    value: draft[name],
    onChange: (event: { readonly target: { readonly value: string } }) =>
      change({ [name]: event.target.value }),
  });
  const said = (field: keyof OwnSoftware): string | undefined => softwareFault(error, field);
  return (
    <div className="flex flex-col gap-4">
      <p className="text-[13px] text-muted">{texts.kept}</p>
      <Field label={texts.image} hint={texts.imageHint} error={said('image')}>
        {(ids) => <Input {...ids} {...typed('image')} placeholder={texts.imagePlaceholder} maxLength={512} />}
      </Field>
      <Entrypoint
        draft={draft}
        error={faults.entrypoint ? texts.replaceError : said('entrypoint')}
        onChange={(replaces) => {
          change({ replaces });
          tellNow();
        }}
      />
      <Registry typed={typed} faults={faults} said={said('registryAuth')} />
      <Field label={texts.args} hint={texts.argsHint} error={said('args')}>
        {(ids) => <Textarea {...ids} {...typed('args')} rows={2} />}
      </Field>
      <Field
        label={texts.env}
        hint={texts.envHint}
        error={faults.envLine === undefined ? said('env') : texts.envError(faults.envLine)}
      >
        {(ids) => <Textarea {...ids} {...typed('env')} rows={3} />}
      </Field>
      <Field label={texts.script} hint={texts.scriptHint} error={said('startScript')}>
        {(ids) => <Textarea {...ids} {...typed('startScript')} rows={4} />}
      </Field>
      <PortLines
        lines={draft.ports}
        onLeave={tellNow}
        wrong={faults.ports}
        onChange={(ports, isTyped) => {
          change({ ports });
          if (!isTyped) tellNow();
        }}
        error={said('ports')}
      />
      <Field
        label={texts.disk}
        hint={texts.diskHint}
        error={faults.diskGb ? texts.diskError : said('diskGb')}
        className="sm:w-1/2"
      >
        {(ids) => <Input {...ids} {...typed('diskGb')} inputMode="numeric" />}
      </Field>
    </div>
  );
}

type TextName = Exclude<keyof SoftwareDraft, 'ports' | 'replaces'>;

/** Browsers keep what is typed for the next time, and send it away to check its spelling, unless they are told not to. */
const off = { autoComplete: 'off', autoCapitalize: 'off', spellCheck: false } as const;

interface EntrypointProps {
  readonly draft: SoftwareDraft;
  readonly error: string | undefined;
  readonly onChange: (replaces: boolean) => void;
}

function Entrypoint({ draft: { image, replaces }, error, onChange }: EntrypointProps): ReactNode {
  if (image.trim() === '') return null;
  return (
    <div>
      <Checkbox
        label={texts.replace}
        hint={replaces ? texts.replaceHint : undefined}
        checked={replaces}
        onChange={(event) => onChange(event.target.checked)}
      />
      {error !== undefined && (
        <p role="alert" className="mt-1 text-[13px] text-bad">
          {error}
        </p>
      )}
    </div>
  );
}

interface RegistryProps {
  readonly typed: (name: 'username' | 'password') => object;
  readonly faults: DraftFaults;
  readonly said: string | undefined;
}

function Registry({ typed, faults, said }: RegistryProps): ReactNode {
  const error = faults.registryAuth ? texts.registryError : said;
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label={texts.username} hint={texts.registryHint} error={error}>
        {(ids) => <Input {...ids} {...typed('username')} />}
      </Field>
      <Field label={texts.password}>
        {(ids) => <Input {...ids} {...typed('password')} type="password" autoComplete="new-password" />}
      </Field>
    </div>
  );
}
