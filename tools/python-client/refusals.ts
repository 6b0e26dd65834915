import { heading, nameOf, type ApiDocument, type Schema } from './document.js';

/** @returns the text of refusals.py: a class for each code that the API may refuse a request with */
export function writeRefusals({ components: { schemas } }: ApiDocument): string {
  const refusals = (schemas['ApiError']?.oneOf ?? [])
    .map(({ $ref = '' }) => nameOf($ref))
    .map((name) => ({ name, schema: schemas[name] ?? {} }))
    .filter(({ schema }) => schema.properties?.['error']?.const !== undefined);
  return [
    heading('What the API refuses: a class for each code, with what its details hold.'),
    'from __future__ import annotations\n',
    'from typing import TYPE_CHECKING, Dict, Optional, Type\n',
    'from .errors import ApiError\n',
    'if TYPE_CHECKING:',
    '    from . import types\n',
    ...refusals.map(({ name, schema }) => writeRefusal(name, schema)),
    '\nBY_CODE: Dict[str, Type[ApiError]] = {',
    ...refusals.map(({ name, schema }) => `    "${codeOf(schema)}": ${name},`),
    '}\n',
  ].join('\n');
}

const codeOf = ({ properties }: Schema): string => String(properties?.['error']?.const);

function writeRefusal(name: string, { properties = {}, required = [] }: Schema): string {
  const { details } = properties;
  const docs = `\nclass ${name}(ApiError):\n    """${codeOf({ properties })}"""\n`;
  if (details?.$ref === undefined) return docs;
  const type = `types.${nameOf(details.$ref)}`;
  return `${docs}\n    details: ${required.includes('details') ? type : `Optional[${type}]`}\n`;
}
