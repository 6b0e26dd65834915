import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { shellTexts } from '../texts/shell.js';
import { IconButton } from '../ui/button.js';
import { HomeIcon, MachineIcon, MoreIcon, RentIcon, SearchIcon, WalletIcon } from '../ui/frame-icons.js';
import { ConnectionNote } from './connection-note.js';
import { WalletLine } from './wallet-line.js';

const { pages } = shellTexts;

/** The bar above the pages of narrow screens: the money, and the way to anything by its name. */
export function PhoneTopBar({ onSearch }: { readonly onSearch: () => void }) {
  return (
    <header className="no-print sticky top-0 z-20 flex min-h-13 items-center gap-2 border-b border-line bg-surface pt-[env(safe-area-inset-top)] pr-2 pl-4 lg:hidden">
      <Link to="/app" className="font-semibold whitespace-nowrap">
        {shellTexts.product}
      </Link>
      <div className="min-w-0 flex-1 truncate text-right">
        <ConnectionNote />
      </div>
      <WalletLine className="min-h-11 items-center px-2" />
      <IconButton label={shellTexts.search} onClick={onSearch}>
        <SearchIcon className="size-5" />
      </IconButton>
    </header>
  );
}

const tabs = [
  { to: '/app', title: pages.home, icon: <HomeIcon className="size-5" /> },
  { to: '/app/rent', title: pages.rent, icon: <RentIcon className="size-5" /> },
  { to: '/app/rentals', title: pages.rentals, icon: <MachineIcon className="size-5" /> },
  { to: '/app/billing', title: pages.billing, icon: <WalletIcon className="size-5" /> },
] as const;

const tabClasses =
  'flex min-w-0 flex-1 flex-col items-center justify-center gap-0.5 text-[11px] text-muted aria-[current=page]:font-medium aria-[current=page]:text-accent';

/** The bar below the pages of narrow screens, within reach of a thumb. */
export function PhoneTabBar({ onMore }: { readonly onMore: () => void }) {
  return (
    <nav
      aria-label={shellTexts.navigation}
      className="no-print fixed inset-x-0 bottom-0 z-20 flex h-[calc(3.5rem+env(safe-area-inset-bottom))] border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] lg:hidden"
    >
      {tabs.map(({ to, title, icon }) => (
        <Link key={to} to={to} activeOptions={{ exact: to === '/app' }} className={tabClasses}>
          {icon}
          <TabTitle>{title}</TabTitle>
        </Link>
      ))}
      <button type="button" aria-haspopup="dialog" onClick={onMore} className={tabClasses}>
        <MoreIcon className="size-5" />
        <TabTitle>{shellTexts.more}</TabTitle>
      </button>
    </nav>
  );
}

function TabTitle({ children }: { readonly children: ReactNode }) {
  return <span className="max-w-full truncate px-1">{children}</span>;
}
