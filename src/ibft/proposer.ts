import type { Address } from "../primitives/address.ts";
import { assert, expectDefined } from "../primitives/assert.ts";
import { compareBytes } from "../primitives/hex.ts";

/**
 * The proposer of a round (ibft2.md#proposer): the next of the sorted validators for every block and every round.
 * `previous` is the coinbase of the parent, which all honest nodes agree on; they may not agree on the round in which
 * the parent was sealed, so it is not used. After a `previous` that is no longer a validator, the next higher address
 * proposes.
 */
export function proposerOf(validators: readonly Address[], previous: Address, round: number): Address {
  assert(validators.length > 0, "a height has validators");
  const following = validators.findIndex((validator) => compareBytes(validator, previous) > 0);
  const atOrAfter = validators.findIndex((validator) => compareBytes(validator, previous) >= 0);
  const isValidator = atOrAfter >= 0 && atOrAfter !== following;
  const first = isValidator ? atOrAfter + 1 : Math.max(following, 0);
  return expectDefined(validators[(first + round) % validators.length], "the proposer");
}
