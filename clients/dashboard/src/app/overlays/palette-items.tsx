import type { Family, Rental } from '@gpu-rental/client';
import type { ReactNode } from 'react';
import { familyName } from '../../format/machine.js';
import { money } from '../../format/money.js';
import { rentalTitle } from '../../pages/rentals/matching.js';
import { paletteTexts } from '../../texts/palette.js';
import { rentalTexts } from '../../texts/rentals.js';
import { KeyIcon, MachineIcon, PlusIcon, RentIcon, StopIcon, SunIcon, WalletIcon } from '../../ui/icons.js';
import { navigation, type NavigationPage } from '../pages.js';
import { saveTheme, themes } from '../theme.js';

/** Something that the palette leads to, or does. */
export interface PaletteItem {
  readonly id: string;
  readonly title: string;
  readonly note?: string;
  readonly icon: ReactNode;
  /** What it is found by as well, and does not show. */
  readonly alsoCalled?: string | undefined;
  /** Where it leads; or `act` does something here. */
  readonly to?: string;
  readonly act?: () => void;
}

export interface PaletteGroup {
  readonly title: string;
  readonly items: readonly PaletteItem[];
}

/** What the service told, as far as it is there. */
export interface PaletteFacts {
  readonly rentals: readonly Rental[];
  readonly live: readonly Rental[];
  readonly families: readonly Family[];
}

export interface PaletteActs {
  readonly onHelp: () => void;
  /** Asks whether a machine is to be stopped. */
  readonly onStop: (rental: Rental) => void;
}

const { palette, themeAction } = paletteTexts;
const otherNames: Partial<Record<NavigationPage['to'], string>> = paletteTexts.alsoCalled;
const RENTAL_ID = /^rent_\w+$/;
/** Of machines, and of acts for each machine or family: more words leave fewer. */
const MOST = 8;

/** What has all the words that were typed, by groups; what there is many of only then. */
export function findItems(typed: string, facts: PaletteFacts, acts: PaletteActs): PaletteGroup[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const has = ({ title, note = '', alsoCalled: other = '' }: PaletteItem): boolean =>
    words.every((word) => `${title} ${note} ${other}`.toLowerCase().includes(word));
  const machines = facts.rentals.map(itemOfRental).filter(has).slice(0, MOST);
  const typedId = RENTAL_ID.exec(typed.trim())?.[0];
  if (typedId !== undefined && machines.length === 0) machines.push(itemOfId(typedId));
  const many = words.length === 0 ? [] : [...stops(facts.live, acts), ...rents(facts.families)];
  const ofMachines = { title: palette.groups.machines, items: machines };
  const others = [
    {
      title: palette.groups.actions,
      items: [...many.filter(has).slice(0, MOST), ...actions(acts).filter(has)],
    },
    { title: palette.groups.pages, items: pages.filter(has) },
  ];
  // Before anything is typed the machines may still be on their way, and nothing may move when they come.
  const groups = words.length === 0 ? [...others, ofMachines] : [ofMachines, ...others];
  return groups.filter(({ items }) => items.length > 0);
}

const pages: readonly PaletteItem[] = navigation.flatMap((group) =>
  group.pages.map(({ to, title, icon }) => ({ id: to, title, icon, to, alsoCalled: otherNames[to] })),
);

function actions({ onHelp }: PaletteActs): PaletteItem[] {
  return [
    { id: 'rent', title: palette.rent, icon: <RentIcon />, to: '/app/rent' },
    { id: 'add-money', title: palette.addMoney, icon: <WalletIcon />, to: '/app/billing#amount' },
    { id: 'add-key', title: palette.addKey, icon: <KeyIcon />, to: '/app/keys?add=true' },
    ...themes.map((theme) => ({
      id: `theme-${theme}`,
      title: themeAction[theme],
      icon: <SunIcon />,
      act: () => saveTheme(theme),
    })),
    { id: 'shortcuts', title: palette.shortcuts, icon: <PlusIcon />, act: onHelp },
  ];
}

/** Each machine that can be stopped; it is asked for before it is done. */
function stops(live: readonly Rental[], { onStop }: PaletteActs): PaletteItem[] {
  return live
    .filter(({ status }) => status !== 'stopping')
    .map((rental) => ({
      id: `stop-${rental.id}`,
      title: palette.stop(rentalTitle(rental)),
      note: rental.id,
      icon: <StopIcon />,
      act: () => onStop(rental),
    }));
}

/** Each family that can be had now: its form shows the price before anything is rented. */
function rents(families: readonly Family[]): PaletteItem[] {
  return families.flatMap(({ family, fromPricePerHourCents: cents }) =>
    cents === null
      ? []
      : [
          {
            id: `rent-${family}`,
            title: palette.rentFamily(familyName(family)),
            note: palette.rentFrom(money(cents)),
            icon: <RentIcon />,
            to: `/app/rent/${encodeURIComponent(family)}`,
          },
        ],
  );
}

function itemOfRental(rental: Rental): PaletteItem {
  const { id, name, status } = rental;
  const machine = name === null ? [] : [rentalTitle({ ...rental, name: null })];
  const note = [...machine, id, rentalTexts.status[status]].join(rentalTexts.separator);
  return { id, title: rentalTitle(rental), note, icon: <MachineIcon />, to: `/app/rentals/${id}` };
}

function itemOfId(id: string): PaletteItem {
  return { id, title: palette.openRental(id), icon: <MachineIcon />, to: `/app/rentals/${id}` };
}
