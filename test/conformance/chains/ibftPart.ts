import { type BodyErrorCode, checkBody } from "../../../src/chain/bodyRules.ts";
import { NEVER_YIELD } from "../../../src/execution/yieldPolicy.ts";
import type { Result } from "../../../src/primitives/result.ts";
import type { Block } from "../../../src/types/block.ts";

/** Our own rules for a body, of that part of it which IBFT blocks have, too: no ommers, no withdrawals. */
export function checkIbftPart({ header, transactions }: Block): Promise<Result<void, BodyErrorCode>> {
  return checkBody({ header, transactions, ommers: [] }, NEVER_YIELD);
}
