import type { Appearance } from './stripe.js';

/** Has the processor's form, which stands in a frame of its own, look like the page around it. */
export function appearanceOf(place: HTMLElement): Appearance {
  const colour = (token: string): string => computedColour(place, token);
  return {
    theme: getComputedStyle(place).colorScheme === 'dark' || isDark() ? 'night' : 'stripe',
    variables: {
      colorPrimary: colour('--accent'),
      colorBackground: colour('--surface'),
      colorText: colour('--ink'),
      colorTextSecondary: colour('--muted'),
      colorDanger: colour('--bad'),
      borderRadius: '6px',
      fontFamily: 'system-ui, sans-serif',
      fontSizeBase: '16px',
    },
  };
}

function isDark(): boolean {
  const { theme } = document.documentElement.dataset;
  return theme === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
}

/** The tokens choose between the themes; a frame elsewhere needs what they come to. */
function computedColour(place: HTMLElement, token: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${token})`;
  place.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
