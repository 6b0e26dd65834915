import { createElement, type ReactNode } from 'react';

/**
 * Where texts stand in the document, so that a browser that translates leaves it usable. A translator puts each text
 * node into elements of its own. React then holds a node that is not where it put it: nobody sees what becomes of it,
 * and nothing can be placed beside it. So each text node is the only child of an element: React replaces all that such
 * an element holds, whatever that is by then. What belongs to no language is marked.
 */

export interface Props {
  readonly children?: ReactNode;
  readonly translate?: 'yes' | 'no' | undefined;
  readonly className?: string | undefined;
}

/** They hold a text and no elements. */
const PLAIN: ReadonlySet<unknown> = new Set(['option', 'script', 'style', 'textarea', 'title']);
/** They hold what is to be copied or typed, as everything does that is set in the type of code. */
const VERBATIM: ReadonlySet<unknown> = new Set(['code', 'kbd', 'pre', 'samp']);
const CODE_TYPE = /\bfont-mono\b/;

const digits = String.raw`\p{Nd}(?:[\p{Nd}.,'’٫٬\u00a0\u202f]*\p{Nd})?`;
/** Amounts in the way of any locale, ids, fingerprints. */
const literal = new RegExp(
  String.raw`([+\-−]?(?:\$[\u00a0\u202f]?${digits}|${digits}[\u00a0\u202f]?\$)|\b[a-z]{2,5}_[0-9A-Za-z]{8,}\b|\bSHA256:\S+)`,
  'u',
);

/** The properties of an element, with its children as they go into the document. */
export function placed(type: unknown, props: Props): Props {
  const { children } = props;
  if (PLAIN.has(type)) return withChildren(props, Array.isArray(children) ? joined(children) : children);
  if (typeof type === 'string') return inHost(type, props);
  // A fragment puts a text beside whatever stands around the fragment.
  const placedChildren = settled(children, isTransparent(type));
  // A component of this house puts it into an element that comes by here again, one of a library does not.
  const isForeign =
    typeof type === 'object' && typeof placedChildren === 'string' && literal.test(placedChildren);
  return withChildren(props, isForeign ? element(placedChildren, 0) : placedChildren);
}

function isKept(type: string, { translate, className }: Props, children: ReactNode): boolean {
  if (translate === 'no') return true;
  if (typeof children === 'string' && literal.exec(children)?.[0] === children) return true;
  return translate === undefined && (VERBATIM.has(type) || CODE_TYPE.test(className ?? ''));
}

function inHost(type: string, props: Props): Props {
  const children = settled(props.children);
  if (isKept(type, props, children)) {
    const className = props.className === undefined ? 'notranslate' : `${props.className} notranslate`;
    return { ...props, className, translate: 'no', children };
  }
  if (typeof children !== 'string') return withChildren(props, children);
  const parts = partsOf(children);
  return withChildren(props, parts.length === 1 ? children : createElement('span', undefined, ...parts));
}

const withChildren = (props: Props, children: ReactNode): Props =>
  children === props.children ? props : { ...props, children };

/** @param isBeside something else may stand beside the children, so that a text can't be left alone */
function settled(children: ReactNode, isBeside = false): ReactNode {
  const text = Array.isArray(children) ? joined(children) : asText(children);
  if (text !== undefined) return isBeside ? element(text, 0) : text;
  return Array.isArray(children) ? beside(children) : children;
}

/** Each row of texts in an element of its own. All others keep their places, by which React knows them. */
function beside(children: readonly ReactNode[]): ReactNode[] {
  const result: ReactNode[] = [];
  let row: number | undefined;
  for (const child of children) {
    const text = Array.isArray(child) ? joined(child) : asText(child);
    if (text === undefined) {
      result.push(Array.isArray(child) ? beside(child) : child);
      if (!isEmpty(child)) row = undefined;
    } else if (row === undefined) {
      row = result.push(text) - 1;
    } else {
      result[row] = `${result[row] as string}${text}`;
      result.push(null);
    }
  }
  return result.map((child, place) =>
    typeof child === 'string' && child !== '' ? element(child, place) : child,
  );
}

function element(text: string, place: number): ReactNode {
  const key = `text ${place}`;
  const parts = partsOf(text);
  return parts.length === 1
    ? createElement('span', { key, ...inHost('span', { children: text }) })
    : createElement('span', { key }, ...parts);
}

/** A text cut where something in it belongs to no language; each part is an element. */
function partsOf(text: string): ReactNode[] {
  const parts = text.split(literal).filter((part) => part !== '');
  return parts.length === 1
    ? parts
    : parts.map((part) => createElement('span', inHost('span', { children: part })));
}

/** The one text that children are; undefined where they hold anything else, or nothing. */
function joined(children: readonly ReactNode[]): string | undefined {
  let all: string | undefined;
  for (const child of children) {
    if (isEmpty(child)) continue;
    const text = Array.isArray(child) ? joined(child) : asText(child);
    if (text === undefined) return undefined;
    all = `${all ?? ''}${text}`;
  }
  return all;
}

function asText(child: ReactNode): string | undefined {
  if (typeof child === 'string') return child === '' ? undefined : child;
  return typeof child === 'number' || typeof child === 'bigint' ? child.toString() : undefined;
}

const isEmpty = (child: ReactNode): boolean =>
  child === null || child === undefined || typeof child === 'boolean' || child === '';

/** Fragments, boundaries and providers of contexts leave no element of their own. */
function isTransparent(type: unknown): boolean {
  if (typeof type === 'symbol') return true;
  const kind = typeof type === 'object' && type !== null && '$$typeof' in type ? type.$$typeof : undefined;
  return kind === Symbol.for('react.context');
}
