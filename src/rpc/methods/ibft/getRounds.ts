import { expectDefined } from "../../../primitives/assert.ts";
import { toHex } from "../../../primitives/hex.ts";
import { EventLoopPacer } from "../../../primitives/pacer.ts";
import { quantityOrNull, toQuantity } from "../../../primitives/quantity.ts";
import type { NamedHeader } from "../../../types/block.ts";
import { decodeExtraData } from "../../../types/extraData.ts";
import { ERRORS } from "../../errors/errors.ts";
import { defineMethod, type Json, required } from "../../method.ts";
import { decodeNumberOrTag, numberOf } from "../../parameters/blockParameter.ts";
import { decodeIndex } from "../../parameters/parameters.ts";
import { GIVEN_QUANTITY, listOf, NUMBER_OR_TAG, OBJECT } from "../../schemas.ts";

/** Blocks of one answer. Reading a header that no cache has takes 20 µs. */
const MOST_BLOCKS = 1_000;

/** Not in Besu: what a chart of the newest blocks needs, at a hundredth of the bytes of the blocks. */
export const ibftGetRounds = defineMethod({
  name: "ibft_getRounds",
  namespace: "IBFT",
  summary:
    "Who proposed the blocks up to this one, the newest first, in which rounds, and how full they are.",
  parameters: [
    required("newest", decodeNumberOrTag, NUMBER_OR_TAG),
    required("count", decodeIndex, GIVEN_QUANTITY),
  ],
  result: { name: "blocks", schema: listOf(OBJECT) },
  ports: ["chain"],
  async run([choice, count], { backend: { chain } }) {
    if (count > MOST_BLOCKS) return ERRORS.rangeTooLarge;
    const newest = numberOf(chain, choice);
    const rows: Json[] = [];
    const pacer = new EventLoopPacer();
    for (let number = newest; number >= 0n && newest - number < BigInt(count); number--) {
      const named = chain.headerByNumber(number);
      if (named === undefined) break;
      rows.push(rowOf(named));
      if (pacer.isDue()) await pacer.yield();
    }
    return rows;
  },
});

function rowOf({ header, hash }: NamedHeader): Json {
  const extra = decodeExtraData(header.extraData);
  const { round, validators, vote } = expectDefined(
    extra.ok ? extra.value : undefined,
    "readable extra data of a committed block",
  );
  return {
    number: toQuantity(header.number),
    hash: toHex(hash),
    timestamp: toQuantity(header.timestamp),
    proposer: toHex(header.coinbase),
    round: toQuantity(round),
    validatorCount: toQuantity(validators.length),
    vote: vote === undefined ? null : { address: toHex(vote.recipient), kind: vote.kind },
    gasUsed: toQuantity(header.gasUsed),
    gasLimit: toQuantity(header.gasLimit),
    baseFeePerGas: quantityOrNull(header.baseFeePerGas),
  };
}
