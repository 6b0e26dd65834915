import type { Quote } from '@gpu-rental/client';
import { idleTexts as texts } from '../../texts/idle.js';
import { Checkbox } from '../../ui/field.js';
import { faultOf } from '../rentals/idle-fields.js';
import type { FamilySearch } from './search.js';

interface UseChoiceProps {
  readonly search: FamilySearch;
  readonly onChange: (fields: Readonly<Record<string, unknown>>) => void;
  /** What the service said of the choices. */
  readonly error: unknown;
  /** Who would tell the use of the quoted machine; undefined while there is no quote. */
  readonly toldBy: Quote['telemetrySource'] | undefined;
}

/** Whether its use is told where its provider does not: a machine that is stopped when idle has it told anyway. */
export function UseChoice({ search, onChange, error, toldBy }: UseChoiceProps) {
  const isAsked = search.telemetry === true;
  const fault = faultOf(error, 'telemetry', texts.useFault);
  const isOpen = isAsked ? toldBy !== 'upstream' : toldBy === null;
  if (search.idle !== undefined || !isOpen) return null;
  return (
    <Checkbox
      label={texts.use}
      hint={fault === undefined ? texts.useHint : <span className="text-bad">{fault}</span>}
      checked={isAsked}
      onChange={({ target }) => onChange({ telemetry: target.checked || undefined })}
    />
  );
}
