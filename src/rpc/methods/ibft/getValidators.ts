import { expectDefined } from "../../../primitives/assert.ts";
import { toHex } from "../../../primitives/hex.ts";
import type { NamedHeader } from "../../../types/block.ts";
import { decodeExtraData } from "../../../types/extraData.ts";
import { ERRORS } from "../../errors/errors.ts";
import { defineMethod, required } from "../../method.ts";
import { decodeNumberOrTag, numberOf } from "../../parameters/blockParameter.ts";
import { decodeHash } from "../../parameters/parameters.ts";
import { ADDRESS, HASH, listOf, NUMBER_OR_TAG, orNull } from "../../schemas.ts";

/** The validators in a header, which are the set that sealed that block (json-rpc.md#ibft). */

const RESULT = { name: "validators", schema: orNull(listOf(ADDRESS)) };

export const ibftGetValidatorsByBlockNumber = defineMethod({
  name: "ibft_getValidatorsByBlockNumber",
  namespace: "IBFT",
  summary: "The validators of a block, by number or tag.",
  parameters: [required("block", decodeNumberOrTag, NUMBER_OR_TAG)],
  result: RESULT,
  ports: ["chain"],
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
  ports: ["chain"],
  run: ([hash], { backend }) => validatorsIn(backend.chain.headerByHash(hash)),
});

/** Validators in the header's order: ascending, except in a genesis block, where the author chose the order. */
function validatorsIn(named: NamedHeader | undefined): readonly string[] | null {
  if (named === undefined) return null;
  const extra = decodeExtraData(named.header.extraData);
  return expectDefined(
    extra.ok ? extra.value : undefined,
    "readable extra data of a committed block",
  ).validators.map(toHex);
}
