import { heading, nameOf, pascal, type Schema } from './document.js';

/** Words that Python keeps for itself, and that fields are called. */
const KEYWORDS = new Set(['from', 'class', 'in', 'is', 'global', 'import', 'not', 'pass', 'with']);

/** Makes the types of all named schemas: answers stay dictionaries, as JSON brings them. */
export class TypeWriter {
  readonly #types: string[] = [];
  readonly #unions: string[] = [];

  /** @param refer how a named type is written: in quotes where it may come later in the file */
  constructor(private readonly refer = (name: string): string => `"${name}"`) {}

  /** @returns the text of types.py */
  write(schemas: Readonly<Record<string, Schema>>): string {
    for (const [name, schema] of Object.entries(schemas)) this.#add(name, schema);
    return [
      heading('The things of the API, by the names of its description. Money is whole cents of a US dollar.'),
      'from typing import Any, Dict, List, Literal, Optional, Union\n',
      'from typing_extensions import NotRequired, TypedDict\n',
      ...this.#types,
      ...this.#unions,
    ].join('\n');
  }

  #add(name: string, schema: Schema): void {
    if (schema.properties !== undefined) this.#addObject(name, schema);
    else this.#unions.push(`${name} = ${this.typeOf(schema, name)}`);
  }

  #addObject(name: string, { description, properties = {}, required = [] }: Schema): void {
    const fields = Object.entries(properties).map(([field, schema]): [string, string] => {
      const type = this.typeOf(schema, name + pascal(field));
      return [field, required.includes(field) ? type : `NotRequired[${type}]`];
    });
    const docs = description === undefined ? [] : [`    """${description}"""`];
    if (fields.some(([field]) => KEYWORDS.has(field) || !/^[A-Za-z_]\w*$/.test(field))) {
      // The other form of the same: this one takes any name.
      const lines = fields.map(([field, type]) => `        ${JSON.stringify(field)}: ${type},`);
      this.#types.push(
        [`\n${name} = TypedDict(`, `    "${name}",`, '    {', ...lines, '    },', ')'].join('\n'),
      );
      return;
    }
    const lines = fields.map(([field, type]) => `    ${field}: ${type}`);
    const body = [...docs, ...lines];
    this.#types.push([`\nclass ${name}(TypedDict):`, ...(body.length > 0 ? body : ['    pass'])].join('\n'));
  }

  /**
   * A schema as a type.
   * @param name what an object is called that has no name of its own
   */
  typeOf(schema: Schema, name: string): string {
    if (schema.$ref !== undefined) return this.refer(nameOf(schema.$ref));
    if (schema.const !== undefined) return literal([schema.const]);
    if (schema.enum !== undefined) return literal(schema.enum);
    const several = schema.anyOf ?? (schema.properties === undefined ? schema.oneOf : undefined);
    if (several !== undefined) return this.#union(several, name);
    if (typeof schema.type === 'object') {
      return this.#union(
        schema.type.map((type) => ({ ...schema, type })),
        name,
      );
    }
    return this.#plain(schema, name);
  }

  #union(several: readonly Schema[], name: string): string {
    const types = [
      ...new Set(several.filter(({ type }) => type !== 'null').map((one) => this.typeOf(one, name))),
    ];
    const [first = 'None', ...others] = types;
    const type = others.length === 0 ? first : `Union[${types.join(', ')}]`;
    return several.some((one) => one.type === 'null') ? `Optional[${type}]` : type;
  }

  #plain(schema: Schema, name: string): string {
    switch (schema.type) {
      case 'string':
        return schema.contentMediaType === undefined ? 'str' : 'bytes';
      case 'integer':
        return 'int';
      case 'number':
        return 'float';
      case 'boolean':
        return 'bool';
      case 'array':
        return `List[${this.typeOf(schema.items ?? {}, `${name}Item`)}]`;
      case 'object':
        return this.#object(schema, name);
      default:
        return 'Any';
    }
  }

  #object(schema: Schema, name: string): string {
    if (schema.properties !== undefined) {
      this.#addObject(name, schema);
      return this.refer(name);
    }
    const { additionalProperties: values } = schema;
    return `Dict[str, ${typeof values === 'object' ? this.typeOf(values, `${name}Value`) : 'Any'}]`;
  }
}

function literal(values: readonly unknown[]): string {
  const written = values.map((value) =>
    typeof value === 'boolean' ? pascal(String(value)) : JSON.stringify(value),
  );
  return `Literal[${written.join(', ')}]`;
}
