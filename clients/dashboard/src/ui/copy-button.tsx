import { useEffect, useState } from 'react';
import { copyTexts } from '../texts/copy.js';
import { IconButton } from './button.js';
import { copyText } from './copy-text.js';
import { CheckIcon, CopyIcon, WarningIcon } from './icons.js';

interface CopyButtonProps {
  readonly text: string;
  readonly label: string;
  readonly onCopied?: () => void;
}

/** How long the button says what became of it. */
const TOLD_MS = 2_000;

/** Copies a text, and says that it did, or that the browser did not let it. */
export function CopyButton({ text, label, onCopied }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<'copied' | 'refused'>();
  useEffect(() => {
    if (outcome === undefined) return undefined;
    const timer = setTimeout(() => setOutcome(undefined), TOLD_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async (): Promise<void> => {
    try {
      // Refused where its user forbids it.
      await copyText(text);
    } catch {
      setOutcome('refused');
      return;
    }
    setOutcome('copied');
    onCopied?.();
  };
  return (
    <>
      <IconButton label={label} onClick={copy}>
        {outcome === undefined && <CopyIcon />}
        {outcome === 'copied' && <CheckIcon className="size-4 text-good" />}
        {outcome === 'refused' && <WarningIcon className="size-4 text-warn" />}
      </IconButton>
      <span role="status" className="sr-only">
        {outcome === undefined ? '' : outcome === 'copied' ? copyTexts.copied : copyTexts.notCopied}
      </span>
    </>
  );
}
