import { CopyButton } from './copy-button.js';

interface SecretProps {
  /** What it is, above it. */
  readonly label: string;
  readonly text: string;
  readonly copyLabel: string;
  readonly onCopied?: () => void;
}

/** A text to be copied whole: a key, a command. Long lines break, so that nothing of it is hidden. */
export function Secret({ label, text, copyLabel, onCopied }: SecretProps) {
  return (
    <div className="min-w-0">
      <p className="text-[13px] font-medium text-soft">{label}</p>
      <div className="mt-1.5 flex items-start gap-1 rounded-md border border-line bg-sunken pl-3">
        <pre className="max-h-56 min-w-0 flex-1 overflow-y-auto py-2 font-mono text-[13px] wrap-anywhere whitespace-pre-wrap select-all">
          {text}
        </pre>
        <CopyButton text={text} label={copyLabel} {...(onCopied && { onCopied })} />
      </div>
    </div>
  );
}
