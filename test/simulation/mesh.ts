import type { Random } from "./random.ts";

/** Which nodes are connected; nodes are numbers here, and links go both ways. */
export interface Mesh {
  readonly nodes: number;
  areLinked(a: number, b: number): boolean;
  link(a: number, b: number): void;
}

/** A full mesh. */
export function fullMesh(nodes: number): Mesh {
  return { nodes, areLinked: (a, b) => a !== b, link: () => undefined };
}

/** Two nodes are connected when either lists the other, or when they are linked additionally. */
export function givenMesh(nodes: number, areLinked: (a: number, b: number) => boolean): Mesh {
  const mesh = emptyMesh(nodes);
  const isGiven = (a: number, b: number): boolean => a !== b && (areLinked(a, b) || areLinked(b, a));
  return { ...mesh, areLinked: (a, b) => mesh.areLinked(a, b) || isGiven(a, b) };
}

/** A share of all possible links, and at least one for each node; those of the well-connected have all of theirs. */
export function drawMesh(
  nodes: number,
  { share, wellConnected }: { readonly share: number; readonly wellConnected: ReadonlySet<number> },
  random: Random,
): Mesh {
  const mesh = emptyMesh(nodes);
  for (let a = 0; a < nodes; a++) {
    for (let b = a + 1; b < nodes; b++) {
      if (random.chance(share) || wellConnected.has(a) || wellConnected.has(b)) mesh.link(a, b);
    }
    mesh.link(a, (a + random.between(1, nodes - 1)) % nodes);
  }
  return mesh;
}

function emptyMesh(nodes: number): Mesh {
  const links = new Set<number>();
  return {
    nodes,
    areLinked: (a, b) => links.has(a * nodes + b),
    link(a, b) {
      if (a === b) return;
      links.add(a * nodes + b);
      links.add(b * nodes + a);
    },
  };
}

/**
 * Enough links that messages of each relaying node reach all nodes, even when one of them stops relaying.
 * Far from a full mesh in large networks.
 */
export function mend(mesh: Mesh, relaying: readonly number[]): void {
  for (const [index, node] of relaying.entries()) {
    for (const ahead of [1, 2]) mesh.link(node, relaying[(index + ahead) % relaying.length] ?? node);
  }
  for (let node = 0; node < mesh.nodes; node++) {
    if (relaying.includes(node)) continue;
    for (const at of [0, 1]) mesh.link(node, relaying[(node + at) % relaying.length] ?? node);
  }
}
