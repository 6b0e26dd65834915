import type { ReactNode } from 'react';
import { shellTexts } from '../texts/shell.js';
import {
  AccountIcon,
  ActivityIcon,
  BellIcon,
  BudgetIcon,
  CodeIcon,
  DeviceIcon,
  HomeIcon,
  HookIcon,
  InvoiceIcon,
  KeyIcon,
  LedgerIcon,
  MachineIcon,
  RentIcon,
  StatementIcon,
  WalletIcon,
} from '../ui/frame-icons.js';

/** A page of the navigation and of the command palette. */
export interface NavigationPage {
  readonly to:
    | '/app'
    | '/app/rent'
    | '/app/rentals'
    | '/app/billing'
    | '/app/ledger'
    | '/app/statements'
    | '/app/invoices'
    | '/app/budget'
    | '/app/keys'
    | '/app/api-keys'
    | '/app/webhooks'
    | '/app/sessions'
    | '/app/notices'
    | '/app/activity'
    | '/app/account';
  readonly title: string;
  readonly icon: ReactNode;
}

export interface NavigationGroup {
  readonly title: string;
  readonly pages: readonly NavigationPage[];
}

const { pages, groups } = shellTexts;

/** All pages that have no id in their address, as the navigation groups them. */
export const navigation: readonly NavigationGroup[] = [
  {
    title: groups.machines,
    pages: [
      { to: '/app', title: pages.home, icon: <HomeIcon /> },
      { to: '/app/rent', title: pages.rent, icon: <RentIcon /> },
      { to: '/app/rentals', title: pages.rentals, icon: <MachineIcon /> },
    ],
  },
  {
    title: groups.money,
    pages: [
      { to: '/app/billing', title: pages.billing, icon: <WalletIcon /> },
      { to: '/app/ledger', title: pages.ledger, icon: <LedgerIcon /> },
      { to: '/app/statements', title: pages.statements, icon: <StatementIcon /> },
      { to: '/app/invoices', title: pages.invoices, icon: <InvoiceIcon /> },
      { to: '/app/budget', title: pages.budget, icon: <BudgetIcon /> },
    ],
  },
  {
    title: groups.account,
    pages: [
      { to: '/app/keys', title: pages.keys, icon: <KeyIcon /> },
      { to: '/app/api-keys', title: pages.apiKeys, icon: <CodeIcon /> },
      { to: '/app/webhooks', title: pages.webhooks, icon: <HookIcon /> },
      { to: '/app/sessions', title: pages.sessions, icon: <DeviceIcon /> },
      { to: '/app/notices', title: pages.notices, icon: <BellIcon /> },
      { to: '/app/activity', title: pages.activity, icon: <ActivityIcon /> },
      { to: '/app/account', title: pages.account, icon: <AccountIcon /> },
    ],
  },
];
