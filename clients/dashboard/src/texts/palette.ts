import { plural, texts } from './texts.js';

/** The command palette, and the list of keys. */
export const paletteTexts = texts({
  palette: {
    title: 'Go to',
    placeholder: 'A page, a machine, an action',
    results: 'Results',
    none: 'No results.',
    count: (count: number) => plural(count, { one: '1 result', other: `${count} results` }),
    groups: { pages: 'Pages', machines: 'Machines', actions: 'Actions' },
    openRental: (id: string) => `Open ${id}`,
    rent: 'Rent a machine',
    rentFamily: (family: string) => `Rent ${family}`,
    rentFrom: (perHour: string) => `from ${perHour}/h`,
    stop: (machine: string) => `Stop ${machine}`,
    addMoney: 'Add money',
    addKey: 'Add an SSH key',
    shortcuts: 'Keyboard shortcuts',
  },
  /** What people call a page that has another name. */
  alsoCalled: {
    '/app/rentals': 'machines instances history',
    '/app/billing': 'top up payment card automatic wallet balance receipt',
    '/app/ledger': 'spending spent cost charges week',
    '/app/statements': 'month accountant export',
    '/app/budget': 'spending limit alert',
    '/app/api-keys': 'token agent cap',
    '/app/sessions': 'devices passkeys sign out',
    '/app/account': 'close delete erase leave privacy',
  },
  themeAction: { system: 'Theme: system', light: 'Theme: light', dark: 'Theme: dark' },
  shortcuts: {
    title: 'Keyboard shortcuts',
    then: 'then',
    palette: 'Go to a page, a machine or an action',
    help: 'This list',
    page: (page: string) => `Open ${page}`,
  },
});
