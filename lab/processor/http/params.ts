import { invalidRequest } from './errors.js';
import type { FormObject, FormValue } from './form.js';

/**
 * Reads a request's parameters with types. Each field that is read counts as known; `requireKnown` refuses the rest as
 * the processor does, so a handler reads every parameter of its endpoint before it branches.
 */
export class Params {
  readonly #fields: FormObject;
  readonly #prefix: string;
  readonly #read = new Set<string>();
  readonly #nested: Params[] = [];

  constructor(fields: FormObject, prefix = '') {
    this.#fields = fields;
    this.#prefix = prefix;
  }

  /** A text; undefined when missing or empty (an empty text unsets a field at the processor). */
  string(name: string, maxLength = 5000): string | undefined {
    const value = this.#take(name);
    if (value === undefined || value === '') return undefined;
    if (typeof value !== 'string') throw this.#invalid(name, 'must be a text, not a group of fields');
    if (value.length > maxLength) throw this.#invalid(name, `may have at most ${maxLength} characters`);
    return value;
  }

  stringOrNull(name: string, maxLength = 5000): string | null {
    return this.string(name, maxLength) ?? null;
  }

  requiredString(name: string): string {
    return this.string(name) ?? this.#missing(name);
  }

  integer(name: string, min: number, max: number): number | undefined {
    const text = this.string(name);
    if (text === undefined) return undefined;
    if (!/^-?\d{1,15}$/.test(text)) {
      throw this.#invalid(name, `must be an integer, not ${text}`, 'parameter_invalid_integer');
    }
    const value = Number(text);
    if (value < min) throw this.#invalid(name, `must be at least ${min}`, 'parameter_invalid_integer');
    if (value > max) throw this.#invalid(name, `must be at most ${max}`, 'parameter_invalid_integer');
    return value;
  }

  requiredInteger(name: string, min: number, max: number): number {
    return this.integer(name, min, max) ?? this.#missing(name);
  }

  boolean(name: string): boolean | undefined {
    const text = this.oneOf(name, ['true', 'false']);
    return text === undefined ? undefined : text === 'true';
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T | undefined {
    const text = this.string(name);
    if (text === undefined) return undefined;
    const found = allowed.find((candidate) => candidate === text);
    if (found === undefined) throw this.#invalid(name, `must be one of ${allowed.join(', ')}, not ${text}`);
    return found;
  }

  strings(name: string): string[] | undefined {
    const value = this.#take(name);
    if (value === undefined || value === '') return undefined;
    if (typeof value === 'string') throw this.#invalid(name, 'must be a list', 'parameter_invalid_array');
    return Object.values(value).map((item) => {
      if (typeof item !== 'string') throw this.#invalid(name, 'must be a list of texts');
      return item;
    });
  }

  /** At most 50 keys of 40 characters with values of 500 (docs.stripe.com/api/metadata); an empty value unsets its key. */
  metadata(name = 'metadata'): Record<string, string> {
    const value = this.#take(name);
    if (value === undefined || value === '') return {};
    if (typeof value === 'string') throw this.#invalid(name, 'must be a group of fields');
    const entries = Object.entries(value).map(([key, text]): [string, string] => {
      if (typeof text !== 'string') throw this.#invalid(`${name}[${key}]`, 'must be a text');
      if (key.length > 40 || text.length > 500) {
        throw this.#invalid(
          `${name}[${key}]`,
          'is longer than a 40-character key with a 500-character value',
        );
      }
      return [key, text];
    });
    if (entries.length > 50) throw this.#invalid(name, 'may have at most 50 keys');
    return Object.fromEntries(entries);
  }

  child(name: string): Params | undefined {
    const value = this.#take(name);
    if (value === undefined || value === '') return undefined;
    if (typeof value === 'string') throw this.#invalid(name, 'must be a group of fields');
    return this.#nest(value, this.#path(name));
  }

  children(name: string): Params[] | undefined {
    const value = this.#take(name);
    if (value === undefined || value === '') return undefined;
    if (typeof value === 'string') throw this.#invalid(name, 'must be a list', 'parameter_invalid_array');
    return Object.entries(value).map(([key, item]) => {
      if (typeof item === 'string') throw this.#invalid(`${name}[${key}]`, 'must be a group of fields');
      return this.#nest(item, `${this.#path(name)}[${key}]`);
    });
  }

  /** Tells whether the field was sent as a group: `created[gt]` rather than `created`. */
  isGroup(name: string): boolean {
    return typeof this.#fields[name] === 'object';
  }

  /** Refuses fields that no handler has read (code `parameter_unknown`). */
  requireKnown(): void {
    for (const name of Object.keys(this.#fields)) {
      if (this.#read.has(name)) continue;
      const param = this.#path(name);
      throw invalidRequest(`The lab's processor does not know the parameter ${param} here. Leave it out.`, {
        code: 'parameter_unknown',
        param,
      });
    }
    for (const nested of this.#nested) nested.requireKnown();
  }

  #take(name: string): FormValue | undefined {
    this.#read.add(name);
    return this.#fields[name];
  }

  #nest(fields: FormObject, prefix: string): Params {
    const nested = new Params(fields, prefix);
    this.#nested.push(nested);
    return nested;
  }

  #path(name: string): string {
    return this.#prefix === '' ? name : `${this.#prefix}[${name}]`;
  }

  #invalid(name: string, rule: string, code?: string): Error {
    const param = this.#path(name);
    return invalidRequest(`${param} ${rule}.`, { param, code });
  }

  #missing(name: string): never {
    const param = this.#path(name);
    throw invalidRequest(`Send the required parameter ${param}.`, { code: 'parameter_missing', param });
  }
}
