import { type BodyDefect, checkBody } from "../../../src/chain/bodyRules.ts";
import type { Outcome } from "../../../src/primitives/outcome.ts";
import type { Block } from "../../../src/types/block.ts";

/** Our own rules for a body, of that part of it which IBFT blocks have, too: no ommers, no withdrawals. */
export function checkIbftPart({ header, transactions }: Block): Outcome<void, BodyDefect> {
  return checkBody({ header, transactions, ommers: [] });
}
