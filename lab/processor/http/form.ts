/**
 * Decodes the processor's request encoding: form fields whose keys nest by brackets, such as
 * `line_items[0][price_data][currency]=usd` and `expand[]=customer`.
 */
export type FormValue = string | FormObject;
/** Lists are objects too, keyed by their index, because only the reader knows whether it expects a list. */
export interface FormObject {
  [key: string]: FormValue;
}

/** Deeper than any documented parameter, and shallow enough that a hostile body can't exhaust the stack. */
const depthLimit = 10;
const fieldLimit = 1000;

/** Thrown for a body or query that is not a well-formed nested form. */
export class FormError extends Error {
  override readonly name = 'FormError';
}

/**
 * Decodes a form body or a query string.
 * @throws FormError when a key is malformed, too deep, contradicts another one, or there are too many
 */
export function decodeForm(text: string): FormObject {
  const root = emptyObject();
  let fields = 0;
  for (const [key, value] of new URLSearchParams(text)) {
    fields += 1;
    if (fields > fieldLimit) throw new FormError(`Send at most ${fieldLimit} fields in one request.`);
    assign(root, pathOf(key), value, key);
  }
  return root;
}

function emptyObject(): FormObject {
  // Without a prototype a key such as __proto__ is an ordinary key.
  return Object.create(null) as FormObject;
}

function pathOf(key: string): string[] {
  const match = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(key);
  if (match?.[1] === undefined) throw new FormError(`The field name ${key} is malformed: write a[b][c].`);
  const nested = (match[2] ?? '').slice(1, -1);
  const path = nested === '' && match[2] === '' ? [match[1]] : [match[1], ...nested.split('][')];
  if (path.length > depthLimit) throw new FormError(`The field name ${key} nests too deep.`);
  return path;
}

function assign(root: FormObject, path: readonly string[], value: string, key: string): void {
  let node = root;
  for (const [position, step] of path.entries()) {
    const name = step === '' ? String(Object.keys(node).length) : step;
    const present = node[name];
    if (position === path.length - 1) {
      if (typeof present === 'object')
        throw new FormError(`The field ${key} is sent as a value and a group.`);
      node[name] = value;
      return;
    }
    if (typeof present === 'string') throw new FormError(`The field ${key} is sent as a value and a group.`);
    const next = present ?? emptyObject();
    node[name] = next;
    node = next;
  }
}

/** A text that is equal for equal forms in any order of their fields, for comparing idempotent requests. */
export function canonicalForm(form: FormObject): string {
  const entries = Object.keys(form)
    .sort()
    .map((key) => {
      const value = form[key];
      return `${JSON.stringify(key)}:${typeof value === 'object' ? canonicalForm(value) : JSON.stringify(value)}`;
    });
  return `{${entries.join(',')}}`;
}
