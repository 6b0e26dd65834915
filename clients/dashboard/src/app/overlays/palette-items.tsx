import type { Rental } from '@gpu-rental/client';
import type { ReactNode } from 'react';
import { shellTexts } from '../../texts/shell.js';
import { KeyIcon, MachineIcon, PlusIcon, RentIcon, SunIcon, WalletIcon } from '../../ui/icons.js';
import { navigation } from '../pages.js';
import { saveTheme, themes } from '../theme.js';

/** Something that the palette leads to, or does. */
export interface PaletteItem {
  readonly id: string;
  readonly title: string;
  readonly note?: string;
  readonly icon: ReactNode;
  /** Where it leads; or `act` does something here. */
  readonly to?: string;
  readonly act?: () => void;
}

export interface PaletteGroup {
  readonly title: string;
  readonly items: readonly PaletteItem[];
}

const { palette, themeAction } = shellTexts;
const RENTAL_ID = /^rent_\w+$/;
const MOST_MACHINES = 8;

/** What has all the words that were typed, by groups; everything but ended machines while nothing was. */
export function findItems(typed: string, rentals: readonly Rental[], onHelp: () => void): PaletteGroup[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const has = ({ title, note = '' }: PaletteItem): boolean =>
    words.every((word) => `${title} ${note}`.toLowerCase().includes(word));
  const machines = rentals.map(itemOfRental).filter(has).slice(0, MOST_MACHINES);
  const typedId = RENTAL_ID.exec(typed.trim())?.[0];
  if (typedId !== undefined && machines.length === 0) machines.push(itemOfId(typedId));
  return [
    { title: palette.groups.machines, items: machines },
    { title: palette.groups.actions, items: actions(onHelp).filter(has) },
    { title: palette.groups.pages, items: pages.filter(has) },
  ].filter(({ items }) => items.length > 0);
}

const pages: readonly PaletteItem[] = navigation.flatMap((group) =>
  group.pages.map(({ to, title, icon }) => ({ id: to, title, icon, to })),
);

function actions(onHelp: () => void): PaletteItem[] {
  return [
    { id: 'rent', title: palette.rent, icon: <RentIcon />, to: '/app/rent' },
    { id: 'add-money', title: palette.addMoney, icon: <WalletIcon />, to: '/app/billing' },
    { id: 'add-key', title: palette.addKey, icon: <KeyIcon />, to: '/app/keys' },
    ...themes.map((theme) => ({
      id: `theme-${theme}`,
      title: themeAction[theme],
      icon: <SunIcon />,
      act: () => saveTheme(theme),
    })),
    { id: 'shortcuts', title: palette.shortcuts, icon: <PlusIcon />, act: onHelp },
  ];
}

function itemOfRental({ id, name, model, gpuCount, status }: Rental): PaletteItem {
  const machine = `${gpuCount} × ${model}`;
  const note = name === null ? `${id} · ${status}` : `${machine} · ${id} · ${status}`;
  return { id, title: name ?? machine, note, icon: <MachineIcon />, to: `/app/rentals/${id}` };
}

function itemOfId(id: string): PaletteItem {
  return { id, title: palette.openRental(id), icon: <MachineIcon />, to: `/app/rentals/${id}` };
}
