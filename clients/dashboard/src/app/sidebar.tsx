import { Link } from '@tanstack/react-router';
import { useSuspenseQuery } from '@tanstack/react-query';
import { meQuery } from '../data/account.js';
import { shellTexts } from '../texts/shell.js';
import { IconButton } from '../ui/button.js';
import { SearchIcon, SignOutIcon } from '../ui/frame-icons.js';
import { ConnectionNote } from './connection-note.js';
import { PageLinks } from './page-links.js';
import { useSignOut } from './sign-out.js';
import { ThemeControl } from './theme-control.js';
import { WalletLine } from './wallet-line.js';

/** The way to all pages, beside them on wide screens. */
export function Sidebar({ onSearch }: { readonly onSearch: () => void }) {
  return (
    <header className="no-print sticky top-0 hidden h-dvh w-60 shrink-0 flex-col border-r border-line bg-surface lg:flex">
      <div className="px-3 pt-4">
        <Link to="/app" className="block px-2 pb-2 text-base font-semibold">
          {shellTexts.product}
        </Link>
        <button
          type="button"
          onClick={onSearch}
          aria-keyshortcuts="Control+K Meta+K"
          className="flex h-9 w-full items-center gap-2.5 rounded-md border border-line bg-page px-2 text-muted hover:border-line-strong hover:text-ink"
        >
          <SearchIcon />
          <span className="flex-1 text-left">{shellTexts.search}</span>
          <kbd className="font-sans text-xs">{PALETTE_KEYS}</kbd>
        </button>
      </div>
      <nav aria-label={shellTexts.navigation} className="min-h-0 flex-1 overflow-y-auto px-3 pt-2 pb-2">
        <PageLinks />
      </nav>
      <div className="flex flex-col gap-1 border-t border-line p-3">
        <WalletLine isWide className="px-2 py-1" />
        <div className="px-2">
          <ConnectionNote />
        </div>
        <Account />
      </div>
    </header>
  );
}

/** How the palette is opened here. */
const PALETTE_KEYS = navigator.userAgent.includes('Mac') ? '⌘K' : 'Ctrl K';

function Account() {
  const { data } = useSuspenseQuery(meQuery);
  const { signOut, isBusy } = useSignOut();
  const { email } = data.user;
  return (
    <>
      <p className="truncate px-2 text-[13px] text-muted" title={shellTexts.signedInAs(email)}>
        {email}
      </p>
      <div className="flex items-center justify-between px-1 pt-1">
        <ThemeControl name="sidebar-theme" />
        <IconButton label={shellTexts.signOut} isBusy={isBusy} onClick={signOut}>
          <SignOutIcon />
        </IconButton>
      </div>
    </>
  );
}
