import { expectDefined } from "../../../primitives/assert.ts";
import { toHex } from "../../../primitives/hex.ts";
import type { NamedHeader } from "../../../types/block.ts";
import { decodeExtraData } from "../../../types/extraData.ts";
import { ERRORS } from "../../errors/errors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeNumberOrTag, numberOf } from "../../parameters/blockParameter.ts";
import { decodeHash } from "../../parameters/parameters.ts";
import { ADDRESS, HASH, listOf, NUMBER_OR_TAG, orNull } from "../../schemas.ts";

/** The validators that a header names: those who sealed that very block (json-rpc.md#ibft). */

const RESULT = { name: "validators", schema: orNull(listOf(ADDRESS)) };

export const ibftGetValidatorsByBlockNumber = defineMethod({
  name: "ibft_getValidatorsByBlockNumber",
  namespace: "IBFT",
  summary: "The validators of a block, by number or tag.",
  parameters: [required("block", decodeNumberOrTag, NUMBER_OR_TAG)],
  result: RESULT,
  run([choice], { backend: { chain } }) {
    const number = numberOf(chain, choice);
    return number < 0n ? ERRORS.internalError : validatorsIn(chain.headerByNumber(number));
  },
});

export const ibftGetValidatorsByBlockHash = defineMethod({
  name: "ibft_getValidatorsByBlockHash",
  namespace: "IBFT",
  summary: "The validators of a block, by hash.",
  parameters: [required("hash", decodeHash, HASH)],
  result: RESULT,
  run: ([hash], { backend }) => validatorsIn(backend.chain.headerByHash(hash)),
});

/** In the header's order: ascending, but in a genesis block as its author wrote them. */
function validatorsIn(named: NamedHeader | undefined): readonly string[] | null {
  if (named === undefined) return null;
  const extra = decodeExtraData(named.header.extraData);
  return expectDefined(
    extra.ok ? extra.value : undefined,
    "readable extra data of a committed block",
  ).validators.map(toHex);
}
