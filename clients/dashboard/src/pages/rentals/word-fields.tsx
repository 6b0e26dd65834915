import { fieldError } from '../../data/errors.js';
import { textWords, wordTexts, type TextWord } from '../../texts/words.js';
import { Field, Input, Textarea } from '../../ui/field.js';
import { useTyped } from '../../ui/use-typed.js';

/** What a renter may say in one text each. */
type TypedWords = Readonly<Partial<Record<TextWord, string>>>;

interface WordFieldsProps {
  readonly words: TypedWords;
  readonly onChange: (words: TypedWords) => void;
  /** What the service said of them. */
  readonly error: unknown;
}

/** The texts that a renter says about a rental, a field each. */
export function WordFields({ words, onChange, error }: WordFieldsProps) {
  return textWords.map((word) => (
    <WordField
      key={word}
      word={word}
      error={error}
      value={words[word] ?? ''}
      onChange={(event) => onChange({ ...words, [word]: event.target.value })}
    />
  ));
}

interface KeptNameProps {
  readonly name: string | undefined;
  readonly onChange: (words: { readonly name: string }) => void;
  readonly error: unknown;
}

/** The name where it is kept elsewhere: it is told after a pause, and on leaving its field. */
export function KeptName({ name = '', onChange, error }: KeptNameProps) {
  const typed = useTyped(name, (text) => onChange({ name: text.trim() }));
  return <WordField word="name" error={error} {...typed} />;
}

interface WordFieldProps extends Typed {
  readonly word: TextWord;
  readonly error: unknown;
}

type Typed = Pick<ReturnType<typeof useTyped>, 'value' | 'onChange'> &
  Partial<Pick<ReturnType<typeof useTyped>, 'onBlur'>>;

/** How each is typed. */
const controls: Readonly<Record<TextWord, { readonly maxLength: number; readonly rows?: number }>> = {
  name: { maxLength: 64 },
  notes: { maxLength: 500, rows: 3 },
};

function WordField({ word, error, ...typed }: WordFieldProps) {
  const { label, hint, placeholder } = wordTexts.fields[word];
  const { rows, maxLength } = controls[word];
  return (
    <Field label={label} hint={hint} error={fieldError(error, word)}>
      {(ids) =>
        rows === undefined ? (
          <Input {...ids} {...typed} maxLength={maxLength} placeholder={placeholder} autoComplete="off" />
        ) : (
          <Textarea {...ids} {...typed} maxLength={maxLength} rows={rows} />
        )
      }
    </Field>
  );
}
