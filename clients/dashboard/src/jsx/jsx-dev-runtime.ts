import type { ElementType, Key, ReactElement } from 'react';
import * as react from 'react/jsx-dev-runtime';
import { placed, type Props } from './texts.js';

/** The same as jsx-runtime.ts for React's development version. */
export { Fragment, type JSX } from 'react/jsx-dev-runtime';

export function jsxDEV(
  type: ElementType,
  props: Props,
  key: Key | undefined,
  isStatic: boolean,
  ...where: [source?: react.JSXSource, self?: unknown]
): ReactElement {
  const next = placed(type, props);
  return react.jsxDEV(type, next, key, isStatic && Array.isArray(next.children), ...where);
}
