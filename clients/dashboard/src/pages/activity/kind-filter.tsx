import { Field, Select } from '../../ui/field.js';

interface KindFilterProps {
  readonly label: string;
  /** What stands for all of them. */
  readonly all: string;
  readonly value: string | undefined;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly onChange: (value: string) => void;
}

/** Chooses one kind of lines, or all. */
export function KindFilter({ label, all, value = '', options, onChange }: KindFilterProps) {
  return (
    <Field label={label} className="sm:w-80">
      {(ids) => (
        <Select {...ids} value={value} onChange={({ target }) => onChange(target.value)}>
          <option value="">{all}</option>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}
