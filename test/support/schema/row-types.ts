import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** A column of a row's type. */
export interface TypedColumn {
  readonly name: string;
  readonly kind: Kind;
  readonly nullable: boolean;
  /** The type's text in the source. */
  readonly text: string;
}

/** The kind of value that the driver returns; a column's type may be narrower. */
export type Kind =
  | 'string'
  | 'number'
  | 'boolean'
  | 'Date'
  | 'Buffer'
  | 'string[]'
  | 'number[]'
  | 'anything'
  | 'object'
  | 'mixed';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const tables = `${root}/adapters/postgres/rows/tables.ts`;

/**
 * Reads the code's row types of all tables, as the compiler sees them.
 * @returns the columns of each table that knex knows
 */
export function readRowTypes(): ReadonlyMap<string, readonly TypedColumn[]> {
  const program = ts.createProgram([tables], compilerOptions());
  const source = program.getSourceFile(tables);
  const checker = program.getTypeChecker();
  const found = new Map<string, readonly TypedColumn[]>();
  const visit = (node: ts.Node): void => {
    if (ts.isInterfaceDeclaration(node) && node.name.text === 'Tables') {
      for (const member of node.members) found.set(...readTable(checker, member));
    }
    ts.forEachChild(node, visit);
  };
  if (source) visit(source);
  return found;
}

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(`${root}/tsconfig.json`, (name) => ts.sys.readFile(name)) as {
    config: object;
  };
  return ts.parseJsonConfigFileContent({ ...config, include: [], files: [tables] }, ts.sys, dirname(tables))
    .options;
}

/** `wallets: Table<rows.WalletRow>` */
function readTable(checker: ts.TypeChecker, member: ts.TypeElement): [string, readonly TypedColumn[]] {
  const row =
    ts.isPropertySignature(member) && member.type && ts.isTypeReferenceNode(member.type)
      ? member.type.typeArguments?.[0]
      : undefined;
  if (!row || !member.name) throw new Error(`${member.getText()} is not a table of rows`);
  const columns = checker
    .getTypeFromTypeNode(row)
    .getProperties()
    .map((property) => readColumn(checker, property, row));
  return [member.name.getText(), columns];
}

function readColumn(checker: ts.TypeChecker, property: ts.Symbol, place: ts.Node): TypedColumn {
  const type = checker.getTypeOfSymbolAtLocation(property, place);
  const parts = type.isUnion() ? type.types : [type];
  const kinds = new Set(
    parts.filter((part) => !(part.flags & ts.TypeFlags.Null)).map((part) => kindOf(checker, part)),
  );
  const [kind = 'mixed'] = kinds;
  return {
    name: property.getName(),
    kind: kinds.size === 1 ? kind : 'mixed',
    nullable: parts.some((part) => part.flags & (ts.TypeFlags.Null | ts.TypeFlags.Unknown)),
    text: checker.typeToString(type),
  };
}

const plain: readonly [flags: ts.TypeFlags, kind: Kind][] = [
  [ts.TypeFlags.StringLike, 'string'],
  [ts.TypeFlags.NumberLike, 'number'],
  [ts.TypeFlags.BooleanLike, 'boolean'],
  [ts.TypeFlags.Unknown, 'anything'],
];

function kindOf(checker: ts.TypeChecker, type: ts.Type): Kind {
  const found = plain.find(([flags]) => type.flags & flags);
  if (found) return found[1];
  if (!(type.flags & ts.TypeFlags.Object)) return 'mixed';
  if (checker.isArrayType(type)) return kindOfArray(checker, type);
  const name = type.getSymbol()?.getName();
  return name === 'Date' || name === 'Buffer' ? name : 'object';
}

function kindOfArray(checker: ts.TypeChecker, type: ts.Type): Kind {
  const [element] = checker.getTypeArguments(type as ts.TypeReference);
  const parts = element?.isUnion() === true ? element.types : [element];
  const kinds = new Set(parts.map((part) => part && kindOf(checker, part)));
  const [kind] = kinds.size === 1 ? kinds : [];
  return kind === 'string' || kind === 'number' ? `${kind}[]` : 'object';
}
