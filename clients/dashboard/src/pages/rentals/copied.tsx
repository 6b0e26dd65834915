import { CopyButton } from '../../ui/copy-button.js';

interface CopiedProps {
  readonly label: string;
  readonly copy: string;
  readonly text: string;
}

/** A text that is copied whole, under its label. */
export function Copied({ label, copy, text }: CopiedProps) {
  return (
    <div>
      <p className="text-[13px] text-muted">{label}</p>
      <div className="mt-1 flex items-center justify-between gap-2 rounded-md border border-line bg-sunken py-1 pr-1 pl-3">
        <code className="min-w-0 font-mono text-[13px] break-all whitespace-pre-wrap">{text}</code>
        <CopyButton text={text} label={copy} />
      </div>
    </div>
  );
}
