import { isApiError } from '@gpu-rental/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useFreshProof } from '../../../app/fresh-proof.js';
import { fieldError } from '../../../data/errors.js';
import { useAddKey } from '../../../data/add-key.js';
import { commentOf, isPrivateKey } from '../../../data/key-text.js';
import { makesKeysQuery } from '../../../data/openssh-key.js';
import { keyTexts as t } from '../../../texts/keys.js';
import { Callout } from '../../../ui/badge.js';
import { Field, Textarea } from '../../../ui/field.js';
import { FormDialog } from '../../../ui/form-dialog.js';
import { NameField } from '../../../ui/name-field.js';
import { Segmented } from '../../../ui/segmented.js';
import { ErrorNote, Skeleton } from '../../../ui/states.js';
import { MadeKeyDialog } from './made-key-dialog.js';

interface AddKeyDialogProps {
  readonly onClose: () => void;
  /** Is told the name of a key that was added. */
  readonly onAdded?: (name: string) => void;
}

/** Adds a key: its public half is pasted, or a pair is made. */
export function AddKeyDialog({ onClose, onAdded }: AddKeyDialogProps) {
  const [way, setWay] = useState<'paste' | 'generate'>('paste');
  const [name, setName] = useState('');
  const [publicKey, setPublicKey] = useState('');
  const { run, dialog } = useFreshProof();
  const add = useAddKey(run);
  const finish = (): void => {
    onAdded?.(name);
    onClose();
  };
  if (add.data?.privateKey !== undefined) return <MadeKeyDialog made={add.data} onClose={finish} />;
  const submit = (): void => {
    add.mutate(way === 'paste' ? { name, publicKey } : { name, generate: true }, {
      onSuccess: ({ privateKey }) => privateKey === undefined && finish(),
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
        isDisabled={add.isPending}
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
        <PairText />
      )}
      <NameField label={t.name} hint={t.nameHint} value={name} error={faults.name} onChange={setName} />
      <Failure error={add.error} isShown={faults.publicKey === undefined && faults.name === undefined} />
    </FormDialog>
  );
}

/** Where a pair is made: by this browser if it can. */
function PairText() {
  const { data: isMadeHere } = useQuery(makesKeysQuery);
  if (isMadeHere === undefined) return <Skeleton className="h-10 w-full" />;
  return <p className="text-muted">{isMadeHere ? t.generateHere : t.generateText}</p>;
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
