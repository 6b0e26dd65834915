import type { ElementType, Key, ReactElement } from 'react';
import * as react from 'react/jsx-runtime';
import { placed, type Props } from './texts.js';

/** React's own, with texts placed as src/jsx/texts.ts says. All JSX of the dashboard is compiled to it. */
export { Fragment, type JSX } from 'react/jsx-runtime';

export function jsx(type: ElementType, props: Props, key?: Key): ReactElement {
  return react.jsx(type, placed(type, props), key);
}

/** The same for children that the source names one by one. */
export function jsxs(type: ElementType, props: Props, key?: Key): ReactElement {
  const next = placed(type, props);
  return Array.isArray(next.children) ? react.jsxs(type, next, key) : react.jsx(type, next, key);
}
