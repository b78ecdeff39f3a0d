import type { Address } from "../primitives/address.ts";
import { assert, expectDefined } from "../primitives/assert.ts";
import { compareBytes } from "../primitives/hex.ts";

/**
 * Whose turn it is (ibft2.md#proposer): one place further round the sorted validators for every block and
 * every round. `previous` is the coinbase of the parent, which all honest nodes share; the round in which the
 * parent was sealed is not, and plays no part. A `previous` that is no validator any more gives its place to
 * the next higher address.
 */
export function proposerOf(validators: readonly Address[], previous: Address, round: number): Address {
  assert(validators.length > 0, "a height has validators");
  const following = validators.findIndex((validator) => compareBytes(validator, previous) > 0);
  const atOrAfter = validators.findIndex((validator) => compareBytes(validator, previous) >= 0);
  const isValidator = atOrAfter >= 0 && atOrAfter !== following;
  const first = isValidator ? atOrAfter + 1 : Math.max(following, 0);
  return expectDefined(validators[(first + round) % validators.length], "the proposer");
}
