import { isApiError } from '@gpu-rental/client';
import { useState } from 'react';
import { useFreshProof } from '../../app/fresh-proof.js';
import { fieldError } from '../../data/errors.js';
import { commentOf, isPrivateKey } from '../../data/key-text.js';
import { useAddKey } from '../../data/keys.js';
import { keyTexts as t } from '../../texts/keys.js';
import { Callout } from '../../ui/badge.js';
import { Field, Input, Textarea } from '../../ui/field.js';
import { FormDialog } from '../../ui/form-dialog.js';
import { Segmented } from '../../ui/segmented.js';
import { ErrorNote } from '../../ui/states.js';
import { MadeKeyDialog } from './made-key-dialog.js';

/** Adds a key: its public half is pasted, or the service makes a pair. */
export function AddKeyDialog({ onClose }: { readonly onClose: () => void }) {
  const [way, setWay] = useState<'paste' | 'generate'>('paste');
  const [name, setName] = useState('');
  const [publicKey, setPublicKey] = useState('');
  const { run, dialog } = useFreshProof();
  const add = useAddKey(run);
  const made = add.data?.privateKey;
  if (made !== undefined) return <MadeKeyDialog name={name} privateKey={made} onClose={onClose} />;
  const submit = (): void => {
    add.mutate(way === 'paste' ? { name, publicKey } : { name, generate: true }, {
      onSuccess: ({ privateKey }) => privateKey === undefined && onClose(),
    });
  };
  const faults = faultsOf(add.error);
  return (
    <FormDialog
      onClose={onClose}
      title={t.add}
      submit={way === 'paste' ? t.save : t.make}
      onSubmit={submit}
      isBusy={add.isPending}
      beside={dialog}
    >
      <Segmented
        label={t.how}
        value={way}
        options={[
          { value: 'paste', label: t.paste },
          { value: 'generate', label: t.generate },
        ]}
        onChange={(chosen) => {
          setWay(chosen);
          add.reset();
        }}
      />
      {way === 'paste' ? (
        <PublicKeyField
          value={publicKey}
          error={faults.publicKey}
          onChange={(text) => {
            setPublicKey(text);
            // A name is found in most keys: nobody types it twice.
            const comment = commentOf(text);
            if (name === '' && comment !== undefined) setName(comment);
          }}
        />
      ) : (
        <p className="text-muted">{t.generateText}</p>
      )}
      <Field label={t.name} hint={t.nameHint} error={faults.name}>
        {(ids) => (
          <Input
            {...ids}
            name="name"
            required
            maxLength={64}
            autoComplete="off"
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        )}
      </Field>
      <Failure error={add.error} isShown={faults.publicKey === undefined && faults.name === undefined} />
    </FormDialog>
  );
}

function Failure({ error, isShown }: { readonly error: unknown; readonly isShown: boolean }) {
  if (error === null || !isShown) return null;
  if (isApiError(error, 'too_many_keys')) {
    return <Callout role="alert" tone="bad" title={t.tooMany(error.details.maxKeys)} />;
  }
  return <ErrorNote error={error} />;
}

/** What the service refused, at the fields that it is about. */
function faultsOf(error: unknown): {
  readonly name: string | undefined;
  readonly publicKey: string | undefined;
} {
  const isAboutKey = isApiError(error, 'weak_key') || isApiError(error, 'duplicate_key');
  return {
    name: fieldError(error, 'name'),
    publicKey: isAboutKey ? error.message : fieldError(error, 'publicKey'),
  };
}

interface PublicKeyFieldProps {
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (text: string) => void;
}

/** A private key that is put in is taken out again at once, before anything could send it. */
function PublicKeyField({ value, error, onChange }: PublicKeyFieldProps) {
  const [wasPrivate, setWasPrivate] = useState(false);
  return (
    <>
      <Field label={t.publicKey} hint={t.publicKeyHint} error={error}>
        {(ids) => (
          <Textarea
            {...ids}
            name="publicKey"
            required
            rows={4}
            spellCheck={false}
            autoComplete="off"
            autoCapitalize="off"
            placeholder={t.publicKeyExample}
            data-autofocus
            value={value}
            onChange={({ target }) => {
              const isPrivate = isPrivateKey(target.value);
              setWasPrivate(isPrivate);
              onChange(isPrivate ? '' : target.value);
            }}
            className="break-all"
          />
        )}
      </Field>
      {wasPrivate && (
        <Callout role="alert" tone="bad" title={t.privateTitle}>
          {t.privateText}
        </Callout>
      )}
    </>
  );
}
