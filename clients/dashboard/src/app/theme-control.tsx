import type { ReactNode } from 'react';
import { shellTexts } from '../texts/shell.js';
import { DeviceIcon, MoonIcon, SunIcon } from '../ui/frame-icons.js';
import { saveTheme, themes, useTheme, type Theme } from './theme.js';

const icons: Readonly<Record<Theme, ReactNode>> = {
  system: <DeviceIcon />,
  light: <SunIcon />,
  dark: <MoonIcon />,
};

/** Chooses between light, dark, and what the system says. */
export function ThemeControl({ name }: { readonly name: string }) {
  const chosen = useTheme();
  return (
    <fieldset className="inline-flex rounded-md border border-line p-0.5">
      <legend className="sr-only">{shellTexts.theme.label}</legend>
      {themes.map((theme) => (
        <label
          key={theme}
          title={shellTexts.theme[theme]}
          className="flex size-8 cursor-pointer items-center justify-center rounded text-muted hover:text-ink has-checked:bg-sunken has-checked:text-ink has-focus-visible:outline-2 has-focus-visible:outline-focus pointer-coarse:size-11"
        >
          <input
            type="radio"
            name={name}
            className="sr-only"
            checked={chosen === theme}
            onChange={() => saveTheme(theme)}
          />
          {icons[theme]}
          <span className="sr-only">{shellTexts.theme[theme]}</span>
        </label>
      ))}
    </fieldset>
  );
}
