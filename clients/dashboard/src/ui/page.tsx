import { useEffect, type ReactNode } from 'react';
import { shellTexts } from '../texts/shell.js';
import { classes } from './classes.js';

interface PageProps {
  /** Also the document's title. */
  readonly title: string;
  readonly lead?: ReactNode;
  /** What can be done here, at the right of the title. */
  readonly actions?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A page: its heading and what stands below. */
export function Page({ title, lead, actions, className, children }: PageProps) {
  useEffect(() => {
    document.title = shellTexts.documentTitle(title);
  }, [title]);
  return (
    <div className={classes('mx-auto flex w-full max-w-6xl flex-col gap-5 3xl:max-w-[130rem]', className)}>
      <header className="flex flex-wrap items-start justify-between gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1 basis-56">
          <h1
            tabIndex={-1}
            className="text-xl font-semibold tracking-tight break-words outline-none sm:text-2xl"
          >
            {title}
          </h1>
          {lead !== undefined && <p className="mt-1 max-w-prose text-muted">{lead}</p>}
        </div>
        {actions !== undefined && <div className="no-print flex flex-wrap gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}
