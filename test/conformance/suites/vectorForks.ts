import type { ForkName } from "../../../src/chainspec/forks.ts";

/** Names of forks in the vectors. "Paris" is London with PREVRANDAO in place of DIFFICULTY. */
const VECTOR_FORKS: Readonly<Record<string, ForkName>> = {
  Frontier: "frontier",
  Homestead: "homestead",
  EIP150: "tangerineWhistle",
  EIP158: "spuriousDragon",
  Byzantium: "byzantium",
  Constantinople: "constantinople",
  ConstantinopleFix: "petersburg",
  Istanbul: "istanbul",
  Berlin: "berlin",
  London: "london",
  ArrowGlacier: "arrowGlacier",
  Paris: "grayGlacier",
  Shanghai: "shanghai",
  Cancun: "cancun",
  Prague: "prague",
};

export function forkOfVector(name: string): ForkName {
  const fork = VECTOR_FORKS[name];
  if (fork === undefined) throw new Error(`unknown fork ${name}`);
  return fork;
}
