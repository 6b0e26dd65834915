import { Link } from '@tanstack/react-router';
import { useIsClosing } from '../data/is-closing.js';
import { shellTexts } from '../texts/shell.js';

/** Says on each page that the account is being closed, but on the one that it leads to. */
export function ClosingNote() {
  if (!useIsClosing()) return null;
  return (
    <p className="no-print mx-auto mb-5 max-w-6xl rounded-lg border border-warn/40 bg-warn-soft px-4 py-3 has-[[aria-current]]:hidden 3xl:max-w-[130rem]">
      {shellTexts.closing}{' '}
      <Link to="/app/account" className="font-medium underline">
        {shellTexts.closingLink}
      </Link>
    </p>
  );
}
