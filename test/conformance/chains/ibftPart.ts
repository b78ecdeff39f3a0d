import { type BodyErrorCode, checkBody } from "../../../src/chain/bodyRules.ts";
import { NEVER_YIELD } from "../../../src/execution/yieldPolicy.ts";
import type { Result } from "../../../src/primitives/result.ts";
import type { Block } from "../../../src/types/block.ts";

/** Our own body rules, for the part that IBFT blocks also have: without ommers and withdrawals. */
export function checkIbftPart({ header, transactions }: Block): Promise<Result<void, BodyErrorCode>> {
  return checkBody({ header, transactions, ommers: [] }, NEVER_YIELD);
}
