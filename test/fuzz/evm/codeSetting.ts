import type { ForkName } from "../../../src/chainspec/forks.ts";
import type { Random } from "../../storage/random.ts";
import { chance, pick } from "./draws.ts";
import type { Instruction } from "./instructions.ts";

/** What generated code may refer to. */
export interface CodeSetting {
  readonly fork: ForkName;
  readonly random: Random;
  readonly instructions: readonly Instruction[];
  /** Accounts of all kinds, as words. */
  readonly addresses: readonly bigint[];
  /** How deep creations may still nest. */
  readonly nesting: number;
  /** Code for a contract that this code creates. */
  drawNested(setting: CodeSetting, statements: number): Uint8Array;
}

/** An account's word, sometimes with noise above its 160 bits. */
export function anAddress(random: Random, addresses: readonly bigint[]): bigint {
  const address = pick(random, addresses);
  return chance(random, 4) ? address + (BigInt(1 + random.below(1000)) << 160n) : address;
}
