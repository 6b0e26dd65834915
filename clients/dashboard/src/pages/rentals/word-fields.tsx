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

/** The same for texts that are kept elsewhere: each is told after a pause, and on leaving its field. */
export function KeptWordFields({ words, onChange, error }: WordFieldsProps) {
  return textWords.map((word) => (
    <KeptWordField
      key={word}
      word={word}
      error={error}
      kept={words[word] ?? ''}
      keep={(text) => onChange({ [word]: text.trim() })}
    />
  ));
}

interface KeptWordFieldProps extends Pick<WordFieldProps, 'word' | 'error'> {
  readonly kept: string;
  readonly keep: (text: string) => void;
}

function KeptWordField({ kept, keep, ...rest }: KeptWordFieldProps) {
  return <WordField {...rest} {...useTyped(kept, keep)} />;
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
