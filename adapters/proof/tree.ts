import { createHash } from 'node:crypto';

/** A wallet's newest seal as the tree holds it (docs/proof.md); a hash as lower-case hexadecimal digits. */
export interface Leaf {
  /** 16 hexadecimal digits. */
  readonly place: string;
  readonly proofId: string;
  /** 0 and zeros for a wallet without entries. */
  readonly lastSeq: number;
  readonly hash: string;
}

/** How many steps lead from a leaf to the top, and how many of them from the nodes that a root keeps. */
const DEPTH = 64;
const KEPT_DEPTH = 12;
/** How many nodes a root keeps, left to right. */
export const keptNodes = 2 ** KEPT_DEPTH;
export const noHash = '0'.repeat(64);

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * Computes one of the kept nodes.
 * @param index its number, from the left
 * @param leaves all leaves below it, in the order of their places
 * @param salt what the nodes that stand for nobody follow from, so that a path does not tell how many leaves there are
 */
export function keptNodeOf(index: number, leaves: readonly Leaf[], salt: string): string {
  return new Subtree(salt).hashOf({ height: DEPTH - KEPT_DEPTH, prefix: BigInt(index) }, leaves.map(placed));
}

/** Computes the tree from its kept nodes. */
export function treeOf(nodes: readonly string[]): string {
  return topOf(levelsOf(nodes));
}

/** The kept nodes, and all levels above them. */
export type Levels = readonly (readonly string[])[];

/** The one node of the highest level. */
export function topOf(levels: Levels): string {
  return levels.at(-1)?.[0] ?? noHash;
}

/**
 * Returns the hashes that lead from a leaf to the tree, from the leaf on.
 * @param below all leaves below the same kept node, in the order of their places
 */
export function pathOf(leaf: Leaf, below: readonly Leaf[], levels: Levels, salt: string): string[] {
  const place = BigInt(`0x${leaf.place}`);
  const subtree = new Subtree(salt);
  const path: string[] = [];
  const all = below.map(placed);
  for (let height = 0; height < DEPTH - KEPT_DEPTH; height += 1) {
    const prefix = (place >> BigInt(height)) ^ 1n;
    path.push(
      subtree.hashOf(
        { height, prefix },
        all.filter((other) => other.place >> BigInt(height) === prefix),
      ),
    );
  }
  let index = keptIndexOf(leaf.place);
  for (const level of levels.slice(0, KEPT_DEPTH)) {
    path.push(level[index ^ 1] ?? noHash);
    index >>= 1;
  }
  return path;
}

/** Returns the number of the kept node above a place. */
export function keptIndexOf(place: string): number {
  return Number.parseInt(place.slice(0, KEPT_DEPTH / 4), 16);
}

/** Computes all levels from the kept nodes. */
export function levelsOf(nodes: readonly string[]): Levels {
  const levels = [[...nodes]];
  for (let level = [...nodes]; level.length > 1; levels.push(level)) {
    level = level.flatMap((left, no) => (no % 2 === 0 ? [nodeOf(left, level[no + 1] ?? noHash)] : []));
  }
  return levels;
}

interface Placed {
  readonly place: bigint;
  readonly hash: string;
}

function placed({ place, proofId, lastSeq, hash }: Leaf): Placed {
  return { place: BigInt(`0x${place}`), hash: sha256(`leaf ${proofId} ${lastSeq} ${hash}\n`) };
}

function nodeOf(left: string, right: string): string {
  return sha256(`node ${left} ${right}\n`);
}

/** A node by its height above the leaves and the bits of the places below it. */
interface Node {
  readonly height: number;
  readonly prefix: bigint;
}

class Subtree {
  constructor(private readonly salt: string) {}

  hashOf({ height, prefix }: Node, leaves: readonly Placed[]): string {
    const [first] = leaves;
    if (!first) return sha256(`nobody ${this.salt} ${height} ${prefix}\n`);
    if (height === 0) return first.hash;
    const bit = BigInt(height - 1);
    const border = leaves.findIndex(({ place }) => (place >> bit) & 1n);
    const isLeft = border === -1 ? leaves.length : border;
    return nodeOf(
      this.hashOf({ height: height - 1, prefix: 2n * prefix }, leaves.slice(0, isLeft)),
      this.hashOf({ height: height - 1, prefix: 2n * prefix + 1n }, leaves.slice(isLeft)),
    );
  }
}
