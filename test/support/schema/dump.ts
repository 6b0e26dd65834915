import type { Client } from 'pg';
import { readCatalog, type Catalog, type Relation, type Routine } from './catalog.js';
import { privilegesOf, type Grant } from './grants.js';

const head = `-- The schema as all migrations leave it, for review: each change of it shows here as SQL. Written by
-- \`npm run schema\`, never by hand; rows that migrations insert are not in it. It runs on an empty database of a server
-- that has the roles of migrations/014-roles.ts.

SET check_function_bodies = false;`;

/**
 * Describes a database's schema as SQL that makes the same schema in an empty database: types and shared functions,
 * then the relations in the order of their creation, each with all that belongs to it. (The server that npm brings has
 * no pg_dump.)
 * @throws Error naming the parts of the schema that this dump cannot describe, such as a policy
 */
export async function dumpSchema(client: Client): Promise<string> {
  const catalog = await readCatalog(client);
  const owned = new Map(catalog.relations.map((relation) => [relation.name, routinesOf(catalog, relation)]));
  const shared = catalog.routines.filter(
    (routine) => ![...owned.values()].some((own) => own.includes(routine)),
  );
  const sections = [
    head,
    section(
      'types',
      catalog.enums.map(({ name, labels }) => `CREATE TYPE ${name} AS ENUM (\n${lines(labels)}\n);`),
    ),
    section('functions', shared.map(describeRoutine)),
    ...catalog.relations.map((relation) =>
      describeRelation(catalog, relation, owned.get(relation.name) ?? []),
    ),
  ];
  return `${sections.join('\n\n')}\n`;
}

/** The title of a part of the dump, as differences name it. */
export const titleOf = /^-- ==== (.+)$/;

function section(title: string, statements: readonly string[]): string {
  return [`-- ==== ${title}`, ...statements].join('\n\n');
}

/** The functions that only this relation's triggers call. */
function routinesOf({ routines, triggers }: Catalog, { name }: Relation): Routine[] {
  return routines.filter((routine) => {
    const callers = triggers.filter((trigger) => trigger.routine === routine.signature);
    return callers.length > 0 && callers.every(({ relation }) => relation === name);
  });
}

function describeRelation(catalog: Catalog, relation: Relation, routines: readonly Routine[]): string {
  const { name } = relation;
  const statements = [
    ...(relation.view === null ? describeTable(catalog, relation) : [describeView(relation, relation.view)]),
    ...catalog.indexes.filter((index) => index.relation === name).map(({ definition }) => `${definition};`),
    ...later(catalog, relation),
    ...routines.map(describeRoutine),
    ...catalog.triggers
      .filter((trigger) => trigger.relation === name)
      .map(({ definition }) => `${definition};`),
    describeGrants(
      name,
      catalog.grants.filter((grant) => grant.relation === name),
    ),
  ];
  return section(
    `${relation.view === null ? 'table' : 'view'} ${name}`,
    statements.filter((statement) => statement !== ''),
  );
}

function describeTable(catalog: Catalog, { name, position, options }: Relation): string[] {
  const columns = catalog.columns.filter((column) => column.relation === name);
  const constraints = catalog.constraints.filter(
    (constraint) => constraint.relation === name && (constraint.target ?? 0) <= position,
  );
  const sequences = catalog.sequences.filter((sequence) => sequence.relation === name);
  const storage = options === null ? '' : ` WITH (${options})`;
  const definitions = [
    ...columns.map(({ column, definition }) => `${column} ${definition}`),
    ...constraints.map((constraint) => `CONSTRAINT ${constraint.name} ${constraint.definition}`),
  ];
  return [
    ...sequences.map((sequence) => `CREATE SEQUENCE ${sequence.name} AS ${sequence.type};`),
    `CREATE TABLE ${name} (\n${lines(definitions)}\n)${storage};`,
    ...sequences.map((sequence) => `ALTER SEQUENCE ${sequence.name} OWNED BY ${name}.${sequence.column};`),
  ];
}

/** Foreign keys from an older table to this one. The older table was made without them. */
function later({ constraints }: Catalog, { position }: Relation): string[] {
  return constraints
    .filter(({ target, relationPosition }) => target === position && relationPosition < position)
    .map(({ relation, name, definition }) => `ALTER TABLE ${relation} ADD CONSTRAINT ${name} ${definition};`);
}

function describeView({ name, options }: Relation, query: string): string {
  const storage = options === null ? '' : ` WITH (${options})`;
  return `CREATE VIEW ${name}${storage} AS\n${query}`;
}

function describeRoutine({ signature, definition, executors }: Routine): string {
  const created = definition.replace(/^CREATE OR REPLACE FUNCTION public\./, 'CREATE FUNCTION ').trimEnd();
  const grants =
    executors === null
      ? []
      : [
          `REVOKE EXECUTE ON FUNCTION ${signature} FROM PUBLIC;`,
          ...executors.map((role) => `GRANT EXECUTE ON FUNCTION ${signature} TO ${role};`),
        ];
  return [`${created};`, ...grants].join('\n');
}

/** One line for each role, with all its privileges. */
function describeGrants(relation: string, grants: readonly Grant[]): string {
  const roles = [...new Set(grants.map(({ role }) => role))].sort();
  return roles
    .map((role) => {
      const privileges = privilegesOf(grants.filter((grant) => grant.role === role));
      return `GRANT ${privileges} ON ${relation} TO ${role};`;
    })
    .join('\n');
}

function lines(parts: readonly string[]): string {
  return parts.map((part) => `  ${part}`).join(',\n');
}
